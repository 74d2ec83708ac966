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
	Each  []Path // nil, or the nodes of which each must have the key; only in required_patterns
	Paths []Path // alternatives, at least one
	Where []At   // asked of the document
	If    []At   // asked of a node of Each, or of the mapping that has the forbidden key
	Condition
	AnyValue bool   // one value that is as required is enough; only in required_patterns
	Format   string // one of Formats, or "" to decide by the file's name
}

// Formats returns the names of the formats that an item can name.
func Formats() []string { return []string{"yaml", "json", "hcl", "toml", "dockerfile"} }

// A Condition is a test of a value.
type Condition struct {
	Asks     Asks
	Values   []Value     // of Is and IsNot, at least one
	Match    *regex.Expr // of Matches and MatchesNot
	Limit    Number      // of Below, Above, AtLeast and AtMost
	Quantity bool        // Limit and the values are Kubernetes quantities: see [ParseQuantity]
}

// An At is a condition of where or if: whether a path reaches such a value.
type At struct {
	Path Path
	Condition
}

// Asks is what a condition asks.
type Asks uint8

// The questions. IsNot, MatchesNot, Below and Above are not for required items, AtLeast and AtMost for them only,
// Missing and Present for where and if only.
const (
	Exists     Asks = iota // the key itself, with any value
	Is                     // the value is one of Values
	IsNot                  // the value is not certainly one of Values
	Matches                // the value's text matches
	MatchesNot             // the value's text does not certainly match
	Below                  // the value could be a number below Limit
	Above                  // or above it
	AtLeast                // the value is certainly a number that is Limit or more
	AtMost                 // or Limit or less
	Missing                // no value but null
	Present                // a value other than null
)

// An Error explains why a path or a value is refused.
type Error struct {
	Found string // what was found
	Fix   string // what to write instead
}

// Error returns "what was found; what to write".
func (e *Error) Error() string { return e.Found + "; " + e.Fix }
