package checkout

import (
	"regexp"
	"strings"
)

// A pattern is a line's pattern. It is matched byte by byte: an expression sees each byte as the character of its
// number.
type pattern struct {
	isName        bool   // no slash: matched with a path's last name; else with the path from the attributes file on
	suffix        string // of each match, ignoring case
	exact, folded *regexp.Regexp
	ambiguous     bool // versions of git or disks differ, and the expressions match as any of them
}

// maxStars is how many stars of a pattern count, to bound the time of matching. With more, it may match any path that
// matches up to the first ones.
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
	expr := p.translate(text)
	p.exact, p.folded = regexp.MustCompile("(?s)^"+expr), regexp.MustCompile("(?si)^"+expr)
	return p
}

// match reports whether a path, from the directory of the attributes file on, matches in all checkouts, and in any.
// Where git ignores case, as on macOS and Windows, only ASCII letters fold.
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
	path = bytesAsRunes(path)
	exact := p.exact.MatchString(path)
	return exact && !p.ambiguous, exact || p.folded.MatchString(path)
}

func (p *pattern) translate(text string) string {
	var b strings.Builder
	stars := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '?':
			b.WriteString("[^/]")
		case '*':
			if stars++; stars > maxStars {
				p.ambiguous = true
				return b.String()
			}
			from := i
			for i+1 < len(text) && text[i+1] == '*' {
				i++
			}
			// Two stars next to another character: git 2.52 and later read them as one, earlier versions as two, or
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
			members, _, closed := strings.Cut(text[i+1:], "]")
			class, plain := p.class(members)
			if !closed || !plain {
				p.ambiguous = true
				return b.String() // any remainder matches
			}
			b.WriteString(class)
			i += len(members) + 1
		case '\\':
			if i++; i == len(text) {
				p.ambiguous = true
				break
			}
			c = text[i]
			p.ambiguous = p.ambiguous || 'A' <= c && c <= 'Z' // which git does not fold here
			fallthrough
		default:
			b.WriteString(regexp.QuoteMeta(string(rune(c))))
		}
	}
	return b.String() + "$"
}

// class returns the expression of a class of bytes; plain is false if it has more than members and ranges. Git folds
// the path, not the class: a class with capitals, or with excluded letters, is ambiguous.
func (p *pattern) class(members string) (expr string, plain bool) {
	negated := strings.HasPrefix(members, "!") || strings.HasPrefix(members, "^")
	if negated {
		members = members[1:]
	}
	expr = "[" + bytesAsRunes(members) + "]"
	re, err := regexp.Compile(expr)
	if err != nil || strings.ContainsAny(members, `[\^`) || re.MatchString("/") {
		return "", false
	}
	lower, upper := strings.ToLower(members), strings.ToUpper(members)
	switch {
	case negated && lower != upper:
		p.ambiguous = true
		return "[^/]", true
	case negated:
		return "[^/" + expr[1:], true
	}
	p.ambiguous = p.ambiguous || members != lower
	return expr, true
}

func bytesAsRunes(s string) string {
	all := make([]rune, len(s))
	for i := range len(s) {
		all[i] = rune(s[i])
	}
	return string(all)
}
