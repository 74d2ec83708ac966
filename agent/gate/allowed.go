package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
)

// A bundleDir is a bundle of the gate, and its directory, without symlinks.
type bundleDir struct {
	bundle *rules.Bundle
	dir    string
}

// counts are how often rules are broken in a file.
type counts struct {
	absent    allowance.Reason
	undecided bool // rules with key patterns could not check it
	textAlone bool // the file cannot be parsed, and its rules then check its text alone
	found     []verdict.Violation
}

// of counts the violations of a rule in the file; with text, those of key patterns are left out.
func (c *counts) of(r *rules.Rule, text bool) allowance.Count {
	var n allowance.Count
	for i := range c.found {
		v := &c.found[i]
		isFrom := func(item rules.Item) bool { return item.Kind == rules.Key && item.Name == v.Evidence.Pattern }
		if v.RuleID == r.ID && !(text && anyItem(r, isFrom)) {
			if text {
				n.Count += int(v.Evidence.Occurrences)
			} else {
				n.Count, n.Same = n.Count+int(v.PlaceCount), n.Same+int(v.Evidence.Occurrences-v.PlaceCount)
			}
		}
	}
	return n
}

func anyItem(r *rules.Rule, is func(rules.Item) bool) bool {
	return slices.ContainsFunc(r.Patterns, is) || slices.ContainsFunc(r.Required, is)
}

// past is the count before the call. If only the text is checked after it, only violations of the text count: unseen
// ones make no room.
func (c *counts) past(r *rules.Rule, text bool) allowance.Count {
	switch {
	case c.absent != allowance.Counted:
		return allowance.Count{Reason: c.absent}
	case c.undecided && anyItem(r, func(item rules.Item) bool { return item.Kind == rules.Key }):
		return allowance.Count{Reason: allowance.Unparsed}
	}
	return c.of(r, text)
}

// An editedFile is a file that a call edits, and that would break rules more often than it does on disk.
type editedFile struct {
	treePath
	disk  counts   // before the call
	after []counts // with each of the contents that the call may leave
}

// A decision names the allowance that permits a rule's count in a file, or why none does; both are empty without one.
type decision struct {
	signed  *allowance.Limit
	refused string
}

// decideIncreases decides by the allowances, for each rule that a call violates more often in a file, keyed by rule
// id. On an error nothing else is allowed.
func (g *Gate) decideIncreases(
	ctx context.Context, checker *check.ContentChecker, e *editedFile, found []key, grew func(key) bool,
) (map[string]decision, error) {
	if len(g.Bundle.Allowances) == 0 {
		return nil, nil
	}
	all := map[string]decision{}
	for _, k := range found {
		if _, known := all[k.rule]; known || !grew(k) {
			continue
		}
		i := slices.IndexFunc(g.Bundle.Rules, func(r rules.Rule) bool { return r.ID == k.rule })
		d, err := g.decide(ctx, checker, e, &g.Bundle.Rules[i])
		if err != nil {
			return all, err
		}
		all[k.rule] = d
	}
	return all, nil
}

// decide decides by HEAD's allowances for a rule in a file that a call edits. The file's count before is HEAD's if
// that is higher than on disk: cut and paste is two edits.
func (g *Gate) decide(
	ctx context.Context, checker *check.ContentChecker, e *editedFile, rule *rules.Rule,
) (none decision, err error) {
	file := verdict.Path(e.path)
	isOf := func(a rules.Allowance) bool { return a.Rule == rule.ID && a.File == file }
	if !slices.ContainsFunc(g.Bundle.Allowances, isOf) {
		return none, nil
	}
	entries, at, err := g.committed(e.treePath)
	if err != nil {
		return none, fmt.Errorf("cannot determine what HEAD allows in %s: %w", file, cause(err))
	}
	if !slices.ContainsFunc(entries, isOf) {
		return decision{refused: "its allowance is not committed, and only those of HEAD count"}, nil
	}
	text := rule.Unparsable && slices.ContainsFunc(e.after, func(c counts) bool { return c.textAlone })
	before, name := e.disk.past(rule, text), "the file on disk"
	if at != nil {
		head, err := at.count(ctx, checker, e.path)
		if err != nil {
			return none, fmt.Errorf("cannot determine what %s has at HEAD: %w", file, cause(err))
		}
		if was := head.past(rule, text); was.Count >= before.Count {
			before, name = was, "HEAD"
		}
	}
	now := allowance.Counts{Before: []allowance.Count{before}}
	for i := range e.after {
		n := e.after[i].of(rule, false)
		now.Now, now.Same = max(now.Now, n.Count), max(now.Same, n.Same)
		now.Unknown = now.Unknown || e.after[i].undecided
	}
	book := allowance.Compare(allowance.Comparison{
		Day: g.day(), Base: entries, Head: entries, MergeBases: [][]rules.Allowance{entries},
		References: []allowance.Reference{{Name: name, Base: true, MergeBase: true}},
	})
	d := book.Decide(allowance.Query{
		Rule: rule.ID, Base: true, Head: true, Never: rule.NeverAllowed, File: file,
		Count: func(string) allowance.Counts { return now }, // no entry is new, so that none joins another file
	})
	if d.Denial == nil {
		return decision{signed: d.Limit}, nil
	}
	return decision{refused: d.Denial.Explain(func(a allowance.Entry) string { return a.String() })}, nil
}

func (g *Gate) day() string {
	now := time.Now
	if g.Now != nil {
		now = g.Now
	}
	return now().UTC().Format(time.DateOnly)
}

// A commit is HEAD of a work tree.
type commit struct {
	repo *repo.Repository
	hash repo.Hash
	dir  string // of the tree that is checked, from the root of the work tree; "." for that
}

// committed returns the allowances that count for a place, and the commit they are from: the bundles' allowances at
// HEAD of the work tree. Without a commit, or for a bundle from elsewhere, they are read from disk.
func (g *Gate) committed(in treePath) ([]rules.Allowance, *commit, error) {
	top, err := rootAround(in.root)
	if err != nil {
		return nil, nil, err
	}
	r, err := repo.Find(top)
	switch {
	case errors.Is(err, repo.ErrNotRepository):
		return g.Bundle.Allowances, nil, nil
	case err != nil:
		return nil, nil, err
	}
	hash, err := r.Commit("HEAD")
	switch {
	case errors.Is(err, repo.ErrUnborn):
		return g.Bundle.Allowances, nil, nil
	case err != nil:
		return nil, nil, err
	}
	dir, err := filepath.Rel(top, in.root)
	if err != nil {
		return nil, nil, err
	}
	at := &commit{repo: r, hash: hash, dir: filepath.ToSlash(dir)}
	own, err := rootAround(g.Root)
	if err != nil {
		return nil, nil, err
	}
	var all []rules.Allowance
	for _, b := range g.bundles {
		entries := b.bundle.Allowances
		around, err := rootAround(b.dir)
		if err != nil {
			return nil, nil, err
		}
		if around == top || around == own { // whose other work tree the place may be in
			dir, err := filepath.Rel(around, b.dir)
			if err != nil {
				return nil, nil, err
			}
			if entries, err = run.AllowancesIn(r, hash, filepath.ToSlash(dir), b.bundle.Below); err != nil {
				return nil, nil, err
			}
		}
		all = append(all, entries...)
	}
	return all, at, nil
}

// count returns how often rules are broken in a file as it is committed.
func (c *commit) count(ctx context.Context, checker *check.ContentChecker, name string) (counts, error) {
	tree, err := c.repo.Tree(c.hash)
	if err != nil {
		return counts{}, err
	}
	leaf, found, err := c.repo.Lookup(tree, path.Join(c.dir, name))
	switch {
	case err != nil:
		return counts{}, err
	case !found || !leaf.Mode.IsLeaf():
		return counts{absent: allowance.Missing}, nil
	case leaf.Mode == repo.Symlink || leaf.Mode == repo.Submodule:
		return counts{absent: allowance.NotSelected}, nil
	}
	blob, err := c.repo.Blob(leaf.Hash)
	if err != nil {
		return counts{}, err
	}
	defer blob.Close() // read only: nothing to lose
	var text bytes.Buffer
	if n, err := text.ReadFrom(io.LimitReader(blob, maxBytes+1)); err != nil {
		return counts{}, err
	} else if n > maxBytes {
		return counts{absent: allowance.Unreadable}, nil
	}
	broken, err := checker.Check(ctx, name, text.Bytes())
	var undecided *check.UndecidedError
	if err != nil && !errors.As(err, &undecided) {
		return counts{}, err
	}
	return counts{undecided: undecided != nil, found: broken}, nil
}
