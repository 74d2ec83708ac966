package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A ciAgent is a CI system's documented variables, and how its agent makes a clone. {sha} is the head of a pull
// request or a push, {merge} what the host merged of it, {before} and {branch} are a push's.
type ciAgent struct {
	name   string
	setup  string // git commands in a new directory, one on each line
	fetch  string // git commands of each job, in a directory that may have been used before
	manual string // the section of docs/ci.md with a fetch to copy
	pull   string // variables of a job of a pull request
	push   string // variables of a push
	target string // the variable of the target branch
	// history is in the message of a clone that is too shallow.
	history string
	// ready: the agent's clone has the target as this job fetched it.
	ready bool
	// pushed is what a push is compared with: before, default, or what the message says.
	pushed string
}

const (
	initOrigin = "init -q --template=\nremote add origin {url}"
	cloneAll   = "clone -q {url} ."
	noDefault  = "does not name the commit before this push, or the default branch"
)

var ciAgents = []ciAgent{
	{
		name: "azure", setup: initOrigin, history: "fetchDepth: 2", ready: true,
		fetch: "fetch -q --force --tags --prune origin +refs/heads/*:refs/remotes/origin/* " +
			"+refs/pull/1/merge:refs/remotes/pull/1/merge\ncheckout -q --force refs/remotes/pull/1/merge",
		pull: "TF_BUILD=True BUILD_REASON=PullRequest BUILD_SOURCEBRANCH=refs/pull/1/merge BUILD_SOURCEVERSION={merge} " +
			"SYSTEM_PULLREQUEST_TARGETBRANCH=refs/heads/main SYSTEM_PULLREQUEST_SOURCECOMMITID={sha}",
		push: "TF_BUILD=True BUILD_REASON=IndividualCI BUILD_SOURCEBRANCH=refs/heads/{branch} " +
			"BUILD_SOURCEVERSION={sha}",
		pushed: "Azure Pipelines " + noDefault,
	},
	{
		// An agent's own fetch by commit, of a host that makes no merge commit.
		name: "azure", setup: initOrigin, history: "fetchDepth: 0", target: "SYSTEM_PULLREQUEST_TARGETBRANCH",
		fetch: "fetch -q --force origin +{sha}:refs/remotes/origin/{sha}\nfetch -q --force origin +{sha}\n" +
			"checkout -q --force refs/remotes/origin/{sha}",
		pull: "TF_BUILD=True BUILD_REASON=PullRequest BUILD_SOURCEVERSION={sha} " +
			"SYSTEM_PULLREQUEST_TARGETBRANCH=main SYSTEM_PULLREQUEST_SOURCECOMMITID={sha}",
		push:   "TF_BUILD=True BUILD_REASON=Schedule BUILD_SOURCEVERSION={sha}",
		pushed: `a job of Azure Pipelines for the event "Schedule" has no base`,
	},
	{
		name: "jenkins", manual: "Jenkins",
		setup: initOrigin, target: "CHANGE_TARGET", history: "without Shallow clone",
		fetch: "fetch -q --no-tags --force {url} +refs/pull/1/head:refs/remotes/origin/PR-1\ncheckout -q -f {sha}",
		pull: "JENKINS_URL=https://ci.example/ BRANCH_NAME=PR-1 CHANGE_ID=1 CHANGE_TARGET=main CHANGE_BRANCH=work " +
			"GIT_COMMIT={sha} GIT_PREVIOUS_COMMIT={before}",
		push: "JENKINS_URL=https://ci.example/ BRANCH_NAME={branch} GIT_COMMIT={sha} GIT_PREVIOUS_COMMIT={before}",

		pushed: "Jenkins " + noDefault,
	},
	{
		// "Merging the pull request with the current target branch revision": the agent fetches both and merges.
		name: "jenkins", setup: initOrigin, target: "CHANGE_TARGET", history: "without Shallow clone", ready: true,
		fetch: "fetch -q --no-tags --force {url} +refs/pull/1/head:refs/remotes/origin/PR-1 " +
			"+refs/heads/main:refs/remotes/origin/main\ncheckout -q -f {sha}\nmerge -q --no-edit origin/main",
		pull: "JENKINS_URL=https://ci.example/ BRANCH_NAME=PR-1 CHANGE_ID=1 CHANGE_TARGET=main GIT_COMMIT={sha}",
		push: "JENKINS_URL=https://ci.example/ BRANCH_NAME={branch}", pushed: `GIT_COMMIT is "", not the hash of a commit`,
	},
	{
		name: "gerrit", manual: "Gerrit Trigger",
		setup: initOrigin, target: "GERRIT_BRANCH", history: "without Shallow clone",
		fetch: "fetch -q --no-tags --force {url} refs/pull/1/head\ncheckout -q -f {sha}",
		pull: "JENKINS_URL=https://ci.example/ GERRIT_EVENT_TYPE=patchset-created GERRIT_CHANGE_NUMBER=1 " +
			"GERRIT_BRANCH=main GERRIT_PATCHSET_REVISION={sha} GERRIT_REFSPEC=refs/changes/01/1/1",
		push: "JENKINS_URL=https://ci.example/ GERRIT_EVENT_TYPE=ref-updated GERRIT_REFNAME=refs/heads/{branch} " +
			"GERRIT_OLDREV={before} GERRIT_NEWREV={sha}",
		pushed: "before",
	},
	{
		name: "bitbucket", manual: "Bitbucket Pipelines",
		setup: "clone -q --branch work --depth 50 {url} .", history: "clone: depth: full",
		fetch:  "fetch -q origin work\nreset -q --hard {sha}",
		target: "BITBUCKET_PR_DESTINATION_BRANCH",
		pull: "BITBUCKET_BUILD_NUMBER=7 BITBUCKET_PR_ID=1 BITBUCKET_BRANCH=work BITBUCKET_COMMIT={sha} " +
			"BITBUCKET_PR_DESTINATION_BRANCH=main",
		push:   "BITBUCKET_BUILD_NUMBER=7 BITBUCKET_BRANCH={branch} BITBUCKET_COMMIT={sha}",
		pushed: "Bitbucket Pipelines " + noDefault,
	},
	{
		name: "buildkite", manual: "Buildkite",
		setup: cloneAll, target: "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
		history: "BUILDKITE_GIT_CLONE_FLAGS and BUILDKITE_GIT_FETCH_FLAGS without --depth",
		fetch:   "clean -ffxdq\nfetch -q --prune origin refs/pull/1/head\ncheckout -q -f {sha}",
		pull: "BUILDKITE=true BUILDKITE_BRANCH=work BUILDKITE_COMMIT={sha} BUILDKITE_PULL_REQUEST=1 " +
			"BUILDKITE_PULL_REQUEST_BASE_BRANCH=main BUILDKITE_PIPELINE_DEFAULT_BRANCH=main",
		push: "BUILDKITE=true BUILDKITE_BRANCH={branch} BUILDKITE_COMMIT={sha} BUILDKITE_PULL_REQUEST=false " +
			"BUILDKITE_PULL_REQUEST_BASE_BRANCH= BUILDKITE_PIPELINE_DEFAULT_BRANCH=main",
		pushed: "default",
	},
	{
		// A merge queue's entry; BUILDKITE_MERGE_QUEUE_BASE_COMMIT is only a merge base.
		name: "buildkite", setup: cloneAll, history: "Buildkite",
		fetch: "fetch -q --prune origin {sha}\ncheckout -q -f {sha}",
		pull: "BUILDKITE=true BUILDKITE_COMMIT={sha} BUILDKITE_PULL_REQUEST=false BUILDKITE_PIPELINE_DEFAULT_BRANCH=main " +
			"BUILDKITE_MERGE_QUEUE_BASE_BRANCH=main BUILDKITE_MERGE_QUEUE_BASE_COMMIT={before}",
		push: "BUILDKITE=true BUILDKITE_COMMIT=HEAD BUILDKITE_PULL_REQUEST=false",

		pushed: `BUILDKITE_COMMIT is "HEAD", not the hash of a commit`,
	},
	{
		name: "woodpecker", setup: initOrigin, target: "CI_COMMIT_TARGET_BRANCH", history: "partial: false, depth: 0",
		fetch: "fetch -q --no-tags --depth=1 origin +{sha}:\nreset -q --hard {sha}",
		pull: "CI=woodpecker CI_PIPELINE_EVENT=pull_request CI_COMMIT_SHA={sha} CI_COMMIT_BRANCH=main " +
			"CI_COMMIT_TARGET_BRANCH=main CI_REPO_DEFAULT_BRANCH=main CI_PREV_COMMIT_SHA={before}",
		push: "CI=woodpecker CI_PIPELINE_EVENT=push CI_COMMIT_SHA={sha} CI_COMMIT_BRANCH={branch} " +
			"CI_REPO_DEFAULT_BRANCH=main CI_PREV_COMMIT_SHA={sha}",
		pushed: "default",
	},
	{
		// With fetch-target-branch, which is another fetch.
		name: "woodpecker", setup: initOrigin, history: "partial: false, depth: 0", ready: true,
		fetch: "fetch -q --no-tags origin +{sha}:\nreset -q --hard {sha}\nfetch -q origin main",
		pull: "CI=woodpecker CI_PIPELINE_EVENT=pull_request CI_COMMIT_SHA={sha} CI_COMMIT_TARGET_BRANCH=main " +
			"CI_REPO_DEFAULT_BRANCH=main",
		push: "CI=woodpecker CI_PIPELINE_EVENT=cron CI_COMMIT_SHA={sha} CI_REPO_DEFAULT_BRANCH=main",

		pushed: `a job of Woodpecker for the event "cron" has no base`,
	},
	{
		// The agent merges into a local main, which a directory that is used again may have from an earlier job.
		name: "drone", manual: "Drone",
		setup: initOrigin, history: "Drone: clone: without depth",
		fetch: "fetch -q origin +refs/heads/main:\ncheckout -q main\nfetch -q origin refs/pull/1/head:\n" +
			"merge -q --no-edit {sha}",
		pull: "CI=true DRONE=true DRONE_BUILD_EVENT=pull_request DRONE_COMMIT_SHA={sha} DRONE_TARGET_BRANCH=main " +
			"DRONE_COMMIT_BRANCH=main DRONE_REPO_BRANCH=main DRONE_COMMIT_BEFORE={before}",
		push: "CI=true DRONE=true DRONE_BUILD_EVENT=push DRONE_COMMIT_SHA={sha} DRONE_TARGET_BRANCH={branch} " +
			"DRONE_REPO_BRANCH=main DRONE_COMMIT_BEFORE={before}",
		target: "DRONE_TARGET_BRANCH", pushed: "before",
	},
	{
		name: "drone", setup: initOrigin, history: "Drone: clone: without depth", target: "DRONE_TARGET_BRANCH",
		fetch: "fetch -q origin +refs/pull/1/head:\ncheckout -q -f {sha}",
		pull:  "DRONE=true DRONE_BUILD_EVENT=pull_request DRONE_COMMIT_SHA={sha} DRONE_TARGET_BRANCH=main",
		push: "DRONE=true DRONE_BUILD_EVENT=push DRONE_COMMIT_SHA={sha} DRONE_TARGET_BRANCH={branch} " +
			"DRONE_REPO_BRANCH=main DRONE_COMMIT_BEFORE=0000000000000000000000000000000000000000",
		pushed: "default",
	},
	{
		name: "travis", setup: "clone -q --depth=50 --branch=main {url} .", history: "git: depth: 2", ready: true,
		fetch: "fetch -q origin +refs/pull/1/merge:\ncheckout -qf FETCH_HEAD",
		pull: "CI=true TRAVIS=true TRAVIS_EVENT_TYPE=pull_request TRAVIS_BRANCH=main TRAVIS_COMMIT={merge} " +
			"TRAVIS_PULL_REQUEST=1 TRAVIS_PULL_REQUEST_SHA={sha} TRAVIS_COMMIT_RANGE={before}...{sha}",
		push: "CI=true TRAVIS=true TRAVIS_EVENT_TYPE=push TRAVIS_BRANCH={branch} TRAVIS_COMMIT={sha} " +
			"TRAVIS_PULL_REQUEST=false TRAVIS_PULL_REQUEST_SHA= TRAVIS_COMMIT_RANGE={before}...{sha}",
		pushed: "Travis CI " + noDefault,
	},
	{
		// The host's merge is of a later push: HEAD is another commit than TRAVIS_COMMIT.
		name: "travis", setup: "clone -q --depth=50 --branch=main {url} .", history: "git: depth: false",
		fetch: "fetch -q origin +refs/pull/1/head:\ncheckout -qf FETCH_HEAD", target: "TRAVIS_BRANCH",
		pull: "TRAVIS=true TRAVIS_EVENT_TYPE=pull_request TRAVIS_BRANCH=main TRAVIS_COMMIT={merge} " +
			"TRAVIS_PULL_REQUEST=1 TRAVIS_PULL_REQUEST_SHA={sha}",
		push:   "TRAVIS=true TRAVIS_EVENT_TYPE=cron TRAVIS_BRANCH={branch} TRAVIS_COMMIT={sha}",
		pushed: `a job of Travis CI for the event "cron" has no base`,
	},
	{
		name: "codebuild", manual: "AWS CodeBuild",
		setup: cloneAll, target: "CODEBUILD_WEBHOOK_BASE_REF", history: "Git clone depth: Full",
		fetch: "fetch -q origin refs/pull/1/head\ncheckout -q -f {sha}",
		pull: "CODEBUILD_BUILD_ID=p:1 CODEBUILD_WEBHOOK_EVENT=PULL_REQUEST_UPDATED CODEBUILD_SOURCE_VERSION=pr/1 " +
			"CODEBUILD_WEBHOOK_BASE_REF=refs/heads/main CODEBUILD_WEBHOOK_TRIGGER=pr/1 " +
			"CODEBUILD_RESOLVED_SOURCE_VERSION={sha}",
		push: "CODEBUILD_BUILD_ID=p:1 CODEBUILD_WEBHOOK_EVENT=PUSH CODEBUILD_WEBHOOK_PREV_COMMIT={before} " +
			"CODEBUILD_WEBHOOK_TRIGGER=branch/{branch} CODEBUILD_RESOLVED_SOURCE_VERSION={sha}",
		pushed: "before",
	},
	{
		name: "codebuild", setup: cloneAll, target: "CODEBUILD_WEBHOOK_BASE_REF", history: "Git clone depth: Full",
		fetch: "fetch -q origin refs/pull/1/head\ncheckout -q -f {sha}",
		pull: "CODEBUILD_BUILD_ID=p:1 CODEBUILD_WEBHOOK_EVENT=PULL_REQUEST_CREATED " +
			"CODEBUILD_WEBHOOK_BASE_REF=refs/heads/main CODEBUILD_RESOLVED_SOURCE_VERSION={sha}",
		push: "CODEBUILD_BUILD_ID=p:1 CODEBUILD_WEBHOOK_EVENT=PUSH CODEBUILD_RESOLVED_SOURCE_VERSION={sha} " +
			"CODEBUILD_WEBHOOK_PREV_COMMIT=0000000000000000000000000000000000000000",
		pushed: "AWS CodeBuild " + noDefault,
	},
}

// agent runs git commands in a directory, as an agent does.
func (c *ciRepo) agent(dir, commands string, values *strings.Replacer) {
	c.t.Helper()
	for line := range strings.SplitSeq(commands, "\n") {
		c.gitIn(dir, "", strings.Fields(values.Replace(line))...)
	}
}

// clone makes a new directory, as the agent does at first.
func (c *ciRepo) clone(dir, setup string, values *strings.Replacer) {
	c.t.Helper()
	if err := os.Mkdir(filepath.Join(c.dir, dir), 0o777); err != nil {
		c.t.Fatal(err)
	}
	c.agent(dir, setup, values)
}

// manualLine is a line of a section of docs/ci.md that fetches the target, in YAML, Groovy or as it is.
var manualLine = regexp.MustCompile(`(?m)^ *(?:- |sh ')?((?:branch=|git fetch origin ).*?)'?$`)

// copied runs the lines of a section of docs/ci.md that fetch the target, with the variables of a job.
func (c *ciRepo) copied(dir, section string, vars []string) {
	c.t.Helper()
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		c.t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n### "+section+"\n")
	text, _, _ = strings.Cut(text, "\n##")
	script := "set -e\n"
	if _, target, ok := strings.Cut(text, "TARGET: "); ok {
		target, _, _ = strings.Cut(target, "\n")
		script += "TARGET=" + target + "\n"
	}
	lines := manualLine.FindAllStringSubmatch(text, -1)
	if len(lines) == 0 {
		c.t.Fatalf("the section %s has no git fetch", section)
	}
	for _, line := range lines {
		script += line[1] + "\n"
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = filepath.Join(c.dir, dir), append(os.Environ(), vars...)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s\n%s", section, err, script, out)
	}
}

// TestCISystems: what each system's variables and clone lead to. No clone and no variable ends in a PASS with less
// than the change: the branch began before the rule, so whatever is compared with its start passes.
func TestCISystems(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	c.git("checkout", "-q", "--detach", "main")
	c.git("merge", "-q", "--no-ff", "-m", "merge", tip)
	merge := c.git("rev-parse", "HEAD")
	c.git("update-ref", "refs/pull/1/head", tip)
	c.git("update-ref", "refs/pull/1/merge", merge)
	url := "file://" + c.path("")
	values := strings.NewReplacer("{url}", url, "{sha}", tip, "{merge}", merge, "{before}", c.lax)

	for i, a := range ciAgents {
		dir := fmt.Sprint(a.name, i)
		vars := strings.Fields(values.Replace(a.pull))
		byTarget := func() {
			t.Helper()
			c.auto(dir, vars, exitViolation, badAlone, "chosen as "+a.name+"-")
			if v := c.verdict(); v.Scope.BaseCommit != c.tight || v.Scope.Mode != "diff" || v.Policy[0].From != "base" {
				t.Errorf("%s: %+v", dir, v.Scope)
			}
		}
		fetchTarget := func(why, manual string) {
			t.Helper()
			if !a.ready {
				said := c.auto(dir, vars, exitUndecided, undecidedBase, "rules of the target branch main", why, fetchMain)
				if manual == "" {
					c.obey(dir, said)
				} else {
					c.copied(dir, manual, vars)
				}
				c.gitIn(dir, "", "rev-parse", "refs/remotes/origin/main")
			}
		}
		c.clone(dir, a.setup+"\nfetch -q --no-write-fetch-head --update-head-ok origin +{before}:refs/heads/main", values)
		c.agent(dir, a.fetch, values)
		fetchTarget("refs/remotes/origin/main", a.manual)
		if strings.Contains(a.fetch, "--depth=1 ") {
			c.obey(dir, c.auto(dir, vars, exitUndecided, "UNDECIDED E_SHALLOW", a.history))
			c.obey(dir, fetchMain)
		}
		byTarget()

		// The directory again: nothing of an earlier job counts.
		if !a.ready {
			c.agent(dir, "fetch -q origin "+tip, values)
			fetchTarget("may be from an earlier pipeline", "")
			byTarget()
			c.gitIn(dir, "", "update-ref", "refs/remotes/origin/main", c.lax)
			fetchTarget("the last git fetch found it at "+c.tight[:7], "")
			byTarget()
		}
		if a.target != "" {
			empty := append(vars, a.target+"=")
			c.auto(dir, empty, exitUndecided, "UNDECIDED E_USAGE", a.target, "git fetch origin +refs/heads/main:")
		}
		if a.ready && a.name == "azure" {
			c.gitIn(dir, "", "fetch", "-q", "origin", tip)
			c.auto(dir, append(vars, "SYSTEM_JOBATTEMPT=2"), exitViolation, badAlone, "a re-run checks the merge commit")
			c.agent(dir, a.fetch, values)
		}
		// The job checked out the target instead of the change.
		c.gitIn(dir, "", "checkout", "-q", "--detach", c.tight)
		if c.auto(dir, vars, exitUndecided, undecidedBase); a.name != "travis" { // whose clone has no main, either
			c.auto(dir, vars, exitUndecided, undecidedBase, "HEAD does not contain the event's commit")
		}

		shallow := "shallow" + dir
		head := tip
		if a.ready && a.target == "" && strings.Contains(a.pull, "{merge}") {
			head = merge
		}
		c.clone(shallow, initOrigin, values)
		c.gitIn(shallow, "", "fetch", "-q", "--depth", "1", "origin", head, "+refs/heads/main:refs/remotes/origin/main")
		c.gitIn(shallow, "", "checkout", "-q", "--detach", head)
		c.auto(shallow, vars, exitUndecided, "UNDECIDED E_SHALLOW", a.history)
	}
}

// TestCISystemsPush: pushes of a branch and of the default branch.
func TestCISystemsPush(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	c.git("checkout", "-q", "-b", "feature")
	c.put("good.tf", "cidr = \"10.0.0.0/8\"\n")
	before := map[string]string{"feature": c.commit("good"), "main": c.tight}
	after := map[string]string{"feature": c.branch("feature", before["feature"])}
	c.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
	after["main"] = c.commit("harm in main")
	for i, a := range ciAgents {
		for _, branch := range []string{"feature", "main"} {
			dir := fmt.Sprint(a.name, i, branch)
			values := strings.NewReplacer("{url}", "file://"+c.path(""), "{sha}", after[branch], "{branch}", branch,
				"{before}", before[branch])
			vars := strings.Fields(values.Replace(a.push))
			c.clone(dir, initOrigin, values)
			c.agent(dir, "fetch -q origin +refs/heads/{branch}:refs/remotes/origin/{branch}\ncheckout -q {sha}", values)
			switch a.pushed {
			case "before":
				c.auto(dir, vars, exitViolation, badAlone, "chosen as "+a.name+"-push")
				if v := c.verdict(); v.Scope.BaseCommit != before[branch] || v.Scope.Mode != "diff" {
					t.Errorf("%s: %+v", dir, v.Scope)
				}
			case "default":
				saying, note := badAndOld, "all of the head was checked: the push adds no commit to the default branch"
				if branch == "feature" {
					saying, note = badAlone, "chosen as "+a.name+"-push"
					c.obey(dir, c.auto(dir, vars, exitUndecided, undecidedBase, "rules of the default branch main", fetchMain))
				}
				c.auto(dir, vars, exitViolation, saying, note)
			default:
				c.auto(dir, vars, exitUndecided, "UNDECIDED E_USAGE", a.pushed)
			}
		}
	}
}

// TestCISystemsWithoutVariables: what names no base says what to write, and never a local branch.
func TestCISystemsWithoutVariables(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	c.checkout("clone", tip)
	const remote = "--diff-base origin/main"
	for _, row := range []struct{ env, says string }{
		{"CI=true", "unknown CI environment; name the target branch"},
		{"CIRCLECI=true CIRCLE_BRANCH=work CIRCLE_SHA1=" + tip, "no variable has the target branch (CircleCI: checkout"},
		{"TEAMCITY_VERSION=2026.2 BUILD_VCS_NUMBER=" + tip, "no variable has the target branch (TeamCity: a VCS root"},
		{"JENKINS_URL=x CHANGE_ID=1 CHANGE_TARGET=main CHANGE_FORK=somebody GIT_COMMIT=" + tip,
			`(CHANGE_FORK: "somebody"), not the target's repository; fetch it in this job and name the remote branch: ` +
				`git fetch URL +refs/heads/main:refs/remotes/origin/main`},
		{"BUILDKITE=true BUILDKITE_PULL_REQUEST=1 BUILDKITE_COMMIT=main", `BUILDKITE_COMMIT is "main", not the hash`},
		{"DRONE=true DRONE_BUILD_EVENT=push DRONE_COMMIT_BEFORE=main DRONE_COMMIT_SHA=" + tip,
			`DRONE_COMMIT_BEFORE is "main", not the hash`},
	} {
		vars := strings.Fields(row.env)
		out := c.auto("clone", vars, exitUndecided, "UNDECIDED E_USAGE", row.says)
		if asked := strings.Contains(row.env, "=main"); !asked && !strings.Contains(out, remote) {
			t.Errorf("%s: no remote branch in\n%s", row.env, out)
		}
	}
}

// TestCISystemsEvents: Gitea and Forgejo write GitHub's event, and check out the pull request's head.
func TestCISystemsEvents(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	for _, name := range []string{"gitea", "forgejo"} {
		own := []string{"GITEA_ACTIONS=true"}
		if name == "forgejo" { // which sets both
			own = append(own, "FORGEJO_ACTIONS=true")
		}
		env := append(c.event("pull_request", tip, map[string]any{"pull_request": map[string]any{
			"base": map[string]any{"sha": c.lax, "ref": "main"}, "head": map[string]any{"sha": tip},
		}}), own...)
		c.checkout(name, tip)
		c.gitIn(name, "", "branch", "-q", "-f", "main", c.lax)
		c.auto(name, env, exitViolation, badAlone, "chosen as "+name+"-pull-request", "since refs/remotes/origin/main")
		// The job's last fetch did not take the target: the event's base may be older.
		c.gitIn(name, "", "fetch", "-q", "origin", tip)
		c.merged(name, env, exitUndecided, "UNDECIDED E_BEHIND", "may be older than main", fetchMain)
		unnamed := append(c.event("pull_request", tip, map[string]any{"pull_request": map[string]any{
			"head": map[string]any{"sha": tip},
		}}), own...)
		c.auto(name, unnamed, exitUndecided, "UNDECIDED E_USAGE", "names no base and head")
		c.auto(name, append(c.pushes(c.tight, tip, false)["github"], own...), exitViolation, badAlone,
			"chosen as "+name+"-push")
		c.gitIn("", "", "clone", "-q", "--depth", "1", "--branch", "work", "file://"+c.path(""), name+"1")
		c.auto(name+"1", append(c.pushes(c.tight, tip, false)["github"], own...), exitUndecided, undecidedBase,
			"actions/checkout: fetch-depth: 0")
	}
}

// TestCISystemsTagOfAHash: a pusher can name a tag like the commit before the push, which this clone lacks. A full hash
// is never a tag or branch.
func TestCISystemsTagOfAHash(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	harm := c.branch("work", c.lax)
	c.git("checkout", "-q", "work")
	c.put("good.tf", "cidr = \"10.0.0.0/8\"\n")
	tip := c.commit("good")
	c.git("tag", c.tight, harm)
	for i, row := range []string{
		"DRONE=true DRONE_BUILD_EVENT=push DRONE_COMMIT_SHA={sha} DRONE_COMMIT_BEFORE={before}",
		"GITLAB_CI=true CI_PIPELINE_SOURCE=push CI_COMMIT_SHA={sha} CI_COMMIT_BEFORE_SHA={before}",
		"GITLAB_CI=true CI_COMMIT_SHA={sha} CI_MERGE_REQUEST_TARGET_BRANCH_SHA={before}",
	} {
		dir := fmt.Sprint("clone", i)
		c.gitIn("", "", "clone", "-q", "--depth", "2", "--branch", "work", "file://"+c.path(""), dir)
		c.gitIn(dir, "", "rev-parse", "refs/tags/"+c.tight) // it comes along
		vars := strings.Fields(strings.NewReplacer("{sha}", tip, "{before}", c.tight).Replace(row))
		c.auto(dir, vars, exitUndecided, undecidedBase, "git fetch origin "+c.tight)
	}
}
