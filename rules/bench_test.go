package rules

import (
	"fmt"
	"testing"
)

// BenchmarkSelecting asks 200 rules of the usual shapes about 1,000 paths.
func BenchmarkSelecting(b *testing.B) {
	var list []Rule
	for i := range 200 {
		globs := [][]string{
			{"**/*.tf"}, {fmt.Sprintf("services/s%d/**", i)}, {fmt.Sprintf("**/deploy%d*.yaml", i)},
			{fmt.Sprintf("services/*/**/*.{tf,e%d}", i)}, {"**/Dockerfile"},
		}[i%5]
		list = append(list, Rule{ID: fmt.Sprintf("R-%d", i), Type: Boundary, Title: "t", Files: globs,
			Patterns: PlainItems("x")})
	}
	bundle := New(list, nil)
	var paths []string
	for i := range 1000 {
		paths = append(paths, fmt.Sprintf("services/s%d/k8s/base/deploy%d.%s", i%50, i,
			[]string{"yaml", "tf", "md"}[i%3]))
	}
	var selected []int
	b.ReportAllocs()
	for b.Loop() {
		all := 0
		for _, p := range paths {
			selected = bundle.Selecting(p, selected[:0])
			all += len(selected)
		}
		if all < 1000 {
			b.Fatal(all, "selected")
		}
	}
}
