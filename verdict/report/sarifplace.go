package report

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// place is the place of a violation that reports point to. GitHub wants a file and a region, and validators warn where
// there is none: what is at no place is at the start.
func (s *sarifWriter) place(f *finding) sarifPlace {
	place := sarifPlace{ArtifactLocation: artifact(cmp.Or(f.File, noFile)), Region: sarifStart()}
	switch {
	case !f.inFile():
	case !f.exact:
		place.Region = wholeLines(f.at.Line, lastLine(&f.at))
	default:
		place.Region, place.ContextRegion = regions(&f.at)
		if !s.snippets {
			place.Region.Snippet, place.ContextRegion = nil, nil
		}
	}
	return place
}

// wholeLines is a region without columns.
func wholeLines(first, last int64) *sarifRegion {
	return &sarifRegion{StartLine: max(first, 1), EndLine: max(first, last, 1)}
}

// regions returns the match, and what the excerpt holds of the lines around it; nil if it holds no more. A snippet is
// the very text of its region; only that of a match that the excerpt does not hold to its end is cut, and ends in an
// ellipsis.
func regions(e *verdict.Evidence) (match, context *sarifRegion) {
	match = &sarifRegion{StartLine: max(e.Line, 1), StartColumn: max(e.UTF16Column, 1)}
	match.EndLine, match.EndColumn = max(e.EndLine, match.StartLine), max(e.UTF16EndColumn, 1)
	if match.EndLine == match.StartLine {
		match.EndColumn = max(match.EndColumn, match.StartColumn)
		// Columns of bytes: that is known of a match within a line, in any encoding. The bytes of a line end are not: a
		// pattern's LF matches CRLF.
		if n := e.EndColumn - e.Column; e.Line == e.EndLine && n > 0 && e.Offset >= 0 {
			offset := e.Offset
			match.ByteOffset, match.ByteLength = &offset, &n
		}
	}
	start, end := matchInExcerpt(e)
	before, text, after := e.Excerpt[:start], e.Excerpt[start:end], e.Excerpt[end:]
	switch {
	case text == "":
		return match, nil
	case after == "" && !whole(text, e):
		match.Snippet = &sarifText{Text: text + ellipsis}
		return match, nil
	}
	match.Snippet = &sarifText{Text: text}
	if before == "" && after == "" {
		return match, nil
	}
	c := *match
	c.ByteOffset, c.ByteLength = nil, nil
	c.StartColumn = max(c.StartColumn-utf16Len(before), 1)
	c.EndColumn += utf16Len(after)
	c.Snippet = &sarifText{Text: e.Excerpt}
	return match, &c
}

// whole reports whether text is the match to its end. Of a text, LF matches CRLF.
func whole(text string, e *verdict.Evidence) bool {
	n := named(e)
	if n.isMapping() {
		return utf8.RuneCountInString(text) < excerptLimit
	}
	lines := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	return lines(text) == lines(n.plain)
}

func artifact(file string) sarifArtifact {
	return sarifArtifact{URI: relativeURI(verdict.RawPath(file)), URIBaseID: sarifRoot}
}

// relativeURI is a path as a relative reference of RFC 3986: every byte but those that no reader takes for anything
// else is percent-encoded, and a path that begins with a slash is no other root's.
func relativeURI(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; isAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0 || c == '/' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// sarifPlain is a line of plain text of a message, at most n characters as it is written.
func sarifPlain(s string, n int) string {
	for room := n; ; room /= 2 {
		if text := sarifEscape(clip(s, room)); len([]rune(text)) <= n {
			return text
		}
	}
}

// sarifEscape writes a text so that nothing in it is a link, "[text](target)", or a placeholder, "{0}" (sections 3.11.5
// and 3.11.6). Outside links the standard names no way to write a bracket; CodeQL writes it with a backslash as within
// one, so that is what GitHub's readers take.
func sarifEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `{`, `{{`, `}`, `}}`).Replace(s)
}
