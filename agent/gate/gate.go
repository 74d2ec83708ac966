// Package gate checks a tool call of an agent before it runs.
//
// A call that edits files is a set of proposed files: each is checked against the bundle as a scan of the tree
// would check it afterwards. Every call is checked against the call rules. The strictest answer counts.
//
// The contents that an edit would produce are determined only where a bundle checks them, and the files that it
// edits only where something is guarded. What is needed and cannot be determined is an error, unless another rule
// denies the call anyway.
//
// What a scan could not judge afterwards, because a file cannot be parsed for a rule with a key, denies an edit, too:
// but not where that was so before, nor for a new file, which may be a template.
//
// It reads the files that a call edits, and writes nothing.
//
// # Limits
//
// Only what a call says is seen. A command of a shell that writes a file is not an edit here; the hook of the
// commit and the scan of the merge see what it wrote. A file is checked where it really is: links are followed,
// and a file outside the root is not checked against the root's bundle: [Result.Outside] names it, and a [Project]
// checks it against the bundle of its repository. Where a file has several names, by hard links or on a disk that
// takes two spellings for one, the name in the call counts.
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
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// A Gate checks calls.
type Gate struct {
	Bundle *rules.Bundle // covers the files that a call would write; nil: no bundle
	// the directory from which the bundle's globs count, and whose tree is guarded: absolute, without links
	Root string
	Sets []*callrules.Set // check every call; may be empty

	// ByFolder makes Root that of the repository around a call's working directory, or that directory itself. Root is
	// then for calls that name no absolute one.
	ByFolder bool

	// elsewhere are the places of the files to judge, if Root is another repository than those of the agent's project.
	// Messages then name files by their absolute paths. It is nil in the project.
	elsewhere []string

	bundles []bundleDir // that Bundle was made of, for what they allow at HEAD

	// Now tells the time, for the day on which allowances end; nil: the system does.
	Now func() time.Time

	// RuleFiles are the bundle's own, if they are on disk: absolute, without links. They contain the texts that
	// they forbid, so a scan skips them.
	RuleFiles []string

	// RuleFolders are the directories of rule files of 0.2 bundles, in which each *.yml is one.
	RuleFolders []string

	// Guarded are the files and directories that say who checks calls, and how: absolute. What links lead to is
	// guarded, too, and so is, in each other work tree of the repository, what is in the same place as they are in
	// the root. A call that edits one of them needs a person. The bundle's own files are among them.
	Guarded []string

	// GuardedNames are guarded in each directory of the tree, and GuardedRootNames in each that is a repository's
	// root: files and directories, with slashes, in any case. Where anything is guarded each .git of the tree is.
	GuardedNames, GuardedRootNames []string

	// GuardsCI says that each file of a CI system is guarded, in the tree or elsewhere, that runs policyscan now.
	GuardsCI bool

	// Around is what is guarded around the tree; nil: nothing is. It is looked up only for a call that edits a file.
	Around *Around
}

// A Result is what the gate says of a call.
type Result struct {
	// Outcomes are those of the bundle (if there is one), of the guard (if the call edits what it guards), and of
	// each set, in this order.
	Outcomes []callrules.Outcome

	New []verdict.Violation // what the call would bring or make worse, in the order of a verdict
	Old []verdict.Violation // what was in the files before and is no worse
	// Signed is all of the rules of which the call would bring more, in files where an allowance lets that be.
	Signed []verdict.AllowedViolation

	// Undecided is why rules could not judge files as the call would leave them, though they can now.
	Undecided []verdict.Error

	// Recorded says that the decision is written to a log before it is answered, so that the note may call it
	// recorded.
	Recorded bool

	bundle *rules.Bundle
	root   string // of the gate, or of the call if the gate is ByFolder

	outside []string // files that the call would write and that are not in the root, as the call names them
	notes   []string // what a person should know besides
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

// Outside says which files were not checked against the bundle because they are outside the root; "" if there are
// none.
func (r *Result) Outside() string {
	switch n := len(r.outside); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s is outside of %s, so it was not checked against the bundle",
			verdict.Visible(r.outside[0]), verdict.Visible(r.root))
	default:
		var names []string
		for _, name := range r.outside[:min(n, maxShown)] {
			names = append(names, verdict.Visible(name))
		}
		more := ""
		if n > maxShown {
			more = fmt.Sprintf(" and %d more", n-maxShown)
		}
		return fmt.Sprintf("%s%s are outside of %s, so they were not checked against the bundle",
			strings.Join(names, ", "), more, verdict.Visible(r.root))
	}
}

// Judges are the sets that check a call, for [callrules.ParseCall]; one of them represents the bundle, if there is
// one.
func (g *Gate) Judges() []*callrules.Set {
	if g.Bundle == nil {
		return g.Sets
	}
	return append([]*callrules.Set{bundleSet()}, g.Sets...)
}

// Judge checks a call. An error says why what the call would do cannot be determined, although a bundle or a guard
// needs it: the call must then not run. If a rule denies the call all the same, that is the result, and the error is
// one of the reasons.
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

// partialResult is a result of which an error says why it is not whole: one that denies the call remains.
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

// judgeEdits checks what a call would write against the bundle and the guard, and computes only what they need.
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
	if g.ByFolder && filepath.IsAbs(p.call.Dir) && len(files) > 0 {
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

// Add takes what another gate says of the same call. Which files are outside a root is said of one gate alone.
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

// bundleOutcome is what the violations are as the outcome of a set.
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
		reasons = append(reasons, r.undecidable())
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
		t.Resolution = "allow: the call would break no rule of the bundle but what its allowances let be"
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
