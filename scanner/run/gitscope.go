package run

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// openChange opens --diff-base: the head's files that differ from a merge base, checked by the bundles of the base and
// of the head.
func (r *Run) openChange(ctx context.Context) error {
	if err := r.openRepository(); err != nil {
		return err
	}
	if r.Uncommitted && r.Place.Bare {
		return errors.New("--uncommitted reads the work tree, and a bare repository has none; leave it out")
	}
	commits, compared, err := r.compare()
	if err != nil {
		return err
	}
	r.Notes = compared.notes
	switch {
	case r.RequireMerged:
		r.Errors = append(r.Errors, checkMerged(&compared)...)
	case compared.stale != "":
		r.Notes = append(r.Notes, compared.stale)
	}
	if commits.strategy == mergeBase {
		r.noteUncommitted(compared.commits.Head)
	}
	head := side{name: "the head", commit: compared.commits.Head}
	switch {
	case r.Uncommitted:
		if head, err = r.openWorkTree(ctx, compared.commits, commits.base); err != nil {
			return err
		}
	case compared.whole:
		r.Tree = tree.Whole(r.Repo, compared.commits.Head, commits.strategy)
	default:
		r.Tree = tree.Changes(r.Repo, compared.commits, commits.base, commits.strategy)
	}
	c := change{head: head, starts: compared.commits.MergeBases}
	if r.EachCommit && r.Related == nil { // else the push has listed its commits
		r.listCommits(&compared)
	}
	if compared.commits.Replaces {
		c.starts = append(slices.Clone(c.starts), compared.commits.Base)
	}
	if !compared.commits.Base.IsZero() {
		hint := "to use only the head's deliberately, give --policy-ref " + commits.head
		if r.Related != nil {
			hint = "on the server, move the hook away to push the repair"
		}
		c.base = &side{name: "the base", commit: compared.commits.Base, hint: hint, from: fromBase}
	}
	return r.loadBundles(c)
}

// compare returns the commits of a change: those of a push or of a recorded run, else as the flags choose them.
func (r *Run) compare() (commits *commitRange, compared comparison, err error) {
	switch {
	case r.Related != nil:
		compared = comparison{commits: *r.Related, whole: r.Related.Base.IsZero()}
		return &commitRange{strategy: PreReceive, base: r.Base, head: r.Head}, compared, nil
	case r.Recorded != nil:
		commits, err = recordedCommits(r.Repo, r.Recorded)
	default:
		commits, err = chooseCommits(r.Repo, r.Getenv, r.Base, r.Head)
	}
	if err != nil {
		return nil, compared, err
	}
	if r.Uncommitted {
		commits.strategy = verdict.Uncommitted
	}
	if compared, err = commits.compare(); err != nil {
		err = tree.RepoError(err)
	}
	return commits, compared, err
}

// listCommits lists the commits of a change. Those that this clone does not have are an error of the run.
func (r *Run) listCommits(c *comparison) {
	ends := c.commits.MergeBases
	if c.whole && !c.commits.Base.IsZero() {
		ends = []repo.Hash{c.commits.Base}
	}
	var err error
	if r.Commits, err = r.Repo.Between([]repo.Hash{c.commits.Head}, ends); err != nil && r.stopped() == nil {
		r.Errors = append(r.Errors, Errors(tree.RepoError(fmt.Errorf("--each-commit: %w", err)))...)
	}
}

// openWorkTree opens the files on disk as the head of a change.
func (r *Run) openWorkTree(ctx context.Context, c repo.Comparison, base string) (head side, err error) {
	idx, err := r.Repo.Index()
	if err == nil {
		err = idx.Missing()
	}
	if err != nil {
		return head, tree.RepoError(err)
	}
	work, closeTree, err := tree.OpenWorkTree(ctx, r.Repo, r.Place.Root, idx)
	if err != nil {
		return head, err
	}
	if r.Untracked {
		if work.Tracked, err = work.WithUntracked(ctx, r.Place.Root); err != nil {
			closeTree()
			return head, tree.RepoError(err)
		}
	}
	below := func(dirs []string) (*repo.Index, error) { return work.With(ctx, dirs) }
	return side{name: "the work tree", index: work.Tracked, below: below},
		r.use(tree.Uncommitted(work, c, base), closeTree, nil)
}

// noteUncommitted notes what a scan of a checked-out commit does not check.
func (r *Run) noteUncommitted(head repo.Hash) {
	if !r.NoteUncommitted || r.Repo.WorkTree == "" {
		return
	}
	if at, err := r.Repo.Commit("HEAD"); err == nil && at == head {
		r.Notes = append(r.Notes, "uncommitted changes were not checked; add --uncommitted for them")
	}
}

// checkMerged returns the error of --require-merged, if the head may not contain all commits of the base.
func checkMerged(c *comparison) []verdict.Error {
	var message string
	switch {
	case c.stale != "":
		message = "--require-merged: " + c.stale
	case c.commits.Behind == 0:
		return nil
	case c.commits.Behind > 0:
		message = fmt.Sprintf("--require-merged: the head does not contain %s of the base; "+
			"merge the base into the branch, or rebase it",
			pluralize(c.commits.Behind, "commit"))
	case c.whole:
		message = "--require-merged: the head was not compared with a base; " +
			"set it for pull and merge requests, not for pushes of new or rewritten branches"
	default:
		message = "--require-merged needs the full history; run git fetch --unshallow (" + repo.InCI + ")"
	}
	return []verdict.Error{{Code: code.Behind, Message: message}}
}

// openStaged opens --staged: the index's files that differ from HEAD's, checked by the bundles of HEAD and of the
// index.
func (r *Run) openStaged() error {
	if err := r.openRepository(); err != nil {
		return err
	}
	idx, head, err := stagedState(r.Repo)
	if err == nil && !head.IsZero() {
		err = idx.Missing()
	}
	if err != nil {
		return tree.RepoError(err)
	}
	merging := sync.OnceValues(func() ([]repo.Hash, error) { return r.Repo.Merging(head) })
	r.Tree = tree.Staged(r.Repo, idx, head, merging)
	const hint = "to use the bundle of another commit deliberately, give --policy-ref; " +
		"to commit the fixed one, git commit --no-verify"
	c := change{
		base: &side{name: "HEAD", commit: head, hint: hint, from: fromBase}, head: side{name: "the index", index: idx},
	}
	if !head.IsZero() {
		c.starts = []repo.Hash{head}
	}
	if err := r.loadBundles(c); err != nil {
		return err
	}
	r.noteMerge(merging)
	return nil
}

// stagedState returns the index as it would be committed, and HEAD, which is zero before the first commit.
func stagedState(r *repo.Repository) (idx *repo.Index, head repo.Hash, err error) {
	if idx, err = r.Index(); err == nil {
		idx, err = idx.Committed()
	}
	if err == nil {
		if head, err = r.Commit("HEAD"); errors.Is(err, repo.ErrUnborn) {
			err = nil
		}
	}
	return idx, head, err
}

// noteMerge notes that a merge in progress matters to the allowances, if there are any. The scan reports read errors.
func (r *Run) noteMerge(merging func() ([]repo.Hash, error)) {
	if !slices.ContainsFunc(r.Sources, func(s RuleSource) bool { return len(s.Bundle.Allowances) > 0 }) {
		return
	}
	commits, err := merging()
	if err != nil || len(commits) == 0 {
		return
	}
	var names []string
	for _, c := range commits {
		names = append(names, repo.Short(c))
	}
	r.Notes = append(r.Notes, fmt.Sprintf("a merge of %s is in progress: files that are staged unchanged from it "+
		"count as unchanged", strings.Join(names, " and ")))
}

// openTracked opens --tracked: the files on disk that are in the index.
func (r *Run) openTracked() error {
	if err := r.openRepository(); err != nil {
		return err
	}
	if r.Repo.WorkTree == "" {
		return errors.New("--tracked reads the work tree, and a bare repository has none; " +
			"scan a commit of it with --rev, or a change with --diff-base")
	}
	idx, err := r.Repo.Index()
	if err != nil {
		return tree.RepoError(err)
	}
	if err := r.loadFromDisk(); err != nil {
		return err
	}
	r.Listed = len(idx.Files)
	return r.use(tree.OpenTracked(r.Place.Root, idx))
}

// openPreCommit opens a run of pre-commit without commits to compare: the staged files, or, if nothing is staged, as
// in "pre-commit run --all-files" in CI, the tracked files.
func (r *Run) openPreCommit() error {
	if r.Head != "" || r.PolicyRef != "" || r.RequireMerged || r.EachCommit {
		return errors.New("this pre-commit run has no commits to compare, as --head, --policy-ref, " +
			"--require-merged and --each-commit need; run pre-commit with --from-ref and --to-ref")
	}
	if err := r.openRepository(); err != nil {
		return err
	}
	changed, err := hasStaged(r.Repo)
	switch {
	case err != nil:
		return tree.RepoError(err)
	case changed:
		return r.openStaged()
	}
	r.Notes = append(r.Notes, "nothing is staged: all tracked files were checked")
	return r.openTracked()
}

func hasStaged(r *repo.Repository) (bool, error) {
	idx, head, err := stagedState(r)
	var t repo.Hash
	if err == nil && !head.IsZero() {
		t, err = r.Tree(head)
	}
	if err != nil {
		return false, err
	}
	errFound := errors.New("found")
	err = r.DiffIndex(t, idx, func(repo.Change) error { return errFound })
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// strategyRev is the strategy of --rev; see [verdict.Scope].
const strategyRev = "rev"

// openCommit opens --rev: all files of a commit. Discovery looks in the commit; a named bundle is read from disk.
func (r *Run) openCommit() error {
	if err := r.openRepository(); err != nil {
		return err
	}
	head, err := r.Repo.Commit(r.Rev)
	if errors.Is(err, repo.ErrUnborn) { // a mirror's HEAD can name a branch that does not exist
		err = fmt.Errorf("%w; if another branch has one, name that with --rev", err)
	}
	if err != nil {
		return tree.RepoError(err)
	}
	r.Tree, r.MustCover = tree.Whole(r.Repo, head, strategyRev), r.discovers()
	r.noteUncommitted(head)
	c := change{head: side{name: r.Rev, commit: head}, isOneCommit: true}
	if err := r.loadBundles(c); err != nil {
		return err
	}
	return r.skipInCommit(&c.head)
}

// skipInCommit skips the enforced rule files on disk where the commit has the same ones: a directory that --policy
// names can be in the work tree.
func (r *Run) skipInCommit(head *side) error {
	if r.Repo.WorkTree == "" {
		return nil
	}
	for _, p := range r.Sources {
		if p.From != fromDisk || p.Below != "" {
			continue
		}
		for name, sum := range p.Bundle.Files {
			path, in, err := worktree.PathIn(r.Place.Root, filepath.Join(p.Dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			if !in {
				continue
			}
			leaf, found, err := head.lookup(r.Repo, path)
			if err != nil {
				return tree.RepoError(err)
			}
			if !found || leaf.Mode != repo.File && leaf.Mode != repo.Executable {
				continue
			}
			text, err := newBundleLoader(r.Repo).read(leaf.Hash)
			if err != nil {
				return tree.RepoError(fmt.Errorf("%s: %w", verdict.Path(path), err))
			}
			if sha256.Sum256(text) == sum {
				r.RuleFiles = append(r.RuleFiles, check.RuleFile{Path: path, Blob: leaf.Hash})
			}
		}
	}
	return nil
}

// checkNotNested returns an error if the directory of the run is in a bare repository within the work tree of the
// found one. A change could have added it, so it is not read as a repository; nor does the user mean the found one.
func (r *Run) checkNotNested(found *repo.Repository) error {
	if r.Git.GitDir != "" && r.Path == "" {
		return nil
	}
	at, err := disk.Real(r.Path)
	if err != nil {
		return fmt.Errorf("the directory to scan cannot be opened: %w", disk.Cause(err))
	}
	bare, nested := found.BareAround(at)
	if !nested {
		return nil
	}
	return fmt.Errorf("%s is a bare repository inside a work tree, which is not trusted; "+
		"scan a copy elsewhere, or set GIT_DIR to it and omit PATH",
		disk.Shown(bare))
}
