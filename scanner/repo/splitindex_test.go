//go:build unix

package repo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// splitIndex splits the index, whose files are older than it, so that git need not check them again.
func (g *gitRepo) splitIndex() {
	g.Helper()
	old := time.Now().Add(-time.Hour)
	for _, name := range strings.Split(g.git("ls-files"), "\n") {
		_ = os.Chtimes(filepath.Join(g.dir, name), old, old) // some are not checked out
	}
	g.git("add", "-u")
	g.git("update-index", "--split-index")
	g.sharedIndex()
}

// sharedIndex is the file of the one shared index.
func (g *gitRepo) sharedIndex() string {
	g.Helper()
	shared, _ := filepath.Glob(filepath.Join(g.git("rev-parse", "--absolute-git-dir"), "sharedindex.*"))
	if len(shared) != 1 || !bytes.Contains(g.indexBytes(), []byte("link")) {
		g.Fatalf("the index is not split: %q", shared)
	}
	return shared[0]
}

// TestFault_183_Split: an index in two files has the files that git lists.
func TestFault_183_Split(t *testing.T) { inFormats(t, testSplit) }

func testSplit(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(g *gitRepo){
		"nothing": func(*gitRepo) {},
		"added and changed": func(g *gitRepo) { // a changed entry of the shared index has no name in this one
			g.write("more.tf", "more")
			g.write("a.tf", "changed")
			g.write("zz/last.tf", "last")
			g.git("add", "more.tf", "a.tf", "zz")
		},
		"removed": func(g *gitRepo) { g.git("rm", "-q", "-r", "--cached", "far", "a.tf") },
		"all":     func(g *gitRepo) { g.git("rm", "-q", "-r", "--cached", ".") },
		"empty":   func(g *gitRepo) { g.git("read-tree", "--empty"); g.git("update-index", "--split-index") },
		"both": func(g *gitRepo) {
			g.git("rm", "-q", "--cached", "far.tf")
			g.write("near/by.tf", "x")
			g.git("add", "near")
		},
		"a file is a directory": func(g *gitRepo) {
			must(g, os.Remove(filepath.Join(g.dir, "a.tf")))
			g.write("a.tf/b.tf", "b")
			g.git("add", "-A")
		},
		"another commit": func(g *gitRepo) { g.commit("two"); g.git("checkout", "-q", "HEAD~1"); g.git("read-tree", "-m", "main") },
		"flags": func(g *gitRepo) {
			g.write("later.tf", "later")
			g.git("add", "-N", "later.tf")
			g.git("update-index", "--skip-worktree", "far.tf")
		},
		"a conflict that was resolved": func(g *gitRepo) {
			g.conflict()
			g.git("update-index", "--split-index") // so that the shared index has several versions of a path
			idx, err := g.open().Index()
			must(g, err)
			if got, want := stagedLines(idx.Files), g.listed(); !slices.Equal(got, want) {
				g.Errorf("got  %q\nwant %q", got, want)
			}
			g.write("a.tf", "resolved")
			g.git("add", "-A")
		},
	} {
		for _, version := range []string{"2", "4"} {
			t.Run(name+", version "+version, func(t *testing.T) {
				t.Parallel()
				g := indexed(t)
				g.git("config", "splitIndex.maxPercentChange", "100")
				g.git("update-index", "--index-version", version)
				g.splitIndex()
				change(g)
				if !bytes.Contains(g.indexBytes(), []byte("link")) {
					t.Fatal("the index is no longer split")
				}
				g.sameIndex()
			})
		}
	}
}

// TestFault_183_Places: the shared index is in the git directory of a linked work tree, too, or beside an index that
// GIT_INDEX_FILE names; and what git tracks is what both parts have.
func TestFault_183_Places(t *testing.T) {
	g := indexed(t)
	g.commit("two")
	linked := &gitRepo{TB: t, dir: filepath.Join(t.TempDir(), "linked"), clock: g.clock + 1000}
	g.git("worktree", "add", "-q", "-b", "side", linked.dir)
	linked.git("update-index", "--split-index")
	linked.write("added.tf", "x")
	linked.git("add", "added.tf")
	idx, err := linked.open().Index()
	must(t, err)
	if got, want := stagedLines(idx.Files), linked.listed(); !slices.Equal(got, want) || len(want) != len(g.listed())+1 {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, want := range map[string]bool{"added.tf": true, "same.tf": true, "none.tf": false} {
		if tracked, err := tracks(filepath.Join(linked.dir, name)); tracked != want || err != nil {
			t.Errorf("%s: tracked: %v, %v", name, tracked, err)
		}
	}
	aside := filepath.Join(t.TempDir(), "index")
	t.Setenv("GIT_INDEX_FILE", aside)
	g.git("read-tree", "HEAD")
	g.git("update-index", "--split-index")
	idx, err = g.open().Index()
	must(t, err)
	if got, want := stagedLines(idx.Files), g.listed(); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFault_183_Damage: a split index is an error with its shared index missing, damaged or another, and with any
// damage to either file that their checksums do not show: an error, or a well-formed index.
func TestFault_183_Damage(t *testing.T) { inFormats(t, testSplitDamage) }

func testSplitDamage(t *testing.T) {
	t.Parallel()
	trials := 500
	if *long {
		trials = 20_000
	}
	g := indexed(t)
	g.splitIndex()
	g.write("a.tf", "changed")
	g.git("add", "a.tf")
	g.git("rm", "-q", "--cached", "same.tf")
	r := g.open()
	shared := g.sharedIndex()
	whole, base := g.indexBytes(), first2(os.ReadFile(shared))
	idx, err := r.Index()
	must(t, err)
	want := stagedLines(idx.Files)
	rnd := rand.New(rand.NewPCG(15, 16))
	errs := 0
	must(t, os.Chmod(shared, 0o666))
	for i := range trials {
		content, other := whole, base
		switch what := fmt.Sprint(i); i % 4 {
		case 0:
			other = damaged(rnd, base)
			if i == 0 {
				other = g.format.unsealed(base)
			}
		case 1:
			content = damaged(rnd, whole)
		case 2: // its checksum is right, but another's than the link's
			if other = g.format.sealed(flipped(base, 12+rnd.IntN(len(base)-12-g.format.size()))); bytes.Equal(other, base) {
				t.Fatal(what)
			}
		default:
			content = g.format.sealed(flipped(whole, rnd.IntN(len(whole)-g.format.size())))
		}
		must(t, os.WriteFile(shared, other, 0o666))
		g.setIndex(content)
		idx, err := r.Index()
		switch {
		case err != nil:
			errs++
		case i%4 == 3:
			sane(t, idx)
		case !slices.Equal(stagedLines(idx.Files), want):
			t.Fatalf("%d: the damaged index has %q, not %q", i, stagedLines(idx.Files), want)
		}
	}
	if errs < trials*3/4 {
		t.Errorf("of %d damages %d are errors", trials, errs)
	}
	g.setIndex(whole)
	must(t, os.Remove(shared))
	_, err = r.Index()
	wantIndexError(t, "missing", err, "sharedindex")
	wantIndexError(t, "missing", err, "remove the index and run git reset")
}

// bitmap is a set in the EWAH format, of its words.
func bitmap(words ...uint64) string {
	out := []byte{0, 0, 0, 99, 0, 0, 0, byte(len(words))}
	for _, w := range words {
		out = binary.BigEndian.AppendUint64(out, w)
	}
	return string(append(out, 0, 0, 0, 0))
}

// TestFault_183_Link: a link that git never writes is an error in spite of right checksums.
func TestFault_183_Link(t *testing.T) {
	g := newGit(t)
	base := indexOf(2, 2, indexEntry("a", File, 0), indexEntry("c", File, 0))
	sum := string(base[len(base)-20:])
	shared := filepath.Join(g.dir, fmt.Sprintf(".git/sharedindex.%x", sum))
	set := func(bits uint64) string { return bitmap(1<<33, bits) }
	named, nameless := indexEntry("b", File, 0), indexEntry("", File, 0)
	zeros := string(make([]byte, 20))
	linked := func(content []byte, link string) []byte { return formatSHA1.extended(content, "link", len(link), link) }
	for _, c := range []struct {
		name  string
		index []byte
		base  []byte
		want  string // the paths; "" is an error
	}{
		{"added", linked(indexOf(2, 1, named), sum+set(0)+set(0)), base, "a b c"},
		{"no sets", linked(indexOf(2, 1, named), sum), base, "a b c"},
		{"removed", linked(indexOf(2, 1, named), sum+set(1)+set(0)), base, "b c"},
		{"replaced", linked(indexOf(2, 2, nameless, named), sum+set(1)+set(2)), base, "b c"},
		{"no shared index", linked(indexOf(2, 1, named), zeros+set(0)+set(0)), base, "b"},
		{"no shared index, but an entry of it", linked(indexOf(2, 1, nameless), zeros), base, ""},
		{"removed and replaced", linked(indexOf(2, 1, nameless), sum+set(2)+set(2)), base, ""},
		{"replaced by an entry with a name", linked(indexOf(2, 1, named), sum+set(0)+set(2)), base, ""},
		{"added without a name", linked(indexOf(2, 1, nameless), sum+set(0)+set(0)), base, ""},
		{"replaced by nothing", linked(indexOf(2, 0), sum+set(0)+set(1)), base, ""},
		{"more removed than shared", linked(indexOf(2, 0), sum+set(4)+set(0)), base, ""},
		{"added twice", linked(indexOf(2, 1, indexEntry("c", File, 0)), sum), base, ""},
		{"one set", linked(indexOf(2, 0), sum+set(0)), base, ""},
		{"three sets", linked(indexOf(2, 0), sum+set(0)+set(0)+set(0)), base, ""},
		{"a short link", linked(indexOf(2, 0), sum[:19]), base, ""},
		{"another shared index", linked(indexOf(2, 0), sum), indexOf(2, 1, named), ""},
		{"a shared index that is split", linked(indexOf(2, 0), sum), linked(base, sum), ""},
	} {
		must(t, os.WriteFile(shared, c.base, 0o666))
		g.setIndex(c.index)
		idx, err := g.open().Index()
		got := ""
		if err == nil {
			for _, f := range idx.Files {
				got += f.Path + " "
			}
		}
		if got = strings.TrimSpace(got); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestSetBits: of a bitmap all bits that are set are read, and one beyond the limit is an error.
func TestSetBits(t *testing.T) {
	word := func(ones bool, run, plain uint64) uint64 {
		w := run<<1 | plain<<33
		if ones {
			w |= 1
		}
		return w
	}
	const all = ^uint64(0)
	for _, c := range []struct {
		text  string
		limit int
		want  int // how many bits; -1: it is malformed
		last  int
	}{
		{bitmap(), 0, 0, 0},
		{bitmap(word(false, 0, 1), 0b101), 3, 2, 2},
		{bitmap(word(false, 0, 1), 0b101), 2, -1, 0},
		{bitmap(word(false, 2, 1), 1), 129, 1, 128},
		{bitmap(word(false, 2, 1), 1), 128, -1, 0},
		{bitmap(word(true, 2, 0)), 128, 128, 127},
		{bitmap(word(true, 2, 0)), 127, -1, 0},
		{bitmap(word(true, 1<<32-1, 0)), 127, -1, 0},
		{bitmap(word(true, 1, 1), all, word(false, 1, 1), 2), 1000, 129, 193},
		{bitmap(word(false, 1<<32-1, 0), word(false, 1<<32-1, 1), 0), 9, 0, 0},
		{bitmap(word(false, 1<<32-1, 0), word(false, 1<<32-1, 1), 1), 9, -1, 0},
		{bitmap(word(false, 0, 2), 1), 9, -1, 0},
		{bitmap(word(false, 0, 1), 1)[:15], 9, -1, 0},
		{bitmap()[:11], 9, -1, 0},
		{"", 9, -1, 0},
	} {
		set, rest, ok := setBits(c.text+"rest", c.limit)
		if c.want < 0 {
			if set, rest, ok = setBits(c.text, c.limit); ok {
				t.Errorf("%x: %v, %q", c.text, set, rest)
			}
			continue
		}
		if !ok || rest != "rest" || len(set) != c.want || c.want > 0 && set[c.want-1] != c.last || !slices.IsSorted(set) {
			t.Errorf("%x: %v, %q, %v", c.text, set, rest, ok)
		}
	}
}
