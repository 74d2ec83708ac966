package jsregexp

import "fmt"

// escape reads what follows a backslash, if that is a set of characters; inClass: within [ ].
func (p *parser) escape(from int, inClass bool) (set, bool) {
	c := p.peek(0)
	sets := map[rune]set{'d': digits, 'D': digits.not(), 's': spaces, 'S': spaces.not(), 'w': words, 'W': words.not()}
	if s, ok := sets[c]; ok {
		p.at++
		return s, true
	}
	switch {
	case c < 0:
		p.fail(from, "a backslash at the end", `write \\ for the character`)
	case (c == 'p' || c == 'P' || c == 'u') && p.peek(1) == '{':
		p.refuse(from, fmt.Sprintf(`\%c{, which means something only with the flag u`, c),
			`name the characters; one of them is \u and four hexadecimal digits`)
	case c == 'k' && p.named:
		p.at++
		name := ""
		ok := !inClass && p.take("<")
		if ok {
			name, ok = p.upTo('>')
		}
		if !ok {
			p.fail(from, `\k without a name in a pattern that has groups with names`, "remove the backslash")
		}
		p.refs = append(p.refs, name)
		p.refuse(from, `the back-reference \k<`+name+">", "RE2 has none: write what the group matches again")
		return nil, true
	case '1' <= c && c <= '9' && !inClass:
		at := p.at
		if n, _ := p.number(); n <= p.groups {
			p.refuse(from, fmt.Sprintf(`the back-reference \%d`, n), "RE2 has none: write what the group matches again")
			return nil, true
		}
		p.at = at
	}
	return nil, false
}

// character reads the character after a backslash.
func (p *parser) character(from int, inClass bool) rune {
	if p.stopped {
		return 0
	}
	c := p.peek(0)
	p.at++
	switch c {
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	case 'c':
		x := p.peek(0)
		letter := 'a' <= x|0x20 && x|0x20 <= 'z'
		if letter || inClass && ('0' <= x && x <= '9' || x == '_') {
			p.at++
			return x % 32
		}
		p.at = from + 1 // the backslash is a character, and so is the c
		return '\\'
	case 'x', 'u':
		digits := map[rune]int{'x': 2, 'u': 4}[c]
		if n, ok := p.hex(digits); ok {
			p.at += digits
			return n
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := c - '0'
		for range 2 {
			if d := p.peek(0); '0' <= d && d <= '7' && n*8+d-'0' < 256 {
				n = n*8 + d - '0'
				p.at++
			} else {
				break
			}
		}
		return n
	}
	return c
}

// hex returns the number that so many hexadecimal digits ahead are.
func (p *parser) hex(digits int) (n rune, ok bool) {
	for i := range digits {
		c := p.peek(i)
		switch {
		case '0' <= c && c <= '9':
			n = n*16 + c - '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n*16 + (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
	}
	return n, true
}

// class reads the rest of [...].
func (p *parser) class(from int) set {
	negated := p.take("^")
	var sets []set
	for !p.stopped && !p.take("]") {
		if p.peek(0) < 0 {
			p.fail(from, "a [ that is not closed", `close it, or write \[ for the character`)
			break
		}
		start := p.at
		first, isSet := p.classAtom()
		if p.peek(0) != '-' || p.peek(1) == ']' || p.peek(1) < 0 {
			sets = append(sets, first)
			continue
		}
		p.at++
		last, lastIsSet := p.classAtom()
		switch {
		case p.stopped:
		case isSet || lastIsSet: // the hyphen is one
			sets = append(sets, first, set{'-', '-'}, last)
		case last[0] < first[0]:
			p.fail(start, "a range whose end is before its beginning",
				`write the lower character first, or \- for a hyphen`)
		default:
			sets = append(sets, set{first[0], last[0]})
		}
	}
	all := union(sets...)
	if negated {
		all = all.not()
	}
	return all
}

// classAtom reads one part of a class; isSet marks one that cannot end a range.
func (p *parser) classAtom() (s set, isSet bool) {
	from := p.at
	c := p.peek(0)
	p.at++
	if c == '\\' {
		if s, ok := p.escape(from, true); ok {
			return s, true
		}
		if p.peek(0) == 'b' {
			p.at++
			c = '\b'
		} else {
			c = p.character(from, true)
		}
	}
	return set{c, c}, false
}
