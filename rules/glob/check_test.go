package glob

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/policyscan/policyscan/internal/cputime"
)

// refused are globs that Check refuses, with parts of Found and Fix.
var refused = []struct{ glob, found, fix string }{
	// Malformed.
	{"[", `"[" without a "]"`, `'\['`},
	{"a/[!", `"[" without a "]"`, `'\['`},
	{"[a", `"[" without a "]"`, `'\['`},
	{"[!a", `"[" without a "]"`, `'\['`},
	{"{a", `"{" without a "}"`, `'\{'`},
	{"{a,{b}", `"{" without a "}"`, `'\{'`},
	{"a}", `"}" without a "{"`, `'\}'`},
	{`a\`, "ends in a single backslash", `'\\'`},
	{"a[]b", `an empty class "[]"`, `'\['`},
	{"a[!]b", `an empty class "[!]"`, `'\['`},
	{"a[^]b", `an empty class "[^]"`, `'\['`},
	{"a\xffb", "not UTF-8", `"?"`},
	{"a\x00b", "NUL", "remove it"},
	// Ends.
	{"", "empty glob", `"**"`},
	{" \t", "empty glob", `"**"`},
	{"!a/b", `a leading "!"`, `"a/b" under "exclude"`},
	{"/a", `a leading "/"`, `"a"`},
	{"//a", `a leading "/"`, `"a"`},
	{"./a", `a segment "."`, "remove it"},
	{"../a", `a segment ".."`, "root of the tree"},
	{".", `a segment "."`, "remove it"},
	{"..", `a segment ".."`, "root of the tree"},
	{"a/.", `a segment "."`, "remove it"},
	{"a/../b", `a segment ".."`, "root of the tree"},
	{"a/", `a trailing "/"`, `"a/**"`},
	{"**/", `a trailing "/"`, `"**/**"`},
	{"a//b", `"//"`, `"/**/"`},
	{" a", "white space", `"a"`},
	{"a ", "white space", `"a"`},
	{`\*\* `, "white space", `'\*\*'`},
	{"a\n", "white space", `"a"`},
	{"\u00a0a", "white space", `"a"`},
	// Syntax of other tools.
	{"@(a|b)", `"@("`, "{a,b}"},
	{"a/!(b)", `"!("`, "exclude"},
	{"+(a)", `"+("`, "{a,b}"},
	{"?(a)", `"?("`, "[(]"},
	{"*(a)", `"*("`, "[(]"},
	{"[[:alpha:]]", "POSIX", "[a-z]"},
	{"[[:alpha:][:digit:]]", "POSIX", "[a-z]"},
	{"[^[:space:]]", "POSIX", "[a-z]"},
	{"[:alpha:]", "POSIX", "[a-z]"},
	{"[[.a.]]", "POSIX", "[a-z]"},
	{"[[=a=]]", "POSIX", "[a-z]"},
	{"{1..3}", "ranges in braces", "{1,2,3}"},
	{"a{}b", "empty braces", "{a,b}"},
	// Classes.
	{"[/]", "class matches one character", "{a,b/c}"},
	{"a[b/c]d", "class matches one character", "{a,b/c}"},
	{`[a\/]`, "backslash before '/'", `"/" between folders`},
	{"[.-/]", "class matches one character", "{a,b/c}"},
	{"[z-a]", `the range "z-a" is empty`, `"a-z"`},
	{"[b-a]", `the range "b-a" is empty`, `"a-b"`},
	{"[a-z9-0]", `the range "9-0" is empty`, `"0-9"`},
	{`[\z-a]`, "backslash before 'z'", `'\\'`},
	{"{[,],a}", "in a class within braces", `'\,'`},
	{"{[}],a}", "in a class within braces", `'\}'`},
	// Backslashes.
	{`a\b.tf`, `'\b'`, `"a/b.tf"`},
	{`a\b\c.tf`, `'\b'`, `"a/b/c.tf"`},
	{`**\*.tf`, `'\*'`, `"**/*.tf"`},
	{`a\**\*.tf`, `'\*'`, `"a/**/*.tf"`},
	{`a\!b`, `'\!'`, `"a/!b"`},
	{`.\a`, `'\a'`, `"/" between folders`},
	// Two stars.
	{"**.tf", `"**.tf"`, `"**/*.tf"`},
	{"a**", `"a**"`, `"a*/**"`},
	{"a/b**/c", `"b**"`, `"b*/**"`},
	{"a/**b/c", `"**b"`, `"**/*b"`},
	{"a**b", `"a**b"`, `"a*/**/*b"`},
	{"***", `"***"`, `"**"`},
	{"a/***/b", `"***"`, `"**"`},
	{"**?", `"**?"`, `"**/*?"`},
	// The same in braces.
	{"{/a,b}", `expansion "/a" has a leading "/"`, `"a"`},
	{"{a,}/b", `expansion "/b" has a leading "/"`, `"b"`},
	{"{a,b/}", `expansion "b/" has a trailing "/"`, `"b/**"`},
	{"a/{b,}", `expansion "a/" has a trailing "/"`, `"a/**"`},
	{"{,a}", "has nothing in it", "remove the empty alternative"},
	{"{a/,b}/c", `"//"`, `"/**/"`},
	{"{.,a}/b", `a segment "."`, "remove it"},
	{"{**}.tf", `"**" is only special`, `"**/*.tf"`},
	{"a{**/b,c}", `"**" is only special`, `"a*/**"`},
	{"*{*,b}", "made from two parts", "whole segment"},
	{"{a,*}{*,b}", "made from two parts", "whole segment"},
	// Limits.
	{strings.Repeat("a/", 512) + "b", "1025 bytes", "several globs"},
	{strings.Repeat("{a,b}", 9), "9 brace groups", "several globs"},
	{"{a,{b,{c,{d,{e,{f,{g,{h,{i,j}}}}}}}}}", "9 brace groups", "several globs"},
	{strings.Repeat("{a,b,c}", 6), "more than 256 expansions", "several globs"},
	{"{" + strings.Repeat("a,", 256) + "b}", "more than 256 expansions", "several globs"},
	{strings.Repeat("{a,aa}", 26), "26 brace groups", "several globs"},
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range refused {
		err := Check(c.glob)
		var m *Mistake
		if !errors.As(err, &m) || !strings.Contains(m.Found, c.found) || !strings.Contains(m.Fix, c.fix) {
			t.Errorf("Check(%q) = %v; want %s … %s", c.glob, err, c.found, c.fix)
		}
	}
}

// accepted are globs that mean what they look like.
var accepted = []string{
	"**", "*", "?", "*.tf", "**/*.tf", "**/*.tf.json", "**/*_b.tf", "**/*tf", "**/*.", "a", "a/b", "a/*/b", "a/**", "a/**/b", "**/a/**", "a/**/**/b",
	"{a,b}", "{a,{b,c}}/d", "{**/,}*.tf", "a{,/b}", "a{,.b}", "{a}", "{a,**}/b", "**{/a,}", "a/{b,**/c}",
	"[a]", "[a-z]", "[a-a]", "[,]", "[{]{a,b}[,}]", "[!a]", "[^a]", "[-a]", "[a-]", "[--a]", `[\]]`, `[\-a]`, `[\\]`, "[.]", "[:]", "[[.]", "[:a]", "[[:a]", "[(]a)", "[ ]a",
	`\*`, `\?`, `\[a\]`, `\{a,b\}`, `a\\b`, `\!a`, "a!b", "a@b", "a,b", "a]b", "a(b)", "(a)/b", "a b", ".a", "...", "..a", "a..b", "~a",
	".github/**", "**/.*", "é", "日本/*", "\uFFFD",
	strings.Repeat("a/", 511) + "ab", strings.Repeat("{a,b}", 8), "{" + strings.Repeat("a,", 255) + "b}",
}

func TestCheckAccepts(t *testing.T) {
	for _, g := range accepted {
		if err := Check(g); err != nil {
			t.Errorf("Check(%q) = %v", g, err)
		}
		if !doublestar.ValidatePattern(g) {
			t.Errorf("doublestar refuses %q", g)
		}
	}
}

// TestFixesPass: Check accepts the globs that it suggests.
func TestFixesPass(t *testing.T) {
	n := 0
	for _, c := range refused {
		var m *Mistake
		if !errors.As(Check(c.glob), &m) {
			continue
		}
		rest, ok := strings.CutPrefix(m.Fix, `write "`)
		if !ok || strings.Contains(c.glob, "{") {
			continue
		}
		fix, _, _ := strings.Cut(rest, `"`)
		if n++; Check(fix) != nil && fix != "/" {
			t.Errorf("%q: told to write %q, which is refused: %v", c.glob, fix, Check(fix))
		}
	}
	if n < 20 {
		t.Errorf("only %d fixes checked", n)
	}
}

// TestFault_094_CatastrophicBraces: braces with too many expansions are refused before they are expanded.
func TestFault_094_CatastrophicBraces(t *testing.T) {
	for _, g := range []string{
		strings.Repeat("{a,aa}", 26),
		strings.Repeat("{a,aa}", 170),
		strings.Repeat("{"+strings.Repeat("a,", 60)+"b}", 8),
		strings.Repeat("{", 500) + strings.Repeat("}", 500),
		strings.Repeat("{a,", 250) + strings.Repeat("}", 250),
	} {
		took := cputime.Of(func() {
			for range 20 {
				if Check(g) == nil {
					t.Errorf("Check(%.40q…) accepts", g)
				}
			}
		})
		if took > 200*time.Millisecond {
			t.Errorf("Check(%.40q…) took %v twenty times", g, took)
		}
	}
}

func TestNotes(t *testing.T) {
	for glob, want := range map[string]string{
		"*.tf":       "root folder only",
		"Dockerfile": `"**/Dockerfile"`,
		"**":         "",
		"**/*.tf":    "",
		`a/\*.tf`:    `the character "*" itself`,
		`a/\\b`:      "",
		"a/[!b]c":    `matches "/" as well`,
		"a/[+-9]c":   `matches "/" as well`,
		"a/[-+-9]c":  `matches "/" as well`, // the first "-" is not a range
		"a/[!+-9]c":  "",
		"a/[a-z]c":   "",
		`a/[+\-9]c`:  "",

		"a/**/*.cc,b/*.h": "a comma outside braces",
		"a/*.{cc,h}":      "",
		"a/*.cc, b/*.h":   "write two globs",
		"a/{b, c}":        `write "a/{b,c}"`,

		"a/**":                "",
		"**/testdata/**":      "",
		"{a,b}/**":            "",
		"**/**":               "",
		"conf.d/**":           "",
		".github/**":          "",
		"a*/b/**":             "",
		"test*/**":            `also list "test*"`,
		"test*/**/**":         `also list "test*"`,
		"*/**":                `also list "*"`,
		"a/{b,c?}/**":         `also list "a/c?"`,
		"a[bc]/**":            `also list "a[bc]"`,
		"**/Dockerfile/**":    `for the file itself write "**/Dockerfile"`,
		"net/main.tf/**":      `for the file itself write "net/main.tf"`,
		"{deploy.yml,k8s}/**": `for the file itself write "deploy.yml"`,
	} {
		got := strings.Join(NotesPlain(glob), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("Notes(%q) = %q; want %q", glob, got, want)
		}
	}
}

// TestAmbiguous: a glob that could be misread is refused with both spellings, which are accepted.
func TestAmbiguous(t *testing.T) {
	for glob, want := range map[string]string{
		"**": "", "**/*.rb": "", "/*.rb": "", "a/b": "", "/{a,b}": "", "**/{a,b/c}": "", "/{,src/}*.rb": "",
		"a/{,b}": "", "a/b,c": "", "a/b c": "", "a/{b c,d}": "", "a/{{b,c} d,e}": "", "a/[, ]": "", `a/\,`: "",
		"a/{*.,}b": "", "a/{{b,},c}": "",
		"*.rb":           `write "**/*.rb" for every directory, or "/*.rb" for the root only`,
		"Dockerfile":     `write "**/Dockerfile" for every directory, or "/Dockerfile" for the root only`,
		"{*.rb,lib/**}":  `the glob "*.rb" has no slash; write "**/{*.rb,lib/**}" for every directory, or "/{*.rb,lib/**}"`,
		"{,src/}*.rb":    `or "/{,src/}*.rb" for the root only`,
		"***":            "has no slash",
		"a/b,":           `a comma at an end of the glob; write "a/b", or "[,]"`,
		",a/b":           `write "a/b"`,
		"a/b, c/d":       "write two globs",
		"a/*.{rb, py}":   `a space next to a comma or a brace; write "a/*.{rb,py}", or "[ ]"`,
		"a/*.{ rb ,py }": `write "a/*.{rb,py}"`,
		"a/{b,{c, d} e}": `write "a/{b,{c,d} e}"`,
		"a/*.{rb,py,}":   `write "a/*.{rb,py}", or "a/*.{,rb,py}" if it may be empty`,
		"a/{b,,c}":       `write "a/{b,c}", or "a/{,b,c}"`,
		"a/*.{rb,}":      `write "a/*.{rb}", or "a/*.{,rb}"`,
		"a/{{b,c,},d}":   `write "a/{{b,c},d}", or "a/{{,b,c},d}"`,
	} {
		got := ""
		if m := Ambiguous(glob); m != nil {
			got = m.Error()
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("Ambiguous(%q) = %q; want %q", glob, got, want)
		}
	}
}

// FuzzCheck: doublestar accepts everything that Check accepts, within the limits.
func FuzzCheck(f *testing.F) {
	for _, c := range refused {
		f.Add(c.glob)
	}
	for _, g := range accepted {
		f.Add(g)
	}
	f.Fuzz(func(t *testing.T, glob string) {
		err := Check(glob)
		if err != nil {
			var m *Mistake
			if !errors.As(err, &m) || m.Found == "" || m.Fix == "" {
				t.Fatalf("Check(%q) = %#v", glob, err)
			}
			return
		}
		if !doublestar.ValidatePattern(glob) {
			t.Fatalf("Check accepts %q, doublestar does not", glob)
		}
		list := expansions(glob)
		if len(list) == 0 || len(list) > Expansions(glob) || Expansions(glob) > MaxExpansions {
			t.Fatalf("%q has %d of %d expansions", glob, len(list), Expansions(glob))
		}
		for _, e := range list {
			if strings.HasPrefix(e, "/") || strings.HasSuffix(e, "/") || strings.Contains(e, "//") || !doublestar.ValidatePattern(e) {
				t.Fatalf("%q has the expansion %q", glob, e)
			}
		}
		Notes(glob)
	})
}

// TestFault_162_AgainstGit: X/** matches the paths below X, for every X, as git's own :(glob) does.
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
			// git has no braces: the glob is the union of its alternatives.
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

// TestFault_162_Beneath: X/** matches no symlink or submodule at X, and Beneath still reports that it reaches into
// one.
func TestFault_162_Beneath(t *testing.T) {
	for _, g := range []string{"a/**", "a*/**", "{a,b}/**", "**/a/**", "a/**/**", "*/**"} {
		if Compile([]string{g}).Match("a") || !Beneath(g, "a") || !Compile([]string{g}).Match("a/x/y") {
			t.Errorf("%q: the folder a: %v, beneath it: %v", g, Compile([]string{g}).Match("a"), Beneath(g, "a"))
		}
	}
}

// TestFault_095_AgainstGit compares globs with git's in .gitattributes, which match like the pathspec magic :(glob).
// All differences are listed.
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
		// A leading slash binds the pattern to the root, like our globs.
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
