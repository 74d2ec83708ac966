//go:build unix

package repo

import (
	"crypto/sha1"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkIndex reads an index. Its checksum takes about as long as its entries, so another goroutine computes it.
func BenchmarkIndex(b *testing.B) {
	g := newGit(b)
	var list strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&list, "100644 %040x\tservices/s%03d/deploy/file%05d.yaml\n", i+1, i/100, i)
	}
	cmd := exec.Command("git", "update-index", "--index-info")
	cmd.Dir, cmd.Stdin = g.dir, strings.NewReader(list.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	content := string(g.indexBytes())
	measure := func(name string, read func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				must(b, read())
			}
		})
	}
	measure("checksum", func() error { formatSHA1.checksum(content); return nil })
	measure("entries", func() error { _, err := formatSHA1.parseEntries(content[:len(content)-sha1.Size]); return err })
	measure("both", func() error { _, err := formatSHA1.parseIndex(content); return err })
	measure("file", func() error {
		_, err := formatSHA1.readIndex("", filepath.Join(g.dir, ".git/index"))
		return err
	})
}
