package repo

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A prefix of two characters or more is of all objects of a pack that begin with it, in order.
func TestPackedPrefix(t *testing.T) {
	g := newGit(t)
	for i := range 300 {
		g.write(fmt.Sprint(i), fmt.Sprint(i))
	}
	g.commit("many")
	g.git("repack", "-adq")
	all := strings.Fields(g.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) // in order
	p := g.open().objects.folders[0].packs[0]
	for _, name := range append(all, strings.Repeat("0", 40), strings.Repeat("f", 40)) {
		for length := 2; length <= 5; length++ {
			prefix := name[:length]
			found, err := p.withPrefix(prefix)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, h := range found {
				got = append(got, h.String())
			}
			for _, h := range all {
				if strings.HasPrefix(h, prefix) {
					want = append(want, h)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", prefix, got, want)
			}
		}
	}
}

// Symbolic refs lead through as many others as git follows.
func TestSymbolicRefs(t *testing.T) {
	g := newGit(t)
	head := g.commit("one")
	at := "refs/heads/main"
	for i := range 8 {
		name := fmt.Sprintf("refs/heads/s%d", i)
		g.git("symbolic-ref", name, at)
		at = name
		_, gitErr := g.try("rev-parse", "--verify", "-q", name+"^{commit}")
		h, err := g.open().Commit(name)
		if (err == nil) != (gitErr == nil) || err == nil && h.String() != head {
			t.Errorf("through %d: %v, %v; git: %v", i+1, h, err, gitErr)
		}
	}
}

// A linked work tree shares the refs of its repository, but for those that each has of its own.
func TestRefsOfWorkTree(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	g.git("branch", "first")
	linked := &gitRepo{TB: t, dir: filepath.Join(t.TempDir(), "linked"), clock: g.clock + 1000}
	g.git("worktree", "add", "-q", "-b", "side", linked.dir)
	linked.commit("two")
	for _, name := range []string{"refs/bisect/here", "refs/worktree/here"} {
		linked.git("update-ref", name, "HEAD")
		g.git("update-ref", name, "HEAD")
	}
	for _, w := range []*gitRepo{g, linked} {
		for _, name := range []string{"HEAD", "main", "first", "side", "refs/bisect/here", "refs/worktree/here"} {
			if h, err := w.open().Commit(name); err != nil || h.String() != w.git("rev-parse", name) {
				t.Errorf("%s: %s is %v, %v; git says %s", w.dir, name, h, err, w.git("rev-parse", name))
			}
		}
	}
}

// A repository is named by its git folder, as GIT_DIR does, and its work tree by GIT_WORK_TREE.
func TestAt(t *testing.T) {
	g := newGit(t)
	head := g.commit("one")
	elsewhere := t.TempDir()
	for _, c := range []struct{ workTree, want string }{{"", g.dir}, {elsewhere, elsewhere}} {
		t.Chdir(g.dir)
		r, err := At(".git", c.workTree)
		if err != nil {
			t.Fatal(err)
		}
		h, err := r.Commit("HEAD")
		if err != nil || h.String() != head || !sameFile(r.WorkTree, c.want) {
			t.Errorf("%q: %v, %v, of %s", c.workTree, h, err, r.WorkTree)
		}
	}
	if _, err := At(filepath.Join(g.dir, "none"), ""); err == nil {
		t.Error("a folder that is not there is taken")
	}
}
