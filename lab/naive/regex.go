package naive

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// compile compiles an expression that matches in lines, or says why a bundle may not have it.
// With ofFile they are the lines of a file, where none begins with a byte order mark.
func compile(expr string, ofFile bool) (*regexp.Regexp, error) {
	if err := linesOnly(expr); err != nil {
		return nil, err
	}
	re, tree, err := parse(expr)
	if err != nil {
		return nil, err
	}
	noEnd := func(r rune) bool { return r != '\n' && r != '\r' }
	switch {
	case hasAnyCharacter(tree):
		return nil, errors.New("a class of any character")
	case !within(tree, noEnd):
		return nil, errors.New("it matches only across a line end")
	case len(language{char: noEnd}.stretches(tree)) == 0:
		return nil, errors.New("it matches in no line")
	case ofFile && len(language{char: noEnd, noMark: true}.stretches(tree)) == 0:
		return nil, errors.New("it matches only a byte order mark at the start of a line")
	}
	return re, nil
}

// compileWhole is compile for an expression that begins with (?s), which matches in a whole text.
func compileWhole(expr string) (*regexp.Regexp, error) {
	for _, t := range tokens(expr) {
		if t.flags("m") {
			return nil, errors.New("(?m) in an expression for a whole text")
		}
		if t.isTextEnd() {
			return nil, errors.New("an assertion for which ^ or $ stands")
		}
	}
	re, tree, err := parse(expr)
	if err == nil && len(language{char: func(rune) bool { return true }}.stretches(tree)) == 0 {
		err = errors.New("it matches no text")
	}
	return re, err
}

// parse returns an expression and its syntax.
func parse(expr string) (*regexp.Regexp, *syntax.Regexp, error) {
	if strings.ContainsFunc(expr, unicode.IsControl) {
		return nil, nil, errors.New("a control character as it is")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, nil, err
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, nil, fmt.Errorf("regexp compiles what regexp/syntax does not parse: %w", err)
	}
	if shortest(tree) == 0 {
		return nil, nil, errors.New("it matches the empty text, assertions aside")
	}
	return re, tree, nil
}

// hasAnyCharacter reports whether a part of an expression means any character, line ends included.
func hasAnyCharacter(re *syntax.Regexp) bool {
	return re.Op == syntax.OpAnyChar || re.Op == syntax.OpCharClass && slices.Equal(re.Rune, []rune{0, unicode.MaxRune}) ||
		slices.ContainsFunc(re.Sub, hasAnyCharacter)
}

// shortest is the number of characters of the shortest match, assertions aside. What never matches counts as long.
func shortest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpNoMatch:
		return 1
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * shortest(re.Sub[0])
	case syntax.OpConcat:
		sum := 0
		for _, sub := range re.Sub {
			sum += shortest(sub)
		}
		return sum
	case syntax.OpAlternate:
		least := shortest(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			least = min(least, shortest(sub))
		}
		return least
	}
	return 0 // an assertion, the empty text, a star or a question mark
}

// within reports whether the expression has a match of characters that a text can have, assertions aside.
func within(re *syntax.Regexp, has func(rune) bool) bool {
	sub := func(re *syntax.Regexp) bool { return within(re, has) }
	hasNot := func(r rune) bool { return !has(r) }
	switch re.Op {
	case syntax.OpLiteral:
		return !slices.ContainsFunc(re.Rune, hasNot)
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if has(r) {
					return true
				}
			}
		}
		return len(re.Rune) == 0
	case syntax.OpCapture, syntax.OpPlus:
		return sub(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || sub(re.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(re *syntax.Regexp) bool { return !sub(re) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, sub)
	}
	return true
}

// A place is between two characters of a line: what is before it and what is after it. w is a word character, o another,
// and | an end of the line.
type place struct{ before, after rune }

// everywhere is all places.
func everywhere() []place {
	var all []place
	for _, before := range "wo|" {
		for _, after := range "wo|" {
			all = append(all, place{before, after})
		}
	}
	return all
}

// A stretch is a part of a line, from one place to another.
type stretch struct{ from, to place }

// A language is which characters a text can have.
type language struct {
	char   func(rune) bool
	noMark bool // none begins with U+FEFF
}

// stretches are what an expression can match, judged by its ends: none if it matches in no line.
func (l language) stretches(re *syntax.Regexp) map[stretch]bool {
	if re.Op >= syntax.OpCapture && re.Op <= syntax.OpRepeat {
		sub := l.stretches(re.Sub[0])
		switch re.Op {
		case syntax.OpCapture:
			return sub
		case syntax.OpStar:
			return repeated(sub, 0, -1)
		case syntax.OpPlus:
			return repeated(sub, 1, -1)
		case syntax.OpQuest:
			return repeated(sub, 0, 1)
		}
		return repeated(sub, re.Min, re.Max)
	}
	switch re.Op {
	case syntax.OpNoMatch:
		return nil
	case syntax.OpLiteral:
		all := nowhere(func(place) bool { return true })
		for _, r := range re.Rune {
			class := []rune{r, r}
			for other := unicode.SimpleFold(r); re.Flags&syntax.FoldCase != 0 && other != r; other = unicode.SimpleFold(other) {
				class = append(class, other, other)
			}
			all = joined(all, l.character(class))
		}
		return all
	case syntax.OpCharClass:
		return l.character(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return l.character([]rune{0, unicode.MaxRune})
	case syntax.OpConcat:
		all := nowhere(func(place) bool { return true })
		for _, sub := range re.Sub {
			all = joined(all, l.stretches(sub))
		}
		return all
	case syntax.OpAlternate:
		all := map[stretch]bool{}
		for _, sub := range re.Sub {
			maps.Copy(all, l.stretches(sub))
		}
		return all
	}
	return nowhere(func(p place) bool {
		boundary := (p.before == 'w') != (p.after == 'w')
		switch re.Op {
		case syntax.OpBeginLine, syntax.OpBeginText:
			return p.before == '|'
		case syntax.OpEndLine, syntax.OpEndText:
			return p.after == '|'
		case syntax.OpWordBoundary:
			return boundary
		case syntax.OpNoWordBoundary:
			return !boundary
		}
		return true // the empty text
	})
}

// nowhere are the stretches without a character, at the places where something holds.
func nowhere(holds func(place) bool) map[stretch]bool {
	all := map[stretch]bool{}
	for _, p := range everywhere() {
		if holds(p) {
			all[stretch{p, p}] = true
		}
	}
	return all
}

// character are the stretches of one character of a class that a text can have.
func (l language) character(class []rune) map[stretch]bool {
	kinds := map[rune]bool{}
	onlyMark := !slices.ContainsFunc(class, func(r rune) bool { return r != '\uFEFF' })
	for i := 0; i < len(class); i += 2 {
		for r := class[i]; r <= class[i+1]; r++ {
			switch {
			case !l.char(r) || !utf8.ValidRune(r):
			case isWord(uint32(r)):
				kinds['w'] = true
			default:
				kinds['o'] = true
			}
			if r > 127 && kinds['o'] {
				break // no word character is left
			}
		}
	}
	all := map[stretch]bool{}
	for kind := range kinds {
		for _, p := range everywhere() {
			if l.noMark && onlyMark && p.before == '|' {
				continue
			}
			all[stretch{place{p.before, kind}, place{kind, p.after}}] = true
		}
	}
	return all
}

// joined are the stretches of one expression and then another.
func joined(first, second map[stretch]bool) map[stretch]bool {
	all := map[stretch]bool{}
	for a := range first {
		for b := range second {
			if a.to == b.from {
				all[stretch{a.from, b.to}] = true
			}
		}
	}
	return all
}

// repeated are the stretches of an expression so many times; -1 is without end.
func repeated(once map[stretch]bool, least, most int) map[stretch]bool {
	all := nowhere(func(place) bool { return true })
	for range least {
		all = joined(all, once)
	}
	for n := least; most < 0 || n < most; n++ {
		more := maps.Clone(all)
		maps.Copy(more, joined(all, once))
		if len(more) == len(all) {
			break
		}
		all = more
	}
	return all
}

// A regexFind is a match, with its reading.
type regexFind struct {
	Find
	reading int // the order in which the reading counts
}

// findRegexp looks through all readings, and counts over all of them together from the left.
func (i Item) findRegexp(content string) []Find {
	var all []regexFind
	for n, r := range readings(content) {
		for _, f := range i.inReading(content, r.encoding, r.start) {
			all = append(all, regexFind{f, n})
		}
	}
	slices.SortStableFunc(all, func(a, b regexFind) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.reading, b.reading))
	})
	var finds []Find
	end := 0
	for _, f := range all {
		if f.Offset >= end {
			finds, end = append(finds, f.Find), f.End
		}
	}
	return finds
}

// A reading is an encoding from an offset on.
type reading struct {
	encoding Encoding
	start    int
}

// readings are UTF-8, and if the content has a UTF-16 or UTF-32 mark or a NUL byte, the others from offset 0 and from
// behind each mark that it begins with.
func readings(content string) []reading {
	all := []reading{{Encodings()[0], 0}}
	wide := strings.Contains(content, "\x00")
	starts := []int{0}
	for _, e := range Encodings() {
		if e.isMarkOf(content) {
			wide = wide || e.Unit > 1
			starts = append(starts, len(e.mark()))
		}
	}
	if !wide {
		return all
	}
	slices.Sort(starts)
	for _, e := range Encodings()[1:] {
		for _, start := range starts {
			all = append(all, reading{e, start})
		}
	}
	return all
}

// inReading returns the matches in each line that counts, the first 100 of each.
func (i Item) inReading(content string, e Encoding, start int) []Find {
	var finds []Find
	for n, line := range lines(content, e, start) {
		if i.WithinLines > 0 && n >= i.WithinLines {
			break
		}
		for _, m := range i.inLine(line.text) {
			finds = append(finds, Find{line.offsets[m[0]], line.offsets[m[1]], e})
		}
	}
	return finds
}

// inLine returns the first 100 matches in a line except the excepted ones, or the 101st if all of them are.
func (i Item) inLine(text string) [][]int {
	all := i.Regexp.FindAllStringIndex(text, 101)
	var excepted [][]int
	if i.Except != nil {
		excepted = i.Except.FindAllStringIndex(text, 100)
	}
	first := slices.DeleteFunc(slices.Clone(all[:min(len(all), 100)]), func(m []int) bool {
		return slices.ContainsFunc(excepted, func(e []int) bool { return e[0] <= m[0] && m[1] <= e[1] })
	})
	if len(first) == 0 && len(all) > 100 {
		return all[100:]
	}
	return first
}

// A line is its text without its end, and for each byte of the text, and its end, the offset in the content.
type line struct {
	text    string
	offsets []int
}

// lines reads a content from an offset on, without a byte order mark at the start of the content.
func lines(content string, e Encoding, start int) []line {
	var all []line
	var text []byte
	var offsets []int
	at := start
	finish := func(end int) {
		all = append(all, line{string(text), append(offsets, end)})
		text, offsets = nil, nil
	}
	for {
		r, size := e.runeAt(content, at)
		switch {
		case size == 0:
			finish(at)
			return all
		case r == '\uFEFF' && at == 0:
		case r == '\n':
			finish(at)
		case r == '\r':
			finish(at)
			if next, more := e.runeAt(content, at+size); next == '\n' {
				size += more
			}
		default:
			for range len(string(r)) {
				offsets = append(offsets, at)
			}
			text = append(text, string(r)...)
		}
		at += size
	}
}
