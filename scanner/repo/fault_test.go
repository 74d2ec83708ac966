//go:build unix

package repo

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
)

// object writes a loose object, malformed or not, and returns its hash.
func (g *gitRepo) object(kind string, content []byte) Hash {
	g.Helper()
	data := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	sum := g.format.new()
	sum.Write(data)
	h := sumHash(sum)
	g.loose(h, data)
	return h
}

// loose writes the file of a loose object with any content.
func (g *gitRepo) loose(h Hash, data []byte) {
	g.Helper()
	var b bytes.Buffer
	if g.zlib == nil {
		g.zlib = zlib.NewWriter(&b) // making one takes longer than writing an object
	}
	g.zlib.Reset(&b)
	g.zlib.Write(data)
	g.zlib.Close()
	name := filepath.Join(g.dir, ".git/objects", h.String()[:2], h.String()[2:])
	os.MkdirAll(filepath.Dir(name), 0o777)
	os.Remove(name)
	must(g, os.WriteFile(name, b.Bytes(), 0o666))
}

func treeLine(mode, name string, h Hash) []byte {
	digits := h.String()
	return append([]byte(mode+" "+name+"\x00"), h[:len(digits)/2]...)
}

func diffError(r *Repository, tree Hash) error {
	return r.Diff(Hash{}, tree, func(Change) error { return nil })
}

// A subtree that is missing, torn, unreadable, has another hash or is not a tree is an error, never an empty
// directory.
func TestFault_098_SubTree(t *testing.T) { inFormats(t, testSubTree) }

func testSubTree(t *testing.T) {
	g := newGit(t)
	for name, c := range map[string]struct {
		spoil func(g *gitRepo, sub Hash, file string)
		want  error
	}{
		"missing": {func(_ *gitRepo, _ Hash, file string) { os.Remove(file) }, ErrMissing},
		"truncated": {func(_ *gitRepo, _ Hash, file string) { os.Chmod(file, 0o666); os.Truncate(file, 20) },
			ErrCorrupt},
		"empty": {func(_ *gitRepo, _ Hash, file string) { os.Chmod(file, 0o666); os.Truncate(file, 0) },
			ErrCorrupt},
		"a blob":  {func(g *gitRepo, sub Hash, _ string) { g.loose(sub, []byte("blob 1\x00x")) }, ErrCorrupt},
		"another": {func(g *gitRepo, sub Hash, _ string) { g.loose(sub, []byte("tree 0\x00")) }, ErrHash},
		"longer":  {func(g *gitRepo, sub Hash, _ string) { g.loose(sub, []byte("tree 0\x00xxxx")) }, ErrCorrupt},
		"a FIFO": {func(_ *gitRepo, _ Hash, file string) {
			os.Remove(file)
			syscall.Mkfifo(file, 0o666)
		}, nil},
	} {
		sub := g.object("tree", treeLine("100644", name, g.object("blob", []byte("x"))))
		c.spoil(g, sub, filepath.Join(g.dir, ".git/objects", sub.String()[:2], sub.String()[2:]))
		err := diffError(g.open(), g.object("tree", treeLine("40000", "sub", sub)))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Any flipped or cut byte in git's files gives the same answer or an error.
func TestFault_101_Flips(t *testing.T) { inFormats(t, testFlips) }

func testFlips(t *testing.T) {
	trials := 150
	if *long {
		trials = 10_000
	}
	g := newGit(t)
	rnd := rand.New(rand.NewPCG(11, 12))
	checkedOut(g, rnd, 25)
	g.git("pack-refs", "--all")
	g.write("last.tf", "x")
	g.commit("last")
	base := strings.Fields(g.git("rev-list", "HEAD"))
	baseName := base[len(base)-1]
	answer := func(dir string) (string, error) {
		r, err := Find(dir)
		if err != nil {
			return "", err
		}
		related, err := r.Compare(baseName, "HEAD")
		if err != nil {
			return "", err
		}
		before, err := r.Tree(related.MergeBases[0])
		after, failed := r.Tree(related.Head)
		if err := errors.Join(err, failed); err != nil {
			return "", err
		}
		var out strings.Builder
		err = r.Diff(before, after, func(c Change) error {
			out.WriteString(raw(c))
			if c.New.Mode == File {
				blob, err := r.Blob(c.New.Hash)
				if err != nil {
					return err
				}
				blob.Close()
			}
			return nil
		})
		return out.String(), err
	}
	g.git("repack", "-q", "-a", "-d")
	want, err := answer(g.dir)
	must(t, err)
	var files []string
	filepath.WalkDir(filepath.Join(g.dir, ".git"), func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (strings.Contains(p, "objects") || strings.Contains(p, "refs") ||
			strings.HasSuffix(p, "HEAD") || strings.HasSuffix(p, "config")) {
			files = append(files, p)
		}
		return nil
	})
	moved := 0
	for range trials {
		file := files[rnd.IntN(len(files))]
		content, err := os.ReadFile(file)
		if err != nil || len(content) == 0 {
			continue
		}
		spoiled := bytes.Clone(content)
		if rnd.IntN(4) == 0 {
			spoiled = spoiled[:rnd.IntN(len(spoiled))]
		} else {
			spoiled[rnd.IntN(len(spoiled))] ^= 1 << rnd.IntN(8)
		}
		os.Chmod(file, 0o666)
		must(t, os.WriteFile(file, spoiled, 0o666))
		got, err := answer(g.dir)
		if err == nil && got != want {
			// A ref's own text has no checksum: it can name another commit.
			if strings.Contains(file, "objects") {
				t.Errorf("%s: another answer, and no error", file)
			}
			moved++
		}
		must(t, os.WriteFile(file, content, 0o666))
	}
	t.Logf("%d of %d trials named another commit", moved, trials)
}

// TestEmptyTree: git has the tree without entries built in, and need not write it.
func TestEmptyTree(t *testing.T) { inFormats(t, testEmptyTree) }

func testEmptyTree(t *testing.T) {
	g := newGit(t)
	before := mustHash(t, g.git("mktree"))
	must(t, os.RemoveAll(filepath.Join(g.dir, ".git/objects/4b")))
	g.write("a", "a")
	g.commit("a")
	after := mustHash(t, g.git("rev-parse", "HEAD^{tree}"))
	var paths []string
	err := g.open().Diff(before, after, func(c Change) error { paths = append(paths, c.Path); return nil })
	if err != nil || len(paths) != 1 || paths[0] != "a" {
		t.Errorf("%q: %v", paths, err)
	}
}

func TestFault_102_WrongHash(t *testing.T) { inFormats(t, testWrongHash) }

func testWrongHash(t *testing.T) {
	g := newGit(t)
	g.write("a.tf", "good")
	g.commit("one")
	blob := mustHash(t, g.git("rev-parse", "HEAD:a.tf"))
	g.loose(blob, []byte("blob 4\x00evil"))
	_, err := g.open().Blob(blob)
	wantError(t, "a blob of another content", err, ErrHash)
	_, err = g.open().Blob(mustHash(t, g.git("rev-parse", "HEAD:")))
	wantError(t, "a tree as a blob", err, ErrCorrupt)
}

func TestFault_108_Syntax(t *testing.T) { inFormats(t, testSyntax) }

func testSyntax(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	r := g.open()
	for _, name := range []string{"main@{1}", "@{u}", "@{-1}", ":/x", "HEAD:p", "a..b", "a...b", "HEAD^!",
		"HEAD^{commit}", "HEAD^{/x}", "@", "main@{yesterday}", "HEAD^-", "HEAD~x", "", " ", "-x", "--output=x",
		strings.Repeat("0", 40), strings.Repeat("0", 64), "refs/../../etc/passwd", "../HEAD", "a b", "x\n", "main.lock"} {
		_, err := r.Commit(name)
		wantError(t, fmt.Sprintf("%q", name), err, ErrSyntax)
	}
}

func TestFault_110_Ambiguous(t *testing.T) { inFormats(t, testAmbiguous) }

func testAmbiguous(t *testing.T) {
	g := newGit(t)
	head := g.commit("one")
	g.git("branch", "both")
	g.git("tag", "both")
	g.git("branch", head[:8])
	r := g.open()
	for _, name := range []string{"both", head[:8]} {
		_, err := r.Commit(name)
		wantError(t, name, err, ErrAmbiguous)
	}
	for _, name := range []string{"heads/both", "refs/tags/both", "tags/both", "main", "HEAD", head, head[:9],
		"HEAD~0", "HEAD^0"} {
		if h, err := r.Commit(name); err != nil || h.String() != head {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	_, err := r.Commit("HEAD~1")
	wantError(t, "before the first commit", err, ErrUnknown)
}

func TestFault_111_Tags(t *testing.T) { inFormats(t, testTags) }

func testTags(t *testing.T) {
	g := newGit(t)
	g.write("a", "x")
	head := g.commit("one")
	g.git("tag", "-a", "-m", "x", "one")
	g.git("tag", "-a", "-m", "x", "two", "one")
	g.git("tag", "tree", "HEAD^{tree}")
	g.git("tag", "blob", "HEAD:a")
	r := g.open()
	if h, err := r.Commit("two~0"); err != nil || h.String() != head {
		t.Errorf("a tag of a tag: %v, %v", h, err)
	}
	for _, name := range []string{"tree", "blob"} {
		if h, err := r.Commit(name); err == nil {
			t.Errorf("%s is read as commit %v", name, h)
		}
	}
}

func TestFault_112_Refs(t *testing.T) { inFormats(t, testRefs) }

func testRefs(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	for name, c := range map[string]struct{ file, text string }{
		"a loop":         {"refs/heads/main", "ref: refs/heads/main\n"},
		"outside":        {"HEAD", "ref: refs/../../etc/passwd\n"},
		"elsewhere":      {"HEAD", "ref: /etc/passwd\n"},
		"empty":          {"refs/heads/main", ""},
		"no hash":        {"refs/heads/main", "123\n"},
		"another length": {"refs/heads/main", strings.Repeat("a", 41) + "\n"},
	} {
		g.write(".git/HEAD", "ref: refs/heads/main\n")
		g.write(".git/"+c.file, c.text)
		if h, err := g.open().Commit("HEAD"); err == nil {
			t.Errorf("%s: HEAD is %v", name, h)
		}
	}
	g = newGit(t)
	_, err := g.open().Commit("HEAD")
	wantError(t, "an unborn HEAD", err, ErrUnknown)
}

func TestFault_114_Alternates(t *testing.T) { inFormats(t, testAlternates) }

func testAlternates(t *testing.T) {
	g, other := newGit(t), newGit(t)
	g.write("a.tf", "x")
	head := g.commit("one")
	g.git("repack", "-q", "-a", "-d")
	other.write(".git/refs/heads/main", head+"\n")
	objects := filepath.Join(g.dir, ".git/objects")
	relative, err := filepath.Rel(filepath.Join(other.dir, ".git/objects"), objects)
	must(t, err)
	for name, c := range map[string]struct {
		line string
		want error
	}{
		"absolute":  {objects, nil},
		"relative":  {relative, nil},
		"in quotes": {strconv.Quote(objects), nil},
		"itself":    {".", ErrMissing},
		"missing":   {filepath.Join(g.dir, "nowhere"), ErrCorrupt},
	} {
		other.write(".git/objects/info/alternates", "# of a test\n"+c.line+"\n")
		var h Hash
		r, err := Find(other.dir)
		if err == nil {
			h, err = r.Commit("HEAD")
		}
		if !errors.Is(err, c.want) || err == nil && h.String() != head {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
}

// TestAlternatesDepth: objects six alternates away are found, as in git, and a seventh is an error.
func TestAlternatesDepth(t *testing.T) { inFormats(t, testAlternatesDepth) }

func testAlternatesDepth(t *testing.T) {
	g := newGit(t)
	g.commit("c")
	for steps, ok := range map[int]bool{6: true, 7: false} {
		objects := filepath.Join(g.dir, ".git/objects")
		for i := range steps {
			next := filepath.Join(t.TempDir(), fmt.Sprint(i))
			if err := errors.Join(os.MkdirAll(filepath.Join(next, "info"), 0o777),
				os.MkdirAll(filepath.Join(objects, "info"), 0o777),
				os.WriteFile(filepath.Join(objects, "info/alternates"), []byte(next+"\n"), 0o666)); err != nil {
				t.Fatal(err)
			}
			objects = next
		}
		g.write("far", fmt.Sprint(steps))
		far := mustHash(t, g.git("hash-object", "-w", "far"))
		from, to := filepath.Join(g.dir, ".git/objects", far.String()[:2]), filepath.Join(objects, far.String()[:2])
		must(t, os.Rename(from, to))
		_, err := g.try("cat-file", "-e", far.String())
		if (err == nil) != ok {
			t.Fatalf("git, %d steps: %v", steps, err)
		}
		r, err := Find(g.dir)
		if err == nil {
			_, err = r.Blob(far)
		}
		if (err == nil) != ok {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
}

func TestFault_116_Formats(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	for _, version := range []string{"0", "1"} {
		for setting, ok := range map[string]bool{
			"core.repositoryFormatVersion 2":     false,
			"core.repositoryFormatVersion bogus": false,
			"core.fsmonitor /bin/false":          true,
			"core.sharedRepository group":        true,
			"extensions.compatObjectFormat sha1": true,
			"extensions.noop true":               true,
			"extensions.objectFormat sha1":       true,
			"extensions.objectFormat sha256":     version == "1",
			"extensions.objectFormat sha512":     false,
			"extensions.partialClone origin":     true,
			"extensions.preciousObjects true":    true,
			"extensions.refStorage files":        true,
			"extensions.refStorage postgres://a": false,
			"extensions.refStorage reftable":     true,
			"extensions.refStorage files://refs": true,
			"extensions.relativeWorktrees true":  true,
			"extensions.somethingNew true":       version == "0", // which git ignores
			"extensions.worktreeConfig true":     true,
			"filter.clean /bin/false":            true,
			"include.path /dev/zero":             true,
		} {
			key, value, _ := strings.Cut(setting, " ")
			section, name, _ := strings.Cut(key, ".")
			g.write(".git/config", "[core]\nrepositoryFormatVersion = "+version+"\n["+
				section+"]\n"+name+" = "+value+"\n")
			if _, err := Find(g.dir); ok && err != nil || !ok && !errors.Is(err, ErrFormat) {
				t.Errorf("version %s, %s: %v", version, setting, err)
			}
		}
	}
}

func TestFault_120_MalformedTrees(t *testing.T) { inFormats(t, testMalformedTrees) }

func testMalformedTrees(t *testing.T) {
	g := newGit(t)
	x := g.object("blob", []byte("x"))
	empty := g.object("tree", nil)
	join := func(lines ...[]byte) []byte { return bytes.Join(lines, nil) }
	r := g.open()
	for name, content := range map[string][]byte{
		"unsorted": join(treeLine("100644", "b", x), treeLine("100644", "a", x)),
		"twice":    join(treeLine("100644", "a", x), treeLine("100644", "a", x)),
		"a file and a directory": join(treeLine("100644", "a", x), treeLine("100644", "a.b", x),
			treeLine("40000", "a", empty)),
		"a directory out of order": join(treeLine("40000", "a", empty), treeLine("100644", "a.b", x)),
		"a slash":                  treeLine("100644", "a/b", x),
		"a slash first":            treeLine("100644", "/b", x),
		"a directory twice":        join(treeLine("40000", "a", empty), treeLine("40000", "a", empty)),
		".":                        treeLine("100644", ".", x),
		"..":                       treeLine("40000", "..", empty),
		".git":                     treeLine("40000", ".git", empty),
		".GIT":                     treeLine("40000", ".GIT", empty),
		"no name":                  treeLine("100644", "", x),
		"no object":                treeLine("100644", "a", Hash{}),
		"a mode of letters":        treeLine("10064x", "a", x),
		"an unknown mode":          treeLine("100", "a", x),
		"a long mode":              treeLine("1006440000", "a", x),
		"no mode":                  treeLine("", "a", x),
		"something after it all":   join(treeLine("100644", "a", x), []byte("x")),
	} {
		wantError(t, name, diffError(r, g.object("tree", content)), ErrMalformed)
	}
	for n := 1; n < len(treeLine("100644", "a", x)); n++ {
		wantError(t, fmt.Sprintf("torn behind %d bytes", n),
			diffError(r, g.object("tree", treeLine("100644", "a", x)[:n])), ErrMalformed)
	}
	for name, content := range map[string][]byte{
		"an old mode":             treeLine("100664", "a", x),
		"a directory after a dot": join(treeLine("100644", "a.b", x), treeLine("40000", "a", empty)),
		"bytes that are no text":  treeLine("100644", "\xff\n\\", x),
		"a name that goes on":     join(treeLine("100644", "a", x), treeLine("100644", "a\x01", x)),
	} {
		if err := diffError(r, g.object("tree", content)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A tree that contains another many times, and that one a third, meets a limit, and so do endless directories.
func TestFault_122_Bombs(t *testing.T) {
	g := newGit(t)
	at := g.object("blob", []byte("x"))
	mode := "100644"
	for range 10 {
		var content []byte
		for i := range 10 {
			content = append(content, treeLine(mode, fmt.Sprint("d", i), at)...)
		}
		at, mode = g.object("tree", content), "40000"
	}
	took := cputime.Of(func() { wantError(t, "a bomb", diffError(g.open(), at), ErrLimit) })
	if took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	deepest := maxTreeDepth + 2
	if *long {
		deepest = 5000
	}
	at, mode = g.object("blob", []byte("y")), "100644"
	for depth := range deepest {
		at, mode = g.object("tree", treeLine(mode, "d", at)), "40000"
		if depth != maxTreeDepth && depth != maxTreeDepth+1 && depth != deepest-1 {
			continue
		}
		errs := []error{diffError(g.open(), at), g.open().DiffIndex(at, &Index{}, func(Change) error { return nil })}
		for _, err := range errs {
			if depth == maxTreeDepth && err != nil || depth > maxTreeDepth && !errors.Is(err, ErrLimit) {
				t.Errorf("%d directories deep: %v", depth, err)
			}
		}
	}
}

// The equal directories of a monorepo are not a bomb.
func TestTreesThatRepeat(t *testing.T) {
	g := newGit(t)
	var module []byte
	for i := range 150 {
		text := g.object("blob", fmt.Append(nil, i))
		module = append(module, treeLine("40000", fmt.Sprintf("%03d", i),
			g.object("tree", treeLine("100644", "f", text)))...)
	}
	var root []byte
	for i := range 140 {
		root = append(root, treeLine("40000", fmt.Sprintf("%03d", i), g.object("tree", module))...)
	}
	files := 0
	err := g.open().Diff(Hash{}, g.object("tree", root), func(Change) error { files++; return nil })
	if err != nil || files != 140*150 || files < freeVisits {
		t.Errorf("%d files, %v", files, err)
	}
}

// The boundary of a shallow clone is an error only if the merge base is not known without it.
func TestFault_104_Shallow(t *testing.T) { inFormats(t, testShallow) }

func testShallow(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	fork := g.commit("two")
	g.git("checkout", "-q", "-b", "work")
	g.commit("three")
	g.git("checkout", "-q", "main")
	g.commit("four")
	clone := func(depth string) *Repository {
		dir := t.TempDir()
		cmd := exec.Command("git", "clone", "-q", "--no-single-branch", "--depth", depth, "file://"+g.dir, dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		r, err := Find(dir)
		must(t, err)
		return r
	}
	bases := func(r *Repository) ([]Hash, error) {
		a, err := r.Commit("origin/main")
		must(t, err)
		b, err := r.Commit("origin/work")
		must(t, err)
		return r.mergeBases(a, b)
	}
	var shallow *ShallowError
	if got, err := bases(clone("1")); !errors.As(err, &shallow) {
		t.Errorf("depth 1: %v, %v", got, err)
	}
	if got, err := bases(clone("2")); err != nil || len(got) != 1 || got[0].String() != fork {
		t.Errorf("depth 2: %v, %v, want %s", got, err, fork)
	}
	// A head in the history of the base is its own merge base at once, but how far it is behind is unknown.
	old := g.commit("five")
	g.git("checkout", "-q", "work")
	g.commit("six")
	g.git("checkout", "-q", "main")
	g.git("merge", "-q", "--no-edit", "work")
	g.commit("seven")
	for depth, want := range map[string]int{"3": Unknown, "9": 4} {
		r := clone(depth)
		c, err := r.Compare("origin/main", old)
		if err != nil || c.Behind != want || len(c.MergeBases) != 1 || c.MergeBases[0].String() != old {
			t.Errorf("depth %s: %+v, %v, want %d commits behind", depth, c, err, want)
		}
		if c, err := r.Compare(old, "origin/main"); err != nil || c.Behind != 0 {
			t.Errorf("depth %s: %+v, %v, want none behind", depth, c, err)
		}
	}
}
