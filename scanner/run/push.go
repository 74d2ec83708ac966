package run

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
)

// A push moves a branch or a tag of a remote, or creates one.
type push struct {
	remote string // where the commits before it can be fetched
	depth  string // the setting that fetches the history
	// reusesClones: the clone can be an earlier pipeline's, so that only this job's fetches count.
	reusesClones bool
	forced       bool   // as GitHub reports it; elsewhere ancestry decides
	isNew        bool   // the ref did not exist, or its old commit is unknown: the base is the default branch
	why          string // why there is no base
}

// isNothing reports whether a hash is all zeros, which means no commit.
func isNothing(hash string) bool { return strings.Trim(hash, "0") == "" }

// since makes the commit before the push the base. For a new branch or tag the base is the remote's default branch,
// named by the CI system or, with "", by the clone.
func (c *commitRange) since(before, defaultBranch string) error {
	if !isNothing(before) {
		c.base = before
		return nil
	}
	c.push.isNew, c.push.forced = true, false
	full := tracking(c.push.remote, cmp.Or(defaultBranch, "HEAD"))
	tip, err := c.repo.Ref(full)
	why := ""
	switch {
	case isNoRef(err):
		why, err = "this clone does not have it ("+full+")", nil
	case err == nil && c.push.reusesClones:
		tip, why, err = c.fetched(defaultBranch, "")
	}
	if why == "" {
		c.base, c.tip = full, tip
		return err
	}
	fix := "git remote set-head " + c.push.remote + " --auto"
	if defaultBranch != "" {
		fix = repo.FetchBranchCommand(c.push.remote, c.push.remote, defaultBranch)
	}
	c.push.why = fmt.Sprintf("the branch or tag is new, and was not compared with the default branch: %s; "+
		"to compare it, run %s", why, fix)
	return nil
}

// preCommit reads a run of pre-commit for a push, or with --from-ref and --to-ref. It names the pushed branch only for
// a push, and no commits if the remote has nothing of that branch's history.
func (c *commitRange) preCommit(head string) error {
	from, to, branch := c.env("PRE_COMMIT_FROM_REF"), c.env("PRE_COMMIT_TO_REF"), c.env("PRE_COMMIT_LOCAL_BRANCH")
	c.strategy = "pre-commit"
	if branch != "" {
		c.push = &push{remote: cmp.Or(c.env("PRE_COMMIT_REMOTE_NAME"), "origin"), depth: "git fetch --unshallow"}
	}
	switch {
	case from == "" && to == "":
		c.head = cmp.Or(head, branch)
		if err := c.since("", ""); err != nil {
			return err
		}
		c.push.why = "the remote has nothing of its history"
		return nil
	case from == "" || to == "":
		return errors.New("only one of PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF is set; " +
			"run pre-commit with both --from-ref and --to-ref")
	}
	c.base, c.head = from, cmp.Or(head, to)
	if branch == "" {
		return nil
	}
	return c.branched()
}

// branched compares a new branch with the default branch. pre-commit names the branch's start instead, and does not
// say that it is new: the remote's branch is not in this clone. If the branch began outside the default branch, the
// start is the base.
func (c *commitRange) branched() error {
	name, ok := strings.CutPrefix(c.env("PRE_COMMIT_REMOTE_BRANCH"), "refs/heads/")
	if !ok {
		return nil
	}
	_, err := c.repo.Ref(tracking(c.push.remote, name))
	if errors.Is(err, repo.ErrSyntax) { // the remote is a URL: it has no such branches
		return nil
	}
	if !errors.Is(err, repo.ErrUnknown) {
		return err
	}
	full := tracking(c.push.remote, "HEAD")
	tip, err := c.repo.Ref(full)
	if errors.Is(err, repo.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	began, err := c.repo.Compare(c.base, full)
	switch {
	case errors.Is(err, repo.ErrUnknown), errors.Is(err, repo.ErrNoMergeBase):
		return nil
	case err == nil && began.MergeBases[0] == began.Base:
		c.base, c.tip, c.push.isNew = full, tip, true
	}
	return err
}

// comparePushed relates the commits of a push. A push that drops commits is checked by the bundle before it, too. If
// GitHub reports it as forced, all files are checked: that needs no history.
func (c *commitRange) comparePushed() (comparison, error) {
	head, err := c.repo.Commit(c.head)
	if err != nil {
		return comparison{}, err
	}
	behind := repo.Unknown
	whole := func(base repo.Hash, why string) (comparison, error) {
		all := comparison{whole: true, commits: repo.Comparison{Head: head, Behind: behind}}
		if !base.IsZero() && base != head {
			all.commits.Base = base
			why += fmt.Sprintf("; the rules of %s check it too", repo.Short(base))
		}
		all.notes = []string{"all of the head was checked: " + why}
		return all, nil
	}
	if c.base == "" {
		return whole(repo.Hash{}, c.push.why)
	}
	base := c.tip
	if base.IsZero() {
		base, err = c.repo.Commit(c.base)
	}
	if errors.Is(err, repo.ErrUnknown) {
		fix := "; fetch the history (" + c.push.depth + "), or that commit: "
		if c.push.forced || !c.repo.Shallow() { // no depth would fetch it
			fix = ": the push was forced, or left it in no branch; fetch it: "
		}
		return comparison{}, missingCommit("the commit before the push, %s, is not in this clone, and its rules check "+
			"the push%s%s", c.base, fix, repo.FetchCommand(c.push.remote, c.base))
	}
	if err != nil {
		return comparison{}, err
	}
	if c.push.forced {
		return whole(base, "the push was forced")
	}
	commits, err := c.relate(base)
	if err != nil && !errors.Is(err, repo.ErrNoMergeBase) {
		return comparison{}, err
	}
	if err == nil {
		behind = commits.Behind
	}
	at := func(h repo.Hash) bool { return commits.MergeBases[0] == h }
	switch {
	case err != nil && !c.push.isNew:
		return whole(base, "the push was forced, and has no history in common with what was there before")
	case err != nil:
		return whole(base, "the push has no history in common with the default branch")
	case c.push.isNew && at(head):
		return whole(base, "the push adds no commit to the default branch")
	case c.push.isNew, at(base):
		return comparison{commits: commits}, nil
	case at(head):
		return whole(base, "the branch went back to an older commit")
	}
	commits.Replaces = true
	const note = "the push was forced: what differs from %s, where the branch was before, was checked too"
	return comparison{commits: commits, notes: []string{fmt.Sprintf(note, repo.Short(base))}}, nil
}
