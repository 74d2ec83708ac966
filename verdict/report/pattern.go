package report

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// excerptLimit is the longest excerpt, in characters.
const excerptLimit = 200

// A patternName is the parsed name of a pattern: a literal, or a mapping as JSON on one line.
type patternName struct {
	Text  string          `json:"text"`
	Regex string          `json:"regex"`
	Key   json.RawMessage `json:"key"` // a path or a list of them

	paths []string // of a pattern with a key
	plain string   // the literal, if it is not a mapping
	words string   // of a mapping
}

func named(e *verdict.Evidence) patternName {
	if plain, ok := e.Literal(); ok {
		return patternName{plain: plain}
	}
	n := patternName{words: e.PatternWords()}
	_ = json.Unmarshal([]byte(e.Pattern), &n) // it is a mapping
	var path string
	if json.Unmarshal(n.Key, &path) == nil {
		n.paths = []string{path}
	} else {
		_ = json.Unmarshal(n.Key, &n.paths) // nil for another value
	}
	return n
}

func (n *patternName) isMapping() bool { return n.Text != "" || n.Regex != "" || len(n.paths) > 0 }

// matchInExcerpt returns the byte range of the match, or of its beginning, in the excerpt.
func matchInExcerpt(e *verdict.Evidence) (start, end int) {
	n := named(e)
	redacted := e.LineHash == "" // the excerpt has the regex, or a path, instead of the match
	switch {
	case !n.isMapping():
		return textInExcerpt(e.Excerpt, n.plain)
	case len(n.paths) > 0 && redacted:
		for _, path := range n.paths {
			if start, end = textInExcerpt(e.Excerpt, path); end > start {
				break
			}
		}
		return start, end
	case n.Regex != "" && redacted:
		return textInExcerpt(e.Excerpt, n.Regex)
	}
	return columnsInExcerpt(e, &n)
}

// textInExcerpt returns the range of a text, or of its beginning at the end of the excerpt; its LF also match CRLF.
func textInExcerpt(excerpt, text string) (start, end int) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i := range excerpt {
		if n, ok := matchHere(excerpt[i:], text); ok {
			return i, i + n
		}
	}
	return 0, 0
}

// matchHere reports whether text begins with pattern, or is the beginning of it, and how many bytes of text that
// takes.
func matchHere(text, pattern string) (int, bool) {
	n := 0
	for i := range len(pattern) {
		rest := text[n:]
		switch {
		case pattern[i] == '\n' && strings.HasPrefix(rest, "\r\n"):
			n++
		case rest == "", pattern[i] == '\n' && rest == "\r":
			return len(text), true
		case rest[0] != pattern[i]:
			return 0, false
		}
		n++
	}
	return n, true
}

// columnsInExcerpt returns the range of the match by its columns. An excerpt of less than 200 characters has the whole
// line. Another may be cut: then half of the other characters are before the match, or more if the line ends soon
// after it. A match of the pattern decides.
func columnsInExcerpt(e *verdict.Evidence, n *patternName) (start, end int) {
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

// expression returns a regex that matches at least where the pattern does, or nil.
func (n *patternName) expression() *regexp.Regexp {
	expr := n.Regex
	if n.Text != "" { // with any spaces and in any case, whether the pattern says so or not
		words := strings.Fields(n.Text)
		for i, word := range words {
			words[i] = regexp.QuoteMeta(word)
		}
		expr = "(?i)" + strings.Join(words, `\s*`)
	}
	re, err := regexp.Compile(expr)
	if err != nil || expr == "" {
		return nil
	}
	return re
}

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

// unitsInto returns the length in bytes of the first UTF-16 code units of a text; found is false if it has fewer.
func unitsInto(text string, units int64) (bytes int, found bool) {
	for i, r := range text {
		if units <= 0 {
			return i, true
		}
		units -= int64(utf16Size(r))
	}
	return len(text), units <= 0
}
