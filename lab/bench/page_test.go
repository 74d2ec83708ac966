//go:build linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/measured"
)

// writePage puts what was measured into the page.
func writePage(t *testing.T, w *world, results []result) {
	t.Helper()
	const page = "../results/performance.md"
	if err := measured.Write(page, "machine", "- "+strings.Join(w.machine(t), "\n- ")+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := measured.Write(page, "rows", table(results)); err != nil {
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
