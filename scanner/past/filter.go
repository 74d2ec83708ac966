package past

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
)

// A filter passes changes by rules that hold on both sides of each. It is certain only of a change of regular files
// that break no rule, in trees in which no .gitattributes decides about encodings. All else could be refused: an edited
// bundle, a link or a submodule; a removed file, if a link could have led to it; a missing required file; a forbidden
// path; a violation, allowed or not; what cannot be read, parsed or decided.
type filter struct {
	checker  *check.Checker
	off      bool // every change could be refused
	unruled  bool // there is no bundle
	below    bool // the bundle names directories with their own
	rules    map[string]bool
	required map[rules.GlobOf]int // how many files satisfy each glob
}

// A content is the content of some files, and what a check of it gave.
type content struct {
	filter *filter
	path   string // of one of the files
	plan   *check.Plan
	blob   repo.Hash
	clean  bool // it certainly breaks no rule
}

// A contentKey is all that the result of a content depends on.
type contentKey struct {
	filter *filter
	plan   *check.Plan
	format formats.Format
	known  bool // the format
	blob   repo.Hash
}

// A treeState is what the filter must know of the tree before a change.
type treeState struct {
	repo   *repo.Repository
	links  int
	coding map[string]bool // the .gitattributes that may decide about encodings
}

func (t *treeState) apply(c repo.Change) {
	if c.Old.Mode == repo.Symlink {
		t.links--
	}
	if c.New.Mode == repo.Symlink {
		t.links++
	}
	if delete(t.coding, c.Path); checkout.Decides(t.repo, c.Path, c.New) {
		t.coding[c.Path] = true
	}
}

func isFile(l repo.Leaf) bool { return l.Mode == repo.File || l.Mode == repo.Executable }

// filterAll decides which changes a scan must judge, where that does not depend on contents, and returns the contents
// that decide about the others.
func (b *branch) filterAll(ctx context.Context) (contents []content, err error) {
	state := &treeState{repo: b.repo, coding: map[string]bool{}}
	if len(b.steps) > 0 && b.steps[0].parent != nil {
		err = b.each(ctx, repo.Hash{}, b.steps[0].parent.Tree, state.apply)
	}
	known := map[contentKey]int{}
	var f *filter
	for i := range b.steps {
		s := &b.steps[i]
		had, removed, linked, odd := *state, false, false, len(state.coding) > 0
		for _, c := range s.files {
			state.apply(c)
			removed = removed || isFile(c.Old) && !isFile(c.New)
			for _, l := range []repo.Leaf{c.Old, c.New} {
				linked = linked || l != (repo.Leaf{}) && !isFile(l)
			}
		}
		switch {
		case slices.ContainsFunc(s.files, isBelow), b.Bundles == nil && slices.ContainsFunc(s.files, isBundled):
			f, s.exact = nil, true
			continue
		case s.parent == nil:
			s.exact = true
			continue
		case f == nil:
			f = b.newFilter(ctx, s)
		}
		if s.filter = f; f.unruled {
			s.outcome = &outcome{unruled: true}
			continue
		}
		s.exact = s.exact || f.off || odd || linked || len(state.coding) > 0 ||
			removed && (f.below || had.links > 0 && !f.checker.Bundle.Uniform()) // a directory's rules move with a file
		s.exact = f.lacksRequired(b, s.files) || s.exact
		for _, c := range s.files {
			if s.exact || !isFile(c.New) || b.isOwn(c.Path) {
				continue
			}
			bundle := f.checker.Bundle
			s.exact = len(bundle.Forbidding(c.Path, nil)) > 0
			selected := bundle.Selecting(c.Path, nil)
			if s.exact || len(selected) == 0 {
				continue
			}
			key := contentKey{filter: f, plan: f.checker.Plans.Plan(selected), blob: c.New.Hash}
			key.format, key.known = formats.Of(c.Path)
			at, is := known[key]
			if !is {
				at = len(contents)
				known[key] = at
				contents = append(contents, content{filter: f, path: c.Path, plan: key.plan, blob: c.New.Hash})
			}
			s.contents = append(s.contents, at)
		}
		if linked && f.below {
			f = nil // a link can be to a directory with a bundle
		}
	}
	return contents, err
}

// isBundled reports whether a file is in a directory that discovery looks into.
func isBundled(c repo.Change) bool {
	dir, _, _ := strings.Cut(c.Path, "/")
	return dir == rules.HiddenBundle || dir == path.Dir(rules.BoundariesFile)
}

// isBelow reports whether a file can be in the bundle of a directory.
func isBelow(c repo.Change) bool { return strings.Contains(c.Path, "/"+rules.HiddenBundle) }

// newFilter returns the filter for a change and the later ones with the same rules.
func (b *branch) newFilter(ctx context.Context, s *step) *filter {
	f := &filter{rules: map[string]bool{}, required: map[rules.GlobOf]int{}}
	r, err := run.Open(ctx, b.options(s))
	if err != nil {
		f.off, f.unruled = true, isUnruled(err)
		return f
	}
	defer r.Close()
	f.checker = &check.Checker{Bundle: r.Rules.Bundle, Plans: r.Plans, Limiter: r.Limiter, Allowed: r.Allow}
	f.off = len(r.Errors) > 0 || len(r.Rules.Bundle.Rules) == 0
	f.below = len(run.RuleSources(r.Sources).NamesBelow()) > 0
	for i := range r.Rules.Bundle.Rules {
		rule := &r.Rules.Bundle.Rules[i]
		f.rules[rule.ID] = true
		for k := range rule.RequiredFiles {
			f.required[rules.GlobOf{Rule: i, Glob: k}] = 0
		}
	}
	if len(f.required) > 0 {
		err := b.each(ctx, repo.Hash{}, s.parent.Tree, func(c repo.Change) { f.count(b, c) })
		f.off = f.off || err != nil
	}
	return f
}

// count counts the files that satisfy globs of required files. A rule file may be in use, and so counts as none.
func (f *filter) count(b *branch, c repo.Change) {
	if b.isOwn(c.Path) || b.Bundles == nil && isBundled(c) {
		return
	}
	counts := func(l repo.Leaf) int {
		if isFile(l) && !repo.IsEmptyBlob(l.Hash) {
			return 1
		}
		return 0
	}
	if n := counts(c.New) - counts(c.Old); n != 0 {
		for _, g := range f.checker.Bundle.Requiring(c.Path, nil) {
			f.required[g] += n
		}
	}
}

// lacksRequired reports whether a required file may be missing after a change.
func (f *filter) lacksRequired(b *branch, files []repo.Change) (lacks bool) {
	if len(f.required) > 0 {
		for _, c := range files {
			f.count(b, c)
		}
	}
	for _, n := range f.required {
		lacks = lacks || n <= 0
	}
	return lacks
}

// check checks a content as a scan does.
func (c *content) check(ctx context.Context, x *match.Examiner, r *repo.Repository) {
	if ctx.Err() != nil {
		return
	}
	result := check.Result{File: tree.File{Path: c.path, Blob: c.blob, Source: source{r}}, Plan: c.plan}
	c.filter.checker.Check(ctx, x, &result)
	result.Settle(c.filter.checker.Bundle)
	c.clean = result.Reached && result.Err == nil && len(result.KeyErrors()) == 0 && len(result.Findings) == 0 &&
		ctx.Err() == nil
}

// A source reads contents without a tree.
type source struct{ repo *repo.Repository }

func (s source) Open(f tree.File, _ bool) (tree.Content, error) {
	b, err := s.repo.Blob(f.Blob)
	if err != nil {
		return nil, err // not b, which as a Content would not be nil
	}
	b.Remember() // the next one is often a delta to it
	return b, nil
}

func (s source) Lookup(string) (tree.PathInfo, error) { return tree.PathInfo{}, nil }
func (s source) Outside(string) string                { return tree.OutsideTree }
func (s source) IsPresent(string) (bool, error)       { return false, nil }
