package glob

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		a, b string // globs, separated by spaces
		want bool
	}{
		{"", "", true},
		{"*.tf", "", false},
		{"*.tf", "*.tf", true},
		{"*.tf", "**", true},
		{"**", "*.tf", false},
		{"*.tf", "**/*.tf", true},
		{"**/*.tf", "*.tf", false},
		{"a/b/*.tf", "**/b/*.tf x", true},
		{"a/b/*.tf", "**/c/*.tf", false},
		{"*.tf *.yml", "**/*.tf", false},
		{"*.tf *.yml", "**/*.tf *.yml", true},
		{"a[!x]*", "a[!x]*", true}, // certain: the remainder of both has the class
	} {
		rest := func(globs string) Rest { return NewFollower(strings.Fields(globs), false).Below("") }
		if got := rest(c.a).Within(rest(c.b)); got != c.want {
			t.Errorf("%q within %q: %v", c.a, c.b, got)
		}
	}
	unsure := NewFollower([]string{"l[!x]/a"}, false).Below("l")
	if unsure.Empty() || unsure.All() || unsure.Within(unsure) || !unsure.Within(NewFollower([]string{"**"}, false).Below("l")) {
		t.Errorf("unsure, and yet: %+v", unsure)
	}
}

func TestUniform(t *testing.T) {
	for glob, want := range map[string]bool{
		"**": true, "**/*.tf": true, "**/*.{tf,yml}": true, "{**,**/x}": true,
		"*.tf": false, "a/**": false, "**/a/*.tf": false, "**/[!a].tf": false, "**/a/**": false, "{**/*.tf,a/b}": false,
	} {
		if got := Uniform([]string{"**/x", glob}); got != want {
			t.Errorf("Uniform(%q) = %v", glob, got)
		}
	}
}

// checkRest compares the rest of a glob below each directory of a path with doublestar's match of the whole.
func checkRest(t testing.TB, glob, path string) (matched bool) {
	t.Helper()
	matched = Compile([]string{glob}).Match(path)
	uniform := NewFollower([]string{glob}, false).Below("other/directory")
	for n, c := range path {
		if c != '/' {
			continue
		}
		dir, suffix := path[:n], path[n+1:]
		r := NewFollower([]string{glob}, false).Below(dir)
		left := Compile(r.globs).Match(suffix)
		if left && !matched {
			t.Fatalf("of %q below %q there is left %q, which matches %q; %q does not match %q", glob, dir, r.globs, suffix, glob, path)
		}
		if matched && !left && !r.unsure {
			t.Fatalf("of %q below %q there is left %q, which does not match %q; %q matches %q", glob, dir, r.globs, suffix, glob, path)
		}
		if r.All() && !matched || r.Empty() && matched {
			t.Fatalf("%q, %q: all %v, empty %v, matched %v", glob, path, r.All(), r.Empty(), matched)
		}
		if r.Within(uniform) && matched && !Compile([]string{glob}).Match("other/directory/"+suffix) {
			t.Fatalf("%q: what is left below %q is within what is left below other/directory, but not for %q", glob, dir, suffix)
		}
		if Uniform([]string{glob}) && !(r.Within(uniform) && uniform.Within(r)) {
			t.Fatalf("%q is uniform, but not below %q", glob, dir)
		}
	}
	return matched
}

var restPieces = []string{"**", "**", "*", "a", "b", "?", "[a-b]", "a*", "*b", "{a,b}", "{a,b/*}", "{**/,}a", "a*b*", "[!a]", "x[!a]*b", "*.tf", "other"}

// A glob matches dir/x if and only if its rest below dir matches x.
func TestRestIsDoublestar(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 150))
	pick := func(from []string, n int) string {
		out := make([]string, 1+r.IntN(n))
		for i := range out {
			out[i] = from[r.IntN(len(from))]
		}
		return strings.Join(out, "/")
	}
	tries, hits := 30_000, 0
	if *long {
		tries = 100_000
	}
	for range tries {
		g := pick(restPieces, 5)
		if Check(g) == nil && checkRest(t, g, pick([]string{"a", "b", "ab", "c", "x.tf", "other"}, 5)) {
			hits++
		}
	}
	if hits < tries/20 {
		t.Errorf("only %d matches were tried", hits)
	}
}

func FuzzRest(f *testing.F) {
	f.Add("a/**/b/*.tf", "a/b/b/x.tf")
	f.Add("**/[!a]*/{x,y/**}", "a/b/x")
	f.Add("{a,**/b}/**", "c/b/d")
	f.Fuzz(func(t *testing.T, glob, path string) {
		if path == "" || strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") || strings.Contains(path, "//") || Check(glob) != nil {
			return
		}
		checkRest(t, glob, path)
	})
}
