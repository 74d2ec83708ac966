package report

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// A name is what the name of a pattern says that is written as a mapping: the mapping as JSON on one line. The zero
// value is that of a plain text.
type name struct {
	Text   string `json:"text"`
	Spaces string `json:"spaces"`
	Words  bool   `json:"words"`
	Case   string `json:"case"`
	Regex  string `json:"regex"`
	Lines  int64  `json:"within_lines"`

	key *keyName
}

// named reads the name of the pattern that evidence is of. What is not one of a mapping is a plain text.
func named(e *verdict.Evidence) name {
	var n name
	if e.Kind == verdict.KindFile || !strings.HasPrefix(e.Pattern, `{"`) {
		return n
	}
	var k keyName
	if e.Kind != verdict.KindText && json.Unmarshal([]byte(e.Pattern), &k) == nil && len(k.Key.texts()) > 0 {
		n.key = &k
		return n
	}
	if strings.Contains(e.Excerpt, e.Pattern) {
		return n // the file has what looks like a name, so it is the text
	}
	if err := json.Unmarshal([]byte(e.Pattern), &n); err != nil {
		return name{}
	}
	return n
}

func (n *name) isMapping() bool { return n.Text != "" || n.Regex != "" || n.key != nil }

// words says what a mapping stands for: what is before the text, the expression or the path in a sentence, that, and
// what is behind it.
func (n *name) words() (before, value, after string) {
	if n.key != nil {
		value, after = n.key.words()
		return "the key ", value, after
	}
	switch {
	case n.Lines == 1:
		after = " in the first line"
	case n.Lines > 1:
		after = fmt.Sprintf(" in the first %d lines", n.Lines)
	}
	if n.Regex != "" {
		return "a match of the regular expression ", n.Regex, after
	}
	if n.Spaces != "" {
		after += ", with any spaces"
	}
	if n.Words {
		after += ", as whole words"
	}
	if n.Case != "" {
		after += ", in upper or lower case"
	}
	return "", n.Text, after
}

// bracedText is the text that a pattern of a 0.2 file stands for if it begins with a brace: its name is a JSON string,
// so that no text is taken for a mapping. ok says that the pattern is such a name.
func bracedText(e *verdict.Evidence) (text string, ok bool) {
	if !strings.HasPrefix(e.Pattern, `"{`) || e.Kind == verdict.KindFile || strings.Contains(e.Excerpt, e.Pattern) {
		return "", false // a file that has it in quotes shows that they are the text's
	}
	if err := json.Unmarshal([]byte(e.Pattern), &text); err != nil {
		return "", false
	}
	return text, true
}

// namedText is the text that a pattern stands for, if it is no mapping.
func namedText(e *verdict.Evidence) string {
	if text, ok := bracedText(e); ok {
		return text
	}
	return e.Pattern
}

// expression returns one that matches where the pattern does, and perhaps elsewhere: it serves to choose between
// places that are already known to be possible. It is nil if there is none.
func (n *name) expression() *regexp.Regexp {
	expr := n.Regex
	if n.Text != "" {
		expr = regexp.QuoteMeta(strings.ReplaceAll(n.Text, "\r\n", "\n"))
		expr = strings.ReplaceAll(expr, "\n", `\r?\n`)
		if n.Spaces != "" {
			expr = regexp.MustCompile(`[ \t]+`).ReplaceAllString(expr, `[ \t]*`)
		}
		if n.Case != "" {
			expr = "(?i)" + expr
		}
	}
	re, err := regexp.Compile(expr)
	if err != nil || expr == "" {
		return nil
	}
	return re
}

// matchInExcerpt returns where in the excerpt the match is, in bytes, the end
// exclusive. The excerpt holds the match whole, or its beginning when it is longer.
func matchInExcerpt(e *verdict.Evidence) (start, end int) {
	n := named(e)
	switch {
	case !n.isMapping():
		return textInExcerpt(e.Excerpt, namedText(e))
	case n.key != nil && e.LineHash == "": // likewise, the path in place of the value
		return n.key.pathInExcerpt(e.Excerpt)
	case n.Regex != "" && e.LineHash == "": // a rule that redacts shows the expression in place of what it matched
		return textInExcerpt(e.Excerpt, n.Regex)
	}
	return columnsInExcerpt(e, &n)
}

// textInExcerpt returns where a text is, or its beginning; a line end of the text is LF or CRLF.
func textInExcerpt(excerpt, text string) (start, end int) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i := range excerpt {
		if n, ok := matchHere(excerpt[i:], text); ok {
			return i, i + n
		}
	}
	return 0, 0
}

// columnsInExcerpt returns where the match is by its columns. An excerpt of less than 200 characters begins where the
// line does. A longer one may be cut: then the match has half of the room before it, or more where there is little
// behind it. Of the places that are possible the pattern chooses.
func columnsInExcerpt(e *verdict.Evidence, n *name) (start, end int) {
	start, found := unitsInto(e.Excerpt, e.UTF16Column-1)
	length := e.UTF16EndColumn - e.UTF16Column
	if e.EndLine > e.Line {
		length = 0
	}
	half := max(excerptLimit-length, 0) / 2
	before := int64(utf8.RuneCountInString(e.Excerpt[:start]))
	if found && before <= half || utf8.RuneCountInString(e.Excerpt) < excerptLimit {
		return start, endInExcerpt(e, start)
	}
	if re := n.expression(); re != nil {
		for _, at := range re.FindAllStringIndex(e.Excerpt, -1) {
			chars := int64(utf8.RuneCountInString(e.Excerpt[:at[0]]))
			if chars >= half && chars <= before && (e.EndLine > e.Line || endInExcerpt(e, at[0]) == at[1]) {
				return at[0], at[1]
			}
		}
	}
	for start = range e.Excerpt {
		if half == 0 {
			break
		}
		half--
	}
	return start, endInExcerpt(e, start)
}

// endInExcerpt returns where the match ends that begins at start.
func endInExcerpt(e *verdict.Evidence, start int) int {
	at, units := start, e.UTF16EndColumn-e.UTF16Column
	for line := e.Line; line < e.EndLine; line++ {
		_, rest, found := cutLine(e.Excerpt[at:])
		if !found {
			return len(e.Excerpt)
		}
		at, units = len(e.Excerpt)-len(rest), e.UTF16EndColumn-1
	}
	n, _ := unitsInto(e.Excerpt[at:], units)
	return at + n
}

// unitsInto returns how many bytes of a text are so many UTF-16 code units, or all of it and false.
func unitsInto(text string, units int64) (bytes int, found bool) {
	for i, r := range text {
		if units <= 0 {
			return i, true
		}
		if units--; r > 0xffff {
			units--
		}
	}
	return len(text), units <= 0
}
