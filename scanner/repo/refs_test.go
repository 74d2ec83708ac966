package repo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/internal/disk"

	"github.com/go-git/go-git/v5/plumbing"
)

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

// A linked work tree shares the refs of its repository, except the per-worktree refs.
func TestRefsOfWorkTree(t *testing.T) { inFormats(t, testRefsOfWorkTree) }

func testRefsOfWorkTree(t *testing.T) {
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

// Found from within, a .git has its work tree around it, and a bare repository none.
func TestFindWithin(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	bare := filepath.Join(t.TempDir(), "bare.git")
	g.git("clone", "-q", "--bare", ".", bare)
	for dir, want := range map[string]string{
		g.dir: g.dir, filepath.Join(g.dir, ".git"): g.dir, filepath.Join(g.dir, ".git/refs"): g.dir, bare: "",
		filepath.Join(bare, "objects/pack"): "",
	} {
		r, err := Find(dir)
		if err != nil || r.WorkTree != want {
			t.Errorf("from %s: %+v, %v; want the work tree %q", dir, r, err, want)
		}
	}
}

// A packed-refs that is torn is not an answer, and one without a line has no ref.
func TestPackedRefs(t *testing.T) { inFormats(t, testPackedRefs) }

func testPackedRefs(t *testing.T) {
	g := newGit(t)
	head := g.commit("one")
	g.git("pack-refs", "--all")
	file := filepath.Join(g.dir, ".git/packed-refs")
	whole, err := os.ReadFile(file)
	must(t, err)
	for _, c := range []struct{ text, want string }{
		{string(whole), ""},
		{string(whole[:len(whole)-1]), "ends within a line"},
		{"", "is not a branch"},
		{"# pack-refs with: peeled fully-peeled sorted \n", "is not a branch"},
		{head + " refs/heads/main\n" + head + " refs/heads/main\n", "twice"},
		{head + "x refs/heads/main\n", "packed-refs has"},
		{head + " refs/heads/main\n" + head + " refs/heads/main2\n", ""},
	} {
		must(t, os.WriteFile(file, []byte(c.text), 0o666))
		h, err := g.open().Commit("main")
		if c.want == "" && (err != nil || h.String() != head) || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, %v; want %q", c.text, h, err, c.want)
		}
	}
}

// TestFindRef: in a packed-refs whose names are in order a ref is found as in one that does not say so, and what is
// elsewhere is not read.
func TestFindRef(t *testing.T) {
	const header = "# pack-refs with: peeled fully-peeled sorted \n"
	rnd := rand.New(rand.NewPCG(3, 4))
	hash := func() string { return fmt.Sprintf("%040x", rnd.Uint64()) }
	for range 2000 {
		var names []string
		for range rnd.IntN(12) {
			names = append(names, "refs/heads/"+strings.Repeat(string(rune('a'+rnd.IntN(3))), 1+rnd.IntN(3))+
				[]string{"", "/x", "-", "~"}[rnd.IntN(4)])
		}
		slices.Sort(names)
		var lines strings.Builder
		for _, name := range names {
			lines.WriteString(hash() + " " + name + "\n")
			if rnd.IntN(3) == 0 {
				lines.WriteString("^" + hash() + "\n")
			}
		}
		for _, name := range append(names, "refs/heads/a", "refs/heads/bb/x", "refs/heads/cccc", "refs", "z") {
			want, is, err := formatSHA1.findRef([]byte(lines.String()), name)
			got, found, failed := formatSHA1.findRef([]byte(header+lines.String()), name)
			if got != want || found != is || (failed == nil) != (err == nil) {
				t.Fatalf("%q in\n%s%v, %v, %v; want %v, %v, %v", name, &lines, got, found, failed, want, is, err)
			}
		}
	}
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines, "%040x refs/heads/%06d\n", i, i)
	}
	twice := lines.String() + hash() + " refs/heads/002000\n" // which is out of order
	if _, is, err := formatSHA1.findRef([]byte(header+twice), "refs/heads/002000"); !is || err != nil {
		t.Errorf("%v, %v: the end of the file was read", is, err)
	}
	if _, _, err := formatSHA1.findRef([]byte(twice), "refs/heads/002000"); err == nil {
		t.Error("it is twice in a file without an order")
	}
}

// A repository is named by its git directory, as GIT_DIR does, and its work tree by GIT_WORK_TREE.
func TestAt(t *testing.T) {
	g := newGit(t)
	head := g.commit("one")
	elsewhere := t.TempDir()
	for _, c := range []struct{ workTree, want string }{{"", g.dir}, {elsewhere, elsewhere}} {
		t.Chdir(g.dir)
		r, err := openNamed(".git", c.workTree)
		must(t, err)
		h, err := r.Commit("HEAD")
		if err != nil || h.String() != head || !disk.Same(r.WorkTree, c.want) {
			t.Errorf("%q: %v, %v, of %s", c.workTree, h, err, r.WorkTree)
		}
	}
	g.git("config", "extensions.worktreeConfig", "true")
	g.git("config", "--worktree", "core.worktree", elsewhere)
	if r, err := openNamed(".git", ""); err != nil || !disk.Same(r.WorkTree, elsewhere) {
		t.Errorf("%v, %v", r, err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	g.git("worktree", "add", "-q", "--detach", linked)
	if r, err := openNamed(filepath.Join(linked, ".git"), linked); err != nil || !disk.Same(r.WorkTree, linked) {
		t.Errorf("a file that names the git directory: %v, %v", r, err)
	}
	g.git("config", "--worktree", "core.worktree", strings.Repeat("x", 300))
	if r, err := openNamed(".git", ""); err == nil {
		t.Errorf("a work tree that no file system can have: %+v", r)
	}
	if _, err := openNamed(filepath.Join(g.dir, "none"), ""); err == nil {
		t.Error("a missing directory is accepted")
	}
}

// The n-th parent is another than the n-th commit before.
func TestAncestors(t *testing.T) { inFormats(t, testAncestors) }

func testAncestors(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	g.git("checkout", "-q", "-b", "side")
	g.commit("two")
	g.commit("three")
	g.git("checkout", "-q", "main")
	g.commit("four")
	g.git("merge", "-q", "--no-ff", "-m", "five", "side")
	for _, name := range []string{"HEAD^", "HEAD^0", "HEAD^1", "HEAD^2", "HEAD~", "HEAD~1", "HEAD~2", "HEAD^2~1",
		"HEAD^2^", "HEAD~1^", "side~2", "HEAD^^", "HEAD^3", "HEAD~3", "side^2", "side~3"} {
		want, gitErr := g.try("rev-parse", "-q", "--verify", name+"^{commit}")
		h, err := g.open().Commit(name)
		if (err == nil) != (gitErr == nil) || err == nil && h.String() != strings.TrimSpace(want) {
			t.Errorf("%s is %v, %v; git says %q, %v", name, h, err, want, gitErr)
		}
	}
}

// Of a prefix of four characters or more only commits and their tags count, as for git.
func TestPrefixOfBlob(t *testing.T) { inFormats(t, testPrefixOfBlob) }

func testPrefixOfBlob(t *testing.T) {
	g := newGit(t)
	head := g.commit("one")
	for i := 0; ; i++ {
		text := fmt.Sprint(i)
		sum := g.format.sum(plumbing.BlobObject, int64(len(text)))
		sum.Write([]byte(text))
		if fmt.Sprintf("%x", sum.Sum(nil))[:4] == head[:4] {
			g.write("blob", text)
			g.git("hash-object", "-w", "blob")
			break
		}
	}
	g.git("tag", "-a", "-m", "x", "annotated")
	tag := g.git("rev-parse", "annotated")
	for _, name := range []string{head[:4], head[:5], tag[:4], tag[:39], tag[:40], tag[:len(tag)-1], tag} {
		want := g.git("rev-parse", "--verify", name+"^{commit}")
		if h, err := g.open().Commit(name); err != nil || h.String() != want {
			t.Errorf("%s is %v, %v; git says %s", name, h, err, want)
		}
	}
	if h, err := g.open().Commit(head[:3]); err == nil {
		t.Errorf("%s is %v", head[:3], h)
	}
}

// A pre-receive hook sees the pushed objects in git's quarantine, if all of git's variables name it.
func TestQuarantine(t *testing.T) { inFormats(t, testQuarantine) }

func testQuarantine(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	pushed := g.commit("two")
	aside := filepath.Join(g.dir, ".git/objects/incoming")
	for _, dir := range []string{"info", "pack", pushed[:2]} {
		must(t, os.MkdirAll(filepath.Join(aside, dir), 0o777))
	}
	file := filepath.Join(pushed[:2], pushed[2:])
	must(t, os.Rename(filepath.Join(g.dir, ".git/objects", file), filepath.Join(aside, file)))
	said := map[string]string{"GIT_OBJECT_DIRECTORY": aside, "GIT_QUARANTINE_PATH": aside,
		"GIT_DIR": filepath.Join(g.dir, ".git")}
	for _, left := range []string{"", "GIT_OBJECT_DIRECTORY", "GIT_QUARANTINE_PATH", "GIT_DIR"} {
		for name, value := range said {
			if name == left {
				value = ""
			}
			t.Setenv(name, value)
		}
		if _, err := g.open().Commit(pushed); (err == nil) != (left == "") {
			t.Errorf("without %q: %v", left, err)
		}
	}
}

// TestClip: what is cut for a message ends with a whole character.
func TestClip(t *testing.T) {
	a := strings.Repeat("a", 79)
	for text, want := range map[string]string{
		a + "b":                       a + "b",
		a + "é":                       a + "…",
		a + "bc":                      a + "b…",
		strings.Repeat("é", 41):       strings.Repeat("é", 40) + "…",
		a[:77] + "\U0001f600b":        a[:77] + "…",
		strings.Repeat("\x80", 81):    strings.Repeat("\x80", 77) + "…", // not UTF-8
		strings.Repeat("\xe2\x80", 9): strings.Repeat("\xe2\x80", 9),
	} {
		if got := clip(text); got != want {
			t.Errorf("clip(%q) = %q, want %q", text, got, want)
		}
	}
}
