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

// An Explanation is what a scan does with one file, and why. Its JSON is the output of policyscan explain --json; its
// lists are never null.
type Explanation struct {
	Path       string            `json:"path"`   // from the root, as in a verdict
	Commit     string            `json:"commit"` // of --rev; "" for a file on disk or on standard input
	Kind       string            `json:"kind"`   // "file", "symlink", "submodule", "special"; "" if skipped
	Outcome    Outcome           `json:"result"`
	LeftOut    string            `json:"left_out"`    // why it is not part of the tree, as in a verdict; "" if it is
	NotScanned string            `json:"not_scanned"` // why it was not scanned, as in a verdict; "" if it was
	Bytes      int64             `json:"bytes"`       // that were checked
	Forms      []ExplainedForm   `json:"forms"`       // the content as it was checked, or as it is elsewhere
	GitUnknown string            `json:"git_unknown"` // why git's variants of the content are unknown; else ""
	BOM        string            `json:"mark"`        // the encoding of its byte order mark; "" without one
	AsOf       string            `json:"as_of"`       // as in a verdict
	Rules      []RuleExplanation `json:"rules"`       // in order of evaluation

	// The parts of a verdict of a scan of this file alone, without required files.
	Violations        []verdict.Violation        `json:"violations"`
	AllowedViolations []verdict.AllowedViolation `json:"allowed_violations"`
	Errors            []verdict.Error            `json:"errors"`

	Covered    bool `json:"-"` // by a rule, as in verdict.Coverage.Governed
	Unreadable bool `json:"-"` // the file or a directory above it could not be read: nothing is certain
}

// An ExplainedForm is a variant of the file's content.
type ExplainedForm struct {
	// "content": searched in these encodings; "parsed": in these formats; "stored": in git's index or commit, in
	// another encoding than on disk; "checkout": as git would write it to disk.
	Form    string   `json:"form"`
	As      []string `json:"as"`      // the encodings or formats
	Bytes   int64    `json:"bytes"`   // -1: unknown
	Checked bool     `json:"checked"` // in this explanation; the others only in scans of commits and of the index
}

// A RuleExplanation is the result of one rule for the file.
type RuleExplanation struct {
	ID      string            `json:"id"`
	Type    string            `json:"type"`
	Title   string            `json:"title"`
	Bundle  string            `json:"bundle"`
	File    string            `json:"file"` // the rule file in the bundle
	Line    int               `json:"line"`
	Outcome Outcome           `json:"result"` // never LeftOut
	Globs   GlobMatches       `json:"globs"`
	Items   []ItemExplanation `json:"items"` // if the rule covers the file

	Rule   *rules.Rule  `json:"-"`
	Choice rules.Choice `json:"-"`
}

// GlobMatches are the globs of a rule that match a path. Its lists are never null.
type GlobMatches struct {
	Selects        bool     `json:"selects"`         // the content of the file is checked
	Files          []string `json:"files"`           // of the rule, that match
	ForbiddenFiles []string `json:"forbidden_files"` // of the rule, that match
	RequiredFiles  []string `json:"required_files"`  // of the rule, that match
	Exclude        string   `json:"exclude"`         // the glob that excludes it; "" if none does
	FileExclude    string   `json:"file_exclude"`    // the same, of the rule file
}

// MatchesOf returns c in its JSON form.
func MatchesOf(c *rules.Choice) GlobMatches {
	return GlobMatches{
		Selects: c.Selects(), Files: verdict.OrEmpty(c.Files), ForbiddenFiles: verdict.OrEmpty(c.Forbidden),
		RequiredFiles: verdict.OrEmpty(c.Required), Exclude: c.Exclude, FileExclude: c.FileExclude,
	}
}

// An ItemExplanation is the result of one pattern, or one glob of forbidden_files, for the file.
type ItemExplanation struct {
	Name      string   `json:"pattern"`   // as in evidence
	Required  bool     `json:"required"`  // required, not forbidden
	Encodings []string `json:"encodings"` // of a literal or regex: those it was searched in
	Format    string   `json:"format"`    // of a key pattern: the format the file was parsed in; "" if it was not
	Places    int      `json:"reached"`   // of a key pattern: the number of places checked; -1: not parsed
	Note      string   `json:"note"`      // why it was not checked; else ""
	Outcome   Outcome  `json:"result"`    // as of the rule

	Why []check.Reason `json:"reasons"` // why it found nothing, and keys that its paths may mean

	Ref       rules.PatternRef   `json:"-"`
	Violation *verdict.Violation `json:"-"` // nil without one
	Allowance *verdict.Allowance `json:"-"` // of the violation, or nil
}

// An Outcome is the result of one pattern, mildest first.
type Outcome uint8

// The outcomes.
const (
	NotCovered Outcome = iota // the rule does not cover the file
	Passed                    // nothing breaks it
	Allowed                   // broken, but allowed
	Undecided                 // no certain answer
	Violated                  // broken
	LeftOut                   // the file is not part of the tree
)

func (o Outcome) String() string {
	return [...]string{"not_covered", "passes", "allowed", "undecided", "violated", "left_out"}[o]
}

// MarshalText returns the outcome's word in JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Explain scans the file at path alone and describes the result. A path without a file is an error.
func Explain(ctx context.Context, r *run.Run, path string) (*Explanation, error) {
	s := newScan(r)
	s.required, s.only, s.checker.Explains, s.checker.Cache = nil, path, true, nil
	var seen []tree.File // the file, or the non-directory above its path
	var result *check.Result
	v, err := s.observed(ctx, func(r *check.Result) {
		seen = append(seen, r.File)
		if r.File.Path == path && (r.Plan != nil || len(r.Forbidden) > 0) && !r.Vanished {
			kept := *r
			result = &kept
		}
	})
	if err != nil {
		return nil, err
	}
	x := &Explanation{
		Path: verdict.Path(path), Commit: r.Tree.Scope().HeadCommit, AsOf: v.AsOf, Forms: []ExplainedForm{},
		Violations:        verdict.OrEmpty(v.Violations),
		AllowedViolations: verdict.OrEmpty(v.AllowedViolations), Errors: verdict.OrEmpty(v.Errors),
	}
	for i := range x.Violations {
		x.Violations[i].Evidence.Places = verdict.OrEmpty(x.Violations[i].Evidence.Places)
	}
	for i := range x.AllowedViolations {
		x.AllowedViolations[i].Evidence.Places = verdict.OrEmpty(x.AllowedViolations[i].Evidence.Places)
	}
	for _, o := range v.Coverage.LeftOut {
		if o.Reason != verdict.LeftRequiredFile && (o.File == x.Path || strings.HasPrefix(x.Path, o.File+"/")) {
			x.LeftOut = o.Reason
		}
	}
	if x.LeftOut == "" {
		if x.Kind, err = kindOf(seen, path, r.Tree); err != nil {
			return nil, err
		}
	}
	x.explain(r, path, result)
	return x, nil
}

// A MissingFileError is the error of a path without a file.
type MissingFileError struct{ Path, Why string }

func (e *MissingFileError) Error() string { return verdict.Path(e.Path) + " " + e.Why }

// Files returns the paths of the tree's files, in order, and an error for each that cannot be listed. selected, if not
// nil, chooses among them.
func Files(ctx context.Context, r *run.Run, selected func(*tree.File) bool) (paths []string, wrong []verdict.Error) {
	s := newScan(r)
	for f, err := range r.Tree.Files(ctx, 1, tree.Query{LeaveOut: r.Skip})[0] {
		switch {
		case err != nil:
			wrong = append(wrong, run.Errors(err)...)
		case f.State == tree.Listed && f.Path != "." && !s.checker.IsRuleFile(&f) && (selected == nil || selected(&f)):
			paths = append(paths, f.Path)
		}
	}
	if ctx.Err() != nil {
		wrong = append(wrong, run.Errors(context.Cause(ctx))...)
	}
	slices.Sort(paths)
	return paths, wrong
}

// Covered is Files for the files that a rule covers.
func Covered(ctx context.Context, r *run.Run, rule *rules.Rule) (paths []string, wrong []verdict.Error) {
	alone := rules.New([]rules.Rule{*rule}, nil)
	return Files(ctx, r, func(f *tree.File) bool {
		if len(rule.RequiredFiles) > 0 && f.IsRegular() {
			if c := rule.Choose(f.Path); c.Requires() {
				return true
			}
		}
		if f.Kind == worktree.Submodule && len(alone.SelectingBelow(f.Path, nil)) > 0 {
			return true
		}
		return len(alone.Selecting(f.Path, nil))+len(alone.Forbidding(f.Path, nil)) > 0
	})
}

// kindOf returns the kind of the file at path. It fails if none of the listed files has that path.
func kindOf(seen []tree.File, path string, t tree.Tree) (string, error) {
	why := t.Absent(path)
	for _, f := range seen {
		switch {
		case f.Path == path:
			return [...]string{
				worktree.Regular: "file", worktree.Symlink: "symlink",
				worktree.Submodule: "submodule", worktree.Special: "special",
			}[f.Kind], nil
		case f.Kind == worktree.Submodule:
			why += fmt.Sprintf("; %s is a submodule that is not checked out", verdict.Path(f.Path))
		}
	}
	return "", &MissingFileError{path, why}
}

// explain adds the rules' results. result is nil if no rule covers the file.
func (x *Explanation) explain(r *run.Run, path string, result *check.Result) {
	if result != nil {
		x.Covered, x.NotScanned, x.Bytes, x.BOM = true, result.Reason, result.Bytes, result.BOM()
		x.Unreadable = result.File.Kind == worktree.Regular && result.Plan != nil && !result.Examined()
	}
	for i := range x.Errors {
		x.Unreadable = x.Unreadable || x.Errors[i].File != x.Path
		x.Outcome = Undecided
	}
	bundles := map[string]string{} // by rule
	for i := range r.Sources {
		for _, rule := range r.Sources[i].Bundle.Rules {
			bundles[rule.ID] = r.Sources[i].Name
		}
	}
	for i := range r.Rules.Bundle.Rules {
		rule := &r.Rules.Bundle.Rules[i]
		e := RuleExplanation{
			ID: rule.ID, Type: string(rule.Type), Title: rule.Title, Bundle: bundles[rule.ID],
			File: rule.File, Line: rule.Line, Items: []ItemExplanation{}, Rule: rule, Choice: rule.Choose(path),
		}
		e.Globs = MatchesOf(&e.Choice)
		if result != nil {
			x.explainRule(&e, result, r.Rules.Bundle, i)
		}
		x.Outcome = max(x.Outcome, e.Outcome)
		x.Rules = append(x.Rules, e)
	}
	if x.LeftOut != "" {
		x.Outcome = LeftOut
	}
	x.addForms()
}

// explainRule adds the patterns of a bundle's rule, by its number, and their results if the rule covers the file.
func (x *Explanation) explainRule(e *RuleExplanation, result *check.Result, b *rules.Bundle, number int) {
	add := func(of rules.PatternList, index int) {
		item := ItemExplanation{
			Required: of == rules.RequiredPattern, Encodings: []string{}, Places: -1, Outcome: Passed,
			Ref: rules.PatternRef{Of: of, Index: index},
		}
		item.Name = item.Ref.Name(e.Rule)
		if of != rules.ForbiddenFile {
			s := result.Explain(b, number, item.Ref)
			item.Encodings, item.Format, item.Note = verdict.OrEmpty(s.Encodings), s.Format, s.Note
			item.Places, item.Why = s.Places, s.Why
			if s.Undecided {
				item.Outcome = Undecided
			}
		}
		item.Why = verdict.OrEmpty(item.Why)
		x.addViolation(e.Rule, &item)
		e.Items = append(e.Items, item)
		e.Outcome = max(e.Outcome, item.Outcome)
	}
	if result.SelectedBy(number) {
		if !result.Scanned && !result.OnlyKeysFailed {
			e.Outcome = Undecided
		}
		for k := range e.Rule.Patterns {
			add(rules.ForbiddenPattern, k)
		}
		for k := range e.Rule.Required {
			add(rules.RequiredPattern, k)
		}
	}
	forbidden := slices.ContainsFunc(result.Forbidden, func(g rules.GlobOf) bool { return g.Rule == number })
	for k, g := range e.Rule.ForbiddenFiles {
		if (forbidden || result.SelectedBy(number)) && e.Choice.Forbids() && slices.Contains(e.Choice.Forbidden, g) {
			add(rules.ForbiddenFile, k)
		}
	}
}

// addViolation sets an item's outcome to its violation or allowed finding, if it has one.
func (x *Explanation) addViolation(r *rules.Rule, item *ItemExplanation) {
	breaks := func(v *verdict.Violation) bool {
		return v.RuleID == r.ID && v.Evidence.Pattern == item.Name &&
			(v.Evidence.Kind == verdict.KindMissing) == item.Required &&
			(v.Evidence.Kind == verdict.KindFile) == (item.Ref.Of == rules.ForbiddenFile)
	}
	for i := range x.Violations {
		if v := &x.Violations[i]; breaks(v) {
			item.Outcome, item.Violation = Violated, v
			return
		}
	}
	for i := range x.AllowedViolations {
		if v := &x.AllowedViolations[i]; breaks(&v.Violation) {
			item.Outcome, item.Violation, item.Allowance = Allowed, &v.Violation, &v.Allowance
			return
		}
	}
}

// addForms adds the variants of the content that were searched and parsed.
func (x *Explanation) addForms() {
	content, parsed := ExplainedForm{"content", nil, x.Bytes, true}, ExplainedForm{"parsed", nil, x.Bytes, true}
	for i := range x.Rules {
		for _, item := range x.Rules[i].Items {
			for _, encoding := range item.Encodings {
				if !slices.Contains(content.As, encoding) {
					content.As = append(content.As, encoding)
				}
			}
			if item.Format != "" && !slices.Contains(parsed.As, item.Format) {
				parsed.As = append(parsed.As, item.Format)
			}
		}
	}
	for _, form := range []ExplainedForm{content, parsed} {
		if form.As != nil {
			x.Forms = append(x.Forms, form)
		}
	}
}

// observed runs the scan and calls observe with the result of each file, one call at a time.
func (s *scan) observed(ctx context.Context, observe func(*check.Result)) (*verdict.Verdict, error) {
	var mu sync.Mutex
	s.observe = func(r *check.Result) {
		mu.Lock()
		defer mu.Unlock()
		observe(r)
	}
	if err := s.runOrGiveUp(ctx); err != nil {
		return nil, err
	}
	return s.verdict(), nil
}
