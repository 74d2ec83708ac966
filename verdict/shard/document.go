// Package shard is the document that a part of a run ends with, the shard file, and how work is divided into parts.
//
// A [Split] says which part a task has, and [Parse] reads it from a flag or from what a CI system sets. [Seal] and
// [Unseal] write and read a document whose last member is a sum over the others, so that one that is cut or altered is
// found. [Document] is that of a tree: what the shard found in the files that it owns, and all that the verdict of the
// whole depends on. scanner.Merge makes the verdict of all of them.
//
// A shard file is never a verdict: its member "verdict" is UNDECIDED or FAIL. What is missing in the tree as a whole is
// known to the merge alone, and a PASS of one part could be taken for that of the whole.
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

// SchemaVersion is the version of the document's shape. It is never one of a verdict's.
const SchemaVersion = "shard-1"

// The values of [Document.Verdict].
const (
	Undecided = "UNDECIDED" // no violation in this part; what the whole is, the merge says
	Fail      = "FAIL"      // there is a violation that nothing allows
)

// The values of [Document.State].
const (
	InProgress  = "in progress" // the run began and has not ended
	Interrupted = "interrupted" // a signal or --timeout ended it before all was looked at
	Stopped     = "stopped"     // an error ended it before the scan, such as a mistake in the bundle
	Done        = "done"
)

// A Document is a shard file. Its fields are in the order of the file. No list is ever null there.
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

// A Tree identifies the files that a shard listed, its own and those of others, so that two that saw another tree do
// not become one verdict. What is git's counts with its hash; of a file on disk only its path and kind are known.
type Tree struct {
	Files int    `json:"files"`
	Own   int    `json:"own"`  // of which the shard looked at so many
	Sum   string `json:"sum"`  // the sum of a 64-bit number of each, in hexadecimal
	Head  string `json:"head"` // the commit that is checked out; "" if there is none, or no repository
}

// A Run is what all shards of a run have in common.
type Run struct {
	Tool    verdict.Tool     `json:"tool"`
	Scope   verdict.Scope    `json:"scope"`
	Options Options          `json:"options"`
	AsOf    string           `json:"as_of"`  // as in the verdict
	Policy  []verdict.Policy `json:"policy"` // counts of excluded paths are 0: those are in Findings.Taken
	// PolicyChanges is not empty for changes alone, which have no shards.
	PolicyChanges []verdict.PolicyChange `json:"policy_changes"`
	Rules         []Rule                 `json:"rules"`
	Required      []Required             `json:"required"`
	// NotLookedFor are required files, in a scope that does not have the whole tree.
	NotLookedFor     []verdict.Omission        `json:"not_looked_for"`
	EndingAllowances []verdict.EndingAllowance `json:"ending_allowances"`
}

// Options are the flags that a verdict depends on.
type Options struct {
	Allow           []string `json:"allow"`   // in order, each once
	Rule            []string `json:"rule"`    // of --rule
	Exclude         []string `json:"exclude"` // of --exclude
	Partial         bool     `json:"partial"` // one of the two is given
	Earlier         bool     `json:"earlier"` // a day before today counts, and a bundle has dates
	RequireGoverned bool     `json:"require_governed"`
	FoundBundle     bool     `json:"found_bundle"` // in the tree, all of which the shards scan together
	MaxFileBytes    int64    `json:"max_file_bytes"`
}

// Allows reports whether --allow names a reason.
func (o *Options) Allows(reason string) bool { return slices.Contains(o.Allow, reason) }

// A Rule is one that the run enforces.
type Rule struct {
	Rule     verdict.Rule `json:"rule"`     // its Files is 0: that is in Findings.RuleFiles
	Paths    bool         `json:"paths"`    // it forbids files: it looks at the paths of all
	Required bool         `json:"required"` // it requires files
}

// A Required is a glob of required_files, and the violation if no file is there.
type Required struct {
	Rule      int               `json:"rule"` // index in Run.Rules
	Index     int               `json:"index"`
	Violation verdict.Violation `json:"violation"`
}

// Findings are what a shard found. Of several shards they are put together by addition, but for what is said of each.
type Findings struct {
	Listed   bool             `json:"listed"`   // the tree was listed to its end
	Coverage verdict.Coverage `json:"coverage"` // of the shard's files; LeftOut is of the whole tree
	// Taken counts the paths that the excludes of rule files took, in the order of Run.Policy and their Excluded.
	Taken     []int `json:"taken"`
	RuleFiles []int `json:"rule_files"` // that each rule selects
	Found     []int `json:"found"`      // the required files that are there, as indices of Run.Required, in order
	// RequiredWhole says that all of the tree was looked at for required files, and RequiredFiles how many files that
	// were, of a tree of git's; -1 of one on disk.
	RequiredWhole bool `json:"required_whole"`
	RequiredFiles int  `json:"required_files"`
	// TreeErrors are about the tree as a whole: each shard has the same, or one has it alone.
	TreeErrors []verdict.Error `json:"tree_errors"`
	FileErrors []verdict.Error `json:"file_errors"` // about the shard's own files
	Violations []Violation     `json:"violations"`
}

// A Violation is one in a file, and its place in the verdict's order.
type Violation struct {
	Rule      int                `json:"rule"` // index in Run.Rules
	Part      int                `json:"part"` // of what the rule asks
	Index     int                `json:"index"`
	Violation verdict.Violation  `json:"violation"`
	Allowance *verdict.Allowance `json:"allowance"` // null: nothing allows it
}

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of a shard file, of this [SchemaVersion].
func Schema() []byte { return []byte(schema) }

// Decided reports whether all of the shard's part was decided, whatever was found in it.
func (d *Document) Decided() bool {
	o := &d.Run.Options
	return d.State == Done && len(d.Findings.TreeErrors)+len(d.Findings.FileErrors) == 0 &&
		(!o.Partial && !o.Earlier || o.Allows("partial"))
}

// Encode returns the document's bytes, with its sum.
func (d *Document) Encode() ([]byte, error) {
	c := *d
	c.SchemaVersion, c.Sum = SchemaVersion, ""
	return Seal(&c)
}

// Decode reads a document that [Document.Encode] wrote. An error says that it is none, or is cut or altered.
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

// sound reports whether all numbers of a document are within what they count in.
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
