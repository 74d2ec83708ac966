//go:build linux

package worktree

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// BenchmarkWalk lists, opens, reads and closes 2,000 files of 8 KB in 40 folders. What a
// second visitor brings is why a walk has several.
func BenchmarkWalk(b *testing.B) {
	dir, text := b.TempDir(), strings.Repeat("resource \"a\" \"b\" {}\n", 400)
	for i := range 2000 {
		write(b, filepath.Join(dir, fmt.Sprintf("d%d/e%d/f%d.tf", i%4, i%40, i)), text)
	}
	root, err := Open(dir)
	must(b, err)
	defer root.Close()
	var count atomic.Int64
	visitor := func() Visitor {
		buf := make([]byte, 256<<10)
		return Visitor{
			Skip: func(string) bool { return false }, Passing: nothing,
			Failed: func(dir string, err error) { b.Error(dir, err) },
			File: func(e Entry, rd *Reader) {
				f, err := rd.Open(e.Path, false)
				if err != nil {
					b.Error(err)
					return
				}
				defer f.Close()
				for err == nil {
					_, err = f.Read(buf)
				}
				if !errors.Is(err, io.EOF) {
					b.Error(err)
				}
				count.Add(1)
			},
		}
	}
	for visitors := 1; visitors <= 2; visitors++ {
		b.Run(fmt.Sprint("visitors=", visitors), func(b *testing.B) {
			b.SetBytes(int64(2000 * len(text)))
			for b.Loop() {
				count.Store(0)
				must(b, root.Walk(b.Context(), []Visitor{visitor(), visitor()}[:visitors]...))
				if n := count.Load(); n != 2000 {
					b.Fatal(n, "files")
				}
			}
		})
	}
}
