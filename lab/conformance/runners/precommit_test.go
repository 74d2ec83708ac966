package runners

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
)

// A precommit is an installed pre-commit, and a repository of hooks that is this one as it
// is, committed. pre-commit builds the program from it once.
type precommit struct {
	home    string // PRE_COMMIT_HOME
	hooks   string // the repository
	version string
}

// push is what this version calls the stage of a push.
func (p *precommit) push() string {
	if older(p.version, stageNames) {
		return "push"
	}
	return "pre-push"
}

// stageNames is the version in which stages got the names of git's hooks.
const stageNames = "3.2.0"

// newPrecommit installs pre-commit if it is missing.
func newPrecommit(t *testing.T) *precommit {
	t.Helper()
	install.Debian(t, "pre-commit", "pre-commit")
	b := newBox(t)
	version := strings.TrimPrefix(b.must(".", "pre-commit", "--version"), "pre-commit ")
	t.Logf("pre-commit %s", version)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted, and not yet staged as such
		}
		b.write("hooks/"+name, string(text))
	}
	if older(version, stageNames) {
		// What else there is in the file is not newer.
		manifest := []byte(b.read("hooks/.pre-commit-hooks.yaml"))
		manifest = regexp.MustCompile(`(?m)^ *minimum_pre_commit_version: 3\.2\.0\n`).ReplaceAll(manifest, nil)
		manifest = regexp.MustCompile(`(?m)^ *stages: .*$`).ReplaceAllFunc(manifest, func(line []byte) []byte {
			return bytes.ReplaceAll(line, []byte("pre-"), nil)
		})
		b.write("hooks/.pre-commit-hooks.yaml", string(manifest))
	}
	b.must("hooks", "git", "init", "-q")
	b.must("hooks", "git", "add", "-A", "-f")
	b.must("hooks", "git", "commit", "-q", "-m", "as it stands")
	b.must("hooks", "git", "tag", "v0.0.1")
	return &precommit{home: b.path("home"), hooks: b.path("hooks"), version: version}
}

// older compares versions, such as 3.0.4.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	return len(x) < len(y)
}

// box returns an empty box whose pre-commit has the hooks.
func (p *precommit) box(t *testing.T) *box {
	b := newBox(t)
	b.env = append(b.env, "PRE_COMMIT_HOME="+p.home)
	return b
}

// config is a .pre-commit-config.yaml with hooks, each an id with what else is said of it.
func (p *precommit) config(hooks ...string) string {
	text := fmt.Sprintf("repos:\n  - repo: %s\n    rev: v0.0.1\n    hooks:\n", p.hooks)
	for _, h := range hooks {
		text += "      - {id: " + h + "}\n"
	}
	return text
}

// work returns a repository of one commit, with a bundle and with hooks installed.
func (p *precommit) work(t *testing.T, hooks ...string) *work {
	t.Helper()
	w := &work{box: p.box(t), tree: "work"}
	w.must(".", "git", "init", "-q", "work")
	w.bundle()
	w.put("main.tf", good)
	w.put(".pre-commit-config.yaml", p.config(hooks...))
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "base")
	// Built in the hook of a commit -a, for which git names a temporary index, go finds no
	// version: 3.0.4 lets it see that.
	w.must(w.tree, "pre-commit", "install", "--install-hooks", "-t", "pre-commit", "-t", "pre-merge-commit", "-t", "pre-push")
	return w
}

const net1 = "[NET-1]"

// TestPreCommit runs the hooks of .pre-commit-hooks.yaml.
func TestPreCommit(t *testing.T) {
	needConformance(t)
	p := newPrecommit(t)
	t.Run("staged", func(t *testing.T) { testStaged(t, p) })
	t.Run("all", func(t *testing.T) { testAll(t, p) })
	t.Run("validate", func(t *testing.T) { testValidate(t, p) })
	t.Run("push", func(t *testing.T) { testPush(t, p) })
}

// testStaged: the hook policyscan judges what the commit would change, however the
// commit is made. TestFault_127 of cmd/policyscan tries all ways to commit.
func testStaged(t *testing.T, p *precommit) {
	for name, do := range map[string]func(w *work){
		"a commit": func(w *work) {
			w.put("new.tf", good)
			w.git("add", "-A")
			w.passes("commit", "-m", "x")
			w.put("new.tf", bad)
			w.git("add", "-A")
			out := w.fails([]string{
				"policyscan (what is staged)", "Failed", "exit code: 1",
				"new.tf:1:9: ", net1, "new: cidr = \"0.0.0.0/0\"", "policy: of HEAD (", "FAIL: 1 place",
			}, "commit", "-m", "x")
			if strings.ContainsRune(out, '\x1b') {
				w.t.Error("it is coloured for a file")
			}
			w.passes("commit", "-m", "x", "--no-verify") // git's own way out
		},
		"a violation that is mended, but not staged": func(w *work) {
			w.put("main.tf", bad)
			w.git("add", "-A")
			w.put("main.tf", good)
			w.put("untracked.tf", bad)
			out := w.fails([]string{"main.tf:1:9: ", "Stashing unstaged files"}, "commit", "-m", "x")
			if strings.Contains(out, "untracked.tf") {
				w.t.Error("an untracked file was judged")
			}
			if w.read("work/main.tf") != good {
				w.t.Error("the mended file is gone")
			}
		},
		"a part of a file": func(w *work) {
			part := strings.Repeat("# line\n", 20)
			w.put("main.tf", part+good+part+good)
			w.git("add", "-A")
			w.passes("commit", "-m", "x")
			w.put("main.tf", part+bad+part+good+"# and this\n")
			w.git("add", "-A")
			staged := w.must(w.tree, "git", "diff", "--cached")
			w.git("reset", "-q")
			// Of both hunks only the last one is staged, and then only the first.
			hunks := strings.SplitAfter(staged, "\n@@")
			head, first, last := strings.TrimSuffix(hunks[0], "@@"), strings.TrimSuffix(hunks[1], "@@"), hunks[2]
			w.write("last.patch", head+"@@"+last+"\n")
			w.write("first.patch", head+"@@"+first)
			w.git("apply", "--cached", w.path("last.patch"))
			w.passes("commit", "-m", "x")
			w.git("apply", "--cached", w.path("first.patch"))
			w.put("main.tf", good)
			w.fails([]string{"main.tf:21:9: "}, "commit", "-m", "x")
		},
		"the bundle is broken": func(w *work) {
			w.put(".policyscan/rules/boundaries.yml", strings.Replace(rulesOfOne, "title:", "titel:", 1))
			w.git("add", "-A")
			w.fails([]string{"rules/boundaries.yml:3:5: ", `unknown key "titel"`, "exit code: 2"}, "commit", "-m", "x")
		},
		"a merge": func(w *work) {
			w.git("checkout", "-q", "-b", "side")
			w.put("side.tf", bad)
			w.git("add", "-A")
			w.git("commit", "-q", "--no-verify", "-m", "side")
			w.git("checkout", "-q", "main")
			w.put("main.tf", good+"# more\n")
			w.passes("commit", "-a", "-m", "x")
			before := w.head()
			out, ok := w.try(w.tree, "git", "merge", "--no-edit", "side") // by pre-merge-commit
			if ok || !strings.Contains(out, "side.tf:1:9: ") || w.head() != before {
				w.t.Errorf("the merge was made\n%s", out)
			}
			w.fails([]string{"side.tf:1:9: "}, "commit", "-m", "x") // by pre-commit
			w.put("side.tf", good)
			w.git("add", "-A")
			w.passes("commit", "-m", "x")
			if parents := strings.Fields(w.git("log", "-1", "--format=%P")); len(parents) != 2 {
				w.t.Errorf("it is no merge: %q", parents)
			}
		},
		"a linked work tree": func(w *work) {
			w.git("worktree", "add", "-q", "../linked")
			w.put("main.tf", bad)
			w.git("add", "-A")
			w.tree = "linked"
			w.put("main.tf", good+"# more\n")
			w.git("add", "-A")
			w.passes("commit", "-m", "x")
			w.put("main.tf", bad)
			w.fails([]string{"main.tf:1:9: "}, "commit", "-a", "-m", "x")
		},
		"a subdirectory": func(w *work) {
			w.put("deep/new.tf", bad)
			w.git("add", "-A")
			w.fails([]string{"deep/new.tf:1:9: "}, "-C", "deep", "commit", "-m", "x")
		},
		"5,000 files": func(w *work) {
			for i := range 5000 {
				w.put(fmt.Sprintf("many/%d/%d.tf", i%50, i), good)
			}
			w.put("many/7/bad.tf", bad)
			w.git("add", "-A")
			out := w.fails([]string{"many/7/bad.tf:1:9: ", "FAIL: 1 place in 1 file breaks 1 rule, 1 new; 5001 files checked, 5001 covered by a rule"}, "commit", "-q", "-m", "x")
			if n := strings.Count(out, "FAIL:"); n != 1 {
				w.t.Errorf("it ran %d times", n)
			}
		},
	} {
		if !*long && name == "5,000 files" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(p.work(t, "policyscan"))
		})
	}

	t.Run("the first commit", func(t *testing.T) {
		t.Parallel()
		w := &work{box: p.box(t), tree: "work"}
		w.must(".", "git", "init", "-q", "work")
		w.put(".pre-commit-config.yaml", p.config("policyscan"))
		w.must(w.tree, "pre-commit", "install")
		w.bundle()
		w.put("main.tf", bad)
		w.git("add", "-A")
		w.fails([]string{"main.tf:1:9: ", "policy: of the index, which introduces it"}, "commit", "-m", "x")
		w.put("main.tf", good)
		w.git("add", "-A")
		w.passes("commit", "-m", "x")
	})
	t.Run("a submodule", func(t *testing.T) {
		t.Parallel()
		inner := p.work(t, "policyscan")
		w := p.work(t, "policyscan")
		w.git("submodule", "--quiet", "add", "file://"+inner.path("work"), "inner")
		w.fails([]string{"inner: ", "E_UNAVAILABLE", "--allow submodule"}, "commit", "-m", "x")
		w.put(".pre-commit-config.yaml", p.config(`policyscan, args: [--allow, submodule]`))
		w.git("add", "-A")
		w.passes("commit", "-m", "x")
		inner.put("main.tf", good+"# more\n")
		inner.git("commit", "-q", "--no-verify", "-a", "-m", "more")
		w.git("-C", "inner", "pull", "-q")
		w.passes("commit", "-a", "-m", "x")
		w.put(".pre-commit-config.yaml", p.config("policyscan"))
		w.passes("commit", "-a", "-m", "x") // the submodule does not change
	})
	t.Run("the manual", func(t *testing.T) {
		t.Parallel()
		w := p.work(t, "policyscan")
		text := manual(t, "repos:")
		text = strings.Replace(text, "https://github.com/policyscan/policyscan", p.hooks, 1)
		text = strings.Replace(text, "v0.1.0", "v0.0.1", 1)
		w.put(".pre-commit-config.yaml", text)
		w.must(w.tree, "pre-commit", "validate-config")
		w.git("add", "-A")
		w.passes("commit", "-m", "x")
		w.put("main.tf", bad)
		w.fails([]string{"main.tf:1:9: "}, "commit", "-a", "-m", "x")
		// For an older pre-commit, with the program in the PATH.
		w.put(".pre-commit-config.yaml", manual(t, "repos:\n  - repo: local"))
		w.git("add", "-A")
		w.must(w.tree, "pre-commit", "validate-config")
		w.addProgram()
		w.fails([]string{"main.tf:1:9: "}, "commit", "-a", "-m", "x")
	})
	t.Run("policyscan-system", func(t *testing.T) {
		t.Parallel()
		w := p.work(t, "policyscan-system")
		w.put("main.tf", bad)
		w.fails([]string{"Executable `policyscan` not found"}, "commit", "-a", "-m", "x")
		w.addProgram()
		w.fails([]string{"main.tf:1:9: "}, "commit", "-a", "-m", "x")
		w.put("main.tf", good+"# more\n")
		w.passes("commit", "-a", "-m", "x")
	})
}

// testAll: in CI nothing is staged, and the hooks check all tracked files.
func testAll(t *testing.T, p *precommit) {
	w := p.work(t, "policyscan", "policyscan-all")
	run := func(want bool, says []string, args ...string) {
		t.Helper()
		out, ok := w.try(w.tree, "pre-commit", append([]string{"run"}, args...)...)
		t.Logf("pre-commit run %q\n%s", args, out)
		if ok != want {
			t.Errorf("pre-commit run %q ended well: %v", args, ok)
		}
		for _, text := range says {
			if !strings.Contains(out, text) {
				t.Errorf("pre-commit run %q does not print %q", args, text)
			}
		}
		if strings.Contains(w.status(), "verdict.json") {
			t.Error("a verdict is left")
		}
	}
	run(true, []string{"policyscan (what is staged)", "policyscan (all tracked files)"}, "--all-files")
	w.put("main.tf", bad)
	w.git("commit", "-q", "--no-verify", "-a", "-m", "x")
	run(false, []string{"main.tf:1:9: ", "note: nothing is staged: all tracked files were checked"}, "policyscan", "--all-files")
	run(false, []string{"main.tf:1:9: ", "FAIL: 1 place"}, "--all-files")
	run(false, []string{"main.tf:1:9: "}, "--all-files", "--hook-stage", "manual")
	// A change from one commit to another, as in a pull request's job.
	w.put(".pre-commit-config.yaml", p.config("policyscan-push"))
	w.git("commit", "-q", "--no-verify", "-a", "-m", "y")
	run(false, []string{"main.tf:1:9: "}, "--hook-stage", p.push(), "--from-ref", "HEAD~2", "--to-ref", "HEAD")
	run(true, nil, "--hook-stage", p.push(), "--from-ref", "HEAD~1", "--to-ref", "HEAD")
	run(false, []string{"main.tf:1:9: ", "note: nothing is staged: all tracked files were checked"}, "--hook-stage", p.push(), "--all-files")
}

// testValidate: a rule file that changes is checked, and no other file.
func testValidate(t *testing.T, p *precommit) {
	w := p.work(t, "policyscan-validate")
	w.put("main.tf", bad)
	if out := w.passes("commit", "-a", "-m", "x"); !strings.Contains(out, "(no files to check)Skipped") {
		t.Error("it ran")
	}
	w.put(".policyscan/rules/invariants.yml", "rules:\n")
	w.fails([]string{".policyscan/rules/invariants.yml:1:"}, "commit", "-a", "-m", "x")
	w.put(".policyscan/rules/invariants.yml", "rules: [] # none yet\n")
	if out := w.passes("commit", "-a", "-m", "x"); strings.Contains(out, "Skipped") {
		t.Error("it did not run")
	}
}

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
