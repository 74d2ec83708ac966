package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFault_127_Hooks: a hook checks exactly the files that git is about to commit, however the commit is made,
// compared with git write-tree in the same hook.
func TestFault_127_Hooks(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(h *hookRepo){
		"commit": func(h *hookRepo) {
			h.begin()
			names := h.everything()
			h.git("add", "-A")
			h.distract()
			h.git("add", "-N", "untracked.tf") // not part of a commit
			h.commit(names)
			h.usesIndex("index")
		},
		"commit -a": func(h *hookRepo) {
			h.begin()
			h.decoy("main.tf", "new/added.tf")
			h.git("add", "main.tf", "new")
			h.put("later.tf", "")
			h.git("add", "-N", "later.tf")
			h.judged("main.tf", "new/added.tf", "later.tf")
			h.remove("gone.tf")
			h.decoy("untouched.tf", "untracked.tf", "near/by.tf")
			h.git("update-index", "--assume-unchanged", "untouched.tf")
			h.git("update-index", "--skip-worktree", "near/by.tf")
			h.commit([]string{"main.tf", "new/added.tf", "later.tf"}, "-a")
			h.usesIndex("index.lock")
		},
		"commit PATH": func(h *hookRepo) {
			h.begin()
			h.decoy("main.tf", "new/added.tf", "other.tf")
			h.git("add", "-A")
			h.git("rm", "-q", "--cached", "gone.tf")
			h.judged("main.tf", "new/added.tf")
			h.commit([]string{"main.tf", "new/added.tf"}, "main.tf", "new")
			h.usesIndex("next-index-*.lock")
		},
		"commit --include PATH": func(h *hookRepo) {
			h.begin()
			h.judged("other.tf")
			h.git("add", "other.tf")
			h.judged("main.tf")
			h.decoy("untouched.tf", "other.tf")
			h.commit([]string{"main.tf", "other.tf"}, "--include", "main.tf")
			h.usesIndex("index.lock")
		},
		"commit --amend": func(h *hookRepo) {
			h.begin()
			h.decoy("amended.tf") // checked when it was committed, not again
			h.git("add", "amended.tf")
			h.git("commit", "-q", "--no-verify", "-m", "first")
			names := h.everything()
			h.git("add", "-A")
			h.distract()
			h.commit(names, "--amend")
		},
		"deletions": func(h *hookRepo) {
			h.begin()
			h.git("rm", "-q", "gone.tf", "far/deep/down.tf", "link")
			h.decoy("gone.tf", "main.tf")
			h.commit(nil)
		},
		"commit -p": func(h *hookRepo) {
			h.parts()
			h.put("near/by.tf", h.parted(h.mark, h.lure))
			before := h.head()
			h.check(before, h.tryGit(".", "y\nn\n", "commit", "-q", "-m", "x", "-p"), "near/by.tf")
			h.usesIndex("index.lock")
		},
		"a linked work tree, commit -a": func(h *hookRepo) {
			h.begin()
			h.git("worktree", "add", "-q", "--detach", "../linked")
			h.decoy("main.tf", "other.tf")
			h.git("add", "-A")
			h.work = "linked"
			h.decoy("main.tf")
			h.git("add", "-A")
			h.judged("main.tf")
			h.commit([]string{"main.tf"}, "-a")
			h.usesIndex("index.lock")
		},
		"a separate git directory": func(h *hookRepo) {
			h.work = "separate"
			h.mkdir("separate")
			h.git("init", "-q", "-b", "main", "--template=", "--separate-git-dir", "../elsewhere.git")
			h.begin()
			names := h.everything()
			h.git("add", "-A")
			h.distract()
			h.commit(names)
		},
		"a submodule": func(h *hookRepo) {
			h.begin()
			h.mkdir("outer")
			h.work = "outer"
			h.git("init", "-q", "-b", "main", "--template=")
			h.git("submodule", "--quiet", "add", "file://"+filepath.Join(h.dir, "repo"), "inner")
			h.decoy("main.tf")
			h.git("add", "-A")
			h.work = "outer/inner"
			h.hook()
			names := h.everything()
			h.git("add", "-A")
			h.distract()
			h.commit(names)
		},
		"a subdirectory, commit PATH": func(h *hookRepo) {
			h.begin()
			h.decoy("main.tf", "near/by.tf")
			h.git("add", "-A")
			h.judged("near/by.tf")
			before := h.head()
			h.check(before, h.tryGit("near", "", "commit", "-q", "-m", "x", "by.tf"), "near/by.tf")
			h.usesIndex("next-index-*.lock")
		},
		"GIT_DIR and GIT_WORK_TREE": func(h *hookRepo) {
			h.begin()
			names := h.everything()
			h.git("add", "-A")
			h.distract()
			h.gitEnv = []string{"GIT_DIR=" + filepath.Join(h.dir, "repo/.git"),
				"GIT_WORK_TREE=" + filepath.Join(h.dir, "repo")}
			before := h.head()
			h.check(before, h.tryGit("..", "", "commit", "-q", "-m", "x"), names...)
		},
		"core.worktree": func(h *hookRepo) {
			h.begin()
			h.git("config", "core.worktree", "../../elsewhere")
			h.decoy("main.tf")
			h.mkdir("elsewhere")
			h.gitEnv = []string{"GIT_DIR=" + filepath.Join(h.dir, "repo/.git")}
			h.work = "elsewhere"
			h.git("checkout", "-q", "-f", "HEAD", ".")
			names := h.everything()
			h.git("add", "-A")
			h.distract()
			h.commit(names)
		},
		"GIT_INDEX_FILE": func(h *hookRepo) {
			h.begin()
			h.decoy("main.tf", "other.tf")
			h.git("add", "-A")
			h.gitEnv = []string{"GIT_INDEX_FILE=.git/mine"}
			h.git("read-tree", "HEAD")
			names := append(h.everything(), "other.tf")
			h.judged("other.tf")
			h.git("add", "-A")
			h.distract()
			h.commit(names)
			h.usesIndex("mine")
		},
		"the first commit": func(h *hookRepo) {
			h.hook()
			h.base()
			for _, name := range []string{"untouched.tf", "main.tf", "gone.tf", "kind", "far/away.tf",
				"far/deep/down.tf", "near/by.tf"} {
				h.judged(name)
			}
			h.symlink(h.content("link", h.mark), "link")
			h.git("add", "-A")
			h.distract()
			h.commit([]string{"untouched.tf", "main.tf", "gone.tf", "kind", "far/away.tf", "far/deep/down.tf",
				"near/by.tf", "tool.sh", "from.tf", "link"})
		},
		"a merge, by pre-merge-commit": func(h *hookRepo) {
			h.begin()
			h.git("checkout", "-q", "-b", "side")
			names := h.everything()
			h.git("add", "-A")
			h.git("commit", "-q", "--no-verify", "-m", "side")
			h.git("checkout", "-q", "main")
			h.hookNamed("pre-merge-commit")
			before := h.head()
			h.check(before, h.tryGit(".", "", "merge", "-q", "--no-ff", "--no-edit", "side"), names...)
		},
		"a merge with a conflict": func(h *hookRepo) {
			h.begin()
			h.git("checkout", "-q", "-b", "side")
			h.decoy("main.tf")
			h.judged("side.tf")
			h.git("add", "-A")
			h.git("commit", "-q", "--no-verify", "-m", "side")
			h.git("checkout", "-q", "main")
			h.put("main.tf", "another "+hookMark+"\n")
			h.git("commit", "-q", "--no-verify", "-a", "-m", "main")
			if e := h.tryGit(".", "", "merge", "-q", "--no-ff", "--no-commit", "side"); e.status == 0 {
				h.t.Fatal("there is no conflict")
			}
			h.judged("main.tf")
			h.git("add", "main.tf")
			h.decoy("main.tf")
			h.commit([]string{"main.tf", "side.tf"})
		},
		"a sparse index": func(h *hookRepo) {
			h.begin()
			h.git("sparse-checkout", "set", "--cone", "--sparse-index", "near")
			if exists(filepath.Join(h.dir, "repo/far")) || exists(filepath.Join(h.dir, "repo/.policyscan")) {
				h.t.Fatal("it is not sparse")
			}
			h.judged("main.tf", "near/added.tf")
			h.git("add", "-A")
			h.decoy("main.tf", "untouched.tf", "near/by.tf")
			h.commit([]string{"main.tf", "near/added.tf"})
		},
		"a split index": func(h *hookRepo) {
			h.begin()
			h.git("update-index", "--split-index")
			h.judged("main.tf", "near/added.tf")
			h.git("add", "-A")
			h.git("rm", "-q", "--cached", "gone.tf")
			h.decoy("main.tf", "untouched.tf")
			h.commit([]string{"main.tf", "near/added.tf"})
		},
		"an index of version 4": func(h *hookRepo) {
			h.begin()
			h.git("update-index", "--index-version", "4", "--force-untracked-cache")
			names := h.everything()
			h.git("add", "-A")
			h.git("status")
			h.distract()
			h.commit(names)
		},
		// A commit cannot loosen its own rules, nor hide in the same commit as a stricter bundle.
		"a laxer bundle": func(h *hookRepo) {
			h.begin()
			names := h.everything()
			h.put(".policyscan/rules/boundaries.yml", strings.Replace(hookRule, `["**"]`, `["*.none"]`, 1))
			h.git("add", "-A")
			h.commit(names)
		},
		"a stricter bundle": func(h *hookRepo) {
			h.put(".policyscan/rules/boundaries.yml", strings.Replace(hookRule, `["**"]`, `["*.none"]`, 1))
			h.put(".policyscan/rules/invariants.yml", "rules: []\n")
			h.git("add", "-A")
			h.git("commit", "-q", "-m", "lax")
			h.hook()
			h.put(".policyscan/rules/boundaries.yml", hookRule)
			h.judged("main.tf", "new/added.tf")
			h.git("add", "-A")
			h.put(".policyscan/rules/boundaries.yml", "rules: []\n")
			h.commit([]string{"main.tf", "new/added.tf"})
		},
	} {
		for which, marks := range map[string][2]string{"forbidden": {hookMark, "mend"},
			"harmless": {"mend", hookMark}} {
			if !*long && which == "harmless" {
				continue
			}
			t.Run(name+"/"+which, func(t *testing.T) {
				t.Parallel()
				h := newHookRepo(t)
				h.mark, h.lure = marks[0], marks[1]
				do(h)
			})
		}
	}
}
