//go:build linux

package scanner

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"golang.org/x/sys/unix"
)

// raceTime is the duration of each race.
func raceTime(t *testing.T) time.Duration {
	switch {
	case !*long:
		return 300 * time.Millisecond
	case strings.HasPrefix(t.Name(), "TestFault_034"): // four of them: a minute
		return 15 * time.Second
	}
	return 1500 * time.Millisecond
}

// race runs disturb and scan repeatedly for a while.
func race(t *testing.T, disturb func(round int) error, scan func() *verdict.Verdict,
	check func(*verdict.Verdict) error) {
	t.Helper()
	var stop atomic.Bool
	failed := make(chan error, 1)
	go func() {
		for i := 0; !stop.Load(); i++ {
			if err := disturb(i); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	outcomes := map[string]int{}
	for end := time.Now().Add(raceTime(t)); time.Now().Before(end); {
		v := scan()
		outcomes[outcome(v)]++
		if err := check(v); err != nil {
			t.Errorf("%v; %+v, errors %+v", err, v.Coverage, v.Errors)
			break
		}
	}
	stop.Store(true)
	must(t, <-failed)
	t.Log(outcomes)
}

// foundOr returns an error unless the verdict is a violation of "key" alone or only has these codes.
func foundOr(codes ...string) func(*verdict.Verdict) error {
	return func(v *verdict.Verdict) error {
		for i := range v.Violations {
			if v.Violations[i].Evidence.Pattern != "key" {
				return fmt.Errorf("what lies outside the tree was read: %+v", v.Violations[i])
			}
		}
		for _, e := range v.Errors {
			if !slices.Contains(codes, e.Code) {
				return fmt.Errorf("unexpected code")
			}
		}
		if v.Verdict == verdict.Pass {
			return errors.New("a PASS, though at every moment there was a violation")
		}
		return nil
	}
}

func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// A file or a directory is replaced repeatedly, by a file, a link or a FIFO. The result is always a violation or
// undecided.
func TestFault_034_Swapped(t *testing.T) {
	outside := writeTree(t, map[string]string{"key.tf": "OUTSIDE", "key": "OUTSIDE"})
	for _, c := range []struct {
		name  string
		make  func(t *testing.T, path string) // creates the replacement
		codes []string
	}{
		{"link for file", func(t *testing.T, path string) { writeLink(t, outside+"/key.tf", path) },
			[]string{code.Changed, code.FilesFrom}},
		{"FIFO for file", func(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o666)) },
			[]string{code.Changed, code.NotRegular}},
		{"dir for file", func(t *testing.T, path string) { writeFile(t, path+"/key.tf", "key") },
			[]string{code.Changed, code.FilesFrom}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := writeTree(t, map[string]string{"tree/a.tf": "x", "tree/sub/main.tf": "key"})
			c.make(t, base+"/other")
			root := openRoot(t, base+"/tree")
			n := 0
			race(t, func(int) error { return exchange(base+"/tree/sub/main.tf", base+"/other") },
				func() *verdict.Verdict {
					if n++; n%2 == 0 {
						return scanTree(t, testBundle("key", "OUTSIDE"), tree.Dir(root), testOptions{})
					}
					return scanTree(t, testBundle("key", "OUTSIDE"), tree.List(root, []string{"sub/main.tf"}),
						testOptions{})
				}, foundOr(c.codes...))
		})
	}
	t.Run("link for dir", func(t *testing.T) {
		base := writeTree(t, map[string]string{"tree/a.tf": "x", "tree/sub/dir/key.tf": "key"})
		must(t, os.Mkdir(outside+"/key-dir", 0o777))
		writeFile(t, outside+"/key-dir/key.tf", "OUTSIDE")
		writeLink(t, outside+"/key-dir", base+"/other")
		root := openRoot(t, base+"/tree")
		race(t, func(int) error { return exchange(base+"/tree/sub/dir", base+"/other") }, func() *verdict.Verdict {
			return scanTree(t, testBundle("key", "OUTSIDE"), tree.Dir(root), testOptions{})
		}, foundOr(code.Changed))
	})
}

// bigText is a text of several windows without the pattern.
var bigText = bytes.Repeat([]byte("cidr_blocks = [\"10.0.0.0/8\"]  # \n"), 3<<20/33)

func TestFault_051_Rewritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "main.tf")
	must(t, os.WriteFile(path, append([]byte("key\n"), bigText...), 0o666))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	put := func(text string, at int64) error { _, err := f.WriteAt([]byte(text), at); return err }
	last := int64(len(bigText)) - 4
	race(t, func(i int) error { // the pattern moves between start and end, and never vanishes
		if i%2 == 0 {
			return errors.Join(put("key\n", last), put("---\n", 0))
		}
		return errors.Join(put("key\n", 0), put("---\n", last))
	}, func() *verdict.Verdict {
		return scanDir(t, dir, testBundle("key"), testOptions{})
	}, foundOr(code.Changed))
}

func TestFault_051_Deleted(t *testing.T) {
	dir := writeTree(t, map[string]string{"a.tf": "x", "sub/deep/main.tf": "key"})
	race(t, func(int) error {
		return errors.Join(os.RemoveAll(dir+"/sub"), os.MkdirAll(dir+"/sub/deep", 0o777),
			os.WriteFile(dir+"/sub/deep/main.tf", []byte("key"), 0o666))
	}, func() *verdict.Verdict {
		return scanDir(t, dir, testBundle("key"), testOptions{})
	}, func(v *verdict.Verdict) error {
		for _, e := range v.Errors {
			if e.Code != code.Changed {
				return errors.New("what is wrong is that the file changed")
			}
		}
		if v.Verdict == verdict.Pass && v.Coverage.Files == 2 &&
			v.Coverage.Bytes != 1 { // empty or missing yet: no violation
			return errors.New("a PASS, though the file was scanned")
		}
		return nil
	})
}

// A file that moves, while the tree is listed, from a directory not yet listed to a listed one: it was in the tree all
// the time, so the run must not pass without it.
func TestFault_051_MovedWhileListed(t *testing.T) {
	dir := writeTree(t, map[string]string{"a/mark": "x", "b/mark": "x"})
	var order []string // of the listed directories
	scan := func(onFirst func()) *verdict.Verdict {
		order = nil
		return scanDir(t, dir, testBundle("key"), testOptions{
			Allow:   []string{check.AllowPartial},
			Workers: 1, // one directory after the other
			Exclude: func(path string) bool {
				order = append(order, filepath.Dir(path))
				if len(order) == 1 {
					onFirst()
				}
				return false
			},
		})
	}
	wantOutcome(t, scan(func() {}), "P")
	first, second := filepath.Join(dir, order[0]), filepath.Join(dir, order[1])
	writeFile(t, second+"/bad.tf", "key")
	v := scan(func() { must(t, os.Rename(second+"/bad.tf", first+"/bad.tf")) })
	if v.Verdict == verdict.Pass {
		t.Errorf("PASS without the file that moved; coverage %+v", v.Coverage)
	}
}

// Another policyscan that ends replaces its verdict.json, which this run skips, through a temporary file in the same
// directory. The tree has not changed.
func TestFault_065_AnotherRunsOutput(t *testing.T) {
	dir := writeTree(t, map[string]string{"main.tf": "x", "verdict.json": "old"})
	replaced := false
	v := scanDir(t, dir, testBundle("key"), testOptions{
		Allow:    []string{check.AllowPartial},
		LeaveOut: map[string]string{"verdict.json": "output"},
		Exclude: func(string) bool {
			if !replaced {
				replaced = true
				writeFile(t, dir+"/.verdict.json.1-0.tmp", "new")
				must(t, os.Rename(dir+"/.verdict.json.1-0.tmp", dir+"/verdict.json"))
			}
			return false
		},
	})
	if wantOutcome(t, v, "P"); !replaced {
		t.Error("nothing was replaced")
	}
}
