//go:build unix

package repo

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// indexPath is the index of a repository that newGit made.
func (g *gitRepo) indexPath() string { return filepath.Join(g.dir, ".git/index") }

func (g *gitRepo) indexBytes() []byte {
	g.Helper()
	content, err := os.ReadFile(g.indexPath())
	must(g, err)
	return content
}

// setIndex writes the index, malformed or not.
func (g *gitRepo) setIndex(content []byte) {
	g.Helper()
	must(g, os.WriteFile(g.indexPath(), content, 0o666))
}

// sealed returns an index with the right checksum.
func (f format) sealed(content []byte) []byte {
	body := content[:len(content)-f.size()]
	return append(bytes.Clone(body), f.checksum(string(body))...)
}

// unsealed returns an index as git writes it with index.skipHash.
func (f format) unsealed(content []byte) []byte {
	return append(bytes.Clone(content[:len(content)-f.size()]), make([]byte, f.size())...)
}

// stagedLines are the lines of the index as printed by git ls-files -s -z, but with one line for all versions of a
// conflict.
func stagedLines(files []Staged) []string {
	lines := []string{}
	for _, f := range files {
		line := fmt.Sprintf("%06o %s 0\t%s", uint32(f.Mode), f.Hash, f.Path)
		if f.Conflict {
			line = "conflict\t" + f.Path
		}
		lines = append(lines, line)
	}
	return lines
}

// listed are git's lines of the index.
func (g *gitRepo) listed() []string {
	g.Helper()
	out, err := g.try("ls-files", "-s", "-z") // not trimmed: a name may end in a line feed
	must(g, err)
	lines := []string{}
	for _, line := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		entry, name, ok := strings.Cut(line, "\t")
		if ok && !strings.HasSuffix(entry, " 0") {
			line = "conflict\t" + name
		}
		if ok && (len(lines) == 0 || lines[len(lines)-1] != line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// sameIndex compares the index, and the changes of a commit of it, with git.
func (g *gitRepo) sameIndex() *Index {
	g.Helper()
	r := g.open()
	idx, err := r.Index()
	must(g, err)
	if got, want := stagedLines(idx.Files), g.listed(); !slices.Equal(got, want) {
		g.Fatalf("got  %q\nwant %q", got, want)
	}
	committed, err := idx.Committed()
	must(g, err)
	_, tree := commitOf(g, r, "HEAD")
	got := sortedChanges(g, func(visit func(Change) error) error { return r.DiffIndex(tree, committed, visit) })
	if want := sortRaw(g.git("diff-tree", "-r", "-z", "--no-renames", "HEAD", g.git("write-tree"))); got != want {
		g.Fatalf("a commit would change\n%q\nnot\n%q", want, got)
	}
	return idx
}

// indexed makes a repository with a commit and a later staged change.
func indexed(t *testing.T) *gitRepo {
	t.Helper()
	g := newGit(t)
	// A directory's files are after far.tf and before far0: a slash sorts between them.
	for _, name := range []string{"a.tf", "far/away.tf", "far/deep/down.tf", "far.tf", "far0/after.tf", "near/by.tf",
		"same.tf", "z"} {
		g.write(name, name)
	}
	g.commit("one")
	g.write("a.tf", "staged")
	g.write("near/added.tf", "added")
	g.git("add", "-A")
	g.git("rm", "-q", "--cached", "z")
	return g
}

func wantIndexError(t *testing.T, what string, err error, text string) {
	t.Helper()
	if !errors.Is(err, ErrIndex) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want %v: %s", what, err, ErrIndex, text)
	}
}

// TestFault_128_Layouts: an index in any layout of git's has the files that git lists.
func TestFault_128_Layouts(t *testing.T) { inFormats(t, testLayouts) }

func testLayouts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(g *gitRepo)
		is   func(g *gitRepo) bool // the index has the intended layout
	}{
		"as it comes": {func(*gitRepo) {}, nil},
		"empty": {func(g *gitRepo) { g.git("rm", "-q", "-r", "--cached", ".") },
			func(g *gitRepo) bool { return len(g.listed()) == 0 }},
		"sparse": {
			func(g *gitRepo) {
				g.git("sparse-checkout", "init", "--cone", "--sparse-index")
				g.git("sparse-checkout", "set", "near")
				g.write("near/more.tf", "more")
				g.git("add", "near")
			},
			func(g *gitRepo) bool { return strings.Contains(g.git("ls-files", "-s", "--sparse"), "\tfar/\n") },
		},
		"sparse, in version 4": {
			func(g *gitRepo) {
				g.git("update-index", "--index-version", "4")
				g.git("sparse-checkout", "set", "--cone", "--sparse-index", "near")
			},
			func(g *gitRepo) bool {
				return strings.Contains(g.git("ls-files", "-s", "--sparse"), "\tfar/\n") && g.indexBytes()[7] == 4
			},
		},
		"no longer sparse": {
			func(g *gitRepo) {
				g.git("sparse-checkout", "set", "--cone", "--sparse-index", "near")
				g.git("sparse-checkout", "reapply", "--no-sparse-index")
			},
			func(g *gitRepo) bool { return strings.Contains(g.git("ls-files", "-t"), "S far/away.tf") },
		},
		"skipHash": { // as written by git 2.40 and newer
			func(g *gitRepo) {
				g.git("config", "index.skipHash", "true")
				g.git("update-index", "--force-write-index")
				g.setIndex(g.format.unsealed(g.indexBytes()))
			},
			func(g *gitRepo) bool { return bytes.HasSuffix(g.indexBytes(), make([]byte, g.format.size())) },
		},
		"flags": {
			func(g *gitRepo) {
				g.write("later.tf", "later")
				g.git("add", "-N", "later.tf")
				g.git("update-index", "--assume-unchanged", "same.tf")
				g.git("update-index", "--skip-worktree", "far.tf")
				g.write("same.tf", "not staged")
				g.write("far.tf", "not staged")
			},
			func(g *gitRepo) bool {
				flags := g.git("ls-files", "-v")
				return strings.Contains(flags, "h same.tf") && strings.Contains(flags, "S far.tf") &&
					g.indexBytes()[7] == 3
			},
		},
		"racy": {
			func(g *gitRepo) {
				// Changed after it was staged, to another content of the same length, at the same time: only its
				// content tells. git writes its size as 0 then.
				path := filepath.Join(g.dir, "racy.tf")
				now := time.Now().Add(time.Hour)
				// The change time cannot be set, and would tell the two apart.
				g.git("config", "core.trustctime", "false")
				g.write("racy.tf", "staged")
				os.Chtimes(path, now, now)
				g.git("add", "racy.tf")
				g.write("racy.tf", "edited")
				os.Chtimes(path, now, now)
				g.git("update-index", "--force-write-index")
			},
			func(g *gitRepo) bool {
				return strings.Contains(g.git("ls-files", "--debug", "racy.tf"), "size: 0") &&
					g.git("diff", "--name-only") == "racy.tf"
			},
		},
		"a conflict that was resolved": {
			func(g *gitRepo) {
				g.conflict()
				g.write("a.tf", "resolved")
				g.git("add", "-A")
			},
			func(g *gitRepo) bool { return bytes.Contains(g.indexBytes(), []byte("REUC")) },
		},
		"cached trees": {
			func(g *gitRepo) {
				g.git("read-tree", "HEAD")
				g.git("add", "near")
				g.git("write-tree")
				g.git("add", "a.tf")
			},
			func(g *gitRepo) bool { return bytes.Contains(g.indexBytes(), []byte("TREE\x00\x00\x00")) },
		},
		"extensions": {
			func(g *gitRepo) {
				g.git("config", "index.threads", "2")
				g.git("config", "index.recordEndOfIndexEntries", "true")
				g.git("config", "index.recordOffsetTable", "true")
				g.git("update-index", "--force-untracked-cache")
				g.git("status")
				g.git("write-tree")
			},
			func(g *gitRepo) bool {
				content := g.indexBytes()
				return bytes.Contains(content, []byte("UNTR")) && bytes.Contains(content, []byte("EOIE")) &&
					bytes.Contains(content, []byte("TREE"))
			},
		},
		"long paths": {func(g *gitRepo) { g.longPaths() }, nil},
		"long paths, in version 4": {
			func(g *gitRepo) { g.git("update-index", "--index-version", "4"); g.longPaths() },
			func(g *gitRepo) bool { return g.indexBytes()[7] == 4 },
		},
		"submodules and links": {
			func(g *gitRepo) {
				os.Symlink("target", filepath.Join(g.dir, "link"))
				g.git("add", "link")
				g.git("update-index", "--add", "--cacheinfo", "160000,"+g.git("rev-parse", "HEAD")+",sub")
				os.Chmod(filepath.Join(g.dir, "same.tf"), 0o755)
				g.git("add", "same.tf")
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := indexed(t)
			c.make(g)
			if c.is != nil && !c.is(g) {
				t.Fatalf("git made another index:\n%q", g.indexBytes())
			}
			g.sameIndex()
		})
	}
}

// longPaths stages paths around the greatest length that an entry can declare.
func (g *gitRepo) longPaths() {
	g.Helper()
	blob := g.git("rev-parse", "HEAD:z")
	for _, n := range []int{4093, 4094, 4095, 4096, 5000} {
		path := strings.Repeat(strings.Repeat("d", 99)+"/", n/100) // git's own limit for a name is the file system's
		g.git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+path+strings.Repeat("x", n-len(path)+1))
	}
}

// conflict leaves a merge with conflicts of three kinds: a.tf changed by both, b.tf added by both, far.tf deleted by
// one.
func (g *gitRepo) conflict() {
	g.Helper()
	g.git("reset", "-q", "--hard")
	for _, branch := range []string{"ours", "theirs"} {
		g.git("checkout", "-q", "-b", branch, "main")
		g.write("a.tf", branch)
		g.write("b.tf", branch)
		if g.write("far.tf", branch); branch == "ours" {
			os.Remove(filepath.Join(g.dir, "far.tf"))
		}
		g.commit(branch)
	}
	if out, err := g.try("merge", "-q", "ours"); err == nil {
		g.Fatalf("there is no conflict: %s", out)
	}
}

// TestFault_128_Sparse: a directory of a sparse index is read from its tree, as files without a checkout; without that
// tree it is an error.
func TestFault_128_Sparse(t *testing.T) { inFormats(t, testSparse) }

func testSparse(t *testing.T) {
	t.Parallel()
	g := indexed(t)
	g.git("sparse-checkout", "set", "--cone", "--sparse-index", "near")
	idx := g.sameIndex()
	outside := 0
	for _, f := range idx.Files {
		if in := strings.HasPrefix(f.Path, "far/") || strings.HasPrefix(f.Path, "far0/"); in != f.SkipWorktree {
			t.Errorf("%s: not checked out: %v", f.Path, f.SkipWorktree)
		} else if in {
			outside++
		}
	}
	if outside != 3 {
		t.Errorf("%d files are not checked out, want 3", outside)
	}
	for path, want := range map[string]Mode{".": dirMode, "far": dirMode, "far/deep": dirMode,
		"far/deep/down.tf": File, "far/none": 0, "fa": 0, "far.tf": File, "near": dirMode, "": 0, "zzz": 0} {
		if leaf, ok := idx.Lookup(path); ok != (want != 0) || leaf.Mode != want {
			t.Errorf("%q: %06o, %v, want %06o", path, leaf.Mode, ok, want)
		}
	}
	for _, dir := range []string{"HEAD:far/deep", "HEAD:far"} {
		tree := g.git("rev-parse", dir)
		must(t, os.Remove(filepath.Join(g.dir, ".git/objects", tree[:2], tree[2:])))
		_, err := g.open().Index()
		wantError(t, "without "+dir, err, ErrMissing)
	}

	g = indexed(t) // file by file
	g.git("sparse-checkout", "set", "--no-cone", "/near/")
	g.write("near/later.tf", "x")
	g.git("add", "-N", "near/later.tf")
	for _, f := range g.sameIndex().Files {
		if in := strings.HasPrefix(f.Path, "near/"); in == f.SkipWorktree ||
			f.IntentToAdd != (f.Path == "near/later.tf") {
			t.Errorf("%s: not checked out: %v; only meant to be added: %v", f.Path, f.SkipWorktree, f.IntentToAdd)
		}
	}
}

// TestFault_128_Conflict: a path with several versions of a merge is listed once, and nothing can be committed.
func TestFault_128_Conflict(t *testing.T) { inFormats(t, testConflict) }

func testConflict(t *testing.T) {
	t.Parallel()
	g := indexed(t)
	g.conflict()
	idx, err := g.open().Index()
	must(t, err)
	got, want := stagedLines(idx.Files), g.listed()
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	conflicts := 0
	for _, f := range idx.Files {
		if f.Conflict {
			conflicts++
		}
	}
	if conflicts != 3 {
		t.Errorf("%d conflicts, want 3: %q", conflicts, got)
	}
	if _, err = idx.Committed(); err == nil || !strings.Contains(err.Error(), "git add") {
		t.Errorf("%v, want what to run", err)
	}
	wantIndexError(t, "what is committed", err, `"a.tf" has a conflict`)
	for _, name := range []string{"a.tf", "b.tf", "far.tf"} {
		if tracked, err := tracks(filepath.Join(g.dir, name)); err != nil || !tracked {
			t.Errorf("%s: tracked: %v, %v", name, tracked, err)
		}
		g.git("add", "-A", name)
	}
	g.sameIndex()
}

// tracks reports whether git tracks a file.
func tracks(file string) (bool, error) { return Environment{}.tracks(filepath.Dir(file), file) }

// BenchmarkIndex reads an index. Its checksum takes about as long as its entries, so another goroutine computes it.
func BenchmarkIndex(b *testing.B) {
	g := newGit(b)
	var list strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&list, "100644 %040x\tservices/s%03d/deploy/file%05d.yaml\n", i+1, i/100, i)
	}
	cmd := exec.Command("git", "update-index", "--index-info")
	cmd.Dir, cmd.Stdin = g.dir, strings.NewReader(list.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	content := string(g.indexBytes())
	measure := func(name string, read func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				must(b, read())
			}
		})
	}
	measure("checksum", func() error { formatSHA1.checksum(content); return nil })
	measure("entries", func() error { _, err := formatSHA1.parseEntries(content[:len(content)-sha1.Size]); return err })
	measure("both", func() error { _, err := formatSHA1.parseIndex(content); return err })
	measure("file", func() error {
		_, err := formatSHA1.readIndex("", filepath.Join(g.dir, ".git/index"))
		return err
	})
}

// parseIndex reads an index that is not split.
func (f format) parseIndex(content string) (*Index, error) {
	x, err := f.parseIndexFile(content)
	if err == nil {
		err = x.settle()
	}
	return x, err
}
