package checkout

import (
	"fmt"
	"regexp"
	"strings"
)

// A pattern is that of a line. It is matched byte by byte: an expression sees each byte as the character of its number.
type pattern struct {
	isName        bool   // without a slash: matched with the last name of a path; else with the path from the file on
	suffix        string // of each match, if case does not count
	exact, folded *regexp.Regexp
	ambiguous     bool // versions of git differ, and the expressions match what any of them does
}

// maxStars is how many stars of a pattern count, so that matching takes little time. With more, it may match any path
// that begins as the first ones say.
const maxStars = 16

// newPattern returns the pattern of a text; nil if it matches no file.
func newPattern(text string) *pattern {
	text, isDir := strings.CutSuffix(text, "/")
	p := &pattern{isName: !strings.Contains(text, "/")}
	text = strings.TrimPrefix(text, "/")
	if isDir || text == "" {
		return nil
	}
	p.suffix = strings.TrimPrefix(text[strings.LastIndexAny(text, `*?[]\`)+1:], "/")
	p.exact, p.folded = p.compile(text, false), p.compile(text, true)
	return p
}

// match reports whether a path, from the directory of the attributes file on, matches in all checkouts, and in any.
// Where git ignores case, as on macOS and Windows, it is that of ASCII letters.
func (p *pattern) match(path string) (always, sometimes bool) {
	if p == nil {
		return false, false
	}
	if p.isName {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	if n := len(path) - len(p.suffix); n < 0 || !strings.EqualFold(path[n:], p.suffix) {
		return false, false
	}
	exact, folded := p.exact.MatchString(runes(path, false)), p.folded.MatchString(runes(path, true))
	return exact && folded && !p.ambiguous, exact || folded
}

// compile translates a pattern into an expression; with fold, into one for paths in lower case.
func (p *pattern) compile(text string, fold bool) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?s)^")
	stars := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '?':
			b.WriteString("[^/]")
		case '*':
			if stars++; stars > maxStars {
				p.ambiguous = true
				return regexp.MustCompile(b.String())
			}
			from := i
			for i+1 < len(text) && text[i+1] == '*' {
				i++
			}
			// Two stars next to another character: git 2.52 and later takes them for one, versions before for two, or
			// match nothing.
			rest := text[i+1:]
			between := (from == 0 || text[from-1] == '/') &&
				(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
			switch {
			case p.isName || i == from:
				b.WriteString("[^/]*")
				continue
			case strings.HasPrefix(rest, "/"):
				b.WriteString("(?:.*/)?")
				i++
			default:
				b.WriteString(".*")
			}
			p.ambiguous = p.ambiguous || !between
		case '[':
			n := appendClass(&b, text[i:], fold)
			if n == 0 {
				p.ambiguous = true
				return regexp.MustCompile(b.String())
			}
			i += n - 1
		case '\\':
			if i++; i == len(text) {
				p.ambiguous = true
				break
			}
			c = text[i]
			p.ambiguous = p.ambiguous || 'A' <= c && c <= 'Z' // which git does not fold here
			fallthrough
		default:
			b.WriteString(regexp.QuoteMeta(runes(string([]byte{c}), fold)))
		}
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String())
}

// appendClass appends the class of bytes that text begins with, and returns its length; 0 if it does not end, or has
// escapes or named classes.
func appendClass(b *strings.Builder, text string, fold bool) int {
	members := text[1:]
	negated := members != "" && (members[0] == '!' || members[0] == '^')
	if negated {
		members = members[1:]
	}
	start := len(text) - len(members)
	end := strings.IndexByte(members[min(1, len(members)):], ']') + 1 // as the first one, ] is a member
	if end == 0 || strings.ContainsAny(members[:end], `[\`) {
		return 0
	}
	members = members[:end]
	var has [256]bool
	for k := 0; k < len(members); k++ {
		first, last := members[k], members[k]
		isRange := k+2 < len(members) && members[k+1] == '-'
		if isRange {
			last = members[k+2]
			k += 2
		}
		has[first] = true
		for c := int(first); c <= int(last); c++ {
			has[c] = true
			if fold && isRange {
				has[lower(byte(c))] = true
			}
		}
	}
	b.WriteString(`[\x{10ffff}`) // no byte
	for c := 0; c < 256; c++ {
		from := c
		for c < 256 && has[c] != negated && c != '/' {
			c++
		}
		if c > from {
			fmt.Fprintf(b, `\x{%x}-\x{%x}`, from, c-1)
		}
	}
	b.WriteString("]")
	return start + end + 1
}

// runes returns a string whose characters are the bytes of s; with fold, in lower case.
func runes(s string, fold bool) string {
	all := make([]rune, len(s))
	for i := range len(s) {
		all[i] = rune(s[i])
		if fold {
			all[i] = rune(lower(s[i]))
		}
	}
	return string(all)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
