package scanner

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/verdict"
)

// The oracle is a second Check, written from the contract: it tries every variant of a pattern at every byte, and a
// file is one slice. It is slow, and shares only the types of the result with the first.

type oracleEncoding struct {
	name   string
	unit   int // bytes
	little bool
}

// oracleEncodings are in the contract's order: of two variants that match at the same byte, the earlier one counts.
var oracleEncodings = []oracleEncoding{
	{"utf-8", 1, false}, {"utf-16le", 2, true}, {"utf-16be", 2, false}, {"utf-32le", 4, true}, {"utf-32be", 4, false},
}

// oracleEncode returns one character's bytes.
func oracleEncode(enc int, r rune) []byte {
	e := oracleEncodings[enc]
	units := []uint32{uint32(r)}
	switch {
	case e.unit == 1:
		return []byte(string(r))
	case e.unit == 2 && r >= 0x10000:
		v := uint32(r) - 0x10000
		units = []uint32{0xD800 + v/0x400, 0xDC00 + v%0x400}
	}
	var out []byte
	for _, u := range units {
		for i := range e.unit {
			if !e.little {
				i = e.unit - 1 - i
			}
			out = append(out, byte(u>>(8*i)))
		}
	}
	return out
}

func oracleEncodeAll(enc int, text string) []byte {
	var out []byte
	for _, r := range text {
		out = append(out, oracleEncode(enc, r)...)
	}
	return out
}

// An oracleForm is a pattern in one encoding: the bytes of each character, and nil for a line end.
type oracleForm struct {
	enc      int
	chars    [][]byte
	crlf, lf []byte
}

// collect returns the end of the form in content if it matches at the given byte, or -1.
func (f *oracleForm) end(content []byte, at int) int {
	has := func(b []byte) bool {
		if len(content)-at < len(b) || string(content[at:at+len(b)]) != string(b) {
			return false
		}
		at += len(b)
		return true
	}
	for _, c := range f.chars {
		switch {
		case c != nil:
			if !has(c) {
				return -1
			}
		case has(f.crlf):
		case has(f.lf):
		default:
			return -1
		}
	}
	return at
}

func oracleForms(pattern string, content []byte) []*oracleForm {
	var forms []*oracleForm
	for enc := range oracleEncodings {
		mark := string(oracleEncode(enc, 0xFEFF))
		if len([]rune(pattern)) == 1 && enc > 0 && !strings.HasPrefix(string(content), mark) {
			continue
		}
		f := &oracleForm{enc: enc, crlf: oracleEncodeAll(enc, "\r\n"), lf: oracleEncode(enc, '\n')}
		for _, r := range strings.ReplaceAll(pattern, "\r\n", "\n") {
			if r == '\n' {
				f.chars = append(f.chars, nil)
			} else {
				f.chars = append(f.chars, oracleEncode(enc, r))
			}
		}
		forms = append(forms, f)
	}
	return forms
}

// oracleHas reports whether content has a required literal: in whole units, counted from behind the BOM or from the
// first byte without one, and a single character only in the encoding of the BOM, else in UTF-8.
func oracleHas(text string, content []byte) bool {
	mark, start := oracleMark(content), 0
	if m := string(oracleEncode(mark, 0xFEFF)); strings.HasPrefix(string(content), m) {
		start = len(m)
	}
	for _, f := range oracleForms(text, content) {
		if len([]rune(text)) == 1 && f.enc != mark {
			continue
		}
		unit := oracleEncodings[f.enc].unit
		for at := start % unit; at < len(content); at += unit {
			if f.end(content, at) >= 0 {
				return true
			}
		}
	}
	return false
}

// oracleFind returns the match to report and the number of matches; enc is -1 without one.
func oracleFind(pattern string, content []byte) (enc, start, end, count int) {
	forms := oracleForms(pattern, content)
	enc = -1
	for at, free := 0, 0; at < len(content); at++ {
		for _, f := range forms {
			e := f.end(content, at)
			if e < 0 {
				continue
			}
			if enc < 0 {
				enc, start, end = f.enc, at, e
			}
			if at >= free {
				count++
				free = e
			}
		}
	}
	if enc <= 0 {
		return enc, start, end, count
	}
	// Of two overlapping readings in opposite byte orders, the aligned one is the text.
	unit := oracleEncodings[enc].unit
	for _, f := range forms {
		if f.enc == enc || oracleEncodings[f.enc].unit != unit || start%unit == 0 {
			continue
		}
		for at := start; at < start+unit; at++ {
			if e := f.end(content, at); e >= 0 {
				if at%unit == 0 {
					return f.enc, at, e, count
				}
				break
			}
		}
	}
	return enc, start, end, count
}

// An oracleChar is a character of a content: in UTF-16 a code unit.
type oracleChar struct {
	at, size int // bytes
	r        rune
}

// oracleRead cuts a content into characters, those of 16 or 32 bits from the first byte on that is aligned as align.
func oracleRead(enc int, content []byte, align int) []oracleChar {
	e := oracleEncodings[enc]
	var chars []oracleChar
	if e.unit == 1 {
		for at := 0; at < len(content); {
			r, n := oracleUTF8(content[at:])
			chars = append(chars, oracleChar{at, n, r})
			at += n
		}
		return chars
	}
	for at := align % e.unit; at < len(content); at += e.unit {
		if at+e.unit > len(content) {
			return append(chars, oracleChar{at, len(content) - at, 0xFFFD})
		}
		var v uint32
		for i := range e.unit {
			b := content[at+i]
			if e.little {
				b = content[at+e.unit-1-i]
			}
			v = v<<8 | uint32(b)
		}
		if e.unit == 4 && (v > 0x10FFFF || v >= 0xD800 && v <= 0xDFFF) {
			v = 0xFFFD
		}
		chars = append(chars, oracleChar{at, e.unit, rune(v)})
	}
	return chars
}

// oracleUTF8 is table 3-7 of the Unicode Standard: the valid bytes after each first byte. An incomplete character is
// one U+FFFD.
func oracleUTF8(b []byte) (rune, int) {
	first := b[0]
	var want int
	lo, hi := byte(0x80), byte(0xBF)
	switch {
	case first < 0x80:
		return rune(first), 1
	case first >= 0xC2 && first <= 0xDF:
		want = 1
	case first >= 0xE0 && first <= 0xEF:
		want = 2
		if first == 0xE0 {
			lo = 0xA0
		} else if first == 0xED {
			hi = 0x9F
		}
	case first >= 0xF0 && first <= 0xF4:
		want = 3
		if first == 0xF0 {
			lo = 0x90
		} else if first == 0xF4 {
			hi = 0x8F
		}
	default:
		return 0xFFFD, 1
	}
	r := rune(first) & (0x3F >> want)
	for i := 1; i <= want; i++ {
		if i >= len(b) || b[i] < lo || b[i] > hi {
			return 0xFFFD, i
		}
		r = r<<6 | rune(b[i]&0x3F)
		lo, hi = 0x80, 0xBF
	}
	return r, want + 1
}

// oracleUnits are a character's UTF-16 code units.
func oracleUnits(r rune) []uint16 {
	if r >= 0x10000 {
		v := uint32(r) - 0x10000
		return []uint16{uint16(0xD800 + v/0x400), uint16(0xDC00 + v%0x400)}
	}
	return []uint16{uint16(r)}
}

// An oracleText is a content read in one encoding.
type oracleText struct {
	chars []oracleChar
	lines []int    // offset at which each line begins
	runes []rune   // of the excerpt: surrogate pairs put together
	runAt []int    // offset of each rune
	units []uint16 // for line hashes: line ends are LF; no spaces, no tabs
	begin []int    // index in units at which each line begins
}

func oracleReadText(enc int, content []byte, align int) *oracleText {
	t := &oracleText{chars: oracleRead(enc, content, align), lines: []int{0}, begin: []int{0}}
	for i, c := range t.chars {
		lineEnd := c.r == '\n' || c.r == '\r' && (i+1 == len(t.chars) || t.chars[i+1].r != '\n')
		switch {
		case lineEnd:
			t.units = append(t.units, '\n')
			t.lines = append(t.lines, c.at+c.size)
			t.begin = append(t.begin, len(t.units))
		case c.r == '\r' || c.r == ' ' || c.r == '\t':
		default:
			t.units = append(t.units, oracleUnits(c.r)...)
		}
		r := c.r
		if n := len(t.runes); r >= 0xDC00 && r <= 0xDFFF && n > 0 && t.runes[n-1] >= 0xD800 && t.runes[n-1] <= 0xDBFF {
			t.runes[n-1] = 0x10000 + (t.runes[n-1]-0xD800)*0x400 + (r - 0xDC00)
			continue
		}
		t.runes, t.runAt = append(t.runes, r), append(t.runAt, c.at)
	}
	for i, r := range t.runes {
		if r >= 0xD800 && r <= 0xDFFF {
			t.runes[i] = 0xFFFD
		}
	}
	t.units = append(t.units, 0xFFFF)
	return t
}

// place returns the 1-based line and columns of an offset.
func (t *oracleText) place(offset int) (line, column, utf16Column int64) {
	i := len(t.lines) - 1
	for t.lines[i] > offset {
		i--
	}
	utf16Column = 1
	for _, c := range t.chars {
		if c.at >= t.lines[i] && c.at < offset && (c.at > 0 || c.r != 0xFEFF) {
			utf16Column += int64(len(oracleUnits(c.r)))
		}
	}
	return int64(i + 1), int64(offset-t.lines[i]) + 1, utf16Column
}

// lineHash is the hash of a 1-based line, by the definition of docs/verdict.md.
func (t *oracleText) lineHash(line int64) string {
	hash := func(i int64) (h uint64) {
		rest := t.units[t.begin[i]:]
		for k := range 100 {
			h *= 37
			if k < len(rest) {
				h += uint64(rest[k])
			}
		}
		return h
	}
	want, count := hash(line-1), 0
	for i := range line {
		if hash(i) == want {
			count++
		}
	}
	return strconv.FormatUint(want, 16) + ":" + strconv.Itoa(count)
}

// excerpt returns its three parts.
func (t *oracleText) excerpt(start, end int) (before, match, after []rune) {
	line, _, _ := t.place(start)
	done := false
	for i, r := range t.runes {
		at := t.runAt[i]
		switch {
		case at < t.lines[line-1] || at == 0 && r == 0xFEFF && start > 0:
		case at < start:
			before = append(before, r)
		case at < end:
			match = append(match, r)
		case r == '\n' || r == '\r':
			done = true
		case !done:
			after = append(after, r)
		}
	}
	if len(match) > 200 {
		match = match[:200]
	}
	left, right := 0, 0
	for len(match)+left+right < 200 {
		switch {
		case right < len(after) && (right <= left || left == len(before)):
			right++
		case left < len(before):
			left++
		default:
			return before[len(before)-left:], match, after[:right]
		}
	}
	return before[len(before)-left:], match, after[:right]
}

// oracleMark returns the encoding of the longest BOM at the start of a content, or UTF-8.
func oracleMark(content []byte) int {
	mark, longest := 0, 0
	for enc := range oracleEncodings {
		if m := oracleEncode(enc, 0xFEFF); len(m) > longest && strings.HasPrefix(string(content), string(m)) {
			mark, longest = enc, len(m)
		}
	}
	return mark
}

// oraclePath reports whether a rule's globs match a path, with A-Z lowered if the rule wants it, and no exclude of the
// rule or its file does.
func oraclePath(r *rules.Rule, globs []string, path string) bool {
	match := func(g, p string) bool {
		return glob.Compile([]string{g}).Match(p)
	}
	lower := func(s string) string {
		b := []byte(s)
		for i, c := range b {
			if r.PathCase && c >= 'A' && c <= 'Z' {
				b[i] = c + 32
			}
		}
		return string(b)
	}
	for _, g := range append(append([]string{}, r.Exclude...), r.FileExclude...) {
		if match(g, path) {
			return false
		}
	}
	for _, g := range globs {
		if match(lower(g), lower(path)) {
			return true
		}
	}
	return false
}

// oracleAt is a violation without a place: a path, or a missing pattern.
func oracleAt(r *rules.Rule, path, kind, name, reason string) verdict.Violation {
	v := verdict.Violation{RuleID: r.ID, RuleType: string(r.Type), Title: r.Title, File: path, Reason: r.Message}
	if v.Reason == "" {
		v.Reason = r.Title + ": " + reason
	}
	v.Evidence = verdict.Evidence{
		Kind: kind, Pattern: name, Line: 1, Column: 1, EndLine: 1, EndColumn: 1, UTF16Column: 1, UTF16EndColumn: 1, Occurrences: 1,
	}
	var text string
	for _, part := range []string{r.ID, path, name, "\n" + kind} {
		text += fmt.Sprint(len(part), ":", part)
	}
	v.Fingerprint = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	return v
}

// oracleFile is Check, by the oracle, for rules that include path rules.
func oracleFile(list []rules.Rule, path string, content []byte) (got []verdict.Violation) {
	for _, typ := range []rules.Type{rules.Boundary, rules.Invariant} {
		for i := range list {
			r := &list[i]
			if r.Type != typ {
				continue
			}
			if oraclePath(r, r.Files, path) {
				got = append(got, oracle(list[i:i+1], path, content)...)
				for _, item := range r.Required {
					if oracleHas(item.Name, content) {
						continue
					}
					v := oracleAt(r, path, "missing", item.Name, "the file does not contain "+strconv.Quote(item.Name)+", which is required")
					e := &v.Evidence
					e.EndLine, e.EndColumn, e.UTF16EndColumn = oracleReadText(oracleMark(content), content, 0).place(len(content))
					got = append(got, v)
				}
			}
			for _, g := range r.ForbiddenFiles {
				if oraclePath(r, []string{g}, path) {
					got = append(got, oracleAt(r, path, "file", g, "the path matches "+strconv.Quote(g)+", which is forbidden"))
				}
			}
		}
	}
	return got
}

// oracle is Check for rules that all select path.
func oracle(list []rules.Rule, path string, content []byte) (got []verdict.Violation) {
	texts := map[[2]int]*oracleText{} // by encoding and alignment
	for _, typ := range []rules.Type{rules.Boundary, rules.Invariant} {
		for i := range list {
			for _, pattern := range rules.Names(list[i].Patterns) {
				if list[i].Type != typ {
					continue
				}
				enc, start, end, count := oracleFind(pattern, content)
				if enc < 0 {
					continue
				}
				v := oracleViolation(&list[i], path, pattern, oracleTextAt(texts, content, enc, start), content, start, end)
				v.Evidence.Kind = "text"
				v.Evidence.Places = oraclePlaces(pattern, content, texts)
				v.Evidence.Occurrences, v.Evidence.Encoding = int64(count), oracleEncodings[enc].name
				got = append(got, v)
			}
		}
	}
	return got
}

// oraclePlaces returns the first 100 matches that oracleFind counts, beginning with the one to report.
func oraclePlaces(pattern string, content []byte, texts map[[2]int]*oracleText) (places []verdict.Place) {
	forms := oracleForms(pattern, content)
	reported, reportedAt, reportedEnd, _ := oracleFind(pattern, content)
	for at, free := 0, 0; at < len(content) && len(places) < 100; at++ {
		for _, f := range forms {
			e := f.end(content, at)
			if e < 0 || at < free {
				continue
			}
			free = e
			enc, start, end := f.enc, at, e
			// Of two readings of the same bytes, the aligned one is the text.
			unit := oracleEncodings[enc].unit
			aligned := (at + unit - 1) / unit * unit
			for i := len(forms) - 1; i >= 0; i-- {
				if other := forms[i]; oracleEncodings[other.enc].unit == unit && aligned != at {
					if e := other.end(content, aligned); e >= 0 {
						enc, start, end = other.enc, aligned, e
					}
				}
			}
			if len(places) == 0 {
				enc, start, end = reported, reportedAt, reportedEnd
			}
			t := oracleTextAt(texts, content, enc, start)
			p := verdict.Place{Offset: int64(start)}
			p.Line, p.Column, _ = t.place(start)
			p.EndLine, p.EndColumn, _ = t.place(end)
			places = append(places, p)
		}
	}
	return places
}

// oracleTextAt returns the content as text in the encoding and at the alignment of a match.
func oracleTextAt(texts map[[2]int]*oracleText, content []byte, enc, start int) *oracleText {
	key := [2]int{enc, start % oracleEncodings[enc].unit}
	if texts[key] == nil {
		texts[key] = oracleReadText(enc, content, start)
	}
	return texts[key]
}

func oracleViolation(r *rules.Rule, path, pattern string, t *oracleText, content []byte, start, end int) verdict.Violation {
	v := verdict.Violation{RuleID: r.ID, RuleType: string(r.Type), Title: r.Title, File: path, Reason: r.Message}
	if v.Reason == "" {
		v.Reason = r.Title + ": the file contains " + strconv.Quote(pattern) + ", which must not appear"
	}
	e := &v.Evidence
	e.Pattern, e.Offset = pattern, int64(start)
	e.Line, e.Column, e.UTF16Column = t.place(start)
	e.EndLine, e.EndColumn, e.UTF16EndColumn = t.place(end)
	e.LineHash = t.lineHash(e.Line)

	lineEnd := len(content)
	for _, c := range t.chars {
		if c.at >= start && (c.r == '\n' || c.r == '\r') {
			lineEnd = c.at
			break
		}
	}
	line := content[max(start-int(e.Column)+1, start-2048):min(lineEnd, start+2048)]
	before, match, after := t.excerpt(start, end)
	if r.Redact {
		for _, part := range [][]rune{before, after} {
			for i, c := range part {
				if !strings.ContainsRune(" \t\v\f\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000", c) && (c < 0x2000 || c > 0x200a) {
					part[i] = '•'
				}
			}
		}
		e.LineHash = ""
		line = []byte(string(before) + string(match) + string(after))
	}
	e.Excerpt = string(before) + string(match) + string(after)
	var text string
	for _, part := range []string{r.ID, path, pattern, string(line)} {
		text += fmt.Sprint(len(part), ":", part)
	}
	v.Fingerprint = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	return v
}
