// Package past is the document of policyscan history: which past changes of branches the rules refuse, and what breaks
// the rules at the tips today. It has its model, its schema and its sentences, and knows neither files nor commits.
//
// [History.Decide] ends a document and alone says PASS.
package past

import (
	_ "embed"
	"math"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// SchemaVersion is the version of the document's format.
const SchemaVersion = "1"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of the document.
func Schema() []byte { return schema }

// The values of [History.Mode].
const (
	Audit   = "audit"   // each change by the bundle of its parent and its own
	Preview = "preview" // all by the named bundles alone
)

// A History is the document. Its fields are in the order of the file. Lists are never null; missing text is "".
type History struct {
	SchemaVersion string `json:"schema_version"`
	// Verdict is PASS only if every change was decided and none refused.
	Verdict  verdict.Outcome `json:"verdict"`
	Complete bool            `json:"complete"` // there are no errors, and no change is undecided
	Tool     verdict.Tool    `json:"tool"`
	Mode     string          `json:"mode"`
	Policy   []Policy        `json:"policy"`  // of a preview
	Allowed  []string        `json:"allowed"` // reasons of --allow, sorted
	// Since is the first day, or the ref, after which changes were judged; of several repositories the earliest day.
	Since        string          `json:"since"`
	Totals       Counts          `json:"totals"`
	Rules        []Rule          `json:"rules"`        // in order of evaluation; of an audit, the tips' first
	Repositories []Repository    `json:"repositories"` // in the order given
	Refused      []Change        `json:"refused"`      // newest first
	Undecided    []Change        `json:"undecided"`    // newest first
	Errors       []verdict.Error `json:"errors"`       // of the run as a whole
}

// A Policy is a bundle that judged all changes.
type Policy struct {
	From   string `json:"from"` // "disk" or "builtin"
	SHA256 string `json:"sha256"`
}

// Counts are numbers of changes.
type Counts struct {
	Changes      int `json:"changes"` // judged, or undecided
	Refused      int `json:"refused"`
	Undecided    int `json:"undecided"`     // also refused ones that were not checked completely
	WithoutRules int `json:"without_rules"` // of an audit: not in Changes, since neither side has a bundle
}

// A Repository is one branch whose changes were judged.
type Repository struct {
	Name    string          `json:"name"`
	Branch  string          `json:"branch"`
	Tip     string          `json:"tip"`
	TipDate string          `json:"tip_date"` // as [Change.Date]
	Since   string          `json:"since"`
	First   string          `json:"first"` // the oldest judged change; "" without one
	Counts  Counts          `json:"counts"`
	Errors  []verdict.Error `json:"errors"` // why not all changes, or not all of the tip, could be judged
}

// A Rule is what a rule did to the changes.
type Rule struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Refused is the number of changes that it refuses, of those that it judged.
	Refused      int       `json:"refused"`
	Share        float64   `json:"share_percent"` // of Totals.Changes, with one decimal
	FilesAtTip   int       `json:"files_at_tip"`  // that break it today
	Introducing  int       `json:"introducing"`   // of the refused changes, those that introduce a place
	Introduced   int       `json:"introduced"`    // places that refused changes brought
	RemovedAgain int       `json:"removed_again"` // of these, by a later change
	MedianDays   int       `json:"median_days"`   // that these stayed; 0 without any
	Dirs         []Tally   `json:"dirs"`          // with most introduced places, at most [MaxDirs]
	Months       []Tally   `json:"months"`        // refused changes by month, as 2026-03, in order
	Examples     []Example `json:"examples"`      // newest first, introduced ones before others, at most [MaxExamples]
}

// The limits of a rule's lists.
const (
	MaxDirs     = 5
	MaxExamples = 20
)

// A Tally is a number of things with a name.
type Tally struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// An Example is a place in a refused change.
type Example struct {
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	Date       string `json:"date"`
	Subject    string `json:"subject"`
	File       string `json:"file"` // as in [verdict.Path]; "" for a missing one
	Line       int64  `json:"line"` // 0 without one
	Excerpt    string `json:"excerpt"`
	Reason     string `json:"reason"`
}

// A Change is a commit compared with its first parent.
type Change struct {
	Repository string          `json:"repository"`
	Commit     string          `json:"commit"`
	Date       string          `json:"date"` // the committer's, as in RFC 3339, in UTC; "" if it is none
	Subject    string          `json:"subject"`
	Rules      []Refusal       `json:"rules"`  // that refuse it, in order of evaluation
	Errors     []verdict.Error `json:"errors"` // why it could not be decided
}

// A Refusal is a rule that refuses a change, with its places in the changed files.
type Refusal struct {
	RuleID     string `json:"rule_id"`
	Places     int    `json:"places"`
	Introduced int    `json:"introduced"`
}

// New returns an empty document, a FAIL until [History.Decide].
func New(version string) *History {
	return &History{
		SchemaVersion: SchemaVersion, Verdict: verdict.Fail, Tool: verdict.Tool{Name: "policyscan", Version: version},
	}
}

// Decide sets Verdict, Complete, Totals and the shares of the rules.
func (h *History) Decide() {
	h.Totals, h.Complete = Counts{}, len(h.Errors) == 0
	for i := range h.Repositories {
		c := &h.Repositories[i].Counts
		h.Totals.Changes += c.Changes
		h.Totals.Refused += c.Refused
		h.Totals.Undecided += c.Undecided
		h.Totals.WithoutRules += c.WithoutRules
		h.Complete = h.Complete && c.Undecided == 0 && len(h.Repositories[i].Errors) == 0
	}
	for i := range h.Rules {
		if r := &h.Rules[i]; h.Totals.Changes > 0 {
			r.Share = math.Round(1000*float64(r.Refused)/float64(h.Totals.Changes)) / 10
		}
	}
	h.Verdict = verdict.Fail
	if h.Complete && h.Totals.Refused == 0 && len(h.Repositories) > 0 {
		h.Verdict = verdict.Pass
	}
}

// Failures returns all errors, each with the commit or repository that it is about.
func (h *History) Failures() []verdict.Error {
	all := slices.Clone(h.Errors)
	add := func(of string, errors []verdict.Error) {
		for _, e := range errors {
			e.Message = of + ": " + e.Message
			all = append(all, e)
		}
	}
	for i := range h.Repositories {
		add(h.Repositories[i].Name, h.Repositories[i].Errors)
	}
	for i := range h.Undecided {
		c := &h.Undecided[i]
		add(h.Of(c.Repository)+c.Commit[:7], c.Errors)
	}
	return all
}

// Of is what stands before a commit of a repository, if there are several.
func (h *History) Of(repository string) string {
	if len(h.Repositories) < 2 {
		return ""
	}
	return repository + " "
}
