// Package rules reads a bundle: the rules of a team, as data.
//
// A bundle is a folder with rules/boundaries.yml, rules/invariants.yml
// and, optionally, rules/deprecated.yml. [Load] reads one from any fs.FS and
// [LoadDir] from a folder on disk. Both are strict: nothing in a bundle is
// silently ignored, and every mistake in a bundle is reported in one run, in
// file order, with its line and column ([document.Errors]).
//
// A rule has globs and patterns. Which files a rule selects depends on
// their paths alone ([Rule.Selects], and [Bundle.Selecting] for all rules at once); what a
// pattern means in a file's content is the business of package scanner/match.
//
// # How a rule file is read
//
// A rule file is UTF-8, perhaps after a byte order mark, with LF or CRLF, and is
// one YAML document: a mapping whose key "rules" is a list. Anchors, aliases, merge keys, tags and
// directives are refused everywhere. Keys that begin with "x-" are free at every level: what is
// under them is checked only for these and for duplicate keys.
//
// Every text is read as it is written, whatever type YAML would give it: an unquoted 0777 is the
// pattern "0777". [Notes] lists what of this, and what else that loads, is often a mistake.
//
//   - An id is one word of at most 200 bytes, without spaces and control characters.
//   - title, owner and each tag are one line; message and remediation are of any length.
//   - docs_url begins with https:// or http://: reports make it a link.
//   - redact and violates are true or false, unquoted.
//   - A list may be omitted, or has an item; an item, a text and an example's content are not
//     only white space. Only the list "rules" may be empty.
//   - A pattern or a glob that is listed twice in one list is an error.
//   - A deprecated rule has either pattern key, or both; with both it is of type boundary and its
//     patterns are those of forbidden_patterns, then those of required_absent.
//   - An example's path is one that a file could have: relative, clean, with slashes.
//
// # Limits
//
// A rule file has at most [document.MaxFileBytes], a bundle at most [document.MaxRules] rules, deprecated ones
// included, a pattern at most [document.MaxPatternBytes]. Lists and mappings are at most 100 deep, and the different
// globs of a bundle have at most 100,000 expansions of braces. Exceeding a limit
// is an error. After 10,000 mistakes the search for more ends, with an error that says so.
package rules

import (
	"crypto/sha256"
	"fmt"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
)

// Type says which of the two files of enforced rules a rule is in.
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

	at                             document.Spot
	files, exclude                 *glob.Set        // Files and Exclude, compiled by Load and New
	filesAt, excludeAt, patternsAt []document.Place // where Files, Exclude and Patterns are in File, if loaded
}

// An Example is one of a rule's own tests: a file that violates it, or does not.
type Example struct {
	Path     string
	Content  string
	Violates bool

	at document.Spot
}

// Mistake returns an error about a rule that loaded, at the place where it begins.
func (r *Rule) Mistake(found string) *document.Error { return r.mistake(r.at, found) }

// ExampleMistake returns an error about one of a rule's examples, counted from 0, at the place where that begins.
func (r *Rule) ExampleMistake(i int, found string) *document.Error {
	return r.mistake(r.Examples[i].at, fmt.Sprintf("example %d: %s", i+1, found))
}

func (r *Rule) mistake(at document.Spot, found string) *document.Error {
	return at.Error(document.Error{File: r.File, Rule: r.ID, Found: found})
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
	// Files are the SHA-256 of the rule files that were read, by path, such as
	// rules/boundaries.yml. nil for a bundle that [New] made.
	Files map[string][sha256.Size]byte

	selector *selector
	classes  func() []linkClass // by what they mean for links, made when first asked for
	notes    []document.Note    // found while loading
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
