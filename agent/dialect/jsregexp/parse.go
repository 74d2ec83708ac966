package jsregexp

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep brackets may be nested.
const maxDepth = 200

// maxCount is RE2's limit.
const maxCount = 1000

// A parser reads a pattern by the grammar of Annex B, and writes it in RE2's syntax.
type parser struct {
	units   []uint16
	at      int
	groups  int      // capturing ones in the whole pattern
	named   bool     // one of them has a name: \k is then a reference
	names   []string // so far
	refs    []string // the names that \k has asked for
	depth   int
	err     *Error
	stopped bool
}

// refuse notes what RE2 cannot do. The parser goes on, to see whether JavaScript can.
func (p *parser) refuse(at int, found, fix string) {
	if p.err == nil {
		p.err = &Error{At: at, Found: found, Fix: fix}
	}
}

// fail records a mistake in JavaScript's sense, which is reported first.
func (p *parser) fail(at int, found, fix string) {
	if !p.stopped {
		p.err = &Error{At: at, Found: found, Fix: fix, Invalid: true}
		p.stop()
	}
}

// stop goes to the end of the pattern, where all functions return, and lets nothing more be noted.
func (p *parser) stop() {
	p.at, p.stopped = len(p.units), true
}

// peek returns the unit that is ahead by so many, or -1 after the end.
func (p *parser) peek(ahead int) rune {
	if p.at+ahead >= len(p.units) {
		return -1
	}
	return rune(p.units[p.at+ahead])
}

func (p *parser) take(text string) bool {
	for i, c := range []byte(text) {
		if p.peek(i) != rune(c) {
			return false
		}
	}
	p.at += len(text)
	return true
}

// count returns how many groups of the whole pattern capture, and whether one has a name.
func (p *parser) count() (groups int, named bool) {
	inClass := false
	for i := 0; i < len(p.units); i++ {
		next := func(n int) uint16 {
			if i+n < len(p.units) {
				return p.units[i+n]
			}
			return 0
		}
		switch {
		case p.units[i] == '\\':
			i++
		case p.units[i] == '[':
			inClass = true
		case p.units[i] == ']':
			inClass = false
		case p.units[i] == '(' && !inClass:
			if next(1) != '?' {
				groups++
			} else if next(2) == '<' && next(3) != '=' && next(3) != '!' {
				groups++
				named = true
			}
		}
	}
	return groups, named
}

func (p *parser) pattern() string {
	text := p.alternatives()
	if p.at < len(p.units) {
		p.fail(p.at, "a ) that closes nothing", `write \) for the character`)
	}
	for _, name := range p.refs {
		if !slices.Contains(p.names, name) {
			p.fail(0, fmt.Sprintf(`a back-reference to %s, but no group has that name`, name), "remove it")
		}
	}
	return text
}

// alternatives reads up to a ) or the end.
func (p *parser) alternatives() string {
	list := []string{p.terms()}
	for p.take("|") {
		list = append(list, p.terms())
	}
	return strings.Join(list, "|")
}

// terms reads up to a |, a ) or the end.
func (p *parser) terms() string {
	var b strings.Builder
	for c := p.peek(0); c >= 0 && c != '|' && c != ')'; c = p.peek(0) {
		text, anchor := p.atom()
		b.WriteString(text)
		start := p.at
		if count, ok := p.quantifier(); ok && anchor {
			p.fail(start, "a quantifier with nothing to repeat before it",
				"put a backslash before it for the character")
		} else {
			b.WriteString(count)
		}
	}
	return b.String()
}

// quantifier reads a quantifier, if any.
func (p *parser) quantifier() (text string, ok bool) {
	from := p.at
	switch {
	case p.take("*"):
		text = "*"
	case p.take("+"):
		text = "+"
	case p.take("?"):
		text = "?"
	case p.peek(0) == '{':
		least, most, ok := p.counts()
		switch {
		case !ok:
			p.at = from
			return "", false
		case most >= 0 && most < least:
			p.fail(from, "a count whose end is before its beginning", "write the smaller number first")
			return "", false
		case max(least, most) > maxCount:
			p.refuse(from, fmt.Sprintf("a count over %d", maxCount), "write a smaller one, or {n,} for n or more")
		}
		text = fmt.Sprintf("{%d,%d}", least, most)
		if most < 0 {
			text = fmt.Sprintf("{%d,}", least)
		}
	default:
		return "", false
	}
	p.take("?") // lazy: which match is found first is all that it changes
	return text, true
}

// counts reads {n}, {n,} or {n,m}. Numbers that are much too large are 1<<30.
func (p *parser) counts() (least, most int, ok bool) {
	p.take("{")
	least, ok = p.number()
	if !ok {
		return 0, 0, false
	}
	most = least
	if p.take(",") {
		if most, ok = p.number(); !ok {
			most = -1
		}
	}
	return least, most, p.take("}")
}

func (p *parser) number() (n int, ok bool) {
	for c := p.peek(0); '0' <= c && c <= '9'; c = p.peek(0) {
		n, ok = min(n*10+int(c-'0'), 1<<30), true
		p.at++
	}
	return n, ok
}

// atom reads an atom, which may be quantified, or an anchor, which may not.
func (p *parser) atom() (text string, anchor bool) {
	from := p.at
	c := p.peek(0)
	p.at++
	switch c {
	case '^':
		return `\A`, true
	case '$':
		return `\z`, true
	case '.':
		return lineEnds.not().String(), false
	case '(':
		return p.group(from)
	case '[':
		return p.class(from).String(), false
	case '*', '+', '?':
		p.fail(from, "a quantifier with nothing to repeat before it", "put a backslash before it for the character")
		return "", false
	case '{':
		p.at = from
		if _, _, ok := p.counts(); ok {
			p.fail(from, "a quantifier with nothing to repeat before it", "put a backslash before it for the character")
			return "", false
		}
		p.at = from + 1
	case '\\':
		if p.take("b") {
			return `\b`, true
		}
		if p.take("B") {
			return `\B`, true
		}
		if s, ok := p.escape(from, false); ok {
			return s.String(), false
		}
		c = p.character(from, false)
	}
	return set{c, c}.String(), false
}

// group reads the rest of (...). Look-behind is an anchor.
func (p *parser) group(from int) (text string, anchor bool) {
	switch {
	case p.take("?:"):
	case p.take("?="), p.take("?!"):
		p.refuse(from, "look-ahead, (?= or (?!", "RE2 has none: write what may follow, or a rule for the exception")
	case p.take("?<="), p.take("?<!"):
		p.refuse(from, "look-behind, (?<= or (?<!",
			"RE2 has none: write what may come before, or a rule for the exception")
		anchor = true
	case p.take("?<"):
		p.name(from)
	case p.flags():
		p.refuse(from, "a group with flags, as (?i:",
			"remove them: only the newest engines read them; write [aA] for both cases")
		p.stop()
	case p.peek(0) == '?':
		p.fail(from, "a group that begins with (? but none of : = ! <", "write (?: or (")
	}
	if p.depth++; p.depth > maxDepth {
		p.refuse(from, fmt.Sprintf("brackets nested more than %d deep", maxDepth), "write fewer")
		p.stop()
	}
	text = p.alternatives()
	p.depth--
	if !p.take(")") {
		p.fail(from, "a ( that is not closed", `close it, or write \( for the character`)
	}
	return "(?:" + text + ")", anchor
}

// flags reports whether ?, flags and a colon are next. For the colon alone group has looked before.
func (p *parser) flags() bool {
	if p.peek(0) != '?' {
		return false
	}
	n := 1
	for slices.Contains([]rune{'i', 'm', 's', '-'}, p.peek(n)) {
		n++
	}
	return p.peek(n) == ':'
}

// name reads the rest of (?<name>. It depends on the engine which letters a name may have in addition to ASCII's, and
// whether two groups may share a name.
func (p *parser) name(from int) {
	name, ok := p.upTo('>')
	ascii := true
	for i, r := range name {
		ok = ok && (r == '$' || r == '_' || unicode.IsLetter(r) || i > 0 && unicode.IsDigit(r))
		ascii = ascii && r < utf8.RuneSelf && r != '\\'
	}
	switch {
	case !ok && ascii, name == "":
		p.fail(from, "a group whose name is not a word", "name it with letters and digits, or remove the name")
	case !ascii:
		p.refuse(from, "a group whose name is not ASCII", "name it with letters and digits, or remove the name")
		p.stop()
	case slices.Contains(p.names, name):
		p.refuse(from, fmt.Sprintf("a second group named %s", name), "rename it")
		p.stop()
	}
	p.names = append(p.names, name)
}

// upTo reads a text that ends with a character, and the character.
func (p *parser) upTo(end rune) (text string, ok bool) {
	start := min(p.at, len(p.units))
	for p.peek(0) >= 0 && p.peek(0) != end {
		p.at++
	}
	text = string(utf16.Decode(p.units[start:min(p.at, len(p.units))]))
	return text, p.take(string(end))
}
