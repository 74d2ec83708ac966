// Package rules reads a bundle: the rules of a team, as data.
//
// A bundle is a folder with rules/boundaries.yml, rules/invariants.yml and, optionally, rules/deprecated.yml; in a
// bundle of version 0.2, with any number of rules/*.yml, and perhaps without rules/invariants.yml. There
// rules/allowances.yml lists the files that may keep occurrences of a rule ([Allowance]). [Load] reads a bundle in
// memory and [LoadDir] one in a folder on disk. Both are strict: nothing in a bundle is silently ignored, and every
// mistake in a bundle is reported in one run, in file order, with its line and column ([document.Errors]).
//
// A rule has globs and patterns. Which files a rule selects depends on
// their paths alone ([Rule.Selects], and [Bundle.Selecting] for all rules at once); what a
// pattern means in a file's content is the business of package scanner/match.
//
// The bundles of a run are loaded one by one; [Together] says whether they can be enforced together. An allowance may
// be for a rule of another bundle, so only then is it known whether there is that rule.
//
// [FormatAllowances] writes rules/allowances.yml, and [EditAllowances] changes the entries of one that a person wrote.
// Nothing here writes a file.
//
// # How a rule file is read
//
// A rule file is what package document reads: a mapping whose key "rules" is a list. One that has the key "bundle",
// which must be the text "0.2", is of that version; another is of 0.1 and keeps its meaning whatever is next to it.
// Keys that begin with "x-" are free at every level. What each key may be is in docs/rules.md; [Notes] lists what loads
// and is often a mistake.
//
//   - A list may be omitted, or has an item; an item, a text and an example's content are not
//     only white space. Only the list "rules" may be empty.
//   - A pattern or a glob that is listed twice in one list is an error; in a 0.2 file, so is a
//     pattern that is in two lists of a rule.
//   - A pattern of a 0.2 file is a string or a mapping, an [Item] either way. An option that can
//     change nothing is an error, and so is a key that only a later version reads.
//   - A deprecated rule has either pattern key, or both; with both it is of type boundary and its
//     patterns are those of forbidden_patterns, then those of required_absent.
//
// # Limits
//
// A rule file has at most [document.MaxFileBytes], all rule files of a bundle have [MaxBundleBytes] together.
// A bundle has at most [document.MaxRules] rules, deprecated ones included, a text that is a pattern at most
// [document.MaxPatternBytes]. Lists and mappings are at most 100 deep, and the different globs of a bundle have at
// most 100,000 expansions of braces. Its different regular expressions are at most 1 MiB long, hold 100 MiB, and have
// at most 1,000 [regex.FoldedRanges].
// A path of keys has at most 63 segments, and a pattern with "key" is, as JSON, not longer than a text.
// Exceeding a limit is an error. After 10,000 mistakes the search for more ends, with an error that says so.
package rules

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/rules/keyitem"
)

// Type says in which of the two kinds of file of enforced rules a rule is.
type Type string

// The two types of rule. What must not appear means the same in both; only an invariant can require something.
const (
	Boundary  Type = "boundary"
	Invariant Type = "invariant"
)

// A Rule is one entry of a bundle's files.
type Rule struct {
	ID    string // unique in the bundle, deprecated rules included
	Title string
	Type  Type

	Files          []string // doublestar globs over the /-separated path from the tree's root; none without items
	Exclude        []string // globs that narrow this rule only; may be empty
	FileExclude    []string // globs that narrow all rules of File; may be empty. Excludes has both.
	PathCase       bool     // path_case: ignore. Files and ForbiddenFiles match without regard to ASCII case.
	Patterns       []Item   // must not appear: forbidden_patterns, then required_absent, in file order
	Required       []Item   // must appear in each selected file: required_patterns
	Unparsable     bool     // unparsable: text. A file that cannot be parsed is judged by the other items alone.
	ForbiddenFiles []string // globs: a file whose path matches one is a violation, whatever its content
	RequiredFiles  []string // globs: the tree has a file for each

	Message     string
	Remediation string
	DocsURL     string
	Owner       string
	Severity    string // "low", "medium", "high", "critical" or empty: shown, never weighed
	Tags        []string
	Redact      bool // excerpts show the pattern and mask the rest
	Examples    []Example

	NeverAllowed bool // allowances: never. No [Allowance] is for this rule.

	File string // the rule file within the bundle, such as "rules/boundaries.yml"
	Line int    // 1-based, where the rule begins in File

	at                   document.Spot
	files, forbidden     *globs                             // Files and ForbiddenFiles, compiled by Load and New
	exclude, fileExclude *glob.Set                          // Exclude and FileExclude, compiled by Load and New
	places               [partKinds][]document.Place        // if loaded, where its parts are in its file
	each                 map[*keyitem.Item][]document.Place // of the paths of each item's Each
	in02                 bool                               // the file is of 0.2
	slow                 []string                           // its expressions that are slow, as Load compiled them
}

// Excludes returns the globs of paths that the rule does not check: its own, then those of its file.
func (r *Rule) Excludes() []string {
	if len(r.FileExclude) == 0 {
		return r.Exclude
	}
	return slices.Concat(r.Exclude, r.FileExclude)
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
	// Rules are the enforced rules: the boundaries, then the invariants, each in the order of its file. There is at
	// least one, but for a bundle of 0.2 next to others, which may have allowances for their rules: see [Together].
	Rules []Rule
	// Deprecated are the rules of rules/deprecated.yml: validated, counted, never enforced.
	Deprecated []Rule
	// Allowances are the entries of rules/allowances.yml, in the order of the file. They may be for rules of other
	// bundles, for rules that are deprecated and, if there are several bundles, for none: see [CheckAllowances].
	Allowances []Allowance
	// Is02 is that a file says bundle: "0.2", so that each *.yml in rules/ is a rule file. false for a bundle that
	// [New] made.
	Is02 bool
	// FileExcludes are those of the rule files that have an exclude, in the order of the rules, deprecated ones
	// last. nil for a bundle that [New] made; the rules have them, too.
	FileExcludes []FileExclude
	// SHA256 is the bundle's identity, in lower-case hexadecimal. For each rule file in byte order of its path it
	// hashes the path, LF, the file's bytes with CRLF as LF, and LF.
	SHA256 string
	// Files are the SHA-256 of the rule files that were read, by path, such as
	// rules/boundaries.yml. nil for a bundle that [New] made.
	Files map[string][sha256.Size]byte

	files, forbidden, required *selector // of the globs of all rules

	classes       func() []linkClass // by what they mean for links, made when first asked for
	byFileExclude func() [][]*Rule   // the rules that each of FileExcludes narrows, made when first asked for
	notes         []document.Note    // found while loading
	spots         []allowanceSpots   // of Allowances; nil for a bundle that New made
	joined        bool               // of several bundles
}

// A FileExclude is the exclude of a rule file: it narrows all rules of the file.
type FileExclude struct {
	File  string // as in [Rule.File]
	Globs []string
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
