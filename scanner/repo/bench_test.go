//go:build unix

package repo

import (
	"crypto"
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
	measure("checksum", func() error { checksum(content, crypto.SHA1); return nil })
	measure("entries", func() error { _, err := parseEntries(content[:len(content)-sumSize], sumSize); return err })
	measure("both", func() error { _, err := parseIndex(content, crypto.SHA1); return err })
	measure("file", func() error {
		_, err := readIndex("", filepath.Join(g.dir, ".git/index"), crypto.SHA1)
		return err
	})
}
