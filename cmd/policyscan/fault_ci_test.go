package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	c.git("config", "uploadpack.allowAnySHA1InWant", "true") // as on GitHub and GitLab
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
func (c *ciRepo) runner(dir, id, sha string, depth int, refspecs ...string) {
	c.t.Helper()
	ref := "refs/pipelines/" + id
	c.git("update-ref", ref, sha)
	if depth == 0 { // then it fetches all
		refspecs = []string{"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"}
	}
	c.gitIn("", "", "init", "-q", "--template=", dir)
	if !strings.Contains(c.gitIn(dir, "", "remote"), "origin") {
		c.gitIn(dir, "", "remote", "add", "origin", "file://"+c.path(""))
	}
	args := append([]string{"fetch", "origin", "--no-recurse-submodules", "+" + ref + ":" + ref}, refspecs...)
	if depth > 0 {
		args = append(args, "--depth", fmt.Sprint(depth))
	}
	c.gitIn(dir, "", append(args, "--prune", "--quiet")...)
	c.gitIn(dir, "", "checkout", "-f", "-q", sha)
	c.gitIn(dir, "", "clean", "-ffdx", "-q")
}

// auto scans a directory with --diff-base auto in an environment, and returns the output.
func (c *ciRepo) auto(dir string, env []string, status int, saying string, texts ...string) string {
	c.t.Helper()
	p := c.program
	p.env = env
	e := p.run("--diff-base", "auto", "--output", "verdict.json", dir)
	if got := c.saying(); e.status != status || got != saying {
		c.t.Errorf("%q: status %d, %s; want %d, %s\n%s%s", env, e.status, got, status, saying, e.out, e.err)
	}
	for _, text := range texts {
		if !strings.Contains(e.out, text) {
			c.t.Errorf("%q: %q is not in\n%s", env, text, e.out)
		}
	}
	c.verify(dir)
	return e.out
}

// verify makes the run of the last verdict again, outside of CI: it is the same, unless only CI knows the base, or what
// it lacks.
func (c *ciRepo) verify(dir string) {
	c.t.Helper()
	p, v := c.program, c.verdict()
	p.dir = filepath.Join(c.dir, dir)
	e := p.run("verify", filepath.Join(c.dir, "verdict.json"))
	s := &v.Scope
	forced := s.Strategy == "pre-commit" && !slices.Contains(s.MergeBases, s.BaseCommit)
	same := e.status == exitPass || e.status == exitUndecided && (s.Mode != "diff" || !v.Complete || forced)
	if !same || e.err != "" {
		c.t.Errorf("%+v: status %d\n%s%s", *s, e.status, e.out, e.err)
	}
}

// advised is the last git fetch of a message.
var advised = regexp.MustCompile(`git fetch [^;()\[\n]+`)

// obey runs the last git fetch that a message advises, in a directory.
func (c *ciRepo) obey(dir, said string) {
	c.t.Helper()
	all := advised.FindAllString(said, -1)
	if len(all) == 0 {
		c.t.Fatalf("no command in\n%s", said)
	}
	cmd := exec.Command("sh", "-c", all[len(all)-1])
	cmd.Dir = filepath.Join(c.dir, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", all[len(all)-1], err, out)
	}
}

// mergeRequest is the environment of a merge request's pipeline, from a branch that began at a commit.
func mergeRequest(sha, began string, more ...string) []string {
	return append([]string{
		"GITLAB_CI=true", "CI_PIPELINE_SOURCE=merge_request_event", "CI_COMMIT_SHA=" + sha, "CI_PROJECT_ID=1",
		"CI_MERGE_REQUEST_PROJECT_ID=1",
		"CI_MERGE_REQUEST_DIFF_BASE_SHA=" + began, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main",
		"CI_DEFAULT_BRANCH=main",
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
	byTarget := func(dir string) {
		t.Helper()
		c.auto(dir, env, exitViolation, badAlone, "chosen as gitlab-merge-request",
			"policy: of the base ("+c.git("rev-parse", "main")[:7]+") and of the head")
		if v := c.verdict(); v.Scope.Base != "refs/remotes/origin/main" ||
			v.Scope.BaseCommit != c.git("rev-parse", "main") || v.Scope.Mode != "diff" {
			t.Errorf("%+v", v.Scope)
		}
	}

	// Depth 20 and a new directory: it has no target branch.
	c.runner("fresh", "1", tip, 20)
	said := c.auto("fresh", env, exitUndecided, undecidedBase,
		"this clone does not have it (refs/remotes/origin/main)", fetchMain)
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
	said = c.auto("again", env, exitUndecided, undecidedBase,
		"refs/remotes/origin/main may be from an earlier pipeline: the last git fetch did not fetch it", fetchMain)
	head := filepath.Join(c.dir, "again/.git/FETCH_HEAD")
	// A file that is not of git's making.
	writeFile(t, head, c.tight+" main\n")
	c.auto("again", env, exitUndecided, undecidedBase,
		"whether this job has fetched it is unknown (FETCH_HEAD: line 1 is", fetchMain)
	c.obey("again", said)
	byTarget("again")
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
	c.obey("build", c.auto("build", env, exitUndecided, undecidedBase,
		"from a different project than the merge request's",
		"git fetch "+url+" +refs/heads/main:refs/remotes/origin/main"))
	c.auto("build", env, exitViolation, badAlone)
	c.auto("build", mergeRequest(tip, c.lax, "CI_PROJECT_ID=2"), exitUndecided, "UNDECIDED E_USAGE",
		"CI_MERGE_REQUEST_PROJECT_URL is empty")
}

// pushes are the environments of a push from one commit to another.
func (c *ciRepo) pushes(before, after string, forced bool) map[string][]string {
	c.t.Helper()
	event, err := json.Marshal(map[string]any{"before": before, "after": after, "forced": forced,
		"repository": map[string]string{"default_branch": "main"}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("event.json", string(event))
	return map[string][]string{
		"github": {"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=push", "GITHUB_SHA=" + after,
			"GITHUB_EVENT_PATH=" + filepath.Join(c.dir, "event.json")},
		"gitlab": {"GITLAB_CI=true", "CI_PIPELINE_SOURCE=push", "CI_COMMIT_SHA=" + after,
			"CI_COMMIT_BEFORE_SHA=" + before, "CI_DEFAULT_BRANCH=main"},
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
		said := c.auto(system, env, exitUndecided, undecidedBase,
			"the commit before the push, "+c.tight+", is not in this clone",
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
	c.auto("runner", c.pushes(c.tight, tip, false)["gitlab"], exitUndecided, undecidedBase,
		"GIT_DEPTH: 0", "git fetch origin "+c.tight)
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
	unrelated := c.commit("unrelated")
	c.git("checkout", "-q", "main")

	const whole = "all of the head was checked: "
	for _, row := range []struct{ name, after, flagged, mode, saying, note string }{
		{"rewritten", beside, "FAIL NET-1@old.tf", "diff", "FAIL NET-1@old.tf",
			"the push was forced: what differs from " + before[:7]},
		{"from an older policy", old, badAndOld, "diff", badAndOld,
			"the push was forced: what differs from " + before[:7]},
		{"back to an older commit", c.lax, "FAIL NET-1@old.tf", "full", "FAIL NET-1@old.tf",
			whole + "the branch went back to an older commit"},
		{"another history", unrelated, "FAIL NET-1@old.tf", "full", "FAIL NET-1@old.tf",
			whole + "the push was forced, and has no history in common"},
	} {
		c.git("checkout", "-q", "--detach", row.after)
		for _, forced := range []bool{true, false} {
			for system, env := range c.pushes(before, row.after, forced) {
				mode, saying, note := row.mode, row.saying, row.note
				if forced && system == "github" {
					mode, saying, note = "full", row.flagged,
						whole+"the push was forced; the rules of "+before[:7]+" check it too"
				}
				c.auto("repo", env, exitViolation, saying, note,
					"policy: of the base ("+before[:7]+") and of the head ("+row.after[:7]+")")
				v := c.verdict()
				if v.Scope.Mode != mode || v.Policy[0].From != "base" || v.Policy[0].Commit != before ||
					v.Policy[1].From != "head" {
					t.Errorf("%s, %s: %+v, %+v", row.name, system, v.Scope, v.Policy)
				}
				if loosened := row.after != beside; loosened != (len(v.PolicyChanges) > 0) {
					t.Errorf("%s, %s: %+v", row.name, system, v.PolicyChanges)
				}
			}
		}
	}

	// No branch has it any more: a clone of any depth lacks it.
	c.git("checkout", "-q", "main")
	c.git("branch", "-q", "-D", "was")
	c.gitIn("", "", "clone", "-q", "--branch", "now", "file://"+c.path(""), "clone")
	for _, said := range []bool{true, false} {
		for system, env := range c.pushes(before, beside, said) {
			out := c.auto("clone", env, exitUndecided, undecidedBase, "the push was forced",
				"fetch it: git fetch origin "+before)
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
		"PRE_COMMIT_FROM_REF=" + before, "PRE_COMMIT_TO_REF=" + beside, "PRE_COMMIT_LOCAL_BRANCH=refs/heads/now",
		"PRE_COMMIT_REMOTE_BRANCH=refs/heads/now", "PRE_COMMIT_REMOTE_NAME=origin",
	}, exitViolation, "FAIL NET-1@old.tf", "the push was forced: what differs from "+before[:7])
}

// TestFault_149_NewBranch: a push that creates a branch or tag is compared with the default
// branch, if the clone has it.
func TestFault_149_NewBranch(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	zeros := strings.Repeat("0", 40)
	clone := func(dir, at string, flags ...string) {
		c.gitIn("", "", append(append([]string{"clone", "-q", "--no-checkout"}, flags...), "file://"+c.path(""),
			dir)...)
		c.gitIn(dir, "", "fetch", "-q", "origin") // GitLab's rule is about the last fetch
		c.gitIn(dir, "", "checkout", "-q", "--detach", at)
	}
	clone("whole", tip)
	for system, env := range c.pushes(zeros, tip, false) {
		c.auto("whole", env, exitViolation, badAlone, "chosen as "+system+"-push",
			"policy: of the base ("+c.tight[:7]+") and of the head")
		if v := c.verdict(); v.Scope.Mode != "diff" || v.Scope.Base != "refs/remotes/origin/main" ||
			v.Scope.BaseCommit != c.tight {
			t.Errorf("%s: %+v", system, v.Scope)
		}
	}
	pre := []string{"PRE_COMMIT_LOCAL_BRANCH=refs/heads/new", "PRE_COMMIT_REMOTE_BRANCH=refs/heads/new",
		"PRE_COMMIT_REMOTE_NAME=origin"}
	c.auto("whole", append(pre, "PRE_COMMIT_FROM_REF="+c.lax, "PRE_COMMIT_TO_REF="+tip), exitViolation, badAlone,
		"since refs/remotes/origin/HEAD")

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
	// Without the default branch the whole branch is scanned, by its own rules, and the report says so.
	clone("alone", tip, "--single-branch", "--branch", "work")
	pushes := c.pushes(zeros, tip, false)
	for _, system := range []string{"github", "gitlab"} { // GitLab's advice is obeyed, and fetches the default branch
		env := pushes[system]
		said := c.auto("alone", env, exitPass, "PASS", "all of the head was checked: the branch or tag is new",
			"was not compared with the default branch", fetchMain, "2 files of the whole head")
		if system == "github" {
			continue
		}
		c.obey("alone", said)
		c.auto("alone", env, exitViolation, badAlone)
	}
}

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
	c.auto("clone", env, exitPass, "PASS", "a re-run checks the merge commit of the first attempt")
	c.merged("clone", env, exitUndecided, "UNDECIDED E_BEHIND", "a re-run checks the merge commit of the first attempt")
	c.git("reset", "-q", "--hard", c.lax) // it has not moved
	c.checkout("clone", merge)
	c.merged("clone", env, exitPass, "PASS")
}

// TestFault_173_LocalBranch: the local main of a checkout that is used again is older than origin/main.
func TestFault_173_LocalBranch(t *testing.T) {
	t.Parallel()
	c := newCI(t)
	tip := c.branch("work", c.lax)
	c.checkout("clone", tip)
	c.gitIn("clone", "", "branch", "-q", "main", c.lax)
	for _, row := range []struct {
		flags  string
		status int
		saying string
	}{{"--diff-base main", exitPass, "PASS"}, {"--diff-base main --require-merged", exitUndecided,
		"UNDECIDED E_BEHIND"}} {
		e := c.run(append(strings.Fields(row.flags), "--output", "verdict.json", "clone")...).want(t, row.status)
		const note = "the local branch main lacks 1 commit of origin/main; compare with that: --diff-base origin/main"
		if got := c.saying(); got != row.saying || !strings.Contains(e.out, note) {
			t.Errorf("%s: %s\n%s", row.flags, got, e.out)
		}
	}
	c.gitIn("clone", "", "branch", "-q", "-f", "main", c.tight)
	if e := c.program.run("--diff-base", "main", "--output", "none", "clone"); strings.Contains(e.out,
		"local branch") {
		t.Error(e.out)
	}
}
