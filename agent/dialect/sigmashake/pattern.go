package sigmashake

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/policyscan/policyscan/agent/dialect/jsregexp"
	"github.com/policyscan/policyscan/internal/late"
)

// maxRegex is how long a regular expression may be, in UTF-16 units as JavaScript counts them.
const maxRegex = 500

// compile returns the regex for GLOB, WORD or REGEX.
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
		return compiled{broken: fmt.Sprintf("it has %d characters, more than %d; write two conditions", n, maxRegex)}
	}
	if group := nestedQuantifiers(text); group != "" {
		return compiled{broken: group + " repeats a group that repeats, which is dangerous; remove one of the two, " +
			"or give the inner one an upper bound, as in {1,9}"}
	}
	re, wrong := jsregexp.Compile(text)
	if wrong != nil {
		return compiled{broken: wrong.Error()}
	}
	return compiled{regexp: re}
}

// regexTokens are the parts of a regular expression, with a quantifier, a class and an escape as one each.
var regexTokens = late.Regexp(`(?s)\\.|\[(?:\\.|[^\\\]])*\]?|\{[0-9]+(?:,[0-9]*)?\}|.`)

// oddRegex describes a part of a regular expression that means nothing special to JavaScript.
func oddRegex(regex string) string {
	for _, token := range regexTokens().FindAllString(regex, -1) {
		switch {
		case token == `\A`:
			return `\A is the letter A to JavaScript; write ^`
		case token == `\Z` || token == `\z`:
			return token + " is the letter " + token[1:] + " to JavaScript; write $"
		case token[0] == '[' && strings.Contains(token, "[:") && strings.HasSuffix(token, ":]"):
			return "JavaScript has no [:name:]; write the characters, as in [A-Za-z]"
		}
	}
	return ""
}

// nestedQuantifiers returns the first repeated group with an unbounded repeat in it: (a+)+, (?:\s*x)*, (a{2,}){3}; an
// optional group, (a+)?, does not count. It returns "" without one.
func nestedQuantifiers(regex string) string {
	type group struct {
		at      int
		repeats bool
	}
	open := []group{{}} // the first is the whole
	var closed group    // by the token before, if it is one
	at := 0
	for _, token := range regexTokens().FindAllString(regex, -1) {
		at += len(token)
		last := &open[len(open)-1]
		again, endless := repeats(token)
		switch {
		case token == ")" && len(open) == 1:
			return "" // it is invalid, which jsregexp says better
		case token == ")":
			closed = *last
			open = open[:len(open)-1]
			open[len(open)-1].repeats = open[len(open)-1].repeats || closed.repeats
			continue
		case closed.repeats && again:
			return regex[closed.at:at]
		case token == "(":
			open = append(open, group{at: at - 1})
		default:
			last.repeats = last.repeats || endless
		}
		closed = group{}
	}
	return ""
}

// repeats reports whether a token is a quantifier that can repeat, which ? and {1} cannot, and whether it does so
// without an upper bound.
func repeats(token string) (again, endless bool) {
	switch {
	case token == "*" || token == "+":
		return true, true
	case token[0] != '{' || len(token) == 1: // which is an ordinary {
		return false, false
	}
	least, most, bounds := strings.Cut(token[1:len(token)-1], ",")
	if !bounds {
		most = least
	}
	endless = most == ""
	most = strings.TrimLeft(most, "0")
	return endless || most != "" && most != "1", endless
}

// globRegexp writes a glob as a regular expression of the whole text: ** means anything, * means
// anything but /, ? for one character, {a,b} for a or b, and everything else for itself. **/ at the
// beginning and after a / also means no directory.
func globRegexp(glob string) string {
	var b strings.Builder
	choices := alternatives(glob)
	b.WriteString(`\A(?s:`)
	for i := 0; i < len(glob); i++ {
		stars := len(glob[i:]) - len(strings.TrimLeft(glob[i:], "*"))
		switch {
		case stars == 1:
			b.WriteString(`[^/]*`)
		case stars > 1 && strings.HasPrefix(glob[i+stars:], "/") && (i == 0 || glob[i-1] == '/'):
			b.WriteString(`(?:.*/)?`)
			i += stars
		case stars > 1:
			b.WriteString(`.*`)
			i += stars - 1
		case glob[i] == '?':
			b.WriteByte('.')
		case choices[i] != "":
			b.WriteString(choices[i])
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	b.WriteString(`)\z`)
	return b.String()
}

// alternatives returns what the braces of a glob that are closed and have a comma, and their commas, are in a regular
// expression, by their places.
func alternatives(glob string) map[int]string {
	found := map[int]string{}
	var open [][]int // of each brace its offset and the offsets of its commas
	for i, c := range []byte(glob) {
		last := len(open) - 1
		switch {
		case c == '{':
			open = append(open, []int{i})
		case last < 0:
		case c == ',':
			open[last] = append(open[last], i)
		case c == '}':
			if places := open[last]; len(places) > 1 {
				found[places[0]], found[i] = `(?:`, `)`
				for _, comma := range places[1:] {
					found[comma] = `|`
				}
			}
			open = open[:last]
		}
	}
	return found
}

// oddGlob describes literal parts of a glob that look like wildcards.
func oddGlob(glob string) string {
	switch open := strings.IndexByte(glob, '('); {
	case open >= 0 && strings.Contains(glob[open:], "|"):
		return "( | ) are literal in a GLOB; write {a,b} for a or b"
	case strings.HasPrefix(glob, "!"):
		return "! is literal in a GLOB; write NOT GLOB"
	}
	return ""
}
