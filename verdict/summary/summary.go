// Package summary is the document of a run over many repositories, fleet.json: its model, its canonical JSON and its
// schema. Each repository has a row, and its own verdict.json as evidence.
//
// It knows no files. [Fleet.Add] builds a [Fleet], in any order, and [Fleet.Decide] ends it and alone says PASS.
// [Fleet.Join] joins separate parts, with the same result as one fleet.
//
// Limits: a row has at most [MaxErrors] errors, of at most [MaxMessage] characters each; the verdict has all.
package summary

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// SchemaVersion is the version of the document's format.
const SchemaVersion = "1"

// The limits of a row: the number of errors, and the characters of each message.
const (
	MaxErrors  = 3
	MaxMessage = 500
)

// A Fleet is the document fleet.json. Its fields are in the order of the file. Lists are never null; missing text is
// "".
type Fleet struct {
	SchemaVersion string `json:"schema_version"`
	// Verdict is PASS only if the list has a repository, and the verdict of each says PASS.
	Verdict verdict.Outcome `json:"verdict"`
	// Complete is true exactly when Errors is empty and every repository's verdict is complete.
	Complete  bool         `json:"complete"`
	Tool      verdict.Tool `json:"tool"`
	AsOf      string       `json:"as_of"`      // the day that counted, if a bundle of the run has dates; else ""
	OwnPolicy bool         `json:"own_policy"` // each repository was checked by the bundle in it, too
	Policy    []Policy     `json:"policy"`     // the bundles that every repository was checked with
	Allowed   []string     `json:"allowed"`    // reasons of --allow, sorted
	List      List         `json:"list"`
	Totals    Totals       `json:"totals"`
	// Rules are the rules that at least one repository was checked with, by id.
	Rules        []Rule          `json:"rules"`
	Repositories []Repository    `json:"repositories"` // all of the list, by name in byte order
	Errors       []verdict.Error `json:"errors"`       // of the run as a whole

	rules map[string]*Rule // until Decide
}

// A Policy is a bundle that all repositories were checked with.
type Policy struct {
	From       string `json:"from"`   // "disk" or "builtin"
	SHA256     string `json:"sha256"` // the bundle's identity
	Boundaries int    `json:"boundaries"`
	Invariants int    `json:"invariants"`
	Deprecated int    `json:"deprecated"` // counted, never enforced
}

// A List is the list of repositories.
type List struct {
	// SHA256 is the list's hash, without comments or the order of lines.
	SHA256       string `json:"sha256"`
	Repositories int    `json:"repositories"`
}

// Totals count repositories by outcome, and their scanned files. Each repository counts as one of Pass, Fail and
// Undecided.
type Totals struct {
	Repositories  int   `json:"repositories"`
	Pass          int   `json:"pass"`
	Fail          int   `json:"fail"`       // with a violation, even if incomplete
	Undecided     int   `json:"undecided"`  // without a violation, and not a PASS
	Incomplete    int   `json:"incomplete"` // of Fail and Undecided: not complete
	Places        int   `json:"places"`     // to fix; a missing required file counts as one
	AllowedPlaces int   `json:"allowed_places"`
	Files         int   `json:"files"`
	Governed      int   `json:"governed"`
	Scanned       int   `json:"scanned"`
	Bytes         int64 `json:"bytes"` // of the scanned files
}

// A Rule is the results of one rule in all repositories.
type Rule struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // "boundary" or "invariant"
	Title    string `json:"title"`
	Severity string `json:"severity"`
	Owner    string `json:"owner"`
	DocsURL  string `json:"docs_url"`
	Enforced int    `json:"enforced"` // number of repositories
	// Repositories is the number that violate it, and Places the sum in all of them.
	Repositories int `json:"repositories"`
	Places       int `json:"places"`
}

// A Repository is the row of one line of the list.
type Repository struct {
	Name     string          `json:"name"`     // unique; the directory of its verdict
	Path     string          `json:"path"`     // as in the list, in the form of [verdict.Path]
	Revision string          `json:"revision"` // as in the list; HEAD if it names none
	Commit   string          `json:"commit"`   // "" if it was not found
	Verdict  verdict.Outcome `json:"verdict"`
	Complete bool            `json:"complete"` // as in the verdict
	// SHA256 is the hash of its verdict.json; "" if the run ended before it.
	SHA256        string `json:"sha256"`
	OwnPolicy     string `json:"own_policy"` // the hash of the bundle in it, if enforced; else ""
	Files         int    `json:"files"`
	Governed      int    `json:"governed"`
	Scanned       int    `json:"scanned"`
	Bytes         int64  `json:"bytes"`
	Places        int    `json:"places"`         // as in [Totals]
	AllowedPlaces int    `json:"allowed_places"` // that allowances permit
	// Rules are the violated ones, and AllowedRules those with allowed places, by id.
	Rules        []RuleCount     `json:"rules"`
	AllowedRules []RuleCount     `json:"allowed_rules"`
	Errors       []verdict.Error `json:"errors"`      // the first ones, shortened
	ErrorCount   int             `json:"error_count"` // all of them
}

// A RuleCount is the number of places in a repository that break a rule, or that its allowances permit.
type RuleCount struct {
	RuleID string `json:"rule_id"`
	Places int    `json:"places"`
}

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of fleet.json.
func Schema() []byte { return []byte(schema) }

// Encode returns the document's canonical bytes: one JSON object, keys in the order of [Fleet], as in [verdict.JSON].
// Equal fleets have equal bytes.
func (f *Fleet) Encode() ([]byte, error) { return verdict.JSON(f) }

// Decode reads a fleet.json, of any version of the program with this [SchemaVersion]. It refuses a document whose
// outcome or totals contradict its repositories.
func Decode(text []byte) (*Fleet, error) {
	f := &Fleet{}
	err := json.Unmarshal(text, f)
	switch {
	case f.SchemaVersion != SchemaVersion && (err == nil || f.SchemaVersion != ""): // first: types may differ
		return nil, fmt.Errorf("its schema_version is %q; this policyscan reads %q", f.SchemaVersion, SchemaVersion)
	case err != nil:
		return nil, fmt.Errorf("it is not a fleet's summary: %w", err)
	}
	if decided := f.decided(); decided.Verdict != f.Verdict || !f.consistent() {
		return nil, errors.New("its outcome or totals do not follow from its repositories")
	}
	return f, nil
}

// decided is a fleet of the same repositories.
func (f *Fleet) decided() *Fleet {
	again := &Fleet{Errors: f.Errors, List: f.List}
	for i := range f.Repositories {
		again.Add(f.Repositories[i], nil)
	}
	again.Decide()
	return again
}

// New returns an empty fleet, a FAIL until [Fleet.Decide].
func New(version string) *Fleet {
	return &Fleet{
		SchemaVersion: SchemaVersion,
		Verdict:       verdict.Fail,
		Tool:          verdict.Tool{Name: "policyscan", Version: version},
	}
}

// Undecided reports whether a repository has no violation and does not pass.
func (r *Repository) Undecided() bool { return r.Verdict != verdict.Pass && r.Places == 0 }

// Row returns the row of a verdict, without the fields from the list and the verdict's hash.
func Row(v *verdict.Verdict) Repository {
	c := &v.Coverage
	r := Repository{
		Commit: v.Scope.HeadCommit, Verdict: v.Verdict, Complete: v.Complete,
		Files: c.Files, Governed: c.Governed, Scanned: c.Scanned, Bytes: c.Bytes,
		ErrorCount: len(v.Errors),
	}
	for i := range v.Policy {
		if v.Policy[i].From == "commit" && v.Policy[i].Directory == "" {
			r.OwnPolicy = v.Policy[i].SHA256
		}
	}
	counts, allowed := map[string]int{}, map[string]int{}
	for i := range v.Violations {
		counts[v.Violations[i].RuleID] += int(v.Violations[i].PlaceCount)
	}
	for i := range v.AllowedViolations {
		allowed[v.AllowedViolations[i].RuleID] += int(v.AllowedViolations[i].PlaceCount)
	}
	r.Rules, r.Places = ruleCounts(counts)
	r.AllowedRules, r.AllowedPlaces = ruleCounts(allowed)
	for _, e := range v.Errors[:min(len(v.Errors), MaxErrors)] {
		r.Errors = append(r.Errors, verdict.Error{Code: e.Code, File: clip(e.File), Message: clip(e.Message)})
	}
	return r
}

// ruleCounts are the counts by id, and their sum.
func ruleCounts(counts map[string]int) (all []RuleCount, sum int) {
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		all, sum = append(all, RuleCount{id, counts[id]}), sum+counts[id]
	}
	return all, sum
}

// clip shortens a text to at most [MaxMessage] characters, the last of them an ellipsis.
func clip(s string) string {
	if runes := []rune(s); len(runes) > MaxMessage {
		return string(runes[:MaxMessage-1]) + "…"
	}
	return s
}

// Add adds a repository and the rules that its verdict enforced. It keeps nothing of the verdict.
func (f *Fleet) Add(r Repository, enforced []verdict.Rule) {
	f.row(r)
	known := map[string]bool{}
	for i := range enforced {
		e := &enforced[i]
		about := Rule{
			ID: e.ID, Type: e.Type, Title: e.Title, Severity: e.Severity, Owner: e.Owner, DocsURL: e.DocsURL,
		}
		if !known[e.ID] { // two bundles can have rules of one id
			known[e.ID], about.Enforced = true, 1
		}
		f.count(about)
	}
	for _, c := range r.Rules {
		f.count(Rule{ID: c.RuleID, Repositories: 1, Places: c.Places})
	}
}

func (f *Fleet) row(r Repository) {
	f.Repositories = append(f.Repositories, r)
	t := &f.Totals
	t.Repositories++
	switch {
	case r.Verdict == verdict.Pass:
		t.Pass++
	case r.Undecided():
		t.Undecided++
	default:
		t.Fail++
	}
	if !r.Complete {
		t.Incomplete++
	}
	t.Places += r.Places
	t.AllowedPlaces += r.AllowedPlaces
	t.Files += r.Files
	t.Governed += r.Governed
	t.Scanned += r.Scanned
	t.Bytes += r.Bytes
}

// count adds the numbers of a rule to the rule of its id. If bundles describe an id differently, the first in the
// order of the texts stays, so that the order of repositories does not matter.
func (f *Fleet) count(r Rule) {
	known := f.rules[r.ID]
	if known == nil {
		if f.rules == nil {
			f.rules = map[string]*Rule{}
		}
		f.rules[r.ID] = &r
		return
	}
	r.Enforced += known.Enforced
	r.Repositories += known.Repositories
	r.Places += known.Places
	if r.Type == "" || known.Type != "" && about(known, &r) <= 0 { // without a type it is only numbers
		r.Type, r.Title, r.Severity, r.Owner, r.DocsURL = known.Type, known.Title, known.Severity, known.Owner,
			known.DocsURL
	}
	*known = r
}

// about compares the texts of two rules of one id.
func about(a, b *Rule) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.DocsURL, b.DocsURL))
}

// Join adds the repositories and rules of a decided part.
func (f *Fleet) Join(part *Fleet) {
	for i := range part.Repositories {
		f.row(part.Repositories[i])
	}
	for _, r := range part.Rules {
		f.count(r)
	}
	f.AsOf = max(f.AsOf, part.AsOf)
}

// Decide sorts the lists, and sets Verdict and Complete. Nothing else says PASS of a fleet.
func (f *Fleet) Decide() {
	slices.SortFunc(f.Repositories, func(a, b Repository) int { return cmp.Compare(a.Name, b.Name) })
	if f.rules != nil {
		f.Rules = nil
		for _, id := range slices.Sorted(maps.Keys(f.rules)) {
			f.Rules = append(f.Rules, *f.rules[id])
		}
	}
	t := &f.Totals
	f.Complete = len(f.Errors) == 0 && t.Incomplete == 0
	f.Verdict = verdict.Fail
	if f.Complete && t.Repositories > 0 && t.Pass == t.Repositories && t.Repositories == f.List.Repositories {
		f.Verdict = verdict.Pass
	}
}

// Worst returns the repositories that do not pass: first the undecided ones without a violation, by name, then the
// others, most places first.
func (f *Fleet) Worst() []*Repository {
	var all []*Repository
	for i := range f.Repositories {
		if f.Repositories[i].Verdict != verdict.Pass {
			all = append(all, &f.Repositories[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *Repository) int {
		if a.Undecided() != b.Undecided() { // then it has no place
			return cmp.Compare(a.Places, b.Places)
		}
		return cmp.Or(cmp.Compare(b.Places, a.Places), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Broken returns the violated rules, those in the most repositories first.
func (f *Fleet) Broken() []*Rule {
	var all []*Rule
	for i := range f.Rules {
		if f.Rules[i].Places > 0 {
			all = append(all, &f.Rules[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *Rule) int {
		return cmp.Or(cmp.Compare(b.Repositories, a.Repositories), cmp.Compare(b.Places, a.Places),
			cmp.Compare(a.ID, b.ID))
	})
	return all
}
