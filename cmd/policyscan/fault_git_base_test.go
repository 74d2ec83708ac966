package main

import (
	"slices"
	"strings"
	"testing"
)

// TestFault_099_PartialClone: an object that a filter left on the server is an error that says so, be it a directory
// or the bundle in use. Objects fetched since are scanned.
func TestFault_099_PartialClone(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put(".policyscan/rules/boundaries.yml", oneRule)
	g.put(".policyscan/rules/invariants.yml", "rules: []\n")
	base, head := g.change()
	g.git("config", "uploadpack.allowFilter", "true")
	g.git("config", "uploadpack.allowAnySHA1InWant", "true")
	clone := func(dir, filter string) {
		g.gitIn("", "", "clone", "-q", "--no-checkout", "--branch", "work", "--filter="+filter, "file://"+g.path(""), dir)
	}
	const hint = "in a partial clone fetch it, or clone without --filter"

	clone("blobless", "blob:none")
	g.judgeIn("blobless", []string{"--diff-base", "origin/main"}, exitUndecided, "UNDECIDED E_OBJECT", hint)
	g.gitIn("blobless", "", "cat-file", "-e", head+":bad.tf") // which fetches it
	g.judgeIn("blobless", []string{"--policy", "policy", "--diff-base", "origin/main"}, exitViolation, "FAIL NET-1@bad.tf")
	// A base bundle that was not fetched is not a missing bundle.
	g.judgeIn("blobless", []string{"--diff-base", "origin/main"}, exitUndecided, "UNDECIDED E_OBJECT", hint)
	g.gitIn("blobless", "", "cat-file", "-e", base+":.policyscan/rules/boundaries.yml")
	g.gitIn("blobless", "", "cat-file", "-e", base+":.policyscan/rules/invariants.yml")
	g.judgeIn("blobless", []string{"--diff-base", "origin/main"}, exitViolation, "FAIL NET-1@bad.tf")

	clone("treeless", "tree:0")
	g.judgeIn("treeless", []string{"--policy", "policy", "--diff-base", "origin/main"}, exitUndecided, "UNDECIDED E_OBJECT", hint)
	g.judgeIn("treeless", []string{"--diff-base", "origin/main"}, exitUndecided, "UNDECIDED E_OBJECT", hint)
}

// TestFault_103_ShallowBaseMissing: a clone of one commit does not hold the base. The
// message has the line that fixes it.
func TestFault_103_ShallowBaseMissing(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	base, _ := g.change()
	g.git("tag", "v1", "main")
	clone := func(dir string, flags ...string) {
		g.gitIn("", "", append(append([]string{"clone", "-q", "--branch", "work"}, flags...), "file://"+g.path(""), dir)...)
	}
	clone("one", "--depth", "1")
	for _, missing := range []string{"main", "origin/main", "v1", "refs/heads/main", base, base[:12], base + "~0"} {
		g.judgeIn("one", []string{"--policy", "policy", "--diff-base", missing}, exitUndecided, "UNDECIDED E_BASE_MISSING", "fetch-depth: 0", "fetch it")
	}
	// HEAD exists, its parents do not.
	for _, beyond := range []string{"HEAD~1", "HEAD^", "origin/work~3"} {
		g.judgeIn("one", []string{"--policy", "policy", "--diff-base", beyond}, exitUndecided, "UNDECIDED E_SHALLOW", "fetch-depth: 0", "git fetch --unshallow")
	}
	g.judgeIn("one", []string{"--policy", "policy", "--diff-base", "HEAD", "--head", "main"}, exitUndecided, "UNDECIDED E_BASE_MISSING", "fetch-depth: 0")
	// Nor does a bundle that is to be taken from there.
	g.judgeIn("one", []string{"--policy-ref", "main", "--diff-base", "HEAD"}, exitUndecided, "UNDECIDED E_BASE_MISSING", "fetch-depth: 0")

	clone("two", "--depth", "2")
	for _, there := range []string{"HEAD~1", base} {
		g.judgeIn("two", []string{"--policy", "policy", "--diff-base", there}, exitViolation, "FAIL NET-1@bad.tf")
	}
	clone("whole")
	g.judgeIn("whole", []string{"--policy", "policy", "--diff-base", "origin/main"}, exitViolation, "FAIL NET-1@bad.tf")
}

// TestFault_105_Unrelated: two histories without a commit in common.
func TestFault_105_Unrelated(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.change()
	g.git("checkout", "-q", "--orphan", "other")
	g.commit("of its own")
	for _, args := range []string{"--diff-base main", "--diff-base main --head other", "--diff-base other --head work", "--diff-base main --allow empty"} {
		g.judge(args, exitUndecided, "UNDECIDED E_NO_MERGE_BASE", "no common history", "name a base that the head grew from")
	}
	// One that joins them has both in common with its parents.
	g.git("merge", "-q", "-s", "ours", "--allow-unrelated-histories", "-m", "joined", "main")
	g.judge("--diff-base main", exitViolation, "FAIL NET-1@bad.tf")
}

// TestFault_106_SeveralMergeBases: after a criss-cross, each file that differs from any merge base is checked once, as
// git counts it.
func TestFault_106_SeveralMergeBases(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	const bad = "cidr = \"0.0.0.0/0\"\n"
	g.put("old.tf", bad)
	g.put("gone.tf", bad)
	g.commit("root")
	g.git("checkout", "-q", "-b", "work")
	g.put("theirs.tf", bad)
	second := g.commit("of work")
	g.git("checkout", "-q", "main")
	g.put("ours.tf", bad)
	first := g.commit("of main")
	g.git("merge", "-q", "--no-edit", second)
	g.git("checkout", "-q", "work")
	g.git("merge", "-q", "--no-edit", first)
	g.put("new.tf", bad)
	g.git("rm", "-q", "gone.tf")
	head := g.commit("head")

	bases := strings.Fields(g.git("merge-base", "--all", "main", "work"))
	slices.Sort(bases)
	if len(bases) != 2 {
		t.Fatalf("git knows of %q", bases)
	}
	var want []string
	for _, base := range bases {
		want = append(want, strings.Fields(g.git("diff-tree", "-r", "--no-renames", "--name-only", "--diff-filter=d", base, head))...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	if !slices.Equal(want, []string{"new.tf", "ours.tf", "theirs.tf"}) {
		t.Fatalf("git knows of %q", want)
	}
	g.judge("--diff-base main", exitViolation, "FAIL NET-1@"+strings.Join(want, " NET-1@"))
	v := g.verdict()
	if c := v.Coverage; c.Files != 3 || c.Scanned != 3 || c.Deleted != 1 {
		t.Errorf("%+v", c)
	}
	if !slices.Equal(v.Scope.MergeBases, bases) || v.Scope.HeadCommit != head {
		t.Errorf("%+v, want the merge bases %q", v.Scope, bases)
	}
}

// TestFault_107_NothingAdded: a head that adds no commit to the base proves nothing; one that adds commits, but no
// file, passes and says so.
func TestFault_107_NothingAdded(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	base, head := g.change()
	const undecided, adds = "UNDECIDED E_EMPTY", "the head adds no commit to "
	g.judge("--diff-base work", exitUndecided, undecided, adds+`"work"`, "--allow empty")
	g.judge("--diff-base HEAD", exitUndecided, undecided, adds+`"HEAD"`)
	g.judge("--diff-base "+head, exitUndecided, undecided, adds)
	g.judge("--diff-base work --head main", exitUndecided, undecided, adds+`"work"`) // an ancestor
	g.judge("--diff-base work --allow lfs-pointer", exitUndecided, undecided)
	for _, args := range []string{"--diff-base work", "--diff-base work --head " + base} {
		g.judge(args+" --allow empty", exitPass, "PASS")
		if v := g.verdict(); len(v.Allowed) != 1 || v.Allowed[0] != "empty" || v.Coverage.Files != 0 {
			t.Errorf("%q, %+v", v.Allowed, v.Coverage)
		}
	}
	g.judge("--diff-base work --allow empty --require-governed", exitUndecided, "UNDECIDED E_NO_GOVERNED")

	g.git("checkout", "-q", "main")
	g.commit("nothing")
	g.judge("--diff-base "+base, exitPass, "PASS", "there was nothing to scan")
	g.git("checkout", "-q", "work")
	g.git("revert", "--no-edit", "HEAD")
	g.judge("--diff-base main~1", exitPass, "PASS", "there was nothing to scan")
	g.judge("--diff-base main~1 --require-governed", exitUndecided, "UNDECIDED E_NO_GOVERNED")
}

// TestFault_109_NoBase: a base that a script left empty, or that would be a flag. An old
// PASS is not what such a run leaves.
func TestFault_109_NoBase(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.change()
	for _, name := range []string{" ", "\n", strings.Repeat("0", 40), strings.Repeat("0", 64), "-x", "--output=x"} {
		for _, args := range [][]string{{"--diff-base=" + name}, {"--diff-base=main", "--head=" + name}} {
			g.judgeIn("repo", append(args, "--policy=policy"), exitUndecided, "UNDECIDED E_REV_SYNTAX", "not a name that policyscan resolves")
		}
		g.judgeIn("repo", []string{"--diff-base=main", "--policy-ref=" + name}, exitUndecided, "UNDECIDED E_REV_SYNTAX", "not a name that policyscan resolves")
	}
	for _, args := range [][]string{
		{"--diff-base="}, {"--diff-base", ""}, {"--diff-base", "-x"}, {"--diff-base", "--quiet"}, {"--diff-base"},
		{"--diff-base=main", "--head="}, {"--diff-base=main", "--policy-ref="},
	} {
		g.run("--policy", "policy", "good").want(t, exitPass)
		g.run(append([]string{"repo", "--policy=policy"}, args...)...).want(t, exitUndecided)
		if got := g.saying(); got != "UNDECIDED E_USAGE" {
			t.Errorf("%q: over an old PASS: %s", args, got)
		}
	}
	if left := g.leftovers(); len(left) != 0 {
		t.Errorf("written: %q", left)
	}
}

func TestFault_099_MissingBlobIsNoReadError(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.change()
	g.git("config", "uploadpack.allowFilter", "true")
	g.gitIn("", "", "clone", "-q", "--no-checkout", "--branch", "work", "--filter=blob:none", "file://"+g.path(""), "blobless")
	g.judgeIn("blobless", []string{"--policy", "policy", "--diff-base", "origin/main"}, exitUndecided, "UNDECIDED E_OBJECT", "in a partial clone fetch it, or clone without --filter")
}
