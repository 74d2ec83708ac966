//go:build linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// curve is how many patterns the search is measured with, from those of the vector unit to those of a large bundle.
var curve = []int{1, 2, 5, 10, 20, 48, 49, 64, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000}

// everyFourth is the last commit whose search looked at every fourth place for more than 48 patterns.
const everyFourth = "d24f7df"

// measureCurve returns a table: over the Linux source, for the first n patterns of P10000, the processor time against
// the search at everyFourth, and against ripgrep.
func measureCurve(t *testing.T, w *world) string {
	t.Helper()
	all, err := os.ReadFile(w.policies["P10000"].patterns)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| patterns | as before | `rg -o` |\n|---|---|---|\n")
	for _, n := range curve {
		name, patterns := fmt.Sprint("first", n), strings.Split(string(all), "\n")[:n]
		w.policies[name] = writePolicy(t, filepath.Dir(w.policies["W1"].bundle), name, patterns,
			ruleText(0, []string{"**"}, patterns))
		ours := w.full(w.scan, name, w.linux)
		before := w.versus(t, ours, w.full(w.fourths, name, w.linux))
		rg := w.versus(t, ours, w.ripgrep(name, w.linux, "-o"))
		line := fmt.Sprintf("| %s | %s | %s |\n", grouped(n), cpu.format(before[cpu]), cpu.format(rg[cpu]))
		t.Log(line)
		b.WriteString(line)
	}
	return b.String()
}

// grouped writes a number below a million with a comma before its thousands.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
