package runners

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
)

// manual returns a block of docs/pre-commit.md by its first line, so that what is run here is
// what the page says.
func manual(t *testing.T, first string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/pre-commit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n"+first+"\n")
	if !ok {
		t.Fatalf("docs/pre-commit.md has no block that begins with %q", first)
	}
	rest, _, _ = strings.Cut(rest, "\n```\n")
	return first + "\n" + rest + "\n"
}

// prePush is the manual's hook for a push.
func prePush(t *testing.T) string {
	t.Helper()
	return manual(t, "#!/bin/sh\n# Of each ref that is pushed, git writes a line: its name, its commit, and both of the remote's.")
}

// newWork returns a repository of one commit, with a bundle; the program, which is in its
// PATH; and the directory of the programs of an npm package, if one is named.
func newWork(t *testing.T, spec string) (w *work, program, bin string) {
	t.Helper()
	w = &work{box: newBox(t), tree: "work"}
	if spec != "" {
		bin = filepath.Join(install.NPM(t, spec), ".bin")
	}
	program = w.addProgram()
	w.must(".", "git", "init", "-q", "work")
	w.bundle()
	w.put("main.tf", good)
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "base")
	return w, program, bin
}

// hooksOf runs the ways of a commit and of a push that every tool must get right. inLinked is
// a program that a new linked work tree needs before it has hooks.
func hooksOf(t *testing.T, w *work, inLinked ...string) {
	t.Helper()
	w.put("main.tf", bad)
	w.fails([]string{"main.tf:1:9: ", net1, "FAIL: 1 place"}, "commit", "-a", "-m", "x")
	w.put("main.tf", good+"# more\n")
	w.passes("commit", "-a", "-m", "x")
	// What is staged counts, and what is not stays.
	w.put("main.tf", good+"# staged\n")
	w.git("add", "-A")
	w.put("main.tf", bad)
	w.passes("commit", "-m", "x")
	w.git("add", "-A")
	w.put("main.tf", good+"# mended\n")
	w.fails([]string{"main.tf:1:9: "}, "commit", "-m", "x")
	if got := w.read("work/main.tf"); got != good+"# mended\n" {
		t.Errorf("main.tf is %q", got)
	}
	w.git("reset", "-q", "--hard")
	w.put("other.tf", bad)
	w.git("add", "-A")
	w.put("main.tf", good+"# only this\n")
	w.passes("commit", "-m", "x", "main.tf")
	w.git("rm", "-q", "-f", "other.tf")
	// Deletions can break the policy, too.
	w.git("rm", "-q", "-r", ".policyscan")
	w.fails([]string{"E_POLICY_MISSING"}, "commit", "-m", "x")
	w.git("reset", "-q", "--hard")
	w.git("rm", "-q", "main.tf")
	w.passes("commit", "-m", "x")
	w.git("worktree", "add", "-q", "../linked")
	w.tree = "linked"
	if len(inLinked) > 0 {
		w.must(w.tree, inLinked[0], inLinked[1:]...)
	}
	w.put("new.tf", bad)
	w.git("add", "-A")
	w.fails([]string{"new.tf:1:9: "}, "commit", "-m", "x")
	w.git("reset", "-q", "--hard")
	w.tree = "work"

	w.must(".", "git", "init", "-q", "--bare", "remote.git")
	w.git("remote", "add", "origin", w.path("remote.git"))
	w.git("push", "-q", "--no-verify", "origin", "main")
	push := func(want bool, says string, args ...string) {
		t.Helper()
		out, ok := w.try(w.tree, "git", append([]string{"push", "origin"}, args...)...)
		t.Logf("git push origin %q\n%s", args, out)
		if ok != want || !strings.Contains(out, says) {
			t.Errorf("git push origin %q ended well: %v; want %q", args, ok, says)
		}
	}
	w.put("main.tf", good)
	w.git("add", "-A")
	w.git("commit", "-q", "--no-verify", "-m", "x")
	push(true, "PASS", "main")
	w.git("branch", "fine")
	w.put("main.tf", bad)
	w.git("commit", "-q", "--no-verify", "-a", "-m", "x")
	w.put("main.tf", good)
	push(false, "main.tf:1:9: ", "main")
	push(false, "main.tf:1:9: ", "fine", "main") // of several, each
	push(true, "", "fine")
	push(true, "", "--delete", "fine")
}

// TestLefthook runs the configuration of the manual.
func TestLefthook(t *testing.T) {
	needConformance(t)
	w, _, bin := newWork(t, "lefthook@2.2.2")
	lefthook := filepath.Join(bin, "lefthook")
	w.env = append(w.env, "LEFTHOOK_BIN="+lefthook)
	w.put("lefthook.yml", manual(t, "# lefthook.yml"))
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "lefthook")
	w.must(w.tree, lefthook, "validate")
	w.must(w.tree, lefthook, "install")
	hooksOf(t, w)
}

// TestHusky runs the hooks of the manual.
func TestHusky(t *testing.T) {
	needConformance(t)
	w, program, bin := newWork(t, "husky@9.1.7")
	w.must(w.tree, filepath.Join(bin, "husky"))
	w.put(".husky/pre-commit", "policyscan scan --staged --output none\n")
	w.put(".husky/pre-push", prePush(t))
	w.git("add", "-A")
	w.git("commit", "-q", "--no-verify", "-m", "husky")
	// Its directory is its own.
	out, ok := w.try(w.tree, program, "hook", "install", "git")
	if ok || !strings.Contains(out, "it belongs to husky: add this line to .husky/pre-commit") {
		t.Errorf("installed: %v\n%s", ok, out)
	}
	hooksOf(t, w, filepath.Join(bin, "husky"))
}

// TestLintStaged runs both configurations of the manual, with names that a shell would divide.
func TestLintStaged(t *testing.T) {
	needConformance(t)
	for name, first := range map[string]string{
		"lint-staged.config.mjs": "// lint-staged.config.mjs",
		"package.json":           "{\n  \"lint-staged\": {\"*\": \"policyscan scan --output none --files\"}",
	} {
		w, _, bin := newWork(t, "lint-staged@16.4.0")
		w.put(name, manual(t, first))
		w.put(".git/hooks/pre-commit", "#!/bin/sh\nexec "+filepath.Join(bin, "lint-staged")+"\n")
		if err := os.Chmod(w.path("work/.git/hooks/pre-commit"), 0o755); err != nil {
			t.Fatal(err)
		}
		w.put("a b/$ü.tf", good)
		w.put("c.tf", good)
		w.git("add", "-A")
		w.passes("commit", "-m", "x")
		w.put("a b/$ü.tf", bad)
		w.put("c.tf", good+"#\n")
		w.git("add", "-A")
		w.put("c.tf", bad)
		w.fails([]string{"a b/$ü.tf:1:9: ", net1, "FAIL: 1 place in 1 file"}, "commit", "-m", "x")
		w.git("checkout", "-q", "HEAD", "--", "a b")
		w.passes("commit", "-m", "x")
		// A change of the rules, which is not judged by HEAD's with the names of files.
		w.git("reset", "-q", "--hard")
		w.put("c.tf", bad)
		w.put(".policyscan/rules/boundaries.yml", strings.ReplaceAll(rulesOfOne, "0.0.0.0/0", "::/0"))
		w.git("add", "-A")
		if name == "package.json" {
			w.passes("commit", "-m", "x")
		} else {
			w.fails([]string{"c.tf:1:9: "}, "commit", "-m", "x")
		}
	}
}

// TestGit runs the hooks of the manual that git itself runs.
func TestGit(t *testing.T) {
	needConformance(t)
	w, program, _ := newWork(t, "")
	w.must(w.tree, program, "hook", "install", "git")
	w.put(".git/hooks/pre-push", prePush(t))
	if err := os.Chmod(w.path("work/.git/hooks/pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}
	hooksOf(t, w)
}
