package claudecube

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/jsregexp"
)

var (
	micromatch = flag.String("micromatch", "",
		"a directory where micromatch 4 is installed, to compare globs with it; needs node")
	update = flag.Bool("update", false, "with -micromatch: write testdata/micromatch.jsonl")
)

// matcher returns what a glob of rules of an effect matches.
func matcher(t *testing.T, glob string, effect callrules.Effect) func(value string) bool {
	t.Helper()
	test := callrules.Test{Fact: callrules.Fact{Source: callrules.FromInput, Path: []string{"f"}}}
	when, err := globbed(&test, glob, effect == callrules.Deny)
	if err != nil {
		t.Fatalf("%q: %v", glob, err)
	}
	set := &callrules.Set{Strategy: callrules.CategoryFirst, Default: callrules.Ask,
		Rules: []callrules.Rule{{ID: "R", Effect: effect, When: when}}}
	return func(value string) bool {
		use := &call.Call{Tool: "Edit", Input: call.NewObject(call.Member{Name: "f", Value: call.Text(value)})}
		return set.Decide(use, callrules.Options{}).Rule != nil
	}
}

// "micromatch.isMatch(value, pattern.pattern)". The matches of rules of both kinds, of one that denies alone, and of
// none. TestMicromatch compares more of them with micromatch itself.
func TestRow_2_08_Glob(t *testing.T) {
	for _, c := range []struct {
		glob               string
		both, denied, none []string
	}{
		{"src/**/*.ts", []string{"src/a.ts", "src/b/c/a.ts"}, []string{"src/.a.ts", "src/.b/a.ts"},
			[]string{"/p/src/a.ts", "src/a.js", "SRC/a.ts"}},
		{"/p/src/**", []string{"/p/src/a", "/p/src/a/b", "/p/src"},
			[]string{"/p/src/.env", "/p/src/.git/config", "/p/src/"}, []string{"p/src/a", "/p/srcs/a"}},
		{"**/src/**", []string{"/p/src/a", "src/a", "/p/q/src/a/b"},
			[]string{"/p/src/.env", "/.p/src/a", "/p/src/a\nb"}, []string{"/p/srcs/a"}},
		{"src/*/**", []string{"src/a/b"}, []string{"src/a", "src/a/"}, []string{"src"}},
		{"/**/a", []string{"/b/a"}, []string{"/a", "/.b/a"}, []string{"a"}},
		{"src/**", []string{"src/a"}, []string{"src/../a", "src/a/..", "src/./a"}, nil},
		{".*/a", []string{".b/a", "..b/a"}, []string{"./a", "../a"}, nil},
		{"**/.env", []string{"/p/.env", ".env"}, []string{"/.p/.env"}, []string{"/p/.env.local"}},
		{".*", []string{".env", ".git"}, []string{"..", ".a/"}, []string{"env", "a/.env"}},
		{"*", []string{"a"}, []string{".a", "", "a/"}, []string{"a/b"}},
		{"**", []string{"a", "a/b", "/a"}, []string{".a", "a/.b", "", "a\nb"}, nil},
		{"npm *", []string{"npm test"}, []string{"npm a\nb"}, []string{"npm", "npm a/b"}},
		{"a?c", []string{"abc", "a.c"}, []string{"a😀c"}, []string{"a/c", "ac"}},
		{"a++b", []string{"a+b", "a++b"}, nil, []string{"ab"}},
		{"a|b", []string{"a|b"}, nil, []string{"a"}},
		{"a/b|c", []string{"a/b", "c"}, nil, []string{"a/b|c/"}},
		{"a..b/+c", []string{"a..b/+c"}, nil, []string{"a.b/+c"}},
		{`\[a\].ts`, []string{"[a].ts"}, nil, []string{"a.ts"}},
		{`/"*"b`, []string{"/*b"}, []string{"/*b/"}, []string{"/ab"}},
		// Classes.
		{"[a-c]x", []string{"ax", "[a-c]x"}, nil, []string{"dx", "-x"}},
		{"[ab]", []string{"a", "[ab]"}, []string{"a/"}, []string{"c"}},
		{"[!a]", []string{"!", "a"}, nil, []string{"b"}},
		{"[^a]x", []string{"bx", "^x", ".x"}, nil, []string{"ax", "/x"}},
		{"[[:digit:]_]", []string{"1", "_"}, nil, []string{"a"}},
		// Braces and ranges.
		{"{a,b/.c}/*", []string{"a/x", "b/.c/x"}, []string{"a/.x", "b/.c/.x"}, []string{"b/x"}},
		{"{a,b{c,d}}", []string{"a", "bc", "bd"}, nil, []string{"b", "d", "b{c}"}},
		{"{a,b}/**", []string{"a/x", "b/x/y"}, []string{"a/.x"}, []string{"c/x"}},
		{"{a,*}/x", []string{"a/x", "c/x"}, []string{".c/x"}, nil},
		{"${HOME}/a", []string{"${HOME}/a"}, nil, []string{"HOME/a"}},
		{"v{1..3}/{a..c}", []string{"v2/b"}, []string{"v2/b/"}, []string{"v4/b", "v1..3/b"}},
		{"{1..10}", []string{"1", "0"}, nil, []string{"10", "5"}},
		// Groups.
		{"@(a|b)/x", []string{"a/x", "b/x"}, nil, []string{"ab/x"}},
		{"+(ab)", []string{"ab", "abab"}, nil, []string{"a"}},
		{"x?(y)", []string{"x", "xy"}, nil, []string{"xyy"}},
		{"x*(yz)", []string{"x", "xyzyz"}, nil, []string{"xy"}},
		{"!(a|b)", []string{"c", "ab"}, []string{"c/", ".c"}, []string{"a", "b", "c/d"}},
		{"!(*.d).ts", []string{"a.ts", "d.ts"}, []string{".ts"}, []string{"a.d.ts"}},
		{"*.!(js)", []string{"a.ts"}, []string{".a.ts"}, []string{"a.js"}},
		// The beginning.
		{"./src/*", []string{"src/a"}, []string{"./src/a", "src/.a"}, []string{"a"}},
		{"!src/**", []string{"a", "lib/a"}, []string{"src/.env", "src/../a", "src/a\nb", "lib/"}, []string{"src/a"}},
		{"!!src/*", []string{"src/a"}, []string{"src/.a"}, []string{"a"}},
		{"!(src)/a", []string{"lib/a"}, nil, []string{"src/a"}},
	} {
		deny, allow := matcher(t, c.glob, callrules.Deny), matcher(t, c.glob, callrules.Allow)
		for i, values := range [][]string{c.both, c.denied, c.none} {
			for _, value := range values {
				if got := deny(value); got != (i < 2) {
					t.Errorf("%s denies %q: %v", c.glob, value, got)
				}
				if got := allow(value); got != (i < 1) {
					t.Errorf("%s allows %q: %v", c.glob, value, got)
				}
			}
		}
	}
}

func TestRow_2_08_GlobsRefused(t *testing.T) {
	for _, c := range []struct{ glob, found string }{
		{"", "an empty glob"},
		{strings.Repeat("a", 4097), "a glob of 4097 bytes"},
		{"a/***", `"***"`},
		{"a/b)", `")" without its "("`},
		{"a/(b", "without their end"},
		{"a/(b{c)d}", `")" without`},
		{"a/{b(c}d)", "across a parenthesis"},
		{"{a*}", "braces without a comma"},
		{"{../a,b}", `".." in braces`},
		{"(?!a)b", `"(?"`},
		{"(a)?<b", `")?<"`},
		{"[a", "a class without its end"},
		{"[]", "a class without its end"},
		{"[[:letter:]]", "no class of POSIX"},
		{`a\`, "a backslash that escapes nothing"},
		{`a/\\\b`, "a backslash that escapes nothing"},
		{`/"a`, "a quote without its end"},
		{`*"a"/`, "a quote"},
		{"+(a|aa)", "not all versions"},
		{"*(*(a))", "not all versions"},
		{"a.b{1..3}", "a range"},
		{"a@b[[:alpha:]]", "a range"},
		{`/"a"/**`, "quotes"},
		{"a+++b", "match nothing"},
		{"[b-a]", "match nothing"},
	} {
		_, err := globbed(&callrules.Test{}, c.glob, true)
		var wrong mistake
		if !errors.As(err, &wrong) || !strings.Contains(wrong.found, c.found) || wrong.fix == "" {
			t.Errorf("%s: %v", c.glob, err)
		}
	}
}

// A question is a glob with values: the matches of micromatch, and others.
type question struct {
	Glob string   `json:"g"`
	Yes  []string `json:"y"`
	No   []string `json:"n"`
}

// TestMicromatch compares globs with micromatch: the exact reading has the same matches, a rule that denies has at least
// these, and one that allows at most. It compares with the answers in testdata/micromatch.jsonl, and with -micromatch
// with answers of the installed program, to more globs.
func TestMicromatch(t *testing.T) {
	const golden = "testdata/micromatch.jsonl"
	if *micromatch != "" {
		compareMicromatch(t, askMicromatch(t, makeQuestions(rand.New(rand.NewPCG(8, 4)), 10_000, 20)))
		if *update {
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			for _, q := range askMicromatch(t, makeQuestions(rand.New(rand.NewPCG(16, 2)), 600, 9)) {
				if err := enc.Encode(q); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(golden, out.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var questions []question
	for line := range bytes.Lines(text) {
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		questions = append(questions, q)
	}
	compareMicromatch(t, questions)
}

// makeQuestions makes some globs that are not refused, and values for each.
func makeQuestions(r *rand.Rand, globs, values int) []question {
	parts := strings.Split(`a b . .. * ** ? / / / { } ( ) [ ] [a] [!a] [^a] [a-b] [[:alpha:]] [^[:digit:]] {a,b} {a..c}`+
		` {1..3} {1..12} @(a|b) +(a) +(a|b) *(a) ?(a) ?(a|b) !(a) !(a|b) !(*.a) !(*) !( @( +( | | ! ! ./ \ \* \. \d \{`+
		` " "a" $ ^ + - , : ; .a .b *.a a* é 😀 src/** **/ /** **/* !** {,a} {a,.b} {a} a-b ~ # & _ = ' < % @`, " ")
	ends := strings.Split("/** */** /**/** */**/** /*/** /**/*/** {a,b*}/** \\*/** ?/** /**/**/* /**/*", " ")
	of := append(strings.Split(`a b c . .. .a .b / / / * { } ab - é 😀 + [ ] a.a \ , $ ^ ! # @ ~ ( ) | 1 2 0 src aa ba a/b`+
		` a/a b/.a " ? src/a : ;`, " "), "\n", " ")
	pick := func(of []string, most int) string {
		var b strings.Builder
		for range r.IntN(most + 1) {
			b.WriteString(of[r.IntN(len(of))])
		}
		return b.String()
	}
	var all []question
	for len(all) < globs {
		q := question{Glob: pick(parts, 7)}
		if r.IntN(5) == 0 { // X/** in all its forms
			q.Glob = pick(parts, 3) + ends[r.IntN(len(ends))]
		}
		if _, err := globbed(&callrules.Test{}, q.Glob, true); err != nil {
			continue
		}
		for range values / 3 {
			q.No = append(q.No, pick(of, 6))
		}
		for len(q.No) < values { // near the glob
			near := strings.TrimPrefix(q.Glob, "!"[:r.IntN(2)])
			if dir, ok := strings.CutSuffix(near, "/**"); ok && r.IntN(2) == 0 {
				near = dir
			}
			q.No = append(q.No, strings.NewReplacer("**", pick(of, 3), "*", pick(of, 2), "?", []string{"a", ".", "😀"}[r.IntN(3)], "{a,b}", "a", "[a-b]", "b",
				"{a,b*}", "b", `\d`, "1", `\`, "", "@(a|b)", "a", "[!a]", "!", "[^a]", "b", "{1..3}", "2", "{a..c}", "b",
				"!(a)", pick(of, 1), "+(a)", "aa", "*(a)", "", "?(a)", "a", "[[:alpha:]]", "b", "./", "", "|", "",
				`"`, "").Replace(near))
		}
		all = append(all, q)
	}
	return all
}

// askMicromatch sorts the values by what micromatch says.
func askMicromatch(t *testing.T, questions []question) []question {
	t.Helper()
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", `
const m = require("micromatch");
const questions = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(questions.map(({g, n}) =>
	({g, y: n.filter(v => m.isMatch(v, g)), n: n.filter(v => !m.isMatch(v, g))}))));`)
	cmd.Dir, cmd.Stdin = *micromatch, bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []question
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

func compareMicromatch(t *testing.T, questions []question) {
	t.Helper()
	matches, wider, narrower, bad, all := 0, 0, 0, 0, 0
	for _, q := range questions {
		source, err := expression(q.Glob, exact)
		if err != nil {
			t.Fatalf("%q: %v", q.Glob, err)
		}
		re, wrong := jsregexp.Compile(source)
		if wrong != nil {
			t.Fatalf("%q: %v", q.Glob, wrong)
		}
		deny, allow := matcher(t, q.Glob, callrules.Deny), matcher(t, q.Glob, callrules.Allow)
		check := func(value string, theirs bool) {
			ours, denies, allows := value == q.Glob || re.MatchString(value), deny(value), allow(value)
			all++
			switch {
			case theirs:
				matches++
				if !allows {
					narrower++
				}
			case denies:
				wider++
			}
			if ours != theirs || theirs && !denies || allows && !theirs {
				if bad++; bad <= 25 {
					t.Errorf("%q on %q: micromatch %v, exactly %v, denies %v, allows %v; %s", q.Glob, value, theirs, ours,
						denies, allows, source)
				}
			}
		}
		for _, value := range q.Yes {
			check(value, true)
		}
		for _, value := range q.No {
			check(value, false)
		}
	}
	t.Logf("%d comparisons, %d matches of micromatch; %d wider when denied, %d narrower when allowed; %d wrong", all,
		matches, wider, narrower, bad)
	if matches < len(questions) {
		t.Errorf("only %d matches", matches)
	}
}
