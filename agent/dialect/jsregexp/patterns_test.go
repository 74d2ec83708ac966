package jsregexp

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A groupMaker makes valid patterns of groups, references and look-around over few characters, so that a capture that
// is not reset, or is read in the wrong order, changes which texts match.
type groupMaker struct {
	r     *rand.Rand
	named bool // every group has a name, and \k refers to one
	count int  // groups so far
	room  int  // atoms that may follow
}

// capturePattern makes a pattern of at most 12 atoms.
func capturePattern(r *rand.Rand) string {
	m := &groupMaker{r: r, named: r.IntN(3) == 0, room: 4 + r.IntN(9)}
	body := m.alternatives(4)
	for strings.Contains(body, "REF") { // a reference can be to a group that follows, or to none
		n := 1 + r.IntN(m.count+1)
		ref := fmt.Sprintf(`\%d`, n)
		if m.named && n <= m.count && r.IntN(2) == 0 {
			ref = fmt.Sprintf(`\k<g%d>`, n)
		}
		body = strings.Replace(body, "REF", ref, 1)
	}
	return one(r, []string{"^", "", "^", "(?<=^|b)"}) + body + one(r, []string{"$", "", "$", "(?!a)"})
}

func (m *groupMaker) alternatives(depth int) string {
	parts := []string{m.sequence(depth)}
	for m.r.IntN(3) == 0 {
		parts = append(parts, m.sequence(depth))
	}
	if m.r.IntN(12) == 0 {
		parts = append(parts, "")
	}
	return strings.Join(parts, "|")
}

func (m *groupMaker) sequence(depth int) string {
	var b strings.Builder
	for range 1 + m.r.IntN(3) {
		if m.room--; m.room < 0 {
			break
		}
		atom, repeats := m.atom(depth)
		b.WriteString(atom)
		if repeats && m.r.IntN(3) == 0 {
			b.WriteString(one(m.r, []string{
				"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{2,}", "{0,3}?", "{0}", "{0,1}", "{1}", "{2,3}?",
			}))
		}
	}
	return b.String()
}

func (m *groupMaker) atom(depth int) (text string, repeats bool) {
	if depth > 0 && m.room > 0 {
		switch m.r.IntN(10) {
		case 0, 1, 2, 3:
			m.count++
			opened := "("
			if m.named {
				opened = fmt.Sprintf("(?<g%d>", m.count)
			}
			return opened + m.alternatives(depth-1) + ")", true
		case 4:
			return "(?:" + m.alternatives(depth-1) + ")", true
		case 5:
			return one(m.r, []string{"(?=", "(?!"}) + m.alternatives(depth-1) + ")", true
		case 6:
			return one(m.r, []string{"(?<=", "(?<!"}) + m.alternatives(depth-1) + ")", false
		}
	}
	switch m.r.IntN(12) {
	case 0, 1, 2:
		return "REF", true
	case 3:
		return one(m.r, []string{"^", "$", `\b`, `\B`}), false
	case 4:
		return one(m.r, []string{
			"[ab]", "[^a]", "[^]", "[]", `[\b]`, `\s`, "[😀]", "😀", `\ud83d`, `\ude00`, `\w`, `\W`, "[^😀a]",
		}), true
	}
	return one(m.r, []string{"a", "b", ".", "a", "b", "ab", "A"}), true
}

// captureText makes a text that such a pattern may match.
func captureText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteString(one(r, []string{"a", "b", "a", "b", "a", "b", "a", "b", "A", "\n", "😀", "\u2028"}))
	}
	return b.String()
}

// wordPattern makes a pattern of words, like those of the public rules: the engine searches for these words first.
func wordPattern(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(one(r, []string{"", "", "", "^", `\b`, "(?:^|/)", "(?<!-)", ".*", `^\s*`, "[^]*"}))
	open := 0
	for range 1 + r.IntN(4) {
		w := one(r, words)
		switch r.IntN(8) {
		case 0:
			w = "(?:" + w + "|" + one(r, words) + "|" + one(r, words) + ")"
		case 1:
			w = "(" + w + "|" + one(r, words) + `).*\1`
		case 2:
			w = "[-" + strings.ToUpper(w[len(w)-1:]) + "]?" + w
		case 3:
			w = "(?:" + w + ")?"
		case 4:
			w += one(r, []string{"$", `\b`, "(?!x)", `(?<!\.)`, `(?=\s|$)`, "?", "s*", "[^a-z]"})
		case 5:
			w = one(r, []string{"(?=.*", "(?!", "(?<!"}) + w
			open++
		}
		b.WriteString(w)
		b.WriteString(one(r, []string{
			"", "", `\s+`, " ", ".*", `\s*`, ".*?", `[^|]*`, `[\s\S]*?`, `\b`, "/", `(?:\s+\S+)*\s+`, "+", "{2}",
		}))
	}
	return b.String() + strings.Repeat(")", open)
}

// wordText makes a text of several lines.
func wordText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(one(r, words))
		b.WriteString(one(r, []string{" ", "", "/", "\n", "  ", "s", "x", " 😀", "é", "\t", "-", "\u2028"}))
	}
	return b.String()
}

var words = []string{
	"git", "push", "--force", "rm", "-rf", "😀", "pushd", "sudo", "gi", "café", "https://", "env", "-f", "main", "/tmp",
}
