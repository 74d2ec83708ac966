package glob

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"
)

// TestFault_095_Semantics is the manual's table of matching and other paths.
func TestFault_095_Semantics(t *testing.T) {
	for _, c := range []struct {
		glob     string
		yes, not []string
	}{
		{"**", []string{"a", "a/b", ".a/.b", "a\nb", "\xff"}, nil},
		{"*", []string{"a", ".a", "a\\b", "\xff\xfe", "a\nb"}, []string{"a/b"}},
		{"*.tf", []string{"a.tf", ".tf", ".a.tf", "a\\b.tf"}, []string{"a/b.tf", "a.tfx", "a.TF", "a.tf/b"}},
		{"**/*.tf", []string{"a.tf", ".tf", "a/b.tf", "a/b/c.tf", ".a/.b.tf", "a/\xff.tf", "a\nb/c\r.tf"}, []string{"a.tf/b", "atf", "a.tf.json"}},
		{"**/a", []string{"a", "b/a", "b/c/a"}, []string{"ba", "a/b", "b/A"}},
		{"**/a/**", []string{"a/b", "b/a/c/d"}, []string{"a", "b/a", "ab/c", "b/ca"}},
		{"a/**", []string{"a/b", "a/b/c", "a/.b"}, []string{"a", "ab", "b/a", "A/b"}},
		{"a/**/**", []string{"a/b", "a/b/c"}, []string{"a", "ab"}},
		{"a*/**", []string{"a/b", "ab/c/d"}, []string{"a", "ab", "a.tf", "b/a"}},
		{"*/**", []string{"a/b", "a/b/c"}, []string{"a", ".a"}},
		{"a/*/**", []string{"a/b/c", "a/b/c/d"}, []string{"a", "a/b"}},
		{"a?/**", []string{"ab/c"}, []string{"ab", "a/b", "abc"}},
		{"a[bc]/**", []string{"ab/c"}, []string{"ab", "ad/c"}},
		{`a\*/**`, []string{"a*/b"}, []string{"a*", "ab/c"}},
		{"{a,b}/**", []string{"a/c", "b/c/d"}, []string{"a", "b", "ab/c"}},
		{"{a,b/**}", []string{"a", "b/c"}, []string{"b", "a/c"}},
		{"**/**", []string{"a", "a/b"}, nil},
		{"a/**/b", []string{"a/b", "a/c/b", "a/c/d/b", "a/.c/b"}, []string{"ab", "a/cb", "a/bb"}},
		{"a/*/b", []string{"a/c/b", "a/.c/b"}, []string{"a/b", "a/c/d/b", "a//b"[:1]}},
		{"a/**/*", []string{"a/b", "a/b/c"}, []string{"a", "ab"}},
		{"**/.*", []string{".a", "a/.b"}, []string{"a", ".a/b"}},
		{"?.tf", []string{"a.tf", "é.tf", "\xff.tf", "日.tf"}, []string{".tf", "ab.tf", "/.tf", "\xff\xff.tf"}},
		{"a?b", []string{"a.b", "a\nb"}, []string{"a/b", "ab"}},
		{"[a-c].tf", []string{"a.tf", "c.tf"}, []string{"d.tf", "A.tf", "-.tf"}},
		{"[!a].tf", []string{"b.tf", "é.tf", "\xff.tf"}, []string{"a.tf", ".tf"}},
		{"[^a].tf", []string{"b.tf", "^.tf"}, []string{"a.tf"}},
		{"x[!a]y", []string{"xby", "x/y"}, []string{"xay"}},         // a negated class matches a slash
		{"x[+-9]y", []string{"x.y", "x/y", "x5y"}, []string{"xay"}}, // and so does a range around it
		{"x[-+-9]y", []string{"x-y", "x/y", "x5y"}, []string{"xay"}},
		{"x[ab]y", []string{"xay"}, []string{"x/y"}}, // no other class does
		{"{a,b/c}/d", []string{"a/d", "b/c/d"}, []string{"b/d", "a/c/d"}},
		{"{**/,}*.tf", []string{"a.tf", "b/a.tf"}, []string{"a"}},
		{`\*.tf`, []string{"*.tf"}, []string{"a.tf", `\*.tf`}},
		{`a\\b`, []string{`a\b`}, []string{"a/b", `a\\b`}},
		{`\!a`, []string{"!a"}, []string{"a", `\!a`}},
		{"é.tf", []string{"é.tf"}, []string{"e\u0301.tf", "É.tf"}},
		{"\uFFFD.tf", []string{"\uFFFD.tf", "\xff.tf"}, []string{"a.tf", "\xff\xff.tf"}},
		{"app/(group)/*", []string{"app/(group)/x"}, []string{"app/group/x"}},
	} {
		if err := Check(c.glob); err != nil {
			t.Errorf("Check(%q): %v", c.glob, err)
		}
		for _, path := range c.yes {
			if !Compile([]string{c.glob}).Match(path) {
				t.Errorf("%q does not match %q", c.glob, path)
			}
		}
		for _, path := range c.not {
			if Compile([]string{c.glob}).Match(path) {
				t.Errorf("%q matches %q", c.glob, path)
			}
		}
	}
}

// byDoublestar is the reference for Set and Index: doublestar's result for an expansion; for X/**, whether X matches a
// directory above the path.
func byDoublestar(glob, path string) bool {
	return slices.ContainsFunc(expansions(glob), func(e string) bool { return naively(e, path) })
}

func naively(glob, path string) bool {
	x := glob
	for strings.HasSuffix(x, "/**") {
		x = strings.TrimSuffix(x, "/**") // X/**/** is X/**
	}
	if x == glob || x == "**" { // "**" alone matches a name in the root
		return doublestar.MatchUnvalidated(glob, path)
	}
	for i := range len(path) {
		if path[i] == '/' && doublestar.MatchUnvalidated(x, path[:i]) {
			return true
		}
	}
	return false
}

// checkMatch compares Set, Index and doublestar for all globs and one path. Globs that end in /** are only compared
// for paths that a file can have.
func checkMatch(t interface{ Fatalf(string, ...any) }, globs []string, path string) {
	x := NewIndex(globs)
	bits := x.Match(path, nil)
	some := false
	for _, g := range globs {
		checkWide(t, g, path)
		want := byDoublestar(g, path)
		if !isClean(path) && slices.ContainsFunc(expansions(g), endsInStars) {
			want = Compile([]string{g}).Match(path)
		}
		some = some || want
		if got := Compile([]string{g}).Match(path); got != want {
			t.Fatalf("Set: %q matches %q: %v; doublestar: %v", g, path, got, want)
		}
		if got := bits.Has(x.Number(g)); got != want {
			t.Fatalf("Index: %q matches %q: %v; doublestar: %v", g, path, got, want)
		}
	}
	if got := Compile(globs).Match(path); got != some {
		t.Fatalf("Set of %q matches %q: %v; want %v", globs, path, got, some)
	}
}

// checkWide compares CompileWide with doublestar, for X/** with its result for X as well, and says where Compile may
// differ.
func checkWide(t interface{ Fatalf(string, ...any) }, g, path string) {
	wide, narrow := CompileWide([]string{g}).Match(path), Compile([]string{g}).Match(path)
	want := slices.ContainsFunc(expansions(g), func(e string) bool {
		x := e
		for strings.HasSuffix(x, "/**") {
			x = strings.TrimSuffix(x, "/**")
		}
		if x != e && x != "**" { // doublestar's a/** matches "a/", but not its a/**/**
			return doublestar.MatchUnvalidated(x+"/**", path) || doublestar.MatchUnvalidated(x, path)
		}
		return doublestar.MatchUnvalidated(e, path)
	})
	if wide != want {
		t.Fatalf("CompileWide: %q matches %q: %v; want %v", g, path, wide, want)
	}
	if narrow && !wide || wide && !narrow && !slices.ContainsFunc(expansions(g), endsInStars) {
		t.Fatalf("%q matches %q: %v; wide: %v", g, path, narrow, wide)
	}
	// Whatever doublestar matches with braces is matched.
	if doublestar.MatchUnvalidated(g, path) && !wide {
		t.Fatalf("%q matches %q by doublestar, none of its expansions does", g, path)
	}
}

func endsInStars(glob string) bool { return strings.HasSuffix(glob, "/**") }

func isClean(path string) bool { return !strings.Contains("/"+path+"/", "//") }

// drawGlob makes a glob of a few pieces, so that many match or nearly match.
func drawGlob(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "b", ".", "tf", ".tf", "*", "?", "**", "/", "/", "/**/", "**/", "**/*", "[ab]", "[!a]", "[+-9]", `\*`, `\\`, "{a,b}", "{a/,}", "{,.tf}", "é", "\uFFFD", "A"})
	return strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "glob"), "")
}

func drawPath(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "b", ".", "tf", ".tf", "/", "/", "a/", "b/", "é", "\uFFFD", "\xff", "*", `\`, "\n", "A", "5"})
	return strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(t, "path"), "")
}

// drawPathOf makes a path that an expansion of the glob matches or nearly matches.
func drawPathOf(t *rapid.T, glob string) string {
	pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(t, "piece") }
	var path strings.Builder
	for rest := rapid.SampledFrom(expansions(glob)).Draw(t, "expansion"); rest != ""; {
		token := rest[:1]
		switch {
		case strings.HasPrefix(rest, "**"):
			token = "**"
			path.WriteString(pick("a", "a/b", ""))
		case token == "*":
			path.WriteString(pick("", "a", ".tf", "/"))
		case token == "?":
			path.WriteString(pick("a", "5", "/"))
		case token == "[":
			token = rest[:strings.IndexByte(rest, ']')+1]
			path.WriteString(pick("a", "b", "5", "/"))
		case token == `\\`:
			token = rest[:2]
			path.WriteString(rest[1:2])
		default:
			path.WriteString(token)
		}
		rest = rest[len(token):]
	}
	return path.String()
}

func TestMatchIsDoublestar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var globs []string
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			if g := drawGlob(t); Check(g) == nil {
				globs = append(globs, g)
			}
		}
		for range 8 {
			checkMatch(t, globs, drawPath(t))
		}
		for _, g := range globs {
			if path := drawPathOf(t, g); path != "" {
				checkMatch(t, globs, path)
			}
		}
	})
}

func TestMatchTable(t *testing.T) {
	paths := []string{"a", "b", "a/b", "a/b/c", "/a", "a/", "a//b", ".tf", "a.tf", "d/a.tf", "d/.tf", "a.tf.json", "d/.tf.json", "x.a.tf", "d/a_b.tf", "a.", "d/.", "Dockerfile", "d/Dockerfile", "terraform", "terraform/a", "terraformer/a", "a\xff.tf", "a\\b", "\uFFFD", "\xff", "a\nb.tf"}
	for _, path := range paths {
		checkMatch(t, accepted, path)
	}
}

func FuzzMatch(f *testing.F) {
	for i, g := range accepted {
		f.Add(g, accepted[(i+1)%len(accepted)], "a/b.tf")
		f.Add(g, "**/*.tf", g)
	}
	f.Add("a*{,.tf}", "**/a\xff", "a")
	f.Fuzz(func(t *testing.T, g1, g2, path string) {
		if path != "" && Check(g1) == nil && Check(g2) == nil {
			checkMatch(t, []string{g1, g2}, path)
		}
	})
}

// TestIndexManyGlobs: numbers are right beyond one word of bits, and duplicates count once.
func TestIndexManyGlobs(t *testing.T) {
	var globs []string
	for i := range 200 {
		globs = append(globs, fmt.Sprintf("d%d/**", i), fmt.Sprintf("**/*.e%d", i), fmt.Sprintf("**/n%d", i), fmt.Sprintf("p/%d", i), fmt.Sprintf("g%d*/x", i))
	}
	x := NewIndex(globs[:600], globs[300:], globs)
	if x.Len() != len(globs) {
		t.Fatalf("%d globs; want %d", x.Len(), len(globs))
	}
	if x.Number("other") != -1 {
		t.Error("a glob that the index does not have has a number")
	}
	var bits Bits
	if bits.Has(0) {
		t.Error("what is empty has a number")
	}
	for _, path := range []string{"d7/x.e9", "n199", "p/150", "g42z/x", "d199", "nothing"} {
		bits = x.Match(path, bits)
		for _, g := range globs {
			if got, want := bits.Has(x.Number(g)), byDoublestar(g, path); got != want {
				t.Errorf("%q, %q: %v; want %v", g, path, got, want)
			}
		}
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	globs := []string{"**", "**/*.tf", "**/a", "a/**", "a/b", "a?/[b]*/**/c.{tf,json}"}
	x, s := NewIndex(globs), Compile(globs[1:])
	bits := x.Match("a", nil)
	if n := testing.AllocsPerRun(100, func() {
		bits = x.Match("ax/b\xffy/z/c.json", bits)
		s.Match("ax/b\xffy/z/c.yml")
	}); n != 0 {
		t.Errorf("%v allocations for a path", n)
	}
}

func BenchmarkIndex(b *testing.B) {
	var globs []string
	for i := range 1000 {
		globs = append(globs, fmt.Sprintf("services/s%d/**", i), fmt.Sprintf("**/*.ext%d", i))
	}
	x := NewIndex(globs, []string{"**/*.tf", "**/*.{yml,yaml}", "**/k8s/**/*.json"})
	var bits Bits
	b.ReportAllocs()
	for b.Loop() {
		bits = x.Match("services/s77/deploy/k8s/base/deployment.yaml", bits)
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		over, under string // separated by spaces
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

		{"modules/**", "modules", false}, // only the paths below it
		{"modules/**", "modules*/**", false},
		{"modules/**", "**/*.tf", false},
		{"**/*.tf", "**/*.tf **/*.yml", false},
		{"**/*.auto.tf", "**/*.tf", false},
		{"*.tf", "**/*.tf", false},
		{"*", "**", false},
		{"**/testdata/**", "**", false},
		{"**/testdata/**", "testdata", false},
		{"*/*", "x[!a]y", false}, // may be three segments
		{"*", "x[!a]y", false},
		{"", "**", false},
		{"**", "", false},
	} {
		if got := Covers(strings.Fields(c.over), strings.Fields(c.under)); got != c.want {
			t.Errorf("%q over %q: %v", c.over, c.under, got)
		}
	}
}

// TestCoversIsCertain: the covering globs match everything that the covered ones match.
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
