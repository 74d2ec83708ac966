//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/measured"
)

// writePage puts what was measured into the page.
func writePage(t *testing.T, w *world, results []result, points string) {
	t.Helper()
	const page = "../results/performance.md"
	if err := measured.Write(page, "machine", "- "+strings.Join(w.machine(t), "\n- ")+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := measured.Write(page, "rows", table(results)); err != nil {
		t.Fatal(err)
	}
	if err := measured.Write(page, "curve", points); err != nil {
		t.Fatal(err)
	}
}

func table(results []result) string {
	var b strings.Builder
	b.WriteString("| what | against | figure | must | beyond | measured |\n|---|---|---|---|---|---|\n")
	for _, r := range results {
		for _, target := range r.targets {
			got, mark := r.got[target.figure], ""
			switch {
			case target.must > 0 && got > target.must:
				mark = " (short)"
			case target.beyond > 0 && got <= target.beyond:
				mark = " (beyond)"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s%s |\n", r.what, r.against, target.figure.name(),
				target.figure.format(target.must), target.figure.format(target.beyond), target.figure.format(got), mark)
		}
	}
	return b.String()
}

func (f figure) name() string {
	return map[figure]string{wall: "wall", cpu: "CPU", peak: "peak memory", time1: "time", read1: "read"}[f]
}

func (f figure) format(v float64) string {
	switch {
	case v == 0:
		return ""
	case f == peak:
		return fmt.Sprintf("%.0f MiB", v)
	case f == read1:
		return fmt.Sprintf("%.1f MiB", v)
	case f == time1:
		return fmt.Sprintf("%.0f ms", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// sameAsSlow fails unless the verdicts of the fast program are, byte for byte, those of the
// one that has no fast path: bytes.Contains for each pattern, doublestar for each glob. What
// takes that one too long on all of Linux is compared on a part.
func sameAsSlow(t *testing.T, w *world) {
	t.Helper()
	part := filepath.Join(w.linux, "drivers", "net")
	w.policies["found"] = foundPolicy(t, w, part)
	for _, c := range []struct{ policy, tree string }{
		{"W1", w.linux}, {"W1", w.azurerm}, {"W1-7", w.linux}, {"W2", w.linux}, {"W2", w.azurerm}, {"W3", w.linux}, {"W3", w.azurerm},
		{"P100", w.linux}, {"P100-W1", w.linux}, {"P1000", part}, {"P10000", part}, {"found", part}, {"W1-7", w.line}, {"W1", w.tiny},
		{"options", part}, {"expressions", part},
	} {
		var verdicts [3][]byte
		for i, program := range []string{w.slow, w.scan, w.pure} {
			out := filepath.Join(t.TempDir(), "verdict.json")
			cmd := w.full(program, c.policy, c.tree)
			for k, arg := range cmd.args {
				if arg == "none" {
					cmd.args[k] = out
				}
			}
			w.run(t, cmd)
			var err error
			if verdicts[i], err = os.ReadFile(out); err != nil {
				t.Fatal(err)
			}
		}
		for i, what := range []string{"the fast", "the pure Go"} {
			if !bytes.Equal(verdicts[0], verdicts[i+1]) {
				t.Errorf("%s over %s: %s verdict is not the slow one", c.policy, c.tree, what)
			}
		}
		t.Logf("%s over %s: the same %d bytes", c.policy, c.tree, len(verdicts[0]))
	}
}

// foundPolicy is a bundle of 200 patterns that occur, taken from random places of a tree.
func foundPolicy(t *testing.T, w *world, tree string) policy {
	t.Helper()
	g := newGenerator()
	paths, _ := files(t, tree)
	var patterns []string
	for len(patterns) < 200 {
		text, err := os.ReadFile(filepath.Join(tree, g.one(paths)))
		if err != nil {
			t.Fatal(err)
		}
		size := 2 + g.IntN(20)
		if len(text) <= size {
			continue
		}
		at := g.IntN(len(text) - size)
		if p := string(text[at : at+size]); !strings.ContainsFunc(p, func(c rune) bool { return c < ' ' || c > '~' || c == '\'' }) && strings.TrimSpace(p) != "" && !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	return writePolicy(t, filepath.Dir(w.policies["W1"].bundle), "found", patterns, ruleText(0, []string{"**"}, patterns))
}
