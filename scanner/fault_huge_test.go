//go:build linux

package scanner

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"golang.org/x/sys/unix"
)

// fileLimit is the memory limit of a scan in MiB for files of any length. The race detector's memory comes on top.
func fileLimit() int {
	if cputime.RaceDetector {
		return 512
	}
	return 64
}

// skipLong returns why a long test does not run.
func skipLong(t *testing.T) {
	t.Helper()
	switch {
	case !*long:
		t.Skip("it takes seconds: with -long")
	case cputime.RaceDetector:
		t.Skip("takes long: not with -race")
	}
}

// writeHole writes a file of size bytes, all NUL except the text at its end.
func writeHole(t *testing.T, path string, size int64, text string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	_, err = f.WriteAt([]byte(text), size-int64(len(text)))
	must(t, errors.Join(err, f.Close()))
}

// writeText writes a file of size bytes, in lines or in one, that ends in the given text.
func writeText(t *testing.T, path string, size int64, lines bool, end string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	piece := strings.Repeat(`cidr_blocks = ["10.0.0.0/8"]  # a line as there are many `, 1000)
	if lines {
		piece = strings.ReplaceAll(piece, "many ", "many\n")
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for left := size - int64(len(end)); left > 0; left -= int64(len(piece)) {
		_, err = w.WriteString(piece[:min(left, int64(len(piece)))])
		must(t, err)
	}
	_, err = w.WriteString(end)
	must(t, errors.Join(err, w.Flush(), f.Close()))
}

// scanHuge scans one file with "0.0.0.0/0" only at its very end.
func scanHuge(t *testing.T, make func(path string)) *verdict.Violation {
	t.Helper()
	dir := t.TempDir()
	make(filepath.Join(dir, "huge.tf"))
	st, err := os.Stat(filepath.Join(dir, "huge.tf"))
	must(t, err)
	v, mib := scanInChild(t, childScan{Dir: dir, Patterns: []string{"0.0.0.0/0", "nowhere"}})
	wantOutcome(t, v, "F")
	if mib > fileLimit() {
		t.Errorf("a scan of %d MiB took %d MiB of memory; %d are allowed", st.Size()>>20, mib, fileLimit())
	}
	t.Logf("%d MiB of memory for a file of %d", mib, st.Size()>>20)
	if len(v.Violations) != 1 || v.Coverage.Bytes != st.Size() {
		t.Fatalf("%d violations, %d of %d bytes", len(v.Violations), v.Coverage.Bytes, st.Size())
	}
	if e := v.Violations[0].Evidence; e.Offset != st.Size()-9 || e.Occurrences != 1 {
		t.Errorf("%+v", e)
	}
	return &v.Violations[0]
}

func TestFault_010_BigFile(t *testing.T) {
	size := int64(150_000_000)
	if cputime.RaceDetector {
		size /= 10 // ten times slower
	}
	t.Run("150 MB of lines", func(t *testing.T) {
		v := scanHuge(t, func(path string) { writeText(t, path, size, true, "0.0.0.0/0") })
		if want := (size-9)/57 + 1; v.Evidence.Line != want {
			t.Errorf("line %d, want %d", v.Evidence.Line, want)
		}
	})
	t.Run("150 MB of a hole", func(t *testing.T) {
		scanHuge(t, func(path string) { writeHole(t, path, size, "0.0.0.0/0") })
	})
	t.Run("in the middle", func(t *testing.T) {
		around := strings.Repeat("x", 16*match.WindowSize)
		text, most := []byte(around+"0.0.0.0/0"+around), 0
		input := fakeFiles(func(string) (tree.Content, error) {
			return newReadContent(text, func(r io.Reader) io.Reader {
				return readerFunc(func(p []byte) (int, error) {
					most = max(most, len(p))
					return r.Read(p)
				})
			}), nil
		}, "main.tf")
		wantOutcome(t, scanTree(t, testBundle("0.0.0.0/0"), input, testOptions{}), "F")
		if most > 4*match.WindowSize {
			t.Errorf("%d bytes are read at once", most)
		}
	})
	t.Run("4 GiB and a byte", func(t *testing.T) {
		skipLong(t)
		v := scanHuge(t, func(path string) { writeHole(t, path, 4<<30+1, "\n0.0.0.0/0") })
		if e := v.Evidence; e.Line != 2 || e.Column != 1 || e.Excerpt != "0.0.0.0/0" {
			t.Errorf("%+v", e)
		}
	})
}

func TestFault_011_LongLine(t *testing.T) {
	for _, size := range []int64{8_000_000, 1 << 30} {
		t.Run(fmt.Sprint(size>>20, " MiB"), func(t *testing.T) {
			if size > 100_000_000 {
				skipLong(t)
			}
			v := scanHuge(t, func(path string) { writeText(t, path, size, false, "0.0.0.0/0") })
			if e := v.Evidence; e.Line != 1 || e.Column != size-8 || e.UTF16Column != size-8 || len(e.Excerpt) != 200 {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestFault_012_Hole(t *testing.T) {
	t.Run("300 MB", func(t *testing.T) {
		skipLong(t)
		scanHuge(t, func(path string) { writeHole(t, path, 300_000_000, "0.0.0.0/0") })
	})
	t.Run("1 TiB over the limit", func(t *testing.T) {
		dir := t.TempDir()
		f, err := os.Create(filepath.Join(dir, "hole.tf"))
		must(t, err)
		if err := errors.Join(f.Truncate(1<<40), f.Close()); err != nil {
			t.Skipf("no such file: %v", err)
		}
		v := scanDir(t, dir, testBundle("0.0.0.0/0"), testOptions{MaxFileBytes: 1 << 30})
		wantOutcome(t, v, "I(E_LIMIT)")
	})
}

// Short or long, a file is never in memory as a whole; many files are only paths.
func TestFault_039_ManyFiles(t *testing.T) {
	n := 50_000
	if *long {
		n = 1_000_000
	} else {
		t.Log("50,000 files; with -long it is 1,000,000")
	}
	if cputime.RaceDetector {
		n = 10_000
	}
	dir := t.TempDir()
	if st, err := os.MkdirTemp("/dev/shm", "scanner"); err == nil { // a third of the time
		dir = st
		t.Cleanup(func() { must(t, os.RemoveAll(st)) })
	}
	writeFile(t, dir+"/bad.tf", "key")
	at, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	for i := range n - 1 {
		fd, err := unix.Openat(at, fmt.Sprintf("a-file-of-the-tree-%07d.tf", i),
			unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
		must(t, err)
		must(t, unix.Close(fd))
	}
	must(t, unix.Close(at))
	v, mib := scanInChild(t, childScan{Dir: dir, Patterns: []string{"key"}})
	wantOutcome(t, v, "F")
	if c := v.Coverage; c.Files != n || c.Scanned != n || len(v.Violations) != 1 || !v.Complete {
		t.Errorf("%d files, %d scanned, errors %.300v", c.Files, c.Scanned, v.Errors)
	}
	limit := 512
	if n <= 100_000 && !cputime.RaceDetector {
		limit = 96
	}
	t.Logf("%d MiB for %d files", mib, n)
	if mib > limit {
		t.Errorf("a scan of %d files took %d MiB of memory; %d are allowed", n, mib, limit)
	}
}
