// Package shard is the shard file, the document of a part of a run, and the division of work into parts.
//
// A [Split] is the part of a task; [Parse] reads it from a flag or from a CI system's variables. [Seal] and [Unseal]
// write and read a document whose last member is a checksum, which shows truncation and changes. [Document] is the
// result of a tree's shard: its findings, and all other input of the whole verdict, which scanner.Merge makes.
//
// A shard file is never a verdict: its member "verdict" is UNDECIDED or FAIL. Missing files are known only to the
// merge, and the PASS of one part could be mistaken for the whole's.
//
// It reads no files. docs/scopes.md is the manual.
package shard

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// SchemaVersion is the version of the document's format. No verdict has it.
const SchemaVersion = "shard-1"

// The values of [Document.Verdict].
const (
	Undecided = "UNDECIDED" // no violation in this part; the merge decides
	Fail      = "FAIL"      // a violation that is not allowed
)

// The values of [Document.State].
const (
	InProgress  = "in progress" // the run began and has not ended
	Interrupted = "interrupted" // a signal or --timeout ended it early
	Stopped     = "stopped"     // an error ended it before the scan, such as a mistake in the bundle
	Done        = "done"
)

// A Document is a shard file. Its fields are in the order of the file. Lists are never null.
type Document struct {
	SchemaVersion string   `json:"schema_version"`
	Verdict       string   `json:"verdict"` // Undecided or Fail, never PASS
	Shard         Split    `json:"shard"`
	State         string   `json:"state"`
	Run           Run      `json:"run"`
	Tree          Tree     `json:"tree"`
	Findings      Findings `json:"findings"`
	Sum           string   `json:"sum"` // see [Seal]
}

// A Tree identifies the files of all shards, so that shards of different trees are not merged. Files in git count with
// their hashes; files on disk only with path and kind.
type Tree struct {
	Files int    `json:"files"`
	Own   int    `json:"own"`  // number of files of this shard
	Sum   string `json:"sum"`  // the sum of a 64-bit number of each, in hexadecimal
	Head  string `json:"head"` // the commit that is checked out; "" without one, or no repository
}

// A Run is the common part of all shards of a run.
type Run struct {
	Tool    verdict.Tool     `json:"tool"`
	Scope   verdict.Scope    `json:"scope"`
	Options Options          `json:"options"`
	AsOf    string           `json:"as_of"`  // as in the verdict
	Policy  []verdict.Policy `json:"policy"` // counts of excluded paths are 0: they are in Findings.Taken
	// PolicyChanges is only set for changes, which have no shards.
	PolicyChanges []verdict.PolicyChange `json:"policy_changes"`
	Rules         []Rule                 `json:"rules"`
	Required      []Required             `json:"required"`
	// NotLookedFor is required files, if the scope does not have the whole tree.
	NotLookedFor     []verdict.Omission        `json:"not_looked_for"`
	EndingAllowances []verdict.EndingAllowance `json:"ending_allowances"`
}

// Options are the flags that a verdict depends on.
type Options struct {
	Allow           []string `json:"allow"`   // in order, each once
	Rule            []string `json:"rule"`    // of --rule
	Exclude         []string `json:"exclude"` // of --exclude
	Partial         bool     `json:"partial"` // --rule or --exclude is set
	Earlier         bool     `json:"earlier"` // a day before today counts, and a bundle has dates
	RequireGoverned bool     `json:"require_governed"`
	FoundBundle     bool     `json:"found_bundle"` // in the tree, all of which the shards scan together
	MaxFileBytes    int64    `json:"max_file_bytes"`
}

// Allows reports whether --allow has a reason.
func (o *Options) Allows(reason string) bool { return slices.Contains(o.Allow, reason) }

// A Rule is an enforced rule.
type Rule struct {
	Rule     verdict.Rule `json:"rule"`     // without Files, see Findings.RuleFiles, and ChecksPaths
	Paths    bool         `json:"paths"`    // it forbids files, so that it checks all paths
	Required bool         `json:"required"` // it requires files
}

// A Required is a glob of required_files, and the violation if no file matches.
type Required struct {
	Rule      int               `json:"rule"` // index in Run.Rules
	Index     int               `json:"index"`
	Violation verdict.Violation `json:"violation"`
}

// Findings are the findings of a shard. Merging adds most fields; comments mark the others.
type Findings struct {
	Listed   bool             `json:"listed"`   // the tree was listed to its end
	Coverage verdict.Coverage `json:"coverage"` // of the shard's files; LeftOut is of the whole tree
	// Taken counts the paths that the excludes of rule files removed, in the order of Run.Policy and their Excluded.
	Taken     []int `json:"taken"`
	RuleFiles []int `json:"rule_files"` // that each rule's globs match
	Found     []int `json:"found"`      // the required files that exist, as ascending indices of Run.Required
	// RequiredWhole means that the whole tree was searched for required files, and RequiredFiles is their number in a
	// git tree; -1 on disk.
	RequiredWhole bool `json:"required_whole"`
	RequiredFiles int  `json:"required_files"`
	// TreeErrors are about the tree as a whole: in all shards, or in one alone.
	TreeErrors []verdict.Error `json:"tree_errors"`
	FileErrors []verdict.Error `json:"file_errors"` // about the shard's own files
	Violations []Violation     `json:"violations"`
}

// A Violation is one in a file, and its position in the verdict's order.
type Violation struct {
	Rule      int                `json:"rule"` // index in Run.Rules
	Part      int                `json:"part"` // of the rule's parts
	Index     int                `json:"index"`
	Violation verdict.Violation  `json:"violation"`
	Allowance *verdict.Allowance `json:"allowance"` // null without one
	Step      int                `json:"-"`         // the number of the commit that brings it; 0: in the checked files
}

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of a shard file of this [SchemaVersion].
func Schema() []byte { return []byte(schema) }

// Decided reports whether the whole shard was decided, with or without violations.
func (d *Document) Decided() bool {
	o := &d.Run.Options
	return d.State == Done && len(d.Findings.TreeErrors)+len(d.Findings.FileErrors) == 0 &&
		(!o.Partial && !o.Earlier || o.Allows("partial"))
}

// Encode returns the document's bytes, with its checksum.
func (d *Document) Encode() ([]byte, error) {
	c := *d
	c.SchemaVersion, c.Sum = SchemaVersion, ""
	return Seal(&c)
}

// Decode reads the bytes of [Document.Encode]. It fails for other, truncated or changed text.
func Decode(text []byte) (*Document, error) {
	if !bytes.HasPrefix(text, []byte(verdict.DocumentHead+SchemaVersion+`"`)) &&
		bytes.HasPrefix(text, []byte(verdict.DocumentHead)) {
		if _, err := verdict.Decode(text); err == nil {
			return nil, errors.New("it is a verdict, not a shard file")
		}
	}
	d := &Document{}
	if err := Unseal(text, d); err != nil {
		return nil, err
	}
	if d.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("its schema_version is %q; this policyscan reads %q", d.SchemaVersion, SchemaVersion)
	}
	if !verdict.IsJSON(text, d) || !d.sound() {
		return nil, errors.New("it is not as policyscan writes it")
	}
	return d, nil
}

// sound reports whether all numbers of a document are in range.
func (d *Document) sound() bool {
	f, rules := &d.Findings, len(d.Run.Rules)
	for _, q := range d.Run.Required {
		if q.Rule < 0 || q.Rule >= rules {
			return false
		}
	}
	for i, n := range f.Found {
		if n < 0 || n >= len(d.Run.Required) || i > 0 && n <= f.Found[i-1] {
			return false
		}
	}
	for i := range f.Violations {
		if n := f.Violations[i].Rule; n < 0 || n >= rules {
			return false
		}
	}
	taken := 0
	for _, p := range d.Run.Policy {
		taken += len(p.Excluded)
	}
	return d.Shard.wrong() == "" && (d.State != Done || len(f.RuleFiles) == rules && len(f.Taken) == taken) &&
		slices.Contains([]string{Undecided, Fail}, d.Verdict) &&
		slices.Contains([]string{InProgress, Interrupted, Stopped, Done}, d.State)
}
