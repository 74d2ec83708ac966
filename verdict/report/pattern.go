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

// A patternName is what the name of a pattern says: a text, or a mapping as JSON on one line.
type patternName struct {
	Text  string          `json:"text"`
	Regex string          `json:"regex"`
	Key   json.RawMessage `json:"key"` // a path or a list of them

	paths  []string // of a pattern with a key
	plain  string   // the text, if this is no mapping
	quoted bool     // that text begins with a brace, so that its name is a JSON string
}

// named reads the name of the pattern that evidence is of. What is no mapping is a text.
func named(e *verdict.Evidence) patternName {
	plain := patternName{plain: e.Pattern}
	// A file that has what looks like a name shows that it is the text.
	literal := e.Kind == verdict.KindFile || strings.Contains(e.Excerpt, e.Pattern)
	if strings.HasPrefix(e.Pattern, `"{`) && !literal {
		plain.quoted = json.Unmarshal([]byte(e.Pattern), &plain.plain) == nil
	}
	var n patternName
	if e.Kind == verdict.KindFile || !strings.HasPrefix(e.Pattern, `{"`) ||
		json.Unmarshal([]byte(e.Pattern), &n) != nil {
		return plain
	}
	if e.Kind != verdict.KindText {
		n.paths = keyPaths(n.Key)
	}
	if len(n.paths) > 0 || !literal && n.Text+n.Regex != "" {
		return n
	}
	return plain
}

func (n *patternName) isMapping() bool { return n.Text != "" || n.Regex != "" || len(n.paths) > 0 }

// quote puts the name in quotes, as it is shown: not a mapping, nor what has them already.
func (n *patternName) quote(shown string) string {
	if n.isMapping() || n.quoted {
		return shown
	}
	return `"` + shown + `"`
}

func keyPaths(key json.RawMessage) []string {
	var path string
	var paths []string
	if json.Unmarshal(key, &path) == nil {
		return []string{path}
	}
	_ = json.Unmarshal(key, &paths) // what is neither names no key
	return paths
}

// matchInExcerpt returns where in the excerpt the match is, in bytes, the end exclusive. The excerpt holds the match
// whole, or its beginning when it is longer.
func matchInExcerpt(e *verdict.Evidence) (start, end int) {
	n := named(e)
	redacted := e.LineHash == "" // such a rule shows the expression, or a path, where the match is
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

// textInExcerpt returns where a text is, or its beginning at the end of the excerpt; LF of the text is LF or CRLF.
func textInExcerpt(excerpt, text string) (start, end int) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i := range excerpt {
		if n, ok := matchHere(excerpt[i:], text); ok {
			return i, i + n
		}
	}
	return 0, 0
}

// matchHere reports whether text begins with pattern, or is the beginning of it, and how many bytes of text that takes.
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

// columnsInExcerpt returns where the match is by its columns. An excerpt of less than 200 characters begins where the
// line does. A longer one may be cut: then the match has half of the room before it, or more where there is little
// behind it. Of the places that are possible the pattern chooses.
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

// expression returns one that matches where the pattern does, and perhaps elsewhere; nil if there is none.
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

// unitsInto returns how many bytes of a text are units of UTF-16, or all of it and false.
func unitsInto(text string, units int64) (bytes int, found bool) {
	for i, r := range text {
		if units <= 0 {
			return i, true
		}
		units -= int64(utf16Size(r))
	}
	return len(text), units <= 0
}
