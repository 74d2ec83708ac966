package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A ciRepo is a repository as on a host, whose policy was tightened on the way, and the directories into which CI
// systems fetch it.
type ciRepo struct {
	*gitRepo
	lax   string // the first commit of main: its bundle forbids nothing that is here
	tight string // the next: with oneRule
}

const laxCI = `rules:
  - id: LAX-1
    title: Nothing of this repository
    enforcement: {mode: fail}
    match: {files: ["**"], forbidden_patterns: ["NEVER SEEN"]}
`

func newCI(t testing.TB) *ciRepo {
	t.Helper()
	needs(t, "sh")
	c := &ciRepo{gitRepo: newGit(t)}
	c.git("config", "uploadpack.allowAnySHA1InWant", "true") // as GitHub and GitLab have it
	c.put(".policyscan/rules/boundaries.yml", laxCI)
	c.put(".policyscan/rules/invariants.yml", "rules: []\n")
	c.put("old.tf", "cidr = \"0.0.0.0/0\"\n") // from before the rule
	c.lax = c.commit("lax")
	c.put(".policyscan/rules/boundaries.yml", oneRule)
	c.tight = c.commit("tight")
	return c
}

// branch makes a branch from a commit, with bad.tf and the lax bundle, and returns its tip.
func (c *ciRepo) branch(name, from string) string {
	c.t.Helper()
	c.git("checkout", "-q", "-B", name, from)
	c.put(".policyscan/rules/boundaries.yml", laxCI)
	c.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
	tip := c.commit("harm in " + name)
	c.git("checkout", "-q", "main")
	return tip
}

// runner fetches a pipeline's commit into a directory, new or used before, as gitlab-runner does.
func (c *ciRepo) runner(folder, id, sha string, depth int, refspecs ...string) {
	c.t.Helper()
	ref := "refs/pipelines/" + id
	c.git("update-ref", ref, sha)
	if depth == 0 { // then it fetches all
		refspecs = []string{"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"}
	}
	c.gitIn("", "", "init", "-q", "--template=", folder)
	if !strings.Contains(c.gitIn(folder, "", "remote"), "origin") {
		c.gitIn(folder, "", "remote", "add", "origin", "file://"+c.path(""))
	}
	args := append([]string{"fetch", "origin", "--no-recurse-submodules", "+" + ref + ":" + ref}, refspecs...)
	if depth > 0 {
		args = append(args, "--depth", fmt.Sprint(depth))
	}
	c.gitIn(folder, "", append(args, "--prune", "--quiet")...)
	c.gitIn(folder, "", "checkout", "-f", "-q", sha)
	c.gitIn(folder, "", "clean", "-ffdx", "-q")
}

// auto scans a directory with --diff-base auto in an environment, and returns the output.
func (c *ciRepo) auto(folder string, env []string, status int, saying string, texts ...string) string {
	c.t.Helper()
	p := c.program
	p.env = env
	e := p.run("--diff-base", "auto", "--output", "verdict.json", folder)
	if got := c.saying(); e.status != status || got != saying {
		c.t.Errorf("%q: status %d, %s; want %d, %s\n%s%s", env, e.status, got, status, saying, e.out, e.err)
	}
	for _, text := range texts {
		if !strings.Contains(e.out, text) {
			c.t.Errorf("%q: %q is not in\n%s", env, text, e.out)
		}
	}
	return e.out
}

// advised is the last git fetch of a message.
var advised = regexp.MustCompile(`git fetch [^;)\[\n]+`)

// obey runs the last git fetch that a message advises, in a directory.
func (c *ciRepo) obey(folder, said string) {
	c.t.Helper()
	all := advised.FindAllString(said, -1)
	if len(all) == 0 {
		c.t.Fatalf("no command in\n%s", said)
	}
	cmd := exec.Command("sh", "-c", all[len(all)-1])
	cmd.Dir = filepath.Join(c.dir, folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", all[len(all)-1], err, out)
	}
}

// mergeRequest is the environment of a merge request's pipeline, from a branch that began at a commit.
func mergeRequest(sha, began string, more ...string) []string {
	return append([]string{
		"GITLAB_CI=true", "CI_PIPELINE_SOURCE=merge_request_event", "CI_COMMIT_SHA=" + sha, "CI_PROJECT_ID=1", "CI_MERGE_REQUEST_PROJECT_ID=1",
		"CI_MERGE_REQUEST_DIFF_BASE_SHA=" + began, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "CI_DEFAULT_BRANCH=main",
		"CI_COMMIT_BEFORE_SHA=" + strings.Repeat("0", 40),
	}, more...)
}

const (
	undecidedBase = "UNDECIDED E_BASE_MISSING"
	badAlone      = "FAIL NET-1@bad.tf"
	badAndOld     = "FAIL NET-1@bad.tf NET-1@old.tf"
	fetchMain     = "git fetch origin +refs/heads/main:refs/remotes/origin/main"
)

// TestFault_148_GitLabOldBase: the author branches from before a rule was tightened. The target's current rules apply,
// or the run is undecided, whatever is in the runner's directory.
func TestFault_148_GitLabOldBase(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	env := mergeRequest(tip, c.lax)
	byTarget := func(folder string) {
		t.Helper()
		c.auto(folder, env, exitViolation, badAlone, "chosen as gitlab-merge-request", "policy: of the base ("+c.git("rev-parse", "main")[:7]+") and of the head")
		if v := c.verdict(); v.Scope.Base != "refs/remotes/origin/main" || v.Scope.BaseCommit != c.git("rev-parse", "main") || v.Scope.Mode != "diff" {
			t.Errorf("%+v", v.Scope)
		}
	}

	// Depth 20 and a new directory: it has no target branch.
	c.runner("fresh", "1", tip, 20)
	said := c.auto("fresh", env, exitUndecided, undecidedBase, "this clone does not have it (refs/remotes/origin/main)", fetchMain)
	c.obey("fresh", said)
	byTarget("fresh")

	// Depth 0: the runner fetches all branches.
	c.runner("whole", "1", tip, 0)
	byTarget("whole")

	// A directory of an earlier pipeline that fetched the target; then main got the rule.
	c.git("branch", "-f", "held", "main")
	c.git("reset", "-q", "--hard", c.lax)
	c.runner("again", "1", tip, 20)
	c.obey("again", fetchMain)
	c.auto("again", env, exitPass, "PASS") // the rules of that day
	c.git("reset", "-q", "--hard", "held")
	c.runner("again", "2", tip, 20)
	said = c.auto("again", env, exitUndecided, undecidedBase, "refs/remotes/origin/main may be from an earlier pipeline: the last git fetch did not fetch it", fetchMain)
	// A fetch that does not store its result.
	c.gitIn("again", "", "fetch", "-q", "--refmap=", "origin", "main")
	c.auto("again", env, exitUndecided, undecidedBase, "the last git fetch found it at "+c.tight[:7]+", but refs/remotes/origin/main is at "+c.lax[:7], fetchMain)
	// Two fetches into one file that do not agree.
	c.gitIn("again", "", "fetch", "-q", "origin", "+refs/heads/main:refs/remotes/origin/main")
	c.gitIn("again", "", "push", "-q", "origin", c.lax+":refs/heads/x/main")
	c.gitIn("again", "", "fetch", "-q", "--append", "--refmap=", "origin", "x/main")
	byTarget("again") // another branch, though its name ends so
	head := filepath.Join(c.dir, "again/.git/FETCH_HEAD")
	writeFile(t, head, c.tight+"\t\tbranch 'main' of u\n"+c.lax+"\tnot-for-merge\tbranch 'main' of v\n")
	c.auto("again", env, exitUndecided, undecidedBase, "the last git fetch found it at "+c.lax[:7])
	// A file that is not of git's making.
	writeFile(t, head, c.tight+" main\n")
	c.auto("again", env, exitUndecided, undecidedBase, "whether this job has fetched it is unknown (FETCH_HEAD: line 1 is", fetchMain)
	c.obey("again", said)
	byTarget("again")

	// A tag of the branch's full name makes nothing ambiguous.
	c.gitIn("again", "", "update-ref", "refs/tags/refs/remotes/origin/main", c.lax)
	byTarget("again")
}

// TestFault_148_GitLabTargetCommit: if GitLab names the target's commit, its bundle applies.
func TestFault_148_GitLabTargetCommit(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	env := mergeRequest(tip, c.lax, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA="+c.tight)
	c.runner("build", "1", tip, 20)
	// Not the remote-tracking branch of another day, though it was fetched.
	c.git("branch", "older", c.lax)
	c.gitIn("build", "", "fetch", "-q", "origin", "+refs/heads/older:refs/remotes/origin/main")
	c.obey("build", c.auto("build", env, exitUndecided, undecidedBase, "the tip of the target branch, "+c.tight+", is not in this clone", "git fetch origin "+c.tight))
	c.auto("build", env, exitViolation, badAlone)
	if v := c.verdict(); v.Scope.BaseCommit != c.tight {
		t.Errorf("%+v", v.Scope)
	}
	c.auto("build", mergeRequest(tip, c.lax, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME="), exitUndecided, "UNDECIDED E_USAGE", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME is empty")
}

// TestFault_148_GitLabFork: in a job of the fork's project, origin is the author's.
func TestFault_148_GitLabFork(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	c.gitIn("", "", "init", "-q", "--bare", "fork")
	c.git("push", "-q", "../fork", tip+":refs/heads/work", c.lax+":refs/heads/main")
	url := "file://" + c.path("")
	env := mergeRequest(tip, c.lax, "CI_PROJECT_ID=2", "CI_MERGE_REQUEST_PROJECT_URL="+url)
	c.gitIn("", "", "clone", "-q", "--branch", "work", "file://"+filepath.Join(c.dir, "fork"), "build")
	c.obey("build", fetchMain)
	c.obey("build", c.auto("build", env, exitUndecided, undecidedBase, "from a different project than the merge request's", "git fetch "+url+" +refs/heads/main:refs/remotes/origin/main"))
	c.auto("build", env, exitViolation, badAlone)
	c.auto("build", mergeRequest(tip, c.lax, "CI_PROJECT_ID=2"), exitUndecided, "UNDECIDED E_USAGE", "CI_MERGE_REQUEST_PROJECT_URL is empty")
}

// TestGitLabShallow: a branch that began beyond the depth is undecided until the history is fetched.
func TestGitLabShallow(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	c.git("checkout", "-q", "work")
	for range 25 {
		tip = c.commit("more")
	}
	c.git("checkout", "-q", "main")
	env := mergeRequest(tip, c.lax)
	c.runner("build", "1", tip, 20)
	c.obey("build", c.auto("build", env, exitUndecided, undecidedBase))
	c.obey("build", c.auto("build", env, exitUndecided, "UNDECIDED E_SHALLOW", "git fetch --unshallow", "GitLab: GIT_DEPTH: 0"))
	c.obey("build", fetchMain) // the history's fetch has overwritten what was said of main, if it was of one branch alone
	c.auto("build", env, exitViolation, badAlone)
}

// pushes are the environments of a push from one commit to another.
func (c *ciRepo) pushes(before, after string, forced bool) map[string][]string {
	c.t.Helper()
	event, err := json.Marshal(map[string]any{"before": before, "after": after, "forced": forced, "repository": map[string]string{"default_branch": "main"}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("event.json", string(event))
	return map[string][]string{
		"github": {"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=push", "GITHUB_SHA=" + after, "GITHUB_EVENT_PATH=" + filepath.Join(c.dir, "event.json")},
		"gitlab": {"GITLAB_CI=true", "CI_PIPELINE_SOURCE=push", "CI_COMMIT_SHA=" + after, "CI_COMMIT_BEFORE_SHA=" + before, "CI_DEFAULT_BRANCH=main"},
	}
}

// TestFault_149_BeforeMissing: a push whose clone lacks the previous commit is undecided, with the setting and the
// command that fix it.
func TestFault_149_BeforeMissing(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	between := c.branch("main2", c.tight)
	tip := c.branch("main2", between)
	depth := map[string]string{"github": "actions/checkout: fetch-depth: 0", "gitlab": "GitLab: GIT_DEPTH: 0"}
	for system, env := range c.pushes(c.tight, tip, false) {
		c.gitIn("", "", "clone", "-q", "--depth", "1", "--branch", "main2", "file://"+c.path(""), system)
		said := c.auto(system, env, exitUndecided, undecidedBase, "the commit before the push, "+c.tight+", is not in this clone",
			depth[system], "git fetch origin "+c.tight)
		c.obey(system, said)
		// It is here now, and cannot be related.
		c.obey(system, c.auto(system, env, exitUndecided, "UNDECIDED E_SHALLOW", "git fetch --unshallow"))
		c.auto(system, env, exitViolation, badAlone, "chosen as "+system+"-push")
		if v := c.verdict(); v.Scope.BaseCommit != c.tight || v.Scope.Mode != "diff" {
			t.Errorf("%+v", v.Scope)
		}
	}
	// A runner's directory of depth 20, and a push of more commits.
	c.git("checkout", "-q", "main2")
	for range 25 {
		tip = c.commit("more")
	}
	c.git("checkout", "-q", "main")
	c.runner("runner", "1", tip, 20, "+refs/heads/main2:refs/remotes/origin/main2")
	c.auto("runner", c.pushes(c.tight, tip, false)["gitlab"], exitUndecided, undecidedBase, "GIT_DEPTH: 0", "git fetch origin "+c.tight)
}

// TestFault_149_Forced: a forced push is checked by the previous bundle, whoever reports the force. Files that it
// brings back are checked, too.
func TestFault_149_Forced(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	c.git("checkout", "-q", "-b", "was")
	c.git("rm", "-q", "old.tf")
	before := c.commit("old.tf is gone")
	c.git("checkout", "-q", "main")
	// From before the removal, with nothing new but a harmless file.
	c.git("checkout", "-q", "-b", "now", c.tight)
	c.put("good.tf", "cidr = \"10.0.0.0/8\"\n")
	beside := c.commit("rewritten")
	// From before the rule, with a bundle that allows everything.
	old := c.branch("older", c.lax)
	c.git("checkout", "-q", "--orphan", "other")
	c.put(".policyscan/rules/boundaries.yml", laxCI)
	unrelated := c.commit("of its own")
	c.git("checkout", "-q", "main")

	const whole = "all of the head was checked: "
	for _, row := range []struct{ name, after, flagged, mode, saying, note string }{
		{"rewritten", beside, "FAIL NET-1@old.tf", "diff", "FAIL NET-1@old.tf", "the push was forced: what differs from " + before[:7]},
		{"from an older policy", old, badAndOld, "diff", badAndOld, "the push was forced: what differs from " + before[:7]},
		{"back to an older commit", c.lax, "FAIL NET-1@old.tf", "full", "FAIL NET-1@old.tf", whole + "the branch went back to an older commit"},
		{"another history", unrelated, "FAIL NET-1@old.tf", "full", "FAIL NET-1@old.tf", whole + "the push was forced, and has no history in common"},
	} {
		c.git("checkout", "-q", "--detach", row.after)
		for _, forced := range []bool{true, false} {
			for system, env := range c.pushes(before, row.after, forced) {
				mode, saying, note := row.mode, row.saying, row.note
				if forced && system == "github" {
					mode, saying, note = "full", row.flagged, whole+"the push was forced; the rules of "+before[:7]+" check it too"
				}
				c.auto("repo", env, exitViolation, saying, note, "policy: of the base ("+before[:7]+") and of the head ("+row.after[:7]+")")
				v := c.verdict()
				if v.Scope.Mode != mode || v.Policy[0].From != "base" || v.Policy[0].Commit != before || v.Policy[1].From != "head" {
					t.Errorf("%s, %s: %+v, %+v", row.name, system, v.Scope, v.Policy)
				}
				if loosened := row.after != beside; loosened != (len(v.PolicyChanges) > 0) {
					t.Errorf("%s, %s: %+v", row.name, system, v.PolicyChanges)
				}
			}
		}
	}
	// Files changed neither by the branch nor by the push are not scanned, unless GitHub reports a forced push.
	c.git("checkout", "-q", "--detach", c.tight)
	c.put("good.tf", "cidr = \"10.0.0.0/16\"\n")
	amended := c.commit("rewritten again")
	for system, env := range c.pushes(beside, amended, true) {
		if system == "github" {
			c.auto("repo", env, exitViolation, "FAIL NET-1@old.tf", whole+"the push was forced")
		} else {
			c.auto("repo", env, exitPass, "PASS", "the push was forced: what differs from "+beside[:7])
		}
	}

	// No branch has it any more: a clone of any depth lacks it.
	c.git("checkout", "-q", "main")
	c.git("branch", "-q", "-D", "was")
	c.gitIn("", "", "clone", "-q", "--branch", "now", "file://"+c.path(""), "clone")
	for _, said := range []bool{true, false} {
		for system, env := range c.pushes(before, beside, said) {
			out := c.auto("clone", env, exitUndecided, undecidedBase, "the push was forced", "fetch it: git fetch origin "+before)
			if strings.Contains(out, "depth") {
				t.Errorf("%s: no depth brings it: %s", system, out)
			}
		}
	}
	c.obey("clone", "git fetch origin "+before)
	for _, env := range c.pushes(before, beside, false) {
		c.auto("clone", env, exitViolation, "FAIL NET-1@old.tf")
	}
	c.git("checkout", "-q", "--detach", beside)
	c.auto("repo", []string{
		"PRE_COMMIT_FROM_REF=" + before, "PRE_COMMIT_TO_REF=" + beside, "PRE_COMMIT_LOCAL_BRANCH=refs/heads/now", "PRE_COMMIT_REMOTE_BRANCH=refs/heads/now", "PRE_COMMIT_REMOTE_NAME=origin",
	}, exitViolation, "FAIL NET-1@old.tf", "the push was forced: what differs from "+before[:7])
}

// TestFault_149_NewBranch: a push that creates a branch or tag is compared with the default
// branch, if the clone has it.
func TestFault_149_NewBranch(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	c.git("tag", "v1", tip)
	zeros := strings.Repeat("0", 40)
	clone := func(folder, at string, flags ...string) {
		c.gitIn("", "", append(append([]string{"clone", "-q", "--no-checkout"}, flags...), "file://"+c.path(""), folder)...)
		c.gitIn(folder, "", "fetch", "-q", "origin") // GitLab's rule is about the last fetch
		c.gitIn(folder, "", "checkout", "-q", "--detach", at)
	}
	clone("whole", tip)
	for system, env := range c.pushes(zeros, tip, false) {
		c.auto("whole", env, exitViolation, badAlone, "chosen as "+system+"-push", "policy: of the base ("+c.tight[:7]+") and of the head")
		if v := c.verdict(); v.Scope.Mode != "diff" || v.Scope.Base != "refs/remotes/origin/main" || v.Scope.BaseCommit != c.tight {
			t.Errorf("%s: %+v", system, v.Scope)
		}
	}
	tag := append(c.pushes(zeros, tip, false)["github"], "GITHUB_REF=refs/tags/v1")
	c.auto("whole", tag, exitViolation, badAlone)
	// An event that does not name the default branch: the clone has noted it.
	c.write("event.json", fmt.Sprintf(`{"before": %q, "after": %q}`, zeros, tip))
	c.auto("whole", tag, exitViolation, badAlone, "since refs/remotes/origin/HEAD")
	pre := []string{"PRE_COMMIT_LOCAL_BRANCH=refs/heads/new", "PRE_COMMIT_REMOTE_BRANCH=refs/heads/new", "PRE_COMMIT_REMOTE_NAME=origin"}
	c.auto("whole", append(pre, "PRE_COMMIT_FROM_REF="+c.lax, "PRE_COMMIT_TO_REF="+tip), exitViolation, badAlone, "since refs/remotes/origin/HEAD")

	// A remote given as a URL has no remote-tracking branches: pre-commit names the base.
	pre[2] = "PRE_COMMIT_REMOTE_NAME=https://git.example/x"
	c.auto("whole", append(pre, "PRE_COMMIT_FROM_REF="+c.lax, "PRE_COMMIT_TO_REF="+tip), exitPass, "PASS", "since "+c.lax)

	// It adds no commit to the default branch: no empty PASS.
	for _, at := range []string{c.tight, c.lax} {
		c.gitIn("whole", "", "checkout", "-q", "--detach", at)
		for system, env := range c.pushes(zeros, at, false) {
			c.auto("whole", env, exitViolation, "FAIL NET-1@old.tf", "adds no commit to the default branch")
			if v := c.verdict(); v.Scope.Mode != "full" || v.Scope.HeadCommit != at {
				t.Errorf("%s: %+v", system, v.Scope)
			}
		}
	}
	// Nothing in common with it.
	c.git("checkout", "-q", "--orphan", "other")
	c.put(".policyscan/rules/boundaries.yml", laxCI)
	other := c.commit("of its own")
	c.git("checkout", "-q", "main")
	c.gitIn("whole", "", "fetch", "-q", "origin")
	c.gitIn("whole", "", "checkout", "-q", "--detach", other)
	for _, env := range c.pushes(zeros, other, false) {
		c.auto("whole", env, exitViolation, "FAIL NET-1@old.tf", "has no history in common with the default branch")
	}

	// Without the default branch the whole branch is scanned, by its own rules, and the report says so.
	clone("alone", tip, "--single-branch", "--branch", "work")
	for system, env := range c.pushes(zeros, tip, false) {
		said := c.auto("alone", env, exitPass, "PASS", "all of the head was checked: the branch or tag is new", "was not compared with the default branch", fetchMain, "2 files of the whole head")
		if system == "github" {
			continue
		}
		c.obey("alone", said)
		c.auto("alone", env, exitViolation, badAlone)
		// One that an earlier pipeline left does not count for GitLab.
		c.gitIn("alone", "", "fetch", "-q", "origin", "work")
		c.auto("alone", env, exitPass, "PASS", "may be from an earlier pipeline", fetchMain)
		c.gitIn("alone", "", "update-ref", "-d", "refs/remotes/origin/main")
	}

	// The default branch itself, pushed for the first time.
	c.gitIn("", "", "clone", "-q", "--single-branch", "--branch", "main", "file://"+c.path(""), "first")
	for _, env := range c.pushes(zeros, c.tight, false) {
		c.auto("first", env, exitViolation, "FAIL NET-1@old.tf", "1 file of the whole head")
	}
}
