// Package keyitem is what an item with "key" asks of a parsed file: paths to values, and what the values may be.
//
// A path is segments with "." between them. "*" is any one segment, "**" any number of them, none included, and a
// segment in double quotes is literal. Nothing here reads a file; scanner/keys finds what a path reaches.
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
	Format string      // "", which means by the file's name, or a format's name
}

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
	Values []Value
}

// A Path is the segments of a path, at least one.
type Path []Segment

// A Segment is one step of a path.
type Segment struct {
	Kind SegmentKind
	Name string // of a Name segment: the key's text, quotes and escapes resolved
}

// SegmentKind is what a segment stands for.
type SegmentKind uint8

// The kinds of segment.
const (
	Name SegmentKind = iota // the key with this text
	Any                     // "*": any one segment
	Deep                    // "**": any number of segments, none included
)

// A Value is a value of "is" or "is_not", as the rule writes it.
type Value struct {
	Kind ValueKind
	Text string // of a text: the text; of a number: as written; of a boolean: "true" or "false"
	// Quoted says that the rule has the text in quotes: it is a text and nothing else.
	Quoted bool
}

// ValueKind is the type of a Value.
type ValueKind uint8

// The kinds of value.
const (
	Text ValueKind = iota
	Number
	Bool
)
