//go:build linux

package bench

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// A row is worse than before if its ratio of processor times, or of memory, is over these.
const (
	worse       = 1.03
	worseMemory = 1.10 // two series of one program differ by 6 %
)

// TestBefore runs the programs of -base and of the work tree in turn, in each kind of row that TestPerformance
// measures against a peer. It fails if a row is worse with each of three copies of the programs: two copies of
// one differ by up to 8 %.
func TestBefore(t *testing.T) {
	if *base == "" {
		t.Skip("it takes a quarter of an hour; see make before")
	}
	w, dir := corpora(t)
	w.measure = filepath.Join(dir, "measure")
	shell(t, "", "gcc", "-O2", "-pthread", "-o", w.measure, filepath.Join("testdata", "measure.c"))
	before := filepath.Join(dir, "policyscan-before")
	w.scan = filepath.Join(dir, "policyscan-after")
	if err := build.Commit(*base, before+".linked"); err != nil {
		t.Fatal(err)
	}
	if err := build.Program(w.scan + ".linked"); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.ownCommands() {
		if !strings.Contains(c.what, *only) {
			continue
		}
		old := c.command
		old.args = slices.Clone(old.args)
		for i, arg := range old.args {
			old.args[i] = strings.ReplaceAll(arg, w.scan, before)
		}
		if !slices.ContainsFunc([]int{1, 2, 3}, func(int) bool {
			for _, program := range []string{before, w.scan} {
				shell(t, "", "cp", "--remove-destination", program+".linked", program)
			}
			got, memory := w.versus(t, c.command, old), w.versus(t, old, old)[peak]
			t.Logf("%s: CPU %.2f, wall %.2f, %.0f MiB of %.0f", c.what, got[cpu], got[wall], got[peak], memory)
			return got[cpu] <= worse && got[peak] <= memory*worseMemory+1
		}) {
			t.Errorf("%s is worse than before", c.what)
		}
	}
}

// An ownCommand is one of the program alone, which names it by w.scan.
type ownCommand struct {
	what string
	command
}

// ownCommands has one of each kind.
func (w *world) ownCommands() []ownCommand {
	tracked := w.full(w.scan, "W3", ".", "--tracked")
	tracked.dir = w.checkout
	rev := w.full(w.scan, "W1", ".", "--rev", "HEAD")
	rev.dir = w.azurermGit
	return []ownCommand{
		{"W1; Linux", w.full(w.scan, "W1", w.linux)},
		{"W1; azurerm", w.full(w.scan, "W1", w.azurerm)},
		{"W2; Linux", w.full(w.scan, "W2", w.linux)},
		{"W2; azurerm", w.full(w.scan, "W2", w.azurerm)},
		{"W3; azurerm", w.full(w.scan, "W3", w.azurerm)},
		{"W3, --tracked; azurerm", tracked},
		{"W1, --rev HEAD; azurerm", rev},
		{"10,000 patterns; azurerm", w.full(w.scan, "P10000", w.azurerm)},
		{"texts with options; azurerm", w.full(w.scan, "options", w.azurerm)},
		{"50 expressions; azurerm", w.full(w.scan, "expressions", w.azurerm)},
		{"100 rules with keys", w.full(w.scan, "keys", w.manifests)},
		{"one rule with a key", w.full(w.scan, "parsing", w.manifests)},
		{"422 MB in one line", w.full(w.scan, "W1-7", w.line)},
		{"--diff-base HEAD~1; rails", w.diff("W1", w.railsGit, "HEAD~1")},
		{"--diff-base HEAD~15000; azurerm", w.diff("nothing", w.azurermGit, "HEAD~15000")},
		{"--diff-base HEAD~100; azurerm", w.diff("W1", w.azurermGit, "HEAD~100")},
		{"labels, a tenth of the files; azurerm", w.diff("tenth", w.azurermGit, "HEAD~100")},
		{"labels, nearly all files; rails", w.diff("common", w.railsGit, "HEAD~100")},
		{"50,000 violations and all reports", w.reports()},
		{"a fleet with the starter bundle", w.fleetRun(starter, "")},
		{"a fleet with W1", w.fleetRun(w.policies["W1"].bundle, "")},
		{"a tree of one file", w.full(w.scan, "W1", w.tiny)},
		{"a hook's call", w.hook("hook")},
		{"--version", command{args: []string{w.scan, "--version"}}},
	}
}
