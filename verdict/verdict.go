// Package verdict is the document of a run, verdict.json: its model, its canonical JSON, the fingerprint by which
// other tools recognise a violation, and the escaping that makes text safe to print. verdict/linehash computes line
// hashes, and verdict/output writes the file.
//
// It knows neither rules nor files of a tree. The document keeps untrusted text (paths, excerpts, titles) unchanged;
// the writer of each format, in verdict/report, escapes it.
//
// docs/verdict.md is the manual of the format.
package verdict

import "strings"

// SchemaVersion is the version of the document's format. It changes when a correct reader of the old format would
// misread the new one.
const SchemaVersion = "2"

// Outcome is PASS or FAIL.
type Outcome string

// The two outcomes.
const (
	Pass Outcome = "PASS"
	Fail Outcome = "FAIL"
)

// Verdict is the document verdict.json. Its fields are in the order of the file. Lists are never null; missing text is
// "".
type Verdict struct {
	SchemaVersion string  `json:"schema_version"`
	Verdict       Outcome `json:"verdict"`
	// Complete is true exactly when Errors is empty. An incomplete FAIL could not decide, but may have violations.
	Complete bool     `json:"complete"`
	Tool     Tool     `json:"tool"`
	Partial  bool     `json:"partial"` // narrowed by --rule or --exclude, or as of a day before today
	AsOf     string   `json:"as_of"`   // the day that counted, of bundles that have dates; else ""
	Policy   []Policy `json:"policy"`
	// PolicyChanges are a change's edits of the bundle that checks it, in order of the base's rules, then of the
	// head's new ones. It is empty outside diff and staged scope.
	PolicyChanges []PolicyChange `json:"policy_changes"`
	Rules         []Rule         `json:"rules"` // the enforced rules, in order of evaluation
	Scope         Scope          `json:"scope"`
	Coverage      Coverage       `json:"coverage"`
	Allowed       []string       `json:"allowed"` // reasons of --allow, sorted
	// Violations are ordered: first in the checked files, then in each commit that brings others; within each
	// boundaries, then invariants; within each the order of the rule file; then path in byte order; then the
	// order of the patterns.
	Violations        []Violation        `json:"violations"`
	AllowedViolations []AllowedViolation `json:"allowed_violations"` // in the same order
	// EndingAllowances are the ones that count on the day AsOf and end within [EndingDays] days of it, used or not. By
	// their last day, then rule, then file.
	EndingAllowances []EndingAllowance `json:"ending_allowances"`
	Errors           []Error           `json:"errors"` // by path, then code
}

// Tool is the program that wrote the verdict.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Policy is one bundle that was enforced.
type Policy struct {
	// From is "disk", "builtin", or in a change "base", "head", "index", "bootstrap" (the head's or the index's, if
	// the base has none), "commit" (--policy-ref).
	From       string `json:"from"`
	Commit     string `json:"commit"`              // of a bundle read from a commit
	Directory  string `json:"directory,omitempty"` // whose files the bundle is for, as in [Path]; "" for the whole tree
	SHA256     string `json:"sha256"`              // the bundle's identity
	Boundaries int    `json:"boundaries"`
	Invariants int    `json:"invariants"`
	Deprecated int    `json:"deprecated"` // counted, never enforced
	// Excluded counts, for each rule file with an exclude, the paths removed from the file's rules.
	Excluded []Excluded `json:"excluded"`
}

// Excluded is the number of paths that the exclude of a rule file removed from its rules.
type Excluded struct {
	File  string `json:"file"` // the rule file, such as "rules/terraform.yml"
	Count int    `json:"count"`
}

// The kinds of [PolicyChange.Kind] and [PolicyChange.Change]. An allowance can also be raised, lowered, moved,
// extended or shortened.
const (
	ChangedRule      = "rule"
	ChangedAllowance = "allowance"

	Added   = "added"
	Removed = "removed"
	Altered = "changed"
)

// A PolicyChange is one difference between the head's bundle and the base's.
type PolicyChange struct {
	Kind   string        `json:"kind"` // "rule" or "allowance"
	RuleID string        `json:"rule_id"`
	Change string        `json:"change"`
	Fields []FieldChange `json:"fields"` // of an allowance, or of a rule that exists before and after
	File   string        `json:"file"`   // of an allowance, as in [Path]; else ""
	Before int           `json:"before"` // the allowance's number in the base; 0 without one
	After  int           `json:"after"`  // and in the head
	Effect Effect        `json:"effect"` // on what is refused
	// Witness shows the effect of a rule's change: at most one file or tree of each direction.
	Witness []Witness `json:"witness"`
}

// Weakens reports whether a change may let something pass that was refused.
func (c *PolicyChange) Weakens() bool {
	return c.Effect == Weaker || c.Effect == Both || c.Kind == ChangedRule && c.Change == Removed
}

// An Effect is what a change of a rule or an allowance does to the files that are refused. A file that cannot be
// decided counts as refused: a run with it does not pass.
type Effect string

// The effects. A [Witness] has Stronger or Weaker.
const (
	Same     Effect = "same"     // certainly none
	Stronger Effect = "stronger" // certainly everything that was refused still is
	Weaker   Effect = "weaker"   // something that was refused passes
	Both     Effect = "both"     // and something that passed is refused
	Unknown  Effect = "unknown"  // nothing that was refused and passes was found, and there could be something
)

// A Witness is a file, or a tree, that a rule refuses either before or after a change, but not both.
type Witness struct {
	Effect    Effect   `json:"effect"`
	File      string   `json:"file"` // as in [Path]; "" for a tree
	Content   string   `json:"content"`
	Tree      []string `json:"tree"`       // all files of a tree, as in [Path]; each has the line "x"
	RefusedBy []string `json:"refused_by"` // by other rules, where this one does not refuse it
}

// A PolicyDiff is the document of policyscan diff: how a bundle differs from an earlier one.
type PolicyDiff struct {
	SchemaVersion string         `json:"schema_version"` // "1"
	Tool          Tool           `json:"tool"`
	Before        Policy         `json:"before"`
	After         Policy         `json:"after"`
	BundlesAdded  []string       `json:"bundles_added,omitempty"` // globs
	Changes       []PolicyChange `json:"changes"`                 // in the order of [Verdict.PolicyChanges]
}

// A FieldChange is a key of a rule whose value differs. If only the order of its items does, both lists are empty.
type FieldChange struct {
	Name    string   `json:"name"`    // the key, as in a rule file; "type" for the rule's file
	Removed []string `json:"removed"` // only in the base
	Added   []string `json:"added"`   // only in the head
}

// Rule is one enforced rule.
type Rule struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"` // "boundary" or "invariant"
	From        string   `json:"from"` // as in Policy
	Title       string   `json:"title"`
	Message     string   `json:"message"`
	Remediation string   `json:"remediation"`
	DocsURL     string   `json:"docs_url"`
	Owner       string   `json:"owner"`
	Severity    string   `json:"severity"`
	Tags        []string `json:"tags"`
	Files       int      `json:"files"` // files that its globs match; with required_files, all of the tree
	// ChecksPaths means that it has forbidden_files, so that it checks each path of the run, whatever Files is.
	ChecksPaths bool `json:"checks_paths"`
}

// CodeOwners is the owner of a rule whose violations have the owners of their files; see [Violation.Owners].
const CodeOwners = "CODEOWNERS"

// Scope is how the files of the run were chosen.
type Scope struct {
	Mode       string   `json:"mode"` // "full", "tracked", "diff", "staged", "files" or "stdin"
	Base       string   `json:"base"` // as the user named it
	BaseCommit string   `json:"base_commit"`
	MergeBases []string `json:"merge_bases"`
	HeadCommit string   `json:"head_commit"`
	HeadDate   string   `json:"head_date"` // the head's committer date, as in RFC 3339, in UTC; "" without one
	// Strategy is how base and head were found: "merge-base" (by name), "uncommitted" (the base by name, the head is
	// on disk), "index" (staged), "rev" (one commit, by name), or the environment, such as "github-merge-commit";
	// docs/scopes.md has them all.
	Strategy string `json:"strategy"`
	// Behind is, in a diff, the number of commits of the base that the head does not contain. -1: the clone does not
	// show it.
	Behind int `json:"behind"`
	// EachCommit: what the commits of the change bring was checked as well; see Coverage.Commits.
	EachCommit bool `json:"each_commit"`
}

// Uncommitted is the strategy of a change whose head is the work tree: the tracked files on disk.
const Uncommitted = "uncommitted"

// Coverage is the files that were scanned, to the last byte, and the others.
type Coverage struct {
	Files      int        `json:"files"`    // in the tree, of any kind, without skipped ones
	Governed   int        `json:"governed"` // selected by at least one rule, or forbidden by its path
	Scanned    int        `json:"scanned"`  // covered files checked against every rule that selects them
	Bytes      int64      `json:"bytes"`    // of the scanned files
	Deleted    int        `json:"deleted"`
	LeftOut    []Omission `json:"left_out"`    // by path; not part of the tree
	NotScanned []Omission `json:"not_scanned"` // covered, by path
	Unparsed   []string   `json:"unparsed"`    // files that cannot be parsed, so that only their text was checked
	// Commits is the number of commits whose files were checked, and States that of the files, covered by a rule, that
	// they bring and the head does not have. Such a file is PATH@COMMIT in the lists above.
	Commits int `json:"commits"`
	States  int `json:"states"`
}

// Add adds the numbers of other files, and the lists of files that were not scanned or not parsed.
func (c *Coverage) Add(more *Coverage) {
	c.Files += more.Files
	c.Governed += more.Governed
	c.Scanned += more.Scanned
	c.Bytes += more.Bytes
	c.Deleted += more.Deleted
	c.Commits += more.Commits
	c.States += more.States
	c.NotScanned = append(c.NotScanned, more.NotScanned...)
	c.Unparsed = append(c.Unparsed, more.Unparsed...)
}

// An Omission is a file that was not scanned, and why.
type Omission struct {
	File   string `json:"file"`   // as in [Path]
	Reason string `json:"reason"` // a word of docs/verdict.md, such as "lfs-pointer"
}

// A Violation is a rule, a file and a pattern that occurs in it.
type Violation struct {
	RuleID   string `json:"rule_id"`
	RuleType string `json:"rule_type"`
	Title    string `json:"title"`
	File     string `json:"file"` // from the tree's root, as in [Path]; "" for a file missing from the tree
	// Owners are those of the file, sorted, as CODEOWNERS names them, if the rule asks for them. Before a change: no
	// change can give its violations to others.
	Owners      []string `json:"owners"`
	Reason      string   `json:"reason"`
	Note        string   `json:"note"` // a remark on this violation, in a sentence; mostly ""
	Evidence    Evidence `json:"evidence"`
	Fingerprint string   `json:"fingerprint"` // see [Fingerprint] and [Violation.BroughtBy]
	Commit      string   `json:"commit"`      // the first that brings it, if the head does not have it; else ""
	Status      string   `json:"status"`      // "introduced" or "pre_existing"; "" outside diff and staged scope
	// PlaceCount is the number of places to fix: the occurrences, except those at a place that a key pattern of the
	// rule finds as well (see [Place.SameAsKey]). It is 1 without a place in the file.
	PlaceCount    int64 `json:"place_count"`
	NewPlaceCount int64 `json:"new_place_count"` // of these, the introduced ones; 0 outside diff and staged scope
}

// BroughtBy makes it a violation in a file that a commit brings and the head no longer has. The fingerprint is made as
// in [Fingerprint], of two texts: the one without a commit, and the commit. So the same line in the head and in a
// commit has two fingerprints.
func (v *Violation) BroughtBy(commit string) {
	v.Commit, v.Fingerprint = commit, netstrings(v.Fingerprint, commit)
}

// The values of [Violation.Status] and [Place.Status] in diff and staged scope.
const (
	Introduced  = "introduced"
	PreExisting = "pre_existing"
)

// An AllowedViolation is one that an allowance of the bundle permits.
type AllowedViolation struct {
	Violation
	Allowance Allowance `json:"allowance"`
}

// An Allowance is an entry of a bundle's allowances.yml.
type Allowance struct {
	AtMost int    `json:"at_most"`
	Owner  string `json:"owner"`
	Reason string `json:"reason"`
	Until  string `json:"until"` // the last day that counts, as YYYY-MM-DD; "" for no end
}

// EndingDays is how many days before its end an allowance is in [Verdict.EndingAllowances].
const EndingDays = 30

// An EndingAllowance combines the entries of a bundle's allowances.yml for one rule and file; it ends soon.
type EndingAllowance struct {
	RuleID    string    `json:"rule_id"`
	File      string    `json:"file"` // as in [Path]
	Allowance Allowance `json:"allowance"`
}

// The kinds of [Evidence.Kind]. A forbidden file, and a missing text, expression or file, have no place in a content:
// their evidence is at the start of the file, without excerpt and encoding. A missing key is at its nearest parent, or
// at the value found instead, if the file has such a place.
const (
	KindText    = "text"    // a text occurs in a file's content
	KindRegex   = "regex"   // an expression matches there
	KindKey     = "key"     // a value in a parsed file violates a condition, or a key is forbidden
	KindFile    = "file"    // a path matches a glob of forbidden_files
	KindMissing = "missing" // a file lacks a required pattern, or, if [Violation.File] is "", the tree a required file
)

// LeftRequiredFile is the reason in [Coverage.LeftOut] of a glob of required_files that was not checked because the
// scope does not have the whole tree.
const LeftRequiredFile = "required-file"

// Evidence is the first occurrence of a pattern in a file. Lines end at LF, CRLF or a lone CR, read in Encoding.
type Evidence struct {
	Kind    string `json:"kind"` // "text", "regex", "key", "file" or "missing"
	Pattern string `json:"pattern"`
	// Excerpt is at most 200 characters around the match, from the lines of the match, cut evenly if they are longer.
	// Bytes that are not text are U+FFFD.
	Excerpt        string `json:"excerpt"`
	Offset         int64  `json:"offset"`           // 0-based, bytes from the start of the file
	Line           int64  `json:"line"`             // 1-based
	Column         int64  `json:"column"`           // 1-based, bytes
	EndLine        int64  `json:"end_line"`         // 1-based, of the byte after the match
	EndColumn      int64  `json:"end_column"`       // 1-based, bytes, exclusive
	UTF16Column    int64  `json:"utf16_column"`     // 1-based, UTF-16 code units, a byte order mark not counted
	UTF16EndColumn int64  `json:"utf16_end_column"` // 1-based, UTF-16 code units, exclusive
	Occurrences    int64  `json:"occurrences"`      // in the whole file, none overlapping another; at least 1
	// "utf-8", "utf-16le", "utf-16be", "utf-32le" or "utf-32be"; "" for a key, or without a place
	Encoding string `json:"encoding"`
	LineHash string `json:"line_hash"` // GitHub's, see verdict/linehash; empty for a rule that redacts
	// Places are all occurrences, at most [MaxPlaces], in the order of the file: the first ones, or, with a status,
	// the introduced ones before others. Empty without a place in the file's content.
	Places []Place `json:"places"`
}

// MaxPlaces limits [Evidence.Places].
const MaxPlaces = 100

// A Place is one occurrence; its numbers are as in [Evidence].
type Place struct {
	Offset    int64  `json:"offset"`
	Line      int64  `json:"line"`
	Column    int64  `json:"column"`
	EndLine   int64  `json:"end_line"`
	EndColumn int64  `json:"end_column"`
	Status    string `json:"status"`    // as in the violation
	Excerpt   string `json:"excerpt"`   // of the first introduced place; else ""
	LineHash  string `json:"line_hash"` // of the first introduced place; else ""
	// SameAsKey is set for a match of a text or an expression that contains the first character of a value that a key
	// pattern of the same rule finds, if the rule has "unparsable: text": the place counts once, for the key.
	SameAsKey bool `json:"same_as_key"`
	// Why says why a required key is not as required there, with one of the words below; else "".
	Why string `json:"why"`
	// Found is of a required key: the first line of the value, or of the key, header or list item in which the key is
	// missing, at most [MaxFound] characters. It is "" at the top of a document, and for a rule that redacts.
	Found string `json:"found"`
}

// MaxFound limits [Place.Found], in characters.
const MaxFound = 80

// The words of [Place.Why].
const (
	WhyMissing        = "missing"
	WhyPerhapsMissing = "perhaps_missing" // a tag, a merge, variables or a dynamic block decide
	WhyNull           = "null"
	WhyMapping        = "mapping"
	WhyList           = "empty_list"
	WhyOther          = "other_value"
	WhyUncertain      = "uncertain" // a value with a tag or variables, or one that parsers read differently
)

// WhyWords is a clause, safe to print: missing in resource "a" "b"; it is false; not certain: var.x. It is "" without a
// reason.
func (p *Place) WhyWords() string {
	in, is := "", "another value"
	if p.Found != "" {
		in, is = " in "+Visible(p.Found), "it is "+Visible(p.Found)
	}
	switch p.Why {
	case WhyMissing:
		return "missing" + in
	case WhyPerhapsMissing:
		return "perhaps missing" + in
	case WhyNull:
		return "it is null"
	case WhyMapping:
		return "it is a mapping"
	case WhyList:
		return "it is an empty list"
	case WhyOther:
		return is
	case WhyUncertain:
		return strings.Replace(is, "it is", "not certain:", 1)
	}
	return ""
}

// An Error is something that the run could not decide.
type Error struct {
	Code    string `json:"code"` // see verdict/code
	File    string `json:"file"` // as in [Path], or "" without a single file
	Message string `json:"message"`

	// The location in the file, 1-based; 0 and omitted from the JSON if unknown.
	Line        int64 `json:"line,omitempty"`
	Column      int64 `json:"column,omitempty"`       // bytes
	UTF16Column int64 `json:"utf16_column,omitempty"` // UTF-16 code units
}

// Error returns the error's text.
func (e *Error) Error() string {
	if e.File == "" {
		return e.Message
	}
	return e.File + ": " + e.Message
}

// New returns an empty verdict, a FAIL until [Verdict.Decide].
func New(version string) *Verdict {
	return &Verdict{
		SchemaVersion: SchemaVersion,
		Verdict:       Fail,
		Tool:          Tool{Name: "policyscan", Version: version},
	}
}

// Incomplete returns a verdict that could not decide, because of at least one error.
func Incomplete(version string, scope Scope, errs ...Error) *Verdict {
	v := New(version)
	v.Scope = scope
	v.Errors = errs
	return v
}

// Decide sets Verdict and Complete from the findings. It is the only place that says PASS.
func (v *Verdict) Decide() {
	v.Complete = len(v.Errors) == 0
	v.Verdict = Fail
	if v.Complete && len(v.Violations) == 0 && len(v.Rules) > 0 {
		v.Verdict = Pass
	}
}
