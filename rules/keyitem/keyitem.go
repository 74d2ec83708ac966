// Package keyitem holds the parts of a key pattern: paths to values, and conditions on the values.
//
// A path is segments with "." between them ([ParsePath]). "*" is any one segment, "**" any number of them, including
// none, and a segment in double quotes is literal. A value is a boolean, a number or a string ([ParseValue]). Two
// [Number] values are equal if their digits and exponents are, however they are spelt.
//
// Package scanner/keys evaluates paths in a file.
package keyitem

import "github.com/policyscan/policyscan/rules/regex"

// An Item is a key pattern in forbidden_patterns, required_absent or required_patterns.
type Item struct {
	Each   []Path // nil, or the nodes of which each must have the key; only in required_patterns
	Paths  []Path // alternatives, at least one
	Where  []Where
	Asks   Asks
	Values []Value     // of Is and IsNot, at least one
	Match  *regex.Expr // of Matches and MatchesNot
	Format string      // one of Formats, or "" to decide by the file's name
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

// Where is a condition on a document: the path reaches one of Values.
type Where struct {
	Path   Path
	Values []Value // at least one
}

// An Error explains why a path or a value is refused.
type Error struct {
	Found string // what was found
	Fix   string // what to write instead
}

// Error returns "what was found; what to write".
func (e *Error) Error() string { return e.Found + "; " + e.Fix }
