package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
)

// InGitHub reports whether the variables are those of a job of a GitHub workflow.
func InGitHub(env func(name string) string) bool { return env("GITHUB_ACTIONS") == "true" }

// gitHubEvent is the part of a workflow's event that is needed.
//
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
type gitHubEvent struct {
	PullRequest struct {
		Base, Head struct{ SHA, Ref string }
	} `json:"pull_request"`
	MergeGroup struct {
		BaseSHA string `json:"base_sha"`
		BaseRef string `json:"base_ref"` // a full name
		HeadSHA string `json:"head_sha"`
	} `json:"merge_group"`
	Before, After string
	Forced        bool
	Repository    struct {
		DefaultBranch string `json:"default_branch"`
	}
}

// maxEvent limits the bytes of an event; GitHub sends up to 25 MB.
const maxEvent = 64 << 20

// readEvent reads the event in a file. Its error does not name the file.
func readEvent(name string) (event gitHubEvent, err error) {
	file, err := os.Open(name)
	if err != nil {
		return event, disk.Cause(err)
	}
	defer file.Close() // read only: nothing to lose
	text, err := io.ReadAll(io.LimitReader(file, maxEvent+1))
	switch {
	case err != nil:
		return event, disk.Cause(err)
	case len(text) > maxEvent:
		return event, fmt.Errorf("it has more than %d bytes", maxEvent)
	}
	return event, json.Unmarshal(text, &event)
}

// gitHub reads the event of a workflow. Gitea and Forgejo write the same files and variables.
func (c *commitRange) gitHub(head string) error {
	event, err := readEvent(c.env("GITHUB_EVENT_PATH"))
	if err != nil {
		return fmt.Errorf("the event that GITHUB_EVENT_PATH names cannot be read: %w", err)
	}
	system, name, sha := c.ci.name, c.env("GITHUB_EVENT_NAME"), c.env("GITHUB_SHA")
	about := ""
	switch {
	case strings.HasPrefix(name, "pull_request"):
		about = event.PullRequest.Head.SHA
		c.strategy, c.base = system+"-pull-request", event.PullRequest.Base.SHA
		if head == "" && c.mergedBy(sha, about) {
			c.strategy, c.base = system+"-merge-commit", "HEAD^1"
			return c.rerun(event.PullRequest.Base.Ref)
		}
		if err := c.current(event.PullRequest.Base.Ref, c.base, "the pull request"); err != nil {
			return err
		}
	case name == "merge_group":
		about = event.MergeGroup.HeadSHA
		c.strategy, c.base = system+"-merge-group", event.MergeGroup.BaseSHA
		branch := strings.TrimPrefix(event.MergeGroup.BaseRef, "refs/heads/")
		if err := c.current(branch, "", "the merge queue's group"); err != nil {
			return err
		}
	case name == "push":
		about = event.After
		if about != "" && isNothing(about) {
			return errors.New("the push deleted the branch: there is nothing to check")
		}
		if about != "" && strings.HasPrefix(c.env("GITHUB_REF"), "refs/tags/") {
			about = sha // the event has the tag object, which a clone may lack
		}
		c.strategy = system + "-push"
		c.push = &push{remote: "origin", depth: c.ci.history, forced: event.Forced}
		if err := c.since(event.Before, event.Repository.DefaultBranch); err != nil {
			return err
		}
	default:
		return fmt.Errorf("the event %q has no base; run it for pull_request, merge_group or push, "+
			"or scan everything, without --diff-base (the action: scope: full)", name)
	}
	if c.base == "" && c.push == nil || about == "" {
		return fmt.Errorf("the event %q in GITHUB_EVENT_PATH names no base and head", name)
	}
	c.required = []string{about}
	return nil
}

// current makes the base the target branch as this job fetched it, if that contains a commit: the event's base is as
// old as the event, or another entry of the merge queue. Otherwise the event's base stays.
func (c *commitRange) current(branch, contains, what string) error {
	if branch == "" {
		c.stale = "the event does not name the target branch"
		return nil
	}
	tip, why, err := c.fetched(branch, "")
	if err == nil && why == "" && contains != "" {
		var within repo.Comparison
		switch within, err = c.repo.Compare(contains, tip.String()); {
		case err == nil && within.MergeBases[0] == within.Base:
		case err == nil, errors.Is(err, repo.ErrUnknown), errors.Is(err, repo.ErrNoMergeBase):
			why, err = fmt.Sprintf("%s does not contain the event's base", tracking("origin", branch)), nil
		}
	}
	if err != nil {
		return err
	}
	if why != "" {
		c.stale = fmt.Sprintf("the base of %s is the event's, which may be older than %s: %s; %s "+
			"(%s), or: %s",
			what, branch, why, fetchFirst, c.ci.history, repo.FetchBranchCommand("origin", "origin", branch))
		return nil
	}
	c.base, c.tip = tracking("origin", branch), tip
	return nil
}

// rerun notes that a run is a second attempt, which checks the merge commit of the first one, unless the target branch
// as this job fetched it has not moved.
func (c *commitRange) rerun(branch string) error {
	if attempt := firstSet(c.env, c.ci.attempt); attempt == "" || attempt == "1" {
		return nil
	}
	base, err := c.repo.Commit(c.base)
	if err != nil {
		return nil // Compare reports it
	}
	tip, why, err := c.fetched(branch, "")
	if err == nil && (why != "" || tip != base) {
		c.stale = "a re-run checks the merge commit of the first attempt, and the target branch has moved on; " +
			"push to the pull request's branch, or update it, for a new run"
	}
	return err
}
