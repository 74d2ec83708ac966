package run

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A commitRange is the two commits that a run compares, by name, and how they were chosen.
type commitRange struct {
	strategy string // of verdict.Scope
	base     string // "" if there is none
	head     string

	env func(name string) string
	tip repo.Hash // of base, if it is known already
	// stale says why the base may be older than the branch that it stands for; "" if it is not.
	stale string
	// required are the commits that the event is about. A head without them has nothing of the change.
	required []string
	push     *push // nil: it is about no push
}

// auto is the base that is chosen from the environment.
const auto = "auto"

// mergeBase is the strategy for a base that the user names.
const mergeBase = "merge-base"

// chooseCommits returns the commits of a base that the user names, and perhaps a head ("": none). The base "auto" has
// them chosen from the variables that a CI system sets; a head that is named replaces theirs.
func chooseCommits(r *repo.Repository, env func(name string) string, base, head string) (*commitRange, error) {
	if base != auto {
		return &commitRange{strategy: mergeBase, base: base, head: cmp.Or(head, "HEAD")}, nil
	}
	c, err := fromEnvironment(r, env, head)
	if err != nil {
		return nil, fmt.Errorf("--diff-base auto: %w", err)
	}
	return c, nil
}

// InPreCommit reports whether base stands for a run of pre-commit that compares no commits: of a commit's hook, or of
// all files.
func InPreCommit(env func(name string) string, base string) bool {
	return base == auto && env("PRE_COMMIT") == "1" && !preCommitCompares(env)
}

// preCommitCompares reports whether pre-commit names commits to compare.
func preCommitCompares(env func(name string) string) bool {
	return env("PRE_COMMIT_FROM_REF") != "" || env("PRE_COMMIT_TO_REF") != "" || env("PRE_COMMIT_LOCAL_BRANCH") != ""
}

// fromEnvironment chooses the base and the head from the variables that a CI system sets. The
// innermost wins: pre-commit may run in a job of GitHub's.
func fromEnvironment(r *repo.Repository, env func(name string) string, head string) (*commitRange, error) {
	c := &commitRange{head: cmp.Or(head, "HEAD"), env: env}
	var err error
	switch {
	case preCommitCompares(env):
		err = c.preCommit(r, head)
	case InGitHub(env):
		err = c.gitHub(r, head)
	case env("GITLAB_CI") == "true":
		err = c.gitLab(r, head)
	case env("PULL_BASE_SHA") != "":
		err = c.prow()
	default:
		err = errors.New("unknown CI environment: policyscan knows GitHub Actions, GitLab, pre-commit and Prow; " +
			"name the base, such as --diff-base origin/main")
	}
	if head != "" {
		c.required = nil // who names the head says what is judged
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// prow is a job of Prow's for pull requests.
// https://docs.prow.k8s.io/docs/jobs/#job-environment-variables
func (c *commitRange) prow() error {
	c.strategy, c.base = "prow", c.env("PULL_BASE_SHA")
	// PULL_REFS is the base, then each pull request that was merged into it: main:SHA,12:SHA.
	_, pulls, _ := strings.Cut(c.env("PULL_REFS"), ",")
	for pull := range strings.SplitSeq(pulls, ",") {
		if parts := strings.Split(pull, ":"); len(parts) > 1 {
			c.required = append(c.required, parts[1])
		}
	}
	if sha := c.env("PULL_PULL_SHA"); len(c.required) == 0 && sha != "" {
		c.required = []string{sha}
	}
	if len(c.required) == 0 {
		return fmt.Errorf("the job of type %q has no pull request; scan everything, without --diff-base",
			c.env("JOB_TYPE"))
	}
	return nil
}

// mergedBy reports whether HEAD is the commit that a CI system made for this run, merging
// the source into its target. The first parent is what it was made with, whatever the event
// says. A merge commit of the change's own is another thing: its first parent is part of
// the change.
func mergedBy(r *repo.Repository, made, source string) bool {
	head, err := r.Commit("HEAD")
	if err != nil || source == "" || head.String() != made {
		return false
	}
	parents, err := r.Parents(head)
	return err == nil && len(parents) == 2 && parents[1].String() == source
}

// A comparison is the commits of a range, related to each other.
type comparison struct {
	// The base's bundle judges, and so does the head's. The zero Base: the head's alone.
	commits repo.Comparison
	whole   bool     // all files of the head are checked, not only those that differ from a merge base
	notes   []string // for the report
	// stale says why the base may be older than the branch that it stands for, and what to do; "" if it is not.
	stale string
}

// compareAll relates the commits that were chosen. Those that this clone does not have, or cannot relate, are an error.
func (c *commitRange) compareAll(r *repo.Repository) (comparison, error) {
	compared, err := c.compare(r)
	if compared.stale = c.stale; err == nil && c.strategy == mergeBase {
		compared.stale, err = behindRemote(r, c.base)
	}
	return compared, err
}

func (c *commitRange) compare(r *repo.Repository) (comparison, error) {
	for _, sha := range c.required {
		if err := c.check(r, sha); err != nil {
			return comparison{}, err
		}
	}
	switch {
	case c.push != nil:
		return c.pushed(r)
	case !c.tip.IsZero():
		return c.related(r, c.tip)
	}
	compared, err := r.Compare(c.base, c.head)
	var shallow *repo.ShallowError
	if errors.As(err, &shallow) && strings.HasSuffix(c.strategy, "-merge-commit") {
		const fix = "fetch two commits (actions/checkout: fetch-depth: 2; GitLab: GIT_DEPTH: 2)"
		err = &verdict.Error{Code: code.Shallow, Message: fmt.Sprintf("%v; %s", err, fix)}
	}
	return comparison{commits: compared}, err
}

// related compares the head with a commit.
func (c *commitRange) related(r *repo.Repository, base repo.Hash) (compared comparison, err error) {
	compared.commits.Base = base
	if compared.commits.Head, err = r.Commit(c.head); err == nil {
		compared.commits, err = r.Relate(base, compared.commits.Head)
	}
	return compared, err
}

// check makes sure that the head contains a commit that the event is about.
func (c *commitRange) check(r *repo.Repository, sha string) error {
	const fix = "check out what the event is about, or name it with --head"
	wanted, err := r.Commit(sha)
	if errors.Is(err, repo.ErrUnknown) {
		return missingCommit("this clone does not have commit %s, which the event is about; %s", sha, fix)
	}
	if err != nil {
		return err
	}
	within, err := r.Compare(sha, c.head)
	if err != nil && !errors.Is(err, repo.ErrNoMergeBase) {
		return err
	}
	if err != nil || within.MergeBases[0] != wanted {
		return missingCommit("HEAD does not contain commit %s, which the event is about: "+
			"nothing of the change would be scanned; %s",
			repo.Short(wanted), fix)
	}
	return nil
}

// missingCommit is the error for a commit that the run needs and this clone does not have.
func missingCommit(format string, args ...any) error {
	return &verdict.Error{Code: code.BaseMissing, Message: "--diff-base auto: " + fmt.Sprintf(format, args...)}
}
