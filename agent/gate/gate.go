// Package gate checks a tool call of an agent before it runs.
//
// A call that edits files is a set of proposed files: each is checked against the bundle as a scan of the tree would
// check it afterwards. Every call is checked against the call rules. The strictest answer counts.
//
// The gate computes the content after an edit only for files that a bundle covers, and the edited files only if
// something is guarded. If it cannot compute what it needs, that is an error, unless another rule denies the call
// anyway.
//
// An edit is also denied if a file could not be parsed afterwards and a key pattern covers it. Exceptions are files
// that could not be parsed before, and new files, which may be templates.
//
// It reads the files that a call edits, and writes nothing.
//
// # Limits
//
// Only the call itself is seen. A shell command that writes a file is not an edit; the commit hook and the scan of
// the merge see the result. Symlinks are followed, and a file outside the root is not checked against the root's
// bundle: [Result.Outside] names it, and a [Project] checks it against the bundle of its repository. If a file has
// several names, by hard links or on a disk with equivalent spellings, the name in the call counts.
package gate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A Gate checks calls.
type Gate struct {
	Bundle *rules.Bundle // covers the files that a call would write; nil: no bundle
	// the root of the bundle's globs and of the guarded tree: absolute, without symlinks
	Root string
	Sets []*callrules.Set // check every call; may be empty

	// ByDir makes Root the root of the repository around a call's working directory, or that directory itself.
	// Root is then for calls without an absolute one.
	ByDir bool

	// elsewhere are the places of the files to check, if Root is a repository outside the agent's project. Messages
	// then have absolute paths. It is nil in the project.
	elsewhere []string

	bundles []bundleDir // the parts of Bundle, for their allowances at HEAD

	// Now tells the time, for the day on which allowances end; nil: the system does.
	Now func() time.Time

	// RuleFiles are the bundle's own files on disk: absolute, without symlinks. They contain the literals that they
	// forbid, so a scan skips them.
	RuleFiles []string

	// RuleDirs are the directories of rule files of 0.2 bundles, in which each *.yml is one.
	RuleDirs []string

	// Guarded are the files and directories that configure the checks of calls: absolute. Targets of symlinks are
	// guarded, too, and so is the same path in each other work tree of the repository. The user must confirm a call
	// that edits one of them. The bundle's own files are among them.
	Guarded []string

	// GuardedNames are guarded in each directory of the tree, and GuardedRootNames in each that is a repository's
	// root: files and directories, with slashes, in any case. Where anything is guarded each .git of the tree is.
	GuardedNames, GuardedRootNames []string

	// GuardsCI says that each file of a CI system is guarded, in the tree or elsewhere, that runs policyscan now.
	GuardsCI bool

	// Around is the guarded environment, or nil. It is looked up only for a call that edits a file.
	Around *Around
}

// A Result is the gate's result for a call.
type Result struct {
	// Outcomes are the outcomes of the bundle (if any), of the guard (for a call that edits a guarded file), and of
	// each set, in this order.
	Outcomes []callrules.Outcome

	New []verdict.Violation // new or increased violations, in the order of a verdict
	Old []verdict.Violation // existing violations that are no worse
	// Signed is all of the rules of which the call would bring more, in files where an allowance lets that be.
	Signed []verdict.AllowedViolation

	// Undecided says why rules could not check files as the call would leave them, although they can now.
	Undecided []verdict.Error

	// Recorded is set if the decision is logged before the answer, so that the note may say so.
	Recorded bool

	bundle *rules.Bundle
	root   string // of the gate, or of the call if the gate is ByDir

	outside []string // files that the call would write and that are not in the root, as the call names them
	notes   []string // more notes for the user
}

// Outcome is the strictest of the outcomes. Without any, nothing has an opinion of the call. Its reason names the
// files that are outside the root.
func (r *Result) Outcome() callrules.Outcome {
	o := callrules.Strictest(r.Outcomes)
	outside := r.Outside()
	switch {
	case strings.Contains(o.Reason, outside):
	case o.Reason == "":
		o.Reason = outside
	case strings.Contains(o.Reason, "\n"):
		o.Reason += "\n" + outside
	default:
		o.Reason += "; " + outside
	}
	return o
}

// Outside names the files that were not checked against the bundle because they are outside the root, or is "".
func (r *Result) Outside() string {
	n, more, are, they := len(r.outside), "", "are", "they were"
	switch {
	case n == 0:
		return ""
	case n == 1:
		are, they = "is", "it was"
	case n > maxShown:
		more = fmt.Sprintf(" and %d more", n-maxShown)
	}
	var names []string
	for _, name := range r.outside[:min(n, maxShown)] {
		names = append(names, verdict.Visible(name))
	}
	return fmt.Sprintf("%s%s %s outside of %s, so %s not checked against the bundle", strings.Join(names, ", "), more,
		are, verdict.Visible(r.root), they)
}

// Judges are the sets that check a call, for [callrules.ParseCall]; one of them represents the bundle, if any.
func (g *Gate) Judges() []*callrules.Set {
	if g.Bundle == nil {
		return g.Sets
	}
	return append([]*callrules.Set{bundleSet()}, g.Sets...)
}

// Judge checks a call. An error says why its effect, which a bundle or a guard needs, cannot be determined: the call
// must not run. If a rule denies the call anyway, the result is the denial, and the error is one of its reasons.
func (g *Gate) Judge(ctx context.Context, c *call.Call, o callrules.Options) (*Result, error) {
	r, err := g.judge(ctx, newProposal(c), o)
	return r.partialResult(err)
}

// judge checks as much of a call as it can. The error says why a part is unchecked.
func (g *Gate) judge(ctx context.Context, p *proposal, o callrules.Options) (*Result, error) {
	r := &Result{bundle: g.Bundle, root: g.Root}
	err := g.judgeEdits(ctx, p, o, r)
	for _, s := range g.Sets {
		r.Outcomes = append(r.Outcomes, s.Decide(p.call, o))
	}
	return r, err
}

// partialResult keeps a denial even if the rest could not be checked; without one it returns the error.
func (r *Result) partialResult(err error) (*Result, error) {
	if err == nil {
		return r, nil
	}
	if o := callrules.Strictest(r.Outcomes); o.Effect.Rank() < 2 {
		return nil, err
	}
	out := callrules.Outcome{Effect: callrules.Deny, Decision: string(callrules.Deny),
		Reason: err.Error(), Set: bundleSet()}
	if slices.ContainsFunc(r.Outcomes, func(o callrules.Outcome) bool { return o.Trace != nil }) {
		out.Trace = &callrules.Trace{Resolution: "deny: " + out.Reason}
	}
	r.Outcomes = append(r.Outcomes, out)
	return r, nil
}

// judgeEdits checks the edits of a call against the bundle and the guard, and computes only what they need.
func (g *Gate) judgeEdits(ctx context.Context, p *proposal, o callrules.Options, r *Result) error {
	if g.Bundle == nil && !g.guardsAny() {
		return nil
	}
	files, err := p.files(g.Bundle != nil)
	if err != nil {
		return err
	}
	if g.elsewhere != nil {
		files = slices.DeleteFunc(slices.Clone(files), func(f file) bool {
			isThere := func(place string) bool { return slices.Contains(g.elsewhere, place) }
			return !slices.ContainsFunc(append(f.places(), f.from), isThere)
		})
	}
	if g.ByDir && filepath.IsAbs(p.call.Dir) && len(files) > 0 {
		at := *g
		if at.Root, err = rootAround(p.call.Dir); err != nil {
			return err
		}
		g, r.root = &at, at.Root
	}
	if g.Bundle != nil {
		err = g.judgeFiles(ctx, files, r)
		if err == nil || len(r.New)+len(r.Undecided) > 0 {
			r.Outcomes = append(r.Outcomes, r.bundleOutcome(g, o))
		}
	}
	guarded, unguarded := g.guarded(files, p.call.Dir)
	if guarded != "" {
		r.Outcomes = append(r.Outcomes, guardOutcome(guarded))
	}
	return errors.Join(err, unguarded)
}

// Add adds another gate's result for the same call, without its files outside the root.
func (r *Result) Add(other *Result) {
	r.Outcomes = append(r.Outcomes, other.Outcomes...)
	r.New, r.Old = append(r.New, other.New...), append(r.Old, other.Old...)
	r.Signed = append(r.Signed, other.Signed...)
	r.Undecided = append(r.Undecided, other.Undecided...)
	r.notes = append(r.notes, other.notes...)
}

func bundleSet() *callrules.Set {
	return &callrules.Set{Name: "the bundle", Dialect: "bundle",
		Strategy: callrules.AllViolations, Default: callrules.Allow}
}

// bundleOutcome converts the violations to the outcome of a set.
func (r *Result) bundleOutcome(g *Gate, o callrules.Options) callrules.Outcome {
	out := callrules.Outcome{Effect: callrules.Allow, Decision: string(callrules.Allow),
		Reason: r.Outside(), Set: bundleSet()}
	if o.Trace {
		out.Trace = r.trace()
	}
	var reasons []string
	if len(r.New) > 0 {
		reasons = append(reasons, r.violations(g.elsewhere != nil))
		out.Rule = r.denying(r.New[0].RuleID)
	}
	if len(r.Undecided) > 0 {
		reasons = append(reasons, listing("the edit would leave files that rules cannot judge:", "\n-", r.Undecided,
			func(e *verdict.Error) string {
				return fmt.Sprintf("%s: %s [%s]", verdict.Visible(e.File), lines(e.Message), e.Code)
			}))
	}
	if len(reasons) > 0 {
		out.Effect, out.Decision, out.Reason = callrules.Deny, string(callrules.Deny), strings.Join(reasons, "\n")
	}
	return out
}

// denying is a rule of the bundle as one that denies a call.
func (r *Result) denying(id string) *callrules.Rule {
	rule := &callrules.Rule{ID: id, Effect: callrules.Deny}
	if i := slices.IndexFunc(r.bundle.Rules, func(b rules.Rule) bool { return b.ID == id }); i >= 0 {
		rule.Origin = callrules.Origin{File: r.bundle.Rules[i].File, Line: r.bundle.Rules[i].Line}
	}
	return rule
}

// trace says how the bundle came to its outcome: the rules that the call would break, and the files that are outside.
func (r *Result) trace() *callrules.Trace {
	t := &callrules.Trace{Resolution: "allow: the call would break no rule of the bundle"}
	if len(r.Signed) > 0 {
		t.Resolution = "allow: the call would break no rule of the bundle but what its allowances permit"
	}
	for i := range r.New {
		id := r.New[i].RuleID
		if !slices.ContainsFunc(t.Steps, func(s callrules.Step) bool { return s.Rule.ID == id }) {
			t.Steps = append(t.Steps, callrules.Step{Rule: r.denying(id), Matched: true})
		}
	}
	outside := r.Outside()
	switch {
	case len(t.Steps) == 0 && len(r.Undecided) > 0:
		t.Resolution = "deny: rules of the bundle could not judge a file after the call"
	case len(t.Steps) > 0:
		broken := "1 rule"
		if n := len(t.Steps); n > 1 {
			broken = fmt.Sprintf("%d rules", n)
		}
		t.Resolution = "deny: the call would break " + broken + " of the bundle"
		if outside != "" {
			t.Resolution += "; " + outside
		}
	case outside != "":
		t.Resolution = "allow: " + outside
	}
	return t
}

// Root returns the directory from which a bundle's globs count: the one that --root names or, without it, the root of
// the repository around the current directory.
func Root(flag string) (string, error) {
	at, err := run.Find(flag)
	if err != nil && flag != "" {
		err = fmt.Errorf("--root %s: %w", flag, err)
	}
	return at.Root, err
}

// Open returns a gate with the bundles that --policy names; "" is the root's own bundle. Pinned bundles must have
// their hashes.
func Open(names []string, pins run.Pins, root string) (*Gate, error) {
	all, err := run.LoadRules(names, root)
	if n := len(all); err != nil && n > 0 && names[n-1] != "" && all[n-1].Bundle == nil {
		err = fmt.Errorf("%s: %w", all[n-1].Name, err)
	}
	if err == nil {
		err = pins.Check(all.OfTree().Bundles())
	}
	if err != nil {
		return nil, err
	}
	return New(all, root)
}

// OfRepository returns a gate with the bundle in a repository, or nil without one. Errors name the bundle.
func OfRepository(root string) (*Gate, error) {
	dir, err := rules.Discover(root)
	var none *document.Error
	if errors.As(err, &none) && none.Code == document.CodeMissing {
		return nil, run.SparseBundle(root, err)
	}
	if err != nil {
		return nil, err
	}
	return Open([]string{dir}, nil, root)
}

// New returns a gate with bundles that are loaded. Their own files are guarded.
func New(all run.RuleSources, root string) (*Gate, error) {
	root, err := disk.Real(root)
	if err != nil {
		return nil, worktree.NoRoot(err)
	}
	g := &Gate{Bundle: rules.Join(all.Bundles()...), Root: root}
	for i := range all {
		p := &all[i]
		if p.Dir == "" { // the program's own, which has no allowances
			continue
		}
		dir, err := disk.Real(p.Dir)
		if err != nil {
			return nil, fmt.Errorf("cannot determine where the bundle %s is: %w", p.Name, disk.Cause(err))
		}
		g.bundles = append(g.bundles, bundleDir{p.Bundle, dir})
		ruleDir := filepath.Join(dir, "rules")
		g.Guarded = append(g.Guarded, ruleDir)
		if p.Below != "" { // the root's rules check its files
			continue
		}
		files := []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile}
		g.RuleFiles = append(g.RuleFiles, under(dir, files)...)
		if p.Bundle.Is02 {
			g.RuleDirs = append(g.RuleDirs, ruleDir)
		}
	}
	return g, nil
}
