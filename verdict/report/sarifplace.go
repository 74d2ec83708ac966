package report

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// sarifPlaceOf is the place of a violation that reports point to. GitHub wants a file and a region, and validators warn
// where there is none: what is at no place is at the start.
func sarifPlaceOf(f *finding) sarifPlace {
	place := sarifPlace{ArtifactLocation: artifact(cmp.Or(f.File, noFile)), Region: sarifStart()}
	switch {
	case !f.inFile():
	case !f.exact:
		place.Region = wholeLines(f.at.Line, lastLine(&f.at))
	default:
		place.Region, place.ContextRegion = regions(&f.at)
	}
	return place
}

// wholeLines is a region without columns.
func wholeLines(first, last int64) *sarifRegion {
	return &sarifRegion{StartLine: max(first, 1), EndLine: max(first, last, 1)}
}

// regions returns the match, and what the excerpt holds of the lines around it; nil if it holds no more. A snippet is
// the very text of its region: a match that the excerpt may not hold to its end has none.
func regions(e *verdict.Evidence) (match, context *sarifRegion) {
	match = &sarifRegion{StartLine: max(e.Line, 1), StartColumn: max(e.UTF16Column, 1)}
	match.EndLine, match.EndColumn = max(e.EndLine, match.StartLine), max(e.UTF16EndColumn, 1)
	if match.EndLine == match.StartLine {
		match.EndColumn = max(match.EndColumn, match.StartColumn)
	}
	start, end := matchInExcerpt(e)
	before, text, after := e.Excerpt[:start], e.Excerpt[start:end], e.Excerpt[end:]
	if text == "" || after == "" && utf8.RuneCountInString(e.Excerpt) >= excerptLimit {
		return match, nil
	}
	match.Snippet = &sarifText{Text: text}
	if before == "" && after == "" {
		return match, nil
	}
	around := *match
	around.StartColumn = max(around.StartColumn-utf16Len(before), 1)
	around.EndColumn += utf16Len(after)
	around.Snippet = &sarifText{Text: e.Excerpt}
	return match, &around
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
