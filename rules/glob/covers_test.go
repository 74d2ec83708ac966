package glob

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		over, under string // apart by spaces
		want        bool
	}{
		{"**", "**/*.tf", true},
		{"**", "**", true},
		{"**/*", "**", true},
		{"a/**/*", "a/**", true},
		{"**/*", "**/*.tf a", true},
		{"**/*.tf", "**/*.tf", true},
		{"**/*.tf", "*.tf modules/*.tf a/**/x.tf", true},
		{"**/*.{tf,tfvars}", "**/*.tf", true},
		{"**/*.tf **/*.yml", "**/*.{tf,yml}", true},
		{"modules/**", "modules/*.tf modules/**/*.tf modules/**", true},
		{"**/testdata/**", "testdata/** a/testdata/b/*.tf **/testdata/*", true},
		{"{a,b}/**", "a/x b/*/y", true},
		{"**/Dockerfile*", "**/Dockerfile Dockerfile.dev", true},
		{"**/*.tf", "**/main.tf **/*.auto.tf", true},
		{"*", "*.tf", true},
		{"a/**", "a/**/**", true},

		{"modules/**", "modules", false}, // not what is beneath it
		{"modules/**", "modules*/**", false},
		{"modules/**", "**/*.tf", false},
		{"**/*.tf", "**/*.tf **/*.yml", false},
		{"**/*.auto.tf", "**/*.tf", false},
		{"*.tf", "**/*.tf", false},
		{"*", "**", false},
		{"**/testdata/**", "**", false},
		{"**/testdata/**", "testdata", false},
		{"*/*", "x[!a]y", false}, // which may be three segments
		{"*", "x[!a]y", false},
		{"", "**", false},
		{"**", "", false},
	} {
		if got := Covers(strings.Fields(c.over), strings.Fields(c.under)); got != c.want {
			t.Errorf("%q over %q: %v", c.over, c.under, got)
		}
	}
}

// TestCoversIsCertain: what is matched by globs that are covered is matched by those that cover them.
func TestCoversIsCertain(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 27))
	pick := func(from []string, n int) string {
		out := make([]string, 1+r.IntN(n))
		for i := range out {
			out[i] = from[r.IntN(len(from))]
		}
		return strings.Join(out, "/")
	}
	names := []string{"a", "b", "ab", "a.b", "ba"}
	parts := []string{"**", "**", "*", "a", "b", "a*", "*b", "?", "[ab]", "{a,b}", "{a/b,ab}", "a[!b]b", "*.b", "ab"}
	covered, matched := 0, 0
	for range 60_000 {
		over, under := []string{pick(parts, 3), pick(parts, 4)}, []string{pick(parts, 4)}
		if Check(over[0]) != nil || Check(over[1]) != nil || Check(under[0]) != nil || !Covers(over, under) {
			continue
		}
		covered++
		wide, narrow := Compile(over), Compile(under)
		for range 20 {
			if path := pick(names, 5); narrow.Match(path) {
				if matched++; !wide.Match(path) {
					t.Fatalf("%q should cover %q, but for %q", over, under, path)
				}
			}
		}
	}
	if covered < 5_000 || matched < 5_000 {
		t.Errorf("%d were covered, %d paths matched: too few to say much", covered, matched)
	}
}
