package match

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/needle"
)

// Options change how a literal matches. The zero value is a plain literal.
type Options struct {
	// Spaces: each run of spaces and tabs in the literal matches any run of one or more. It also matches nothing if
	// the character before or after it in the literal is not a word character; a line end is not one.
	Spaces bool
	// Words: if the literal begins (ends) with a word character, the character before (after) a match is not one. Word
	// characters are A-Z, a-z, 0-9 and _.
	Words bool
	// IgnoreCase: A-Z and a-z match each other.
	IgnoreCase bool
	// WithinLines: a match begins in the first n lines; 0: in any line.
	WithinLines int
}

// A Pattern is a rule's pattern: a literal in all its byte forms, or a regex.
type Pattern struct {
	text    string
	expr    *regex.Expr // nil for a literal
	options Options     // only options with an effect; of a regex, only WithinLines
	// forms are UTF-8, then the others in order of encoding. The other forms of an ASCII literal hold a NUL byte in
	// every unit, which few files have: every makes them for the first such file. A regex has the forms of its
	// literals.
	forms    []form
	parts    parts // a literal's
	ascii    bool
	everyOne sync.Once
	all      []form // once every has made them
	// A literal of one character counts in UTF-16 and UTF-32 only in a file with that encoding's byte order mark: as
	// two or four bytes it would be found in anything.
	short bool
}

// Compile returns the pattern of a literal, which is valid UTF-8 and not blank. With Spaces it must not begin or end
// with a space or a tab, which would have no effect.
func Compile(text string, o Options) *Pattern {
	p := &Pattern{text: text, short: utf8.RuneCountInString(text) == 1, ascii: true}
	if o.Spaces {
		text = strings.Trim(text, " \t")
	}
	for i := range len(text) {
		p.ascii = p.ascii && text[i] < utf8.RuneSelf
	}
	p.options = Options{
		Spaces:     o.Spaces && strings.ContainsAny(text, " \t"),
		Words:      o.Words && (isWord(rune(text[0])) || isWord(rune(text[len(text)-1]))),
		IgnoreCase: o.IgnoreCase && strings.ContainsFunc(text, isLetter),

		WithinLines: o.WithinLines,
	}
	p.parts = newParts(text, p.options)
	p.addForms()
	return p
}

func (p *Pattern) addForms() {
	if p.ascii {
		p.forms = p.formsUpTo(utf8Enc + 1)
	} else {
		p.forms = p.every()
	}
}

func (p *Pattern) every() []form {
	p.everyOne.Do(func() { p.all = p.formsUpTo(encodings) })
	return p.all
}

// formsUpTo makes the forms of the encodings before one; a regex has its literals' forms.
func (p *Pattern) formsUpTo(end encoding) []form {
	if p.expr != nil {
		return literalForms(p.expr, end)
	}
	forms := make([]form, end)
	for e := range end {
		forms[e] = newForm(e, p.parts)
	}
	return forms
}

// longest is the longest match of any form, in bytes, with a run of spaces as one.
func (p *Pattern) longest() int {
	if p.ascii {
		return 4 * p.forms[0].longest // in UTF-32
	}
	n := 0
	for i := range p.forms {
		n = max(n, p.forms[i].longest)
	}
	return n
}

func (p *Pattern) longestNeedle() int {
	n := 0
	for i := range p.forms {
		n = max(n, len(p.forms[i].needle))
	}
	if p.ascii {
		return 4 * n // in UTF-32
	}
	return n
}

// A joint is between two segments of a literal.
type joint uint8

const (
	lineEnd  joint = iota // LF or CRLF
	space                 // a run of spaces and tabs, as long as it is
	anySpace              // such a run, or nothing
)

// parts are a literal, cut where it can match bytes of different lengths.
type parts struct {
	options  Options
	segments []string // one or more; all but one may be empty
	joints   []joint  // between them
	anchor   int      // the segment to search for
	rare     int      // the segment that all content with the literal has
	begins   bool     // no word character directly before a match
	ends     bool     // no word character directly after a match
}

func newParts(text string, o Options) parts {
	p := parts{options: o}
	if o.Words {
		p.begins, p.ends = isWord(rune(text[0])), isWord(rune(text[len(text)-1]))
	}
	p.segments = strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	p.joints = make([]joint, len(p.segments)-1)
	if o.Spaces {
		p.cutRuns()
	}
	lines := p.segments
	if o.IgnoreCase {
		lines = make([]string, len(p.segments))
		for i, s := range p.segments {
			lines[i] = string(needle.AppendLower(nil, []byte(s)))
		}
	}
	p.anchor = anchorOf(lines)
	p.rare = p.anchor
	if o.Spaces {
		p.rare = rarest(p.segments)
	}
	return p
}

// cutRuns cuts the segments, which are lines, at their runs of spaces.
func (p *parts) cutRuns() {
	lines := p.segments
	p.segments, p.joints = nil, nil
	for i, line := range lines {
		if i > 0 {
			p.joints = append(p.joints, lineEnd)
		}
		from := 0 // the segment's start
		for at := 0; at < len(line); at++ {
			if !isSpace(rune(line[at])) {
				continue
			}
			end := at
			for at+1 < len(line) && isSpace(rune(line[at+1])) {
				at++
			}
			j := anySpace
			if end > 0 && at+1 < len(line) && isWord(rune(line[end-1])) && isWord(rune(line[at+1])) {
				j = space
			}
			p.segments, p.joints = append(p.segments, line[from:end]), append(p.joints, j)
			from = at + 1
		}
		p.segments = append(p.segments, line[from:])
	}
}

// rarest returns the index of the segment that the fewest contents have.
func rarest(segments []string) int {
	var pieces [][]byte
	var of []int
	for i, s := range segments {
		if s != "" {
			pieces, of = append(pieces, []byte(s)), append(of, i)
		}
	}
	return of[needle.Rarest(pieces)]
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' }

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isWord(r rune) bool { return isLetter(r) || '0' <= r && r <= '9' || r == '_' }
