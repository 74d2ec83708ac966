// Package keyitem is what an item with "key" asks of a parsed file: paths to values, and what the values may be.
//
// A path is segments with "." between them ([ParsePath]). "*" is any one segment, "**" any number of them, none
// included, and a segment in double quotes is literal. A value is a truth value, a number or a text ([ParseValue]).
// A [Number] is equal to another by its digits and its exponent, in whichever spelling they are written.
//
// Nothing here reads a file; scanner/keys finds what a path reaches.
package keyitem

import "github.com/policyscan/policyscan/rules/regex"

// An Item is a mapping with "key" in forbidden_patterns, required_absent or required_patterns.
type Item struct {
	Each   []Path // nil, or the nodes of which each must have the key; only in required_patterns
	Paths  []Path // at least one: any of them
	Where  []Where
	Asks   Asks
	Values []Value     // of Is and IsNot, at least one
	Match  *regex.Expr // of Matches and MatchesNot
	Format string      // "", which means by the file's name, or one of Formats
}

// Formats returns the names of the formats that an item can name.
func Formats() []string { return []string{"yaml", "json", "hcl", "toml"} }

// Asks is the condition of an item.
type Asks uint8

// The conditions.
const (
	Exists     Asks = iota // the key itself, with any value
	Is                     // the value is one of Values
	IsNot                  // the value is not certainly one of Values; forbidden items only
	Matches                // the value's text matches
	MatchesNot             // the value's text does not certainly match; forbidden items only
)

// Where is a condition on a document: one of Values is reached at the path.
type Where struct {
	Path   Path
	Values []Value // at least one
}

// An Error says why a path or a value is refused.
type Error struct {
	Found string // what was found
	Fix   string // what to write instead
}

// Error returns "what was found; what to write".
func (e *Error) Error() string { return e.Found + "; " + e.Fix }
