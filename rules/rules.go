// Package rules reads a bundle: the rules of a team, as data.
//
// A bundle is a folder that holds rules/boundaries.yml, rules/invariants.yml
// and, optionally, rules/deprecated.yml. [Load] reads one from any fs.FS and
// [LoadDir] from a folder on disk. Both are strict: nothing in a bundle is
// silently ignored, and every mistake of a bundle is reported in one run, in
// file order, with its line and column ([Errors]).
//
// A rule holds globs and patterns. Which files a rule is about is a question of
// their paths alone ([Rule.Selects]); what a pattern means in a file's content
// is the business of package scanner.
package rules

import "github.com/policyscan/policyscan/rules/glob"

// Type says which of the two files of enforced rules a rule stands in.
type Type string

// The two types of rule. Both mean the same in a file's content: the rule's
// patterns must not appear.
const (
	Boundary  Type = "boundary"
	Invariant Type = "invariant"
)

// A Rule is one entry of a bundle's files.
type Rule struct {
	ID    string // unique in the bundle, deprecated rules included
	Title string
	Type  Type

	Files    []string // doublestar globs over the /-separated path from the tree's root; at least one
	Exclude  []string // globs that narrow this rule only; may be empty
	Patterns []string // forbidden_patterns or required_absent, in file order; at least one, none empty

	Message     string
	Remediation string
	DocsURL     string
	Owner       string
	Severity    string // "low", "medium", "high", "critical" or empty: shown, never weighed
	Tags        []string
	Redact      bool // excerpts show the pattern and mask the rest
	Examples    []Example

	File string // the rule file within the bundle, such as "rules/boundaries.yml"
	Line int    // 1-based, where the rule begins in File

	files, exclude                 *glob.Set // Files and Exclude, compiled by Load and New
	filesAt, excludeAt, patternsAt []place   // where Files, Exclude and Patterns stand in File, if loaded
}

// A place is a position in a rule file: both 1-based, the column in bytes; 0 is unknown.
type place struct{ line, column int }

// An Example is one of a rule's own tests: a file that violates it, or does not.
type Example struct {
	Path     string
	Content  string
	Violates bool
}

// A Bundle is a set of rules that loaded without a mistake.
type Bundle struct {
	// Rules are the enforced rules: the boundaries, then the invariants, each in the
	// order of its file. There is at least one.
	Rules []Rule
	// Deprecated are the rules of rules/deprecated.yml: validated, counted, never enforced.
	Deprecated []Rule
	// SHA256 is the bundle's identity, in lower-case hexadecimal. For each rule file
	// in byte order of its path it hashes the path, LF, the file's bytes with CRLF as
	// LF, and LF.
	SHA256 string

	selector *selector
	notes    []Note // found while loading
}

// Count returns how many enforced rules of type t the bundle has.
func (b *Bundle) Count(t Type) int {
	n := 0
	for i := range b.Rules {
		if b.Rules[i].Type == t {
			n++
		}
	}
	return n
}
