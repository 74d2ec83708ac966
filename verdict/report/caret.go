package report

import (
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

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
		mid.text, mid.cut = prefix(mid.text, room-3, runeColumns), true
	}
	free := room - columns(mid.String())
	l, r := columns(left.lead()), columns(right.String())
	forLeft := min(l, max(free/2, free-r))
	if l > forLeft {
		left.text, left.cut = tail(left.text, forLeft-1), true
	}
	if forRight := free - forLeft; r > forRight {
		right.text, right.cut = prefix(right.text, forRight-1, runeColumns), true
	}
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
