package scope

import (
	"context"
	"errors"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/ci"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/uncommitted"
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
	if q.Uncommitted {
		s.Notes = append(s.Notes, uncommitted.Notes(ctx, r, compared.Head, q.Verdict)...)
	}
	if compared.Whole {
		s.Tree = scanner.Whole(r, compared.Head, want.Strategy)
	} else {
		s.Tree = scanner.Changes(r, compared.Comparison, want.Base, want.Strategy)
	}
	change := judges.Change{Repo: r, Head: judges.Side{Name: "the head", Commit: compared.Head}}
	if !compared.Base.IsZero() {
		wayOut := "to use only the head's deliberately, give --policy-ref " + want.Head
		change.Base = &judges.Side{Name: "the base", Commit: compared.Base, WayOut: wayOut}
	}
	return q.judgedByBoth(s, change)
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
	s.Tree = scanner.Staged(r, idx, head)
	const wayOut = "to use the bundle of another commit deliberately, give --policy-ref; " +
		"to commit the fixed one, git commit --no-verify"
	return q.judgedByBoth(s, judges.Change{
		Repo: r,
		Base: &judges.Side{Name: "HEAD", Commit: head, WayOut: wayOut},
		Head: judges.Side{Name: "the index", Index: idx},
	})
}

// tracked sets the subject of --tracked: the files on disk that are in the index.
func (q *Request) tracked(s *Subject) error {
	repository, err := q.repository(s)
	if err != nil {
		return err
	}
	if repository.WorkTree == "" {
		return errors.New("--tracked reads the work tree, and a bare repository has none; " +
			"scan a work tree of it, or a change with --diff-base")
	}
	idx, err := repository.Index()
	if err != nil {
		return failure.OfRepo(err)
	}
	if err := q.judgedFromDisk(s); err != nil {
		return err
	}
	s.Tree, s.Close, err = scanner.OpenTracked(s.Place.Root, idx)
	return err
}
