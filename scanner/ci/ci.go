// Package ci finds out what a run in continuous integration is about: of which environment,
// and so from which base to which head. It guesses nothing: an environment that it does not
// know, or that names no base, is an error.
//
// It reads the variables that it is handed, the event that GitHub wrote to a file, and the
// repository.
package ci

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A Choice is the two commits that a run compares, by name, and how they were chosen.
type Choice struct {
	Strategy string // of verdict.Scope
	Base     string // "" if there is none
	Head     string
	// The base is where the change's author began: an older policy than today's may be there.
	ByAuthor bool
	Notes    []string // for the report

	env func(name string) string
	// The commits that the event is about. A head without them holds nothing of the change.
	holds []string
	// A push may have no base that the head can be related to: all of the head is judged.
	orWhole bool
	noBase  string // why there is none
}

// Named is the choice of a person who names the base, and perhaps the head.
func Named(base, head string) *Choice {
	return &Choice{Strategy: "merge-base", Base: base, Head: cmp.Or(head, "HEAD")}
}

// Choose chooses the base and the head from the variables that a CI system sets. The
// innermost wins: pre-commit may run in a job of GitHub's. A head that is named ("": none)
// takes the place of the environment's.
func Choose(r *repo.Repository, env func(name string) string, head string) (*Choice, error) {
	c := &Choice{Head: cmp.Or(head, "HEAD"), env: env}
	var err error
	switch {
	case env("PRE_COMMIT_FROM_REF") != "" || env("PRE_COMMIT_TO_REF") != "" || env("PRE_COMMIT_LOCAL_BRANCH") != "":
		err = c.preCommit(head)
	case env("GITHUB_ACTIONS") == "true":
		err = c.gitHub(r, head)
	case env("GITLAB_CI") == "true":
		err = c.gitLab(r, head)
	case env("PULL_BASE_SHA") != "":
		err = c.prow()
	case env("PRE_COMMIT") == "1":
		err = errors.New("this pre-commit run is about no commits (PRE_COMMIT_FROM_REF is not set); judge a commit with --staged, and a push by naming the base, such as --diff-base origin/main")
	default:
		err = errors.New("this is no CI environment that policyscan knows (GitHub Actions, GitLab, pre-commit, Prow); name the base, such as --diff-base main")
	}
	if head != "" {
		c.holds = nil // who names the head says what is judged
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// preCommit is a run of pre-commit for a push, or with --from-ref and --to-ref. It says which
// branch is pushed only for a push, and names no commits if the remote has nothing of that
// branch's history.
func (c *Choice) preCommit(head string) error {
	from, to, branch := c.env("PRE_COMMIT_FROM_REF"), c.env("PRE_COMMIT_TO_REF"), c.env("PRE_COMMIT_LOCAL_BRANCH")
	c.Strategy = "pre-commit"
	switch {
	case from == "" && to == "":
		c.Head, c.orWhole, c.noBase = cmp.Or(head, branch), true, "the remote has nothing of its history"
	case from == "" || to == "":
		return errors.New("only one of PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF is set; run pre-commit with both --from-ref and --to-ref")
	default:
		c.Base, c.Head, c.orWhole = from, cmp.Or(head, to), branch != ""
	}
	return nil
}

// gitLab is a job of a merge request's pipeline, or of a push's.
// https://docs.gitlab.com/ci/variables/predefined_variables/
func (c *Choice) gitLab(r *repo.Repository, head string) error {
	c.holds = []string{c.env("CI_COMMIT_SHA")}
	source, request := c.env("CI_PIPELINE_SOURCE"), c.env("CI_MERGE_REQUEST_DIFF_BASE_SHA")
	switch {
	case request != "" && head == "" && mergedBy(r, c.env("CI_COMMIT_SHA"), c.env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")):
		c.Strategy, c.Base, c.holds = "gitlab-merge-commit", "HEAD^1", nil
	case request != "":
		c.Strategy, c.Base = "gitlab-merge-request", request
		// The merge base is where the author began. The branch's policy of today counts, if
		// it is here.
		target := c.env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
		if full := "refs/remotes/origin/" + target; target != "" {
			if _, err := r.Commit(full); err == nil {
				c.Base = full
				return nil
			}
			c.Notes = append(c.Notes, fmt.Sprintf("this clone does not hold the branch %s, so that its policy of where this change began judges, not that of today; fetch it: git fetch origin %s:%s", target, target, full))
		}
		c.ByAuthor = true
	case source == "push":
		c.Strategy = "gitlab-push"
		c.pushed(c.env("CI_COMMIT_BEFORE_SHA"), false)
	default:
		return fmt.Errorf("a pipeline of source %q has no base; run it for merge requests or pushes, or scan all, without --diff-base", source)
	}
	return nil
}

// prow is a job of Prow's for pull requests.
// https://docs.prow.k8s.io/docs/jobs/#job-environment-variables
func (c *Choice) prow() error {
	c.Strategy, c.Base = "prow", c.env("PULL_BASE_SHA")
	// PULL_REFS is the base, then each pull request that was merged into it: main:SHA,12:SHA.
	_, pulls, _ := strings.Cut(c.env("PULL_REFS"), ",")
	for pull := range strings.SplitSeq(pulls, ",") {
		if parts := strings.Split(pull, ":"); len(parts) > 1 {
			c.holds = append(c.holds, parts[1])
		}
	}
	if sha := c.env("PULL_PULL_SHA"); len(c.holds) == 0 && sha != "" {
		c.holds = []string{sha}
	}
	if len(c.holds) == 0 {
		return fmt.Errorf("the job of type %q is about no pull request; scan all, without --diff-base", c.env("JOB_TYPE"))
	}
	return nil
}

// pushed takes what a branch was at before a push; zeros, if it is new.
func (c *Choice) pushed(before string, forced bool) {
	c.orWhole = true
	switch {
	case strings.Trim(before, "0") == "":
		c.noBase = "the branch or tag is new"
	case forced:
		c.noBase = "the push was forced"
	default:
		c.Base = before
	}
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

// Compare relates the commits that were chosen. whole says that there is no base.
func (c *Choice) Compare(r *repo.Repository) (compared scanner.Comparison, whole bool, err error) {
	for _, sha := range c.holds {
		if err := c.check(r, sha); err != nil {
			return compared, false, err
		}
	}
	if c.Base != "" {
		compared, err = scanner.Compare(r, c.Base, c.Head)
		var shallow *repo.ShallowError
		switch {
		case errors.As(err, &shallow) && strings.HasSuffix(c.Strategy, "-merge-commit"):
			return compared, false, &verdict.Error{Code: verdict.Shallow, Message: fmt.Sprintf("%v; fetch two commits (actions/checkout: fetch-depth: 2; GitLab: GIT_DEPTH: 2)", err)}
		case !c.orWhole:
			return compared, false, err
		case errors.Is(err, repo.ErrUnknown), errors.Is(err, repo.ErrNoMergeBase), errors.As(err, &shallow):
			c.noBase = fmt.Sprintf("this clone cannot relate it to %s, where the branch was before, whose bundle does not judge either; to have it, fetch the history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0)", c.Base)
		case err == nil && compared.MergeBases[0] == compared.Head && compared.Base != compared.Head:
			c.noBase = "the branch went back to an older commit"
		default:
			return compared, false, err
		}
	}
	c.Notes = append(c.Notes, "all of the head was judged: "+c.noBase)
	head, err := r.Commit(c.Head)
	return scanner.Comparison{Head: head}, true, err
}

// check sees to it that the head holds a commit that the event is about.
func (c *Choice) check(r *repo.Repository, sha string) error {
	const fix = "check out what the event is about, or name it with --head"
	wanted, err := r.Commit(sha)
	if errors.Is(err, repo.ErrUnknown) {
		return &verdict.Error{Code: verdict.BaseMissing, Message: fmt.Sprintf("--diff-base auto: this clone does not hold commit %s, which the event is about; %s", sha, fix)}
	}
	if err != nil {
		return err
	}
	within, err := scanner.Compare(r, sha, c.Head)
	if err != nil && !errors.Is(err, repo.ErrNoMergeBase) {
		return err
	}
	if err != nil || within.MergeBases[0] != wanted {
		return &verdict.Error{Code: verdict.BaseMissing, Message: fmt.Sprintf("--diff-base auto: HEAD does not hold commit %s, which the event is about: nothing of the change would be scanned; %s", wanted.String()[:7], fix)}
	}
	return nil
}
