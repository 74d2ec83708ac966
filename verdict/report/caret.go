package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/policyscan/policyscan/verdict"
)

// excerptLimit is the longest excerpt, in characters.
const excerptLimit = 200

// tabWidth is how many columns a tab of the source line is drawn as.
const tabWidth = 4

// source returns the line that a match begins in, as far as the excerpt holds it,
// and a line of carets under the match. gutter is the columns that go
// before both.
func (t *textWriter) source(e *verdict.Evidence, gutter int) (src, carets string) {
	left, match, right := sourceLine(e)
	return t.snippet(left, match, right, gutter)
}

// trimmedSource is [textWriter.source] in so many columns, without the spaces at both ends of the line.
func (t *textWriter) trimmedSource(e *verdict.Evidence, room int) (src, carets string) {
	left, match, right := trimmedLine(e)
	return t.snippet(left, match, right, t.Width-room)
}

// sourceColumns is how wide that line is.
func sourceColumns(e *verdict.Evidence) int {
	left, match, right := trimmedLine(e)
	return columns(drawn(left.lead())) + columns(drawn(match)) + columns(drawn(right.String()))
}

// showsNothing reports whether there is nothing to see in that line: no place, or one in an empty line.
func showsNothing(e *verdict.Evidence) bool {
	left, match, right := trimmedLine(e)
	return !hasPlace(e) || strings.TrimSpace(left.text+match+right.text) == ""
}

// trimmedLine is [sourceLine] without the spaces at both ends.
func trimmedLine(e *verdict.Evidence) (left cell, match string, right cell) {
	left, match, right = sourceLine(e)
	if !left.cut {
		left.text = strings.TrimLeft(left.text, " \t")
	}
	if !right.cut {
		right.text = strings.TrimRight(right.text, " \t")
	}
	return left, match, right
}

// sourceLine returns what is of the line that a match begins in: before the match, the match, and after it.
func sourceLine(e *verdict.Evidence) (left cell, match string, right cell) {
	start, end := matchInExcerpt(e)
	first, rest := e.Excerpt[:start], e.Excerpt[end:]
	match, _, below := cutLine(e.Excerpt[start:end])
	if below {
		rest = ""
	}
	rest, _, below = cutLine(rest)
	return cell{first, utf16Len(first) < e.UTF16Column-1}, match,
		cell{rest, !below && utf8.RuneCountInString(e.Excerpt) >= excerptLimit}
}

// snippet returns a line of source as it is drawn, and the carets under the match, one at least.
func (t *textWriter) snippet(left cell, match string, right cell, gutter int) (src, carets string) {
	if t.Commands {
		left.text, match, right.text = defuseParts(left.text, match, right.text)
	}
	left.text, right.text = drawn(left.text), drawn(right.text)
	mid := cell{text: drawn(match)}
	if t.Width > 0 {
		fit(&left, &mid, &right, t.Width-gutter)
	}
	n := max(columns(mid.String()), 1) // a match that begins with a line end has none
	src = left.lead() + t.paint(red, mid.String()) + right.String()
	return src, strings.Repeat(" ", columns(left.lead())) + t.paint(red, strings.Repeat("^", n))
}

// defuseParts is [verdict.Defuse] for what is within a line, so that the carets are counted
// under what is drawn.
func defuseParts(first, match, rest string) (f, m, r string) {
	whole := first + match + rest
	part := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			if whole[i] == '#' && i > 0 && whole[i-1] == '#' && strings.HasPrefix(whole[i+1:], "[") {
				b.WriteString(`\u{23}`)
			} else {
				b.WriteByte(whole[i])
			}
		}
		return b.String()
	}
	matchEnd := len(first) + len(match)
	return part(0, len(first)), part(len(first), matchEnd), part(matchEnd, len(whole))
}

// cell is a part of the drawn line; cut says that text is missing at its open end.
type cell struct {
	text string
	cut  bool
}

const ellipsis = "…"

func (c cell) lead() string {
	if c.cut {
		return ellipsis + c.text
	}
	return c.text
}

func (c cell) String() string {
	if c.cut {
		return c.text + ellipsis
	}
	return c.text
}

// fit shortens the parts of a line to room columns: what is around the match
// first, evenly where both sides are long.
func fit(left, mid, right *cell, room int) {
	room = max(room, 20)
	if columns(mid.String()) > room-2 {
		mid.text, mid.cut = head(mid.text, room-3), true
	}
	free := room - columns(mid.String())
	l, r := columns(left.lead()), columns(right.String())
	forLeft := min(l, max(free/2, free-r))
	if l > forLeft {
		left.text, left.cut = tail(left.text, forLeft-1), true
	}
	if forRight := free - forLeft; r > forRight {
		right.text, right.cut = head(right.text, forRight-1), true
	}
}

// drawn is text as the report shows it: tabs as spaces, what is hidden made visible.
func drawn(s string) string {
	return verdict.Visible(strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabWidth)))
}

// wrap cuts a line at its spaces into lines of so many columns; a word that is longer
// stays whole, as an address must, and a room under 20 columns is not worth it.
func wrap(line string, room int) []string {
	if room < 20 || columns(line) <= room {
		return []string{line}
	}
	return fill(strings.Fields(line), room)
}

// fill puts words on lines of room columns, with a space between two. A word is never broken, whatever is in it.
func fill(words []string, room int) []string {
	var lines []string
	now := ""
	for _, word := range words {
		switch {
		case now == "":
			now = word
		case columns(now)+1+columns(word) <= room:
			now += " " + word
		default:
			lines, now = append(lines, now), word
		}
	}
	return append(lines, now)
}

// wrapIndented is [wrap], with an indent before every line but the first.
func wrapIndented(line string, room int, indent string) []string {
	lines := wrap(line, room)
	if len(lines) == 1 {
		return lines
	}
	rest := wrap(strings.Join(lines[1:], " "), room-len(indent))
	for i := range rest {
		rest[i] = indent + rest[i]
	}
	return append(lines[:1], rest...)
}

// head returns as much of the beginning of s as n columns hold.
func head(s string, n int) string {
	for i, r := range s {
		if n -= runeColumns(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns as much of the end of s as n columns hold.
func tail(s string, n int) string {
	skip := columns(s) - n
	for i, r := range s {
		if skip <= 0 && runeColumns(r) > 0 {
			return s[i:]
		}
		skip -= runeColumns(r)
	}
	return ""
}

// columns is how wide a terminal draws s.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

func utf16Len(s string) int64 {
	n := int64(0)
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// cutLine cuts s at its first line end: LF, CRLF or a lone CR.
func cutLine(s string) (line, rest string, found bool) {
	i := strings.IndexAny(s, "\r\n")
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimPrefix(strings.TrimPrefix(s[i:], "\r"), "\n"), true
}

// matchHere reports whether text begins with pattern, or is the beginning of it,
// and how many bytes of text that takes.
func matchHere(text, pattern string) (int, bool) {
	n := 0
	for i := 0; i < len(pattern); i++ {
		rest := text[n:]
		if pattern[i] == '\n' && strings.HasPrefix(rest, "\r\n") {
			n += len("\r\n")
			continue
		}
		if rest == "" || pattern[i] == '\n' && rest == "\r" {
			return len(text), true
		}
		if rest[0] != pattern[i] {
			return 0, false
		}
		n++
	}
	return n, true
}
