package scanner

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/policyscan/policyscan/rules"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

func TestInterrupted(t *testing.T) {
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(&run.InterruptedError{Code: code.Timeout, Message: "the time is over"})
	plain, stop := context.WithCancel(t.Context())
	stop()
	dir := writeTree(t, map[string]string{"a.tf": "x"})
	for _, c := range []struct {
		ctx  context.Context
		code string
	}{{cancelled, code.Timeout}, {plain, code.Interrupted}} {
		for _, input := range []tree.Tree{tree.Dir(openRoot(t, dir)), tree.List(openRoot(t, dir), []string{"a.tf"}),
			fakeFiles(same("x"), "a.tf")} {
			v := scanWith(c.ctx, testBundle("key"), input, testOptions{})
			checkVerdict(t, testBundle("key"), v)
			wantOutcome(t, v, "I("+c.code+")")
		}
	}
	if _, err := check.File(plain, testBundle("key"), "a", []byte("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("Check: %v", err)
	}
}

// TestInterruptedHistory: a search of the history ends with the context, before the scan begins.
func TestInterruptedHistory(t *testing.T) {
	r, commits := testHistory{{files: map[string]string{"a": "x"}}, {parents: []int{1}}}.write(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&run.InterruptedError{Code: code.Timeout, Message: "the time is over"})
	o := run.Options{Path: r.WorkTree, Base: commits[0].String(), Head: commits[1].String(), Getenv: os.Getenv}
	about, err := run.Open(ctx, o)
	if v := about.Undecided(err); err == nil || len(v.Errors) != 1 || v.Errors[0].Code != code.Timeout {
		t.Errorf("%v, %v", err, v.Errors)
	}
}

// A stuckContent's Read blocks until the test ends.
type stuckContent struct {
	tree.Content
	reading chan<- struct{}
	until   <-chan struct{}
}

func (c *stuckContent) Read([]byte) (int, error) {
	c.reading <- struct{}{}
	<-c.until
	return 0, io.EOF
}

func TestFault_140_StuckRead(t *testing.T) {
	if grace > 2*time.Second {
		t.Errorf("a scan that was told to end waits %v", grace)
	}
	reading, until := make(chan struct{}, 100), make(chan struct{})
	defer close(until)
	input := fakeFiles(func(path string) (tree.Content, error) {
		c := tree.InMemory([]byte("key"))
		if path == "stuck" {
			c = &stuckContent{c, reading, until}
		}
		return c, nil
	}, "first", "stuck", "last")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-reading
		cancel(&run.InterruptedError{Code: code.Timeout, Message: "the time is over"})
	}()
	v := scanWith(ctx, testBundle("key"), input, testOptions{Workers: 1})
	checkVerdict(t, testBundle("key"), v)
	want := []verdict.Omission{{File: "stuck", Reason: "not-reached"}} // the only worker never reached the last
	if got := violated(v); !slices.Equal(got, []string{"first"}) || !slices.Equal(v.Coverage.NotScanned, want) ||
		v.Complete || v.Errors[0].Code != code.Timeout {
		t.Errorf("violations in %q, %+v, %+v", got, v.Coverage, v.Errors)
	}
}

// A read that fails because the scan has ended is not an error: the file was not reached.
func TestReadEndedByScan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	input := fakeFiles(func(string) (tree.Content, error) {
		return newReadContent([]byte("key"), func(io.Reader) io.Reader {
			return readerFunc(func([]byte) (int, error) { cancel(); return 0, fs.ErrClosed })
		}), nil
	}, "a")
	v := scanWith(ctx, testBundle("key"), input, testOptions{Workers: 1})
	want := []verdict.Omission{{File: "a", Reason: "not-reached"}}
	if wantOutcome(t, v, "I(E_INTERRUPTED)"); !slices.Equal(v.Coverage.NotScanned, want) {
		t.Errorf("%+v, %+v", v.Coverage, v.Errors)
	}
}

func TestFault_140_StuckList(t *testing.T) {
	until, listing := make(chan struct{}), make(chan struct{})
	defer close(until)
	input := fakeFiles(same("x"), "a", "b")
	input.onList = func(context.Context) error { close(listing); <-until; return nil }
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-listing; cancel() }()
	v := scanWith(ctx, testBundle("key"), input, testOptions{})
	checkVerdict(t, testBundle("key"), v)
	wantOutcome(t, v, "I(E_INTERRUPTED)")
}

// A panic at each call out of the scanner, one after the other: listing, opening, reading, asking for a size, going
// back, asking for a change, closing. No run passes.
func TestFault_139_PanicAnywhere(t *testing.T) {
	text := []byte(strings.Repeat("line\n", 70_000) + "a key\n") // more than a window
	run := func(at int) (*verdict.Verdict, int) {
		var calls atomic.Int32
		point := func() {
			if int(calls.Add(1)) == at {
				panic("at a point")
			}
		}
		input := fakeFiles(func(string) (tree.Content, error) {
			point()
			return &pointContent{tree.InMemory(text), point}, nil
		}, "a", "b", "c")
		input.onList = func(context.Context) error { point(); return nil }
		v := scanWith(t.Context(), testBundle("nowhere", "a key"), input,
			testOptions{Workers: 1, MaxFileBytes: 1 << 30, Allow: []string{check.AllowPartial},
				Exclude: func(string) bool { point(); return false }})
		checkVerdict(t, testBundle("nowhere", "a key"), v)
		return v, int(calls.Load())
	}
	whole, points := run(0)
	if points < 20 || len(whole.Violations) != 3 || !whole.Complete {
		t.Fatalf("%d points, %d violations", points, len(whole.Violations))
	}
	for at := 1; at <= points; at++ {
		if v, _ := run(at); v.Verdict == verdict.Pass || v.Complete && len(v.Violations) != 3 {
			t.Errorf("point %d of %d: %s with %d violations, %+v", at, points, v.Verdict, len(v.Violations), v.Errors)
		}
	}
	t.Logf("%d points", points)
}

// A panicTree panics when it lists its files or its history.
type panicTree struct {
	*fakeTree
	in string
}

func (p panicTree) Files(ctx context.Context, n int, q tree.Query) []iter.Seq2[tree.File, error] {
	if p.in == "files" {
		panic("in files")
	}
	return p.fakeTree.Files(ctx, n, q)
}

func (p panicTree) History() (*tree.History, error) {
	if p.in == "history" {
		panic("in history")
	}
	return p.fakeTree.History()
}

// TestFault_139_PanicInTree: a panic outside of the workers is an error of the run as well.
func TestFault_139_PanicInTree(t *testing.T) {
	r := testRule("R-1", "key")
	r.RequiredFiles = []string{"LICENSE"}
	b := rules.New([]rules.Rule{r}, nil)
	for _, in := range []string{"files", "history"} {
		v := scanWith(t.Context(), b, panicTree{fakeFiles(same("x"), "a"), in}, testOptions{})
		wantOutcome(t, v, "I(E_INTERNAL)")
	}
}

// TestErrorsOutliveTheEnd: the known errors of the list of an interrupted scan are still reported.
func TestErrorsOutliveTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	input := fakeFiles(func(string) (tree.Content, error) { cancel(); return tree.InMemory(nil), nil }, "a", "b")
	input.onList = func(context.Context) error { e := tree.FileError("c", os.ErrPermission); return &e }
	v := scanWith(ctx, testBundle("key"), input, testOptions{Workers: 1})
	if len(v.Errors) != 2 || !slices.ContainsFunc(v.Errors, func(e verdict.Error) bool { return e.File == "c" }) {
		t.Errorf("%+v", v.Errors)
	}
}

// A pointContent reports each call.
type pointContent struct {
	tree.Content
	point func()
}

func (c *pointContent) Read(p []byte) (int, error)         { c.point(); return c.Content.Read(p) }
func (c *pointContent) Size() int64                        { c.point(); return c.Content.Size() }
func (c *pointContent) Seek(o int64, w int) (int64, error) { c.point(); return c.Content.Seek(o, w) }
func (c *pointContent) Changed() error                     { c.point(); return c.Content.Changed() }
func (c *pointContent) Close()                             { c.point(); c.Content.Close() }

// A file whose read fails, or returns nothing, is one error and nothing else.
func TestFault_046_ReadErrors(t *testing.T) {
	for name, c := range map[string]struct {
		wrap func(io.Reader) io.Reader
		code string
	}{
		"at once": {func(io.Reader) io.Reader {
			return readerFunc(func([]byte) (int, error) { return 0, errors.New("EIO") })
		}, code.Read},
		"on the way": {func(r io.Reader) io.Reader {
			return io.MultiReader(io.LimitReader(r, 4096), readerFunc(func([]byte) (int, error) {
				return 0,
					errors.New("EIO")
			}))
		}, code.Read},
		"no progress": {func(io.Reader) io.Reader { return readerFunc(func([]byte) (int, error) { return 0, nil }) },
			code.Read},
		"changed": {func(io.Reader) io.Reader {
			return readerFunc(func([]byte) (int, error) { return 0, worktree.ErrChanged })
		}, code.Changed},
	} {
		t.Run(name, func(t *testing.T) {
			input := fakeFiles(func(string) (tree.Content, error) {
				return newReadContent([]byte(strings.Repeat("key ", 5000)), c.wrap), nil
			}, "a")
			v := scanTree(t, testBundle("nowhere"), input, testOptions{})
			wantOutcome(t, v, "I("+c.code+")")
			if v.Coverage.Bytes != 0 || v.Coverage.Scanned != 0 {
				t.Errorf("%+v", v.Coverage)
			}
		})
	}

	// The evidence of a file longer than a window takes several reads, and each can fail.
	text := []byte(strings.Repeat("line\n", 120_000) + "a key\n" + strings.Repeat("line\n", 120_000))
	for failing := 1; ; failing++ {
		reading := 0
		input := fakeFiles(func(string) (tree.Content, error) {
			return newReadContent(text, func(r io.Reader) io.Reader {
				if reading++; reading == failing {
					return readerFunc(func([]byte) (int, error) { return 0, errors.New("EIO") })
				}
				return r
			}), nil
		}, "a")
		v := scanTree(t, testBundle("key"), input, testOptions{})
		if reading < failing {
			if wantOutcome(t, v, "F"); reading < 5 {
				t.Errorf("%d readings", reading)
			}
			break
		}
		if got := outcome(v); got != "I(E_READ)" {
			t.Errorf("reading %d fails: %s: %+v", failing, got, v.Errors)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A file that is truncated during the scan, at any time, has changed: it is not unreadable, nor a bug.
func TestFault_051_CutAtEachSeek(t *testing.T) {
	whole := []byte(strings.Repeat("line\n", 120_000) + "a key\n" + strings.Repeat("line\n", 120_000))
	for _, left := range []int{0, 100, 300_000, 599_990, 600_001, 600_003, 600_010, 700_000} {
		for seek := 1; seek <= 8; seek++ {
			c := &cutContent{Content: tree.InMemory(whole), whole: whole, left: left, at: seek}
			input := fakeFiles(func(string) (tree.Content, error) { return c, nil }, "a")
			v := scanTree(t, testBundle("key"), input, testOptions{})
			if c.at > 0 {
				break // done with fewer seeks
			}
			if got := outcome(v); got != "I(E_CHANGED)" {
				t.Errorf("cut to %d bytes at seek %d: %s, errors %+v", left, seek, got, v.Errors)
			}
		}
	}
}

// A cutContent loses its end at a Seek.
type cutContent struct {
	tree.Content
	whole []byte
	left  int // bytes after the cut
	at    int // the Seek at which it is truncated; 0: it already is
}

func (c *cutContent) Seek(offset int64, whence int) (int64, error) {
	if c.at > 0 {
		if c.at--; c.at == 0 {
			c.Content = tree.InMemory(c.whole[:c.left])
		}
	}
	return c.Content.Seek(offset, whence)
}

func (c *cutContent) Changed() error {
	if c.at == 0 {
		return worktree.ErrChanged
	}
	return nil
}

// No goroutine outlives a scan.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		scanTree(t, testBundle("key"), fakeFiles(same("key"), numberedFiles(200)...), testOptions{Workers: 8})
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}
