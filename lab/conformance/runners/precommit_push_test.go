package runners

import (
	"strings"
	"testing"
)

// testPush: the hook policyscan-push judges what a push would change.
func testPush(t *testing.T, p *precommit) {
	w := p.work(t, "policyscan-push")
	w.must(".", "git", "init", "-q", "--bare", "remote.git")
	w.git("remote", "add", "origin", w.path("remote.git"))
	push := func(want bool, says []string, args ...string) string {
		t.Helper()
		out, ok := w.try(w.tree, "git", append([]string{"push", "origin"}, args...)...)
		t.Logf("git push origin %q\n%s", args, out)
		if ok != want {
			t.Errorf("git push origin %q ended well: %v", args, ok)
		}
		for _, text := range says {
			if !strings.Contains(out, text) {
				t.Errorf("git push origin %q does not print %q", args, text)
			}
		}
		if strings.Contains(w.status(), "verdict.json") {
			t.Error("a verdict is left")
		}
		return out
	}
	commit := func(content string) {
		t.Helper()
		w.put("main.tf", content)
		w.git("commit", "-q", "-a", "--no-verify", "-m", "x")
	}

	// The remote has nothing: pre-commit names no commits.
	commit(bad)
	push(false, []string{"main.tf:1:9: ", "all of the head was checked: the remote has nothing of its history"}, "main")
	commit(good)
	push(true, []string{"policyscan (what is pushed)", "Passed"}, "main")
	commit(good + "# one\n")
	push(true, []string{"Passed"}, "main")
	commit(bad)
	push(false, []string{"main.tf:1:9: ", "policy: of the base (", "Failed", "exit code: 1"}, "main")
	// What is in the work tree is not pushed.
	w.put("main.tf", good)
	push(false, []string{"main.tf:1:9: "}, "main")
	w.git("reset", "-q", "--hard", "HEAD~1")

	// A new branch is checked against what the remote has of it.
	w.git("checkout", "-q", "-b", "side")
	commit(good + "# two\n")
	push(true, []string{"Passed"}, "side")
	w.git("checkout", "-q", "-b", "worse")
	commit(bad)
	push(false, []string{"main.tf:1:9: "}, "worse")
	push(false, []string{"main.tf:1:9: "}, "HEAD:refs/heads/another")
	// One that adds nothing, and one that is removed, change nothing.
	if out := push(true, nil, "side:refs/heads/same"); strings.Contains(out, "policyscan") {
		t.Error("it ran")
	}
	if out := push(true, nil, "--delete", "same"); strings.Contains(out, "policyscan") {
		t.Error("it ran")
	}
	// Of several, pre-commit tells about the first alone: docs/pre-commit.md says so.
	w.git("branch", "better", "side")
	w.git("checkout", "-q", "better")
	commit(good + "# three\n")
	push(true, []string{"Passed"}, "better", "worse")

	// Forced: back to what was there before, and to another history.
	w.git("checkout", "-q", "side")
	w.git("reset", "-q", "--hard", "HEAD~1")
	push(true, nil, "--force", "side")
	w.git("checkout", "-q", "--orphan", "new")
	commit(bad)
	push(false, []string{"main.tf:1:9: "}, "--force", "new:main")
	commit(good)
	push(true, []string{"Passed"}, "--force", "new:main")
	// A loosened bundle does not let pass what the remote's forbids.
	w.put(".policyscan/rules/boundaries.yml", strings.Replace(rulesOfOne, "**/*.tf", "*.none", 1))
	commit(bad)
	push(false, []string{"main.tf:1:9: "}, "new:main")
	// A new branch that begins before the rule was there is judged by the default branch's rules, if the clone knows
	// which that is.
	commit(good)
	push(true, []string{"Passed"}, "new:main")
	lax := strings.TrimSpace(w.git("rev-parse", "HEAD"))
	w.git("checkout", "-q", "HEAD~2", "--", ".policyscan")
	commit(good + "# the rule is back\n")
	push(true, []string{"Passed"}, "new:main")
	w.git("remote", "set-head", "origin", "main")
	w.git("checkout", "-q", "-b", "late", lax)
	commit(bad)
	push(false, []string{"main.tf:1:9: ", "refs/remotes/origin/HEAD"}, "late")
}
