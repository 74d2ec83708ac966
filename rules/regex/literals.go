package regex

import (
	"cmp"
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Literal is a string that a match contains.
type Literal struct {
	// Text is UTF-8, 1 to 64 bytes, without U+FFFD and line ends. To search in another encoding, encode it.
	Text string
	Fold bool // A-Z and a-z match each other, and no other letters; Text is in lower case
}

// Literals returns strings of which every match contains at least one: few and long ones, at most 500, none inside
// another; nil if unknown. The caller must not change them.
//
// They come from the syntax tree, bottom-up. For each part the strings that it matches are known if they are few (up
// to 16 by concatenation, up to 500 by alternation). Otherwise the beginnings and the ends of its matches are known,
// and a set of strings of which each match contains one: a set of a sub-part, or the ends of one part joined with the
// beginnings of the next, whichever is better. The better set has a string of three bytes or more in each match, then
// longer and fewer strings. An alternation has the strings of all its branches. A class counts if it has at most four
// different characters.
//
// Where case is ignored, ASCII letters become a Literal with Fold, and other characters that fold to them become
// variants: (?i)key is "key" and "\u212Aey", the Kelvin sign, both with Fold. A case-sensitive part may get Fold from
// its neighbor, which only adds candidates.
func (e *Expr) Literals() []Literal { return e.literals }

// Slow reports whether some match may contain no literal of three bytes or more, so that a search cannot skip much.
func (e *Expr) Slow() bool { return shortest(e.literals) < usefulBytes }

const (
	usefulBytes   = 3   // minimum length of a useful literal
	literalBytes  = 64  // longer ones are cut
	maxJoined     = 16  // of a concatenation of two sets
	maxUnited     = 500 // of a union, also when the strings are added one by one
	maxCharacters = 4   // of a class
	maxCopies     = 8   // of a repetition
)

type facts struct {
	// If whole, begin and end are the same, and every match is one of these; empty if nothing in a line matches.
	// Otherwise every match begins with one of begin and ends with one of end. With Fold, case is ignored.
	whole      bool
	begin, end []Literal
	need       []Literal // every match contains one of these; nil if unknown
}

func required(tree *syntax.Regexp) []Literal {
	need := factsOf(tree).need
	if len(need) == 0 {
		return nil
	}
	// Literals that contain another one find nothing more.
	slices.SortFunc(need, func(a, b Literal) int {
		return cmp.Or(len(a.Text)-len(b.Text), -compareFold(a, b), compare(a, b))
	})
	var few []Literal
	for _, l := range need {
		if !slices.ContainsFunc(few, func(other Literal) bool { return other.in(l) }) {
			few = append(few, l)
		}
	}
	slices.SortFunc(few, compare)
	return few
}

// in reports whether each text that contains l also contains x.
func (x Literal) in(l Literal) bool {
	if x.Fold {
		return strings.Contains(lower(l.Text), x.Text)
	}
	return strings.Contains(l.Text, x.Text) && (!l.Fold || !hasLetter(x.Text))
}

func factsOf(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpNoMatch:
		return exactly()
	case syntax.OpLiteral:
		f := exactly(Literal{})
		for _, c := range re.Rune {
			f = concat(f, character(c, re.Flags&syntax.FoldCase != 0))
		}
		return f
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpStar:
		return anything()
	case syntax.OpCapture:
		return factsOf(re.Sub[0])
	case syntax.OpQuest:
		return unite([]facts{factsOf(re.Sub[0]), exactly(Literal{})})
	case syntax.OpPlus:
		return factsOf(re.Sub[0]).several()
	case syntax.OpRepeat:
		return repeated(re)
	case syntax.OpConcat:
		f := exactly(Literal{})
		for _, sub := range re.Sub {
			f = concat(f, factsOf(sub))
		}
		return f
	case syntax.OpAlternate:
		branches := make([]facts, len(re.Sub))
		for i, sub := range re.Sub {
			branches[i] = factsOf(sub)
		}
		return unite(branches)
	}
	return exactly(Literal{}) // an assertion, or nothing
}

func exactly(texts ...Literal) facts {
	f := facts{whole: true, begin: distinct(texts)}
	f.end = f.begin
	if shortest(f.begin) > 0 {
		f.need = f.begin
	}
	return f
}

func anything() facts {
	return facts{begin: []Literal{{}}, end: []Literal{{}}}
}

func (f facts) dead() bool { return f.whole && len(f.begin) == 0 }

func (f facts) several() facts {
	f.whole = f.dead()
	return f
}

func repeated(re *syntax.Regexp) facts {
	switch {
	case re.Max == 0:
		return exactly(Literal{})
	case re.Min == 0 && re.Max == 1:
		return unite([]facts{factsOf(re.Sub[0]), exactly(Literal{})})
	case re.Min == 0:
		return anything()
	}
	one := factsOf(re.Sub[0])
	f := one
	for range min(re.Min, maxCopies) - 1 {
		f = concat(f, one)
	}
	if re.Min != re.Max || re.Min > maxCopies {
		f = f.several()
	}
	return f
}

func character(c rune, fold bool) facts {
	if !fold {
		return class([]rune{c, c})
	}
	all := []rune{c, c}
	for x := unicode.SimpleFold(c); x != c; x = unicode.SimpleFold(x) {
		all = append(all, x, x)
	}
	return class(all)
}

func class(ranges []rune) facts {
	var texts []Literal
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo <= utf8.RuneError && utf8.RuneError <= hi { // also any byte that is not UTF-8
			return anything()
		}
		for c := lo; c <= hi; c++ {
			if c == firstSurrogate {
				c = lastSurrogate + 1 // excludes U+FFFD
			}
			if c == '\n' || c == '\r' || c > hi || firstSurrogate <= c && c <= lastSurrogate {
				continue
			}
			l := Literal{Text: string(c)}
			if other := c ^ 0x20; isLetter(c) && has(ranges, other) {
				l = Literal{lower(l.Text), true}
			}
			texts = append(texts, l)
			if len(texts) > 2*maxCharacters {
				return anything()
			}
		}
	}
	if f := exactly(texts...); len(f.begin) <= maxCharacters {
		return f
	}
	return anything()
}

func has(ranges []rune, c rune) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= c && c <= ranges[i+1] {
			return true
		}
	}
	return false
}

func concat(a, b facts) facts {
	if a.dead() || b.dead() {
		return exactly()
	}
	between, ok := join(a.end, b.begin)
	if a.whole && b.whole && ok && !slices.ContainsFunc(between, tooLong) {
		f := exactly(between...)
		f.need = better(f.need, better(a.need, b.need))
		return f
	}
	f := facts{begin: a.begin, end: b.end}
	if a.whole {
		if joined, ok := join(a.begin, b.begin); ok {
			f.begin = cut(joined, false)
		}
	}
	if b.whole {
		if joined, ok := join(a.end, b.end); ok {
			f.end = cut(joined, true)
		}
	}
	f.need = better(a.need, b.need)
	if ok {
		f.need = better(f.need, cut(between, false))
	}
	return f
}

func unite(branches []facts) facts {
	branches = slices.DeleteFunc(branches, facts.dead)
	if len(branches) == 0 {
		return exactly()
	}
	f := facts{whole: true}
	needed := true
	for _, b := range branches {
		f.whole = f.whole && b.whole
		f.begin = append(f.begin, b.begin...)
		f.end = append(f.end, b.end...)
		f.need = append(f.need, b.need...)
		needed = needed && b.need != nil
	}
	f.begin, f.end, f.need = distinct(f.begin), distinct(f.end), distinct(f.need)
	if len(f.begin) > maxUnited {
		f.whole, f.begin = false, []Literal{{}}
	}
	if len(f.end) > maxUnited {
		f.whole, f.end = false, []Literal{{}}
	}
	if !needed || len(f.need) > maxUnited {
		f.need = nil
	}
	return f
}

// join returns each of a followed by each of b, if the result is small.
func join(a, b []Literal) ([]Literal, bool) {
	most := maxJoined
	if len(a) == 1 || len(b) == 1 {
		most = maxUnited
	}
	if len(a)*len(b) > most {
		return nil, false
	}
	texts := make([]Literal, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			l := Literal{x.Text + y.Text, x.Fold || y.Fold}
			if l.Fold {
				l.Text = lower(l.Text)
			}
			texts = append(texts, l)
		}
	}
	return distinct(texts), true
}

func tooLong(l Literal) bool { return len(l.Text) > literalBytes }

// cut shortens literals to their beginnings, or their ends, in whole characters.
func cut(texts []Literal, end bool) []Literal {
	if !slices.ContainsFunc(texts, tooLong) {
		return texts
	}
	short := make([]Literal, len(texts))
	for i, l := range texts {
		if tooLong(l) {
			if end {
				at := len(l.Text) - literalBytes
				for !utf8.RuneStart(l.Text[at]) {
					at++
				}
				l.Text = l.Text[at:]
			} else {
				l.Text = l.Text[:wholeRunes(l.Text, literalBytes)]
			}
			l.Fold = l.Fold && hasLetter(l.Text)
		}
		short[i] = l
	}
	return distinct(short)
}

// wholeRunes returns the last character boundary of a string up to at.
func wholeRunes(text string, at int) int {
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// better returns the better of two sets for a search. A set that is empty, or has an empty string, is unusable.
func better(a, b []Literal) []Literal {
	switch {
	case shortest(b) == 0:
		return a
	case shortest(a) == 0 || worth(b) > worth(a):
		return b
	}
	return a
}

// worth rates a set for a search. Length counts more than a low number: one more byte is worth twice as many literals.
func worth(texts []Literal) int {
	bytes := shortest(texts)
	n := 4*min(bytes, 16) - 3*bits.Len(uint(len(texts)-1))
	if slices.ContainsFunc(texts, func(l Literal) bool { return l.Fold }) {
		n--
	}
	if bytes >= usefulBytes {
		n += 1000
	}
	return n
}

// shortest returns the length of the shortest literal in bytes, or 0.
func shortest(texts []Literal) int {
	n := 0
	for i, l := range texts {
		if i == 0 || len(l.Text) < n {
			n = len(l.Text)
		}
	}
	return n
}

// distinct sorts literals and removes duplicates, in place.
func distinct(texts []Literal) []Literal {
	slices.SortFunc(texts, compare)
	return slices.Compact(texts)
}

func compare(a, b Literal) int {
	return cmp.Or(strings.Compare(a.Text, b.Text), compareFold(a, b))
}

func compareFold(a, b Literal) int {
	switch {
	case a.Fold == b.Fold:
		return 0
	case a.Fold:
		return 1
	}
	return -1
}

func isLetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func hasLetter(s string) bool { return strings.ContainsFunc(s, isLetter) }

func lower(s string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}, s)
}
