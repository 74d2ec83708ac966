// Package rules reads a bundle: the rules of a team, as data.
//
// A bundle is a directory with rules/boundaries.yml, rules/invariants.yml and, optionally, rules/deprecated.yml. A
// bundle of version 0.2 may have any number of rules/*.yml, and needs no rules/invariants.yml; its
// rules/allowances.yml lists the files that may keep occurrences of a rule ([Allowance]). [Load] reads a bundle in
// memory and [LoadDir] one on disk. Both are strict: nothing in a bundle is silently ignored, and every mistake in a
// bundle is reported in one run, in file order, with its line and column ([document.Errors]).
//
// A rule has globs and patterns. Which files a rule selects depends on their paths alone ([Rule.Selects], and
// [Bundle.Selecting] for all rules at once); package scanner/match searches the content.
//
// The bundles of a run are loaded one by one; [Together] checks whether they can be enforced together. An allowance
// may be for a rule of another bundle, so only [Together] can tell whether that rule exists.
//
// [FormatAllowances] writes rules/allowances.yml, and [EditAllowances] edits one that a user wrote. Neither writes a
// file.
//
// # How a rule file is read
//
// A rule file is a mapping whose key "rules" is a list; package document reads it. With the key "bundle", which must
// be the string "0.2", it is version 0.2, otherwise 0.1, whatever the other files are. Keys that begin with "x-" are
// free at every level. docs/rules.md documents each key; [Notes] lists what is valid but often a mistake.
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
// A rule file has at most [document.MaxFileBytes], all rule files of a bundle have [MaxBundleBytes] together. A bundle
// has at most [document.MaxRules] rules, deprecated ones included, a literal at most [document.MaxPatternBytes]. Lists
// and mappings are at most 100 deep, and the distinct globs of a bundle have at most 100,000 expansions of braces. Its
// distinct regexes are at most 1 MiB long, hold 100 MiB, and have at most 1,000 [regex.FoldedRanges]. A path of keys
// has at most 63 segments, and a key pattern, as JSON, has the limit of a literal. Exceeding a limit is an error.
// Loading stops after 10,000 mistakes, with an error that says so.
package rules

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/rules/keyitem"
)

// Type is the type of a rule.
type Type string

// The two types of rule. Forbidden patterns mean the same in both; only an invariant can require something.
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
	Patterns       []Item   // forbidden items: forbidden_patterns, then required_absent, in file order
	Required       []Item   // items required in each selected file: required_patterns
	Containing     []Item   // the rule checks only files with one of these; empty: all files
	Unparsable     bool     // unparsable: text. For a file that cannot be parsed, only the other items count.
	ForbiddenFiles []string // globs: each matching file is a violation, whatever its content
	RequiredFiles  []string // globs: the tree must have a file for each

	Message     string
	Remediation string
	DocsURL     string
	Owner       string // [verdict.CodeOwners]: those of each file
	Severity    string // "low", "medium", "high", "critical" or empty: only displayed
	Tags        []string
	Redact      bool // excerpts show the pattern and mask the rest
	Examples    []Example

	NeverAllowed bool // allowances: never. No [Allowance] may be for this rule.

	Below    string   // as in [Bundle]
	ownFiles []string // with Below, globs of the bundle's rule files, which its rules exclude

	File string // the rule file within the bundle, such as "rules/boundaries.yml"
	Line int    // 1-based, where the rule begins in File

	at                   document.Spot
	files, forbidden     *globs                             // Files and ForbiddenFiles, compiled by Load and New
	exclude, fileExclude *glob.Set                          // Exclude and FileExclude, compiled by Load and New
	places               [partKinds][]document.Place        // if loaded, the positions of its parts
	each                 map[*keyitem.Item][]document.Place // the positions of each item's Each paths
	in02                 bool                               // the file is version 0.2
	slow                 []string                           // its slow regexes, as Load compiled them
}

// Excludes returns the exclude globs of the rule, then of its file, then the rule files of a directory's bundle.
func (r *Rule) Excludes() []string {
	if len(r.FileExclude)+len(r.ownFiles) == 0 {
		return r.Exclude
	}
	return slices.Concat(r.Exclude, r.FileExclude, r.ownFiles)
}

// An Example is a test of a rule: a file that violates it, or passes.
type Example struct {
	Path     string
	Content  string
	Violates bool

	at document.Spot
}

// Mistake returns an error at the position of a loaded rule.
func (r *Rule) Mistake(found string) *document.Error { return r.mistake(r.at, found) }

// ExampleMistake returns an error at the position of the rule's i-th example, from 0.
func (r *Rule) ExampleMistake(i int, found string) *document.Error {
	return r.mistake(r.Examples[i].at, fmt.Sprintf("example %d: %s", i+1, found))
}

func (r *Rule) mistake(at document.Spot, found string) *document.Error {
	return at.Error(document.Error{File: r.File, Rule: r.ID, Found: found})
}

// A Bundle is a valid set of rules.
type Bundle struct {
	// Rules are the enforced rules: the boundaries, then the invariants, each in the order of its file. Only a 0.2
	// bundle next to others may have none, and just allowances for their rules: see [Together].
	Rules []Rule
	// Deprecated are the rules of rules/deprecated.yml: validated, counted, never enforced.
	Deprecated []Rule
	// Allowances are the entries of rules/allowances.yml, in file order. They may be for rules of other bundles or for
	// deprecated rules. With several bundles, the rule need not exist: see [CheckAllowances].
	Allowances []Allowance
	// Is02: a file has bundle: "0.2", so each *.yml in rules/ is a rule file. false if made by [New].
	Is02 bool
	// FileExcludes are the rule files with an exclude, which narrows all of their rules, in the order of the rules,
	// deprecated ones last. nil if made by [New].
	FileExcludes []string
	// Bundles are globs of the directories whose bundles add rules for the files below them.
	Bundles []string
	// Below is the directory of the tree whose files the bundle is for, as [Bundle.In] sets it; "" for the whole tree.
	Below string
	// SHA256 is the bundle's identity, in lower-case hexadecimal. For each rule file in byte order of its path it
	// hashes the path, LF, the file's bytes with CRLF as LF, and LF.
	SHA256 string
	// Files are the SHA-256 of the rule files, by path, such as rules/boundaries.yml. nil if made by [New].
	Files map[string][sha256.Size]byte

	files, forbidden, required *selector // for the globs of all rules

	classes       func() []linkClass // for symlinks, made on first use
	byFileExclude func() [][]*Rule   // the rules that each of FileExcludes narrows, made on first use
	notes         []document.Note    // found while loading
	spots         []allowanceSpots   // of Allowances; nil if made by New
	joined        bool               // it consists of several bundles
	plain         *Bundle            // of a bundle Below a directory, as it was loaded; else nil
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
