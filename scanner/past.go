package scanner

import (
	"context"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A past examines files as they were before a change, by the rules of the run, and, to count what is in one that the
// change does not touch, as they are now. A file that is not part of what is scanned can be asked for, too. What cannot
// be read there is no error of the run: it had nothing.
//
// Several goroutines may use it.
type past struct {
	run     *collector
	checker *check.Checker // of what is not scanned
	open    func() error   // reads which states there are, once

	// joined returns the paths whose lines count as those of one file for a rule, by its index: in order, the path
	// itself included. nil: there are none. Called by all workers.
	joined func(rule int, path string) []string

	states *tree.History // once it is open
	before []*tree.Snapshot

	mu    sync.Mutex // of what follows
	known map[pastFile]*examined

	asking sync.Mutex
	own    match.Examiner // of the one who asks
}

// A pastFile is a path in a state.
type pastFile struct {
	state *tree.Snapshot
	path  string
}

// newPast returns the past of a run that compares states; else nil.
func newPast(p *collector) *past {
	if !p.compares() {
		return nil
	}
	h := &past{run: p, known: map[pastFile]*examined{}, own: match.Examiner{Limit: p.opt.MaxFileBytes}}
	before := *p.checker
	before.Rewritten = nil // which is about what is scanned
	h.checker = &before
	h.open = sync.OnceValue(func() (err error) {
		if h.states, err = p.tree.History(); err != nil {
			return err
		}
		h.before, err = h.states.Before()
		return err
	})
	return h
}

// references returns the states that are compared with: what [past.had] has a number for, in this order. The error is
// that there is no knowing.
func (h *past) references() ([]allowance.Reference, error) {
	if err := h.open(); err != nil {
		return nil, err
	}
	var all []allowance.Reference
	for _, m := range h.before {
		all = append(all, allowance.Reference{Name: m.Name, Base: m.IsBase, MergeBase: m.IsMergeBase})
	}
	return all, nil
}

// had returns how often a file broke a rule of the run's, by its index, at each of the references. A staged file that
// a merge in progress brings as it is had there what it has in the commit that is merged. Where the text alone judges
// the file now, or one that it is joined with, it is compared with the text: what cannot be seen makes no room.
func (h *past) had(ctx context.Context, rule int, path string) ([]allowance.Past, error) {
	if err := h.open(); err != nil {
		return nil, err
	}
	m, err := h.mergedAs(path)
	if m != nil {
		return h.counts(ctx, []*tree.Snapshot{m}, rule, path), err
	}
	return h.counts(ctx, h.before, rule, path), err
}

// counts is what [past.had] says, in some states.
func (h *past) counts(ctx context.Context, moments []*tree.Snapshot, rule int, path string) []allowance.Past {
	text := h.textAlone(ctx, rule, path)
	var all []allowance.Past
	for _, m := range moments {
		e := h.at(ctx, m, path)
		past := e.count(rule)
		if text {
			past.Count -= e.keyed(rule)
		}
		all = append(all, past)
	}
	return all
}

// textAlone reports whether a rule with items with a key judges a file now, or one that it is joined with, by its text
// alone, because it cannot be parsed.
func (h *past) textAlone(ctx context.Context, rule int, path string) bool {
	if !h.run.set.Bundle.Rules[rule].Unparsable {
		return false
	}
	files := []string{path}
	if h.joined != nil {
		files = append(files, h.joined(rule, path)...)
	}
	return slices.ContainsFunc(files, func(file string) bool { return h.at(ctx, h.states.Now, file).unparsed })
}

// has returns how often a file breaks a rule as it is now, in the state that is checked, whether it is part of what is
// checked or not.
func (h *past) has(ctx context.Context, rule int, path string) (allowance.Past, error) {
	if err := h.open(); err != nil {
		return allowance.Past{}, err
	}
	return h.at(ctx, h.states.Now, path).count(rule), nil
}

// An examined is what came of the examination of a file.
type examined struct {
	absent   allowance.Absence // of the file itself
	unread   bool              // its content could not be had
	selected []int             // the rules that are about its content
	unjudged []int             // those of them that could not judge it: it cannot be parsed
	unparsed bool              // it cannot be parsed, and a rule lets its text alone be judged
	forbid   []rules.GlobOf
	counts   []ruleCount
	broken   []check.Finding // not remembered
}

type ruleCount struct {
	rule  int
	count int64
	keyed int64 // of count, what items with a key have found
}

// keyed returns how much of what a rule found is of its items with a key.
func (e *examined) keyed(rule int) int {
	i := slices.IndexFunc(e.counts, func(c ruleCount) bool { return c.rule == rule })
	if i < 0 || e.count(rule).None != allowance.Had {
		return 0
	}
	return int(e.counts[i].keyed)
}

// count returns how often a rule is broken.
func (e *examined) count(rule int) allowance.Past {
	switch {
	case e.absent != allowance.Had:
		return allowance.Past{None: e.absent}
	case slices.Contains(e.unjudged, rule):
		return allowance.Past{None: allowance.Unparsed}
	case slices.Contains(e.selected, rule):
		if e.unread {
			return allowance.Past{None: allowance.Unreadable}
		}
	case !slices.ContainsFunc(e.forbid, func(g rules.GlobOf) bool { return g.Rule == rule }):
		return allowance.Past{None: allowance.Unasked}
	}
	for _, c := range e.counts {
		if c.rule == rule {
			return allowance.Past{Count: int(c.count)}
		}
	}
	return allowance.Past{}
}

// at returns the result of a file in a state. It is examined once.
func (h *past) at(ctx context.Context, m *tree.Snapshot, path string) *examined {
	h.mu.Lock()
	e := h.known[pastFile{m, path}]
	h.mu.Unlock()
	if e == nil {
		h.asking.Lock()
		defer h.asking.Unlock()
		e = h.examine(ctx, &h.own, m, path)
		h.remember(m, path, e)
	}
	return e
}

// remember keeps the counts of an examination, without what was found.
func (h *past) remember(m *tree.Snapshot, path string, e *examined) {
	kept := *e
	kept.broken = nil
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[pastFile{m, path}] = &kept
}

// examine examines a file in a state, by all rules that are about it.
func (h *past) examine(ctx context.Context, x *match.Examiner, m *tree.Snapshot, path string) *examined {
	leaf, found, err := m.Leaf(path)
	switch {
	case err != nil:
		return &examined{absent: allowance.Unreadable}
	case !found || !leaf.Mode.IsLeaf():
		return &examined{absent: allowance.Missing}
	}
	f := m.File(path, leaf)
	if h.run.opt.Exclude != nil && h.run.opt.Exclude(path) || h.run.isRuleFile(&f) || tree.IsGitPath(path) {
		return &examined{absent: allowance.Unasked}
	}
	r := &check.Result{File: f, Forbidden: h.run.set.Bundle.Forbidding(path, nil)}
	if f.Kind != worktree.Submodule { // in which there is no content of this repository
		if selected := h.run.set.Bundle.Selecting(path, nil); len(selected) > 0 {
			r.Plan = h.checker.Plans.Plan(selected)
			bare := x.Bare
			x.Bare = true
			h.checker.Check(ctx, x, r)
			x.Bare = bare
		}
	}
	r.Settle(h.run.set.Bundle)
	return examinedOf(r)
}

// examinedOf returns what is counted of a result, which is settled.
func examinedOf(r *check.Result) *examined {
	e := &examined{forbid: r.Forbidden, broken: r.Findings, unjudged: r.UndecidedRules(), unparsed: r.TextAlone()}
	if r.Plan != nil {
		e.selected, e.unread = r.Plan.Rules, !r.Scanned && !r.OnlyKeysFailed
	}
	for i := range r.Findings {
		br := &r.Findings[i]
		k := slices.IndexFunc(e.counts, func(c ruleCount) bool { return c.rule == br.Rule })
		if k < 0 {
			k, e.counts = len(e.counts), append(e.counts, ruleCount{rule: br.Rule})
		}
		e.counts[k].count += br.Occurrences()
		if br.Key != nil {
			e.counts[k].keyed += br.Occurrences()
		}
	}
	return e
}

// requiredAt returns the globs of required files that a file matched in a state.
func (h *past) requiredAt(m *tree.Snapshot) (map[rules.GlobOf]bool, error) {
	q := &requiredFiles{bundle: h.run.set.Bundle, exclude: h.run.opt.Exclude, known: map[rules.GlobOf]bool{}}
	for f, err := range m.Files(context.Background()) {
		if err != nil {
			return q.known, err
		}
		q.blob(&f, h.run)
	}
	return q.known, nil
}

// end labels what the workers did not: the files that the tree lacks, by whether they were missing before, and what a
// scan that was ended did not come to. nil labels nothing.
func (h *past) end(broken []check.Finding) {
	if h == nil {
		return
	}
	h.labelRequired(broken)
	h.labelJoined(broken)
	for i := range broken {
		br := &broken[i]
		if br.Status != "" {
			continue
		}
		br.Status = verdict.Introduced
		if br.Match != nil {
			br.Places = slices.Clone(br.Match.Evidence.Places)
		}
		for k := range br.Places {
			br.Places[k].Status = verdict.Introduced
		}
	}
}

// labelRequired says of files that the tree lacks whether they were missing before.
func (h *past) labelRequired(broken []check.Finding) {
	var lacking []*check.Finding
	for i := range broken {
		if broken[i].Path == "" {
			lacking = append(lacking, &broken[i])
		}
	}
	if len(lacking) == 0 || h.open() != nil {
		return
	}
	for _, br := range lacking {
		br.Status = verdict.PreExisting
	}
	for _, m := range h.before {
		if !m.Differs {
			continue
		}
		there, err := h.requiredAt(m)
		for _, br := range lacking {
			if err != nil || there[rules.GlobOf{Rule: br.Rule, Glob: br.Ref.Index}] {
				br.Status = verdict.Introduced
			}
		}
	}
}
