package attributes

import (
	"slices"
	"strings"
)

// A pattern says which paths a line is about. One without a slash is about the last name of a path, one with a slash
// about the path from the file's folder on.
type pattern struct {
	name    bool   // no slash: the last name
	never   bool   // it ends in a slash, is empty or malformed: no file matches
	literal string // all of it, if it has no wildcard
	least   int    // bytes that a match has, at the least
	tokens  []token
}

type kind uint8

const (
	char    kind = iota // one byte
	one                 // "?": any byte but a slash
	class               // "[...]"
	star                // "*": any bytes but slashes
	stars               // "**": any bytes
	dirs                // "**/": nothing, or what follows in the token behind it
	dirsEnd             // any bytes, and a slash
)

// A token is a part of a pattern. Each but star, stars and dirs takes a byte, or more of its kind.
type token struct {
	kind    kind
	c       byte
	escaped bool          // after a backslash, where git forgets to fold c
	members *[2][4]uint64 // of a class, with letter case and without
}

const special = "*?[\\"

// A starStyle is what a version of git makes of two stars that are not alone between slashes.
type starStyle uint8

const (
	strictStars starStyle = iota // 2.52 and later: one star
	looseStars                   // 2.20 to 2.51: the same, but what precedes the first wildcard is cut off first
	brokenStars                  // before: as those, but no match instead of one star
	starStyles                   // how many there are
)

// newPattern returns the pattern of a text. odd says that a style makes a difference.
func newPattern(text string, style starStyle) (p pattern, odd bool) {
	text, folder := strings.CutSuffix(text, "/")
	p = pattern{never: folder || text == "", name: !strings.Contains(text, "/")}
	text = strings.TrimPrefix(text, "/")
	if p.never {
		return p, false
	}
	first := strings.IndexAny(text, special)
	if first < 0 {
		p.literal = text
		return p, false
	}
	for i := 0; i < len(text); i++ {
		t := token{kind: char, c: text[i]}
		switch text[i] {
		case '\\':
			if i++; i == len(text) {
				p.never = true
				return p, odd
			}
			t.c, t.escaped = text[i], true
		case '?':
			t.kind = one
		case '[':
			t.kind, t.members = class, new([2][4]uint64)
			n := t.parse(text[i:])
			if n < 0 {
				p.never = true
				return p, odd
			}
			i += n - 1
		case '*':
			from := i
			for i+1 < len(text) && text[i+1] == '*' {
				i++
			}
			rest := text[i+1:]
			whole := rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)
			if from > 0 && text[from-1] != '/' {
				whole = whole && from == first && style != strictStars
			}
			alone := whole && (from == 0 || text[from-1] == '/')
			odd = odd || !p.name && i > from && !alone
			switch {
			case p.name:
				t.kind = stars
			case i == from:
				t.kind = star
			case !whole && style == brokenStars:
				p.never = true
				return p, true
			case !whole:
				t.kind = star
			case strings.HasPrefix(rest, "/"):
				t.kind = dirs
				p.tokens = append(p.tokens, t)
				t.kind = dirsEnd
				i++
			default:
				t.kind = stars
			}
		}
		if t.kind <= class {
			p.least++
		}
		p.tokens = append(p.tokens, t)
	}
	return p, odd
}

// matches reports whether a path matches. beneath is its part within the file's folder, and base its last name.
func (p *pattern) matches(beneath, base string, fold bool) bool {
	text := beneath
	if p.name {
		text = base
	}
	switch {
	case p.never:
		return false
	case p.tokens == nil:
		return text == p.literal || fold && equalFold(text, p.literal)
	case len(text) < p.least:
		return false
	}
	return p.run(text, fold)
}

// run follows all ways to read the text at once, so that its time is at most the product of both lengths.
func (p *pattern) run(text string, fold bool) bool {
	n := len(p.tokens)
	now, next := make([]bool, n+1), make([]bool, n+1)
	now[0] = true
	for i := range len(text) {
		p.skip(now)
		clear(next)
		any := false
		for k, at := range now[:n] {
			if !at {
				continue
			}
			t := &p.tokens[k]
			switch c := text[i]; t.kind {
			case stars:
				next[k] = true
			case star:
				next[k] = next[k] || c != '/'
			case dirs:
				continue
			case dirsEnd:
				next[k], next[k+1] = true, next[k+1] || c == '/'
			default:
				next[k+1] = next[k+1] || t.takes(c, fold)
			}
			any = any || next[k] || next[k+1]
		}
		if !any {
			return false
		}
		now, next = next, now
	}
	p.skip(now)
	return now[n]
}

// skip adds where a way leads that takes no byte.
func (p *pattern) skip(now []bool) {
	for k, at := range now[:len(p.tokens)] {
		if !at {
			continue
		}
		switch p.tokens[k].kind {
		case star, stars:
			now[k+1] = true
		case dirs:
			now[k+1], now[k+2] = true, true
		}
	}
}

// takes reports whether a token of one byte takes c.
func (t *token) takes(c byte, fold bool) bool {
	if fold {
		c = lower(c)
	}
	switch t.kind {
	case one:
		return c != '/'
	case class:
		i := 0
		if fold {
			i = 1
		}
		return c != '/' && t.members[i][c/64]>>(c%64)&1 == 1
	}
	if fold && !t.escaped {
		return c == lower(t.c)
	}
	return c == t.c
}

// parse reads the class that text begins with, and returns its length; -1 if it does not end, or names a class that git
// does not know.
func (t *token) parse(text string) int {
	i := 1
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	var before byte // what a range begins with; 0: nothing can
	for first := true; i < len(text); first, i = false, i+1 {
		c := text[i]
		switch {
		case c == ']' && !first:
			if negated {
				t.negate()
			}
			return i + 1
		case c == '-' && before != 0 && i+1 < len(text) && text[i+1] != ']':
			if i++; text[i] == '\\' {
				i++
			}
			if i == len(text) {
				return -1
			}
			t.addRange(before, text[i])
			before = 0
		case strings.HasPrefix(text[i:], "[:"):
			end := strings.IndexByte(text[i+2:], ']')
			if end < 0 {
				return -1
			}
			name, isClass := strings.CutSuffix(text[i+2:i+2+end], ":")
			if !isClass {
				before = c
				t.add(c)
				continue
			}
			if !t.addClass(name) {
				return -1
			}
			before = 0
			i += 2 + end
		case c == '\\':
			if i++; i == len(text) {
				return -1
			}
			before = text[i]
			t.add(before)
		default:
			before = c
			t.add(c)
		}
	}
	return -1
}

func (t *token) negate() {
	for f := range t.members {
		for k := range t.members[f] {
			t.members[f][k] = ^t.members[f][k]
		}
	}
}

func (t *token) set(fold int, c byte) { t.members[fold][c/64] |= 1 << (c % 64) }

// add adds one byte. Where letter case does not count, the text's letters are lower and an upper one matches nothing,
// as in git.
func (t *token) add(c byte) {
	t.set(0, c)
	t.set(1, c)
}

// addRange adds a range, and where letter case does not count its upper letters as lower ones.
func (t *token) addRange(from, to byte) {
	for c := int(from); c <= int(to); c++ {
		t.add(byte(c))
		t.set(1, lower(byte(c)))
	}
}

// addClass adds a class by its name. White space is what git takes for it.
func (t *token) addClass(name string) bool {
	member, known := classes()[name]
	if !known {
		return false
	}
	for c := range 0x80 {
		if member(byte(c)) {
			t.add(byte(c))
			if name == "upper" {
				t.set(1, lower(byte(c)))
			}
		}
	}
	return true
}

func classes() map[string]func(byte) bool {
	upper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	lower := func(c byte) bool { return 'a' <= c && c <= 'z' }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	alpha := func(c byte) bool { return upper(c) || lower(c) }
	alnum := func(c byte) bool { return alpha(c) || digit(c) }
	graph := func(c byte) bool { return '!' <= c && c <= '~' }
	return map[string]func(byte) bool{
		"upper": upper, "lower": lower, "digit": digit, "alpha": alpha, "alnum": alnum, "graph": graph,
		"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
		"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
		"print":  func(c byte) bool { return graph(c) || c == ' ' },
		"punct":  func(c byte) bool { return graph(c) && !alnum(c) },
		"space":  func(c byte) bool { return slices.Contains([]byte(" \t\r\n"), c) },
		"xdigit": func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' },
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// equalFold compares without the case of ASCII letters, as git does.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}
