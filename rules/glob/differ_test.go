package glob

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/shell"
)

var (
	long        = flag.Bool("long", false, "do all of the tests that otherwise do a part")
	update      = flag.Bool("update", false, "write the answers of testdata/messages.txt again")
	differPairs = flag.Int("pairs", 10_000, "how many pairs of a glob and a path are compared with git; make differ asks for 100,000")
	differLines = flag.String("wildmatch", "", "git's own t/t3070-wildmatch.sh, of which the cases are compared with git, too")
)

// A reading is the meaning of a glob in one program. Each field is a difference between ours and git's :(glob), by its
// name in docs/matching.md.
type reading struct {
	slash      bool // a negated class, or a range, matches a slash
	characters bool // ? and a class match a character, not a byte
	braces     bool // {a,b} is an alternative, not these characters
	asPath     bool // the glob also matches as a path: itself, or everything in that directory
}

// readings are the differences, each the opposite in ours and git's.
func readings() map[string]reading {
	return map[string]reading{
		"a slash in a class":    {slash: true},
		"characters":            {characters: true},
		"braces":                {braces: true},
		"a glob that is a path": {asPath: true},
	}
}

func ours() reading { return reading{slash: true, characters: true, braces: true} }
func gits() reading { return reading{asPath: true} }

// but returns the reading with the fields of another inverted.
func (r reading) but(o reading) reading {
	return reading{r.slash != o.slash, r.characters != o.characters, r.braces != o.braces, r.asPath != o.asPath}
}

// matches is a naive matcher of globs that Check accepts.
func (r reading) matches(glob, path string) bool {
	if r.asPath && (path == glob || strings.HasPrefix(path, glob+"/")) {
		return true
	}
	if !r.braces {
		return r.from(glob, path)
	}
	for _, e := range alternatives(glob) {
		if r.from(e, path) {
			return true
		}
	}
	return false
}

func (r reading) from(g, p string) bool {
	switch {
	case g == "":
		return p == ""
	case g == "**":
		return true
	case strings.HasPrefix(g, "**/"):
		for {
			if r.from(g[3:], p) {
				return true
			}
			var ok bool
			if _, p, ok = strings.Cut(p, "/"); !ok {
				return false
			}
		}
	case g[0] == '*':
		for {
			if r.from(g[1:], p) {
				return true
			}
			if p == "" || p[0] == '/' {
				return false
			}
			p = p[1:]
		}
	case p == "":
		return false
	case g[0] == '?':
		return p[0] != '/' && r.from(g[1:], p[r.size(p):])
	case g[0] == '[':
		in, rest := r.class(g, p)
		return in && (r.slash || p[0] != '/') && r.from(rest, p[r.size(p):])
	case g[0] == '\\':
		g = g[1:]
	}
	return g[0] == p[0] && r.from(g[1:], p[1:])
}

// size is the number of bytes of a path that one ? matches.
func (r reading) size(p string) int {
	if !r.characters {
		return 1
	}
	_, n := utf8.DecodeRuneInString(p)
	return n
}

func (r reading) first(s string) (rune, string) {
	if !r.characters {
		return rune(s[0]), s[1:]
	}
	c, n := utf8.DecodeRuneInString(s)
	return c, s[n:]
}

// class reports whether the first character of p is in the class that g begins with, and returns the rest of g.
func (r reading) class(g, p string) (in bool, rest string) {
	want, _ := r.first(p)
	g = g[1:]
	not := g[0] == '!' || g[0] == '^'
	if not {
		g = g[1:]
	}
	member := func() rune {
		if g[0] == '\\' {
			g = g[1:]
		}
		var c rune
		c, g = r.first(g)
		return c
	}
	for first := true; first || g[0] != ']'; first = false {
		low := member()
		high := low
		if g[0] == '-' && g[1] != ']' {
			g = g[1:]
			high = member()
		}
		in = in || low <= want && want <= high
	}
	return in != not, g[1:]
}

// alternatives are the brace expansions of a glob: each alternative of the first group with each expansion of the
// rest.
func alternatives(glob string) []string {
	depth, start, class := 0, -1, false
	var cuts []int
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if i+1 < len(glob) && (glob[i+1] == '!' || glob[i+1] == '^') {
				i++
			}
		case c == '{':
			if depth++; depth == 1 {
				start, cuts = i, []int{i}
			}
		case c == ',' && depth == 1:
			cuts = append(cuts, i)
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			var all []string
			for k, cut := range append(cuts, i)[1:] {
				all = append(all, alternatives(glob[:start]+glob[cuts[k]+1:cut]+glob[i+1:])...)
			}
			return all
		}
	}
	return []string{glob}
}

// An asked is a git command whose answers are compared with the globs.
type asked struct {
	*testing.T
	dir string
}

func newAsked(t *testing.T) asked {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	a := asked{t, t.TempDir()}
	a.run("", "init", "-q")
	return a
}

func (a asked) run(stdin string, args ...string) string {
	a.Helper()
	out, err := a.try(stdin, args...)
	if err != nil {
		a.Fatalf("git %q: %v", args, err)
	}
	return out
}

func (a asked) try(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "core.protectNTFS=false", "-c", "core.protectHFS=false"}, args...)...)
	cmd.Dir, cmd.Stdin = a.dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(a.dir))
	out, err := cmd.Output()
	return string(out), err
}

// holds makes an index of these paths, except for directories of others, and returns them.
func (a asked) holds(paths []string) []string {
	a.Helper()
	directories, taken := map[string]bool{}, map[string]bool{}
	var stdin strings.Builder
	for _, path := range paths {
		ok := !taken[path] && !directories[path]
		for i := range len(path) {
			ok = ok && (path[i] != '/' || !taken[path[:i]])
		}
		if !ok {
			continue
		}
		taken[path] = true
		for i := range len(path) {
			if path[i] == '/' {
				directories[path[:i]] = true
			}
		}
		fmt.Fprintf(&stdin, "100644 %040x 0\t%s\x00", 1, path)
	}
	a.run("", "read-tree", "--empty")
	a.run(stdin.String(), "update-index", "-z", "--index-info")
	return slices.Sorted(maps.Keys(taken))
}

// matched returns the paths of the index that git's :(glob) matches.
func (a asked) matched(glob string) (map[string]bool, error) {
	out, err := a.try("", "ls-files", "-z", "--", ":(top,glob)"+glob)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for path := range strings.SplitSeq(out, "\x00") {
		if path != "" {
			all[path] = true
		}
	}
	return all, nil
}

// differences counts the differences between ours and git's answers, by name.
type differences map[string]int

// compare checks ours and git's answers about one pair against the naive readings, and counts their differences. An
// unexplained difference is an error.
func (d differences) compare(t *testing.T, glob, path string, oursMatches, gitMatches bool) {
	t.Helper()
	// doublestar only backtracks to its last star, and so may miss a match across a slash.
	want, within := ours().matches(glob, path), ours().but(reading{slash: true}).matches(glob, path)
	if oursMatches != want && oursMatches != within {
		t.Errorf("%q, %q: ours is %v, naively it is %v", glob, path, oursMatches, want)
	}
	if want := gits().matches(glob, path); gitMatches != want {
		t.Errorf("%q, %q: git says %v, and that is no difference that we know: %v was to be expected", glob, path, gitMatches, want)
	}
	if oursMatches == gitMatches {
		return
	}
	// One of them, or two together.
	explained := false
	for one, r := range readings() {
		if gits().but(r).matches(glob, path) == oursMatches || ours().but(r).matches(glob, path) == gitMatches {
			d[one]++
			explained = true
		}
	}
	for one, r := range readings() {
		for two, s := range readings() {
			if !explained && one < two && ours().but(r).but(s).matches(glob, path) == gitMatches {
				d[one]++
				d[two]++
				explained = true
			}
		}
	}
	if !explained {
		t.Errorf("%q, %q: ours is %v, git says %v: more than two differences at once", glob, path, oursMatches, gitMatches)
	}
}

// A drawn makes globs and paths of the same few characters.
type drawn struct{ *rand.Rand }

func (d drawn) of(list ...string) string { return list[d.IntN(len(list))] }

func (d drawn) segment(braces bool) string {
	var b strings.Builder
	for range 1 + d.IntN(3) {
		switch d.IntN(12) {
		case 0, 1:
			b.WriteString("*")
		case 2:
			b.WriteString("?")
		case 3, 4:
			b.WriteString(d.of("[ab]", "[!a]", "[^ab]", "[a-c]", "[+-9]", "[!+-9]", "[.-0]", "[é]", "[!é]", "[a-é]", "[a-]", "[-a]", "[!-a]", `[\]a]`, `[\-a]`, `[!\]]`, "[*?]", "[a-cé-ü5]", "[[]", "[!!]", "[a^]", `[\\a]`))
		case 5:
			b.WriteString(d.of(`\*`, `\?`, `\[`, `\\`, `\{`, `\,`))
		case 6:
			b.WriteString(d.of("a[!b]c", "a[+-9]b", "b[^b]a")) // may match a slash
		case 7:
			if braces {
				b.WriteString("{" + d.of("a", "a*", "?", "[!a]", "b/c") + "," + d.of("b", "*", ".", "", "{a,c}", "a/**/b") + "}")
				continue
			}
			fallthrough
		default:
			b.WriteString(d.of("a", "a", "b", "b", "c", ".", "-", "+", "5", "é", " ", "aé", "]"))
		}
	}
	return b.String()
}

func (d drawn) glob(braces bool) string {
	var segments []string
	for range 1 + d.IntN(4) {
		if d.IntN(4) == 0 {
			segments = append(segments, "**")
		} else {
			segments = append(segments, d.segment(braces))
		}
	}
	return strings.Join(segments, "/")
}

func (d drawn) path() string {
	var segments []string
	for range 1 + d.IntN(4) {
		var b strings.Builder
		for range 1 + d.IntN(3) {
			b.WriteString(d.of("a", "a", "a", "b", "b", "c", ".", "-", "+", "5", "é", " ", "*", "?", "[", "]", "\\", "\xff", "ü", "{", "}", ","))
		}
		if s := b.String(); s == "." || s == ".." {
			b.WriteString("a")
		}
		segments = append(segments, b.String())
	}
	return strings.Join(segments, "/")
}

// near returns a path that a glob likely matches: its special characters are replaced.
func (d drawn) near(glob string) string {
	if d.IntN(2) == 0 {
		for _, class := range []string{"[!b]", "[^b]", "[+-9]"} {
			glob = strings.ReplaceAll(glob, class, "/")
		}
	}
	for _, from := range []string{"{b/c,", "[!a]", "[^ab]", "[+-9]", "[!+-9]", "[ab]", "[a-c]", "[é]", "**", "*", "?"} {
		for strings.Contains(glob, from) {
			glob = strings.Replace(glob, from, d.of("a", "b", "ab", "5", "é", "a/b", "\xff", "-"), 1)
		}
	}
	for segment := range strings.SplitSeq(glob, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return d.path()
		}
	}
	return glob
}

// TestFault_095_162_Differential compares globs with git's own :(glob), and both with naive readings that differ only in
// the list of docs/matching.md.
func TestFault_095_162_Differential(t *testing.T) {
	a := newAsked(t)
	pairs := *differPairs
	if !*long {
		pairs = min(pairs, 3000)
	}
	d := drawn{rand.New(rand.NewPCG(3, 17))}
	found := differences{}
	done, matched := 0, 0
	for done < pairs {
		var globs []string
		for len(globs) < 20 {
			if g := d.glob(d.IntN(3) == 0); Check(g) == nil {
				globs = append(globs, g)
			}
		}
		var paths []string
		for range 60 {
			paths = append(paths, d.path())
		}
		for _, g := range globs {
			for range 3 {
				paths = append(paths, d.near(g))
			}
		}
		d.Shuffle(len(paths), func(i, k int) { paths[i], paths[k] = paths[k], paths[i] })
		paths = a.holds(paths)
		for _, g := range globs {
			gitMatches, err := a.matched(g)
			if err != nil {
				t.Fatalf("%q: %v", g, err)
			}
			set := Compile([]string{g})
			for _, path := range paths {
				found.compare(t, g, path, set.Match(path), gitMatches[path])
			}
			done, matched = done+len(paths), matched+len(gitMatches)
		}
		if t.Failed() {
			return
		}
	}
	if matched < done/50 {
		t.Errorf("git matched %d of %d pairs: too few to say much", matched, done)
	}
	known := readings()
	for name := range known {
		if found[name] == 0 {
			t.Errorf("no difference was found in %s", name)
		}
	}
	t.Logf("measured: a glob and a path | git's `:(glob)` | %d | those of [matching.md](matching.md#compared-with-git) alone: %s; %d matched by git", done, found, matched)
}

// String returns the counts by name.
func (d differences) String() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		list = append(list, fmt.Sprint(name, " ", d[name]))
	}
	return strings.Join(list, ", ")
}

// TestGitsOwnLines compares the cases of git's own test of its globs: it takes strings and patterns from the file, and
// runs the installed git on them.
func TestGitsOwnLines(t *testing.T) {
	if *differLines == "" {
		t.Skip("-wildmatch names no t3070-wildmatch.sh")
	}
	script, err := os.ReadFile(*differLines)
	if err != nil {
		t.Fatal(err)
	}
	a := newAsked(t)
	found, cases, refused, noPath := differences{}, 0, differences{}, 0
	for line := range strings.SplitSeq(strings.ReplaceAll(string(script), "\\\n", ""), "\n") {
		words, err := shell.Fields(line, func(string) string { return "" })
		if err != nil || len(words) < 7 || words[0] != "match" {
			continue
		}
		cases++
		path, glob := words[len(words)-2], words[len(words)-1]
		if m := Check(glob); m != nil {
			refused[m.Found]++
			continue
		}
		if path == "" || strings.Contains(path, "//") || strings.HasSuffix(path, "/") {
			noPath++ // git's script does not test ls-files either
			if words[1] == "1" != gits().from(glob, path) {
				t.Errorf("%q, %q: naively it is %v", glob, path, !(words[1] == "1"))
			}
			continue
		}
		if got := a.holds([]string{path}); len(got) != 1 {
			t.Fatalf("%q: %q", path, got)
		}
		gitMatches, err := a.matched(glob)
		if err != nil {
			t.Fatalf("%q: %v", glob, err)
		}
		found.compare(t, glob, path, Compile([]string{glob}).Match(path), gitMatches[path])
	}
	if cases < 150 {
		t.Fatalf("%d cases were found in %s", cases, *differLines)
	}
	for what, n := range refused {
		t.Logf("refused: %d: %s", n, what)
	}
	sum := 0
	for _, n := range refused {
		sum += n
	}
	t.Logf("measured: a case of git's own `t3070-wildmatch.sh` | git's `:(glob)` | %d | those of [matching.md](matching.md#compared-with-git) alone: %s; %d globs are refused; %d texts are no paths", cases, found, sum, noPath)
}

// TestManualListsDifferences: docs/matching.md lists the differences from git, and no others.
func TestManualListsDifferences(t *testing.T) {
	page, err := os.ReadFile("../../docs/matching.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## Compared with git\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var listed []string
	for line := range strings.SplitSeq(text, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 3 && !strings.Contains(line, "---") {
			listed = append(listed, strings.TrimSpace(cells[1]))
		}
	}
	if !ok || len(listed) < 2 {
		t.Fatal("there is no such list")
	}
	listed = listed[1:] // the column names
	slices.Sort(listed)
	if want := slices.Sorted(maps.Keys(readings())); !slices.Equal(listed, want) {
		t.Errorf("listed are %q, known are %q", listed, want)
	}
}
