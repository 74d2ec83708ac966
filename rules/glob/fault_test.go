package glob

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// TestFault_095_AgainstGit compares globs with what git makes of them in .gitattributes, which are
// matched as in the pathspec magic :(glob). Each difference is one that is listed.
func TestFault_095_AgainstGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	// Without braces, which git does not have.
	var globs []string
	atoms := []string{"a", "b*", "*", "?", "**", "[ab]", "[!a]", "[+-9]", ".*", "*.tf", `\*`, "a?b", "[^b]*", "a[!c]b", "a[+-9]b"}
	for _, x := range atoms {
		globs = append(globs, x)
		for _, y := range atoms {
			globs = append(globs, x+"/"+y)
			for _, z := range []string{"a", "**", "*.tf", "[!a]"} {
				globs = append(globs, x+"/"+y+"/"+z)
			}
		}
	}
	var paths []string
	names := []string{"a", "b", "ab", ".a", "c.tf", ".tf", "*", "5", "a.b"}
	for _, x := range names {
		paths = append(paths, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y)
			for _, z := range []string{"a", "b", ".a", "x.tf"} {
				paths = append(paths, x+"/"+y+"/"+z)
			}
		}
	}

	dir := t.TempDir()
	run := func(stdin string, args ...string) []byte {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return out
	}
	run("", "init", "-q")
	var attributes strings.Builder
	numbers := map[string]int{}
	for i, g := range globs {
		// A leading slash binds the pattern to the root, as our globs are.
		attributes.WriteString("/" + g + " g" + strings.Repeat("x", i/26) + string(rune('a'+i%26)) + "\n")
		numbers["g"+strings.Repeat("x", i/26)+string(rune('a'+i%26))] = i
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "attributes"), []byte(attributes.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	matches := map[[2]string]bool{}
	fields := bytes.Split(run(strings.Join(paths, "\x00")+"\x00", "check-attr", "-z", "--stdin", "-a"), []byte{0})
	for i := 0; i+2 < len(fields); i += 3 {
		if n, ok := numbers[string(fields[i+1])]; ok {
			matches[[2]string{globs[n], string(fields[i])}] = true
		}
	}
	if len(matches) < 1000 {
		t.Fatalf("git matched %d pairs only", len(matches))
	}

	differences := map[string]int{}
	for _, g := range globs {
		if err := Check(g); err != nil {
			t.Fatalf("Check(%q): %v", g, err)
		}
		set := Compile([]string{g})
		for _, path := range paths {
			ours, gits := set.Match(path), matches[[2]string{g, path}]
			if ours == gits {
				continue
			}
			why := ""
			switch {
			case ours && (strings.Contains(g, "[!") || strings.Contains(g, "[^") || strings.Contains(g, "[+-9]")):
				why = "a negated class, or a range around it, matches a slash"
			default:
				t.Errorf("%q, %q: ours %v, git %v", g, path, ours, gits)
			}
			differences[why]++
		}
	}
	t.Logf("%d pairs, %d matched by git; differences: %v", len(globs)*len(paths), len(matches), differences)
	if why := "a negated class, or a range around it, matches a slash"; differences[why] == 0 {
		t.Errorf("no longer a difference: %s", why)
	}
}
