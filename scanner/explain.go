package scanner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// An Explanation is what a scan does with the file of one path, and why.
type Explanation struct {
	Path       string
	Kind       string // "file", "symlink", "submodule" or "special"; "" of what is left out
	LeftOut    string // why the file is no part of the tree: a word of verdict.Coverage.LeftOut; "": it is
	Covered    bool   // by a rule, as verdict.Coverage.Governed counts
	Scanned    bool   // checked against every rule that covers it
	Unreadable bool   // the file, or what is on the way to it, could not be read: nothing is known for certain
	Reason     string // of one that is covered, why it was not scanned, as in verdict.Coverage.NotScanned
	Bytes      int64  // that were checked
	BOM        string // the encoding that its byte order mark names; "" without one

	Rules   []RuleExplanation // of each rule, in order of evaluation
	Verdict *verdict.Verdict  // of a scan of this file alone, required files aside
}

// A RuleExplanation is what a rule asks of the file.
type RuleExplanation struct {
	Rule    *rules.Rule
	Choice  rules.Choice
	Covers  bool // the file, or perhaps files below it, or its target
	Items   []ItemExplanation
	Outcome Outcome
}

// An ItemExplanation is what an item, or a glob of forbidden_files, asks of the file.
type ItemExplanation struct {
	Ref        rules.PatternRef
	Name       string   // as evidence calls it
	Encodings  []string // of a text or an expression: those in which it was looked for
	Format     string   // of a key: that in which the file was parsed; "" if it was not
	Places     int      // of a key: where it is checked, a number; -1: the file was not parsed for it
	WhyNoPlace string   // of a key that is checked at no place: why; else ""
	Note       string   // why a key was not asked for; else ""
	Outcome    Outcome
}

// An Outcome of one pattern, the mildest first.
type Outcome uint8

// The outcomes.
const (
	NotCovered Outcome = iota // the rule does not cover the file
	Passed                    // all is as it must be
	Allowed                   // it is not, and an allowance allows that
	Undecided                 // that could not be decided
	Violated                  // it is not as it must be
)

func (r Outcome) String() string {
	return [...]string{"not_covered", "passes", "allowed", "undecided", "violated"}[r]
}

// A pathObserver keeps what a scan does with one path.
type pathObserver struct {
	path string

	mu      sync.Mutex  // guards the fields below
	entries []tree.File // the file, or what is there instead of a directory above it
	result  *check.Result
}

func (o *pathObserver) observe(r *check.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.entries = append(o.entries, r.File)
	if r.File.Path == o.path && (r.Plan != nil || len(r.Forbidden) > 0) && !r.Vanished {
		result := *r
		o.result = &result
	}
}

// Explain says what a scan of the tree does with the file of a path, by scanning that file alone. It is an error if
// the tree has no such file.
func Explain(ctx context.Context, r *run.Run, path string) (*Explanation, error) {
	s, observer := newScan(r), &pathObserver{path: path}
	s.required, s.only, s.observe = nil, path, observer.observe
	s.checker.Explains, s.checker.Cache = true, nil
	if err := s.runOrGiveUp(ctx); err != nil {
		return nil, err
	}
	x := &Explanation{Path: path, Verdict: s.verdict()}
	for _, o := range x.Verdict.Coverage.LeftOut {
		if shown := verdict.Path(path); o.Reason != verdict.LeftRequiredFile &&
			(o.File == shown || strings.HasPrefix(shown, o.File+"/")) {
			x.LeftOut = o.Reason
		}
	}
	if x.LeftOut == "" {
		if err := x.found(observer.entries, r.Tree); err != nil {
			return nil, err
		}
	}
	x.explain(r.Rules.Bundle, observer.result)
	return x, nil
}

// found says which kind of file is at the path. It is an error if there is none.
func (x *Explanation) found(entries []tree.File, t tree.Tree) error {
	for _, e := range entries {
		if e.Path == x.Path {
			x.Kind = [...]string{
				worktree.Regular: "file", worktree.Symlink: "symlink",
				worktree.Submodule: "submodule", worktree.Special: "special",
			}[e.Kind]
			return nil
		}
	}
	why := t.Absent(x.Path)
	for _, e := range entries {
		if e.Kind == worktree.Submodule {
			why += fmt.Sprintf("; %s is a submodule that is not checked out", verdict.Path(e.Path))
		}
	}
	return fmt.Errorf("%s %s", verdict.Path(x.Path), why)
}

// explain adds what each rule asks of the file.
func (x *Explanation) explain(b *rules.Bundle, j *check.Result) {
	if j != nil {
		x.Covered, x.Scanned, x.Reason, x.Bytes, x.BOM = true, j.Scanned, j.Reason, j.Bytes, j.BOM()
		x.Unreadable = j.File.Kind == worktree.Regular && j.Plan != nil && !j.Examined()
	}
	x.Unreadable = x.Unreadable || slices.ContainsFunc(x.Verdict.Errors, func(e verdict.Error) bool {
		return e.File != verdict.Path(x.Path)
	})
	for i := range b.Rules {
		r := &b.Rules[i]
		e := RuleExplanation{Rule: r, Choice: r.Choose(x.Path)}
		e.Covers = j != nil && (j.SelectedBy(i) ||
			slices.ContainsFunc(j.Forbidden, func(g rules.GlobOf) bool { return g.Rule == i }))
		if e.Covers {
			x.rule(&e, j, i)
		}
		x.Rules = append(x.Rules, e)
	}
}

// rule adds the items of a rule that covers the file, and what came of them.
func (x *Explanation) rule(e *RuleExplanation, j *check.Result, number int) {
	add := func(of rules.PatternList, n int, explain func(*ItemExplanation)) {
		for k := range n {
			item := ItemExplanation{Ref: rules.PatternRef{Of: of, Index: k}, Places: -1, Outcome: Passed}
			item.Name = item.Ref.Name(e.Rule)
			explain(&item)
			e.Items = append(e.Items, item)
			e.Outcome = max(e.Outcome, item.Outcome)
		}
	}
	if j.SelectedBy(number) {
		if !j.Scanned && !j.OnlyKeysFailed {
			e.Outcome = Undecided
		}
		content := func(item *ItemExplanation) { x.content(e.Rule, j, item) }
		add(rules.ForbiddenPattern, len(e.Rule.Patterns), content)
		add(rules.RequiredPattern, len(e.Rule.Required), content)
	}
	if e.Choice.Forbids() {
		for k, g := range e.Rule.ForbiddenFiles {
			if slices.Contains(e.Choice.Forbidden, g) {
				item := ItemExplanation{Ref: rules.PatternRef{Of: rules.ForbiddenFile, Index: k}, Name: g, Places: -1}
				item.Outcome = Passed
				x.broken(e.Rule, &item)
				e.Items = append(e.Items, item)
				e.Outcome = max(e.Outcome, item.Outcome)
			}
		}
	}
}

// content explains an item that is asked of the file's content.
func (x *Explanation) content(rule *rules.Rule, r *check.Result, item *ItemExplanation) {
	s := r.Explain(rule, item.Ref)
	item.Encodings, item.Format, item.Note = s.Encodings, s.Format, s.Note
	item.Places, item.WhyNoPlace = s.Places, s.WhyNone
	if s.Undecided {
		item.Outcome = Undecided
	}
	x.broken(rule, item)
}

// broken makes what is a violation of an item, or an allowed one, its result.
func (x *Explanation) broken(r *rules.Rule, item *ItemExplanation) {
	is := func(v *verdict.Violation) bool {
		missing, path := v.Evidence.Kind == verdict.KindMissing, v.Evidence.Kind == verdict.KindFile
		return v.RuleID == r.ID && v.Evidence.Pattern == item.Name &&
			missing == (item.Ref.Of == rules.RequiredPattern) && path == (item.Ref.Of == rules.ForbiddenFile)
	}
	switch {
	case slices.ContainsFunc(x.Verdict.Violations, func(v verdict.Violation) bool { return is(&v) }):
		item.Outcome = Violated
	case slices.ContainsFunc(x.Verdict.AllowedViolations, func(v verdict.AllowedViolation) bool {
		return is(&v.Violation)
	}):
		item.Outcome = Allowed
	}
}

// Outcome is the worst one of all rules, and of reading the file.
func (x *Explanation) Outcome() Outcome {
	worst := NotCovered
	if len(x.Verdict.Errors) > 0 {
		worst = Undecided
	}
	for i := range x.Rules {
		worst = max(worst, x.Rules[i].Outcome)
	}
	return worst
}
