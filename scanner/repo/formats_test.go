//go:build unix

package repo

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHash(t *testing.T) {
	sha1, sha256 := strings.Repeat("a1", 20), strings.Repeat("b2", 32)
	for _, c := range []struct {
		format format
		text   string
		err    string
	}{
		{formatSHA1, sha1, ""},
		{formatSHA256, sha256, ""},
		{formatSHA1, strings.Repeat("0", 40), ""},
		{formatSHA1, sha256, sha256 + ", 64 digits, but the repository's hashes are SHA-1"},
		{formatSHA256, sha1, sha1 + ", 40 digits, but the repository's hashes are SHA-256"},
		{formatSHA256, sha256[1:], `"` + sha256[1:] + `", which is not a hash`},
		{formatSHA1, sha1[1:] + "g", `"` + sha1[1:] + `g", which is not a hash`},
		{formatSHA1, "", `"", which is not a hash`},
	} {
		h, err := c.format.parse(c.text)
		if c.err == "" && (err != nil || h.String() != c.text || Short(h) != c.text[:7]) || c.err != "" &&
			(err == nil || err.Error() != c.err || !h.IsZero()) {
			t.Errorf("%v, %s: %v, %v; want %q", c.format, c.text, h, err, c.err)
		}
	}
	for text, want := range map[string]bool{"": true, "x": false} {
		for _, f := range []format{formatSHA1, formatSHA256} {
			r := &Repository{}
			r.objects.format = f
			h, err := r.HashBlob(int64(len(text)), strings.NewReader(text))
			if err != nil || IsEmptyBlob(h) != want || len(h.String()) != 2*f.size() {
				t.Errorf("%v, %q: %v, %v", f, text, h, err)
			}
		}
	}
}

// TestFault_116_187_Mixed: what is of the other format is an error that says so, wherever it is.
func TestFault_116_187_Mixed(t *testing.T) { inFormats(t, testMixed) }

func testMixed(t *testing.T) {
	g := newGit(t)
	head := g.commit("one")
	other := newGitOf(t, formatSHA1+formatSHA256-g.format)
	far := other.commit("one")
	other.git("repack", "-q", "-a", "-d")
	first := func(r *Repository, err error) error {
		if err == nil {
			_, err = r.Commit("HEAD")
		}
		return err
	}
	saying := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}

	_, err := g.open().Commit(far)
	saying("a name", err, "digits, but this repository names commits by "+g.format.String())
	wantError(t, "a name", err, ErrSyntax)
	digits := "digits, but the repository's hashes are " + g.format.String()
	for file, text := range map[string]string{
		".git/refs/heads/far": far + "\n",
		".git/packed-refs":    "# pack-refs with: peeled fully-peeled sorted \n" + far + " refs/heads/far\n",
	} {
		g.write(file, text)
		_, err := g.open().Commit("far")
		saying(file, err, far)
		must(t, os.Remove(filepath.Join(g.dir, file)))
	}
	g.write(".git/FETCH_HEAD", far+"\t\tbranch 'main' of u\n")
	_, err = g.open().Fetched()
	saying("FETCH_HEAD", err, digits)
	g.write(".git/MERGE_HEAD", far+"\n")
	_, err = g.open().Merging(mustHash(t, head))
	saying("MERGE_HEAD", err, digits)
	must(t, os.Remove(filepath.Join(g.dir, ".git/MERGE_HEAD")))
	r, err := Environment{Merging: Merging([]string{"GITHEAD_" + far + "=x"})}.Open(g.dir)
	must(t, err)
	if merged, err := r.Merging(mustHash(t, head)); merged != nil || err != nil {
		t.Errorf("another repository's merge: %v, %v", merged, err)
	}
	g.write(".git/shallow", far+"\n")
	saying("shallow", first(Find(g.dir)), digits)
	must(t, os.Remove(filepath.Join(g.dir, ".git/shallow")))

	objects := filepath.Join(other.dir, ".git/objects")
	g.write(".git/objects/info/alternates", objects+"\n")
	saying("an alternate", first(Find(g.dir)), "named by "+other.format.String()+", this repository's by "+g.format.String())
	aside := filepath.Join(t.TempDir(), "objects")
	must(t, os.Rename(objects, aside))
	g.write(".git/objects/info/alternates", aside+"\n")
	r, err = Find(g.dir)
	must(t, err)
	_, err = r.Blob(mustHash(t, strings.Repeat("12", g.format.size())))
	saying("packs alone", err, ".idx: it is too ")
	wantError(t, "packs alone", err, ErrCorrupt)
}

// TestFault_116_NoFormat: objects of SHA-256 need the version of the repository that git gives them.
func TestFault_116_NoFormat(t *testing.T) {
	g := newGitOf(t, formatSHA256)
	g.commit("one")
	g.git("config", "core.repositoryFormatVersion", "0")
	_, err := Find(g.dir)
	if !errors.Is(err, ErrFormat) || !strings.HasSuffix(err.Error(), "; run git config core.repositoryFormatVersion 1") {
		t.Error(err)
	}
}

// TestFault_102_187_OtherFormat: in a repository of SHA-256, the SHA-1 of an object's content is not its name.
func TestFault_102_187_OtherFormat(t *testing.T) {
	g := newGitOf(t, formatSHA256)
	text := "blob 1\x00x"
	sum := formatSHA1.new()
	sum.Write([]byte(text))
	name := sumHash(sum)
	g.loose(name, []byte(text))
	_, err := g.open().Blob(name)
	wantError(t, "a blob by its SHA-1", err, ErrHash)
	g.git("config", "extensions.objectFormat", "sha1")
	if _, err := g.open().Blob(name); err != nil {
		t.Error(err)
	}
}

// TestFault_187_OtherFormatWithin: a linked work tree has the format of its repository, and a submodule its own.
func TestFault_187_OtherFormatWithin(t *testing.T) { inFormats(t, testOtherFormatWithin) }

func testOtherFormatWithin(t *testing.T) {
	g := newGit(t)
	head := g.commit("one")
	linked := filepath.Join(t.TempDir(), "linked")
	g.git("worktree", "add", "-q", "-b", "side", linked)
	inner := newGitOf(t, formatSHA1+formatSHA256-g.format)
	innerHead := inner.commit("inner")
	g.git("update-index", "--add", "--cacheinfo", "160000,"+head+",module")
	must(t, os.Rename(inner.dir, filepath.Join(g.dir, "module")))
	for dir, want := range map[string]string{linked: head, filepath.Join(g.dir, "module"): innerHead} {
		r, err := Find(dir)
		must(t, err)
		if h, err := r.Commit("HEAD"); err != nil || h.String() != want {
			t.Errorf("%s: %v, %v, want %s", dir, h, err, want)
		}
		if _, err := r.Index(); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if idx := g.sameIndex(); len(idx.Files) != 1 || idx.Files[0].Mode != Submodule {
		t.Errorf("%+v", idx.Files)
	}
}

// TestFault_186_KindsOfPacks: objects are found in each kind of pack that git leaves, also by an abbreviation.
func TestFault_186_KindsOfPacks(t *testing.T) { inFormats(t, testKindsOfPacks) }

func testKindsOfPacks(t *testing.T) {
	for name, arrange := range map[string]func(g *gitRepo, packs string){
		"cruft": func(g *gitRepo, packs string) {
			g.git("reflog", "expire", "--expire=now", "--all")
			g.git("branch", "-q", "-D", "gone")
			g.git("repack", "-q", "-d", "--cruft")
			g.has(packs, "*.mtimes")
		},
		"bitmap and reverse index": func(g *gitRepo, packs string) {
			g.git("-c", "pack.writeReverseIndex=true", "repack", "-q", "-a", "-d", "-b", "-k")
			g.has(packs, "*.bitmap")
			g.has(packs, "*.rev")
		},
		"kept and promised": func(g *gitRepo, packs string) {
			g.git("repack", "-q", "-a", "-d", "-k")
			for _, mark := range []string{".keep", ".promisor"} {
				must(g, os.WriteFile(strings.TrimSuffix(g.has(packs, "*.pack")[0], ".pack")+mark, nil, 0o666))
			}
		},
		"multi-pack-index": func(g *gitRepo, packs string) {
			g.git("repack", "-q", "-a", "-d", "-k")
			g.write("late", "late")
			g.git("add", "-A")
			g.git("commit", "-q", "-m", "late")
			g.git("repack", "-q", "-d")
			g.git("multi-pack-index", "write", "--bitmap")
			g.git("config", "core.multiPackIndex", "true")
			indexes := g.has(packs, "*.idx")
			if len(indexes) != 2 {
				g.Fatal(indexes)
			}
			for _, idx := range indexes { // as in no git: it wants both
				must(g, os.Remove(idx))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGit(t)
			for i := range 3 {
				g.write("f", strings.Repeat("line\n", 99)+name[:i])
				g.commit("c")
			}
			g.git("switch", "-q", "-c", "gone")
			g.write("f", "gone")
			gone := g.commit("gone")
			g.git("switch", "-q", "main")
			want := map[string]string{}
			for _, h := range strings.Fields(g.git("rev-list", "--all", "--objects", "--no-object-names")) {
				want[h] = g.git("cat-file", "-t", h)
			}
			arrange(g, filepath.Join(g.dir, ".git/objects/pack"))
			r := g.open()
			for h, kind := range want {
				obj, err := r.objects.find(mustHash(t, h))
				if err != nil || obj.kind.String() != kind {
					t.Errorf("%s, a %s: %v", h, kind, err)
					continue
				}
				if _, err := r.objects.readChecked(mustHash(t, h), obj); err != nil {
					t.Errorf("%s, a %s: %v", h, kind, err)
				}
			}
			if h, err := r.Commit(gone[:9]); err != nil || h.String() != gone {
				t.Errorf("%s: %v, %v", gone[:9], h, err)
			}
		})
	}
}

// has returns the files of a pattern, of which there is one.
func (g *gitRepo) has(dir, pattern string) []string {
	g.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		g.Fatalf("no %s in %s: %v", pattern, dir, err)
	}
	return files
}

// TestFault_100_186_MultiPackIndex: any flipped or cut byte of a multi-pack-index finds the same object or is an error.
func TestFault_100_186_MultiPackIndex(t *testing.T) { inFormats(t, testMultiPackIndex) }

func testMultiPackIndex(t *testing.T) {
	g := newGit(t)
	head := mustHash(t, g.commit("one"))
	g.git("repack", "-q", "-a", "-d")
	g.git("multi-pack-index", "write")
	packs := filepath.Join(g.dir, ".git/objects/pack")
	must(t, os.Remove(g.has(packs, "*.idx")[0]))
	file := filepath.Join(packs, "multi-pack-index")
	whole, err := os.ReadFile(file)
	must(t, err)
	must(t, os.Chmod(file, 0o666))
	found := 0
	for at := 0; at < len(whole); at += sparsely() {
		for _, content := range [][]byte{flipped(whole, at), whole[:at]} {
			must(t, os.WriteFile(file, content, 0o666))
			r := g.open()
			_, err := r.Tree(head)
			if err == nil {
				found++
			}
			_, _ = r.Commit(head.String()[:9]) // any result but a panic
			r.Close()
		}
	}
	if found == 0 || found > 2*len(whole)/sparsely() {
		t.Errorf("found %d times in %d bytes", found, len(whole))
	}
}

// TestMultiIndexOffset: a number with the first bit counts in the table of long offsets, if there is one.
func TestMultiIndexOffset(t *testing.T) {
	long := []byte{0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 3, 0, 0, 0, 0}
	for row, want := range map[string][2]int64{ // without and with the table
		"\x00\x00\x00\x01\x00\x00\x00\x0c": {12, 12},
		"\x00\x00\x00\x01\x80\x00\x00\x00": {1 << 31, 12},
		"\x00\x00\x00\x01\x80\x00\x00\x01": {1<<31 + 1, 3 << 32},
		"\x00\x00\x00\x01\x80\x00\x00\x02": {1<<31 + 2, math.MaxInt64},
	} {
		short, with := multiIndex{rows: []byte(row)}, multiIndex{rows: []byte(row), long: long}
		if got := [2]int64{short.offset(0), with.offset(0)}; got != want || !with.in(0, 1) || with.in(0, 2) {
			t.Errorf("%x: %d, want %d", row, got, want)
		}
	}
}

// TestCommitGraphChain: a chain of several files is read as one graph, and without one of them not at all.
func TestCommitGraphChain(t *testing.T) { inFormats(t, testCommitGraphChain) }

func testCommitGraphChain(t *testing.T) {
	g := newGit(t)
	tree := g.git("write-tree")
	want := map[string]string{}
	var all []string
	for i := range 12 {
		args := []string{"commit-tree", "-m", "c"}
		for _, back := range []int{1, 2, 3, 5}[:min(i, i%5)] { // octopus merges too
			if back <= i {
				args = append(args, "-p", all[i-back])
			}
		}
		h := g.git(append(args, tree)...)
		g.git("update-ref", "refs/heads/"+h, h)
		all, want[h] = append(all, h), g.git("log", "-1", "--format=%ct %P", h)
		if i%4 == 3 {
			g.git("commit-graph", "write", "--reachable", "--split=no-merge")
		}
	}
	dir := filepath.Join(g.dir, ".git/objects/info/commit-graphs")
	layers := g.has(dir, "*.graph")
	if len(layers) != 3 {
		t.Fatal(layers)
	}
	graph := g.open().openGraph()
	for h, line := range want {
		c := graph.find(mustHash(t, h))
		if c == nil {
			t.Errorf("%s is not in the graph", h)
			continue
		}
		got := fmt.Sprint(c.date)
		for _, p := range c.parents {
			got += " " + p.String()
		}
		if got != line {
			t.Errorf("%s: %s, want %s", h, got, line)
		}
	}
	if graph.find(mustHash(t, strings.Repeat("12", g.format.size()))) != nil {
		t.Error("it has an unknown commit")
	}
	for _, layer := range layers {
		must(t, os.Rename(layer, layer+".gone"))
		if g.open().openGraph() != nil {
			t.Errorf("without %s: the chain is used", layer)
		}
		must(t, os.Rename(layer+".gone", layer))
	}
	list := filepath.Join(dir, "commit-graph-chain")
	lines := g.readLines(list)
	for _, wrong := range []string{lines[1] + lines[2], lines[1] + lines[0] + lines[2], lines[0] + lines[2]} {
		must(t, os.Chmod(list, 0o666))
		must(t, os.WriteFile(list, []byte(wrong), 0o666))
		if g.open().openGraph() != nil {
			t.Errorf("the chain is used as %q", wrong)
		}
	}
}

func (g *gitRepo) readLines(file string) []string {
	g.Helper()
	text, err := os.ReadFile(file)
	must(g, err)
	return strings.SplitAfter(string(text), "\n")
}
