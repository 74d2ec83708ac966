// Package verdict is the document that a run ends with, verdict.json: its model, its
// canonical JSON, the fingerprint by which other tools recognise a violation,
// and how text of a tree is made safe to print. verdict/linehash computes line hashes,
// and verdict/output writes the file.
//
// It knows neither rules nor files of a tree. Untrusted text (paths, excerpts, titles) is
// kept as it is in the document and escaped by the writer of each format, in verdict/report.
//
// docs/verdict.md is the manual of the format.
package verdict

// SchemaVersion is the version of the document's shape. It changes when a
// consumer that read the old shape rightly would read the new one wrongly.
const SchemaVersion = "2"

// Outcome is PASS or FAIL; there is nothing between.
type Outcome string

// The two outcomes.
const (
	Pass Outcome = "PASS"
	Fail Outcome = "FAIL"
)

// Verdict is the document verdict.json. Its fields are in the order of the
// file. No list is ever null there; an absent text is "".
type Verdict struct {
	SchemaVersion string  `json:"schema_version"`
	Verdict       Outcome `json:"verdict"`
	// Complete is true exactly when Errors is empty. A FAIL that is not complete
	// could not decide; it may hold violations all the same.
	Complete bool     `json:"complete"`
	Tool     Tool     `json:"tool"`
	Partial  bool     `json:"partial"` // narrowed by --rule or --exclude, or as of a day before today
	AsOf     string   `json:"as_of"`   // the day that counted, of bundles that have dates; else ""
	Policy   []Policy `json:"policy"`
	// PolicyChanges is what a change does to the bundle that checks it, in order of the base's rules,
	// then of the head's new ones. It is empty outside diff and staged scope.
	PolicyChanges []PolicyChange `json:"policy_changes"`
	Rules         []Rule         `json:"rules"` // the enforced rules, in order of evaluation
	Scope         Scope          `json:"scope"`
	Coverage      Coverage       `json:"coverage"`
	Allowed       []string       `json:"allowed"` // reasons of --allow, sorted
	// Violations are ordered: boundaries, then invariants; within each the order of
	// the rule file; then path in byte order; then the order of the patterns.
	Violations        []Violation        `json:"violations"`
	AllowedViolations []AllowedViolation `json:"allowed_violations"` // in the same order
	// EndingAllowances are those that count on the day AsOf and end within [EndingDays] days of it, whether or not the
	// run came upon what they allow. By their last day, then rule, then file.
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
	// From is "disk", "builtin", or of a change "base", "head", "index", "bootstrap" (the head's or the index's, and
	// the base has none), "commit" (--policy-ref).
	From       string `json:"from"`
	Commit     string `json:"commit"` // of a bundle read from a commit
	SHA256     string `json:"sha256"` // the bundle's identity
	Boundaries int    `json:"boundaries"`
	Invariants int    `json:"invariants"`
	Deprecated int    `json:"deprecated"` // counted, never enforced
	// Excluded counts, for each rule file that has an exclude, the paths that it took from the file's rules.
	Excluded []Excluded `json:"excluded"`
}

// Excluded is how many paths the exclude of a rule file took from its rules.
type Excluded struct {
	File  string `json:"file"` // the rule file, such as "rules/terraform.yml"
	Count int    `json:"count"`
}

// The kinds of [PolicyChange.Kind] and [PolicyChange.Change]. An allowance is raised, lowered, moved, extended or
// shortened, too.
const (
	ChangedRule      = "rule"
	ChangedAllowance = "allowance"

	Added   = "added"
	Removed = "removed"
	Altered = "changed"
)

// A PolicyChange is one thing that the head's bundle says otherwise than the base's.
type PolicyChange struct {
	Kind   string        `json:"kind"` // "rule" or "allowance"
	RuleID string        `json:"rule_id"`
	Change string        `json:"change"`
	Fields []FieldChange `json:"fields"` // of a rule that is there before and after, and of an allowance
	File   string        `json:"file"`   // of an allowance, as [Path] writes it; else ""
	Before int           `json:"before"` // the allowance's number in the base; 0 if there is none
	After  int           `json:"after"`  // and in the head
}

// A FieldChange is a key of a rule whose value differs. If only the order of its items does, both lists are empty.
type FieldChange struct {
	Name    string   `json:"name"`    // the key, as in a rule file; "type" for the file that the rule is in
	Removed []string `json:"removed"` // what only the base has
	Added   []string `json:"added"`   // what only the head has
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
	Files       int      `json:"files"` // files that this rule selects; of one about paths, all that it looked at
}

// Scope says how the files of the run were chosen.
type Scope struct {
	Mode       string   `json:"mode"` // "full", "tracked", "diff", "staged", "files" or "stdin"
	Base       string   `json:"base"` // the base as it was named
	BaseCommit string   `json:"base_commit"`
	MergeBases []string `json:"merge_bases"`
	HeadCommit string   `json:"head_commit"`
	// How base and head were found: "merge-base" (as they were named), "index" (staged), "rev" (a commit
	// alone, as it was named), or from which environment, such as "github-merge-commit"; docs/scopes.md has them all.
	Strategy string `json:"strategy"`
	// Behind is, of a diff, how many commits of the base the head does not contain. -1: the clone does not show it.
	Behind int `json:"behind"`
}

// Coverage is the positive evidence of work: what was scanned, to the last
// byte, and what was not.
type Coverage struct {
	Files      int        `json:"files"`    // in the tree, of any kind; those left out not counted
	Governed   int        `json:"governed"` // selected by at least one rule, or forbidden by its path
	Scanned    int        `json:"scanned"`  // covered files checked against every rule that selects them
	Bytes      int64      `json:"bytes"`    // of the scanned files
	Deleted    int        `json:"deleted"`
	LeftOut    []Omission `json:"left_out"`    // by path; no part of the tree
	NotScanned []Omission `json:"not_scanned"` // covered, by path
	Unparsed   []string   `json:"unparsed"`    // files whose text alone was checked, since they cannot be parsed
}

// An Omission is a file that was not scanned, and why.
type Omission struct {
	File   string `json:"file"`   // as [Path] writes it
	Reason string `json:"reason"` // a word of docs/verdict.md, such as "lfs-pointer"
}

// A Violation is a rule, a file and a pattern that occurs in it.
type Violation struct {
	RuleID      string   `json:"rule_id"`
	RuleType    string   `json:"rule_type"`
	Title       string   `json:"title"`
	File        string   `json:"file"` // from the tree's root, as [Path] writes it; "" for a file that the tree lacks
	Reason      string   `json:"reason"`
	Note        string   `json:"note"` // what else is to be known of this violation, in a sentence; mostly ""
	Evidence    Evidence `json:"evidence"`
	Fingerprint string   `json:"fingerprint"` // see [Fingerprint]
	Status      string   `json:"status"`      // "introduced" or "pre_existing"; "" outside diff and staged scope
}

// The values of [Violation.Status] and [Place.Status] in diff and staged scope.
const (
	Introduced  = "introduced"
	PreExisting = "pre_existing"
)

// An AllowedViolation is one that an allowance of the bundle lets be.
type AllowedViolation struct {
	Violation
	Allowance Allowance `json:"allowance"`
}

// An Allowance is an entry of a bundle's allowances.yml.
type Allowance struct {
	AtMost int    `json:"at_most"`
	Owner  string `json:"owner"`
	Reason string `json:"reason"`
	Until  string `json:"until"` // the last day that counts, as YYYY-MM-DD; "" if it has no end
}

// EndingDays is how many days before its end an allowance is among [Verdict.EndingAllowances].
const EndingDays = 30

// An EndingAllowance is what the entries of a bundle's allowances.yml for one rule and file come to, and it ends soon.
type EndingAllowance struct {
	RuleID    string    `json:"rule_id"`
	File      string    `json:"file"` // as [Path] writes it
	Allowance Allowance `json:"allowance"`
}

// The kinds of [Evidence.Kind]. A file that must not be there, and a text, an expression or a file that is missing,
// have no place in a content: their evidence begins at the start of the file, its excerpt and its encoding are empty. A
// key that is missing is at what leads to it, or at the value that is there instead, unless the file has no such place.
const (
	KindText    = "text"    // a text occurs in a file's content
	KindRegex   = "regex"   // an expression matches there
	KindKey     = "key"     // a value in a parsed file is not as it must be, or a key must not be there
	KindFile    = "file"    // a path matches a glob of forbidden_files
	KindMissing = "missing" // a file lacks what it must have, or, if [Violation.File] is "", the tree a required file
)

// LeftRequiredFile is the reason in [Coverage.LeftOut] of a glob of required_files that the run did not look for: its
// scope does not have the whole tree.
const LeftRequiredFile = "required-file"

// Evidence is the first occurrence of a pattern in a file. Lines end at LF, CRLF
// or a lone CR, read in Encoding.
type Evidence struct {
	Kind    string `json:"kind"` // "text", "regex", "key", "file" or "missing"
	Pattern string `json:"pattern"`
	// Excerpt is at most 200 characters around the match: the lines that the match
	// touches, cut evenly when they are longer. Bytes that are not text are U+FFFD.
	Excerpt        string `json:"excerpt"`
	Offset         int64  `json:"offset"`           // 0-based, bytes from the start of the file
	Line           int64  `json:"line"`             // 1-based
	Column         int64  `json:"column"`           // 1-based, bytes
	EndLine        int64  `json:"end_line"`         // 1-based, of the byte after the match
	EndColumn      int64  `json:"end_column"`       // 1-based, bytes, exclusive
	UTF16Column    int64  `json:"utf16_column"`     // 1-based, UTF-16 code units, a byte order mark not counted
	UTF16EndColumn int64  `json:"utf16_end_column"` // 1-based, UTF-16 code units, exclusive
	Occurrences    int64  `json:"occurrences"`      // in the whole file, none overlapping another; at least 1
	// "utf-8", "utf-16le", "utf-16be", "utf-32le" or "utf-32be"; "" of a key, and for what is at no place
	Encoding string `json:"encoding"`
	LineHash string `json:"line_hash"` // GitHub's, see verdict/linehash; empty for a rule that redacts
	// Places are all occurrences, at most [MaxPlaces], in the order of the file: the first ones, or, where they have a
	// status, the introduced ones before others. Empty for what is at no place of the file's content.
	Places []Place `json:"places"`
}

// MaxPlaces is how many [Evidence.Places] there are at most.
const MaxPlaces = 100

// A Place is one occurrence; its numbers are as those of [Evidence].
type Place struct {
	Offset    int64  `json:"offset"`
	Line      int64  `json:"line"`
	Column    int64  `json:"column"`
	EndLine   int64  `json:"end_line"`
	EndColumn int64  `json:"end_column"`
	Status    string `json:"status"`    // as that of the violation
	Excerpt   string `json:"excerpt"`   // of the first introduced place; else ""
	LineHash  string `json:"line_hash"` // likewise
}

// An Error is something that the run could not decide.
type Error struct {
	Code    string `json:"code"` // see verdict/code
	File    string `json:"file"` // as [Path] writes it, or "" if it is about no one file
	Message string `json:"message"`

	// Where in the file that shows, 1-based; 0 and left out of the JSON: not known.
	Line        int64 `json:"line,omitempty"`
	Column      int64 `json:"column,omitempty"`       // bytes
	UTF16Column int64 `json:"utf16_column,omitempty"` // UTF-16 code units
}

// Error makes an Error usable where Go expects one.
func (e *Error) Error() string {
	if e.File == "" {
		return e.Message
	}
	return e.File + ": " + e.Message
}

// New returns an empty verdict, a FAIL until something shows otherwise.
func New(version string) *Verdict {
	return &Verdict{
		SchemaVersion: SchemaVersion,
		Verdict:       Fail,
		Tool:          Tool{Name: "policyscan", Version: version},
	}
}

// Incomplete returns a verdict that could not decide, for the reasons of errs.
// There must be at least one.
func Incomplete(version string, scope Scope, errs ...Error) *Verdict {
	v := New(version)
	v.Scope = scope
	v.Errors = errs
	return v
}

// Decide sets Verdict and Complete from what the run found. It is the only place
// that says PASS.
func (v *Verdict) Decide() {
	v.Complete = len(v.Errors) == 0
	v.Verdict = Fail
	if v.Complete && len(v.Violations) == 0 && len(v.Rules) > 0 {
		v.Verdict = Pass
	}
}
