package check

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// RequiredFiles notes which globs of required_files a tree has a file for: a regular one that is not empty. Several
// goroutines may use it.
type RequiredFiles struct {
	checker *Checker

	mu    sync.Mutex // guards the fields below
	found map[rules.GlobOf]bool
	files int
}

// NewRequiredFiles returns notes in which nothing is found yet.
func NewRequiredFiles(c *Checker) *RequiredFiles {
	return &RequiredFiles{checker: c, found: map[rules.GlobOf]bool{}}
}

// unmet returns the globs that a file at a path would meet and no other one meets yet.
func (q *RequiredFiles) unmet(path string) []rules.GlobOf {
	if q.checker.Excludes(path) {
		return nil
	}
	globs := q.checker.Bundle.Requiring(path, nil)
	if len(globs) == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.DeleteFunc(globs, func(g rules.GlobOf) bool { return q.found[g] })
}

func (q *RequiredFiles) markFound(globs []rules.GlobOf) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, g := range globs {
		q.found[g] = true
	}
}

// Add adds a file on disk. If it cannot be read, it is not missing: that is the error.
func (q *RequiredFiles) Add(f *tree.File) *verdict.Error {
	if q == nil || f.Kind != worktree.Regular || !f.Blob.IsZero() {
		return nil
	}
	globs := q.unmet(f.Path)
	if len(globs) == 0 {
		return nil
	}
	present, err := f.Source.IsPresent(f.Path)
	if present || err != nil {
		q.markFound(globs)
	}
	if err != nil {
		e := tree.FileError(f.Path, err)
		return &e
	}
	return nil
}

// AddSnapshot adds all files of a snapshot, without the rule files in use.
func (q *RequiredFiles) AddSnapshot(ctx context.Context, s *tree.Snapshot) error {
	for f, err := range s.Files(ctx) {
		if err != nil {
			return err
		}
		if q.checker.IsRuleFile(&f) {
			continue
		}
		q.mu.Lock()
		q.files++
		q.mu.Unlock()
		if f.IsRegular() && f.Blob != emptyBlob() {
			q.markFound(q.unmet(f.Path))
		}
	}
	return nil
}

// emptyBlob is the hash of the empty file.
var emptyBlob = sync.OnceValue(func() repo.Hash {
	h, _ := repo.HashBlob(0, strings.NewReader("")) // which has nothing that could fail
	return h
})

// Has reports whether the tree has a file for a glob of a rule, by their indices. nil has none.
func (q *RequiredFiles) Has(rule, glob int) bool {
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.found[rules.GlobOf{Rule: rule, Glob: glob}]
}

// Files returns how many files of snapshots were added.
func (q *RequiredFiles) Files() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.files
}

// AllFindings returns a finding for each glob of required_files: those of a tree that has none of the files.
func (q *RequiredFiles) AllFindings() []Finding {
	if q == nil {
		return nil
	}
	var all []Finding
	for i := range q.checker.Bundle.Rules {
		for k := range q.checker.Bundle.Rules[i].RequiredFiles {
			all = append(all, Finding{Rule: i, Ref: rules.PatternRef{Of: rules.RequiredFile, Index: k}})
		}
	}
	return all
}
