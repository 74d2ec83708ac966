package jsregexp

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/internal/cputime"
)

// What a pattern matches, and what it does not, by ECMAScript 2024 and its Annex B. TestNode holds the
// table to an engine.
var cases = []struct {
	pattern string
	yes, no []string
}{
	{``, []string{"", "a"}, nil},
	{`b`, []string{"abc"}, []string{"", "B"}},
	{`^a|b$`, []string{"ax", "xb"}, []string{"xa\nb\n", "\na"}},
	{`a$`, []string{"a", "ba"}, []string{"a\n", "a\r", "a\u2028"}},
	{`^a`, []string{"a"}, []string{"\na"}},
	{`a.b`, []string{"a b", "a\u0085b", "a\vb"}, []string{"ab", "a\nb", "a\rb", "a\u2028b", "a\u2029b"}},
	{`\d`, []string{"5"}, []string{"٣", "x"}},
	{`^\D$`, []string{"٣", "x"}, []string{"5", "😀"}},
	{`^\w+$`, []string{"aZ_9"}, []string{"é", "\u017f", "\u212a"}},
	{`^\W$`, []string{"é", " "}, []string{"a", ""}},
	{`^\s$`, []string{" ", "\t", "\v", "\f", "\r", "\n", "\u00a0", "\ufeff", "\u2028",
		"\u2029", "\u1680", "\u200a", "\u3000"}, []string{"\u0085", "\u200b", "\u180e", "a"}},
	{`^\S$`, []string{"\u0085", "\u200b", "a"}, []string{"\ufeff", "\u00a0"}},
	{`\bé`, []string{"aé"}, []string{"é", " é"}},
	{`\Bé`, []string{"é", " é"}, []string{"aé"}},
	{`^\B\B$`, []string{""}, []string{"a"}},
	{`a{2}`, []string{"aa"}, []string{"a"}},
	{`^a{2,}$`, []string{"aa", "aaa"}, []string{"a"}},
	{`^a{0}$`, []string{""}, []string{"a"}},
	{`^a{9}b{10}$`, []string{strings.Repeat("a", 9) + strings.Repeat("b", 10)}, []string{"ab"}},
	{`^a?b{0,2}$`, []string{"", "abb"}, []string{"aa", "abbb"}},
	{`^a{1,2}?$`, []string{"a", "aa"}, []string{"aaa"}},
	{`^a+?b*?c??$`, []string{"a", "aabbc"}, []string{"b"}},
	{`^a{,2}$`, []string{"a{,2}"}, []string{"aa"}},
	{`^x{a}{$`, []string{"x{a}{"}, nil},
	{`^{$`, []string{"{"}, nil},
	{`^}]$`, []string{"}]"}, nil},
	{`a\/b`, []string{"a/b"}, []string{`a\/b`}},
	{`^\-\_\a\e\h\A\z\Q\"$`, []string{`-_aehAzQ"`}, nil},
	{`^\8\9$`, []string{"89"}, nil},
	{`^\0$`, []string{"\x00"}, nil},
	{`^\101\78\400$`, []string{"A\a8 0"}, nil},
	{`^\07\17\377$`, []string{"\a\x0fÿ"}, nil},
	{`^(a)\2$`, []string{"a\x02"}, []string{"aa"}},
	{`^\x41\x4g\u0042\u00\u$`, []string{"Ax4gBu00u"}, nil},
	{`^\x09\x90\xaf\xFA$`, []string{"\t\u0090¯ú"}, nil},
	{`^\cA\ca$`, []string{"\x01\x01"}, nil},
	{`^\cZ\cz$`, []string{"\x1a\x1a"}, nil},
	{`^\c1$`, []string{`\c1`}, []string{"\x11"}},
	{`^[\c1]$`, []string{"\x11"}, []string{"1", "c"}},
	{`^[\c0\c9]$`, []string{"\x10", "\x19"}, []string{"0", "9"}},
	{`^[\c_]$`, []string{"\x1f"}, nil},
	{`^[\c!]$`, []string{`\`, "c", "!"}, nil},
	{`^\k$`, []string{"k"}, nil},
	{`^\p\P$`, []string{"pP"}, nil},
	{`^[\b]$`, []string{"\b"}, []string{"b"}},
	{`^[\B\8\-]$`, []string{"B", "8", "-"}, nil},
	{`^[\1\101]$`, []string{"\x01", "A"}, []string{"1"}},
	{`[^]`, []string{"\n", "a", "😀"}, []string{""}},
	{`^[^]$`, []string{"\n"}, []string{"😀"}},
	{`[]`, nil, []string{"", "a", "[]"}},
	{`^(?:[]|a)$`, []string{"a"}, []string{""}},
	{`^[]*$`, []string{""}, []string{"a"}},
	{`^[]]$`, nil, []string{"]"}},
	{`^[a-c]$`, []string{"b"}, []string{"-", "d"}},
	{`^[a-a]$`, []string{"a"}, []string{"-"}},
	{"^a\x00\\\x00[\x00-\x00]$", []string{"a\x00\x00\x00"}, []string{"a\x00\x00-"}},
	{`^[^\x00-a]$`, []string{"b"}, []string{"\x00", "a"}},
	{`^[^\x00-\ufffe]$`, []string{"\uffff"}, []string{"\ufffe", "a"}},
	{`^[\w-.]$`, []string{"a", "-", "."}, []string{","}},
	{`^[--0]$`, []string{"-", ".", "0"}, []string{"1"}},
	{`^[a-]$`, []string{"a", "-"}, nil},
	{`^[^a-c\d]$`, []string{"d"}, []string{"a", "5"}},
	{`^[[:alpha:]]$`, []string{"a]", ":]", "[]"}, []string{"b]", "z"}},
	{`^[a&&b]$`, []string{"&"}, nil},
	{`^(?<name>a)(?:b)(c)$`, []string{"abc"}, nil},
	{`^(?<$>a)(?<_1>b)$`, []string{"ab"}, nil},
	{`^(a*)*$`, []string{"", "aaa"}, []string{"b"}},
	{`^(?:|a)+$`, []string{"", "aa"}, nil},
	{`^(?:ab|)$`, []string{"", "ab"}, []string{"a"}},
	{`^(?:^a|b){2}$`, []string{"ab", "bb"}, []string{"aa"}},

	// Characters beyond U+FFFF are two.
	{`^.$`, []string{"é"}, []string{"😀"}},
	{`^..$`, []string{"😀", "ab"}, []string{"😀a", "\ufffe", "\uffff"}},
	{`^...$`, []string{"😀a", "a😀", "abc"}, []string{"😀", "😀😀"}},
	{`^.{4}$`, []string{"😀😀", "a😀b"}, []string{"😀😀a"}},
	{`^.{2,3}$`, []string{"😀", "😀a"}, []string{"😀😀"}},
	{`^.{3,}$`, []string{"😀😀", "😀a"}, []string{"😀"}},
	{`^.{0}$`, []string{""}, []string{"a"}},
	{`^.+$`, []string{"abc", "😀😀"}, []string{"", "\n"}},
	{`^..+$`, []string{"😀", "😀abc"}, []string{"a"}},
	{`^.(?:..)+.$`, []string{"😀😀", "😀😀😀"}, []string{"😀"}},
	{`^.(?:..)*.$`, []string{"😀", "😀😀😀"}, []string{"😀a"}},
	{`a.b`, []string{"aéb"}, []string{"a😀b"}},
	{`a.*b`, []string{"ab", "a😀b"}, []string{"a\nb"}},
	{`^.+x.+$`, []string{"😀x😀"}, []string{"x😀"}},
	{`^.+.+$`, []string{"😀"}, []string{"a"}},
	{`.\S`, []string{"😀"}, []string{"a"}},
	{`^😀$`, []string{"😀"}, []string{"a"}},
	{`^\ud83d\ude00$`, []string{"😀"}, nil},
	{`^\ud800\udc00\udbff\udfff$`, []string{"\U00010000\U0010ffff"}, nil},
	{`^(?:😀)+$`, []string{"😀😀"}, []string{"😀a"}},
	{`😀|a`, []string{"😀", "a"}, []string{"😁"}},
	{`^[^a]$`, []string{"b"}, []string{"😀"}},
	{`^[^a]\B[^a]$`, []string{"😀", "  ", "bb"}, []string{"b "}},
	{`^[^a]\b[^a]$`, []string{"b "}, []string{"😀", "bb"}},
	{`^[\u0080-\uffff]{2}$`, []string{"😀", "éé"}, []string{"ab"}},
	{`^[\ud800-\udbff\udc00-\udfff]{2}$`, []string{"😀"}, []string{"ab"}},
	{`^(?:.a|b.)*$`, []string{"", "xab😀a"}, []string{"😀a", "xab😀"}},
	{`^(?:..)*$`, []string{"", "😀", "a😀b", "a😀😀b"}, []string{"a", "😀a"}},

	// Half of a character is a unit as any other, in the pattern and in a text.
	{`^😀+$`, []string{"😀"}, []string{"😀😀", ""}},
	{`^\ud83d😀?`, nil, []string{"😀", ""}},
	{`^\ud83d\ude00?\ude00$`, []string{"😀"}, []string{"😀😀"}},
	{`^[😀]$`, nil, []string{"😀", "a"}},
	{`^[😀][😀]$`, []string{"😀"}, []string{"a", "\U0001f601"}},
	{`[😀]`, []string{"😀", "\U0001f601", "a\U00020200"}, []string{"a", "\ufffd", "\U00010000"}},
	{`^[^😀]{2}$`, []string{"\U00010000", "ab"}, []string{"😀", "\U0001f601"}},
	{`[^😀]`, []string{"\U0001f601", "a"}, []string{"😀", "😀😀"}},
	{`[\ud800-\udbff]`, []string{"😀"}, []string{"a", "\ue000"}},
	{`^.[\udc00-\udfff]`, []string{"😀"}, []string{"a😀"}},
	{`\ud83d`, []string{"😀", "\U0001f601"}, []string{"\U0001f800", "\ufffd", "\U000f003d"}},
	{`\udfff`, []string{"\U0010ffff"}, []string{"\U0010fffe"}},
	{`\udc00\udc00`, nil, []string{"\U00010000\U00010000"}},
	{`a\ude00`, nil, []string{"a😀"}},
	{`\udc00\ud800`, []string{"\U00010000\U00010000"}, []string{"\U00010000"}},
	{`^[\ue000-\uffff]$`, []string{"\ue000", "\uffff"}, []string{"\ud7ff", "\U000f0000"}},
	{`^\B😀\B$`, []string{"😀"}, nil},
	{`a\b😀`, []string{"a😀"}, nil},

	// The characters that stand in for halves are nothing special themselves.
	{"^\U000f0000$", []string{"\U000f0000"}, []string{"\U00010000", "a"}},
	{"^[\U000f0000-\uffff]", []string{"\U000f0000"}, []string{"\U000f07ff", "😀"}},
	{`^..$`, []string{"\U000f0000", "\U000f07ff"}, []string{"\U000f0000\U000f07ff"}},

	// A high count, and not UTF-8: a byte is U+FFFD.
	{`^.{1000}$`, []string{strings.Repeat("😀", 500), strings.Repeat("a", 1000)},
		[]string{strings.Repeat("😀", 501)}},
	{`^\ufffd..\ufffd$`, []string{"\xff😀\xf0", "\xe2😀\ufffd"}, nil},

	// As deep as may be.
	{strings.Repeat("(", maxDepth) + "a" + strings.Repeat(")", maxDepth), []string{"a"}, nil},
	{"^" + strings.Repeat("(a)", 2*maxDepth) + "$", []string{strings.Repeat("a", 2*maxDepth)}, nil},
}

func TestCompile(t *testing.T) {
	for _, c := range cases {
		re, err := Compile(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, text := range c.yes {
			if !re.MatchString(text) {
				t.Errorf("%s does not match %q; it is %s", c.pattern, text, re)
			}
		}
		for _, text := range c.no {
			if re.MatchString(text) {
				t.Errorf("%s matches %q; it is %s", c.pattern, text, re)
			}
		}
	}
}

var refusals = []struct {
	pattern string
	at      int
	invalid bool
	found   string // the beginning of it
}{
	{`a(?=b)`, 1, false, "look-ahead"},
	{`a(?!b)*`, 1, false, "look-ahead"},
	{`(?<=b)a`, 0, false, "look-behind"},
	{`é(?<!b)a`, 2, false, "look-behind"},
	{`(?<!b)*`, 6, true, "a quantifier with nothing"},
	{`(a)\1`, 3, false, `the back-reference \1`},
	{`\1(a)`, 0, false, `the back-reference \1`},
	{`(?<x>a)\1`, 7, false, `the back-reference \1`},
	{strings.Repeat("(a)", 9) + `\9`, 27, false, `the back-reference \9`},
	{`(?<x>a)\k<x>`, 7, false, `the back-reference \k<x>`},
	{`\k<x>(?<x>a)`, 0, false, `the back-reference \k<x>`},
	{`(?<x>a)\k<y>`, 0, true, "a back-reference to y"},
	{"(?<x>a)\\k<x\x00>", 0, true, "a back-reference to x\x00"},
	{`(?<x>a)\k`, 7, true, `\k without a name`},
	{`(?<x>a)[\k<x>]`, 8, true, `\k without a name`},
	{`(?<x>a)(?<x>b)`, 7, false, "a second group"},
	{`(?<é>a)`, 0, false, "a group whose name is not ASCII"},
	{"(?<a\u0080>a)", 0, false, "a group whose name is not ASCII"},
	{`(?<1>a)`, 0, true, "a group whose name is not a word"},
	{`(?<>a)`, 0, true, "a group whose name is not a word"},
	{`(?<x`, 0, true, "a group whose name is not a word"},
	{`(?i)a`, 0, true, "a group that begins"},
	{`(?i:a)`, 0, false, "a group with flags"},
	{`(?P<x>a)`, 0, true, "a group that begins"},
	{`(?>a)`, 0, true, "a group that begins"},
	{`(?#a)`, 0, true, "a group that begins"},
	{`\u{61}`, 0, false, `\u{`},
	{`[\p{L}]`, 1, false, `\p{`},
	{`\P{L}`, 0, false, `\P{`},
	{`a{1001}`, 1, false, "a count over 1000"},
	{`(?:a{100}){100}`, 0, false, "a pattern that RE2"},
	{`a{2,1}`, 1, true, "a count whose end"},
	{`a{1,0}`, 1, true, "a count whose end"},
	{`a{99999999999999999999}`, 1, false, "a count over 1000"},
	{`a**`, 2, true, "a quantifier with nothing"},
	{`a{1}{2}`, 4, true, "a quantifier with nothing"},
	{`{1}`, 0, true, "a quantifier with nothing"},
	{`^*`, 1, true, "a quantifier with nothing"},
	{`\b+`, 2, true, "a quantifier with nothing"},
	{`+a`, 0, true, "a quantifier with nothing"},
	{`a|*`, 2, true, "a quantifier with nothing"},
	{`(a`, 0, true, "a ( that is not closed"},
	{`a)`, 1, true, "a ) that closes nothing"},
	{`[a`, 0, true, "a [ that is not closed"},
	{`[a\]`, 0, true, "a [ that is not closed"},
	{`[b-a]`, 1, true, "a range"},
	{`a\`, 1, true, "a backslash at the end"},
	{`(?=a)(`, 5, true, "a ( that is not closed"}, // what JavaScript refuses too is said first
	{strings.Repeat("a", maxUnits+1), 0, false, "a pattern of over 20000 characters"},
	{strings.Repeat("😀", maxUnits/2) + "a", 0, false, "a pattern of over 20000 characters"},
	{strings.Repeat("(", maxUnits+1), 200, false, "brackets nested more than 200 deep"},
	{strings.Repeat("a", maxUnits) + "(", maxUnits, true, "a ( that is not closed"},
	{`(.{1,50}){1,50}`, 0, false, "a pattern that RE2 refuses"},
	{strings.Repeat("(", 201) + strings.Repeat(")", 201), 200, false, "brackets nested more than 200 deep"},
	{"a\xff", 0, false, "a pattern that is not UTF-8"},
}

func TestRefused(t *testing.T) {
	for _, c := range refusals {
		re, err := Compile(c.pattern)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v, %v", c.pattern, re, err)
			continue
		}
		if e.At != c.at || e.Invalid != c.invalid || !strings.HasPrefix(e.Found, c.found) || e.Fix == "" {
			t.Errorf("%s: %+v", c.pattern, *e)
		}
	}
}

// A common pattern stays small, so that a gate with thousands of them is fast.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		pattern string
		most    int // bytes of the expression
	}{
		{`git\s+push\s+.*--force`, 400},
		{`^(npm|yarn)\s+(test|run)`, 300},
		{`[^;&|]{0,20}`, 100},
		{`[a-z]{1,1000}`, 40},
	} {
		re, err := Compile(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		} else if n := len(re.String()); n > c.most {
			t.Errorf("%s becomes %d bytes, over %d: %.300s", c.pattern, n, c.most, re)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, c := range cases {
		f.Add(c.pattern, "a😀b")
	}
	for _, c := range refusals {
		f.Add(c.pattern, "")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := Compile(pattern)
		var e *Error
		switch {
		case err == nil:
			re.MatchString(text)
		case !errors.As(err, &e):
			t.Errorf("%q: the error is not an *Error: %v", pattern, err)
		case e.At < 0 || e.At > len(pattern) || e.Found == "" || e.Fix == "":
			t.Errorf("%q: %+v", pattern, *e)
		}
	})
}

// TestCompileLargest: an expression as large as may be.
func TestCompileLargest(t *testing.T) {
	if cputime.RaceDetector {
		t.Skip("SKIPPED: the race detector makes it take half a minute")
	}
	re, err := Compile(strings.Repeat("a", maxUnits))
	if err != nil || re.MatchString("a") {
		t.Errorf("%v", err)
	}
}

var (
	withNode = flag.Bool("node", false, "compare with the engine of node")
	patterns = flag.Int("node.patterns", 40_000, "how many patterns are made for -node")
)

// A question for node, with its answer.
type question struct {
	Pattern string   `json:"p"`
	Texts   []string `json:"t"`
}

type answer struct {
	Problem string `json:"e"`
	Matches []bool `json:"m"`
}

const script = `
const lines = require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean);
console.log(lines.map(line => {
	const q = JSON.parse(line);
	try {
		return JSON.stringify({m: q.t.map(t => new RegExp(q.p).test(t))});
	} catch (e) {
		return JSON.stringify({e: e.message});
	}
}).join("\n"));`

// TestNode compares Compile with an engine: over the tables of this package, and over patterns and texts
// that are made. There is no difference that is accepted.
func TestNode(t *testing.T) {
	if !*withNode {
		t.Skip("needs -node")
	}
	r := rand.New(rand.NewPCG(10, 2))
	var questions []question
	add := func(pattern string, texts ...string) {
		for range 12 {
			texts = append(texts, madeText(r, 6))
		}
		questions = append(questions, question{pattern, texts})
	}
	for _, c := range cases {
		add(c.pattern, append(append([]string{}, c.yes...), c.no...)...)
	}
	for _, c := range refusals {
		if !strings.Contains(c.pattern, "\xff") {
			add(c.pattern)
		}
	}
	for i := range *patterns {
		if i%4 == 0 {
			add(noise(r))
		} else {
			add(madePattern(r, 3))
		}
	}
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range questions {
		if err := enc.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "-e", script)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(lines), len(questions))
	}
	compared, matched, refused, invalid := 0, 0, map[string]int{}, 0
	for i, q := range questions {
		var a answer
		if err := json.Unmarshal([]byte(lines[i]), &a); err != nil {
			t.Fatal(err)
		}
		re, err := Compile(q.Pattern)
		var e *Error
		switch {
		case errors.As(err, &e):
			if e.Invalid != (a.Problem != "") && !engines(e) {
				t.Errorf("%q: refused with %+v; node says %q", q.Pattern, *e, a.Problem)
			}
			if e.Invalid {
				invalid++
			} else {
				first, _, _ := strings.Cut(e.Found, ",")
				refused[fmt.Sprintf("%.20s", first)]++
			}
			continue
		case a.Problem != "":
			t.Errorf("%q compiles; node says %q", q.Pattern, a.Problem)
			continue
		}
		for k, text := range q.Texts {
			compared++
			if a.Matches[k] {
				matched++
			}
			if re.MatchString(text) != a.Matches[k] {
				t.Errorf("%q on %q: node says %v; it is %s", q.Pattern, text, a.Matches[k], re)
			}
		}
	}
	t.Logf("%d comparisons, %d matches; %d patterns invalid; refused: %v", compared, matched, invalid, refused)
	if compared < 4**patterns || matched < compared/20 {
		t.Errorf("only %d comparisons, %d matches", compared, matched)
	}
}

// engines reports whether it depends on the engine, by the documentation of Error, whether it refuses as well.
func engines(e *Error) bool {
	for _, found := range []string{"a group with flags", "a group whose name is not ASCII", "a second group",
		"brackets nested"} {
		if strings.HasPrefix(e.Found, found) {
			return true
		}
	}
	return false
}

// alphabet are the characters at which the two dialects differ, and a few others.
var alphabet = strings.Split("a b c k A _ 0 1 8 - . é \u017f \u212a K 😀 𐀀 { } ] / \\ \n \r \t \v "+
	"\u2028 \u2029 \u0085 \u00a0 \ufeff \u200b \u3000 \x00 \b \x01 \x11 \uffff \ue000 , = ! :", " ")

func one(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }

func madeText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		if r.IntN(3) == 0 {
			b.WriteString(one(r, []string{"a", "b", "😀", " "}))
		} else {
			b.WriteString(one(r, alphabet))
		}
	}
	return b.String()
}

// madePattern makes a pattern that is mostly valid.
func madePattern(r *rand.Rand, depth int) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		switch {
		case depth > 0 && r.IntN(5) == 0:
			b.WriteString(one(r, []string{"(", "(?:", "(", "(?:", "(?:", fmt.Sprintf("(?<n%d>", r.IntN(1<<40))}))
			b.WriteString(madePattern(r, depth-1))
			b.WriteString(")")
		case r.IntN(5) == 0:
			b.WriteString("[" + one(r, []string{"", "^"}))
			for range r.IntN(4) {
				b.WriteString(one(r, classParts))
			}
			b.WriteString("]")
		case r.IntN(12) == 0:
			b.WriteString("|")
			continue
		case r.IntN(8) == 0:
			b.WriteString(one(r, []string{"^", "$", `\b`, `\B`, `\B`}))
			continue
		default:
			b.WriteString(one(r, atoms))
		}
		if r.IntN(3) == 0 {
			b.WriteString(one(r, []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{2,}", "{0,3}",
				"{3}?", "{,2}", "{2", "{0}"}))
		}
	}
	return b.String()
}

var (
	atoms = []string{
		"a", "b", "c", ".", ".", ".", "..", `\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\0`, `\8`, `\1`, `\01`,
		`\101`, `\cA`, `\c1`, `\c`, `\x41`,
		`\x4`, `\u0061`, `\u006`, `\ud83d\ude00`, "😀", `\ud83d`, `\udc00`, "𐀀", `\.`,
		`\/`, `\-`, `\k`, `\é`, `\😀`, "{", "}", "]", "é", "\n", "\u2028", `\t`, `\v`, "K", `[^]`, `[]`,
		"(?:😀)", "-", ",",
	}
	classParts = []string{
		"a", "b", "a-c", "-", "a-", "-a", `\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\w-`, `-\w`, `\b`, `\B`,
		`\c1`, `\c_`, `\c`,
		`\cA`, `\0`, `\1`, `\8`, `\101`, `\]`, `\-`, `\k`, "^", "[", ":",
		`\u0080-\uffff`, `\x00-\uffff`, "é", "!-~", `\ud83d\ude00`, "😀", `\ud800-\udbff`, "b-a", "&&", ".", "$",
	}
)

// noise makes a pattern that is mostly invalid.
func noise(r *rand.Rand) string {
	parts := []string{"(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "\\", "-", ",", "1",
		"2", "0", "8", "a",
		"b", "c", "k", "u", "x", "B", "😀", "?:", "?=", "?!", "?<", "?<=", "<n>", "n>", "?<n>", `\k<n>`, `\u`, `\p{L}`,
		"d83d", "{1}", "{2,1}", "=", "!", ":", "<", ">"}
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(one(r, parts))
	}
	return b.String()
}
