package past

import (
	"bytes"
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
)

// A filter passes changes by rules that hold on both sides of each. It is certain only of a change of regular files
// that break no rule, in trees in which no .gitattributes names an encoding. Anything else could be refused:
//
//	an edited bundle, link or submodule, a working-tree-encoding    the whole change
//	a removed file, if a link could have led to it         what the link's name stands for
//	a missing required file                                the tree
//	a forbidden path, a violation, allowed or not, and what cannot be read, parsed or decided    the file
type filter struct {
	checker  *check.Checker
	off      bool // every change could be refused
	unruled  bool // there is no bundle
	rules    map[string]bool
	paths    map[string]*pathPlan
	required map[rules.GlobOf]int // number of files that satisfy each glob
}

// A pathPlan is what the rules ask of a path.
type pathPlan struct {
	plan      *check.Plan // nil: no rule is about its content
	forbidden bool
	key       contentKey // without the blob
}

// A contentKey is all that the result of a content depends on.
type contentKey struct {
	filter *filter
	plan   *check.Plan
	format formats.Format
	known  bool
	blob   repo.Hash
}

// A content is the content of files, to be checked once.
type content struct {
	filter *filter
	path   string // of one of the files
	plan   *check.Plan
	leaf   repo.Leaf
	clean  bool // it breaks no rule, and that is certain
}

// A treeState is what the filter must know of the tree before a change.
type treeState struct {
	repo   *repo.Repository
	links  int
	coding map[string]bool // the .gitattributes that may name an encoding
}

func (t *treeState) apply(c repo.Change) {
	if c.Old.Mode == repo.Symlink {
		t.links--
	}
	if c.New.Mode == repo.Symlink {
		t.links++
	}
	if !isAttributes(c.Path) {
		return
	}
	if delete(t.coding, c.Path); c.New != (repo.Leaf{}) && t.names(c.New) {
		t.coding[c.Path] = true
	}
}

// names reports whether a .gitattributes may name an encoding.
func (t *treeState) names(l repo.Leaf) bool {
	blob, err := t.repo.Blob(l.Hash)
	if err != nil || !isFile(l) {
		return true
	}
	defer blob.Close()
	text, err := io.ReadAll(blob)
	return err != nil || bytes.Contains(bytes.ToLower(text), []byte("encoding"))
}

func isAttributes(p string) bool { return strings.EqualFold(path.Base(p), ".gitattributes") }

func isFile(l repo.Leaf) bool { return l.Mode == repo.File || l.Mode == repo.Executable }

// filterAll decides for each change whether it could be refused, as far as that does not depend on contents, and
// returns the contents on which the others depend.
func (b *branch) filterAll(ctx context.Context) (contents []content, err error) {
	state := &treeState{repo: b.repo, coding: map[string]bool{}}
	if len(b.steps) > 0 && b.steps[0].parent != nil {
		err = b.repo.Diff(repo.Hash{}, b.steps[0].parent.Tree, func(c repo.Change) error {
			state.apply(c)
			return context.Cause(ctx)
		})
	}
	known := map[contentKey]int{}
	var f *filter
	for i := range b.steps {
		s := &b.steps[i]
		changesRules := b.Bundles == nil && slices.ContainsFunc(s.files, isBundled)
		if changesRules {
			f = nil
		}
		if !changesRules && s.parent != nil && f == nil {
			f = b.newFilter(ctx, s)
		}
		before, had := state.links, len(state.coding) > 0
		removed, odd := false, false
		for _, c := range s.files {
			state.apply(c)
			removed = removed || isFile(c.Old) && !isFile(c.New)
			for _, l := range []repo.Leaf{c.Old, c.New} {
				odd = odd || l != (repo.Leaf{}) && !isFile(l)
			}
		}
		if changesRules || s.parent == nil {
			s.exact = true
			continue
		}
		s.rules = f
		switch {
		case f.unruled:
			s.outcome = &outcome{unruled: true}
			continue
		case f.off || err != nil || odd || had || len(state.coding) > 0 ||
			removed && before > 0 && !f.checker.Bundle.Uniform():
			s.exact = true
		}
		s.exact = f.lacksRequired(s.files, b) || s.exact
		for _, c := range s.files {
			if s.exact || !isFile(c.New) || b.isOwnRule(c.Path) {
				continue
			}
			p := f.path(c.Path)
			if s.exact = p.forbidden; p.plan == nil || p.forbidden {
				continue
			}
			key := p.key
			key.blob = c.New.Hash
			at, is := known[key]
			if !is {
				at = len(contents)
				known[key] = at
				contents = append(contents, content{filter: f, path: c.Path, plan: p.plan, leaf: c.New})
			}
			s.contents = append(s.contents, at)
		}
		if s.exact {
			s.contents = nil
		}
	}
	return contents, nil
}

// isBundled reports whether a change is in a directory that discovery looks into.
func isBundled(c repo.Change) bool {
	dir, _, _ := strings.Cut(c.Path, "/")
	return dir == rules.HiddenBundle || dir == path.Dir(rules.BoundariesFile)
}

// newFilter returns the filter for a change and those after it with the same rules.
func (b *branch) newFilter(ctx context.Context, s *step) *filter {
	f := &filter{paths: map[string]*pathPlan{}, rules: map[string]bool{}}
	r, err := run.Open(ctx, b.options(s))
	if err != nil {
		f.off, f.unruled = true, isUnruled(err)
		return f
	}
	defer r.Close()
	f.checker = &check.Checker{Bundle: r.Rules.Bundle, Plans: r.Plans, Limiter: r.Limiter, Allowed: r.Allow}
	f.off = len(r.Errors) > 0 || len(r.Rules.Bundle.Rules) == 0
	for i := range r.Rules.Bundle.Rules {
		rule := &r.Rules.Bundle.Rules[i]
		f.rules[rule.ID] = true
		for k := range rule.RequiredFiles {
			if f.required == nil {
				f.required = map[rules.GlobOf]int{}
			}
			f.required[rules.GlobOf{Rule: i, Glob: k}] = 0
		}
	}
	if f.required != nil {
		err := b.repo.Diff(repo.Hash{}, s.parent.Tree, func(c repo.Change) error {
			f.count(c, b)
			return context.Cause(ctx)
		})
		f.off = f.off || err != nil
	}
	return f
}

// count counts the files that satisfy the globs of required files. A rule file may be in use, and so counts as none.
func (f *filter) count(c repo.Change, b *branch) {
	if b.isOwnRule(c.Path) || b.Bundles == nil && isBundled(c) {
		return
	}
	n := 0
	if isFile(c.Old) && !repo.IsEmptyBlob(c.Old.Hash) {
		n--
	}
	if isFile(c.New) && !repo.IsEmptyBlob(c.New.Hash) {
		n++
	}
	if n != 0 {
		for _, g := range f.checker.Bundle.Requiring(c.Path, nil) {
			f.required[g] += n
		}
	}
}

// lacksRequired reports whether a required file may be missing after a change.
func (f *filter) lacksRequired(files []repo.Change, b *branch) bool {
	if f.required == nil || f.checker == nil {
		return false
	}
	for _, c := range files {
		f.count(c, b)
	}
	for _, n := range f.required {
		if n <= 0 {
			return true
		}
	}
	return false
}

func (f *filter) path(name string) *pathPlan {
	p := f.paths[name]
	if p == nil {
		p = &pathPlan{forbidden: len(f.checker.Bundle.Forbidding(name, nil)) > 0}
		if selected := f.checker.Bundle.Selecting(name, nil); len(selected) > 0 {
			p.plan = f.checker.Plans.Plan(selected)
			format, is := formats.Of(name)
			p.key = contentKey{filter: f, plan: p.plan, format: format, known: is}
		}
		f.paths[name] = p
	}
	return p
}

func newExaminer() *match.Examiner { return &match.Examiner{Bare: true} }

// check checks a content as a scan does.
func (c *content) check(ctx context.Context, x *match.Examiner, r *repo.Repository) {
	if ctx.Err() != nil {
		return
	}
	res := check.Result{
		File: tree.File{Path: c.path, Blob: c.leaf.Hash, Source: blobs{r}}, Plan: c.plan,
	}
	c.filter.checker.Check(ctx, x, &res)
	res.Settle(c.filter.checker.Bundle)
	c.clean = res.Reached && res.Err == nil && len(res.KeyErrors()) == 0 && len(res.Findings) == 0 && ctx.Err() == nil
}

// blobs reads contents without a tree.
type blobs struct{ repo *repo.Repository }

func (s blobs) Open(f tree.File, _ bool) (tree.Content, error) {
	b, err := s.repo.Blob(f.Blob)
	if err != nil {
		return nil, err // not b, which as a Content would not be nil
	}
	b.Remember() // the next one is often a delta to it
	return b, nil
}

func (s blobs) Lookup(string) (tree.PathInfo, error) { return tree.PathInfo{}, nil }
func (s blobs) Outside(string) string                { return tree.OutsideTree }
func (s blobs) IsPresent(string) (bool, error)       { return false, nil }
