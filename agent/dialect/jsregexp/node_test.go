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
)

var (
	withNode = flag.Bool("node", false, "compare with the engine of node")
	patterns = flag.Int("node.patterns", 40_000, "how many patterns are made for -node")
)

// What is asked of node, and what it says.
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
	for _, found := range []string{"a group with flags", "a group whose name is not ASCII", "a second group", "brackets nested"} {
		if strings.HasPrefix(e.Found, found) {
			return true
		}
	}
	return false
}

// alphabet are the characters at which the two dialects differ, and a few others.
var alphabet = strings.Split("a b c k A _ 0 1 8 - . é \u017f \u212a K 😀 𐀀 { } ] / \\ \n \r \t \v \u2028 \u2029 \u0085 \u00a0 \ufeff \u200b \u3000 \x00 \b \x01 \x11 \uffff \ue000 , = ! :", " ")

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
			b.WriteString(one(r, []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{2,}", "{0,3}", "{3}?", "{,2}", "{2", "{0}"}))
		}
	}
	return b.String()
}

var (
	atoms = []string{
		"a", "b", "c", ".", ".", ".", "..", `\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\0`, `\8`, `\1`, `\01`, `\101`, `\cA`, `\c1`, `\c`, `\x41`,
		`\x4`, `\u0061`, `\u006`, `\ud83d\ude00`, "😀", `\ud83d`, `\udc00`, "𐀀", `\.`, `\/`, `\-`, `\k`, `\é`, `\😀`, "{", "}", "]", "é", "\n", "\u2028", `\t`, `\v`, "K", `[^]`, `[]`, "(?:😀)", "-", ",",
	}
	classParts = []string{
		"a", "b", "a-c", "-", "a-", "-a", `\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\w-`, `-\w`, `\b`, `\B`, `\c1`, `\c_`, `\c`, `\cA`, `\0`, `\1`, `\8`, `\101`, `\]`, `\-`, `\k`, "^", "[", ":",
		`\u0080-\uffff`, `\x00-\uffff`, "é", "!-~", `\ud83d\ude00`, "😀", `\ud800-\udbff`, "b-a", "&&", ".", "$",
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
