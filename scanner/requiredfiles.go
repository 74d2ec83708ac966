package scanner

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// requiredFiles are the files that rules require of the tree as a whole, and what of it was found. Several goroutines
// may use them. nil: no rule requires any, or the scope does not have the whole tree.
type requiredFiles struct {
	bundle  *rules.Bundle
	exclude func(string) bool

	mu    sync.Mutex // of what follows
	known map[rules.GlobOf]bool
	files int  // of the tree, if it is git's
	git   bool // it is
	whole bool // all of it was looked at
}

// wholeTree reports whether a scope has a whole tree, in which a file can be missing.
func wholeTree(mode string) bool {
	switch mode {
	case "full", "tracked", "diff", "staged":
		return true
	}
	return false
}

func newRequiredFiles(p *collector) *requiredFiles {
	if !p.set.Bundle.RequiresFiles() || !wholeTree(p.tree.Scope().Mode) {
		return nil
	}
	return &requiredFiles{bundle: p.set.Bundle, exclude: p.opt.Exclude, known: map[rules.GlobOf]bool{}}
}

// asked returns the globs that a file at a path answers, if it is a regular one and not empty, and that no other
// answers yet.
func (q *requiredFiles) asked(path string) []rules.GlobOf {
	if q.exclude != nil && q.exclude(path) {
		return nil
	}
	globs := q.bundle.Requiring(path, nil)
	if len(globs) == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.DeleteFunc(globs, func(g rules.GlobOf) bool { return q.known[g] })
}

func (q *requiredFiles) answer(globs []rules.GlobOf) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, g := range globs {
		q.known[g] = true
	}
}

// see looks at a file on disk. Where it cannot be determined what is there, that is an error of the run, and not that
// the file is missing.
func (q *requiredFiles) see(f *tree.File, fail func(verdict.Error)) {
	if q == nil || f.Kind != worktree.Regular || !f.Blob.IsZero() {
		return
	}
	globs := q.asked(f.Path)
	if len(globs) == 0 {
		return
	}
	there, err := f.Source.IsPresent(f.Path)
	if err != nil {
		fail(tree.FileError(f.Path, err))
	}
	if there || err != nil {
		q.answer(globs)
	}
}

// all looks at every file of the commit or the index that the tree is of, whatever of them is scanned. whole reports
// whether all files of another tree were listed.
func (q *requiredFiles) all(ctx context.Context, t tree.Tree, p *collector, whole bool) {
	if q == nil {
		return
	}
	h, err := t.History()
	if h != nil {
		whole = true
		for f, err := range h.Now.Files(ctx) {
			if err != nil {
				whole = false
				p.failAll(err)
				break
			}
			q.blob(&f, p)
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.whole = whole && err == nil && ctx.Err() == nil
	q.git = h != nil && q.whole
}

// blob looks at a file of git's.
func (q *requiredFiles) blob(f *tree.File, p *collector) {
	if p.isRuleFile(f) {
		return // it is left out
	}
	q.mu.Lock()
	q.files++
	q.mu.Unlock()
	if f.IsRegular() && f.Blob != emptyBlob() {
		if globs := q.asked(f.Path); len(globs) > 0 {
			q.answer(globs)
		}
	}
}

// emptyBlob is the hash of the empty file.
var emptyBlob = sync.OnceValue(func() repo.Hash {
	h, _ := repo.HashBlob(0, strings.NewReader("")) // which has nothing that could fail
	return h
})

// missing returns the violations that there are if the tree lacks every file that is required.
func (q *requiredFiles) missing() []check.Finding {
	if q == nil {
		return nil
	}
	var all []check.Finding
	for i := range q.bundle.Rules {
		for k := range q.bundle.Rules[i].RequiredFiles {
			all = append(all, check.Finding{Rule: i, Ref: rules.PatternRef{Of: rules.RequiredFile, Index: k}})
		}
	}
	return all
}

// seen says which files were looked for: whether a glob of a rule has one, whether all of the tree was looked at, and,
// of one of git's, how many files that were; else -1.
func (q *requiredFiles) seen() (has func(rule, glob int) bool, whole bool, files int) {
	if q == nil {
		return func(int, int) bool { return false }, false, -1
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	known := maps.Clone(q.known)
	if files = -1; q.git {
		files = q.files
	}
	return func(rule, glob int) bool { return known[rules.GlobOf{Rule: rule, Glob: glob}] }, q.whole, files
}

// notLookedFor returns the globs of required files in a scope that does not have the whole tree, each once.
func notLookedFor(p *collector) []verdict.Omission {
	if wholeTree(p.tree.Scope().Mode) {
		return nil
	}
	var all []verdict.Omission
	for i := range p.set.Bundle.Rules {
		for _, g := range p.set.Bundle.Rules[i].RequiredFiles {
			o := verdict.Omission{File: verdict.Path(g), Reason: verdict.LeftRequiredFile}
			if !slices.Contains(all, o) {
				all = append(all, o)
			}
		}
	}
	return all
}
