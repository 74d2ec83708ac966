//go:build linux

package worktree

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var long = flag.Bool("long", false, "do all of the tests that otherwise do a part")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o777))
	must(t, os.WriteFile(name, []byte(text), 0o666))
}

// eachWay runs a test with openat2, and without it as on older kernels and where a container forbids the call.
func eachWay(t *testing.T, test func(t *testing.T, open func(dir string) *Root)) {
	for _, openat2 := range []bool{true, false} {
		t.Run(fmt.Sprint("openat2=", openat2), func(t *testing.T) {
			test(t, func(dir string) *Root {
				r, err := Open(dir)
				must(t, err)
				t.Cleanup(r.Close)
				if openat2 && !r.openat2 {
					t.Skip("this kernel has no openat2")
				}
				r.openat2 = openat2
				return r
			})
		})
	}
}

// walk returns what a walk finds, in order, and the directories that it could not read.
func walk(t *testing.T, r *Root, skip func(string) bool) (entries []Entry, failed []string) {
	t.Helper()
	must(t, walkAll(t.Context(), r, Visitor{skip, func(e Entry, _ *Reader) { entries = append(entries, e) },
		func(dir string, err error) {
			failed = append(failed, fmt.Sprintf("%s: %v", dir, err))
		}, nothing}))
	return entries, failed
}

// walkAll is a walk with a walker for each visitor, and returns the cause of the context's end.
func walkAll(ctx context.Context, r *Root, visitors ...Visitor) error {
	var done sync.WaitGroup
	for i, w := range r.Walkers(len(visitors)) {
		done.Go(func() { w.Walk(ctx, visitors[i]) })
	}
	done.Wait()
	return context.Cause(ctx)
}

func nothing(string) bool { return false }

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	var want []Entry
	for _, name := range []string{"a", "b/c", "b/d", "b/e/f", ".h/i", "b.x", "z/\xff\n", "b/e/.git"} {
		write(t, filepath.Join(dir, name), name)
		want = append(want, Entry{name, Regular})
	}
	must(t, os.Mkdir(dir+"/empty", 0o777))
	must(t, os.Symlink("b", dir+"/link"))
	must(t, os.Symlink("nowhere", dir+"/b/dangling"))
	must(t, syscall.Mkfifo(dir+"/b/fifo", 0o666))
	want = append(want, Entry{"link", Symlink}, Entry{"b/dangling", Symlink}, Entry{"b/fifo", Special})
	byPath := func(a, b Entry) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(want, byPath)

	eachWay(t, func(t *testing.T, open func(string) *Root) {
		got, failed := walk(t, open(dir), nothing)
		dirs := map[string]bool{}
		for i, e := range got {
			if d := path.Dir(e.Path); i > 0 && d != path.Dir(got[i-1].Path) && dirs[d] {
				t.Errorf("%s is apart from the other files of its directory", e.Path)
			} else {
				dirs[d] = true
			}
		}
		slices.SortFunc(got, byPath)
		if !slices.Equal(got, want) || failed != nil {
			t.Errorf("got %v, want %v; failed %q", got, want, failed)
		}

		got, _ = walk(t, open(dir), func(p string) bool { return p == "b" || p == "a" || p == "z/\xff\n" })
		slices.SortFunc(got, byPath)
		if want := []Entry{{".h/i", Regular}, {"b.x", Regular}, {"link", Symlink}}; !slices.Equal(got, want) {
			t.Errorf("with skip: %v, want %v", got, want)
		}
	})
}

// What comes and goes without a change of the entries that count is no change of a directory.
func TestWalkPassing(t *testing.T) {
	for name, c := range map[string]struct {
		touched string
		failed  int
	}{
		"a passing name":  {"passing", 0},
		"what is skipped": {"skipped", 0},
		"a new file":      {"new", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/a", "x")
			r, err := Open(dir)
			must(t, err)
			defer r.Close()
			failed := 0
			must(t, walkAll(t.Context(), r, Visitor{
				Skip:    func(p string) bool { return p == "skipped" },
				File:    func(Entry, *Reader) { write(t, dir+"/"+c.touched, "y") },
				Failed:  func(string, error) { failed++ },
				Passing: func(n string) bool { return n == "passing" },
			}))
			if failed != c.failed {
				t.Errorf("%d directories failed, want %d", failed, c.failed)
			}
		})
	}
}

// A directory of which the file system says that nothing changed is listed once.
func TestWalkListsOnce(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output() // a directory that was there before the test
	must(t, err)
	eachWay(t, func(t *testing.T, open func(string) *Root) {
		asked := map[string]int{}
		_, failed := walk(t, open(filepath.Join(strings.TrimSpace(string(goroot)), "src/archive")),
			func(path string) bool {
				asked[path]++
				return false
			})
		if len(failed) > 0 || asked["tar"] != 1 || asked["zip/reader.go"] != 1 {
			t.Errorf("asked of %v; failed: %q", asked, failed)
		}
	})
}

func TestWalkEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		write(t, fmt.Sprint(dir, "/", i, "/x"), "x")
	}
	r, err := Open(dir)
	must(t, err)
	defer r.Close()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	n := 0
	err = walkAll(ctx, r, Visitor{nothing, func(Entry, *Reader) { n++; cancel(cause) }, func(string, error) {}, nothing})
	if !errors.Is(err, cause) || n != 1 {
		t.Errorf("%v after %d files", err, n)
	}
}

// TestWalkPanics: a visitor that panics leaves no other one waiting.
func TestWalkPanics(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/x", "x")
	r, err := Open(dir)
	must(t, err)
	defer r.Close()
	var done sync.WaitGroup
	for _, w := range r.Walkers(2) {
		done.Go(func() {
			defer func() { _ = recover() }()
			w.Walk(t.Context(), Visitor{nothing, func(Entry, *Reader) { panic("oh") }, func(string, error) {},
				nothing})
		})
	}
	done.Wait()
}

// A directory that goes, or turns into something else, between its listing and its turn has changed, and so has the
// directory that it was in. The rest is walked.
func TestWalkDirGoes(t *testing.T) { walkDirGoes(t, t.TempDir()) }

func walkDirGoes(t *testing.T, parent string) {
	for name, change := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"a file":  func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o666)) },
		"a link":  func(dir string) error { return errors.Join(os.Rename(dir, dir+"-moved"), os.Symlink("/", dir)) },
		"a FIFO":  func(dir string) error { return errors.Join(os.RemoveAll(dir), syscall.Mkfifo(dir, 0o666)) },
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, open func(string) *Root) {
				dir, err := os.MkdirTemp(parent, "")
				must(t, err)
				write(t, dir+"/a", "x")
				write(t, dir+"/sub/b", "x")
				write(t, dir+"/other/c", "x")
				var got, failed []string
				changed := false
				must(t, walkAll(t.Context(), open(dir), Visitor{func(p string) bool {
					if p == "sub" && !changed {
						changed = true
						must(t, change(dir+"/sub"))
					}
					return false
				}, func(e Entry, _ *Reader) { got = append(got, e.Path) }, func(p string, err error) {
					if !errors.Is(err, ErrChanged) {
						t.Errorf("%v", err)
					}
					failed = append(failed, p)
				}, nothing}))
				got = slices.DeleteFunc(got, func(p string) bool { return strings.HasPrefix(p, "sub-moved") })
				slices.Sort(got)
				if !slices.Equal(got, []string{"a", "other/c"}) || !slices.Equal(failed, []string{"sub", ""}) {
					t.Errorf("got %q, failed %q", got, failed)
				}
			})
		})
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/real/file", "content")
	must(t, os.Symlink("real", dir+"/link"))
	must(t, syscall.Mkfifo(dir+"/fifo", 0o666))
	for _, name := range []string{"real", "link"} { // the root itself may be a link
		r, err := Open(filepath.Join(dir, name))
		must(t, err)
		if got, failed := walk(t, r, nothing); len(got) != 1 || failed != nil {
			t.Errorf("%s: %v, %q", name, got, failed)
		}
		r.Close()
	}
	for _, name := range []string{"real/file", "fifo", "nowhere", "real/file/x"} {
		if r, err := Open(filepath.Join(dir, name)); err == nil {
			r.Close()
			t.Errorf("%s was opened as a directory", name)
		} else if pe := (*fs.PathError)(nil); !errors.As(err, &pe) {
			t.Errorf("%s: %v does not say which", name, err)
		}
	}
}

// hostile is a tree with everything that must not be opened or followed.
func hostile(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir+"/outside/file", "SECRET")
	write(t, dir+"/tree/file", "x")
	write(t, dir+"/tree/sub/file", "x")
	must(t, os.Symlink("../outside", dir+"/tree/out"))
	must(t, os.Symlink("../../outside/file", dir+"/tree/sub/out"))
	must(t, os.Symlink("sub", dir+"/tree/in"))
	must(t, os.Symlink("/proc/self/root", dir+"/tree/magic"))
	must(t, os.Symlink("self", dir+"/tree/self"))
	must(t, syscall.Mkfifo(dir+"/tree/sub/fifo", 0o666))
	return dir + "/tree"
}

func TestReader(t *testing.T) {
	dir := hostile(t)
	eachWay(t, func(t *testing.T, open func(string) *Root) {
		rd := open(dir).Reader()
		defer rd.Close()
		for _, c := range []struct {
			name     string
			kind     Kind
			statErr  error
			openErr  error
			linkErr  error
			linkText string
		}{
			{"file", Regular, nil, nil, ErrChanged, ""},
			{"sub/file", Regular, nil, nil, ErrChanged, ""},
			{"sub", 0, ErrNotFile, ErrChanged, ErrChanged, ""},
			{"sub/out", Symlink, nil, ErrChanged, nil, "../../outside/file"},
			{"out", Symlink, nil, ErrChanged, nil, "../outside"},
			{"self", Symlink, nil, ErrChanged, nil, "self"},
			{"sub/fifo", Special, nil, ErrChanged, ErrChanged, ""},
			{"out/file", 0, ErrPath, ErrChanged, ErrChanged, ""},
			{"in/file", 0, ErrPath, ErrChanged, ErrChanged, ""},
			{"magic/etc/passwd", 0, ErrPath, ErrChanged, ErrChanged, ""},
			{"self/file", 0, ErrPath, ErrChanged, ErrChanged, ""},
			{"file/x", 0, ErrPath, ErrChanged, ErrChanged, ""},
			{"nowhere", 0, fs.ErrNotExist, ErrChanged, ErrChanged, ""},
			{"nowhere/x", 0, fs.ErrNotExist, ErrChanged, ErrChanged, ""},
			{"sub/file", Regular, nil, nil, ErrChanged, ""},
		} {
			if kind, err := rd.Stat(c.name); !errors.Is(err, c.statErr) || err == nil && kind.Kind != c.kind {
				t.Errorf("stat %s: %v, %v; want %v, %v", c.name, kind, err, c.kind, c.statErr)
			}
			f, err := rd.Open(c.name, true)
			if !errors.Is(err, c.openErr) {
				t.Errorf("open %s: %v; want %v", c.name, err, c.openErr)
			}
			if err == nil {
				if text, err := io.ReadAll(f); err != nil || string(text) != "x" || f.Size() != 1 ||
					f.Changed() != nil {
					t.Errorf("%s holds %q, %v", c.name, text, err)
				}
				f.Close()
			}
			if text, err := rd.Readlink(c.name); !errors.Is(err, c.linkErr) || text != c.linkText {
				t.Errorf("readlink %s: %q, %v; want %q, %v", c.name, text, err, c.linkText, c.linkErr)
			}
		}
	})
}

func TestLinkOfAnyLength(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{1, 255, 256, 257, 511, 512, 4095} {
		want := strings.Repeat("t", n)
		must(t, os.Symlink(want, fmt.Sprint(dir, "/", n)))
		r, err := Open(dir)
		must(t, err)
		rd := r.Reader()
		if got, err := rd.Readlink(fmt.Sprint(n)); got != want || err != nil {
			t.Errorf("%d bytes: got %d, %v", n, len(got), err)
		}
		rd.Close()
		r.Close()
	}
}

// However long a path is, and wherever its directories' names end.
func TestLongPaths(t *testing.T) {
	eachWay(t, func(t *testing.T, open func(string) *Root) {
		for _, size := range []int{3, 7, 99, 249, 255} {
			if size == 3 && !*long {
				continue // it is quadratic without openat2
			}
			dir := t.TempDir()
			name := strings.Repeat("n", size)
			at, err := unix.Open(dir, dirFlags, 0)
			must(t, err)
			for range 6000 / (size + 1) / 2 {
				must(t, unix.Mkdirat(at, name, 0o777))
				next, err := unix.Openat(at, name, dirFlags, 0)
				must(t, errors.Join(err, unix.Close(at)))
				at = next
			}
			fd, err := unix.Openat(at, "file", unix.O_CREAT|unix.O_WRONLY, 0o666)
			must(t, errors.Join(err, unix.Close(at)))
			_, err = unix.Write(fd, []byte("x"))
			must(t, errors.Join(err, unix.Close(fd)))
			r := open(dir)
			entries, failed := walk(t, r, nothing)
			if len(entries) != 1 || failed != nil {
				t.Fatalf("names of %d: %v, %q", size, entries, failed)
			}
			rd := r.Reader()
			f, err := rd.Open(entries[0].Path, true)
			must(t, err)
			f.Close()
			rd.Close()
		}
	})
}

func TestFirstStep(t *testing.T) {
	for _, path := range []string{"a", "a/b", strings.Repeat("a/", 1000) + "b",
		strings.Repeat(strings.Repeat("n", 255)+"/", 30) + "b", strings.Repeat("x", 2000) + "/y"} {
		for _, many := range []bool{true, false} {
			var steps []string
			for rest := path; rest != ""; {
				var step string
				step, rest = firstStep(rest, many)
				if step == "" || strings.HasPrefix(step, "/") || strings.HasSuffix(step, "/") || many &&
					len(step) > maxPath && strings.Contains(step, "/") || !many && strings.Contains(step, "/") {
					t.Fatalf("step %.80q of a path of %d bytes", step, len(path))
				}
				steps = append(steps, step)
			}
			if strings.Join(steps, "/") != path {
				t.Errorf("%.80q is lost in steps", path)
			}
		}
	}
}

func TestChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		same   bool
	}{
		"not":       {func(string) error { return nil }, true},
		"read":      {func(p string) error { _, err := os.ReadFile(p); return err }, true},
		"grown":     {func(p string) error { return os.WriteFile(p, []byte("before, and more"), 0o666) }, false},
		"truncated": {func(p string) error { return os.Truncate(p, 1) }, false},
		"rewritten": {func(p string) error { return os.WriteFile(p, []byte("BEFORE"), 0o666) }, false},
		"rewritten, its time set back": {func(p string) error {
			st, err := os.Stat(p)
			return errors.Join(err, os.WriteFile(p, []byte("BEFORE"), 0o666),
				os.Chtimes(p, st.ModTime(), st.ModTime()))
		}, false},
		"mode": {func(p string) error { return os.Chmod(p, 0o600) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/file", "before")
			time.Sleep(20 * time.Millisecond) // a tick of the file system's clock
			r, err := Open(dir)
			must(t, err)
			defer r.Close()
			rd := r.Reader()
			defer rd.Close()
			f, err := rd.Open("file", true)
			must(t, err)
			defer f.Close()
			must(t, c.change(dir+"/file"))
			if err := f.Changed(); (err == nil) != c.same || err != nil && !errors.Is(err, ErrChanged) {
				t.Errorf("%v", err)
			}
		})
	}
}

// No handle is left open, whatever went wrong.
func TestNoHandleIsLeft(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(entries)
	}
	dir := hostile(t)
	before := count()
	for _, openat2 := range []bool{true, false} {
		r, err := Open(dir)
		must(t, err)
		r.openat2 = r.openat2 && openat2
		for range 50 {
			walk(t, r, nothing)
			rd := r.Reader()
			for _, name := range []string{"file", "sub/file", "sub/out", "out/file", "in/file", "nowhere/x/y",
				"sub/fifo", "sub", "sub/file/x/y", "magic/etc/passwd"} {
				_, _ = rd.Stat(name)
				_, _ = rd.Readlink(name)
				if f, err := rd.Open(name, true); err == nil {
					f.Close()
				}
			}
			rd.Close()
		}
		r.Close()
	}
	if after := count(); after != before {
		t.Errorf("%d handles before, %d after", before, after)
	}
}

// TestWalkOfLittle: the visitors that there are not yet count as well when the first is done. (Only the race detector
// sees it; a directory that moves in that moment would be in no list.)
func TestWalkOfLittle(t *testing.T) {
	root, err := Open(t.TempDir())
	must(t, err)
	defer root.Close()
	for range 5000 {
		visitors := make([]Visitor, 8)
		for i := range visitors {
			visitors[i] = Visitor{Skip: func(string) bool { return false },
				Passing: func(string) bool { return false }}
		}
		must(t, walkAll(t.Context(), root, visitors...))
	}
}

// A call that signals interrupted is made again, however many they are; any other answer is the last.
func TestRetry(t *testing.T) {
	for _, want := range []error{nil, unix.EIO} {
		calls := 0
		n, err := retry(func() (int, error) {
			if calls++; calls < 4 {
				return -1, unix.EINTR
			}
			return calls, want
		})
		if n != 4 || calls != 4 || err != want {
			t.Errorf("%d, %v after %d calls, want 4 and %v", n, err, calls, want)
		}
	}
}

// TestLinkless: a directory is without a link only if all of its entries were seen.
func TestLinkless(t *testing.T) {
	dir := t.TempDir()
	for i := range 3000 { // more than fit into one read
		write(t, filepath.Join(dir, fmt.Sprintf("many/a file with a long name %04d.tf", i)), "")
		if i < 3 {
			write(t, filepath.Join(dir, fmt.Sprintf("few/%d.tf", i)), "")
		}
	}
	must(t, os.Mkdir(dir+"/few/directory", 0o777))
	must(t, syscall.Mkfifo(dir+"/few/fifo", 0o666))
	for i := range 100 {
		write(t, filepath.Join(dir, fmt.Sprintf("last/%d.tf", i)), "")
	}
	must(t, os.Symlink("0.tf", dir+"/last/zz.tf"))
	must(t, os.Mkdir(dir+"/none", 0o777))
	must(t, os.Symlink("few", dir+"/through"))
	eachWay(t, func(t *testing.T, open func(dir string) *Root) {
		root := open(dir)
		rd := root.Reader()
		defer rd.Close()
		for _, c := range []struct {
			dir  string
			most int
			want bool
		}{
			{"many", 3000, true}, {"many", 3000, true}, // again, with the directory still open
			{"many", 2999, false}, {"many", 0, false},
			{"few", 5, true}, {"few", 4, false},
			{"last", 1000, false}, {"last", 101, false},
			{"none", 0, true}, {"", 1000, false},
			{"through", 1000, false}, {"nowhere", 1000, false}, {"few/0.tf", 1000, false},
		} {
			if got := rd.Linkless(c.dir, c.most); got != c.want {
				t.Errorf("Linkless(%q, %d) = %v", c.dir, c.most, got)
			}
		}
		if f, err := rd.Open("few/0.tf", true); err != nil { // the reader still reads
			t.Error(err)
		} else {
			f.Close()
		}
	})
}
