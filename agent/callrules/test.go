package callrules

import (
	"iter"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/rules/glob"
)

// An Op is the operator of a test.
type Op uint8

// The operators. Operators on text use the fact's text, and treat a fact without text as missing.
const (
	Equals   Op = iota // the text is Test.Text
	Contains           // Test.Text occurs in it, anywhere
	Begins             // it begins with Test.Text
	Ends               // it ends with Test.Text
	Matches            // Test.Regexp matches in it, anywhere
	Globs              // one of Test.Globs matches the whole of it
	OneOf              // the text is one of Test.Values
	Under              // the path Test.Text or one under it
	SameAs             // not the text: the value has the kind of one of Test.Values, and is equal
	Exists             // the fact exists
	Each               // the fact is a list that has an item for each of Test.Each, no item for two of them
)

// A truth is the value of a test that cannot be made.
type truth uint8

// What a test can be held for.
const (
	Fails   truth = iota
	Holds         //
	AsEmpty       // of Test.Absent alone: the test is made with an empty text
)

// A Regexp reports whether a text has a match. A regex of Go or of RE2 is a [regexp.Regexp]; one of JavaScript, which
// counts characters differently, is of package jsregexp.
type Regexp interface {
	MatchString(text string) bool
}

// A linesRegexp is a Regexp whose time to match is bounded, for all lines of a text together.
type linesRegexp interface {
	MatchAny(lines iter.Seq[string]) bool
}

// A Test is one question about one fact. The dialect decides about a missing fact and about an unusable operand, so
// both are fields here.
type Test struct {
	Fact Fact
	Op   Op
	Not  bool

	// Absent is the test's value when the fact is missing; Not does not invert it (with AsEmpty, Not inverts the test).
	Absent truth

	// Broken says why the operand cannot be used, such as a pattern that does not compile, or is "". The test is then
	// IfBroken, whatever the fact; Not does not invert it.
	Broken   string
	IfBroken truth

	// ByLine tests each line of the text separately, without its // comment, and holds (before Not) if any line
	// matches.
	ByLine bool

	Text   string
	Values []*call.Value
	Regexp Regexp
	Globs  *glob.Set
	Each   []Predicate // about FromItem

	Shown string // the test in the words of its file, for a trace
}

// A Predicate is a condition on a call: all of some predicates, any of some, or one test. At most one of the three is
// set. A predicate without any of them holds for every call.
type Predicate struct {
	All, Any []Predicate
	Test     *Test
}

// Join is all of some predicates, or any.
func Join(list []Predicate, all bool) Predicate {
	switch {
	case len(list) == 1:
		return list[0]
	case all:
		return Predicate{All: list}
	}
	return Predicate{Any: list}
}

// holds reports whether the predicate holds, and otherwise the last failed test (or nil).
func (p *Predicate) holds(f *facts) (bool, *Test) {
	switch {
	case p.Test != nil:
		return p.Test.holds(f), p.Test
	case p.All != nil:
		for i := range p.All {
			if ok, why := p.All[i].holds(f); !ok {
				return false, why
			}
		}
	case p.Any != nil:
		var why *Test
		for i := range p.Any {
			ok, last := p.Any[i].holds(f)
			if ok {
				return true, nil
			}
			why = last
		}
		return false, why
	}
	return true, nil
}

// About reports whether a predicate has a test of a source.
func (p *Predicate) About(s Source) bool {
	about := func(p Predicate) bool { return p.About(s) }
	return p.Test != nil && p.Test.Fact.Source == s || slices.ContainsFunc(p.All, about) ||
		slices.ContainsFunc(p.Any, about)
}

func (t *Test) holds(f *facts) bool {
	if t.Broken != "" {
		return t.IfBroken == Holds
	}
	var is, known bool
	switch t.Op {
	case SameAs:
		v := f.value(&t.Fact)
		known = v != nil
		is = slices.ContainsFunc(t.Values, v.Same)
	case Exists:
		is = f.value(&t.Fact) != nil
		known = is || !f.may && f.unsure(&t.Fact) == "" // what is unknown may exist
	case Each:
		var items []*call.Value
		items, known = f.list(&t.Fact)
		if known && t.Not && t.Fact.Source == FromArguments && f.hidden() {
			return false
		}
		is = known && t.eachIn(f, items)
	default:
		if t.Fact.Source == FromProgram && f.command != nil {
			return t.ofProgram(f)
		}
		if t.Fact.Source == FromUnseen && f.command != nil && f.command.Parsed.Unseen != "" {
			return t.ofUnseen(f)
		}
		var text string
		if text, known = f.text(&t.Fact); !known && t.Absent == AsEmpty {
			known = true
		}
		is = known && (t.asks(text) || t.asksOther(f, text))
	}
	if !known {
		return t.Absent == Holds || f.may || f.strict && f.unsure(&t.Fact) != ""
	}
	return is != t.Not
}

// asksOther makes a test of a path as it is when the directory of the set is spelled as the rules spell it.
func (t *Test) asksOther(f *facts, path string) bool {
	if len(f.others) == 0 || t.Fact.Source != FromFSPath || t.Op != Equals && t.Op != Under {
		return false
	}
	if _, within := call.CutDir(t.Text, f.dir); !within {
		return false
	}
	for _, other := range f.others {
		other, _ = call.Resolve("", other)
		if rest, ok := call.CutDir(path, other); ok && t.asks(f.dir+rest) {
			return true
		}
	}
	return false
}

func (t *Test) asks(text string) bool {
	if !t.ByLine {
		return t.asksOf(text)
	}
	if re, ok := t.Regexp.(linesRegexp); ok && t.Op == Matches {
		return re.MatchAny(lines(text))
	}
	for line := range lines(text) {
		if t.asksOf(line) {
			return true
		}
	}
	return false
}

// lines yields the lines of a text, without what follows // in each.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "//")
			if !yield(line) {
				return
			}
		}
	}
}

func (t *Test) asksOf(text string) bool {
	switch t.Op {
	case Equals:
		return text == t.Text
	case Contains:
		return strings.Contains(text, t.Text)
	case Begins:
		return strings.HasPrefix(text, t.Text)
	case Ends:
		return strings.HasSuffix(text, t.Text)
	case Matches:
		return t.Regexp.MatchString(text)
	case Globs:
		return t.Globs.Match(text)
	case OneOf:
		return slices.ContainsFunc(t.Values, func(v *call.Value) bool {
			s, ok := v.Scalar()
			return ok && s == text
		})
	case Under:
		_, ok := call.CutDir(text, t.Text)
		return ok
	}
	return false
}

// eachIn reports whether each of the predicates can have its own item. The agent chooses the items, so this must not
// try all ways: a predicate takes a free item, or one whose owner finds another (Kuhn's matching, at most predicates
// x predicates x items steps).
func (t *Test) eachIn(f *facts, items []*call.Value) bool {
	outer := f.item
	defer func() { f.item = outer }()
	holds := func(p *Predicate, item *call.Value) bool {
		f.item = item
		ok, _ := p.holds(f)
		return ok
	}
	if len(t.Each) == 1 { // any will do, and there is nothing to give out
		return slices.ContainsFunc(items, func(item *call.Value) bool { return holds(&t.Each[0], item) })
	}
	fits := make([][]int, len(t.Each)) // the items that a predicate holds for
	for p := range t.Each {
		for i, item := range items {
			if holds(&t.Each[p], item) {
				fits[p] = append(fits[p], i)
			}
		}
		if fits[p] == nil {
			return false
		}
	}
	owner := map[int]int{} // predicates by item
	var place func(p int, asked map[int]bool) bool
	place = func(p int, asked map[int]bool) bool {
		for _, i := range fits[p] {
			if asked[i] {
				continue
			}
			asked[i] = true
			if q, taken := owner[i]; !taken || place(q, asked) {
				owner[i] = p
				return true
			}
		}
		return false
	}
	for p := range t.Each {
		if !place(p, map[int]bool{}) {
			return false
		}
	}
	return true
}
