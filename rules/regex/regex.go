// Package regex compiles the regexes of a bundle, refuses regexes that cannot mean what their author meant, and finds
// their matches. It opens no files.
//
// # Meaning
//
// The syntax is RE2, parsed by [regexp/syntax] with the flags of [regexp.Compile]. Each line is matched by itself,
// without its end, which is LF, CRLF or a lone CR:
//
//   - ^ and $ are the ends of the line. (?m) changes nothing.
//   - No match contains a line end: neither [^a] nor \s nor \W matches LF or CR.
//   - \b and \B see only the characters of the line.
//
// Matches are unanchored and leftmost-first, as in Go and Perl. The occurrences of a line are its first [MaxMatches]
// matches that do not overlap, from the left, as [regexp.Regexp.FindAllIndex] returns them for the line. Each byte
// that is not UTF-8 reads as U+FFFD. A BOM is an ordinary character: the caller skips the one at the start of a file.
// LS, PS, NEL, VT and FF end no line.
//
// A regex for a value that begins with (?s) matches the whole text at once: ^ and $ are the ends of the text, a
// last line end belongs to it, and LF and CR are ordinary characters.
//
// # Refused regexes
//
// [Compile] returns an [*Error], with the reason and the fix, for:
//
//   - syntax that RE2 does not have, a raw control character, and a regex over the limits below
//   - a regex whose shortest match is empty, ignoring assertions; so no match is ever empty
//   - a regex for more than a line: (?s), \n, (.|\n), [\s\S], \A, \z. A class that contains a line end without
//     naming it is accepted: \s, [^"]
//   - a regex that cannot match (a$b, ^\b-), or matches only a BOM at the start of a line
//
// No text is tried. As in Go, \12 is an octal escape and \< is a plain <.
//
// # How to search
//
// Every match contains at least one of [Expr.Literals]. Most lines contain none, and a search for many literals at
// once is far faster than a regex: find them first, and pass the whole line around each to [Expr.Find], once. Without
// literals, pass the whole text. Use [Expr.FindReader] for a line that is too long to hold, and for other encodings.
//
// # Cost
//
// For a text in memory, a lazy DFA of at most some 200 KB first finds the lines with a match: a look-up per character,
// some 2 ns. It gives up if there are too many states. Only matching lines are read again for the locations.
//
// All matches of a line are found in one pass over it, and no line is held. [regexp] finds one match after another,
// and reads the rest of the line again for each a of a(?:.*b)?; see matcher for the difference. A line of 1 GB takes
// half a minute and 5 KB with a(?:.*b)? as with (a+)+$. The time for a character is at most proportional to the
// instructions of the program: some 10 ns for a usual regex, less where nothing is under way, 0.1 ms for the
// largest.
//
// The worst regex within the limits takes half a second to parse (case-insensitive ranges such as
// (?i)[B-\x{1E942}], see [FoldedRanges]) or 60 MB (many \pL). Then it holds at most 3 MB, and 1 MB for each text that
// is being searched at the same time. Small regexes can be large programs (x{1000}), and a bundle can have many: its
// loader adds up their [Expr.Bytes] and [FoldedRanges].
package regex

import "regexp/syntax"

// Limits of a regex.
const (
	MaxBytes  = 8 << 10 // of the source
	MaxSteps  = 20_000  // instructions of the program: about one for each character, class and operator
	MaxRanges = 100_000 // first and last characters of all classes together; \pL has 1,300
	MaxFolded = 100     // of [FoldedRanges]
)

// MaxMatches is the limit for the matches of a line that count.
const MaxMatches = 100

// An Expr is a compiled regex. It is safe for concurrent use.
type Expr struct {
	source   string
	whole    bool // it matches a text as a whole
	program  *program
	literals []Literal
	bytes    int
	except   *Expr // nil, or matches within its matches do not count
	alone    *Set
}

// Compile returns a regex for the lines of a file, or an [*Error].
func Compile(source string) (*Expr, error) { return compile(source, ofFile) }

// CompileValue returns a regex for a value in a file, or an [*Error]: for each of its lines, or, if it begins with
// (?s), for the value as a whole.
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
	e.alone = newSet([]*Expr{e})
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
	literalHeader = 24 // of a Literal, without its text
)

// Except returns a copy of a regex for files without the matches that lie within a match of another on the same line.
// Of a line's first MaxMatches matches those are dropped. If all of them are and the line has a further one, that one
// counts.
func (e *Expr) Except(other *Expr) *Expr {
	x := &Expr{source: e.source, program: e.program, literals: e.literals, bytes: e.bytes, except: other}
	x.alone = newSet([]*Expr{x})
	return x
}

// Bytes returns the approximate memory of the regex, never much too low, without its searches.
func (e *Expr) Bytes() int { return e.bytes }

// Whole reports whether the regex begins with (?s) and matches a value as a whole; use it only with [Expr.Match].
func (e *Expr) Whole() bool { return e.whole }

// String returns the source of the regex.
func (e *Expr) String() string { return e.source }
