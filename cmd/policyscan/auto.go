package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// auto is the --diff-base that is chosen from the environment of a CI run.
const auto = "auto"

// A chosen comparison is what the environment says that a run is about.
type chosen struct {
	strategy string // of verdict.Scope
	base     string // "" if there is none
	head     string
	// The commits that the event is about. A head without them holds nothing of the change.
	holds []string
	// A push may have no base that the head can be related to: all of the head is judged.
	orWhole bool
	noBase  string // why there is none
	// The base is where the change's author began: an older policy than today's may be there.
	byAuthor bool
	notes    []string // for the report
}

// choose chooses the base and the head from the environment that a CI system sets. The
// innermost wins: pre-commit may run in a job of GitHub's.
func (c *scanCmd) choose(r *repo.Repository) (*chosen, error) {
	found := &chosen{head: cmp.Or(c.Head, "HEAD")}
	var err error
	switch {
	case os.Getenv("PRE_COMMIT_FROM_REF") != "" || os.Getenv("PRE_COMMIT_TO_REF") != "" || os.Getenv("PRE_COMMIT_LOCAL_BRANCH") != "":
		err = found.preCommit(c.Head)
	case os.Getenv("GITHUB_ACTIONS") == "true":
		err = found.gitHub(r, c.Head)
	case os.Getenv("GITLAB_CI") == "true":
		err = found.gitLab(r, c.Head)
	case os.Getenv("PULL_BASE_SHA") != "":
		err = found.prow()
	case os.Getenv("PRE_COMMIT") == "1":
		err = errors.New("this pre-commit run is about no commits (PRE_COMMIT_FROM_REF is not set); judge a commit with --staged, and a push by naming the base, such as --diff-base origin/main")
	default:
		err = errors.New("this is no CI environment that policyscan knows (GitHub Actions, GitLab, pre-commit, Prow); name the base, such as --diff-base main")
	}
	if c.Head != "" {
		found.holds = nil // who names the head says what is judged
	}
	if err != nil {
		return nil, fmt.Errorf("--diff-base auto: %w", err)
	}
	return found, nil
}

// preCommit is a run of pre-commit for a push, or with --from-ref and --to-ref. It says which
// branch is pushed only for a push, and names no commits if the remote has nothing of that
// branch's history.
func (f *chosen) preCommit(head string) error {
	from, to, branch := os.Getenv("PRE_COMMIT_FROM_REF"), os.Getenv("PRE_COMMIT_TO_REF"), os.Getenv("PRE_COMMIT_LOCAL_BRANCH")
	f.strategy = "pre-commit"
	switch {
	case from == "" && to == "":
		f.head, f.orWhole, f.noBase = cmp.Or(head, branch), true, "the remote has nothing of its history"
	case from == "" || to == "":
		return errors.New("only one of PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF is set; run pre-commit with both --from-ref and --to-ref")
	default:
		f.base, f.head, f.orWhole = from, cmp.Or(head, to), branch != ""
	}
	return nil
}

// gitLab is a job of a merge request's pipeline, or of a push's.
// https://docs.gitlab.com/ci/variables/predefined_variables/
func (f *chosen) gitLab(r *repo.Repository, head string) error {
	f.holds = []string{os.Getenv("CI_COMMIT_SHA")}
	source, request := os.Getenv("CI_PIPELINE_SOURCE"), os.Getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA")
	switch {
	case request != "" && head == "" && mergedBy(r, os.Getenv("CI_COMMIT_SHA"), os.Getenv("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")):
		f.strategy, f.base, f.holds = "gitlab-merge-commit", "HEAD^1", nil
	case request != "":
		f.strategy, f.base = "gitlab-merge-request", request
		// The merge base is where the author began. The branch's policy of today counts, if
		// it is here.
		target := os.Getenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
		if full := "refs/remotes/origin/" + target; target != "" {
			if _, err := r.Commit(full); err == nil {
				f.base = full
				return nil
			}
			f.notes = append(f.notes, fmt.Sprintf("this clone does not hold the branch %s, so that its policy of where this change began judges, not that of today; fetch it: git fetch origin %s:%s", target, target, full))
		}
		f.byAuthor = true
	case source == "push":
		f.strategy = "gitlab-push"
		f.pushed(os.Getenv("CI_COMMIT_BEFORE_SHA"), false)
	default:
		return fmt.Errorf("a pipeline of source %q has no base; run it for merge requests or pushes, or scan all, without --diff-base", source)
	}
	return nil
}

// prow is a job of Prow's for pull requests.
// https://docs.prow.k8s.io/docs/jobs/#job-environment-variables
func (f *chosen) prow() error {
	f.strategy, f.base = "prow", os.Getenv("PULL_BASE_SHA")
	// PULL_REFS is the base, then each pull request that was merged into it: main:SHA,12:SHA.
	_, pulls, _ := strings.Cut(os.Getenv("PULL_REFS"), ",")
	for pull := range strings.SplitSeq(pulls, ",") {
		if parts := strings.Split(pull, ":"); len(parts) > 1 {
			f.holds = append(f.holds, parts[1])
		}
	}
	if sha := os.Getenv("PULL_PULL_SHA"); len(f.holds) == 0 && sha != "" {
		f.holds = []string{sha}
	}
	if len(f.holds) == 0 {
		return fmt.Errorf("the job of type %q is about no pull request; scan all, without --diff-base", os.Getenv("JOB_TYPE"))
	}
	return nil
}

// pushed takes what a branch was at before a push; zeros, if it is new.
func (f *chosen) pushed(before string, forced bool) {
	f.orWhole = true
	switch {
	case strings.Trim(before, "0") == "":
		f.noBase = "the branch or tag is new"
	case forced:
		f.noBase = "the push was forced"
	default:
		f.base = before
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

// compare relates the commits that were chosen. whole says that there is no base.
func (f *chosen) compare(r *repo.Repository) (compared scanner.Comparison, whole bool, err error) {
	for _, sha := range f.holds {
		if err := f.check(r, sha); err != nil {
			return compared, false, err
		}
	}
	if f.base != "" {
		compared, err = scanner.Compare(r, f.base, f.head)
		var shallow *repo.ShallowError
		switch {
		case errors.As(err, &shallow) && strings.HasSuffix(f.strategy, "-merge-commit"):
			return compared, false, &verdict.Error{Code: verdict.Shallow, Message: fmt.Sprintf("%v; fetch two commits (actions/checkout: fetch-depth: 2; GitLab: GIT_DEPTH: 2)", err)}
		case !f.orWhole:
			return compared, false, err
		case errors.Is(err, repo.ErrUnknown), errors.Is(err, repo.ErrNoMergeBase), errors.As(err, &shallow):
			f.noBase = fmt.Sprintf("this clone cannot relate it to %s, where the branch was before, whose bundle does not judge either; to have it, fetch the history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0)", f.base)
		case err == nil && compared.MergeBases[0] == compared.Head && compared.Base != compared.Head:
			f.noBase = "the branch went back to an older commit"
		default:
			return compared, false, err
		}
	}
	f.notes = append(f.notes, "all of the head was judged: "+f.noBase)
	head, err := r.Commit(f.head)
	return scanner.Comparison{Head: head}, true, err
}

// check sees to it that the head holds a commit that the event is about.
func (f *chosen) check(r *repo.Repository, sha string) error {
	const fix = "check out what the event is about, or name it with --head"
	wanted, err := r.Commit(sha)
	if errors.Is(err, repo.ErrUnknown) {
		return &verdict.Error{Code: verdict.BaseMissing, Message: fmt.Sprintf("--diff-base auto: this clone does not hold commit %s, which the event is about; %s", sha, fix)}
	}
	if err != nil {
		return err
	}
	within, err := scanner.Compare(r, sha, f.head)
	if err != nil && !errors.Is(err, repo.ErrNoMergeBase) {
		return err
	}
	if err != nil || within.MergeBases[0] != wanted {
		return &verdict.Error{Code: verdict.BaseMissing, Message: fmt.Sprintf("--diff-base auto: HEAD does not hold commit %s, which the event is about: nothing of the change would be scanned; %s", short(wanted), fix)}
	}
	return nil
}
