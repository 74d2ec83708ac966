package jsregexp

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep brackets may be nested.
const maxDepth = 200

// maxCount is RE2's limit.
const maxCount = 1000

// A parser reads a pattern as the grammar of Annex B has it, and makes grids of it.
type parser struct {
	sum
	units   []uint16
	at      int
	groups  int      // in the whole pattern, those that capture
	named   bool     // one of them has a name: \k is a reference then
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

// fail notes what JavaScript refuses, which is said before anything else.
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

func (p *parser) pattern() *node {
	g := p.alternatives()
	if p.at < len(p.units) {
		p.fail(p.at, "a ) that closes nothing", `write \) for the character`)
	}
	for _, name := range p.refs {
		if !slices.Contains(p.names, name) {
			p.fail(0, fmt.Sprintf(`a back-reference to %s, but no group has that name`, name), "remove it")
		}
	}
	return p.found(g)
}

// alternatives reads up to a ) or the end.
func (p *parser) alternatives() grid {
	list := []grid{p.terms()}
	for p.take("|") {
		list = append(list, p.terms())
	}
	return p.choice(list)
}

// terms reads up to a |, a ) or the end.
func (p *parser) terms() grid {
	var list []grid
	for c := p.peek(0); c >= 0 && c != '|' && c != ')'; c = p.peek(0) {
		list = append(list, p.term())
	}
	return p.sequence(list)
}

// An atom is what a quantifier may follow.
type atom struct {
	grid   grid
	half   rune // if it is half a character, which of them; else 0
	anchor bool // no quantifier may follow it
}

func (p *parser) term() grid {
	from := p.at
	a := p.atom()
	if low, n := p.low(); n > 0 && firstHalf <= a.half && a.half < lowHalf {
		p.at += n
		r := utf16.DecodeRune(a.half, low)
		a = atom{grid: whole(class(set{r, r}))}
		if _, _, ok := p.quantifier(); ok {
			p.refuse(from, fmt.Sprintf("a quantifier after the character U+%X, which repeats only its second half", r), "put the character in (?:...)")
		}
		return a.grid
	}
	if a.half != 0 {
		p.refuse(from, fmt.Sprintf("half of a character beyond U+FFFF, U+%04X", a.half), "write the whole character")
	}
	start := p.at
	least, most, ok := p.quantifier()
	switch {
	case !ok:
		return a.grid
	case a.anchor:
		p.fail(start, "a quantifier with nothing to repeat before it", "put a backslash before it for the character")
		return a.grid
	}
	return p.quantified(a.grid, least, most)
}

// low returns the second half of a character, if it is next, and how many units it is written with.
func (p *parser) low() (half rune, units int) {
	c, n := p.peek(0), 1
	if c == '\\' && p.peek(1) == 'u' {
		p.at += 2
		c, _ = p.hex(4)
		p.at -= 2
		n = 6
	}
	if lowHalf <= c && c <= lastHalf {
		return c, n
	}
	return 0, 0
}

// quantifier reads one, if there is one.
func (p *parser) quantifier() (least, most int, ok bool) {
	from := p.at
	switch {
	case p.take("*"):
		least, most = 0, -1
	case p.take("+"):
		least, most = 1, -1
	case p.take("?"):
		least, most = 0, 1
	case p.peek(0) == '{':
		least, most, ok = p.counts()
		if !ok {
			p.at = from
			return 0, 0, false
		}
		if most >= 0 && most < least {
			p.fail(from, "a count whose end is before its beginning", "write the smaller number first")
			return 0, 0, false
		}
		if max(least, most) > maxCount {
			p.refuse(from, fmt.Sprintf("a count over %d", maxCount), "write a smaller one, or {n,} for n or more")
			least, most = 1, 1
		}
	default:
		return 0, 0, false
	}
	p.take("?") // lazy: which match is found first is all that it changes
	return least, most, true
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

func (p *parser) atom() atom {
	from := p.at
	c := p.peek(0)
	p.at++
	place := func(text string) atom {
		n := &node{kind: anchor, text: text, size: 1}
		return atom{grid: whole(n), anchor: true}
	}
	switch c {
	case '^':
		return place(`\A`)
	case '$':
		return place(`\z`)
	case '.':
		return atom{grid: unit(lineEnds.not())}
	case '(':
		return p.group(from)
	case '[':
		return atom{grid: p.class(from)}
	case '*', '+', '?':
		p.fail(from, "a quantifier with nothing to repeat before it", "put a backslash before it for the character")
		return atom{}
	case '{':
		p.at = from
		if _, _, ok := p.counts(); ok {
			p.fail(from, "a quantifier with nothing to repeat before it", "put a backslash before it for the character")
			return atom{}
		}
		p.at = from + 1
	case '\\':
		switch p.peek(0) {
		case 'b':
			p.at++
			return place(`\b`)
		case 'B':
			p.at++
			a := place(`\B`)
			a.grid[1][1] = &node{} // no half is of a word
			return a
		}
		if s, ok := p.escape(from, false); ok {
			return atom{grid: unit(s)}
		}
		c = p.character(from, false)
	}
	if firstHalf <= c && c <= lastHalf {
		return atom{half: c}
	}
	return atom{grid: unit(set{c, c})}
}

func (p *parser) group(from int) atom {
	anchor := false
	switch {
	case p.take("?:"):
	case p.take("?="), p.take("?!"):
		p.refuse(from, "look-ahead, (?= or (?!", "RE2 has none: write what may follow, or a rule for the exception")
	case p.take("?<="), p.take("?<!"):
		p.refuse(from, "look-behind, (?<= or (?<!", "RE2 has none: write what may come before, or a rule for the exception")
		anchor = true
	case p.take("?<"):
		p.name(from)
	case p.flags():
		p.refuse(from, "a group with flags, as (?i:", "remove them: only the newest engines read them; write [aA] for both cases")
		p.stop()
	case p.peek(0) == '?':
		p.fail(from, "a group that begins with (? but none of : = ! <", "write (?: or (")
	}
	if p.depth++; p.depth > maxDepth {
		p.refuse(from, fmt.Sprintf("brackets nested more than %d deep", maxDepth), "write fewer")
		p.stop()
	}
	g := p.alternatives()
	p.depth--
	if !p.take(")") {
		p.fail(from, "a ( that is not closed", `close it, or write \( for the character`)
	}
	return atom{grid: g, anchor: anchor}
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

// name reads the rest of (?<name>. Which letters a name may have besides ASCII's, and whether two
// groups may have one name, depends on the engine.
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
