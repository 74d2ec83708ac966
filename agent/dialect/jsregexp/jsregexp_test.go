package jsregexp

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
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
	{`^\s$`, []string{" ", "\t", "\v", "\f", "\r", "\n", "\u00a0", "\ufeff", "\u2028", "\u2029", "\u1680", "\u200a", "\u3000"}, []string{"\u0085", "\u200b", "\u180e", "a"}},
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
	{`^[\ud800-\udbff][\udc00-\udfff]$`, []string{"😀"}, []string{"ab", "\ufffd\ufffd"}},
	{`^[a-\ud83d][\ude00-\uffff]$`, []string{"😀", "b\ue000", "\ud7ff\uffff"}, []string{"\ue000\ue000", "ab"}},
	{`^[^^-\uffff]`, []string{"A"}, []string{"😀", "a", "^"}},
	{`\ud83d`, []string{"😀", "\U0001f601"}, []string{"\U0001f800", "\ufffd", "\U000f003d"}},
	{`\udfff`, []string{"\U0010ffff"}, []string{"\U0010fffe"}},
	{`\udc00\udc00`, nil, []string{"\U00010000\U00010000"}},
	{`a\ude00`, nil, []string{"a😀"}},
	{`\udc00\ud800`, []string{"\U00010000\U00010000"}, []string{"\U00010000"}},
	{`^[\ue000-\uffff]$`, []string{"\ue000", "\uffff"}, []string{"\ud7ff", "\U000f0000"}},
	{`^\B😀\B$`, []string{"😀"}, nil},
	{`a\b😀`, []string{"a😀"}, nil},

	// Characters of private use.
	{"^\U000f0000$", []string{"\U000f0000"}, []string{"\U00010000", "a"}},
	{"^[\U000f0000-\uffff]", []string{"\U000f0000"}, []string{"\U000f07ff", "😀"}},
	{`^..$`, []string{"\U000f0000", "\U000f07ff"}, []string{"\U000f0000\U000f07ff"}},
	{`^\ud83d`, []string{"😀"}, []string{"\U0010d83d"}},

	// A high count, and not UTF-8: a byte is U+FFFD.
	{`^.{1000}$`, []string{strings.Repeat("😀", 500), strings.Repeat("a", 1000)}, []string{strings.Repeat("😀", 501)}},
	{`^\ufffd..\ufffd$`, []string{"\xff😀\xf0", "\xe2😀\ufffd"}, nil},

	// Look-around and back-references.
	{`.*/\.ssh/(?!config$).+`, []string{"/h/.ssh/id_rsa", "/h/.ssh/config.d"}, []string{"/w/README.md", "/h/.ssh/config"}},
	{`(?<!un)safe`, []string{"safe"}, []string{"unsafe"}},
	{`(?<=a)b|(?=c)c`, []string{"ab", "c"}, []string{"b"}},
	{`a(?!b)*`, []string{"ab"}, []string{"b"}},
	{`^(a)\1$`, []string{"aa"}, []string{"a", "a\x01"}},
	{`^\1(a)$`, []string{"a"}, []string{"aa"}},
	{`^(?<x>.)\k<x>$`, []string{"aa", "  "}, []string{"ab", "😀"}},
	{`^(?:(a)|b)*\1$`, []string{"ab", "aaa", "b"}, []string{"c"}},
	{`(?<=😀)𐀀|(?<!𐀀)😀`, []string{"😀𐀀", "😀"}, []string{"𐀀😀", "𐀀"}},
	{`(?:😀|x)𐀀`, []string{"😀𐀀", "x𐀀"}, []string{"😀😀", "𐀀𐀀", "x"}},

	// Deep.
	{strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200), []string{"a"}, nil},
	{"^" + strings.Repeat("(a)", 400) + "$", []string{strings.Repeat("a", 400)}, nil},
}

func TestCompile(t *testing.T) {
	for _, c := range cases {
		re, wrong := Compile(c.pattern)
		if wrong != nil {
			t.Errorf("%s: %v", c.pattern, wrong)
			continue
		}
		for _, text := range c.yes {
			if !re.MatchString(text) {
				t.Errorf("%s does not match %q; it is %s", c.pattern, text, re.engine)
			}
		}
		for _, text := range c.no {
			if re.MatchString(text) {
				t.Errorf("%s matches %q; it is %s", c.pattern, text, re.engine)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		`a(`:                   `JavaScript refuses it: missing closing ); close it with ), or write \( for the character`,
		`a)`:                   `JavaScript refuses it: unexpected ); write \) for the character`,
		`😀)|(a`:                `JavaScript refuses it: unexpected ); write`,
		`[a`:                   `JavaScript refuses it: unterminated [] set; close it with ], or write \[ for the character`,
		`[b-a]`:                `JavaScript refuses it: [b-a] range in reverse order; write the lower character first`,
		`a**`:                  `JavaScript refuses it: invalid nested repetition operator; remove one`,
		`a++`:                  `JavaScript refuses it: invalid nested repetition operator; remove one`,
		`*.ts`:                 `JavaScript refuses it: missing argument to repetition operator; write .* for any text`,
		`a{2,1}`:               `JavaScript refuses it: invalid repeat count; write the lower number first`,
		`^*`:                   `JavaScript refuses it: assertion cannot be quantified; remove what follows it`,
		`(?<!b)*`:              `JavaScript refuses it: assertion cannot be quantified`,
		"a\\":                  `JavaScript refuses it: illegal \ at end of pattern; remove it`,
		`(?<x>a)\k<y>`:         `JavaScript refuses it: reference to undefined group name y; name a group, as in (?<name>…)`,
		`(?<1>a)`:              `JavaScript refuses it: invalid capture group name; write a letter`,
		`(?<x>a)(?<x>b)`:       `JavaScript refuses it: duplicate capture group name; give one another name`,
		`(?<x>a)|(?<\u0078>b)`: `two groups have the name x; give one another name`,
		`(?<x>a)\k<1>`:         `\k<1, and the name of a group is no number; write \1`,
		`a{2147483648}`:        `a number over 2147483647; write a lower one`,
		`(?i)a`:                `JavaScript has no (?i); write a letter of either case as [Aa]`,
		`(?i:a)`:               `only the newest JavaScript has (?i:; write a letter of either case as [Aa]`,
		`b(?-im)a`:             `JavaScript has no (?-im); write a letter of either case`,
		`(?m)^a`:               `JavaScript has no (?m); write (?:^|\n) for ^ and (?=\n|$) for $`,
		`(?s).`:                `JavaScript has no (?s); write [^] for .`,
		`(?x) a`:               `JavaScript has no (?x); remove it, the spaces and the comments`,
		`(?>a)`:                `JavaScript has no (?>; write (?: for a group`,
		`(?#a)`:                `JavaScript has no (?#; remove the comment`,
		`(?P<x>a)`:             `JavaScript has no (?P<; write (?<name>…)`,
		`(?`:                   `JavaScript has no (? and what follows it; write (?: for a group`,
		`[(?]a(?`:              `JavaScript has no (? and`,
		`\u{61}`:               `\u{, which means something only with the flag u; write the characters`,
		`[\p{L}]`:              `\p{, which`, `\P{L}`: `\P{, which`,
	} {
		if _, wrong := Compile(pattern); wrong == nil || !strings.HasPrefix(wrong.Error(), want) {
			t.Errorf("%s: %v; want %s", pattern, wrong, want)
		}
	}
}

// TestGivenUp: a match that takes too long, or too much memory, is what the caller wants it to be.
func TestGivenUp(t *testing.T) {
	slow, wrong := Compile(`^(a|aa)+$`)
	if wrong != nil {
		t.Fatal(wrong)
	}
	slow.engine.MatchTimeout = time.Millisecond
	evil := strings.Repeat("a", 40) + "b"
	large, wrong := Compile(`^(?:ab|.)*?(?=c)$`)
	if wrong != nil {
		t.Fatal(wrong)
	}
	for _, want := range []bool{false, true} {
		slow.GivenUp, large.GivenUp = want, want
		if got := slow.MatchString(evil); got != want {
			t.Errorf("slow: %v", got)
		}
		if got := slow.MatchAny(slices.Values([]string{"b", evil, "aa"})); got != want {
			t.Errorf("a slow line: %v", got)
		}
		if !slow.MatchAny(slices.Values([]string{"b", "aa", evil})) || slow.MatchAny(slices.Values([]string{"b"})) {
			t.Error("quick lines are not matched")
		}
		if got := large.MatchString(strings.Repeat("ab", maxStack)); got != want {
			t.Errorf("large: %v", got)
		}
	}
}

// TestConcurrent: several goroutines can use one expression, with its captures.
func TestConcurrent(t *testing.T) {
	re, wrong := Compile(`^(?:(a+)|(b))*(?!c)\1$`)
	if wrong != nil {
		t.Fatal(wrong)
	}
	texts := []string{"aaaa", "ab", "aabb", "abc", "😀", "bbaa", "c"}
	want := make([]bool, len(texts))
	for i, text := range texts {
		want[i] = re.MatchString(text)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 500 {
				if k := i % len(texts); re.MatchString(texts[k]) != want[k] {
					t.Errorf("%q: not %v", texts[k], want[k])
				}
			}
		})
	}
	all.Wait()
}

// TestCompileLargest: patterns of the largest size in a file compile or are refused, and do not end the program.
func TestCompileLargest(t *testing.T) {
	const size = 64 << 10
	for _, pattern := range []string{
		strings.Repeat("a", size), strings.Repeat("(", size),
		strings.Repeat("(", size/2) + strings.Repeat(")", size/2),
		strings.Repeat("a|", size/2), strings.Repeat("(a{1,1000}", size/20),
		strings.Repeat("(?=", size/4) + strings.Repeat(")", size/4),
		"a{2147483647}", "(?:(?:a{1000}){1000}){1000}",
	} {
		if re, wrong := Compile(pattern); wrong == nil {
			re.MatchString("aaa")
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, c := range cases {
		f.Add(c.pattern, "a😀b")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		stuck := time.AfterFunc(4*maxTime, func() { panic(fmt.Sprintf("%q on %q: it is not given up", pattern, text)) })
		defer stuck.Stop()
		if re, wrong := Compile(pattern); wrong == nil {
			re.engine.MatchTimeout = time.Millisecond
			re.MatchString(text)
		}
	})
}

var (
	withNode = flag.Bool("node", false, "compare with the engine of node")
	seed     = flag.Uint64("node.seed", 2, "")
	patterns = flag.Int("node.patterns", 40_000, "how many patterns are made for -node")
)

// A question to node, and its answer.
type question struct {
	Pattern string   `json:"p"`
	Texts   []string `json:"t"`
}

type answer struct {
	Problem string `json:"e"`
	Slow    bool   `json:"slow"`
	Matches []bool `json:"m"`
}

const script = `
const vm = require("vm");
const tests = new vm.Script("q.t.map(t => re.test(t))");
console.log(require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean).map(line => {
	globalThis.q = JSON.parse(line);
	try {
		globalThis.re = new RegExp(q.p);
		return JSON.stringify({m: tests.runInThisContext({timeout: 500})});
	} catch (e) {
		return JSON.stringify({e: e.message, slow: e.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"});
	}
}).join("\n"));`

// TestNode compares Compile with an engine: over the tables of this package, and over patterns and texts that are
// made. No other match is accepted; what is refused in addition is in the package's comment.
func TestNode(t *testing.T) {
	if !*withNode {
		t.Skip("needs -node")
	}
	r := rand.New(rand.NewPCG(10, *seed))
	var questions []question
	add := func(pattern string, text func(*rand.Rand) string, texts ...string) {
		for range 12 {
			texts = append(texts, text(r))
		}
		questions = append(questions, question{pattern, texts})
	}
	for _, c := range cases {
		add(c.pattern, madeText, append(append([]string{}, c.yes...), c.no...)...)
	}
	for i := range *patterns {
		switch i % 5 {
		case 0:
			add(noise(r), madeText)
		case 1:
			add(capturePattern(r), captureText)
		case 2:
			add(wordPattern(r), wordText)
		default:
			add(madePattern(r, 3), madeText)
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
	var compared, around, matched, invalid, slow int
	isAround := regexp.MustCompile(`\(\?<?[=!]|\\[1-9]|\\k<`)
	for i, q := range questions {
		var a answer
		if err := json.Unmarshal([]byte(lines[i]), &a); err != nil {
			t.Fatal(err)
		}
		re, wrong := Compile(q.Pattern)
		switch {
		case a.Slow:
			slow++
			continue
		case wrong != nil:
			if a.Problem == "" && !strings.Contains(wrong.Found, "only with the flag") {
				t.Errorf("%q: refused with %v; node says %q", q.Pattern, wrong, a.Problem)
			}
			invalid++
			continue
		case a.Problem != "":
			t.Errorf("%q compiles; node says %q", q.Pattern, a.Problem)
			continue
		}
		for k, text := range q.Texts {
			compared++
			if isAround.MatchString(q.Pattern) {
				around++
			}
			if a.Matches[k] {
				matched++
			}
			if re.MatchString(text) != a.Matches[k] {
				t.Errorf("%q on %q: node says %v; it is %s", q.Pattern, text, a.Matches[k], re.engine)
			}
		}
	}
	t.Logf("%d comparisons, %d with look-around or references, %d matches; %d patterns invalid, %d too slow for node",
		compared, around, matched, invalid, slow)
	if compared < 4**patterns || around < *patterns || matched < compared/20 {
		t.Errorf("only %d comparisons, %d with look-around or references, %d matches", compared, around, matched)
	}
}

// alphabet are the characters at which the two dialects differ, and a few others.
var alphabet = strings.Split("a b c k A _ 0 1 8 - . é \u017f \u212a K 😀 𐀀 { } ] / \\ \n \r \t \v \u2028 \u2029 \u0085 \u00a0 \ufeff \u200b \u3000 \x00 \b \x01 \x11 \uffff \ue000 , = ! :", " ")

func one(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }

func madeText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(7) {
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
			b.WriteString(one(r, []string{"(", "(?:", "(", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", fmt.Sprintf("(?<n%d>", r.IntN(1<<40))}))
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
			b.WriteString(one(r, []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{2,}", "{0,3}", "{3}?", "{,2}", "{2", "{0}"}))
		}
	}
	return b.String()
}

var (
	atoms = []string{
		"a", "b", "c", ".", ".", ".", "..", `\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\0`, `\8`, `\1`, `\2`, `\3`, `\1`, `\01`, `\101`, `\cA`, `\c1`, `\c`, `\x41`,
		`\x4`, `\u0061`, `\u006`, `\ud83d\ude00`, "😀", `\ud83d`, `\udc00`, "𐀀", `\.`, `\/`, `\-`, `\k`, `\é`, `\😀`, "{", "}", "]", "é", "\n", "\u2028", `\t`, `\v`, "K", `[^]`, `[]`, "(?:😀)", "-", ",",
	}
	classParts = []string{
		"a", "b", "a-c", "-", "a-", "-a", `\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\w-`, `-\w`, `\b`, `\B`, `\c1`, `\c_`, `\c`, `\cA`, `\0`, `\1`, `\8`, `\101`, `\]`, `\-`, `\k`, "^", "[", ":",
		`\u0080-\uffff`, `\x00-\uffff`, "é", "!-~", `\ud83d\ude00`, "😀", `\ud800-\udbff`, `\udc00-\udfff`,
		`\ud83d-\ud83e`, `\ude00-\uffff`, `a-\udc00`, "b-a", "&&", ".", "$",
	}
)

// noise makes a pattern that is mostly invalid.
func noise(r *rand.Rand) string {
	parts := []string{"(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "\\", "-", ",", "1", "2", "0", "8", "a", "b", "c", "k", "u", "x", "B", "😀", "?:", "?=", "?!", "?<", "?<=", "<n>", "n>", "?<n>", `\k<n>`, `\u`, `\p{L}`, "d83d", "{1}", "{2,1}", "=", "!", ":", "<", ">"}
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(one(r, parts))
	}
	return b.String()
}
