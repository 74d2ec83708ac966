package scope

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/scanner/ci"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/uncommitted"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// changes sets the subject of --diff-base: the head's files that differ from a merge
// base, judged by the bundles of the base and of the head.
func (q *Request) changes(ctx context.Context, s *Subject) error {
	r, err := q.repository(s)
	if err != nil {
		return err
	}
	want, err := ci.Choose(r, q.Getenv, q.Base, q.Head)
	if err != nil {
		return err
	}
	compared, err := want.Compare(r)
	if err != nil {
		return failure.OfRepo(err)
	}
	s.Notes = compared.Notes
	switch {
	case q.RequireMerged:
		s.Errors = append(s.Errors, notMerged(&compared)...)
	case compared.Stale != "":
		s.Notes = append(s.Notes, compared.Stale)
	}
	if q.Uncommitted {
		s.Notes = append(s.Notes, uncommitted.Notes(ctx, r, compared.Head, q.Verdict)...)
	}
	if compared.Whole {
		s.Tree = tree.Whole(r, compared.Head, want.Strategy)
	} else {
		s.Tree = tree.Changes(r, compared.Comparison, want.Base, want.Strategy)
	}
	change := judges.Change{
		Repo: r, Head: judges.Side{Name: "the head", Commit: compared.Head},
		Starts: judges.StartsOf(compared.Comparison),
	}
	if !compared.Base.IsZero() {
		wayOut := "to use only the head's deliberately, give --policy-ref " + want.Head
		change.Base = &judges.Side{Name: "the base", Commit: compared.Base, WayOut: wayOut}
	}
	return q.judgedByBoth(s, change)
}

// notMerged is the error of --require-merged, if the head may not contain all commits of the base.
func notMerged(c *ci.Comparison) []verdict.Error {
	var message string
	switch {
	case c.Stale != "":
		message = "--require-merged is set, and " + c.Stale
	case c.Behind == 0:
		return nil
	case c.Behind > 0:
		commits := "1 commit"
		if c.Behind > 1 {
			commits = fmt.Sprintf("%d commits", c.Behind)
		}
		message = fmt.Sprintf("the head does not contain %s of the base, and --require-merged is set: "+
			"what both do together was not checked; merge the base into the branch, or rebase it", commits)
	case c.Whole:
		message = "the head was not compared with a base whose commits it could contain, " +
			"and --require-merged is set; " +
			"set it for pull and merge requests, not for pushes of new or rewritten branches"
	default:
		message = "this clone does not show whether the head contains all commits of the base, " +
			"and --require-merged is set; fetch the history " +
			"(git fetch --unshallow; actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0)"
	}
	return []verdict.Error{{Code: code.Behind, Message: message}}
}

// staged sets the subject of --staged: the index's files that differ from HEAD's, judged
// by the bundles of HEAD and of the index.
func (q *Request) staged(s *Subject) error {
	r, err := q.repository(s)
	if err != nil {
		return err
	}
	idx, err := r.Index()
	if err == nil {
		idx, err = idx.Committed()
	}
	if err != nil {
		return failure.OfRepo(err)
	}
	head, err := r.Commit("HEAD")
	if err == nil {
		err = idx.Missing()
	}
	if err != nil && !errors.Is(err, repo.ErrUnborn) {
		return failure.OfRepo(err)
	}
	merging := sync.OnceValues(func() ([]repo.Hash, error) { return r.Merging(head) })
	s.Tree = tree.Staged(r, idx, head, merging)
	const wayOut = "to use the bundle of another commit deliberately, give --policy-ref; " +
		"to commit the fixed one, git commit --no-verify"
	change := judges.Change{
		Repo: r,
		Base: &judges.Side{Name: "HEAD", Commit: head, WayOut: wayOut},
		Head: judges.Side{Name: "the index", Index: idx},
	}
	if !head.IsZero() {
		change.Starts = []repo.Hash{head}
	}
	if err := q.judgedByBoth(s, change); err != nil {
		return err
	}
	s.Notes = append(s.Notes, notesOnMerge(s.Judges, merging)...)
	return nil
}

// notesOnMerge says that a merge in progress matters to the allowances of the judges, if there are any. The scan
// reports what cannot be read of it.
func notesOnMerge(by []judges.Judge, merging func() ([]repo.Hash, error)) []string {
	if !slices.ContainsFunc(by, func(j judges.Judge) bool { return len(j.Bundle.Allowances) > 0 }) {
		return nil
	}
	commits, err := merging()
	if err != nil || len(commits) == 0 {
		return nil
	}
	var names []string
	for _, c := range commits {
		names = append(names, repo.Short(c))
	}
	return []string{fmt.Sprintf("a merge of %s is in progress: a file that is staged as it is there "+
		"counts as having had before what it has", strings.Join(names, " and "))}
}

// tracked sets the subject of --tracked: the files on disk that are in the index.
func (q *Request) tracked(s *Subject) error {
	repository, err := q.repository(s)
	if err != nil {
		return err
	}
	if repository.WorkTree == "" {
		return errors.New("--tracked reads the work tree, and a bare repository has none; " +
			"scan a commit of it with --rev, or a change with --diff-base")
	}
	idx, err := repository.Index()
	if err != nil {
		return failure.OfRepo(err)
	}
	if err := q.judgedFromDisk(s); err != nil {
		return err
	}
	s.Tree, s.Close, err = tree.OpenTracked(s.Place.Root, idx)
	return err
}
