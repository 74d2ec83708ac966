// Package past is the document of policyscan history: what rules would have stopped of the changes of branches, and
// what breaks them at the tips. It knows neither files nor commits. [History.Decide] ends it and alone says PASS.
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

// Schema returns the JSON Schema (draft 2020-12) of the document.
func Schema() []byte { return schema }

// The values of [History.Mode].
const (
	Audit   = "audit"   // each change is judged by its parent's bundle and its own
	Preview = "preview" // the named bundles alone judge all changes
)

// A History is the document. Its fields are in the order of the file; lists are never null. schema.json describes them.
type History struct {
	SchemaVersion string          `json:"schema_version"`
	Verdict       verdict.Outcome `json:"verdict"`  // PASS: every change was decided and none refused
	Complete      bool            `json:"complete"` // no errors, and no change is undecided
	Tool          verdict.Tool    `json:"tool"`
	Mode          string          `json:"mode"`
	Policy        []Policy        `json:"policy"`  // of a preview
	Allowed       []string        `json:"allowed"` // reasons of --allow, sorted
	Since         string          `json:"since"`   // a day or a commit; of several repositories the earliest day
	Totals        Counts          `json:"totals"`
	Rules         []Rule          `json:"rules"`        // in order of evaluation
	Repositories  []Repository    `json:"repositories"` // in the order given
	Refused       []Change        `json:"refused"`      // by repository, newest first
	Undecided     []Change        `json:"undecided"`    // by repository, newest first; also refused ones
	Errors        []verdict.Error `json:"errors"`       // of the run as a whole
}

// A Policy is a bundle of a preview.
type Policy struct {
	From   string `json:"from"` // "disk" or "builtin"
	SHA256 string `json:"sha256"`
}

// Counts are numbers of changes.
type Counts struct {
	Changes      int `json:"changes"`
	Refused      int `json:"refused"`
	Undecided    int `json:"undecided"`
	WithoutRules int `json:"without_rules"` // of an audit: not in Changes, since neither side has a bundle
}

// A Repository is one branch whose changes were judged.
type Repository struct {
	Name    string          `json:"name"`
	Branch  string          `json:"branch"`
	Tip     string          `json:"tip"`
	TipDate string          `json:"tip_date"`
	Since   string          `json:"since"`
	First   string          `json:"first"` // the oldest judged change; "" without one
	Counts  Counts          `json:"counts"`
	Errors  []verdict.Error `json:"errors"` // why not all changes, or not all of the tip, could be judged
}

// A Rule is what a rule did to the changes.
type Rule struct {
	ID           string    `json:"id"`
	Title        string    `json:"title"`
	Refused      int       `json:"refused"`
	Share        float64   `json:"share_percent"` // of Totals.Changes, with one decimal
	FilesAtTip   int       `json:"files_at_tip"`  // that break it
	Introducing  int       `json:"introducing"`   // refused changes that introduce a place
	Introduced   int       `json:"introduced"`    // the places
	RemovedAgain int       `json:"removed_again"` // of these, by a later change
	MedianDays   int       `json:"median_days"`   // that the removed ones stayed
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
	Date       string          `json:"date"` // the committer's, as in RFC 3339, in UTC; "" if unknown
	Subject    string          `json:"subject"`
	Rules      []Refusal       `json:"rules"`  // by which it is refused, in order of evaluation
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
		r := &h.Rules[i]
		r.Share = math.Round(1000*float64(r.Refused)/float64(max(h.Totals.Changes, 1))) / 10
	}
	h.Verdict = verdict.Fail
	if h.Complete && h.Totals.Refused == 0 && len(h.Repositories) > 0 {
		h.Verdict = verdict.Pass
	}
}

// Failures returns all errors, each with its repository or commit.
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
		add(h.Of(h.Undecided[i].Repository)+h.Undecided[i].Commit[:7], h.Undecided[i].Errors)
	}
	return all
}

// Of names a repository before one of its commits, if there are several repositories.
func (h *History) Of(repository string) string {
	if len(h.Repositories) < 2 {
		return ""
	}
	return repository + " "
}
