package main

import (
	"cmp"
	"encoding/json"
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
	// The commit that the event is about. A head without it holds nothing of the change.
	holds string
	// A push may have no base that the head can be related to: all of the head is judged.
	orWhole bool
}

// choose chooses the base and the head from the environment that a CI system sets. The
// innermost wins: pre-commit may run in a job of GitHub's.
func (c *scanCmd) choose(r *repo.Repository) (chosen, error) {
	found := chosen{head: cmp.Or(c.Head, "HEAD")}
	var err error
	switch {
	case os.Getenv("PRE_COMMIT_FROM_REF") != "" || os.Getenv("PRE_COMMIT_TO_REF") != "":
		err = found.preCommit(c.Head)
	case os.Getenv("GITHUB_ACTIONS") == "true":
		err = found.gitHub(r, c.Head)
	case os.Getenv("GITLAB_CI") == "true":
		err = found.gitLab()
	case os.Getenv("PULL_BASE_SHA") != "":
		found.strategy, found.base = "prow", os.Getenv("PULL_BASE_SHA")
	case os.Getenv("PRE_COMMIT") == "1":
		err = errors.New("--diff-base auto: this pre-commit run is about no commits (PRE_COMMIT_FROM_REF is not set); use --staged")
	default:
		err = errors.New("--diff-base auto: this is no CI environment that policyscan knows (GitHub Actions, GitLab, pre-commit, Prow); name the base, such as --diff-base main")
	}
	if c.Head != "" {
		found.holds = "" // who names the head says what is judged
	}
	return found, err
}

// preCommit is a run of pre-commit for a push, or with --from-ref and --to-ref.
func (f *chosen) preCommit(head string) error {
	from, to := os.Getenv("PRE_COMMIT_FROM_REF"), os.Getenv("PRE_COMMIT_TO_REF")
	if from == "" || to == "" {
		return errors.New("--diff-base auto: only one of PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF is set; run pre-commit with both --from-ref and --to-ref")
	}
	f.strategy, f.base, f.head = "pre-commit", from, cmp.Or(head, to)
	return nil
}

// gitLab is a job of a merge request's pipeline, or of a push's.
// https://docs.gitlab.com/ci/variables/predefined_variables/
func (f *chosen) gitLab() error {
	f.holds = os.Getenv("CI_COMMIT_SHA")
	source := os.Getenv("CI_PIPELINE_SOURCE")
	switch {
	case os.Getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA") != "":
		f.strategy, f.base = "gitlab-merge-request", os.Getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA")
	case source == "push":
		f.strategy = "gitlab-push"
		f.pushed(os.Getenv("CI_COMMIT_BEFORE_SHA"))
	default:
		return fmt.Errorf("--diff-base auto: a pipeline of source %q has no base; run it for merge requests or pushes, or scan all, without --diff-base", source)
	}
	return nil
}

// pushed takes what a branch was at before a push; zeros, if it is new.
func (f *chosen) pushed(before string) {
	f.orWhole = true
	if strings.Trim(before, "0") != "" {
		f.base = before
	}
}

// gitHubEvent is what is needed of the event that a GitHub workflow runs for.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
type gitHubEvent struct {
	PullRequest struct {
		Base, Head struct{ SHA string }
	} `json:"pull_request"`
	MergeGroup struct {
		BaseSHA string `json:"base_sha"`
		HeadSHA string `json:"head_sha"`
	} `json:"merge_group"`
	Before, After string
	Forced        bool
}

// gitHub is a job of a GitHub workflow.
func (f *chosen) gitHub(r *repo.Repository, head string) error {
	var event gitHubEvent
	text, err := os.ReadFile(os.Getenv("GITHUB_EVENT_PATH"))
	if err == nil {
		err = json.Unmarshal(text, &event)
	}
	if err != nil {
		return fmt.Errorf("--diff-base auto: the event that GITHUB_EVENT_PATH names cannot be read: %w", systemError(err))
	}
	name := os.Getenv("GITHUB_EVENT_NAME")
	switch {
	case event.PullRequest.Head.SHA != "" && strings.HasPrefix(name, "pull_request"):
		f.strategy, f.base, f.holds = "github-pull-request", event.PullRequest.Base.SHA, event.PullRequest.Head.SHA
		if head == "" && mergedByGitHub(r, f.holds) {
			f.strategy, f.base, f.holds = "github-merge-commit", "HEAD^1", ""
			return nil
		}
	case name == "merge_group":
		f.strategy, f.base, f.holds = "github-merge-group", event.MergeGroup.BaseSHA, event.MergeGroup.HeadSHA
	case name == "push":
		f.strategy, f.holds = "github-push", event.After
		f.pushed(event.Before)
		if event.Forced {
			f.base = ""
		}
	default:
		return fmt.Errorf("--diff-base auto: the event %q has no base; run it for pull_request, merge_group or push, or scan all, without --diff-base", name)
	}
	if f.base == "" && !f.orWhole || f.holds == "" {
		return fmt.Errorf("--diff-base auto: the event %q in GITHUB_EVENT_PATH names no base and head", name)
	}
	return nil
}

// mergedByGitHub reports whether HEAD is the merge of a pull request's head into its base
// that GitHub makes for a run. The event's base may be older than that merge, and the first
// parent is what it was made with. A merge commit of the pull request's own is another
// thing: its first parent is part of the change.
func mergedByGitHub(r *repo.Repository, prHead string) bool {
	head, err := r.Commit("HEAD")
	if err != nil || head.String() != os.Getenv("GITHUB_SHA") {
		return false
	}
	parents, err := r.Parents(head)
	return err == nil && len(parents) == 2 && parents[1].String() == prHead
}

// compare relates the commits that were chosen. whole says that there is no base.
func (f *chosen) compare(r *repo.Repository) (compared scanner.Comparison, whole bool, err error) {
	if f.holds != "" {
		if err := f.check(r); err != nil {
			return compared, false, err
		}
	}
	if f.base != "" {
		compared, err = scanner.Compare(r, f.base, f.head)
		var shallow *repo.ShallowError
		if errors.As(err, &shallow) && f.strategy == "github-merge-commit" {
			err = &verdict.Error{Code: verdict.Shallow, Message: fmt.Sprintf("%v; fetch two commits (actions/checkout: fetch-depth: 2)", err)}
		}
		unusable := errors.Is(err, repo.ErrUnknown) || errors.Is(err, repo.ErrNoMergeBase) || errors.As(err, &shallow)
		if !f.orWhole || !unusable {
			return compared, false, err
		}
	}
	head, err := r.Commit(f.head)
	return scanner.Comparison{Head: head}, true, err
}

// check sees to it that the head holds the commit that the event is about.
func (f *chosen) check(r *repo.Repository) error {
	const fix = `check out what the event is about (actions/checkout does, but for pull_request_target: there give "ref"), or name it with --head`
	wanted, err := r.Commit(f.holds)
	if errors.Is(err, repo.ErrUnknown) {
		return &verdict.Error{Code: verdict.BaseMissing, Message: fmt.Sprintf("--diff-base auto: this clone does not hold commit %s, which the event is about; %s", f.holds, fix)}
	}
	if err != nil {
		return err
	}
	within, err := scanner.Compare(r, f.holds, f.head)
	if err != nil {
		return err
	}
	if within.MergeBases[0] != wanted {
		return &verdict.Error{Code: verdict.BaseMissing, Message: fmt.Sprintf("--diff-base auto: HEAD does not hold commit %s, which the event is about: nothing of the change would be scanned; %s", short(wanted), fix)}
	}
	return nil
}
