package main

import (
	"os"
	"path/filepath"
	"slices"
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
			// the first run only packs, the second removes
			g.git("maintenance", "run", "--task=loose-objects", "--quiet")
			if name := filepath.Base(g.packsOf(".pack")[0]); !strings.HasPrefix(name, "loose-") {
				g.t.Fatalf("git named it %s", name)
			}
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
		}, found, ""},
		{"a pack that the multi-pack index does not have", func(g *gitRepo) {
			g.git("repack", "-q", "-d")
			g.git("multi-pack-index", "write")
			g.git("commit", "-q", "--allow-empty", "-m", "more")
			g.git("repack", "-q", "-d")
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

// TestFault_115_Sparse: files that a sparse checkout omits are read from the head like all others.
func TestFault_115_Sparse(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("kept/main.tf", "x")
	g.change()
	g.put("left/out/bad.tf", "0.0.0.0/0")
	g.put("kept/bad.tf", "0.0.0.0/0")
	g.commit("more")
	g.git("sparse-checkout", "set", "--cone", "--sparse-index", "kept")
	if exists(g.path("left")) || g.git("config", "extensions.worktreeConfig") != "true" {
		t.Fatal("it is not sparse as actions/checkout makes it")
	}
	const found = "FAIL NET-1@bad.tf NET-1@kept/bad.tf NET-1@left/out/bad.tf"
	g.judge("--diff-base main", exitViolation, found)
	g.git("config", "core.repositoryFormatVersion", "1") // with which the extensions count
	g.judge("--diff-base main", exitViolation, found)
}

// TestFault_117_ReplaceAndGrafts: git can be told to take one object for another, or to
// see other parents. Neither is obeyed.
func TestFault_117_ReplaceAndGrafts(t *testing.T) {
	t.Parallel()
	for name, pretend := range map[string]func(g *gitRepo, base, head string){
		"the head": func(g *gitRepo, base, head string) {
			g.git("replace", head, g.git("commit-tree", "-m", "harmless", "-p", base, base+"^{tree}"))
		},
		"the base": func(g *gitRepo, base, head string) {
			g.git("replace", base, g.git("commit-tree", "-m", "had it already", head+"^{tree}"))
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
			if s := g.verdict().Scope; s.BaseCommit != base || s.HeadCommit != head || len(s.MergeBases) != 1 ||
				s.MergeBases[0] != base {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestFault_118_WhichRepository: one whose work tree is elsewhere, and the one that GIT_DIR names.
func TestFault_118_WhichRepository(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.bundle(".policyscan", oneRule, noRules)
	g.change()
	const found, refused = "FAIL NET-1@bad.tf", "UNDECIDED E_REPO_FORMAT"
	own := []string{"--diff-base", "main"}
	diff := append(slices.Clip(own), "--policy", "policy")
	writeFile(t, filepath.Join(g.dir, "elsewhere/bad.tf"), "fixed\n")
	for _, elsewhere := range []string{"../../elsewhere", "/nowhere"} {
		g.git("config", "core.worktree", elsewhere)
		g.judgeIn("repo", own, exitViolation, found)
		g.gitIn("repo/.git", "", "config", "--unset", "core.worktree")
	}
	g.git("config", "core.bare", "true")
	g.judgeIn("repo", diff, exitViolation, found)
	g.git("config", "core.bare", "false")

	g.gitIn("", "", "init", "-q", "-b", "main", "other")
	for _, dir := range []string{"repo/.git", g.path(".git")} {
		g.env = []string{"GIT_DIR=" + dir}
		g.judgeIn("", own, exitViolation, found) // the parent of policy/ counts as the worktree
		g.judgeIn("repo", diff, exitViolation, found)
		g.judgeIn("other", diff, exitUndecided, refused, "GIT_DIR", "; unset GIT_DIR, or omit the path")
		g.judgeIn("good", diff, exitUndecided, refused) // which is in none
	}
	g.env = []string{"GIT_DIR=repo/.git", "GIT_WORK_TREE=repo"}
	g.judgeIn("", append(diff, "--output", "verdict.json"), exitViolation, found, "repo/bad.tf:1:9:")
	for _, none := range []string{"nowhere", "good", "repo"} {
		g.env = []string{"GIT_DIR=" + none}
		g.judgeIn("", own, exitUndecided, refused, "not a git repository")
	}
}

// TestFault_118_PolicyInTheWorkTree: --policy names a directory of the repository, wherever the run starts and
// wherever core.worktree points: the base's bundle applies too.
func TestFault_118_PolicyInTheWorkTree(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.bundle("own", oneRule, noRules)
	g.commit("base")
	g.git("checkout", "-q", "-b", "work")
	g.bundle("own", laxRule, noRules)
	g.put("bad.tf", "0.0.0.0/0")
	g.commit("lax")
	const found = "FAIL NET-1@bad.tf"
	g.judgeIn("repo/.git", []string{"--diff-base", "main", "--policy", "repo/own"}, exitViolation, found)
	elsewhere := mkdir(t, filepath.Join(g.dir, "elsewhere"))
	if err := os.Rename(g.path("own"), filepath.Join(elsewhere, "own")); err != nil {
		t.Fatal(err)
	}
	g.git("config", "core.worktree", elsewhere)
	g.judgeOwn("--diff-base main --policy elsewhere/own", exitViolation, found)
}

// TestFault_099_PartialClone: an object that a filter left on the server is an error that says so, be it a directory
// or the bundle in use. Objects fetched since are scanned.
func TestFault_099_PartialClone(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.bundle(".policyscan", oneRule, noRules)
	base, head := g.change()
	g.git("config", "uploadpack.allowFilter", "true")
	g.git("config", "uploadpack.allowAnySHA1InWant", "true")
	clone := func(dir, filter string) {
		g.gitIn("", "", "clone", "-q", "--no-checkout", "--branch", "work", "--filter="+filter, "file://"+g.path(""),
			dir)
	}
	const hint, lost = "in a partial clone fetch it, or clone without --filter", "UNDECIDED E_OBJECT"

	clone("blobless", "blob:none")
	own, outside := []string{"--diff-base", "origin/main"},
		[]string{"--policy", "policy", "--diff-base", "origin/main"}
	g.judgeIn("blobless", outside, exitUndecided, lost, hint)
	g.gitIn("blobless", "", "cat-file", "-e", head+":bad.tf") // which fetches it
	g.judgeIn("blobless", outside, exitViolation, "FAIL NET-1@bad.tf")
	// A base bundle that was not fetched is not a missing bundle.
	g.judgeIn("blobless", own, exitUndecided, lost, hint)
	g.gitIn("blobless", "", "cat-file", "-e", base+":.policyscan/rules/boundaries.yml")
	g.gitIn("blobless", "", "cat-file", "-e", base+":.policyscan/rules/invariants.yml")
	g.judgeIn("blobless", own, exitViolation, "FAIL NET-1@bad.tf")

	clone("treeless", "tree:0")
	g.judgeIn("treeless", outside, exitUndecided, lost, hint)
	g.judgeIn("treeless", own, exitUndecided, lost, hint)
}

// bundle writes a bundle's two files into a directory of the worktree.
func (g *gitRepo) bundle(dir, boundaries, invariants string) {
	g.t.Helper()
	g.put(dir+"/rules/boundaries.yml", boundaries)
	g.put(dir+"/rules/invariants.yml", invariants)
}

const noRules = "rules: []\n"

// laxRule is a bundle of one rule that nothing breaks.
var laxRule = strings.NewReplacer("NET-1", "LAX-1", "0.0.0.0/0", "never there").Replace(oneRule)
