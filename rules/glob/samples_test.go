package glob

import (
	"slices"
	"testing"
)

// TestSamples: paths that match, with ** for no directory and for some.
func TestSamples(t *testing.T) {
	for glob, want := range map[string][]string{
		"**/*.tf":          {"main.tf", "a/a.tf", "a/b/b.tf"},
		"a/**":             {"a/main", "a/a/a", "a/a/b/b"},
		"**":               {"main", "a/a"},
		"x/{a,b}/?[0-9]c":  {"x/a/a0c", "x/b/a0c"},
		"[!a]/\\*.{yml,x}": {"0/*.yml", "0/*.x"},
		"LICENSE":          {"LICENSE"},
	} {
		got := Samples([]string{glob})
		set := Compile([]string{glob})
		for _, p := range got {
			if !set.Match(p) {
				t.Errorf("%s does not match %q", glob, p)
			}
		}
		for _, p := range want {
			if !slices.Contains(got, p) {
				t.Errorf("%s: %q is not in %q", glob, p, got)
			}
		}
	}
}
