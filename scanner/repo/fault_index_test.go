//go:build unix

package repo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestFault_128_Damage: an index with any flipped or cut byte is an error. Without git's checksum, it is an error or a
// well-formed index.
func TestFault_128_Damage(t *testing.T) { inFormats(t, testDamage) }

func testDamage(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(g *gitRepo){
		"version 2": func(*gitRepo) {},
		"version 3": func(g *gitRepo) { g.write("later.tf", ""); g.git("add", "-N", "later.tf") },
		"version 4": func(g *gitRepo) { g.git("update-index", "--index-version", "4") },
		"sparse":    func(g *gitRepo) { g.git("sparse-checkout", "set", "--cone", "--sparse-index", "near") },
		"conflict":  func(g *gitRepo) { g.conflict() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := indexed(t)
			arrange(g)
			r := g.open()
			_, tree := commitOf(t, r, "HEAD")
			whole, f := g.indexBytes(), g.format
			for at := 0; at < len(whole); at += sparsely() {
				for what, content := range map[string][]byte{"flipped": flipped(whole, at), "cut": whole[:at],
					"added to": slices.Insert(bytes.Clone(whole), at, 'x')} {
					g.setIndex(content)
					_, err := r.Index()
					wantIndexError(t, fmt.Sprintf("%s at %d of %d", what, at, len(whole)), err, "")
				}
			}
			read := 0
			for at := 0; at < len(whole)-f.size(); at += sparsely() {
				flip := flipped(whole, at)
				for _, content := range [][]byte{f.unsealed(flip), f.sealed(flip), f.unsealed(whole[:at+f.size()]),
					f.sealed(whole[:at+f.size()])} {
					g.setIndex(content)
					idx, err := r.Index()
					if err != nil {
						continue
					}
					read++
					sane(t, idx)
					if idx, err = idx.Committed(); err == nil {
						_ = r.DiffIndex(tree, idx, func(Change) error { return nil }) // any result but a panic
					}
				}
			}
			if read == 0 {
				t.Error("none could be read: nothing was tried")
			}
		})
	}
}

// sparsely is 23, so that flips reach each of a byte's bits, or 1 for slow runs.
func sparsely() int {
	if *long {
		return 1
	}
	return 23
}

// sane fails unless each path of an index is unique, in order, and inside the work tree.
func sane(t *testing.T, idx *Index) {
	t.Helper()
	last := ""
	for _, f := range idx.Files {
		if f.Path <= last || !filepath.IsLocal(f.Path) || filepath.Clean(f.Path) != f.Path ||
			strings.EqualFold(strings.SplitN(f.Path, "/", 2)[0], ".git") {
			t.Fatalf("%q after %q", f.Path, last)
		}
		last = f.Path
	}
}

// indexEntry is an encoded entry of an index of version 2.
func indexEntry(path string, mode Mode, flags uint16) []byte {
	e := make([]byte, 62)
	binary.BigEndian.PutUint32(e[24:], uint32(mode))
	e[40] = 1 // of the hash
	binary.BigEndian.PutUint16(e[60:], flags|uint16(len(path)))
	e = append(e, path...)
	return append(e, make([]byte, 8-len(e)%8)...)
}

// indexOf is an index with a checksum.
func indexOf(version, count uint32, entries ...[]byte) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), version), count)
	return formatSHA1.sealed(append(append(head, bytes.Join(entries, nil)...), make([]byte, formatSHA1.size())...))
}

// TestFault_128_Malformed: an index that git never writes is an error in spite of its right checksum: a path out of
// the work tree, or one that two readers could read differently.
func TestFault_128_Malformed(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	file := func(path string) []byte { return indexEntry(path, File, 0) }
	a, b := file("a"), file("b")
	for name, c := range map[string]struct {
		content []byte
		ok      bool
	}{
		"none": {indexOf(2, 0), true},
		"two":  {indexOf(2, 2, a, b), true},
		"a conflict of three": {indexOf(2, 3, indexEntry("a", File, 1<<12), indexEntry("a", File, 2<<12),
			indexEntry("a", File, 3<<12)), true},
		"an old mode":              {indexOf(2, 1, indexEntry("a", 0o100664, 0)), true},
		"not in order":             {indexOf(2, 2, b, a), false},
		"twice":                    {indexOf(2, 2, a, a), false},
		"in conflict, and not":     {indexOf(2, 2, indexEntry("a", File, 1<<12), a), false},
		"not, and in conflict":     {indexOf(2, 2, a, indexEntry("a", File, 2<<12)), false},
		"more than there are":      {indexOf(2, 3, a, b), false},
		"fewer than there are":     {indexOf(2, 1, a, b), false},
		"no name":                  {indexOf(2, 1, file("")), false},
		"two without a name":       {indexOf(2, 2, file(""), file("")), false},
		"..":                       {indexOf(2, 1, file("..")), false},
		"../a":                     {indexOf(2, 1, file("../a")), false},
		"a/../b":                   {indexOf(2, 1, file("a/../b")), false},
		"./a":                      {indexOf(2, 1, file("./a")), false},
		"/a":                       {indexOf(2, 1, file("/a")), false},
		"a//b":                     {indexOf(2, 1, file("a//b")), false},
		"a/":                       {indexOf(2, 1, file("a/")), false},
		".git/config":              {indexOf(2, 1, file(".git/config")), false},
		"a/.GIT/config":            {indexOf(2, 1, file("a/.GIT/config")), false},
		".git after another path":  {indexOf(2, 2, file("aaaaaaaaaaaa"), file("b/.git/config")), false},
		".. after its sibling":     {indexOf(2, 2, file("a/-"), file("a/..")), false},
		".GIT after its sibling":   {indexOf(2, 2, file("a/b/-"), file("a/b/.GIT")), false},
		"// after its sibling":     {indexOf(2, 2, file("a/-"), file("a//b")), false},
		". after a directory":      {indexOf(2, 2, file("a/-/b"), file("a/.")), false},
		"a/../ after a/b":          {indexOf(2, 2, file("a/-/b"), file("a/../b")), false},
		"dots after a sibling":     {indexOf(2, 2, file("a/b"), file("a/b..")), true},
		"a directory with no name": {indexOf(2, 1, indexEntry("/", dirMode, 0)), false},
		"siblings":                 {indexOf(2, 4, file("a/b"), file("a/c/d"), file("a/c/e"), file("a/d")), true},
		"a longer name than it says": {indexOf(2, 1, append(indexEntry("a", File, 0)[:61],
			append([]byte{1, 'a', 'b'}, make([]byte, 8)...)...)), false},
		"no mode":                    {indexOf(2, 1, indexEntry("a", 0, 0)), false},
		"an unknown mode":            {indexOf(2, 1, indexEntry("a", 0o170000, 0)), false},
		"a directory without a tree": {indexOf(2, 1, indexEntry("a/", dirMode, 0)), false},
		"extended in version 2":      {indexOf(2, 1, indexEntry("a", File, flagExtended)), false},
		"version 1":                  {indexOf(1, 2, a, b), false},
		"version 5":                  {indexOf(5, 2, a, b), false},
		"of version 4":               {indexOf(4, 2, version4("a", 0), version4("b", 1)), true},
		"less than nothing":          {indexOf(4, 2, version4("a", 0), version4("b", 2)), false},
		"less than nothing, first":   {indexOf(4, 1, version4("a", 1)), false},
		"much less than nothing": {indexOf(4, 1, version4("a", 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0x7f)), false},
		"a number without end": {indexOf(4, 1, version4("a", 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0)), false},
		"another beginning": {formatSHA1.sealed(append([]byte("CRID"), indexOf(2, 0)[4:]...)), false},
	} {
		g.setIndex(c.content)
		_, err := g.open().Index()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if _, tracksErr := tracks(filepath.Join(g.dir, "none")); c.ok && tracksErr != nil {
			t.Errorf("%s: tracked: %v", name, tracksErr)
		}
	}
}

// TestFault_128_TooLong: an index over a gigabyte is not read into memory.
func TestFault_128_TooLong(t *testing.T) {
	t.Parallel()
	g := indexed(t)
	if err := os.Truncate(filepath.Join(g.dir, ".git/index"), maxIndex+1); err != nil { // a sparse file
		t.Fatal(err)
	}
	_, err := g.open().Index()
	wantIndexError(t, "too long", err, ErrLimit.Error())
}

// version4 is an entry of an index of version 4, which drops as many bytes of the previous path as cut encodes.
func version4(end string, cut ...byte) []byte {
	e := indexEntry("x", File, 0)[:62]
	return append(append(append(e, cut...), end...), 0)
}

// extended returns an index with one more extension, of declared length n.
func (f format) extended(content []byte, name string, n int, has string) []byte {
	body := bytes.Clone(content[:len(content)-f.size()])
	body = append(body, name...)
	body = binary.BigEndian.AppendUint32(body, uint32(n))
	body = append(body, has...)
	return f.sealed(append(body, make([]byte, f.size())...))
}

// TestFault_128_Extensions: an unknown extension may be ignored if its name begins with a capital, as in git, and is
// an error otherwise.
func TestFault_128_Extensions(t *testing.T) {
	t.Parallel()
	g := indexed(t)
	whole, want := g.indexBytes(), g.listed()
	for _, c := range []struct {
		name, problem string
		length        int // declared; 5 is true
	}{
		{"ABCD", "", 5},
		{"Zzzz", "", 5},
		{"FSMN", "", 5},
		{"IEOT", "", 5},
		{"abcd", `the unknown extension "abcd"`, 5},
		{"\x00\x00\x00\x00", "unknown extension", 5},
		{"[BCD", "unknown extension", 5},
		{"@BCD", "unknown extension", 5},
		{"link", "link to the shared index is damaged", 5},
		{"ABCD", "it ends", 6},
		{"ABCD", "it ends", 4},
		{"ABCD", "it ends", 1<<32 - 1},
	} {
		g.setIndex(g.format.extended(whole, c.name, c.length, "bytes"))
		idx, err := g.open().Index()
		if c.problem != "" {
			wantIndexError(t, c.name, err, c.problem)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.name, err)
		} else if got := stagedLines(idx.Files); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", c.name, got, want)
		}
	}
}

// TestFault_128_TreeCache: a torn cache of trees is an error; an entry with a wrong number of files is not used.
func TestFault_128_TreeCache(t *testing.T) { inFormats(t, testTreeCache) }

func testTreeCache(t *testing.T) {
	t.Parallel()
	g := indexed(t)
	near := mustHash(t, g.git("rev-parse", "HEAD:near"))
	hash := string(near[:g.format.size()])
	whole, want := g.indexBytes(), sortRaw(g.git("diff-tree", "-r", "-z", "--no-renames", "HEAD", g.git("write-tree")))
	for _, c := range []struct {
		name, cache string
		ok          bool
	}{
		{"of nothing", "\x00-1 0\n", true},
		{"of no files", "\x00-1 1\nnear\x000 0\n" + hash, true},
		{"of another count", "\x00-1 1\nnear\x001 0\n" + hash, true},
		{"of a missing directory", "\x00-1 1\nnowhere\x002 0\n" + hash, true},
		{"empty", "", false},
		{"no name", "-1 0\n", false},
		{"no numbers", "\x00", false},
		{"one number", "\x002\n", false},
		{"no end of line", "\x00-1 0", false},
		{"a word for a number", "\x00two 0\n" + hash, false},
		{"another word", "\x002 none\n" + hash, false},
		{"no hash", "\x002 0\n", false},
		{"a short hash", "\x002 0\n" + hash[1:], false},
		{"a long hash", "\x002 0\n" + hash + "x", false},
		{"a directory too few", "\x00-1 2\nnear\x00-1 0\n", false},
		{"a directory too many", "\x00-1 0\nnear\x00-1 0\n", false},
		{"directories without a name", "\x00-1 1\n" + strings.Repeat("\x00-1 1\n", 5000) + "\x00-1 0\n", false},
		{"directories without end", "\x00-1 1\n" + strings.Repeat("d\x00-1 1\n", 5000) + "d\x00-1 0\n", false},
	} {
		g.setIndex(g.format.extended(whole, "TREE", len(c.cache), c.cache))
		r := g.open()
		idx, err := r.Index()
		if !c.ok {
			wantIndexError(t, c.name, err, "")
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		_, tree := commitOf(t, r, "HEAD")
		got := sortedChanges(t, func(visit func(Change) error) error { return r.DiffIndex(tree, idx, visit) })
		if got != want {
			t.Errorf("%s: a commit would change\n%q\nnot\n%q", c.name, want, got)
		}
	}
}

// TestFault_128_IndexFile: git names another index for a hook. A missing one is empty, as for git; one at an
// impossible path is an error at once.
func TestFault_128_IndexFile(t *testing.T) { inFormats(t, testIndexFile) }

func testIndexFile(t *testing.T) {
	g, other := indexed(t), indexed(t)
	other.write("other.tf", "another")
	other.git("add", "-A")
	want, ofOther := g.listed(), other.listed()
	temporary := filepath.Join(g.dir, ".git/next-index-1.lock")
	must(t, os.WriteFile(temporary, g.indexBytes(), 0o666))
	outside := filepath.Join(t.TempDir(), "index")
	must(t, os.WriteFile(outside, g.indexBytes(), 0o666))
	g.git("rm", "-q", "--cached", "a.tf") // now only in the named indexes
	linked := filepath.Join(t.TempDir(), "linked")
	g.git("worktree", "add", "-q", "--detach", linked)
	fifo := filepath.Join(g.dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o666))
	r := g.open()

	for _, c := range []struct {
		name, file string
		want       []string
		problem    string
	}{
		{"temporary", temporary, want, ""},
		{"from the root", ".git/next-index-1.lock", want, ""},
		{"from the root, with dots", "./near/../.git/next-index-1.lock", want, ""},
		{"outside of any repository", outside, want, ""},
		{"missing", ".git/none", []string{}, ""},
		{"in a missing directory", "none/none", []string{}, ""},
		{"of another repository", other.indexPath(), nil, "unset it, or omit the path"},
		{"of another work tree", filepath.Join(g.dir, ".git/worktrees/linked/index"), nil,
			"of another repository than"},
		{"a FIFO", fifo, nil, ""},
		{"a directory", ".git", nil, ""},
		{"a device", "/dev/null", nil, ""},
		{"another file", "a.tf", nil, "it does not begin as an index does"},
	} {
		t.Setenv("GIT_INDEX_FILE", c.file)
		t.Chdir(filepath.Join(g.dir, "near")) // a relative path is relative to the root
		ends(t, c.name, func() {
			idx, err := r.Index()
			switch {
			case c.want == nil:
				wantIndexError(t, c.name, err, c.problem)
			case err != nil:
				t.Errorf("%s: %v", c.name, err)
			default:
				if got := stagedLines(idx.Files); !slices.Equal(got, c.want) {
					t.Errorf("%s: got %q, want %q", c.name, got, c.want)
				}
				if err := idx.Missing(); (err != nil) != (len(c.want) == 0) || err != nil &&
					!strings.Contains(err.Error(), "GIT_INDEX_FILE is "+c.file) {
					t.Errorf("%s: missing: %v", c.name, err)
				}
			}
		})
	}

	// The other repository reads that index as its own.
	t.Setenv("GIT_INDEX_FILE", other.indexPath())
	idx, err := other.open().Index()
	if err != nil || !slices.Equal(stagedLines(idx.Files), ofOther) {
		t.Errorf("%v, %v, want %q", idx, err, ofOther)
	}
}
