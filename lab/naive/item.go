package naive

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Item is an entry of forbidden_patterns, required_absent or required_patterns.
type Item struct {
	Name   string         // in evidence and fingerprints
	Text   string         // or
	Regexp *regexp.Regexp // not nil, or
	Key    *KeyItem       // not nil
	// The options of a text.
	Spaces, Words, IgnoreCase bool
	// WithinLines is in how many lines, from the first on, a match may begin; 0: in all.
	WithinLines int
	// Except is an expression or nil: a match of Regexp within a match of it does not count.
	Except *regexp.Regexp
	// OnlyUnparsable says that only files that a key item of the rule could not parse are checked.
	OnlyUnparsable bool
}

// Kind is evidence.kind of a forbidden item.
func (i Item) Kind() string {
	if i.Key != nil {
		return "key"
	}
	if i.Regexp != nil {
		return "regex"
	}
	return "text"
}

// A Find is an occurrence: the bytes from Offset to End.
type Find struct {
	Offset, End int
	Encoding    Encoding
}

// Find returns the occurrences of the item, from the left, not overlapping.
func (i Item) Find(content string) []Find {
	if i.Regexp != nil {
		return i.findRegexp(content)
	}
	return i.findText(content)
}

// IsIn reports whether a content has what a required item asks for: an expression behind the content's mark, in its
// encoding, a text in any encoding, a whole number of units behind the mark. One character counts as an expression does.
func (i Item) IsIn(content string) bool {
	own := markOf(content)
	start := 0
	if own.isMarkOf(content) {
		start = len(own.mark())
	}
	if i.Regexp != nil {
		return len(i.inReading(content, own, start)) > 0
	}
	for _, e := range Encodings() {
		if utf8.RuneCountInString(i.Text) == 1 && e != own {
			continue
		}
		for at := start % e.Unit; at < len(content); at += e.Unit {
			if _, ok := i.textIn(e, content, at, pieces(i.Text, i.Spaces)); ok {
				return true
			}
		}
	}
	return false
}

// findText looks for the text in each encoding at each byte.
func (i Item) findText(content string) []Find {
	var finds []Find
	all := pieces(i.Text, i.Spaces)
	for at := 0; at < len(content); {
		f, ok := i.textAt(content, at, all)
		if !ok {
			at++
			continue
		}
		finds = append(finds, f)
		at = f.End
	}
	return finds
}

// textAt returns the match that begins at a byte, in the first encoding that has one.
func (i Item) textAt(content string, at int, pieces []piece) (Find, bool) {
	for _, e := range Encodings() {
		if end, ok := i.textIn(e, content, at, pieces); ok {
			return Find{at, end, e}, true
		}
	}
	return Find{}, false
}

// textIn returns the end of the match that begins at a byte in this encoding.
func (i Item) textIn(e Encoding, content string, at int, pieces []piece) (end int, ok bool) {
	// One character counts in UTF-16 and UTF-32 only in a file with the mark of that encoding.
	if utf8.RuneCountInString(i.Text) == 1 && e.Unit > 1 && !e.isMarkOf(content) {
		return 0, false
	}
	end, ok = i.match(e, content, at, pieces)
	if !ok || i.Words && !i.bounded(e, content, at, end) {
		return 0, false
	}
	if line, _ := position(content, e, at%e.Unit, at); i.WithinLines > 0 && line > i.WithinLines {
		return 0, false
	}
	return end, true
}

// bounded reports whether a match is not part of a longer word.
func (i Item) bounded(e Encoding, content string, at, end int) bool {
	first, last := i.Text[0], i.Text[len(i.Text)-1]
	before, isBefore := e.unitAt(content, at-e.Unit)
	after, isAfter := e.unitAt(content, end)
	switch {
	case isWord(uint32(first)) && isBefore && isWord(before):
		return false
	case isWord(uint32(last)) && isAfter && isWord(after):
		return false
	}
	return true
}

func isWord(unit uint32) bool {
	return unit < 128 && (unit == '_' || '0' <= unit && unit <= '9' || letterCase(byte(unit)) != 0)
}

// A piece of a text is a character, a line end, or a run of spaces and tabs.
type piece struct {
	char    string
	lineEnd bool
	run     bool
	omitted bool // of a run: it matches nothing, too
}

// pieces cuts a text. Without spaces: any, each space is a character.
func pieces(text string, spaces bool) []piece {
	var all []piece
	for at := 0; at < len(text); {
		rest := text[at:]
		_, size := utf8.DecodeRuneInString(rest)
		switch blank := len(rest) - len(strings.TrimLeft(rest, " \t")); {
		case spaces && blank > 0:
			size = blank
			before, after := text[at-1], text[at+blank] // a text does not begin or end with a run
			all = append(all, piece{run: true, omitted: !isWord(uint32(before)) || !isWord(uint32(after))})
		case strings.HasPrefix(rest, "\r\n"):
			size = 2
			all = append(all, piece{lineEnd: true})
		case rest[0] == '\n':
			all = append(all, piece{lineEnd: true})
		default:
			all = append(all, piece{char: rest[:size]})
		}
		at += size
	}
	return all
}

// match tries to match the pieces from a byte on.
func (i Item) match(e Encoding, content string, at int, pieces []piece) (end int, ok bool) {
	if len(pieces) == 0 {
		return at, true
	}
	p, rest := pieces[0], pieces[1:]
	switch {
	case p.run:
		end := at
		for {
			unit, ok := e.unitAt(content, end)
			if !ok || unit != ' ' && unit != '\t' {
				break
			}
			end += e.Unit
		}
		if end == at && !p.omitted {
			return 0, false
		}
		return i.match(e, content, end, rest)
	case p.lineEnd:
		for _, lineEnd := range []string{e.Encode("\r\n"), e.Encode("\n")} {
			if strings.HasPrefix(content[at:], lineEnd) {
				if end, ok := i.match(e, content, at+len(lineEnd), rest); ok {
					return end, true
				}
			}
		}
		return 0, false
	}
	want := e.Encode(p.char)
	if strings.HasPrefix(content[at:], want) {
		return i.match(e, content, at+len(want), rest)
	}
	if !i.IgnoreCase || len(p.char) > 1 {
		return 0, false
	}
	unit, ok := e.unitAt(content, at)
	if !ok || unit > 127 || foldByte(byte(unit)) != foldByte(p.char[0]) {
		return 0, false
	}
	return i.match(e, content, at+e.Unit, rest)
}

// places writes the offsets of the first hundred finds: of the first that of the evidence, and of the others of a text
// the aligned reading, where there is one, in the first encoding that has it.
func places(i Item, content string, finds []Find, first int) string {
	offsets := []string{strconv.Itoa(first)}
	for _, f := range finds[1:] {
		offset := f.Offset
		for aligned := f.Offset; aligned < f.Offset+f.Encoding.Unit && i.Regexp == nil && f.Offset%f.Encoding.Unit != 0; aligned++ {
			for _, e := range Encodings() {
				if e.Unit != f.Encoding.Unit || aligned%e.Unit != 0 {
					continue
				}
				if _, ok := i.textIn(e, content, aligned, pieces(i.Text, i.Spaces)); ok {
					offset = aligned
				}
			}
		}
		offsets = append(offsets, strconv.Itoa(offset))
	}
	return strings.Join(offsets, " ")
}

// evidence returns the find that is shown: the first, except for the aligned reading of a text.
func evidence(i Item, content string, finds []Find) Find {
	first := finds[0]
	if i.Regexp != nil || first.Offset%first.Encoding.Unit == 0 {
		return first
	}
	for _, e := range Encodings() {
		if e.Unit != first.Encoding.Unit || e == first.Encoding {
			continue
		}
		for at := range len(content) {
			if end, ok := i.textIn(e, content, at, pieces(i.Text, i.Spaces)); ok {
				if at%e.Unit == 0 && at-first.Offset < e.Unit {
					return Find{at, end, e}
				}
				break // only its first match counts
			}
		}
	}
	return first
}
