package claudecube

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/internal/late"
)

var textRun = late.Regexp(`^(?s:.)[^@![\].,$*+?^{}()|\\/]*`)

const (
	escapesNothing = "a backslash that escapes nothing, or is the third of a row"
	oneBackslash   = `write '\\\\' for the character, once`
)

type kind int

const (
	begin kind = iota
	literal
	slash
	dot
	star
	globstar
	class
	parenOpen
	parenClose
	brace
	comma
	other
)

type token struct {
	kind kind
	out  string
}

// A translator makes a regular expression from a glob: one token after the other, each depending on those before it,
// because that is how micromatch reads a glob.
type translator struct {
	text    string
	next    int // the offset of the next character
	start   int // the offset of the glob after "!" and "./"
	negated bool
	read    reading
	tokens  []token
	groups  []group
	err     error

	again  bool // micromatch puts the expression together a second time, and loses a text that follows another
	merged bool // a text follows another
	quoted bool
	deep   bool // there is a "**"
	cut    bool // a "**" at the beginning, before which nothing is kept
}

func (t *translator) fail(found, fix string) {
	if t.err == nil {
		t.err = mistake{found, fix}
	}
}

func (t *translator) last() *token { return &t.tokens[len(t.tokens)-1] }

func (t *translator) isIn(opens ...string) bool {
	return slices.ContainsFunc(t.groups, func(g group) bool { return slices.Contains(opens, g.open) })
}

func (t *translator) inBraces() bool { return t.isIn("{", "") }
func (t *translator) inParens() bool { return t.isIn("(", "?(", "*(", "+(", "!(") }

// push adds a token. source is what it was in the glob.
func (t *translator) push(k kind, source, out string) {
	last := t.last()
	if last.kind == globstar && k != slash && k != parenOpen && k != parenClose && (k != other || source != "@") &&
		k != brace && (k != comma || !t.inBraces()) {
		last.kind, last.out = star, t.read.star
	}
	if k != parenOpen && k != parenClose {
		for i := len(t.groups) - 1; i >= 0; i-- {
			if len(t.groups[i].open) == len("!(") {
				t.groups[i].inner += source
				break
			}
		}
	}
	if k == literal && last.kind == literal {
		last.out += out
		t.merged = true
		return
	}
	t.tokens = append(t.tokens, token{k, out})
}

// body returns the expression without its ends.
func (t *translator) body() string {
	var b strings.Builder
	for i, token := range t.tokens {
		if i > 0 || !t.cut || t.again {
			b.WriteString(token.out)
		}
	}
	if k := t.last().kind; k == star || k == class {
		b.WriteString("/?")
	}
	return b.String()
}

// parse translates a glob.
func (t *translator) parse() {
	for t.next < len(t.text) && t.err == nil {
		c, rest := t.text[t.next], t.text[t.next+1:]
		last := t.last().kind
		switch {
		case c == '*' && last == globstar:
			t.fail(`"***"`, `write "**" or "*"`)
		case strings.IndexByte("?*+!@(", c) >= 0 && (c == '(' || strings.HasPrefix(rest, "(")):
			t.open(c)
			continue
		case c == '\\':
			t.escape(rest)
			continue
		case c == '"':
			t.quote(rest)
			continue
		case c == '[':
			t.class()
			continue
		case c == ')':
			t.close(rest)
		case c == '{':
			t.openBrace()
			continue
		case c == '}' && t.inBraces():
			t.closeBrace()
		case c == ']' || c == '}':
			t.push(literal, string(c), `\`+string(c))
		case c == ',' && len(t.groups) > 0 && t.groups[len(t.groups)-1].open == "{":
			t.groups[len(t.groups)-1].comma = true
			t.push(comma, ",", "|")
		case c == ',':
			t.push(comma, ",", ",")
		case c == '/' && last == dot && t.next == t.start+1:
			t.tokens, t.start = t.tokens[:1], t.next+1
		case c == '/':
			t.push(slash, "/", "/")
		case c == '.' && last == dot && t.inBraces():
			t.fail(`".." in braces that are no plain range, as in "{1..3}"`, `write the alternatives, as in "{a,b}"`)
		case c == '.' && (last == begin || last == slash || t.inBraces() || t.inParens()):
			t.push(dot, ".", `\.`)
		case c == '.':
			t.push(literal, ".", `\.`)
		case c == '?' && last == parenClose && strings.HasPrefix(rest, "<"):
			t.fail(`")?<"`, "write another glob")
		case c == '?' && last == parenClose:
			t.push(literal, "?", "?")
		case c == '?' && (last == slash || last == begin):
			t.push(other, "?", t.read.firstChar)
		case c == '?':
			t.push(other, "?", t.read.char)
		case c == '!' && t.next == 0:
			t.negate()
			continue
		case c == '+' && last != parenOpen &&
			(last == class || last == parenClose || last == brace || t.inParens()):
			t.push(other, "+", "+")
		case c == '+':
			t.push(other, "+", `\+`)
		case c == '*':
			t.stars(rest)
		case c == '@' || c == '|':
			t.push(literal, string(c), string(c))
		default:
			run := textRun().FindString(t.text[t.next:])
			t.next += len(run)
			if c == '$' || c == '^' {
				t.push(literal, run, `\`+run)
			} else {
				t.push(literal, run, run)
			}
			continue
		}
		t.next++
	}
	switch {
	case len(t.groups) > 0:
		t.fail("a group or braces without their end", `write a backslash before a character that is meant itself`)
	case t.quoted && (t.again || t.deep), t.again && t.merged:
		t.fail("a range, a class such as [[:alpha:]], or quotes, next to what makes micromatch lose a part of the glob",
			`write the alternatives, as in "{1,2,3}", without quotes`)
	}
}

func (t *translator) escape(rest string) {
	switch {
	case rest == "" || strings.HasPrefix(rest, `\\`):
		t.fail(escapesNothing, oneBackslash)
	case strings.IndexByte("/.;", rest[0]) >= 0:
		t.next++
	default:
		c, size := utf8.DecodeRuneInString(rest)
		t.push(literal, `\`+rest[:size], `\`+rest[:size])
		t.merged = t.merged || c > lastUnit // the backslash is before its first half
		t.next += 1 + size
	}
}

// quote takes a text in quotes into the last token.
func (t *translator) quote(rest string) {
	text, _, closed := strings.Cut(rest, `"`)
	last := t.last()
	if !closed || strings.Contains(text, `\`) || last.kind == star || last.kind == globstar || last.kind == parenOpen {
		t.fail("a quote without its end, with a backslash, or after a star or a parenthesis",
			`write a backslash before a character that is meant itself`)
		return
	}
	last.out += escaped(text)
	t.quoted = true
	t.next += len(text) + 2
}

// escaped puts a backslash before characters of regular expressions, as micromatch does.
func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte("-*+?.^${}(|)[]", text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// negate reads the "!" at the beginning.
func (t *translator) negate() {
	count := len(t.text) - len(strings.TrimLeft(t.text, "!"))
	if strings.HasPrefix(t.text[count:], "(") {
		count--
	}
	t.next, t.start = count, count-1
	if count%2 == 1 {
		t.start = count
		t.negated = true
		t.read = t.read.opposite()
	}
}

// stars reads one star, or the second of two.
func (t *translator) stars(rest string) {
	last := t.last()
	if last.kind != star {
		if t.next == t.start || last.kind == slash || last.kind == dot {
			if last.kind == dot {
				last.out += t.read.afterDot
			} else {
				last.out += t.read.noDot
			}
			if !strings.HasPrefix(rest, "*") {
				last.out += t.read.some
			}
		}
		t.push(star, "*", t.read.star)
		return
	}
	prior := &t.tokens[len(t.tokens)-2]
	switch prior.kind {
	case slash, begin, parenOpen, parenClose:
	default:
		if !t.inBraces() || prior.kind != comma && prior.kind != brace {
			t.push(star, "*", "")
			return
		}
	}
	for strings.HasPrefix(rest, "/**") && (len(rest) == 3 || rest[3] == '/') {
		rest = rest[3:]
		t.next += 3
	}
	t.deep = true
	last.kind, last.out = globstar, t.read.deep
	before := begin
	if len(t.tokens) > 2 {
		before = t.tokens[len(t.tokens)-3].kind
	}
	below := prior.kind == slash && before != begin // of a directory with a name
	switch {
	case rest == "" && prior.kind == begin:
		t.cut = true
	case t.read == broad && rest == "" && prior.kind == slash:
		prior.out, last.out = "(?:"+prior.out, t.read.deep+")?"
	case t.read == broad && strings.HasPrefix(rest, "/"):
		last.out = "(?:" + t.read.deep + "/)?"
		t.slashAfter()
	case below && rest == "" && before != star && before != globstar:
		prior.out, last.out = "(?:"+prior.out, t.read.deep+"|$)"
	case below && strings.HasPrefix(rest, "/"):
		end := ""
		if rest != "/" {
			end = "|$"
		}
		prior.out, last.out = "(?:"+prior.out, t.read.deep+"/|/"+end+")"
		t.slashAfter()
	case prior.kind == begin && strings.HasPrefix(rest, "/"):
		t.cut = true
		last.out = "(?:^|/|" + t.read.deep + "/)"
		t.slashAfter()
	}
}

// slashAfter takes the slash after "**", which is part of its expression.
func (t *translator) slashAfter() {
	t.push(slash, "/", "")
	t.next++
}
