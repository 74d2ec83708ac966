package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packsOf are the files of the repository's packs whose names end so.
func (g *gitRepo) packsOf(ending string) []string {
	g.t.Helper()
	files, err := filepath.Glob(g.path(".git/objects/pack/*" + ending))
	if err != nil || len(files) == 0 {
		g.t.Fatalf("no pack's %s: %v", ending, err)
	}
	return files
}

// remove removes the files of packs whose names end so.
func (g *gitRepo) remove(ending string) {
	g.t.Helper()
	for _, file := range g.packsOf(ending) {
		if err := os.Remove(file); err != nil {
			g.t.Fatal(err)
		}
	}
}

// TestFault_100_Packs: packs as git's maintenance leaves them are read. A pack without an index has unknown content
// and is never mistaken for empty.
func TestFault_100_Packs(t *testing.T) {
	t.Parallel()
	const found, lost = "FAIL NET-1@bad.tf", "UNDECIDED E_OBJECT"
	for _, c := range []struct {
		layout string
		pack   func(g *gitRepo)
		saying string
		text   string
	}{
		{"one pack", func(g *gitRepo) { g.git("repack", "-q", "-a", "-d") }, found, ""},
		{"loose-*.pack of git maintenance", func(g *gitRepo) {
			g.git("maintenance", "run", "--task=loose-objects", "--quiet")
			g.git("maintenance", "run", "--task=loose-objects", "--quiet") // the first run only packs, the second removes
			if name := filepath.Base(g.packsOf(".pack")[0]); !strings.HasPrefix(name, "loose-") {
				g.t.Fatalf("git named it %s", name)
			}
		}, found, ""},
		{"several packs and a multi-pack index", func(g *gitRepo) {
			g.git("repack", "-q", "-d")
			g.git("commit", "-q", "--allow-empty", "-m", "more")
			g.git("repack", "-q", "-d")
			g.git("multi-pack-index", "write")
			if n := len(g.packsOf(".pack")); n != 2 {
				g.t.Fatalf("%d packs", n)
			}
		}, found, ""},
		{"reverse index, bitmap, commit graph, keep", func(g *gitRepo) {
			g.git("-c", "pack.writeReverseIndex=true", "repack", "-q", "-a", "-d", "-b")
			g.git("commit-graph", "write", "--reachable")
			keep := strings.TrimSuffix(g.packsOf(".pack")[0], ".pack") + ".keep"
			writeFile(g.t, keep, "")
		}, found, ""},
		{"a cruft pack", func(g *gitRepo) {
			g.git("branch", "-f", "elsewhere", "work")
			g.git("commit", "-q", "--amend", "-m", "harm")
			g.git("branch", "-D", "elsewhere")
			g.git("reflog", "expire", "--all", "--expire=all")
			g.git("repack", "-q", "--cruft", "-d")
		}, found, ""},
		{"an object in two packs, and loose", func(g *gitRepo) {
			g.git("repack", "-q", "-a")
			g.git("repack", "-q", "-a", "-f", "--depth=0", "--no-write-bitmap-index")
			for _, pack := range g.packsOf(".pack") {
				again := filepath.Join(filepath.Dir(pack), "again-"+filepath.Base(pack))
				g.copy(pack, again)
				g.copy(strings.TrimSuffix(pack, ".pack")+".idx", strings.TrimSuffix(again, ".pack")+".idx")
			}
		}, found, ""},
		{"a multi-pack index in place of the indexes", func(g *gitRepo) {
			g.git("repack", "-q", "-a", "-d")
			g.git("multi-pack-index", "write")
			g.remove(".idx")
		}, lost, "which has no index; run git repack -a -d"},
		{"a pack without an index", func(g *gitRepo) {
			g.git("repack", "-q", "-a", "-d")
			g.remove(".idx")
		}, lost, "which has no index; run git repack -a -d"},
		{"an index without its pack", func(g *gitRepo) {
			g.git("repack", "-q", "-a", "-d")
			g.remove(".pack")
		}, lost, "the object is not in this clone"},
		{"the index of another pack", func(g *gitRepo) {
			g.git("repack", "-q", "-d")
			g.git("commit", "-q", "--allow-empty", "-m", "more")
			g.git("repack", "-q", "-d")
			idx := g.packsOf(".idx")
			g.remove(idx[0][len(idx[0])-10:])
			g.copy(idx[1], idx[0])
		}, lost, "is not the pack of its index"},
		{"an index of version 1", func(g *gitRepo) {
			g.git("-c", "pack.indexVersion=1", "repack", "-q", "-a", "-d")
		}, lost, "is not a pack index of version 2; run git repack -a -d"},
		{"an empty index", func(g *gitRepo) {
			g.git("repack", "-q", "-a", "-d")
			idx := g.packsOf(".idx")[0]
			g.remove(".idx")
			writeFile(g.t, idx, "")
		}, lost, ""},
	} {
		t.Run(c.layout, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.change()
			c.pack(g)
			status := exitUndecided
			if c.saying == found {
				status = exitViolation
			}
			g.judge("--diff-base main", status, c.saying, c.text)
		})
	}
}

// copy copies a file, which must be new.
func (g *gitRepo) copy(from, to string) {
	g.t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		g.t.Fatal(err)
	}
	writeFile(g.t, to, string(content))
}

// TestFault_113_WorkTrees: the git directory of a worktree may be anywhere. Each worktree has its own HEAD.
func TestFault_113_WorkTrees(t *testing.T) {
	t.Parallel()
	diff := []string{"--policy", "policy", "--diff-base", "main"}
	const found = "FAIL NET-1@bad.tf"
	t.Run("linked", func(t *testing.T) {
		t.Parallel()
		g := newGit(t)
		_, head := g.change()
		g.git("checkout", "-q", "main")
		g.git("worktree", "add", "-q", "../linked", "work")
		g.git("worktree", "add", "-q", "--detach", "../detached", head)
		g.judgeIn("linked", diff, exitViolation, found, "linked/bad.tf:1:9:")
		g.judgeIn("detached", diff, exitViolation, found)
		g.judgeIn("repo", diff, exitUndecided, "UNDECIDED E_EMPTY")
		// By a path from one to the other, as git writes it for worktree.useRelativePaths.
		writeFile(t, filepath.Join(g.dir, "linked/.git"), "gitdir: ../repo/.git/worktrees/linked\n")
		g.judgeIn("linked", diff, exitViolation, found)
		writeFile(t, filepath.Join(g.dir, "linked/deep/er/a.txt"), "")
		g.judgeIn("linked/deep/er", diff, exitViolation, found, "linked/bad.tf:1:9:")
	})
	t.Run("a separate git folder", func(t *testing.T) {
		t.Parallel()
		g := newGit(t)
		g.change()
		g.git("init", "-q", "--separate-git-dir", "../elsewhere.git")
		if st, err := os.Lstat(g.path(".git")); err != nil || !st.Mode().IsRegular() {
			t.Fatalf("%v, %v", st, err)
		}
		g.judgeIn("repo", diff, exitViolation, found)
		g.put("deep/a.txt", "")
		g.judgeIn("repo/deep", diff, exitViolation, found)
	})
	t.Run("a submodule", func(t *testing.T) {
		t.Parallel()
		g := newGit(t)
		g.change()
		g.gitIn("", "", "init", "-q", "-b", "main", "outer")
		g.gitIn("outer", "", "submodule", "--quiet", "add", "-b", "work", "file://"+g.path(""), "inner")
		g.gitIn("outer", "", "commit", "-q", "-m", "a submodule")
		g.judgeIn("outer/inner", []string{"--policy", "policy", "--diff-base", "origin/main"}, exitViolation, found, "outer/inner/bad.tf:1:9:")
		g.judgeIn("outer", diff, exitUndecided, "UNDECIDED E_EMPTY") // another repository
	})
	t.Run("a .git that is a link", func(t *testing.T) {
		t.Parallel()
		g := newGit(t)
		g.change()
		if err := os.Rename(g.path(".git"), filepath.Join(g.dir, "git")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../git", g.path(".git")); err != nil {
			t.Skipf("SKIPPED: no links here: %v", err)
		}
		g.judgeIn("repo", diff, exitViolation, found)
	})
	for name, text := range map[string]string{"nowhere": "gitdir: ../nowhere\n", "empty": "", "of another kind": "git folder: ../x\n", "no path": "gitdir: \n", "no git folder": "gitdir: ../policy\n"} {
		t.Run("a .git file, "+name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.gitIn("", "", "init", "-q") // around it: not the one that is meant
			g.change()
			if err := os.RemoveAll(g.path(".git")); err != nil {
				t.Fatal(err)
			}
			g.put(".git", text)
			g.judgeIn("repo", diff, exitUndecided, "UNDECIDED E_REPO_FORMAT", "not a git repository")
		})
	}
}

// TestFault_115_Sparse: files that a sparse checkout omits are read from the head like all others.
func TestFault_115_Sparse(t *testing.T) {
	t.Parallel()
	for mode, args := range map[string][]string{
		"cone":         {"sparse-checkout", "set", "--cone", "kept"},
		"no cone":      {"sparse-checkout", "set", "--no-cone", "/kept/"},
		"sparse index": {"sparse-checkout", "set", "--cone", "--sparse-index", "kept"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.put("kept/main.tf", "x")
			g.change()
			g.put("left/out/bad.tf", "0.0.0.0/0")
			g.put("kept/bad.tf", "0.0.0.0/0")
			g.commit("more")
			g.git(args...)
			if exists(g.path("left")) || g.git("config", "extensions.worktreeConfig") != "true" {
				t.Fatal("it is not sparse as actions/checkout makes it")
			}
			const found = "FAIL NET-1@bad.tf NET-1@kept/bad.tf NET-1@left/out/bad.tf"
			g.judge("--diff-base main", exitViolation, found)
			g.git("config", "core.repositoryFormatVersion", "1") // with which the extensions count
			g.judge("--diff-base main", exitViolation, found)
			g.git("worktree", "add", "-q", "--detach", "../linked")
			g.judgeIn("linked", []string{"--policy", "policy", "--diff-base", "main"}, exitViolation, found)
		})
	}
}

// TestFault_117_ReplaceAndGrafts: git can be told to take one object for another, or to
// see other parents. Neither is obeyed.
func TestFault_117_ReplaceAndGrafts(t *testing.T) {
	t.Parallel()
	for name, pretend := range map[string]func(g *gitRepo, base, head string){
		"nothing": func(*gitRepo, string, string) {},
		"the blob": func(g *gitRepo, _, _ string) {
			g.git("replace", g.git("rev-parse", "work:bad.tf"), g.git("rev-parse", "main:main.tf"))
		},
		"the tree": func(g *gitRepo, _, _ string) {
			g.git("replace", g.git("rev-parse", "work^{tree}"), g.git("rev-parse", "main^{tree}"))
		},
		"the head": func(g *gitRepo, base, head string) {
			g.git("replace", head, g.git("commit-tree", "-m", "harmless", "-p", base, base+"^{tree}"))
		},
		"the base": func(g *gitRepo, base, head string) {
			g.git("replace", base, g.git("commit-tree", "-m", "had it already", head+"^{tree}"))
		},
		"parents by replacement": func(g *gitRepo, _, head string) { g.git("replace", "--graft", head) },
		"parents by a graft": func(g *gitRepo, _, head string) {
			writeFile(g.t, g.path(".git/info/grafts"), head+"\n")
		},
		"a graft upside down": func(g *gitRepo, base, head string) {
			writeFile(g.t, g.path(".git/info/grafts"), base+" "+head+"\n"+head+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			base, head := g.change()
			pretend(g, base, head)
			g.judge("--diff-base main", exitViolation, "FAIL NET-1@bad.tf")
			if s := g.verdict().Scope; s.BaseCommit != base || s.HeadCommit != head || len(s.MergeBases) != 1 || s.MergeBases[0] != base {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestFault_118_WhichRepository: a bare one, one whose work tree is elsewhere, and the
// one that GIT_DIR names.
func TestFault_118_WhichRepository(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put(".policyscan/rules/boundaries.yml", oneRule)
	g.put(".policyscan/rules/invariants.yml", "rules: []\n")
	g.change()
	const found = "FAIL NET-1@bad.tf"
	diff := []string{"--policy", "policy", "--diff-base", "main"}

	t.Run("bare", func(t *testing.T) {
		g := g.sub(t)
		g.gitIn("", "", "clone", "-q", "--bare", "repo", "bare.git")
		g.gitIn("bare.git", "", "symbolic-ref", "HEAD", "refs/heads/main")
		g.judgeIn("bare.git", append(diff, "--head", "work"), exitViolation, found)
		g.judgeIn("bare.git", []string{"--diff-base", "main", "--head", "work"}, exitViolation, found, "(a bare repository)")
		g.judgeIn("bare.git/refs", append(diff, "--head", "work"), exitViolation, found)
		g.judgeIn("bare.git", diff, exitUndecided, "UNDECIDED E_EMPTY")
		g.gitIn("bare.git", "", "symbolic-ref", "HEAD", "refs/heads/work")
		g.judgeIn("bare.git", diff, exitViolation, found)
		g.judgeIn("bare.git", []string{"--policy", "policy"}, exitUndecided, "UNDECIDED E_USAGE", "--diff-base") // it has no files
	})
	t.Run("core.worktree", func(t *testing.T) {
		g := g.sub(t)
		writeFile(t, filepath.Join(g.dir, "elsewhere/bad.tf"), "fixed\n")
		g.git("worktree", "prune")
		for _, elsewhere := range []string{"../../elsewhere", "/nowhere"} {
			g.git("config", "core.worktree", elsewhere)
			g.judgeIn("repo", diff, exitViolation, found)
			g.judgeIn("repo", []string{"--diff-base", "main"}, exitViolation, found)
			g.gitIn("repo/.git", "", "config", "--unset", "core.worktree")
		}
		g.git("config", "core.bare", "true")
		g.judgeIn("repo", diff, exitViolation, found)
		g.git("config", "core.bare", "false")
	})
	t.Run("GIT_DIR", func(t *testing.T) {
		g := g.sub(t)
		g.gitIn("", "", "init", "-q", "-b", "main", "other")
		g.gitIn("other", "", "commit", "-q", "--allow-empty", "-m", "another")
		own := []string{"--diff-base", "main"} // the parent of policy/ counts as the worktree now
		for _, dir := range []string{"repo/.git", "./repo/.git/", g.path(".git")} {
			g.env = []string{"GIT_DIR=" + dir}
			g.judgeIn("", own, exitViolation, found)
			g.judgeIn("repo", diff, exitViolation, found)
			g.judgeIn("other", diff, exitUndecided, "UNDECIDED E_REPO_FORMAT", "GIT_DIR", "is in another repository or work tree; unset GIT_DIR, or omit the path")
			g.judgeIn("good", diff, exitUndecided, "UNDECIDED E_REPO_FORMAT") // which is in none
		}
		g.env = []string{"GIT_DIR=repo/.git", "GIT_WORK_TREE=repo"}
		g.judgeIn("", append(diff, "--output", "verdict.json"), exitViolation, found, "repo/bad.tf:1:9:")
		in := g.sub(t)
		in.dir = g.path("") // within a repository, which is not the one that is meant
		for _, none := range []string{"nowhere", "good", "repo"} {
			g.env = []string{"GIT_DIR=" + none}
			in.env = []string{"GIT_DIR=" + filepath.Join(g.dir, none)}
			in.judgeIn("", own, exitUndecided, "UNDECIDED E_REPO_FORMAT", "not a git repository")
			g.judgeIn("", own, exitUndecided, "UNDECIDED E_REPO_FORMAT", "not a git repository")
			g.judgeIn("repo", diff, exitUndecided, "UNDECIDED E_REPO_FORMAT", "not a git repository")
		}
	})
}

// A bundle on disk in the git directory of a bare repository, as a hook with GIT_DIR=. sees it.
func TestFault_118_BareGitDir(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.change()
	g.bundle("policy", laxRule, noRules)
	g.commit("a bundle of its own")
	g.gitIn("", "", "clone", "-q", "--bare", "repo", "bare.git")
	writeFile(t, filepath.Join(g.dir, "bare.git/policy/rules/boundaries.yml"), oneRule)
	writeFile(t, filepath.Join(g.dir, "bare.git/policy/rules/invariants.yml"), noRules)
	g.dir = filepath.Join(g.dir, "bare.git")
	g.judgeIn("", []string{"--diff-base", "main", "--head", "work", "--policy", "policy"}, exitViolation, "FAIL NET-1@bad.tf")
	g.env = []string{"GIT_DIR=."}
	g.judgeIn("", []string{"--diff-base", "main", "--head", "work", "--policy", "policy"}, exitViolation, "FAIL NET-1@bad.tf")
}

// --policy names a directory of the repository, wherever the run starts and wherever core.worktree points: the base's
// bundle applies too.
func TestFault_118_PolicyInTheWorkTree(t *testing.T) {
	t.Parallel()
	strict := func(t *testing.T) *gitRepo {
		g := newGit(t)
		g.bundle("own", oneRule, noRules)
		g.commit("base")
		g.git("checkout", "-q", "-b", "work")
		g.bundle("own", laxRule, noRules)
		g.put("bad.tf", "0.0.0.0/0")
		g.commit("lax")
		return g
	}
	t.Run("from .git", func(t *testing.T) {
		g := strict(t)
		g.judgeOwn("--diff-base main --policy repo/own", exitViolation, "FAIL NET-1@bad.tf")
		g.judgeIn("repo/.git", []string{"--diff-base", "main", "--policy", "repo/own"}, exitViolation, "FAIL NET-1@bad.tf")
	})
	t.Run("core.worktree", func(t *testing.T) {
		g := strict(t)
		elsewhere := filepath.Join(g.dir, "elsewhere")
		if err := os.Mkdir(elsewhere, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(g.path("own"), filepath.Join(elsewhere, "own")); err != nil {
			t.Fatal(err)
		}
		g.git("config", "core.worktree", elsewhere)
		g.judgeOwn("--diff-base main --policy elsewhere/own", exitViolation, "FAIL NET-1@bad.tf")
	})
}
