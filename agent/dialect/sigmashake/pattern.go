package sigmashake

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/policyscan/policyscan/agent/dialect/jsregexp"
)

// maxRegex is how long a regular expression may be, in UTF-16 units as JavaScript counts them.
const maxRegex = 500

// compile makes a regular expression of the text of GLOB, WORD or REGEX.
func (p *parser) compile(op, text string) compiled {
	at := pattern{op, text}
	c, known := p.patterns[at]
	if known {
		return c
	}
	switch op {
	case "GLOB":
		c = compileRE2(globRegexp(text))
	case "WORD":
		// \b knows ASCII letters alone here, as it does in JavaScript.
		c = compileRE2(`\b` + regexp.QuoteMeta(text) + `\b`)
	default:
		c = compileRegex(text)
	}
	p.patterns[at] = c
	return c
}

// compileRE2 compiles what was written here; only its size can be wrong with it.
func compileRE2(text string) compiled {
	re, err := regexp.Compile(text)
	if err != nil {
		return compiled{broken: err.Error()}
	}
	return compiled{regexp: re}
}

// compileRegex compiles a JavaScript regular expression, or says why it counts as invalid or dangerous.
func compileRegex(text string) compiled {
	if n := len(utf16.Encode([]rune(text))); n > maxRegex {
		return compiled{broken: fmt.Sprintf("it has %d characters, more than %d", n, maxRegex)}
	}
	if group := nestedQuantifiers(text); group != "" {
		return compiled{broken: fmt.Sprintf("a repeated repetition, %s, is dangerous", group)}
	}
	if flags, _, ok := strings.Cut(strings.TrimPrefix(text, "(?"), ")"); ok && strings.HasPrefix(text, "(?") &&
		strings.Trim(flags, "imsx") == "" {
		return compiled{broken: fmt.Sprintf("JavaScript has no (?%s); write a letter of either case as [Aa]", flags)}
	}
	re, err := jsregexp.Compile(text)
	if err != nil {
		return compiled{broken: err.Error()}
	}
	return compiled{regexp: re}
}

// nestedQuantifiers returns the first group that has a repeat without an upper bound in it and is
// repeated itself: (a+)+, (?:\s*x)*, (a{2,}){3}. An optional group, (a+)?, is none. It returns "" if there
// is no such group.
func nestedQuantifiers(regex string) string {
	type group struct {
		at      int
		repeats bool
	}
	var open []group
	for i := 0; i < len(regex); i++ {
		switch regex[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(regex, i)
		case '(':
			open = append(open, group{at: i})
		case ')':
			if len(open) == 0 {
				return "" // it is invalid, which jsregexp says better
			}
			g := open[len(open)-1]
			open = open[:len(open)-1]
			n, again, without := quantifier(regex[i+1:])
			if g.repeats && again {
				return regex[g.at : i+1+n]
			}
			if len(open) > 0 && (g.repeats || without) {
				open[len(open)-1].repeats = true
			}
			i += n
		default:
			if n, _, without := quantifier(regex[i:]); n > 0 {
				if without && len(open) > 0 {
					open[len(open)-1].repeats = true
				}
				i += n - 1
			}
		}
	}
	return ""
}

// classEnd is where the character class that begins at a byte ends.
func classEnd(regex string, at int) int {
	for i := at + 1; i < len(regex); i++ {
		switch regex[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return len(regex)
}

// quantifier reads the quantifier that a text begins with: how long it is, 0 if there is none; whether
// it can repeat at all, which ? and {1} cannot; and whether it does so without an upper bound.
func quantifier(text string) (n int, again, without bool) {
	switch {
	case text == "":
		return 0, false, false
	case text[0] == '*' || text[0] == '+':
		return 1, true, true
	case text[0] == '?':
		return 1, false, false
	case text[0] != '{':
		return 0, false, false
	}
	inside, _, closed := strings.Cut(text[1:], "}")
	least, most, bounds := strings.Cut(inside, ",")
	if !closed || least == "" || strings.Trim(least, "0123456789") != "" || strings.Trim(most, "0123456789") != "" {
		return 0, false, false // an ordinary {
	}
	if !bounds {
		most = least
	}
	most = strings.TrimLeft(most, "0")
	without = bounds && strings.TrimPrefix(inside, least) == ","
	return len(inside) + 2, without || most != "" && most != "1", without
}

// globRegexp writes a glob as a regular expression of the whole text: ** means anything, * means
// anything but /, ? for one character, {a,b} for a or b, and everything else for itself. **/ at the
// beginning and after a / also means no folder.
func globRegexp(glob string) string {
	var b strings.Builder
	var braces []bool // that are open: whether they hold alternatives
	choices := alternatives(glob)
	b.WriteString(`\A(?s:`)
	for i := 0; i < len(glob); i++ {
		choice := len(braces) > 0 && braces[len(braces)-1]
		switch c := glob[i]; {
		case c == '*':
			stars := len(glob[i:]) - len(strings.TrimLeft(glob[i:], "*"))
			switch {
			case stars == 1:
				b.WriteString(`[^/]*`)
			case strings.HasPrefix(glob[i+stars:], "/") && (i == 0 || glob[i-1] == '/'):
				b.WriteString(`(?:.*/)?`)
				i++
			default:
				b.WriteString(`.*`)
			}
			i += stars - 1
		case c == '?':
			b.WriteByte('.')
		case c == ',' && choice:
			b.WriteByte('|')
		case choices[i]:
			b.WriteString(`(?:`)
			braces = append(braces, true)
		case c == '}' && choice:
			b.WriteByte(')')
			braces = braces[:len(braces)-1]
		case c == '{':
			b.WriteString(`\{`)
			braces = append(braces, false)
		case c == '}':
			b.WriteString(`\}`)
			braces = braces[:max(0, len(braces)-1)]
		default:
			to := i + 1
			for to < len(glob) && strings.IndexByte("*?{},", glob[to]) < 0 {
				to++
			}
			b.WriteString(regexp.QuoteMeta(glob[i:to]))
			i = to - 1
		}
	}
	b.WriteString(`)\z`)
	return b.String()
}

// alternatives returns where in a glob a { is that is closed, and has its own comma.
func alternatives(glob string) map[int]bool {
	type brace struct {
		at    int
		comma bool
	}
	found := map[int]bool{}
	var open []brace
	for i := range len(glob) {
		last := len(open) - 1
		switch {
		case glob[i] == '{':
			open = append(open, brace{at: i})
		case last < 0:
		case glob[i] == ',':
			open[last].comma = true
		case glob[i] == '}':
			if open[last].comma {
				found[open[last].at] = true
			}
			open = open[:last]
		}
	}
	return found
}

// oddGlob says what in a glob is literal but looks as if it were not.
func oddGlob(glob string) string {
	switch open := strings.IndexByte(glob, '('); {
	case open >= 0 && strings.Contains(glob[open:], "|"):
		return "( | ) are literal in a GLOB; write {a,b} for a or b"
	case strings.HasPrefix(glob, "!"):
		return "! is literal in a GLOB; write NOT GLOB"
	}
	return ""
}
