package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// checkout fetches into a directory as actions/checkout does with fetch-depth: 0, and checks a commit out.
func (c *ciRepo) checkout(dir, sha string) {
	c.t.Helper()
	c.gitIn("", "", "init", "-q", "--template=", dir)
	if !strings.Contains(c.gitIn(dir, "", "remote"), "origin") {
		c.gitIn(dir, "", "remote", "add", "origin", "file://"+c.path(""))
	}
	c.gitIn(dir, "", "fetch", "-q", "--prune", "--no-recurse-submodules", "origin",
		"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
	c.gitIn(dir, "", "checkout", "-f", "-q", "--detach", sha)
}

// event is the environment of an event of GitHub, whose payload it writes.
func (c *ciRepo) event(name, sha string, payload map[string]any) []string {
	c.t.Helper()
	text, err := json.Marshal(payload)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("event.json", string(text))
	return []string{"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=" + name, "GITHUB_SHA=" + sha,
		"GITHUB_EVENT_PATH=" + filepath.Join(c.dir, "event.json")}
}

// merged is auto with --require-merged.
func (c *ciRepo) merged(dir string, env []string, status int, saying string, texts ...string) {
	c.t.Helper()
	c.auto(dir, append(env, "POLICYSCAN_REQUIRE_MERGED=true"), status, saying, texts...)
}

// TestFault_172_PullRequest: the base in the event is as old as the pull request, whose head is checked out.
func TestFault_172_PullRequest(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	env := c.event("pull_request", c.tight, map[string]any{"pull_request": map[string]any{
		"base": map[string]any{"sha": c.lax, "ref": "main"}, "head": map[string]any{"sha": tip},
	}})
	c.checkout("clone", tip)
	c.auto("clone", env, exitViolation, badAlone, "since refs/remotes/origin/main")
	c.merged("clone", env, exitViolation, badAlone+" E_BEHIND", "the head does not contain 1 commit of the base")

	// The last fetch of the job did not take the target branch: main may be of an earlier job.
	c.gitIn("clone", "", "fetch", "-q", "origin", tip)
	const mayBeOld = "the base of the pull request is the event's, which may be older than main"
	c.auto("clone", env, exitPass, "PASS", mayBeOld, fetchMain)
	c.merged("clone", env, exitUndecided, "UNDECIDED E_BEHIND", mayBeOld)
	c.obey("clone", c.auto("clone", env, exitPass, "PASS"))
	c.auto("clone", env, exitViolation, badAlone)

	// Nor does it count if it does not contain the event's base: the target was rewritten.
	c.checkout("clone", tip)
	odd := c.event("pull_request", c.tight, map[string]any{"pull_request": map[string]any{
		"base": map[string]any{"sha": tip, "ref": "main"}, "head": map[string]any{"sha": tip},
	}})
	c.merged("clone", odd, exitUndecided, "UNDECIDED E_BEHIND E_EMPTY", "origin/main does not contain the event's base")

	// An event without the name of the branch.
	unnamed := c.event("pull_request", c.tight, map[string]any{"pull_request": map[string]any{
		"base": map[string]any{"sha": c.lax}, "head": map[string]any{"sha": tip},
	}})
	c.auto("clone", unnamed, exitPass, "PASS", "the event does not name the target branch")
}

// TestFault_172_Rerun: a second attempt checks the merge commit of the first one, and main has moved on since.
func TestFault_172_Rerun(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	c.git("checkout", "-q", "--detach", c.lax)
	c.git("merge", "-q", "--no-ff", "-m", "merge", tip)
	merge := c.git("rev-parse", "HEAD")
	c.git("branch", "-q", "merged", merge)
	c.git("checkout", "-q", "main")
	env := c.event("pull_request", merge, map[string]any{"pull_request": map[string]any{
		"base": map[string]any{"sha": c.lax, "ref": "main"}, "head": map[string]any{"sha": tip},
	}})
	c.checkout("clone", merge)
	c.merged("clone", env, exitPass, "PASS")
	env = append(env, "GITHUB_RUN_ATTEMPT=2")
	c.auto("clone", env, exitPass, "PASS", "a re-run checks")
	c.merged("clone", env, exitUndecided, "UNDECIDED E_BEHIND", "a re-run checks")
	c.git("reset", "-q", "--hard", c.lax) // it has not moved
	c.checkout("clone", merge)
	c.merged("clone", env, exitPass, "PASS")
}

// TestFault_172_ThirdBranch: lines that another branch brought to the target are not new in a pull request that merged
// the target after it was opened.
func TestFault_172_ThirdBranch(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	c.put("third.tf", "cidr = \"0.0.0.0/0\"\n")
	third := c.commit("third")
	c.git("checkout", "-q", "-B", "work", third)
	c.put("good.tf", "x = 1\n")
	tip := c.commit("good")
	c.git("checkout", "-q", "main")
	env := c.event("pull_request", c.tight, map[string]any{"pull_request": map[string]any{
		"base": map[string]any{"sha": c.tight, "ref": "main"}, "head": map[string]any{"sha": tip},
	}})
	c.checkout("clone", tip)
	c.merged("clone", env, exitPass, "PASS", "1 file changed since refs/remotes/origin/main")
}

// TestFault_172_MergeGroup: the base of a merge queue's entry is an entry that failed.
func TestFault_172_MergeGroup(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	failed := c.branch("gh-readonly-queue/main/pr-1", c.tight) // loosens the policy, and breaks it
	c.git("checkout", "-q", "-B", "gh-readonly-queue/main/pr-2", failed)
	c.put("good.tf", "x = 1\n")
	tip := c.commit("good")
	c.git("checkout", "-q", "main")
	env := c.event("merge_group", tip, map[string]any{"merge_group": map[string]any{
		"base_sha": failed, "base_ref": "refs/heads/main", "head_sha": tip,
	}})
	c.checkout("clone", tip)
	c.merged("clone", env, exitViolation, badAlone, "since refs/remotes/origin/main")
	c.gitIn("clone", "", "fetch", "-q", "origin", tip)
	const mayBeOld = "the base of the merge queue's group is the event's, which may be older than main"
	c.auto("clone", env, exitPass, "PASS", mayBeOld)
	c.merged("clone", env, exitUndecided, "UNDECIDED E_BEHIND", mayBeOld)
}

// TestFault_173_LocalBranch: the local main of a checkout that is used again is older than origin/main.
func TestFault_173_LocalBranch(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	c.checkout("clone", tip)
	c.gitIn("clone", "", "branch", "-q", "main", c.lax)
	for _, base := range []string{"main", "heads/main", "refs/heads/main"} {
		for _, row := range []struct {
			flags  []string
			status int
			saying string
		}{{nil, exitPass, "PASS"}, {[]string{"--require-merged"}, exitUndecided, "UNDECIDED E_BEHIND"}} {
			args := append([]string{"--diff-base", base, "--output", "verdict.json", "clone"}, row.flags...)
			e := c.program.run(args...).want(t, row.status)
			const note = "the local branch main lacks 1 commit of origin/main; " +
				"compare with that: --diff-base origin/main"
			if got := c.saying(); got != row.saying || !strings.Contains(e.out, note) {
				t.Errorf("%s %q: %s\n%s", base, row.flags, got, e.out)
			}
		}
	}
	c.gitIn("clone", "", "branch", "-q", "-f", "main", c.tight)
	if e := c.program.run("--diff-base", "main", "--output", "none", "clone"); strings.Contains(e.out, "local branch") {
		t.Error(e.out)
	}
	// Another history, and a name that is no branch.
	c.gitIn("clone", "", "tag", "lax", c.lax)
	if e := c.program.run("--diff-base", "lax", "--output", "none", "clone"); strings.Contains(e.out, "local branch") {
		t.Error(e.out)
	}
}

// TestPreCommitScopes: under pre-commit, auto means the staged files or, without any, the tracked files.
func TestPreCommitScopes(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	pre := []string{"PRE_COMMIT=1", "CI=true", "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=schedule"}
	mode := func(want string) {
		t.Helper()
		if got := c.verdict().Scope.Mode; got != want {
			t.Errorf("mode %s, want %s", got, want)
		}
	}
	c.auto("repo", pre, exitViolation, "FAIL NET-1@old.tf", "nothing is staged: all tracked files were checked")
	mode("tracked")
	c.put("good.tf", "x = 1\n")
	c.auto("repo", pre, exitViolation, "FAIL NET-1@old.tf")
	c.git("add", "good.tf")
	c.auto("repo", pre, exitPass, "PASS")
	mode("staged")
	c.git("rm", "-q", "--cached", "old.tf")
	c.auto("repo", pre, exitPass, "PASS")
	mode("staged")
	c.auto("repo", append(pre, "PRE_COMMIT_FROM_REF="+c.lax, "PRE_COMMIT_TO_REF="+c.tight), exitPass, "PASS")
	mode("diff")
	c.merged("repo", pre, exitUndecided, "UNDECIDED E_USAGE", "this pre-commit run has no commits to compare")

	// Before the first commit, and without anything.
	c.gitIn("", "", "init", "-q", "new")
	c.auto("new", pre, exitUndecided, "UNDECIDED E_POLICY_MISSING")
}
