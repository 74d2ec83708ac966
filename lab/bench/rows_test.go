//go:build linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// A target is what a row has to reach; 0 means no target.
type target struct {
	figure       figure
	must, beyond float64
}

// A row is one comparison.
type row struct {
	what, against string
	targets       []target
	measure       func(t *testing.T) map[figure]float64
}

func (r row) wanted() bool { return strings.Contains(r.what+" "+r.against, *only) }

func (r row) run(t *testing.T) result { return result{r, r.measure(t)} }

// A result is a row that was measured.
type result struct {
	row
	got map[figure]float64
}

func (r result) String() string {
	return fmt.Sprintf("%s; %s: wall %.2f, cpu %.2f, %.0f MiB, %.1f ms, %.1f MiB read", r.what, r.against,
		r.got[wall], r.got[cpu], r.got[peak], r.got[time1], r.got[read1])
}

// full is a scan of a tree. Links are allowed: some of Linux lead out of what the globs of W2 and W3 select.
func (w *world) full(program, policy, tree string, more ...string) command {
	args := []string{program, "--policy", w.policies[policy].bundle, "--output", "none", "--quiet", "--allow", "symlink"}
	return command{args: append(append(args, more...), tree)}
}

// ripgrep searches a tree for a policy's patterns.
func (w *world) ripgrep(policy, tree string, more ...string) command {
	return command{args: append(append([]string{w.rg, "-F", "-f", w.policies[policy].patterns, "-uuu"}, more...), tree)}
}

// expressions has ripgrep search a tree for a policy's expressions, whose classes are ASCII's, as in policyscan.
func (w *world) expressions(policy, tree string) command {
	return command{args: []string{w.rg, "--no-unicode", "-f", w.policies[policy].patterns, "-uuu", "-o", tree}}
}

// diff is a scan of what changed in a git directory.
func (w *world) diff(policy, dir, base string) command {
	return command{dir: dir, args: []string{w.scan, "--policy", w.policies[policy].bundle, "--output", "none", "--quiet", "--diff-base", base}}
}

func gitDiff(dir, base string) command {
	return command{args: []string{"git", "-C", dir, "diff", "--name-only", base + "...HEAD"}}
}

func gitDiffRead(dir, base string) command {
	return command{dir: dir, args: []string{"sh", "-c", "git diff --raw --no-renames --no-abbrev " + base + "...HEAD | cut -d' ' -f4 | git cat-file --batch"}}
}

func rows(w *world) []row {
	versus := func(what, against string, ours, peer command, targets ...target) row {
		return row{what, against, targets, func(t *testing.T) map[figure]float64 { return w.versus(t, ours, peer) }}
	}
	labels := func(what, policy, git string, must float64) row {
		ours := w.diff(policy, git, "HEAD~100")
		before := command{dir: git, args: append([]string{w.unlabelled}, ours.args[1:]...)}
		return versus("labels: `--diff-base HEAD~100`, "+what, "policyscan before it had labels", ours, before, target{cpu, must, 0})
	}
	tracked := w.full(w.scan, "W3", ".", "--tracked")
	tracked.dir = w.checkout
	globs := []string{"-g", "*.tf", "-g", "*.yaml"}
	return append([]row{
		versus("W1: 20 patterns, some of 3 bytes, all files; Linux", "`rg -l`",
			w.full(w.scan, "W1", w.linux), w.ripgrep("W1", w.linux, "-l"), target{wall, 0.80, 0.60}, target{peak, 32, 16}),
		versus("W1; azurerm", "`rg -l`",
			w.full(w.scan, "W1", w.azurerm), w.ripgrep("W1", w.azurerm, "-l"), target{wall, 0.80, 0.60}),
		versus("20 patterns of 7 bytes and more; Linux", "`rg -l`",
			w.full(w.scan, "W1-7", w.linux), w.ripgrep("W1-7", w.linux, "-l"), target{wall, 0, 0}),
		versus("the same in pure Go; Linux", "`rg -l`",
			w.full(w.pure, "W1-7", w.linux), w.ripgrep("W1-7", w.linux, "-l"), target{wall, 0.90, 0}),
		{"walk, open, read and close, nothing else; Linux", "a C program that does that", []target{{cpu, 1.25, 1.05}}, w.walking},
		versus("W2: 200 rules, each with its own 5 patterns and globs; Linux", "one `rg -l` of W1",
			w.full(w.scan, "W2", w.linux), w.ripgrep("W1", w.linux, "-l"), target{wall, 1.00, 0.80}, target{peak, 96, 32}),
		versus("W2; azurerm", "one `rg -l` of W1",
			w.full(w.scan, "W2", w.azurerm), w.ripgrep("W1", w.azurerm, "-l"), target{wall, 1.00, 0.80}),
		versus("W2; Linux", "`rg -o` with the 1,000 patterns",
			w.full(w.scan, "W2", w.linux), w.ripgrep("W2", w.linux, "-o"), target{wall, 0.35, 0.20}),
		versus("W3: rules for `**/*.tf` and `**/*.yaml` only; Linux", "`rg -l -g`",
			w.full(w.scan, "W3", w.linux), w.ripgrep("W3", w.linux, append(globs, "-l")...), target{wall, 0.70, 0.30}),
		versus("W3; azurerm", "`rg -l -g`",
			w.full(w.scan, "W3", w.azurerm), w.ripgrep("W3", w.azurerm, append(globs, "-l")...), target{wall, 0.70, 0.30}),
		versus("W3 from the index (`--tracked`); azurerm", "`rg -l -g`",
			tracked, w.ripgrep("W3", w.azurerm, append(globs, "-l")...), target{wall, 0.40, 0.30}),
		versus("100 patterns, all files; Linux", "`rg -o`",
			w.full(w.scan, "P100", w.linux), w.ripgrep("P100", w.linux, "-o"), target{cpu, 0.40, 0.25}),
		versus("100 patterns, 20 of them those of W1; Linux", "`rg -o`",
			w.full(w.scan, "P100-W1", w.linux), w.ripgrep("P100-W1", w.linux, "-o"), target{cpu, 0, 0}),
		versus("1,000 patterns; Linux", "`rg -o`",
			w.full(w.scan, "P1000", w.linux), w.ripgrep("P1000", w.linux, "-o"), target{cpu, 0.55, 0.30}),
		versus("10,000 patterns; Linux", "`rg -o`",
			w.full(w.scan, "P10000", w.linux), w.ripgrep("P10000", w.linux, "-o"), target{cpu, 0.50, 0.30}),
		versus("1,000 patterns; Linux", "1 pattern, policyscan too",
			w.full(w.scan, "P1000", w.linux), w.full(w.scan, "P1", w.linux), target{wall, 3.0, 2.0}),
		{"globs: the 200 rules of W2 and the paths of Linux", "", []target{{time1, 60, 10}}, w.selecting},
		versus("200 texts with options; azurerm", "the same without, policyscan too",
			w.full(w.scan, "options", w.azurerm), w.full(w.scan, "texts", w.azurerm), target{cpu, 1.30, 0}, target{peak, 96, 0}),
		versus("200 texts with options; Linux", "the same without, policyscan too",
			w.full(w.scan, "options", w.linux), w.full(w.scan, "texts", w.linux), target{cpu, 1.30, 0}),
		versus("50 expressions; azurerm", "`rg -o`",
			w.full(w.scan, "expressions", w.azurerm), w.expressions("expressions", w.azurerm), target{cpu, 2.00, 0}, target{peak, 96, 0}),
		versus("50 expressions; Linux", "`rg -o`",
			w.full(w.scan, "expressions", w.linux), w.expressions("expressions", w.linux), target{cpu, 2.00, 0}),
		versus("50 expressions, each with `func`; azurerm", "`rg -o`",
			w.full(w.scan, "func", w.azurerm), w.expressions("func", w.azurerm), target{cpu, 0, 0}),
		versus("100 rules with keys; 10,000 files of YAML", "one rule that has them parsed, policyscan too",
			w.full(w.scan, "keys", w.manifests), w.full(w.scan, "parsing", w.manifests), target{cpu, 2.00, 0}, target{peak, 96, 0}),
		versus("422 MB in one line", "`rg -l`",
			w.full(w.scan, "W1-7", w.line), w.ripgrep("W1-7", w.line, "-l"), target{wall, 0.50, 0}, target{peak, 32, 0}),
		versus("`--diff-base HEAD~1`; azurerm's history", "`git diff --name-only BASE...HEAD`",
			w.diff("W1", w.azurermGit, "HEAD~1"), gitDiff(w.azurermGit, "HEAD~1"),
			target{time1, 20, 0}, target{wall, 2.5, 1.5}, target{read1, 2.5, 0}),
		versus("`--diff-base HEAD~1`; rails' history", "`git diff --name-only BASE...HEAD`",
			w.diff("W1", w.railsGit, "HEAD~1"), gitDiff(w.railsGit, "HEAD~1"),
			target{time1, 20, 0}, target{wall, 2.5, 1.5}, target{read1, 2.5, 0}),
		versus("`--diff-base HEAD~15000`, no file covered; azurerm's history", "`git diff --name-only BASE...HEAD`",
			w.diff("nothing", w.azurermGit, "HEAD~15000"), gitDiff(w.azurermGit, "HEAD~15000"), target{wall, 1.6, 1.0}),
		versus("`--diff-base HEAD~15000`, no file covered; rails' history", "`git diff --name-only BASE...HEAD`",
			w.diff("nothing", w.railsGit, "HEAD~15000"), gitDiff(w.railsGit, "HEAD~15000"), target{wall, 1.6, 1.0}),
		versus("`--diff-base HEAD~100`, its blobs read; azurerm's history", "`git diff --raw BASE...HEAD` and `git cat-file --batch`",
			w.diff("W1", w.azurermGit, "HEAD~100"), gitDiffRead(w.azurermGit, "HEAD~100"), target{wall, 1.0, 0.7}),
		versus("`--diff-base HEAD~100`, its blobs read; rails' history", "`git diff --raw BASE...HEAD` and `git cat-file --batch`",
			w.diff("W1", w.railsGit, "HEAD~100"), gitDiffRead(w.railsGit, "HEAD~100"), target{wall, 1.0, 0.7}),
		labels("no violation; azurerm's history", "P1", w.azurermGit, 1.02),
		labels("no violation; rails' history", "P1", w.railsGit, 1.02),
		labels("violations in a tenth of the files; azurerm's history", "tenth", w.azurermGit, 1.3),
		labels("violations in a tenth of the files; rails' history", "tenth", w.railsGit, 1.3),
		labels("violations in nearly all files; azurerm's history", "common", w.azurermGit, 0),
		labels("violations in nearly all files; rails' history", "common", w.railsGit, 0),
		versus("`--version`", "`git --version`",
			command{args: []string{w.scan, "--version"}}, command{args: []string{"git", "--version"}}, target{cpu, 2, 0}, target{wall, 0, 0}),
		versus("a tree of one file, the whole process", "",
			w.full(w.scan, "W1", w.tiny), command{args: []string{"true"}}, target{time1, 10, 5}),
		versus("`hook claude-code`: 200 rules of 5 patterns for every file, an edit of a file of 100 KB, the whole process", "a program in Go that does nothing",
			w.hook("hook"), command{args: []string{w.nothing}}, target{time1, 10, 8}, target{wall, 0, 0}),
	}, slices.Concat(w.partRows(), w.freshRows())...)
}

// freshRows are those of trees that were not read yet.
func (w *world) freshRows() []row {
	first := func(what string, before func(t *testing.T), tree string) row {
		ours, peer := w.full(w.scan, "W1", tree), w.ripgrep("W1", tree, "-l")
		ours.before, peer.before = before, before
		return row{what, "`rg -l`", []target{{wall, 0, 0}, {cpu, 0, 0}}, func(t *testing.T) map[figure]float64 { return w.versus(t, ours, peer) }}
	}
	rows := []row{first("W1, the first scan after a checkout; azurerm", func(t *testing.T) { unread(t, w.azurerm) }, w.azurerm)}
	f, err := os.OpenFile(caches, os.O_WRONLY, 0) // nothing is dropped yet: the rows before are of a warm cache
	if err != nil {
		return rows // only root may
	}
	f.Close()
	drop := func(t *testing.T) {
		syscall.Sync()
		if err := os.WriteFile(caches, []byte("3"), 0); err != nil {
			t.Fatal(err)
		}
	}
	return append(rows, first("W1, cold cache; azurerm", drop, w.azurerm), first("W1, cold cache; Linux", drop, w.linux))
}

// unread makes all files of a tree those of a new checkout: they were not read since they were written.
func unread(t *testing.T, tree string) {
	t.Helper()
	paths, _ := files(t, tree)
	for _, path := range paths {
		path = filepath.Join(tree, path)
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() {
			err = os.Chtimes(path, info.ModTime(), info.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	syscall.Sync()
}

// caches has the system forget what it has in memory of all disks, if 3 is written to it.
const caches = "/proc/sys/vm/drop_caches"

// hook judges the call of an agent.
func (w *world) hook(policy string) command {
	return command{stdin: w.edit, args: []string{w.scan, "hook", "claude-code", "--policy", w.policies[policy].bundle}}
}

// walking compares the room that walks with testdata/walk.c.
func (w *world) walking(t *testing.T) map[figure]float64 {
	var ratios []float64
	for i := range *runs + 1 {
		before := processorTime(t)
		if n := readAll(t, w.linux); n < 50_000 {
			t.Fatalf("%d files", n)
		}
		ours := processorTime(t) - before
		peer := w.run(t, command{args: []string{w.walk, w.linux}})
		if i > 0 {
			ratios = append(ratios, float64(ours)/float64(peer.cpu))
		}
	}
	return map[figure]float64{cpu: median(ratios)}
}

// readAll reads every regular file of a tree to its end, with two visitors.
func readAll(t *testing.T, tree string) int64 {
	root, err := worktree.Open(tree)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var count atomic.Int64
	visitor := func() worktree.Visitor {
		buf := make([]byte, 256<<10)
		return worktree.Visitor{
			Skip:    func(string) bool { return false },
			Passing: func(string) bool { return false },
			Failed:  func(path string, err error) { t.Error(path, err) },
			File: func(e worktree.Entry, rd *worktree.Reader) {
				if e.Kind != worktree.Regular {
					return
				}
				f, err := rd.Open(e.Path, true)
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				for err == nil {
					_, err = f.Read(buf)
				}
				count.Add(1)
			},
		}
	}
	var done sync.WaitGroup
	for _, w := range root.Walkers(2) {
		done.Go(func() { w.Walk(t.Context(), visitor()) })
	}
	done.Wait()
	return count.Load()
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// selecting measures how long the globs of W2 take for all paths, and holds every answer
// against doublestar.
func (w *world) selecting(t *testing.T) map[figure]float64 {
	bundle, err := rules.LoadDir(w.policies["W2"].bundle)
	if err != nil {
		t.Fatal(err)
	}
	paths, _ := files(t, w.linux)
	var selected []int
	var times []float64
	for range *runs {
		before := processorTime(t)
		for _, path := range paths {
			selected = bundle.Selecting(path, selected[:0])
		}
		times = append(times, float64(processorTime(t)-before)/1e6)
	}
	for _, path := range paths {
		selected = bundle.Selecting(path, selected[:0])
		for i := range bundle.Rules {
			want := false
			for _, glob := range bundle.Rules[i].Files {
				if dir, ok := strings.CutSuffix(glob, "/**"); ok {
					glob = dir + "/**/*" // what is in the directory, not the directory's own name
				}
				want = want || doublestar.MatchUnvalidated(glob, path)
			}
			got := len(selected) > 0 && selected[0] == i
			if got {
				selected = selected[1:]
			}
			if got != want {
				t.Fatalf("%s and %q: %v; doublestar says %v", bundle.Rules[i].ID, path, got, want)
			}
		}
	}
	return map[figure]float64{time1: median(times)}
}
