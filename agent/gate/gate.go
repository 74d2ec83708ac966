// Package gate judges a tool call of an agent before it runs.
//
// A call that edits files is a set of proposed files: each is judged by the bundle as a scan of the tree
// would judge it afterwards. Every call is judged by the call rules. The strictest of what these say is what
// holds.
//
// It reads the files that a call edits, and writes nothing.
//
// # Limits
//
// Only what a call says is seen. A command of a shell that writes a file is no edit here; the hook of the
// commit and the scan of the merge see what it wrote. A file is judged where it really is: links are followed,
// and a file outside the root is no file of the tree. Where a file has several names, by hard links or on a disk that
// takes two spellings for one, that counts which the call has.
package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/edit"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// A Gate is what judges calls.
type Gate struct {
	Bundle *rules.Bundle // judges the files that a call would write; nil: nothing does
	Root   string        // the folder from which the bundle's globs count, and whose tree is guarded: absolute, without links
	Sets   []*call.Set   // judge every call; may be empty

	// RuleFiles are the bundle's own, if they are on disk: absolute, without links. They hold the texts that
	// they forbid, so that a scan leaves them out.
	RuleFiles []string

	// Guarded are the files and folders that say who judges, and how: absolute; what links lead to is guarded, too, and in
	// each other work tree of the repository what stands where they stand in the root. A call that edits one of them needs a
	// person. The bundle's own files belong to them.
	Guarded []string

	// GuardedNames are guarded in each folder of the tree, and GuardedRootNames in each that is a repository's root: files and
	// folders, with slashes, in any case. Where anything is guarded each .git of the tree is.
	GuardedNames, GuardedRootNames []string
}

// A Result is what the gate says of a call.
type Result struct {
	// Outcomes are those of the bundle (if there is one), of the guard (if the call edits what it guards), and of
	// each set, in this order.
	Outcomes []call.Outcome

	New []verdict.Violation // what the call would bring or make worse, in the order of a verdict
	Old []verdict.Violation // what was in the files before and is no worse

	bundle *rules.Bundle
}

// Outcome is the strictest of the outcomes. Without any, nothing has an opinion of the call.
func (r *Result) Outcome() call.Outcome { return call.Strictest(r.Outcomes) }

// Judge judges a call. An error says why it cannot be told what the call would do: it must then not run.
func (g *Gate) Judge(ctx context.Context, c *call.Call, o call.Options) (*Result, error) {
	r := &Result{bundle: g.Bundle}
	edits, err := edit.Of(c)
	if err != nil {
		return nil, fmt.Errorf("what the call of %s would write cannot be told: %w", verdict.Visible(c.Tool), err)
	}
	files, err := g.files(edits, c.Dir)
	if err != nil {
		return nil, err
	}
	if g.Bundle != nil {
		if err := g.judgeFiles(ctx, files, r); err != nil {
			return nil, err
		}
		r.Outcomes = append(r.Outcomes, r.ofBundle())
	}
	guarded, err := g.guarded(files, c.Dir)
	if err != nil {
		return nil, err
	}
	if guarded != "" {
		r.Outcomes = append(r.Outcomes, ofGuard(guarded))
	}
	for _, s := range g.Sets {
		r.Outcomes = append(r.Outcomes, s.Decide(c, o))
	}
	return r, nil
}

// Add takes what another gate says of the same call.
func (r *Result) Add(other *Result) {
	r.Outcomes = append(r.Outcomes, other.Outcomes...)
	r.New, r.Old = append(r.New, other.New...), append(r.Old, other.Old...)
}

// ofBundle is what the violations are as the outcome of a set.
func (r *Result) ofBundle() call.Outcome {
	set := &call.Set{Name: "the bundle", Dialect: "bundle", Strategy: call.AllViolations, Default: call.Allow}
	out := call.Outcome{Effect: call.Allow, Decision: string(call.Allow), Set: set}
	if len(r.New) == 0 {
		return out
	}
	out.Effect, out.Decision, out.Reason = call.Deny, string(call.Deny), r.violations()
	out.Rule = &call.Rule{ID: r.New[0].RuleID, Effect: call.Deny}
	if i := slices.IndexFunc(r.bundle.Rules, func(b rules.Rule) bool { return b.ID == r.New[0].RuleID }); i >= 0 {
		out.Rule.Origin = call.Origin{File: r.bundle.Rules[i].File, Line: r.bundle.Rules[i].Line}
	}
	return out
}
