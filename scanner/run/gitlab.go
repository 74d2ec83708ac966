package run

import (
	"errors"
	"fmt"

	"github.com/policyscan/policyscan/scanner/repo"
)

// gitLab reads the variables of a job of a merge request's pipeline, or of a push's.
func (c *commitRange) gitLab(head string) error {
	made, source := c.env("CI_COMMIT_SHA"), c.env("CI_PIPELINE_SOURCE")
	c.required = []string{made}
	request := source == "merge_request_event" // a child pipeline of one has another source
	for _, name := range []string{"DIFF_BASE_SHA", "TARGET_BRANCH_NAME", "TARGET_BRANCH_SHA"} {
		request = request || c.env("CI_MERGE_REQUEST_"+name) != ""
	}
	switch {
	case request:
		if head == "" && c.mergedBy(made, c.env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")) {
			c.strategy, c.base, c.required = "gitlab-merge-commit", "HEAD^1", nil
			return nil
		}
		c.strategy = "gitlab-merge-request"
		return c.target()
	case source == "push":
		c.strategy = "gitlab-push"
		c.push = &push{remote: "origin", depth: c.ci.history, reusesClones: true}
		return c.since(c.env("CI_COMMIT_BEFORE_SHA"), c.env("CI_DEFAULT_BRANCH"))
	}
	return fmt.Errorf("a pipeline of source %q has no base; run it for merge requests or pushes, "+
		"or scan everything, without --diff-base", source)
}

// target makes the tip of the merge request's target branch the base. CI_MERGE_REQUEST_DIFF_BASE_SHA is the merge
// base, whose policy can be older.
func (c *commitRange) target() error {
	branch, sha := c.env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"), c.env("CI_MERGE_REQUEST_TARGET_BRANCH_SHA")
	from, url := "origin", ""
	if c.fromFork() {
		// origin is the fork, whose branches are the author's.
		if url = c.env("CI_MERGE_REQUEST_PROJECT_URL"); url == "" {
			return errors.New("the job runs in a fork, and CI_MERGE_REQUEST_PROJECT_URL is empty; " +
				"name the base with --diff-base")
		}
		from = url
	}
	if sha != "" {
		tip, err := c.repo.Commit(sha)
		if errors.Is(err, repo.ErrUnknown) {
			return missingCommit("the tip of the target branch, %s, is not in this clone, "+
				"and its rules check the change; %s: %s",
				sha, fetchFirst, repo.FetchCommand(from, sha))
		}
		c.base, c.tip = sha, tip
		return err
	}
	if branch == "" {
		return errors.New("CI_MERGE_REQUEST_TARGET_BRANCH_NAME is empty; " +
			"name the base, such as --diff-base origin/main")
	}
	return c.compareFetched(branch, from, url, "merge request", "target branch")
}

// fromFork reports whether the job runs in another project than the merge request's target.
func (c *commitRange) fromFork() bool {
	for _, name := range []string{"PROJECT_ID", "PROJECT_PATH"} {
		here, there := c.env("CI_"+name), c.env("CI_MERGE_REQUEST_"+name)
		if here != "" && there != "" && here != there {
			return true
		}
	}
	return false
}
