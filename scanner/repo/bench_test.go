//go:build unix

package repo

import (
	"crypto"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// packed is a repository with commits in one pack, each of which changes one of 100 files.
func packed(b *testing.B, commits int) *gitRepo {
	b.Helper()
	g := newGit(b)
	var stream strings.Builder
	for i := range commits {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter a <a@example.com> %d +0000\ndata 1\nx\n", g.clock+i)
		text := strings.Repeat(fmt.Sprintf("resource \"a\" \"b%d\" {\n  name = \"c\"\n}\n", i), 20)
		fmt.Fprintf(&stream, "M 100644 inline dir%d/file%d.tf\ndata %d\n%s\n", i%10, i%100, len(text), text)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = g.dir, strings.NewReader(stream.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	g.git("repack", "-q", "-a", "-d", "-f")
	return g
}

func BenchmarkMergeBases(b *testing.B) {
	g := packed(b, 2000)
	for b.Loop() {
		r := g.open() // with an empty cache
		base, _ := commitOf(b, r, "main~1900")
		head, _ := commitOf(b, r, "main")
		if bases, err := r.mergeBases(base, head); err != nil || len(bases) != 1 || bases[0] != base {
			b.Fatal(bases, err)
		}
	}
}

func BenchmarkDiff(b *testing.B) {
	g := packed(b, 2000)
	for b.Loop() {
		r := g.open()
		_, base := commitOf(b, r, "main~50")
		_, head := commitOf(b, r, "main")
		n := 0
		err := r.Diff(base, head, func(c Change) error {
			n++
			text, err := r.objects.read(c.New.Hash, plumbing.BlobObject)
			if err == nil && len(text) < 500 {
				err = fmt.Errorf("%d bytes", len(text))
			}
			return err
		})
		if err != nil || n != 50 {
			b.Fatal(n, err)
		}
	}
}

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
	measure("file", func() error { _, err := readIndex(filepath.Join(g.dir, ".git/index"), crypto.SHA1); return err })
}
