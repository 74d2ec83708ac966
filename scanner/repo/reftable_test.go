package repo

import (
	"archive/tar"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tablesOf unpacks the repositories of testdata/reftable.tar.gz, and returns their directory.
func tablesOf(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open("testdata/reftable.tar.gz")
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		must(t, err)
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			must(t, os.MkdirAll(name, 0o777))
			continue
		}
		content, err := io.ReadAll(files)
		must(t, err)
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, content, 0o666))
	}
}

// listedRefs are the refs of a git directory as git listed them: a hash, or the target of a symbolic ref.
func listedRefs(t testing.TB, gitDir string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(gitDir, "listed"))
	must(t, err)
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		value, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all[name] = value
	}
	return all
}

// refStacks are the stacks of a work tree of a repository of tablesOf, as by findRefs.
func refStacks(gitDir string) *Repository {
	r := &Repository{gitDir: gitDir}
	r.refs.tables = true
	if err := r.findCommon(); err != nil {
		panic(err)
	}
	if err := r.findRefs(settings{"extensions.refstorage": {"reftable"}}); err != nil {
		panic(err)
	}
	return r
}

// valueOf is a ref in a stack as in listedRefs.
func (r *Repository) valueOf(name string, hashSize int) (string, error) {
	stack := r.refs.sharedTables
	if ofWorkTree(name) {
		stack = r.refs.ownTables
	}
	ref, err := stack.ref(name, hashSize)
	if ref.target != "" {
		return ref.target, err
	}
	return hex.EncodeToString(ref.hash), err
}

// TestReftable: every ref of a stack is as git lists it, in each work tree and for each hash, and no other is there.
func TestReftable(t *testing.T) {
	dir := tablesOf(t)
	for hash, size := range map[string]int{"sha1": 20, "sha256": 32} {
		for _, gitDir := range []string{filepath.Join(dir, hash, ".git"), filepath.Join(dir, hash, ".git/worktrees/linked")} {
			r := refStacks(gitDir)
			t.Cleanup(r.refs.close)
			want := listedRefs(t, gitDir)
			if len(want) < 600 {
				t.Fatalf("%s lists %d refs", gitDir, len(want))
			}
			for name, value := range want {
				if got, err := r.valueOf(name, size); got != value || err != nil {
					t.Errorf("%s: %s is %s, %v, want %s", gitDir, name, got, err, value)
				}
				for _, other := range []string{name + "x", name + "/x", name[:len(name)-1], name + "\x00"} {
					if _, is := want[other]; is {
						continue
					}
					if got, err := r.valueOf(other, size); !errors.Is(err, errNoRef) && other != "HEA" {
						t.Errorf("%s: %q is %s, %v", gitDir, other, got, err)
					}
				}
			}
			for _, name := range []string{"", "refs/tags/many/7", "a", "zzz", "HEAD\xff"} {
				if got, err := r.valueOf(name, size); !errors.Is(err, errNoRef) {
					t.Errorf("%s: %q is %s, %v", gitDir, name, got, err)
				}
			}
			if _, err := refStacks(gitDir).valueOf("HEAD", 52-size); !errors.Is(err, errTable) {
				t.Errorf("%s: hashes of another size: %v", gitDir, err)
			}
		}
		levels := 0
		for _, table := range refStacks(filepath.Join(dir, hash, ".git")).openedTables(t, size) {
			levels = max(levels, table.levels(t))
		}
		if levels < 2 {
			t.Errorf("%s: the index has %d levels", hash, levels)
		}
	}
}

func (r *Repository) openedTables(t *testing.T, size int) []*refTable {
	t.Helper()
	if _, err := r.valueOf("HEAD", size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.refs.close)
	return r.refs.sharedTables.tables
}

// levels is how many levels the index of a table has.
func (t *refTable) levels(tb testing.TB) int {
	n := 0
	for at := t.index; at != 0 && t.data[at] == indexBlock; n++ {
		var rec tableRecord
		b, _, err := t.block(at, t.indexEnd, indexBlock)
		must(tb, err)
		_, err = b.record(&rec, nil)
		must(tb, err)
		if rec.child == 0 {
			return n + 1
		}
		at = int(rec.child)
	}
	return n
}

// TestReftableRepository: names of commits resolve in a repository of reftables as git resolves them.
func TestReftableRepository(t *testing.T) { inFormats(t, testReftableRepository) }

func testReftableRepository(t *testing.T) {
	dir := filepath.Join(tablesOf(t), newGit(t).format.setting())
	for _, c := range []struct{ dir, name, same string }{
		{"", "HEAD", "refs/heads/work"},
		{"", "HEAD~1", "refs/heads/main"},
		{"", "v1", "refs/heads/main"},
		{"", "origin", "refs/remotes/origin/main"},
		{"", "origin/HEAD", "refs/remotes/origin/main"},
		{"", "many/900~1", "refs/heads/main"},
		{"", "refs/worktree/here", "refs/heads/work"},
		{"linked", "HEAD", "refs/heads/main"},
		{"linked", "refs/worktree/here", "refs/heads/main"},
		{"linked", "refs/bisect/bad", "refs/heads/main"},
		{"linked", "refs/rewritten/onto", "refs/heads/main"},
	} {
		r, err := Find(filepath.Join(dir, c.dir))
		must(t, err)
		t.Cleanup(r.Close)
		got, err := r.Commit(c.name)
		want, wantErr := r.Ref(c.same)
		if got != want || err != nil || wantErr != nil {
			t.Errorf("%s: %s is %v, %v, want %v, %v", c.dir, c.name, got, err, want, wantErr)
		}
		for name, want := range map[string]error{"many/7": ErrUnknown, "main@{1}": ErrSyntax, "main^{commit}": ErrSyntax} {
			_, err := r.Commit(name)
			wantError(t, name, err, want)
		}
	}
}

// TestRefsElsewhere: refs are where the config or the variable says, as git writes it since 2.54.
func TestRefsElsewhere(t *testing.T) {
	dir := filepath.Join(tablesOf(t), "sha1")
	git, aside := filepath.Join(dir, ".git"), filepath.Join(dir, "aside")
	must(t, os.MkdirAll(filepath.Join(aside, "worktrees/linked"), 0o777))
	must(t, os.Rename(filepath.Join(git, "reftable"), filepath.Join(aside, "reftable")))
	must(t, os.Rename(filepath.Join(git, "worktrees/linked/reftable"), filepath.Join(aside, "worktrees/linked/reftable")))
	refs := func(want error) {
		t.Helper()
		for at, ref := range map[string]string{"": "refs/heads/work", "linked": "refs/heads/main"} {
			r, err := Find(filepath.Join(dir, at))
			if want != nil {
				wantError(t, at, err, want)
				continue
			}
			must(t, err)
			head, err := r.Commit("HEAD")
			if h, rerr := r.Ref(ref); h != head || err != nil || rerr != nil {
				t.Errorf("%q: HEAD is %v, %v; %s %v, %v", at, head, err, ref, h, rerr)
			}
			r.Close()
		}
	}
	t.Setenv("GIT_REFERENCE_BACKEND", "reftable://"+aside)
	refs(nil)
	t.Setenv("GIT_REFERENCE_BACKEND", "reftable://../aside")
	refs(nil)
	t.Setenv("GIT_REFERENCE_BACKEND", "postgres://aside")
	refs(ErrFormat)
	t.Setenv("GIT_REFERENCE_BACKEND", "")
	config := first2(os.ReadFile(filepath.Join(git, "config")))
	must(t, os.WriteFile(filepath.Join(git, "config"), append(config, "[extensions]\nrefStorage = reftable://../aside\n"...),
		0o666))
	refs(nil)
}

// TestFault_182_Stack: with any damage to a stack's files a ref is an error, not found, right, or names no object. Else
// the damaged file is a table of other refs, as the second reader confirms: only the footer has a checksum.
func TestFault_182_Stack(t *testing.T) {
	trials := 1500
	if *long {
		trials = 20_000
	}
	rnd := rand.New(rand.NewPCG(13, 14))
	dir := tablesOf(t)
	failed, right, other := 0, 0, 0
	for hash, size := range map[string]int{"sha1": 20, "sha256": 32} {
		gitDir := filepath.Join(dir, hash, ".git")
		want := listedRefs(t, gitDir)
		objects := map[string]bool{}
		for _, value := range want {
			objects[value] = true
		}
		names := []string{"HEAD", "refs/heads/main", "refs/heads/later", "refs/tags/v1", "refs/remotes/origin/HEAD",
			"refs/tags/many/7", "refs/tags/many/70", "refs/tags/many/899", "refs/worktree/here", "refs/heads/none"}
		files, err := filepath.Glob(filepath.Join(gitDir, "reftable/*"))
		must(t, err)
		for range trials / 2 {
			file := files[rnd.IntN(len(files))]
			whole, err := os.ReadFile(file)
			must(t, err)
			content := damaged(rnd, whole)
			must(t, os.WriteFile(file, content, 0o666))
			r := refStacks(gitDir)
			for _, name := range names {
				got, err := r.valueOf(name, size)
				switch {
				case err != nil:
					failed++
				case got == want[name]:
					right++
				case objects[got] || strings.HasPrefix(got, "refs/") && IsRef(got):
					if _, err := naiveTable(content, size); err != nil {
						t.Errorf("%s: %s became %s, not %s, in %x: %v", file, name, got, want[name], content, err)
					}
					other++
				}
			}
			r.refs.close()
			must(t, os.WriteFile(file, whole, 0o666))
		}
	}
	t.Logf("of %d damages: %d refs not found or errors, %d right, %d of a well-formed table", trials, failed, right, other)
	if failed < trials || right < trials || other > trials/50 {
		t.Error("too many or too few")
	}
}

// TestFault_182_List: a list of tables that is damaged or names a missing table is an error that names the file; one
// that changes while it is read is read again.
func TestFault_182_List(t *testing.T) {
	gitDir := filepath.Join(tablesOf(t), "sha1/.git")
	list := filepath.Join(gitDir, "reftable/tables.list")
	text := string(first2(os.ReadFile(list)))
	names := strings.Fields(text)
	for content, problem := range map[string]string{
		text:                              "",
		"":                                "tables.list does not name it",
		text[:len(text)-1]:                "ends within a line",
		text + "\n":                       `it names ""`,
		text + "../HEAD\n":                "it names",
		text + "caf\xc3\xa9\n":            "it names",
		text + ".hidden\n":                "it names",
		names[1] + "\n" + names[0]:        "ends within a line",
		names[1] + "\n" + names[0] + "\n": "not after those of",
		names[0] + "\n" + text:            "not after those of",
		names[0] + "\n":                   names[1] + ": tables.list does not name it",
		text + "none.ref\n":               "none.ref: it does not exist",
		text + "tables.list\n":            "tables.list: it is damaged",
	} {
		must(t, os.WriteFile(list, []byte(content), 0o666))
		r, err := Find(filepath.Dir(gitDir))
		must(t, err)
		_, err = r.Commit("HEAD")
		r.Close()
		if (problem == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v, want %q", content, err, problem)
		}
	}
	none := filepath.Join(t.TempDir(), ".git")
	must(t, os.MkdirAll(filepath.Join(none, "reftable"), 0o777))
	must(t, os.WriteFile(filepath.Join(none, "reftable", tablesList), nil, 0o666))
	if _, err := refStacks(none).ref("HEAD"); err == nil || errors.Is(err, errNoRef) {
		t.Errorf("without tables there is no HEAD: %v", err)
	}
	must(t, os.Remove(list))
	if _, err := refStacks(gitDir).valueOf("HEAD", 20); err == nil || !strings.Contains(err.Error(), "refs migrate") {
		t.Errorf("without a list: %v", err)
	}

	// A writer replaces the tables with copies under other names.
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			var lines, old []string
			for i, name := range names {
				next := fmt.Sprintf("%d-%d.ref", n, i)
				old = append(old, name)
				must(t, os.WriteFile(filepath.Join(gitDir, "reftable", next), first2(os.ReadFile(filepath.Join(gitDir,
					"reftable", name))), 0o666))
				lines, names[i] = append(lines, next+"\n"), next
			}
			must(t, os.WriteFile(list+".lock", []byte(strings.Join(lines, "")), 0o666))
			must(t, os.Rename(list+".lock", list))
			for _, name := range old {
				must(t, os.Remove(filepath.Join(gitDir, "reftable", name)))
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for !exists(list) {
		time.Sleep(time.Millisecond)
	}
	want := listedRefs(t, gitDir)
	for range 300 {
		r := refStacks(gitDir)
		for _, name := range []string{"HEAD", "refs/heads/later", "refs/tags/many/33"} {
			if got, err := r.valueOf(name, 20); got != want[name] || err != nil {
				t.Fatalf("while the list changes %s is %s, %v", name, got, err)
			}
		}
		r.refs.close()
	}
	close(stop)
	<-done
}

func first2(content []byte, _ error) []byte { return content }

// TestFault_182_Migration: refs in files while git refs migrate replaces them, at any of its steps, are right or an
// error, and so are those in reftables.
func TestFault_182_Migration(t *testing.T) {
	g := newGit(t)
	old := g.commit("one")
	g.git("pack-refs", "--all")
	head := g.commit("two")
	git := func(name string) string { return filepath.Join(g.dir, ".git", name) }
	check := func(step string, right bool) {
		t.Helper()
		r, err := Find(g.dir)
		if err != nil {
			if right {
				t.Errorf("%s: %v", step, err)
			}
			return
		}
		defer r.Close()
		for _, name := range []string{"HEAD", "main", "refs/heads/main"} {
			h, err := r.Commit(name)
			if right && (err != nil || h.String() != head) || err == nil && h.String() == old || !right && err == nil {
				t.Errorf("%s: %s is %v, %v", step, name, h, err)
			}
			if !right && name == "HEAD" && (err == nil || !strings.Contains(err.Error(), "refs migrate")) {
				t.Errorf("%s: %s: %v", step, name, err)
			}
		}
	}
	check("before", true)
	tables := filepath.Join(tablesOf(t), "sha1/.git/reftable")
	must(t, os.CopyFS(git("ref_migration.Ab12Cd/reftable"), os.DirFS(tables)))
	must(t, os.Remove(git("refs/heads/main")))
	check("a loose ref is removed", false)
	must(t, os.RemoveAll(git("refs")))
	check("the loose refs are removed", false)
	must(t, os.Remove(git("packed-refs")))
	check("packed-refs is removed", false)
	must(t, os.Rename(git("ref_migration.Ab12Cd/reftable"), git("reftable")))
	check("the tables are moved", false)
	must(t, os.RemoveAll(git("ref_migration.Ab12Cd")))
	must(t, os.WriteFile(git("HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o666))
	must(t, os.MkdirAll(git("refs"), 0o777))
	must(t, os.WriteFile(git("refs/heads"), []byte("this repository uses the reftable format\n"), 0o666))
	check("the config is not yet changed", false)
	must(t, os.WriteFile(git("config"), []byte("[core]\nrepositoryformatversion = 1\n[extensions]\nrefstorage = reftable\n"),
		0o666))
	if _, err := g.open().Ref("refs/heads/main"); !errors.Is(err, ErrMissing) { // of another repository
		t.Errorf("the config is changed: %v", err)
	}
	must(t, os.RemoveAll(git("reftable")))
	check("back again: the tables are removed", false)
}
