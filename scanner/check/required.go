package check

import (
	"context"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// RequiredFiles records which globs of required_files match a regular, non-empty file of the tree. Several goroutines
// may use it.
type RequiredFiles struct {
	checker *Checker

	mu    sync.Mutex // guards the fields below
	found map[rules.GlobOf]bool
	files int
}

func NewRequiredFiles(c *Checker) *RequiredFiles {
	return &RequiredFiles{checker: c, found: map[rules.GlobOf]bool{}}
}

// unmet returns the globs that match a path and no file so far.
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

// Add adds a file on disk. An unreadable file is an error, not missing.
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
		if f.IsRegular() && !repo.IsEmptyBlob(f.Blob) {
			q.markFound(q.unmet(f.Path))
		}
	}
	return nil
}

// Has reports whether a file matches a glob of a rule, by their indices. nil has none.
func (q *RequiredFiles) Has(rule, glob int) bool {
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.found[rules.GlobOf{Rule: rule, Glob: glob}]
}

// Files returns the number of added snapshot files.
func (q *RequiredFiles) Files() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.files
}

// AllFindings returns a finding for each glob of required_files, as for an empty tree.
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
