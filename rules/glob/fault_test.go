package glob

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFault_162_AgainstGit: X/** is what is beneath X, for every X, as git's own :(glob) says.
func TestFault_162_AgainstGit(t *testing.T) {
	a := newAsked(t)
	d := drawn{rand.New(rand.NewPCG(162, 27))}
	segment := func() string {
		return d.of("a", "b", "ab", "test", "testing.tf", "a*", "*", "?", "a?", "*b", "test*", "*.tf", "[ab]", "a[ab]", "[a-c]*", ".*", "**", "**", "{a,b}", "{a,a*/b}", "{test*,**/x}")
	}
	name := func() string {
		return d.of("a", "a", "b", "ab", "aab", "test", "tests", "testing.tf", "x", "x.tf", ".a", "c")
	}
	pairs, matched, itself := 0, 0, 0
	for range 25 {
		var paths []string
		for range 150 {
			names := make([]string, 1+d.IntN(4))
			for i := range names {
				names[i] = name()
			}
			paths = append(paths, strings.Join(names, "/"))
		}
		d.Shuffle(len(paths), func(i, k int) { paths[i], paths[k] = paths[k], paths[i] })
		paths = a.holds(paths)
		for range 20 {
			segments := []string{segment(), "**"}
			for range d.IntN(3) {
				segments = append([]string{segment()}, segments...)
			}
			if d.IntN(6) == 0 {
				segments = append(segments, d.of("**", "b", "*.tf"))
			}
			g := strings.Join(segments, "/")
			if err := Check(g); err != nil {
				t.Fatal(err)
			}
			// git has no braces: the glob is what any of its alternatives is.
			gits := map[string]bool{}
			for _, one := range alternatives(g) {
				some, err := a.matched(one)
				if err != nil {
					t.Fatalf("%q: %v", one, err)
				}
				for path := range some {
					gits[path] = true
				}
			}
			set, index, wide := Compile([]string{g}), NewIndex([]string{g}), CompileWide([]string{g})
			for _, path := range paths {
				pairs++
				if gits[path] {
					matched++
				} else if wide.Match(path) {
					itself++
				}
				if set.Match(path) != gits[path] || index.Match(path, nil).Has(0) != gits[path] {
					t.Errorf("%q, %q: set %v, index %v, git %v", g, path, set.Match(path), index.Match(path, nil).Has(0), gits[path])
				}
			}
		}
	}
	if matched < pairs/10 || itself < 200 {
		t.Errorf("of %d pairs git matched %d, and doublestar alone %d: too few to say much", pairs, matched, itself)
	}
	t.Logf("%d pairs, %d matched by git, %d by doublestar alone", pairs, matched, itself)
}

// TestFault_162_Beneath: X/** matches no link or submodule at X, and Beneath still says that it reaches into one.
func TestFault_162_Beneath(t *testing.T) {
	for _, g := range []string{"a/**", "a*/**", "{a,b}/**", "**/a/**", "a/**/**", "*/**"} {
		if Compile([]string{g}).Match("a") || !Beneath(g, "a") || !Compile([]string{g}).Match("a/x/y") {
			t.Errorf("%q: the folder a: %v, beneath it: %v", g, Compile([]string{g}).Match("a"), Beneath(g, "a"))
		}
	}
}
