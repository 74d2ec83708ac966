package match

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// A naive search, written from the specification: it decodes the whole content for each encoding and alignment, and
// tries each place. It shares no code with the other but the names of the encodings.

// A naiveAtom is a unit of a text, a line end, or a run of spaces.
type naiveAtom struct {
	kind     byte // 'u', 'e' or 's'
	unit     uint32
	optional bool // of a run: it also matches nothing
}

func naiveWord(c uint32) bool {
	return c < 128 && strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", rune(c))
}

// naiveUnits returns the units of a character.
func naiveUnits(r rune, unit int) (units []uint32) {
	switch unit {
	case 1:
		for _, b := range []byte(string(r)) {
			units = append(units, uint32(b))
		}
	case 2:
		for _, u := range utf16.Encode([]rune{r}) {
			units = append(units, uint32(u))
		}
	default:
		units = []uint32{uint32(r)}
	}
	return units
}

func naiveAtoms(text string, o Options, unit int) (atoms []naiveAtom) {
	chars := []rune(text)
	for i := 0; i < len(chars); i++ {
		switch c := chars[i]; {
		case c == '\r' && i+1 < len(chars) && chars[i+1] == '\n':
		case c == '\n':
			atoms = append(atoms, naiveAtom{kind: 'e'})
		case o.Spaces && (c == ' ' || c == '\t'):
			before := chars[i-1]
			for chars[i+1] == ' ' || chars[i+1] == '\t' {
				i++
			}
			inWords := naiveWord(uint32(before)) && naiveWord(uint32(chars[i+1]))
			atoms = append(atoms, naiveAtom{kind: 's', optional: !inWords})
		default:
			for _, u := range naiveUnits(c, unit) {
				atoms = append(atoms, naiveAtom{kind: 'u', unit: u})
			}
		}
	}
	return atoms
}

// naiveEnd returns where atoms that begin at a place of a content's units end, or -1.
func naiveEnd(atoms []naiveAtom, units []uint32, at int, o Options) int {
	if len(atoms) == 0 {
		return at
	}
	is := func(i int, c uint32) bool { return i < len(units) && units[i] == c }
	a, rest := atoms[0], atoms[1:]
	switch a.kind {
	case 'e':
		if is(at, '\r') && is(at+1, '\n') {
			if end := naiveEnd(rest, units, at+2, o); end >= 0 {
				return end
			}
		}
		if is(at, '\n') {
			return naiveEnd(rest, units, at+1, o)
		}
		return -1
	case 's':
		n := 0
		for is(at+n, ' ') || is(at+n, '\t') {
			n++
		}
		if n == 0 && !a.optional {
			return -1
		}
		return naiveEnd(rest, units, at+n, o)
	}
	same := is(at, a.unit)
	if o.IgnoreCase && at < len(units) && !same {
		const upper, lower = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
		for i := range upper {
			u, l := uint32(upper[i]), uint32(lower[i])
			same = same || units[at] == u && a.unit == l || units[at] == l && a.unit == u
		}
	}
	if !same {
		return -1
	}
	return naiveEnd(rest, units, at+1, o)
}

// naiveUnit returns the unit that data begins with.
func naiveUnit(enc encoding, data []byte) uint32 {
	switch enc {
	case utf8Enc:
		return uint32(data[0])
	case utf16LE:
		return uint32(binary.LittleEndian.Uint16(data))
	case utf16BE:
		return uint32(binary.BigEndian.Uint16(data))
	case utf32LE:
		return binary.LittleEndian.Uint32(data)
	}
	return binary.BigEndian.Uint32(data)
}

// naiveApart reports whether a match is not part of a longer word.
func naiveApart(a asked, units []uint32, start, end int) bool {
	first, last := uint32(a.text[0]), uint32(a.text[len(a.text)-1])
	before := start > 0 && naiveWord(first) && naiveWord(units[start-1])
	after := end < len(units) && naiveWord(last) && naiveWord(units[end])
	return !a.Words || !before && !after
}

// naiveLine is the line of a unit, from 1 on.
func naiveLine(units []uint32, i int) int {
	line := 1
	for k, c := range units[:i] {
		if c == '\n' || c == '\r' && units[k+1] != '\n' {
			line++
		}
	}
	return line
}

// A naiveFind is the naive search's result for a literal.
type naiveFind struct {
	encoding string
	match
	count  int64
	places string // the first hundred matches that are counted, each with its encoding
}

// naivePlaces writes down matches as those of a naiveFind.
func naivePlaces(list []placed) string {
	var b strings.Builder
	for _, p := range list[:min(len(list), 100)] {
		fmt.Fprintf(&b, "%d-%d %d; ", p.start, p.end, p.enc)
	}
	return b.String()
}

// naiveOf is what the other search finds out.
func naiveOf(f *Find) naiveFind {
	if f == nil {
		return naiveFind{}
	}
	return naiveFind{f.Evidence.Encoding, f.kept[0].match, f.Evidence.Occurrences, naivePlaces(f.kept)}
}

// naiveSearch returns what there is of a text in a content; a count of 0 for nothing.
func naiveSearch(text string, o Options, content []byte) naiveFind {
	type start struct {
		at  int64
		enc encoding
	}
	ends := map[start]int64{}
	var firsts [encodings]*match
	for enc := range encodings {
		unit := []int{1, 2, 2, 4, 4}[enc]
		mark := []string{"", "\xff\xfe", "\xfe\xff", "\xff\xfe\x00\x00", "\x00\x00\xfe\xff"}[enc]
		if len([]rune(text)) == 1 && !strings.HasPrefix(string(content), mark) {
			continue
		}
		atoms := naiveAtoms(text, o, unit)
		for align := range unit {
			var units []uint32
			for at := align; at+unit <= len(content); at += unit {
				units = append(units, naiveUnit(enc, content[at:]))
			}
			for i := range units {
				end := naiveEnd(atoms, units, i, o)
				if end < 0 || !naiveApart(asked{text, o}, units, i, end) ||
					o.WithinLines > 0 && naiveLine(units, i) > o.WithinLines {
					continue
				}
				m := match{int64(align + i*unit), int64(align + end*unit)}
				ends[start{m.start, enc}] = m.end
				if f := firsts[enc]; f == nil || m.start < f.start {
					firsts[enc] = &m
				}
			}
		}
	}
	var found naiveFind
	var places []placed
	units := []int64{1, 2, 2, 4, 4}
	free := int64(0)
	for at := range int64(len(content)) {
		for enc := range encodings {
			end, ok := ends[start{at, enc}]
			if !ok || at < free {
				continue
			}
			found.count++
			free = end
			// The text in whole units from the first byte is the one that a person reads.
			read := placed{match{at, end}, enc}
			for other := encodings - 1; other >= utf16LE; other-- {
				for later := at + 1; later < at+units[enc]; later++ {
					end, ok := ends[start{later, other}]
					if ok && at%units[enc] != 0 && units[other] == units[enc] && later%units[enc] == 0 {
						read = placed{match{later, end}, other}
					}
				}
			}
			places = append(places, read)
		}
	}
	best := -1
	for enc, f := range firsts {
		if f != nil && (best < 0 || f.start < firsts[best].start) {
			best = enc
		}
	}
	if best < 0 {
		return found
	}
	unit, first := units[best], firsts[best].start
	if first%unit != 0 {
		for enc, f := range firsts {
			if f != nil && units[enc] == unit && f.start%unit == 0 && f.start < first+unit {
				best = enc
			}
		}
	}
	found.encoding = []string{"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"}[best]
	found.match = *firsts[best]
	places[0] = placed{found.match, encoding(best)}
	found.places = naivePlaces(places)
	return found
}
