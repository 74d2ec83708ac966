// Package regex compiles the regular expressions of a bundle, refuses those that cannot mean what their author
// meant, and finds their matches. It is pure: it opens no file and knows no rule.
//
// # What an expression means
//
// An expression is RE2 as [regexp/syntax] reads it with the flags of [regexp.Compile]. Each line is a whole text
// without its end, which is LF, CRLF or a lone CR:
//
//   - ^ and $ are the ends of the line. (?m) changes nothing.
//   - No match has a line end in it: neither [^a] nor \s nor \W matches LF or CR.
//   - \b and \B see the line's own characters; beyond its ends there is none.
//
// Matches are unanchored and leftmost-first, as Go and Perl have them. The occurrences of a line are its first
// [MaxMatches] matches that do not overlap, from the left: what [regexp.Regexp.FindAllIndex] returns for the
// line. A byte that is not UTF-8 reads as U+FFFD, each by itself. A byte order mark is a character like any
// other: the caller skips the one at the start of a file. LS, PS, NEL, VT and FF end no line.
//
// An expression for a value that begins with (?s) matches the whole text at once: ^ and $ are the ends of the text, a
// last line end belongs to it, and LF and CR are characters like any others.
//
// # Refused expressions
//
// [Compile] returns an [*Error], which says what it found and what to write, for what RE2 does not have; an expression
// whose shortest match is empty, assertions left aside, so no match is ever empty; one that asks for more than a line
// ((?s), \n, (.|\n), [\s\S], \A, \z; a class that has a line end without naming it is accepted: \s, [^"]); one that
// cannot match (a$b, ^\b-) or matches only a byte order mark at the start of a line; a raw control character; and one
// over the limits below. No text is tried. As in Go, \12 is an octal escape and \< is a plain <.
//
// # How to search
//
// [Expr.Literals] are texts of which every match has at least one. Most lines have none, and a search for many
// literals at once is far faster than an expression: find them first, and give [Expr.Find] the whole line around
// each, once. Without literals, give it the whole text. A line that is too long to hold, and a text in another
// encoding, goes through [Expr.FindReader].
//
// # Cost
//
// In a text in memory a lazy DFA of at most some 200 KB first says which lines have a match: a look-up for each
// character, some 2 ns. It is given up for expressions that lead to too many states. Only lines that match are
// read for where.
//
// All matches of a line are found in one pass over it, and no line is held. What [regexp] does, one match after
// another, reads the rest of the line again for each a of a(?:.*b)?; see matcher for how that is avoided. A line
// of 1 GB takes half a minute and 5 KB with a(?:.*b)? as with (a+)+$. The time for a character is at most
// proportional to the instructions of the program: some 10 ns for a usual expression, less where nothing is under
// way, 0.1 ms for the largest.
//
// The worst expression within the limits takes half a second to parse (case-insensitive ranges such as
// (?i)[B-\x{1E942}], see [FoldedRanges]) or 60 MB (many \pL). Then it holds at most 3 MB, and 1 MB for each text that
// is being searched at the same time. Small expressions can be large programs (x{1000}), and a bundle can have many:
// who loads it adds up their [Expr.Bytes] and [FoldedRanges].
package regex

import (
	"regexp/syntax"
	"sync"
)

// Limits of an expression.
const (
	MaxBytes  = 8 << 10 // of the source
	MaxSteps  = 20_000  // instructions of the program: about one for each character, class and operator
	MaxRanges = 100_000 // first and last characters of all classes together; \pL has 1,300
	MaxFolded = 100     // of [FoldedRanges]
)

// MaxMatches is how many matches of a line count.
const MaxMatches = 100

// An Expr is a compiled expression. It is safe for concurrent use.
type Expr struct {
	source   string
	whole    bool // it matches a text, not each line of it
	program  *program
	literals []Literal
	bytes    int
	matchers sync.Pool // of *matcher
}

// Compile returns an expression for the lines of a file, or an [*Error].
func Compile(source string) (*Expr, error) { return compile(source, ofFile) }

// CompileValue returns an expression for a value of a file, or an [*Error]: for each of its lines, or, if it begins
// with (?s), for the value as a whole.
func CompileValue(source string) (*Expr, error) {
	if beginsWhole(source) {
		return compile(source, ofText)
	}
	return compile(source, ofValue)
}

func compile(source string, u use) (*Expr, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, parseError(source, err)
	}
	if err := u.checkSpelling(source); err != nil {
		return nil, err
	}
	if err := checkSize(tree); err != nil {
		return nil, err
	}
	code, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, parseError(source, err)
	}
	e := &Expr{source: source, whole: u == ofText, program: newProgram(code, u == ofText)}
	if err := u.checkMeaning(tree, code, e.program); err != nil {
		return nil, err
	}
	if !e.whole {
		e.literals = required(tree)
	}
	_, ranges := steps(tree)
	e.bytes = e.program.bytes() + ranges*runeBytes + len(source)
	for _, l := range e.literals {
		e.bytes += literalHeader + len(l.Text)
	}
	return e, nil
}

const (
	runeBytes     = 4  // of a number of a class
	literalHeader = 24 // of a Literal, besides its text
)

// Bytes is about how much memory the expression holds, never much less, without its searches.
func (e *Expr) Bytes() int { return e.bytes }

// Whole reports whether the expression begins with (?s) and matches a value as a whole, for which only [Expr.Match] is.
func (e *Expr) Whole() bool { return e.whole }

// String returns the source of the expression.
func (e *Expr) String() string { return e.source }
