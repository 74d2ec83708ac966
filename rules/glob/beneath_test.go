package glob

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestBeneath(t *testing.T) {
	for _, c := range []struct {
		glob, folder string
		want         bool
	}{
		{"**", "sub", true},
		{"**/*.tf", "a/sub", true},
		{"*.tf", "sub", false},
		{"sub/*.tf", "sub", true},
		{"sub", "sub", false},
		{"other/**", "sub", false},
		{"sub/**", "sub", true},
		{"s*/a/b.tf", "sub/a", true},
		{"s*/a/b.tf", "sub/b", false},
		{"{a,sub}/x", "sub", true},
		{"{a,b}/x", "sub", false},
		{"a[!b]c/x", "a", true}, // the class may be the slash
		{"other/x.tf", ".", true},
		{"a", ".", true},
	} {
		if got := Beneath(c.glob, c.folder); got != c.want {
			t.Errorf("Beneath(%q, %q) = %v", c.glob, c.folder, got)
		}
	}
}

// Whatever a glob matches beneath a folder, Beneath must have said so.
func TestBeneathMissesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	pick := func(from []string, n int) []string {
		out := make([]string, 1+r.IntN(n))
		for i := range out {
			out[i] = from[r.IntN(len(from))]
		}
		return out
	}
	hits := 0
	for range 200_000 {
		g := strings.Join(pick([]string{"**", "*", "a", "b", "?", "[a-b]", "a*", "{a,b}", "{a,b/*}", "[!a]"}, 4), "/")
		path := pick([]string{"a", "b", "ab", "c"}, 4)
		if Check(g) != nil || len(path) < 2 || !Compile([]string{g}).Match(strings.Join(path, "/")) {
			continue
		}
		hits++
		for n := 1; n < len(path); n++ {
			if folder := strings.Join(path[:n], "/"); !Beneath(g, folder) {
				t.Fatalf("%q matches %q, but not beneath %q", g, strings.Join(path, "/"), folder)
			}
		}
	}
	if hits < 10_000 {
		t.Errorf("only %d matches were tried", hits)
	}
}
