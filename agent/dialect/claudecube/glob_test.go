package claudecube

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

var (
	micromatch = flag.String("micromatch", "",
		"a directory where micromatch is installed, to compare globs with it; needs node")
	update = flag.Bool("update", false, "with -micromatch: write testdata/micromatch.jsonl")
)

// "micromatch.isMatch(value, pattern.pattern)". The matches of a rule that denies, and of one that allows, which are
// micromatch's.
func TestRow_2_08_Glob(t *testing.T) {
	for _, c := range []struct {
		glob               string
		both, denied, none []string
	}{
		{"src/**/*.ts", []string{"src/a.ts", "src/b/c/a.ts"}, []string{"src/.a.ts", "src/.b/a.ts"},
			[]string{"/p/src/a.ts", "src/a.js", "SRC/a.ts"}},
		{"/p/src/**", []string{"/p/src/a", "/p/src/a/b"}, []string{"/p/src/.env", "/p/src/.git/config", "/p/src/"},
			[]string{"p/src/a", "/p/srcs/a"}},
		{"**/src/**", []string{"/p/src/a", "src/a", "/p/q/src/a/b"},
			[]string{"/p/src/.env", "/.p/src/a", "/p/src/a\nb"}, []string{"/p/srcs/a"}},
		{"src/**", []string{"src/a"}, []string{"src/../a", "src/a/..", "src/./a"}, nil},
		{".*/a", []string{".b/a", "..b/a"}, []string{"./a", "../a"}, nil},
		{"**/.env", []string{"/p/.env", ".env"}, []string{"/.p/.env"}, []string{"/p/.env.local"}},
		{"**/.github/**", []string{"/p/.github/a"}, []string{"/p/.github/.a", "/.p/.github/a"},
			[]string{"/p/github/a"}},
		{".*", []string{".env", ".git"}, nil, []string{"env", "a/.env"}},
		{"*", []string{"a"}, []string{".a", "", "a/"}, []string{"a/b"}},
		{"**", []string{"a", "a/b", "/a"}, []string{".a", "a/.b", "", "a\nb"}, nil},
		{"npm *", []string{"npm test"}, []string{"npm a\nb"}, []string{"npm", "npm a/b"}},
		{"a?c", []string{"abc", "a.c"}, nil, []string{"a/c", "ac"}},
		{"[a-c]x", []string{"ax", "[a-c]x"}, nil, []string{"dx", "-x"}},
		{"{a,b/.c}/*", []string{"a/x", "b/.c/x"}, []string{"a/.x", "b/.c/.x"}, []string{"b/x"}},
		{"{a,b{c,d}}", []string{"a", "bc", "bd"}, nil, []string{"b", "d", "b{c}"}},
		{"{a,b}/**", []string{"a/x", "b/x/y"}, []string{"a/.x"}, []string{"c/x"}},
		{"a..b/+c", []string{"a..b/+c"}, nil, []string{"a.b/+c"}},
		{"+a", []string{"+a"}, nil, []string{"a"}},
		{`\[a\].ts`, []string{"[a].ts"}, nil, []string{"a.ts"}},
	} {
		deny := read(t, head+rule(1, "deny", "Edit", "f", "glob "+c.glob))
		allow := read(t, head+rule(1, "allow", "Edit", "f", "glob "+c.glob))
		for i, values := range [][]string{c.both, c.denied, c.none} {
			for _, value := range values {
				use := &call.Call{Tool: "Edit", Input: call.NewObject(call.Member{Name: "f", Value: call.Text(value)})}
				if got := deny.Decide(use, callrules.Options{}).Rule != nil; got != (i < 2) {
					t.Errorf("%s denies %q: %v", c.glob, value, got)
				}
				if got := allow.Decide(use, callrules.Options{}).Rule != nil; got != (i < 1) {
					t.Errorf("%s allows %q: %v", c.glob, value, got)
				}
			}
		}
	}
}

func TestRow_2_08_GlobsRefused(t *testing.T) {
	for _, c := range []struct{ glob, found string }{
		{"!a", `a leading "!"`},
		{"!(a)", `a leading "!"`},
		{"a/@(b|c)", `"@("`},
		{"a/(b|c)", `'('`},
		{"a|b", `'|'`},
		{`"a"`, `'"'`},
		{"[ab]", "a class that micromatch"},
		{"[!a-b]", "a class that micromatch"},
		{"[^a-b]", "a class that micromatch"},
		{"[.-9]", "a class that micromatch"},
		{"[a-c]+", `"+" after a class`},
		{"{a,b}+", `"+" after braces`},
		{"a++b", `"++", which is any`},
		{"{a}", "braces with one"},
		{"x{b,{c}}", "braces with one"},
		{"{1..3}", "ranges in braces"},
		{"{a..c,b}", `".." in braces`},
		{"{**/a,b}", `"**" in braces`},
		{"a$", `'$'`},
		{"^a", `'^'`},
		{`a\\b`, "a backslash as a character"},
		{`a\b`, "a backslash does not separate"},
		{"**.ts", `"**" is only special`},
		{"./a", `a segment "."`},
		{"/", "an empty glob"},
		{"", "an empty glob"},
		{"//a", `a leading "/"`},
		{"[[:alpha:]]", "POSIX"},
	} {
		if found, fix := globMistake(c.glob); !strings.Contains(found, c.found) || fix == "" {
			t.Errorf("%s: %q, %q", c.glob, found, fix)
		}
	}
}

// A question is a glob and values, and what micromatch says: whether the glob matches each.
type question struct {
	Glob    string   `json:"g"`
	Values  []string `json:"v"`
	Matches []bool   `json:"m"`
}

// TestMicromatch compares globs with micromatch, apart from strings with a line end or a final slash: a rule that
// allows has the same matches, one that denies at least these. It compares with the answers in
// testdata/micromatch.jsonl, and with -micromatch with answers of the installed program, to more globs.
func TestMicromatch(t *testing.T) {
	const golden = "testdata/micromatch.jsonl"
	if *micromatch != "" {
		questions := makeQuestions(rand.New(rand.NewPCG(8, 4)), 8_000, 30)
		askMicromatch(t, questions)
		compareMicromatch(t, questions)
		if *update {
			questions = makeQuestions(rand.New(rand.NewPCG(16, 2)), 500, 9)
			askMicromatch(t, questions)
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			for _, q := range questions {
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

// makeQuestions makes some globs and values for each.
func makeQuestions(r *rand.Rand, globs, values int) []question {
	parts := []string{"a", "b", ".", "*", "**", "?", "/", "/", "{a,b}", "{a,.b/*}", "{,a}", "[a-b]", "[0-b]", ".a",
		"a*", "*.a", `\*`, `\{`, "{a,{b,**/c}}", "+", "@", "~", "-", " ", ",", "!", "#", "é", "😀", "{", "}",
		"{a..c,b}", "|", "(", "\"", "[ab]", "[!a-b]", "&", "%", "=", ":", ";", "'", "<", "`"}
	of := []string{"a", "b", "c", ".", "..", ".a", ".b", "/", "/", "/", "*", "{", "}", "ab", "\n", "-", " ", "é", "😀",
		"+", "[", "]", "a.a", "\\", ",", "$", "^", "!", "#", "@", "~"}
	ends := []string{"/**", "*/**", "/**/**", "*/**/**", "/*/**", "/**/*/**", "{a,b*}/**", `\*/**`, "?/**", "/**/**/*",
		"/**/*"}
	pick := func(of []string, most int) string {
		var b strings.Builder
		for range r.IntN(most + 1) {
			b.WriteString(of[r.IntN(len(of))])
		}
		return b.String()
	}
	var all []question
	for len(all) < globs {
		q := question{Glob: pick(parts, 6)}
		if r.IntN(4) == 0 { // X/** in all its forms
			q.Glob = pick(parts, 3) + ends[r.IntN(len(ends))]
		}
		if found, _ := globMistake(q.Glob); found != "" {
			continue
		}
		for range values / 3 {
			q.Values = append(q.Values, pick(of, 6))
		}
		for len(q.Values) < values { // near the glob
			near := q.Glob
			if dir, ok := strings.CutSuffix(near, "/**"); ok && r.IntN(2) == 0 {
				near = dir
			}
			q.Values = append(q.Values, strings.NewReplacer("**", pick(of, 3), "*", pick(of, 2), "?", "a", "{a,b}",
				"a", "[a-b]", "b", "{a,b*}", "b", `\`, "").Replace(near))
		}
		all = append(all, q)
	}
	return all
}

// askMicromatch fills in what micromatch says.
func askMicromatch(t *testing.T, questions []question) {
	t.Helper()
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", `
const m = require("micromatch");
const questions = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(questions.map(q => q.v.map(v => m.isMatch(v, q.g)))));`)
	cmd.Dir, cmd.Stdin = *micromatch, bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var matches [][]bool
	if err := json.Unmarshal(out, &matches); err != nil {
		t.Fatal(err)
	}
	for i := range questions {
		questions[i].Matches = matches[i]
	}
}

func compareMicromatch(t *testing.T, questions []question) {
	t.Helper()
	matches, wider, narrower, bad := 0, 0, 0, 0
	for _, q := range questions {
		sets := map[callrules.Effect]*callrules.Set{}
		for _, effect := range []callrules.Effect{callrules.Deny, callrules.Allow} {
			test := callrules.Test{Fact: callrules.Fact{Source: callrules.FromInput, Path: []string{"f"}}}
			sets[effect] = &callrules.Set{Strategy: callrules.CategoryFirst, Default: callrules.Ask,
				Rules: []callrules.Rule{{ID: "R", Effect: effect, When: globbed(&test, q.Glob, effect)}}}
		}
		holds := func(effect callrules.Effect, value string) bool {
			use := &call.Call{Tool: "Edit", Input: call.NewObject(call.Member{Name: "f", Value: call.Text(value)})}
			return sets[effect].Decide(use, callrules.Options{}).Rule != nil
		}
		for k, value := range q.Values {
			if strings.Contains(q.Glob, "?") && strings.ContainsRune(value, '😀') {
				continue // see docs/dialects.md: ? is one character here, also where JavaScript has two
			}
			theirs := q.Matches[k]
			if strings.Contains(value, "..") && !theirs {
				continue // which names of dots micromatch refuses depends on what is before a wildcard
			}
			denies, allows := holds(callrules.Deny, value), holds(callrules.Allow, value)
			switch {
			case theirs:
				matches++
				stricter := strings.Contains(value, "..") || strings.Contains(q.Glob, "{,") &&
					strings.Contains("/"+value, "/.")
				stricter = stricter || onlyBelow(q.Glob) && strings.Contains(value, "//")
				if !allows && (stricter || strings.HasSuffix(value, "/") ||
					strings.ContainsAny(value, "\n\r\u2028\u2029")) {
					narrower++
					allows = true // it is known, and stricter
				}
			case denies:
				wider++
			}
			if theirs && !denies || allows != theirs {
				if bad++; bad <= 25 {
					t.Errorf("%q on %q: micromatch %v, denies %v, allows %v", q.Glob, value, theirs, denies, allows)
				}
			}
		}
	}
	t.Logf("%d matches of micromatch; %d wider when denied, %d narrower when allowed; %d wrong", matches, wider,
		narrower, bad)
	if matches < len(questions) {
		t.Errorf("only %d matches", matches)
	}
}
