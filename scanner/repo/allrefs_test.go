package repo

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// refLines are refs as git for-each-ref prints them.
func refLines(t testing.TB, r *Repository) string {
	t.Helper()
	all, err := r.Refs()
	must(t, err)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s %s\n", all[name], name)
	}
	return strings.TrimSpace(text.String())
}

// TestRefs: all refs in files are those of git for-each-ref: loose and packed, symbolic, of work trees.
func TestRefs(t *testing.T) { inFormats(t, testAllRefs) }

func testAllRefs(t *testing.T) {
	g := newGit(t)
	if got := refLines(t, g.open()); got != "" {
		t.Errorf("before the first commit: %q", got)
	}
	one := g.commit("one")
	g.git("tag", "-a", "-m", "v", "v1")
	g.git("tag", "tree", "HEAD^{tree}")
	for i := range 50 {
		g.git("update-ref", fmt.Sprintf("refs/notes/%d/a", i), one)
	}
	g.git("pack-refs", "--all")
	g.commit("two")
	g.git("update-ref", "refs/notes/7/a", "HEAD")
	g.git("update-ref", "-d", "refs/notes/8/a")
	g.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main")
	g.git("symbolic-ref", "refs/remotes/origin/gone", "refs/heads/gone")
	g.git("worktree", "add", "-q", filepath.Join(g.dir, "linked"))
	for _, dir := range []string{g.dir, filepath.Join(g.dir, "linked")} {
		in := *g
		in.dir = dir
		in.git("update-ref", "refs/worktree/here", "HEAD")
		in.git("update-ref", "refs/bisect/"+filepath.Base(dir), "HEAD")
		g.write(".git/refs/heads/x.lock", "")
		g.write(".git/refs/heads/.hidden", "")
		if got, want := refLines(t, in.open()), in.git("for-each-ref", "--format=%(objectname) %(refname)"); got != want {
			t.Errorf("%s:\n%s\ngit:\n%s", dir, got, want)
		}
	}
}

// TestRefsOfTables: those in reftables are as git listed them.
func TestRefsOfTables(t *testing.T) {
	repositories := tablesOf(t)
	for _, name := range []string{"sha1", "sha256"} {
		for _, gitDir := range []string{".git", ".git/worktrees/linked"} {
			dir := filepath.Join(repositories, name, gitDir)
			listed := listedRefs(t, dir)
			r := refStacks(dir)
			r.objects.format = map[string]format{"sha1": formatSHA1, "sha256": formatSHA256}[name]
			all, err := r.Refs()
			must(t, err)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				want := listed[name]
				if target, is := listed[want]; is {
					want = target
				}
				if all[name].String() != want {
					t.Errorf("%s: %s is %s, git says %s", dir, name, all[name], want)
				}
				delete(listed, name)
			}
			delete(listed, "HEAD")
			if len(listed) > 0 || len(all) < 900 {
				t.Errorf("%s: %d refs, without %v", dir, len(all), listed)
			}
		}
	}
}

// TestFault_116_Refs: a list of refs without one of them is an error, never shorter.
func TestFault_116_Refs(t *testing.T) {
	for what, wrong := range map[string]struct{ file, text, want string }{
		"a loose ref":  {"refs/heads/x", "nothing\n", "the ref refs/heads/x contains"},
		"an empty one": {"refs/heads/x", "", "the ref refs/heads/x contains"},
		"a line": {"packed-refs", "# pack-refs with: peeled\n" + strings.Repeat("a", 39) + " refs/heads/x\n",
			"packed-refs has the line"},
		"an empty line": {"packed-refs", "\n", "packed-refs has the line"},
		"a cut line":    {"packed-refs", strings.Repeat("a", 40) + " refs/he", "ends within a line"},
		"a migration":   {"ref_migration.x", "", "git refs migrate has not finished"},
	} {
		g := newGit(t)
		g.commit("one")
		g.write(".git/"+wrong.file, wrong.text)
		if all, err := g.open().Refs(); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s: %v, %v", what, all, err)
		}
	}
	g := newGit(t)
	g.commit("one")
	must(t, os.Remove(filepath.Join(g.dir, ".git/refs/heads/main")))
	must(t, os.Symlink("loop", filepath.Join(g.dir, ".git/refs/heads/loop")))
	if all, err := g.open().Refs(); err == nil {
		t.Errorf("a broken link: %v", all)
	}
}

// TestRefTableEach: all records of a table are those of a naive reader, and a damaged table is an error or the same.
func TestRefTableEach(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	missed := 0
	for range 300 {
		w, refs := someTable(rnd, 1+rnd.IntN(200))
		file := w.table(refs)
		for _, file := range [][]byte{file, sealTable(damaged(rnd, file))} {
			table, err := newRefTable(file, w.hashSize)
			if err != nil {
				continue
			}
			got := refMap{}
			err = table.each(func(rec tableRecord) {
				got[rec.name] = "deleted"
				if rec.target != "" {
					got[rec.name] = "ref: " + rec.target
				} else if rec.hash != nil {
					got[rec.name] = hex.EncodeToString(rec.hash)
				}
			})
			want, failed := naiveTable(file, w.hashSize)
			switch {
			case failed != nil && err == nil, failed == nil && err == nil && !maps.Equal(got, want):
				t.Fatalf("%d refs, %v; naively %d, %v", len(got), err, len(want), failed)
			case err != nil:
				missed++
			}
		}
	}
	if missed > 290 {
		t.Errorf("%d tables are errors", missed)
	}
}
