package scope

import (
	"errors"

	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/repo"
)

// preCommit sets the subject of a run of pre-commit without commits to compare: what is staged, or, if nothing is, as
// in "pre-commit run --all-files" in CI, the tracked files.
func (q *Request) preCommit(s *Subject) error {
	if q.Head != "" || q.PolicyRef != "" || q.RequireMerged {
		return errors.New("--diff-base auto: this pre-commit run has no commits to compare, which --head, " +
			"--policy-ref and --require-merged need; run pre-commit with --from-ref and --to-ref")
	}
	r, err := q.repository(s)
	if err != nil {
		return err
	}
	q.Repository = r
	changed, err := hasStaged(r)
	switch {
	case err != nil:
		return failure.OfRepo(err)
	case changed:
		return q.staged(s)
	}
	s.Notes = append(s.Notes, "nothing is staged: all tracked files were checked")
	return q.tracked(s)
}

// hasStaged reports whether the index differs from HEAD.
func hasStaged(r *repo.Repository) (bool, error) {
	idx, err := r.Index()
	if err == nil {
		idx, err = idx.Committed()
	}
	if err != nil {
		return false, err
	}
	var tree repo.Hash
	head, err := r.Commit("HEAD")
	if err == nil {
		tree, err = r.Tree(head)
	}
	if err != nil && !errors.Is(err, repo.ErrUnborn) {
		return false, err
	}
	errFound := errors.New("found")
	err = r.DiffIndex(tree, idx, func(repo.Change) error { return errFound })
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
