package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
)

// gitLab is a job of a merge request's pipeline, or of a push's.
// https://docs.gitlab.com/ci/variables/predefined_variables/
func (c *commitRange) gitLab(r *repo.Repository, head string) error {
	made, source := c.env("CI_COMMIT_SHA"), c.env("CI_PIPELINE_SOURCE")
	c.required = []string{made}
	request := source == "merge_request_event" // a child pipeline of one has another source
	for _, name := range []string{"DIFF_BASE_SHA", "TARGET_BRANCH_NAME", "TARGET_BRANCH_SHA"} {
		request = request || c.env("CI_MERGE_REQUEST_"+name) != ""
	}
	switch {
	case request:
		if head == "" && mergedBy(r, made, c.env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")) {
			c.strategy, c.base, c.required = "gitlab-merge-commit", "HEAD^1", nil
			return nil
		}
		c.strategy = "gitlab-merge-request"
		return c.target(r)
	case source == "push":
		c.strategy = "gitlab-push"
		c.push = &push{remote: "origin", depth: "GitLab: GIT_DEPTH: 0"}
		return c.since(c.env("CI_COMMIT_BEFORE_SHA"), func() error { return c.onFetchedDefault(r) })
	}
	return fmt.Errorf("a pipeline of source %q has no base; run it for merge requests or pushes, "+
		"or scan everything, without --diff-base", source)
}

// fetchFirst is what to do about a target that is not here. A fetch of an earlier job does not count.
const fetchFirst = "fetch it in this job, before the scan"

// target makes the tip of the merge request's target branch the base. CI_MERGE_REQUEST_DIFF_BASE_SHA
// is not it: that is where the author's branch began, and the policy there can be an older one.
func (c *commitRange) target(r *repo.Repository) error {
	branch, sha := c.env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"), c.env("CI_MERGE_REQUEST_TARGET_BRANCH_SHA")
	from, url := "origin", ""
	if c.fromFork() {
		// origin is the fork, whose branches are the author's.
		if url = c.env("CI_MERGE_REQUEST_PROJECT_URL"); url == "" {
			return errors.New("the job runs in a different project than the merge request's, " +
				"and GitLab does not say where that is " +
				"(CI_MERGE_REQUEST_PROJECT_URL is empty); name the base with --diff-base")
		}
		from = url
	}
	if sha != "" {
		tip, err := r.Commit(sha)
		if errors.Is(err, repo.ErrUnknown) {
			return missingCommit("this clone does not have commit %s, the tip of the target branch, "+
				"whose rules check the change; %s: %s",
				sha, fetchFirst, repo.FetchLine(from, sha))
		}
		c.base, c.tip = sha, tip
		return err
	}
	if branch == "" {
		return errors.New("GitLab names no target branch for this merge request " +
			"(CI_MERGE_REQUEST_TARGET_BRANCH_NAME is empty); " +
			"name the base, such as --diff-base origin/main")
	}
	tip, why, err := fetched(r, branch, url)
	if why != "" {
		return missingCommit("a merge request is checked with the rules of the target branch %s, and %s; %s: %s",
			branch, why, fetchFirst, repo.FetchBranchLine(from, "origin", branch))
	}
	c.base, c.tip = tracking("origin", branch), tip
	return err
}

// fromFork reports whether the job runs in another project than the one that the merge request is for.
func (c *commitRange) fromFork() bool {
	for _, name := range []string{"PROJECT_ID", "PROJECT_PATH"} {
		here, there := c.env("CI_"+name), c.env("CI_MERGE_REQUEST_"+name)
		if here != "" && there != "" && here != there {
			return true
		}
	}
	return false
}

// onFetchedDefault compares a new branch with the default branch, if this job has fetched that.
func (c *commitRange) onFetchedDefault(r *repo.Repository) error {
	branch := c.env("CI_DEFAULT_BRANCH")
	if branch == "" {
		c.push.why = "the branch or tag is new, " +
			"and GitLab does not name the default branch (CI_DEFAULT_BRANCH is empty)"
		return nil
	}
	tip, why, err := fetched(r, branch, "")
	if why != "" {
		c.push.why = fmt.Sprintf("the branch or tag is new, and is not compared with the default branch %s, "+
			"whose rules would check it too: %s; to have it: %s", branch, why,
			repo.FetchBranchLine("origin", "origin", branch))
		return nil
	}
	c.base, c.tip = tracking("origin", branch), tip
	return err
}

// tracking is the full name of a remote-tracking branch.
func tracking(remote, branch string) string { return "refs/remotes/" + remote + "/" + branch }

// fetched returns the tip of a branch of origin, or why it is not known. A runner uses a
// folder for one pipeline after another and fetches only what each is about, so a
// remote-tracking branch counts only if the last git fetch names it at that commit. A url
// that is not empty is where it must have been fetched from.
func fetched(r *repo.Repository, branch, url string) (tip repo.Hash, why string, err error) {
	full := tracking("origin", branch)
	tip, err = r.Ref(full)
	if errors.Is(err, repo.ErrUnknown) || errors.Is(err, repo.ErrSyntax) {
		return tip, "this clone does not have it (" + full + ")", nil
	}
	if err != nil {
		return tip, "", err
	}
	all, err := r.Fetched()
	if err != nil {
		return tip, fmt.Sprintf("whether this job has fetched it is unknown (%v)", err), nil
	}
	named := false
	for _, f := range all {
		switch {
		case f.Ref != "refs/heads/"+branch:
		case url != "" && remoteURL(f.URL) != remoteURL(url):
			const from = "the last git fetch took %s from a different project than the merge request's (%s)"
			return tip, fmt.Sprintf(from, branch, url), nil
		case f.Commit != tip:
			return tip, fmt.Sprintf("the last git fetch found it at %s, but %s is at %s",
				repo.Short(f.Commit), full, repo.Short(tip)), nil
		default:
			named = true
		}
	}
	if !named {
		return tip, fmt.Sprintf("%s may be from an earlier pipeline: the last git fetch did not fetch it", full), nil
	}
	return tip, "", nil
}

// remoteURL is a URL as FETCH_HEAD has it: without credentials, a slash or .git at its end.
func remoteURL(url string) string {
	if scheme, rest, ok := strings.Cut(url, "://"); ok {
		host, path, _ := strings.Cut(rest, "/")
		url = scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
	}
	return strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
}
