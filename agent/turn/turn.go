// Package turn checks what a session has changed in a work tree, when its agent is about to end a turn.
//
// What is checked is what "policyscan scan --diff-base HEAD --uncommitted" checks, by the bundles of HEAD and on disk,
// whoever wrote it, and in addition the files that git neither tracks nor ignores. Violations that the session began
// with are dropped; they are counted by rule, file and pattern, as for an edit before it is made.
//
// # Limits
//
// What the session has committed is part of HEAD, and is not checked: the hook before the commit and CI do that. In a
// file that had some occurrences of a pattern when the session began, only their number says whether there are new
// ones. Other repositories are not checked, nor is a directory without a commit.
package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
)

// maxShown is how many violations the agent is told.
const maxShown = 20

// A Result is what is new in the work trees.
type Result struct {
	violations []violation
	undecided  []string // errors, each once
}

// A violation has at least one occurrence, or is at no place.
type violation struct {
	of    verdict.Violation
	rule  *verdict.Rule
	count int64    // of new places
	also  []string // the lines of further ones
	key   string
}

// Check compares the work trees at some roots with their HEAD. The options say which bundles check them.
func Check(ctx context.Context, roots []string, options func(root string) run.Options) *Result {
	all := &Result{}
	for _, root := range roots {
		prefix := ""
		if len(roots) > 1 {
			prefix = root + "/"
		}
		all.add(scan(ctx, root, options(root)), prefix)
	}
	return all
}

func scan(ctx context.Context, root string, o run.Options) *verdict.Verdict {
	o.Path, o.Base, o.Uncommitted, o.Untracked = root, "HEAD", true, true
	o.Allow = append(slices.Clone(o.Allow), check.AllowEmpty)
	if around, err := repo.Root(root); err == nil && around != root {
		return run.Verdict(o.Version, o.Scope(), fmt.Errorf("%s is in the repository %s, and only a whole repository "+
			"is compared with HEAD; remove --root", verdict.Visible(root), verdict.Visible(around)))
	}
	r, err := run.Open(ctx, o)
	if err == nil {
		defer r.Close()
		return scanner.Scan(ctx, r, nil)
	}
	failed := r.Undecided(err)
	o.PolicyRef = "HEAD" // whoever breaks the bundle on disk is still checked by the other
	if r, err = run.Open(ctx, o); err != nil {
		return failed
	}
	defer r.Close()
	v := scanner.Scan(ctx, r, nil)
	v.Errors = append(v.Errors, failed.Errors...)
	return v
}

func (r *Result) add(v *verdict.Verdict, prefix string) {
	byID := map[string]*verdict.Rule{}
	for i := range v.Rules {
		byID[v.Rules[i].ID] = &v.Rules[i]
	}
	for _, one := range v.Violations {
		if one.Status == verdict.PreExisting {
			continue
		}
		e := &one.Evidence
		var also []string
		first := true
		for _, p := range e.Places {
			switch {
			case p.Status != verdict.Introduced || len(also) == maxShown:
			case first:
				e.Line, e.Column, first = p.Line, p.Column, false
			default:
				also = append(also, fmt.Sprint(p.Line))
			}
		}
		one.File = prefix + one.File
		key := strings.Join([]string{one.RuleID, one.File, e.Kind, e.Pattern}, "\x00")
		r.violations = append(r.violations, violation{one, byID[one.RuleID], max(one.NewPlaceCount, 1), also, key})
	}
	for _, e := range v.Errors {
		if e.File != "" {
			e.File = prefix + e.File
		}
		text := fmt.Sprintf("%s [%s]", verdict.Visible(e.Error()), e.Code)
		if !slices.Contains(r.undecided, text) {
			r.undecided = append(r.undecided, text)
		}
	}
}

// Counts are the violations, for [session.Turns].
func (r *Result) Counts() map[string]int64 {
	counts := map[string]int64{}
	for i := range r.violations {
		counts[r.violations[i].key] += r.violations[i].count
	}
	return counts
}

// Since drops the violations that were there before, as often or more.
func (r *Result) Since(before func(key string) int64) {
	r.violations = slices.DeleteFunc(r.violations, func(v violation) bool { return v.count <= before(v.key) })
}

// Keys identify the violations, as a set.
func (r *Result) Keys() []string {
	var keys []string
	for i := range r.violations {
		keys = append(keys, fmt.Sprintf("%s\x00%d", r.violations[i].key, r.violations[i].count))
	}
	return keys
}

// Undecided are the errors of the check.
func (r *Result) Undecided() []string { return r.undecided }

// Reason sends the agent back: what to fix, and how. nth of at most most requests.
func (r *Result) Reason(nth, most int) string {
	var all []string
	explained := map[string]bool{}
	for i := range r.violations {
		v := &r.violations[i]
		text := gate.Broken(&v.of)
		if len(v.also) > 0 {
			text += " (also in line " + strings.Join(v.also, ", ") + ")"
		}
		if of := v.rule; of != nil && !explained[of.ID] {
			explained[of.ID] = true
			text += gate.Fix(&v.of, of.Message, of.Remediation, of.DocsURL)
		}
		all = append(all, text)
	}
	return listing(fmt.Sprintf("policyscan: what this session changed breaks the policy; "+
		"fix it, and then end the turn (request %d of %d):", nth, most), all)
}

// Left describes to the user the end of a turn with violations.
func (r *Result) Left() string {
	var all []string
	for i := range r.violations {
		all = append(all, gate.Broken(&r.violations[i].of))
	}
	return listing("policyscan: the turn ends although what this session changed breaks the policy:", all)
}

// NotDecided describes to the user what could not be decided.
func (r *Result) NotDecided() string {
	return listing("policyscan could not decide about all that this session changed:", r.undecided)
}

func listing(head string, all []string) string {
	if more := len(all) - maxShown; more > 0 {
		all = append(slices.Clone(all[:maxShown]), fmt.Sprintf("and %d more", more))
	}
	return head + "\n- " + strings.Join(all, "\n- ")
}
