package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
)

// A ciSystem is what a CI system documents about its jobs. A field of variables is the names of some, of which the
// first that is set counts; "" if the system has none.
type ciSystem struct {
	name    string // begins its strategies
	title   string
	job     string // a variable that every job has, or NAME=VALUE
	history string // the setting that clones the whole history
	two     string // the setting that clones the two commits of a merge that the system made
	// choose chooses the commits; nil if the fields below say all of it.
	choose func(c *commitRange, head string) error
	// event returns pullRequest, pushed or another event's name; nil if no variable has the target branch.
	event func(env func(string) string) string

	commit        string // variables: what the job checks
	target        string // variables: the pull request's target branch
	source        string // variables: the pull request's head, which the system itself merges into the target
	before        string // variables: the commit before a push
	defaultBranch string // variables: what a push is compared with if before is unknown
	attempt       string // variables: how often the job has run; again it checks the same merge
	fork          string // variables: set if origin may be the author's repository
}

const (
	pullRequest = "pull request"
	pushed      = "push"
)

// named reads the kind of an event from a variable with its name.
func named(variable, pullRequests string, pushes ...string) func(env func(string) string) string {
	return func(env func(string) string) string {
		value := env(variable)
		switch {
		case strings.HasPrefix(value, pullRequests):
			return pullRequest
		case slices.Contains(pushes, value):
			return pushed
		}
		return value
	}
}

// numbered reads the kind of an event from variables with the number of a pull request. Without one it is the build of
// a branch, whoever started it.
func numbered(variables string) func(env func(string) string) string {
	return func(env func(string) string) string {
		if number := firstSet(env, variables); number != "" && number != "false" {
			return pullRequest
		}
		return pushed
	}
}

// gerritEvent: a change has a patch set in every event; a push to Gerrit itself is ref-updated.
func gerritEvent(env func(string) string) string {
	if event := env("GERRIT_EVENT_TYPE"); event != "ref-updated" {
		return numbered("GERRIT_CHANGE_NUMBER")(env)
	}
	return pushed
}

// firstSet returns the value of the first variable that is set.
func firstSet(env func(string) string, variables string) string {
	for name := range strings.FieldsSeq(variables) {
		if value := env(name); value != "" {
			return value
		}
	}
	return ""
}

// ciSystems returns the known CI systems, in the order in which they count: one may run in a job of a later one. The
// pages are as of 2026-11-29.
func ciSystems() []ciSystem {
	return []ciSystem{
		// https://forgejo.org/docs/latest/user/actions/reference/
		{
			name: "forgejo", title: "Forgejo Actions", job: "FORGEJO_ACTIONS=true", attempt: "GITHUB_RUN_ATTEMPT",
			history: actionsHistory, two: actionsTwo, choose: (*commitRange).gitHub,
		},
		// https://docs.gitea.com/usage/actions/comparison
		{
			name: "gitea", title: "Gitea Actions", job: "GITEA_ACTIONS=true", attempt: "GITHUB_RUN_ATTEMPT",
			history: actionsHistory, two: actionsTwo, choose: (*commitRange).gitHub,
		},
		// https://docs.github.com/en/actions/reference/workflows-and-actions/variables
		{
			name: "github", title: "GitHub Actions", job: "GITHUB_ACTIONS=true", attempt: "GITHUB_RUN_ATTEMPT",
			history: actionsHistory, two: actionsTwo, choose: (*commitRange).gitHub,
		},
		// https://docs.gitlab.com/ci/variables/predefined_variables/
		{
			name: "gitlab", title: "GitLab", job: "GITLAB_CI=true", choose: (*commitRange).gitLab,
			history: "GitLab: GIT_DEPTH: 0", two: "GitLab: GIT_DEPTH: 2",
		},
		// https://docs.prow.k8s.io/docs/jobs/#job-environment-variables
		{
			name: "prow", title: "Prow", job: "PULL_BASE_SHA", choose: (*commitRange).prow,
			history: "Prow: without clone_depth",
		},
		// https://woodpecker-ci.org/docs/usage/environment; CI_PREV_COMMIT_SHA may be a pull request's.
		{
			name: "woodpecker", title: "Woodpecker", job: "CI=woodpecker",
			history: "Woodpecker: clone: git: settings: {partial: false, depth: 0}",
			event:   named("CI_PIPELINE_EVENT", "pull_request", "push", "tag"),
			commit:  "CI_COMMIT_SHA", target: "CI_COMMIT_TARGET_BRANCH", defaultBranch: "CI_REPO_DEFAULT_BRANCH",
		},
		// https://docs.drone.io/pipeline/environment/reference/
		{
			name: "drone", title: "Drone", job: "DRONE", history: "Drone: clone: without depth",
			event:  named("DRONE_BUILD_EVENT", "pull_request", "push"),
			commit: "DRONE_COMMIT_SHA", target: "DRONE_TARGET_BRANCH", before: "DRONE_COMMIT_BEFORE",
			defaultBranch: "DRONE_REPO_BRANCH",
		},
		// https://buildkite.com/docs/pipelines/configure/environment-variables
		{
			name: "buildkite", title: "Buildkite", job: "BUILDKITE",
			history: "Buildkite: BUILDKITE_GIT_CLONE_FLAGS and BUILDKITE_GIT_FETCH_FLAGS without --depth",
			event:   numbered("BUILDKITE_MERGE_QUEUE_BASE_BRANCH BUILDKITE_PULL_REQUEST"),
			commit:  "BUILDKITE_COMMIT", defaultBranch: "BUILDKITE_PIPELINE_DEFAULT_BRANCH",
			target: "BUILDKITE_MERGE_QUEUE_BASE_BRANCH BUILDKITE_PULL_REQUEST_BASE_BRANCH",
		},
		// https://circleci.com/docs/reference/variables/ (2026-09-29): only pipeline values have the target branch.
		{
			name: "circleci", title: "CircleCI", job: "CIRCLECI", history: "CircleCI: checkout with method: full",
		},
		// https://learn.microsoft.com/azure/devops/pipelines/build/variables
		{
			name: "azure", title: "Azure Pipelines", job: "TF_BUILD",
			history: "Azure Pipelines: checkout: self with fetchDepth: 0",
			two:     "Azure Pipelines: checkout: self with fetchDepth: 2",
			event:   named("BUILD_REASON", "PullRequest", "IndividualCI", "BatchedCI"),
			commit:  "BUILD_SOURCEVERSION", target: "SYSTEM_PULLREQUEST_TARGETBRANCH",
			source: "SYSTEM_PULLREQUEST_SOURCECOMMITID", attempt: "SYSTEM_JOBATTEMPT",
		},
		// https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/
		{
			name: "bitbucket", title: "Bitbucket Pipelines", job: "BITBUCKET_BUILD_NUMBER",
			history: "Bitbucket: clone: depth: full", event: numbered("BITBUCKET_PR_ID"),
			commit: "BITBUCKET_COMMIT", target: "BITBUCKET_PR_DESTINATION_BRANCH",
		},
		// https://docs.travis-ci.com/user/environment-variables/#default-environment-variables; TRAVIS_COMMIT_RANGE has
		// shortened hashes, which a tag may have as its name, and of a new branch only some of its commits.
		{
			name: "travis", title: "Travis CI", job: "TRAVIS", history: "Travis CI: git: depth: false",
			two:    "Travis CI: git: depth: 2",
			event:  named("TRAVIS_EVENT_TYPE", "pull_request", "push"),
			commit: "TRAVIS_COMMIT", target: "TRAVIS_BRANCH", source: "TRAVIS_PULL_REQUEST_SHA",
		},
		// https://plugins.jenkins.io/gerrit-trigger/
		{
			name: "gerrit", title: "Gerrit Trigger", job: "GERRIT_EVENT_TYPE", history: jenkinsHistory,
			event:  gerritEvent,
			commit: "GERRIT_PATCHSET_REVISION GERRIT_NEWREV", target: "GERRIT_BRANCH", before: "GERRIT_OLDREV",
		},
		// https://www.jenkins.io/doc/book/pipeline/multibranch/#additional-environment-variables; GIT_PREVIOUS_COMMIT
		// is what was built before, whether it passed or not.
		{
			name: "jenkins", title: "Jenkins", job: "JENKINS_URL", history: jenkinsHistory,
			event: numbered("CHANGE_ID"), commit: "GIT_COMMIT", target: "CHANGE_TARGET", fork: "CHANGE_FORK",
		},
		// https://www.jetbrains.com/help/teamcity/pull-requests.html: only build parameters have the target branch.
		{
			name: "teamcity", title: "TeamCity", job: "TEAMCITY_VERSION",
			history: "TeamCity: a VCS root whose checkout policy is Use mirrors",
		},
		// https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html
		{
			name: "codebuild", title: "AWS CodeBuild", job: "CODEBUILD_BUILD_ID",
			history: "CodeBuild: Git clone depth: Full",
			event:   named("CODEBUILD_WEBHOOK_EVENT", "PULL_REQUEST", "PUSH"),
			commit:  "CODEBUILD_RESOLVED_SOURCE_VERSION", target: "CODEBUILD_WEBHOOK_BASE_REF",
			before: "CODEBUILD_WEBHOOK_PREV_COMMIT",
		},
	}
}

const (
	actionsHistory = "actions/checkout: fetch-depth: 0"
	actionsTwo     = "actions/checkout: fetch-depth: 2"
	jenkinsHistory = "Jenkins: clone behaviours without Shallow clone"
)

// currentCI returns the system that runs this job, or nil.
func currentCI(env func(name string) string) *ciSystem {
	for _, ci := range ciSystems() {
		name, value, exact := strings.Cut(ci.job, "=")
		if got := env(name); got != "" && (!exact || got == value) {
			return &ci
		}
	}
	return nil
}

// inThisCI replaces the settings of several CI systems in a message by that of the one which runs this.
func inThisCI(env func(name string) string, message string) string {
	if env != nil {
		if ci := currentCI(env); ci != nil {
			return strings.ReplaceAll(message, repo.InCI, ci.history)
		}
	}
	return message
}

// nameBase is the advice to name the base. The clone of a CI job has no local branch, or an old one.
func nameBase(from, branch string) string {
	return fmt.Sprintf("fetch it in this job and name the remote branch: %s, then --diff-base origin/%s",
		repo.FetchBranchCommand(from, "origin", branch), branch)
}

// fromVariables chooses the commits by the variables of the system. They name branches and commits; what a branch is
// comes from this job's git fetch.
func (c *commitRange) fromVariables(head string) error {
	ci := c.ci
	if ci.event == nil {
		return fmt.Errorf("no variable has the target branch (%s); %s", ci.history, nameBase("origin", "main"))
	}
	value := func(variables string) string { return firstSet(c.env, variables) }
	event := ci.event(c.env)
	if event != pullRequest && event != pushed {
		return fmt.Errorf("a job of %s for the event %q has no base; run it for pull requests or pushes, "+
			"or scan everything, without --diff-base", ci.title, event)
	}
	about, before, branch := ci.commit, "", strings.TrimPrefix(value(ci.target), "refs/heads/")
	if event == pushed {
		before = ci.before
	} else {
		if head == "" && c.mergedBy(value(ci.commit), value(ci.source)) {
			c.strategy, c.base = ci.name+"-merge-commit", "HEAD^1"
			return c.rerun(branch)
		}
		if ci.source != "" {
			about = ci.source
		}
	}
	for _, variables := range []string{about, before} {
		if hash := value(variables); hash != "" && !isHash(hash) || hash == "" && variables == about {
			return fmt.Errorf("%s is %q, not the hash of a commit; set it to the commit that is checked out",
				variables, hash)
		}
	}
	c.required = []string{value(about)}
	if event == pullRequest {
		c.strategy = ci.name + "-pull-request"
		switch fork := value(ci.fork); {
		case branch == "":
			return fmt.Errorf("%s, the variable of the target branch, is empty; %s",
				ci.target, nameBase("origin", "main"))
		case fork != "":
			return fmt.Errorf("origin may be the fork of the change (%s: %q), not the target's repository; %s",
				ci.fork, fork, nameBase("URL", branch))
		}
		return c.compareFetched(branch, "origin", "", "pull request", "target branch")
	}
	c.strategy = ci.name + "-push"
	c.push = &push{remote: "origin", depth: ci.history}
	if c.base = value(before); !isNothing(c.base) {
		return nil
	}
	c.push.isNew = true
	if branch = value(ci.defaultBranch); branch == "" {
		return fmt.Errorf("%s does not name the commit before this push, or the default branch; %s; "+
			"on that branch itself scan everything, without --diff-base", ci.title, nameBase("origin", "main"))
	}
	return c.compareFetched(branch, "origin", "", "push", "default branch")
}

func isHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// fetchFirst is the advice for a target that is not in this clone. A fetch of an earlier job does not count.
const fetchFirst = "fetch it in this job, before the scan"

// compareFetched makes a branch of origin the base, if this job fetched it, from url unless that is "".
func (c *commitRange) compareFetched(branch, from, url, what, which string) error {
	tip, why, err := c.fetched(branch, url)
	if why != "" {
		return missingCommit("a %s is checked with the rules of the %s %s, and %s; %s (%s): %s",
			what, which, branch, why, fetchFirst, c.ci.history, repo.FetchBranchCommand(from, "origin", branch))
	}
	c.base, c.tip = tracking("origin", branch), tip
	return err
}
