package claudecube

import (
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
)

var (
	braceRange = late.Regexp(`^\{(\w+)\.\.(\w+)(?:\.\.(\w+))?\}`)
	braceText  = late.Regexp(`^\{[\w/ -]*\}`)
)

// A group is one that is open.
type group struct {
	open  string // "(", "{", or one of "?(", "*(", "+(" and "!("; "" for braces that are characters
	body  int    // the offset of its content
	comma bool   // braces have one
	inner string // of "!(": what is in it, without parentheses
	outer reading
}

// open begins a group: "(", which belongs to the regular expression, "@(", which is the same, or another.
func (t *translator) open(c byte) {
	g := group{open: string(c) + "(", outer: t.read}
	if c == '(' || c == '@' {
		g.open = "("
	}
	switch {
	case c == '@':
		t.push(other, "@", "")
	case c != '(' && slices.ContainsFunc(t.tokens, func(x token) bool { return x.out != "" }):
		t.push(other, string(c), "")
	case c != '(':
		t.push(other, string(c), t.read.some)
	}
	out := "(?:"
	switch g.open {
	case "(":
		out = "("
	case "!(":
		out = "(?:(?!(?:"
		t.read = t.read.opposite()
	}
	t.push(parenOpen, "(", out)
	t.next += len("?(")
	if c == '(' {
		t.next--
	}
	g.body = t.next
	t.groups = append(t.groups, g)
	if strings.HasPrefix(t.text[t.next:], "?") {
		t.fail(`"(?"`, `write "[?]" for the character, "[^/]" for any`)
	}
}

func (t *translator) close(rest string) {
	if len(t.groups) == 0 || !strings.HasSuffix(t.groups[len(t.groups)-1].open, "(") {
		t.fail(`")" without its "("`, `write '\)' for the character`)
		return
	}
	g := t.groups[len(t.groups)-1]
	out := ")"
	switch g.open {
	case "*(", "+(":
		if unsafeRepetition(t.text[g.body:t.next]) {
			t.fail("a repetition that not all versions of micromatch 4 read alike", "write a regex")
		}
		fallthrough
	case "?(":
		out += g.open[:1]
	case "!(":
		out = t.negation(&g, rest)
	}
	t.read = g.outer
	t.push(parenClose, ")", out)
	t.groups = t.groups[:len(t.groups)-1]
}

// negation returns the end of "!(".
func (t *translator) negation(g *group, rest string) string {
	out, wild := "))"+g.outer.star+")", g.outer.star
	if len(g.inner) > 1 && strings.Contains(g.inner, "/") {
		wild = g.outer.deep
	}
	if wild != g.outer.star || strings.Trim(rest, ")") == "" {
		out = ")$))" + wild
	}
	name, isExtension := strings.CutPrefix(rest, ".")
	if strings.Contains(g.inner, "*") && isExtension && name != "" && !strings.ContainsAny(name, `\/.`) {
		after := &translator{text: rest, read: t.read, tokens: []token{{}}}
		if after.parse(); after.err != nil {
			t.err = after.err
		}
		out = ")" + after.body() + ")" + wild + ")"
	}
	return out
}

// unsafeRepetition reports whether newer versions of micromatch may take "*(" and "+(" for characters, since their
// expressions can take very long.
func unsafeRepetition(body string) bool {
	if strings.Contains(body, "*(") || strings.Contains(body, "+(") {
		return true
	}
	parts := strings.Split(body, "|")
	starts := map[byte]bool{}
	for _, part := range parts {
		part = strings.NewReplacer("@(", "", ")", "", `\`, "", " ", "").Replace(part)
		if len(parts) == 1 {
			break
		}
		if strings.Trim(part, "*?") == "" {
			return true
		}
		if strings.Trim(part, part[:1]) == "" {
			if starts[part[0]] {
				return true
			}
			starts[part[0]] = true
		}
	}
	return false
}

func (t *translator) openBrace() {
	rest := t.text[t.next:]
	if ends := braceRange().FindStringSubmatch(rest); ends != nil {
		t.again = true
		args := slices.DeleteFunc(ends[1:], func(s string) bool { return s == "" })
		slices.Sort(args)
		t.push(brace, ends[0], "["+strings.Join(args, "-")+"]")
		t.next += len(ends[0])
		return
	}
	t.next++
	if braceText().MatchString(rest) {
		t.push(brace, "{", `\{`)
		t.groups = append(t.groups, group{})
		return
	}
	t.push(brace, "{", "(")
	t.groups = append(t.groups, group{open: "{"})
}

func (t *translator) closeBrace() {
	g := t.groups[len(t.groups)-1]
	switch {
	case g.open == "":
		t.push(brace, "}", `\}`)
	case g.open == "{" && g.comma:
		t.push(brace, "}", ")")
	default:
		t.fail("braces without a comma, or across a parenthesis", `write "{a,b}", or a backslash before each brace`)
	}
	t.groups = t.groups[:len(t.groups)-1]
}
