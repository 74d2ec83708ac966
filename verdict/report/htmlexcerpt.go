package report

import (
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// A htmlLine is a line of an excerpt.
type htmlLine struct {
	Number int64
	Pieces []htmlPiece
}

// A htmlPiece is a part of a line that is drawn alike.
type htmlPiece struct {
	Text   string
	Match  bool
	Escape bool // it represents a character that is not shown as itself
}

// excerpt cuts an excerpt into lines and pieces: the match is marked, and what [verdict.Visible]
// escapes is distinguished from text that only looks like an escape.
func (h *htmlViolation) excerpt(e *verdict.Evidence) {
	start, end := matchInExcerpt(e)
	h.Before = utf16Len(e.Excerpt[:start]) < e.UTF16Column-1
	h.After = utf8.RuneCountInString(e.Excerpt) >= excerptLimit
	if n := named(e); start == end || end-start < len(n.plain) && !strings.Contains(n.plain, "\r\n") {
		h.Found, h.Pattern = "Pattern: ", verdict.Visible(n.plain)
	}

	line := htmlLine{Number: e.Line}
	for _, part := range []struct {
		text  string
		match bool
	}{{e.Excerpt[:start], false}, {e.Excerpt[start:end], true}, {e.Excerpt[end:], false}} {
		for text, below := part.text, true; below; {
			var now string
			now, text, below = cutLine(text)
			line.Pieces = append(line.Pieces, pieces(now, part.match)...)
			if !below {
				break
			}
			if part.match { // a line end that is marked has to be seen
				line.Pieces = append(line.Pieces, htmlPiece{Text: "↵", Match: true, Escape: true})
			}
			h.Lines = append(h.Lines, line)
			line = htmlLine{Number: line.Number + 1}
		}
	}
	if len(line.Pieces) > 0 || len(h.Lines) == 0 {
		h.Lines = append(h.Lines, line)
	}
}

// pieces cuts text of one line where characters that are shown and characters that are
// escaped meet. A tab is drawn as spaces.
func pieces(s string, match bool) []htmlPiece {
	var all []htmlPiece
	s = strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabWidth))
	from := 0
	for i, r := range s {
		if verdict.Shown(r) {
			continue
		}
		if from < i {
			all = append(all, htmlPiece{Text: s[from:i], Match: match})
		}
		n := utf8.RuneLen(r)
		all = append(all, htmlPiece{Text: verdict.Visible(s[i : i+n]), Match: match, Escape: true})
		from = i + n
	}
	if from < len(s) {
		all = append(all, htmlPiece{Text: verdict.Visible(s[from:]), Match: match})
	}
	return all
}

// found says what was found, or is missing, where the excerpt does not show it. It says in words what a mapping stands
// for.
func (h *htmlViolation) found(x *verdict.Violation) {
	const mark = "\x00"
	name, value := foundOf(x, mark)
	before, after, _ := strings.Cut(value, mark)
	n := named(&x.Evidence)
	pattern := n.plain
	if n.isMapping() {
		before, pattern, after = n.words()
	}
	h.Found = strings.ToUpper(name[:1]) + name[1:] + ": " + before
	h.Pattern, h.PatternEnd = verdict.Visible(pattern), verdict.Visible(after)
}
