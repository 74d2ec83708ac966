package claudecube

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/jsregexp"
	"github.com/policyscan/policyscan/internal/late"
)

// A reading has the regular expressions of JavaScript for the parts of a glob.
type reading struct {
	before, after string // of the whole
	anything      string // what a negated glob matches, apart from its own matches
	star, char    string // * and ?
	firstChar     string // ? at the beginning of a name
	deep          string // **
	noDot         string // before * at the beginning of a name
	afterDot      string // between . at the beginning of a name and *
	some          string // before what needs a character
}

// The readings: micromatch's own; that of a rule whose matches make decisions stricter; that of any other rule. What a
// glob negates is read in the opposite way.
var (
	exact = reading{
		before: `(?=[^])`, anything: `.*`, star: `[^/]*?`, char: `[^/]`, firstChar: `[^./]`,
		deep: `(?:(?:(?!(?:^|/)\.).)*?)`, noDot: `(?!\.)`, afterDot: `(?!\.?(?:/|$))`, some: `(?=.)`,
	}
	broad = reading{
		after: `/?`, anything: `[^]*`, star: `[^/]*?`, char: character, firstChar: character, deep: `[^]*?`,
	}
	narrow = func() reading { // matches no line's end, final slash, "." or ".."; no wildcard begins a name with a dot
		r := exact
		r.before += `(?![^]*(?:[\n\r\u2028\u2029]|/$)|(?:[^]*/)?\.\.?(?:/|$))`
		r.star, r.char = `(?!(?<![^/])\.)`+r.star, `(?!(?<![^/])\.)`+r.char
		return r
	}()
)

const (
	maxBytes  = 4096                       // of a glob: as long as paths are
	lastUnit  = 0xFFFF                     // the last character that is one UTF-16 code unit
	character = `(?:[^/][\udc00-\udfff]?)` // one, or both of its halves
)

func (r reading) opposite() reading {
	switch r {
	case broad:
		return narrow
	case narrow:
		return broad
	}
	return exact
}

func (r reading) whole(body string) string {
	return "^" + r.before + "(?:" + body + ")" + r.after + "$"
}

// globbed lowers a glob. Where that is stricter it matches what either the exact or the broad reading does, else what
// both the exact and the narrow one do. In each case it matches its own text, as in micromatch.
func globbed(test *callrules.Test, text string, stricter bool) (callrules.Predicate, error) {
	same := *test
	same.Op, same.Text = callrules.Equals, text
	read := narrow
	if stricter {
		read = broad
	}
	var both []callrules.Predicate
	for _, read := range []reading{exact, read} {
		source, err := expression(text, read)
		if err != nil {
			return callrules.Predicate{}, err
		}
		re, wrong := jsregexp.Compile(source)
		if wrong != nil {
			return callrules.Predicate{}, mistake{"it would match nothing, since its expression is not valid",
				"write another glob, or a regex"}
		}
		re.GivenUp = stricter
		matches := *test
		matches.Op, matches.Regexp = callrules.Matches, re
		both = append(both, callrules.Predicate{Test: &matches})
	}
	if !stricter {
		both = []callrules.Predicate{{All: both}}
	}
	return callrules.Predicate{Any: append(both, callrules.Predicate{Test: &same})}, nil
}

// expression returns a regular expression of JavaScript for a glob. The exact one matches what micromatch 4 does, apart
// from the glob's own text, which micromatch compares first.
func expression(text string, read reading) (string, error) {
	whole := map[string]string{"***": "*", "**/**": "**", "**/**/**": "**"}[text]
	t := &translator{text: cmp.Or(whole, text), read: read, tokens: []token{{}}}
	t.text = strings.TrimPrefix(t.text, "./")
	switch {
	case text == "":
		return "", mistake{"an empty glob, for which micromatch fails", `write "**" for every value`}
	case len(text) > maxBytes:
		return "", mistake{fmt.Sprintf("a glob of %d bytes; the limit is %d", len(text), maxBytes), "write several"}
	}
	if body := shortcut(t.text); body != "" && read == exact && strings.ContainsAny(text[:1], ".*") {
		return read.whole(body), nil
	}
	if t.text != "" && !strings.ContainsAny(t.text[:1], "*!") && !strings.ContainsAny(t.text, `/()[]{}"`) {
		t.runs() // as micromatch reads such a glob
	} else {
		t.parse()
	}
	if t.err != nil {
		return "", t.err
	}
	body := t.body()
	if read == broad && strings.HasPrefix(text, "./") {
		body = `(?:\./)?(?:` + body + ")"
	}
	whole = t.read.whole(body)
	if t.negated {
		whole = "^" + read.before + "(?!" + whole + ")" + read.anything + "$"
	}
	return whole, nil
}

// A mistake is why a glob is refused.
type mistake struct{ found, fix string }

func (m mistake) Error() string { return m.found + "; " + m.fix }

var extensions = late.Regexp(`^((?s:.)*?)((?:\.\w+)*)$`)

// shortcut returns the expression of a glob to which micromatch gives one without parsing it; "" if it is another.
func shortcut(text string) string {
	parts := extensions().FindStringSubmatch(text)
	stem, isDeep := strings.CutPrefix(parts[1], "**/")
	switch {
	case stem == "*":
		stem = `(?!\.)(?=.)[^/]*?`
	case stem == ".*":
		stem = `\.(?=.)[^/]*?`
	case stem == "*.*":
		stem = `(?!\.)[^/]*?\.(?=.)[^/]*?`
	case stem == "*/*" && !isDeep:
		stem = `(?!\.)[^/]*?/(?=.)(?!\.)[^/]*?`
	case stem == "**" && !isDeep:
		stem = `(?!\.)` + exact.deep
	default:
		return ""
	}
	if isDeep {
		stem = `(?:(?!\.)` + exact.deep + `/)?` + stem
	}
	return stem + strings.ReplaceAll(parts[2], ".", `\.`) + "/?"
}

// runs translates a glob without slashes, groups and quotes. Micromatch puts a backslash before each run of the same
// character, so that "++" is a repeated plus, and then takes all backslashes in a row for one or two.
func (t *translator) runs() {
	var b strings.Builder
	collapse := false
	for i := 0; i < len(t.text); {
		escaped := t.text[i] == '\\'
		if escaped {
			i++
		}
		if i == len(t.text) {
			t.fail(escapesNothing, oneBackslash)
			return
		}
		c, size := utf8.DecodeRuneInString(t.text[i:])
		run := t.text[i : len(t.text)-len(strings.TrimLeft(t.text[i:], string(c)))]
		if c >= utf8.RuneSelf || c < ' ' || isWord(c) {
			run = t.text[i : i+size]
			collapse = collapse || escaped && isWord(c)
		}
		more := len(run) - 1
		switch {
		case c == '?' && escaped:
			b.WriteString(`\?` + strings.Repeat(t.read.char, more))
		case c == '?' && i == 0:
			b.WriteString(t.read.firstChar + strings.Repeat(t.read.char, more))
		case c == '?':
			b.WriteString(strings.Repeat(t.read.char, more+1))
		case c == '.':
			b.WriteString(strings.Repeat(`\.`, more+1))
		case c == '*' && !escaped:
			b.WriteString(t.read.star)
		case c == '*' && more > 0:
			b.WriteString(`\*` + t.read.star)
		case c >= utf8.RuneSelf || c < ' ' || isWord(c) && !escaped:
			b.WriteString(run)
		default:
			collapse = collapse || c == '\\'
			b.WriteString(`\` + run)
		}
		i += len(run)
	}
	out := b.String()
	if collapse {
		out = collapsed(out)
	}
	t.push(other, t.text, out)
}

func isWord(c rune) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// collapsed replaces each run of backslashes by one, if it is odd, or by two.
func collapsed(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], `\`))
		if run == 0 {
			b.WriteByte(text[i])
			continue
		}
		b.WriteString(`\\`[:2-run%2])
		i += run - 1
	}
	return b.String()
}
