package checkout

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/repo"
)

// states returns each of the given sets of files as a commit's tree and as the index of a repository.
func states(t *testing.T, all ...map[string]string) (*repo.Repository, [][]Snapshot) {
	t.Helper()
	g := newRepository(t)
	r, err := repo.Find(g.dir)
	must(t, err)
	var snapshots [][]Snapshot
	for _, files := range all {
		g.git("", "read-tree", "--empty")
		for name, text := range files { // as they are: git add would obey the attributes
			blob := strings.TrimSpace(g.git(text, "hash-object", "-w", "--stdin", "--no-filters"))
			g.git("", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+name)
		}
		g.git("", "commit", "-q", "--allow-empty", "-m", "state")
		commit, err := r.Commit("HEAD")
		must(t, err)
		tree, err := r.Tree(commit)
		must(t, err)
		idx, err := r.Index()
		must(t, err)
		snapshots = append(snapshots, []Snapshot{{Tree: tree}, {Index: idx}})
	}
	return r, snapshots
}

// said writes down what git writes for a file, or why that is unknown.
func said(a Attributes, err error) string {
	var unknown *UnknownEncoding
	switch {
	case errors.As(err, &unknown):
		return "unknown: " + unknown.Error()
	case err != nil:
		return "error: " + err.Error()
	}
	var words []string
	for _, name := range a.Encodings {
		words = append(words, cmp.Or(name, "utf-8"))
	}
	for _, name := range a.filters {
		words = append(words, "filter="+name)
	}
	if a.exportSubst {
		words = append(words, "export-subst")
	}
	return strings.Join(words, " ")
}

// TestAttributes: the attributes files above a file say what git writes for it, from a commit and from the index
// alike. What may differ between disks and versions of git is all there.
func TestAttributes(t *testing.T) {
	const utf16 = "working-tree-encoding=UTF-16"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // of the file a/b.tf
	}{
		"none":                   {nil, ""},
		"of another file":        {map[string]string{".gitattributes": "c.tf " + utf16}, ""},
		"in the root":            {map[string]string{".gitattributes": "*.tf " + utf16}, "UTF-16"},
		"in the directory":       {map[string]string{"a/.gitattributes": "b.tf " + utf16}, "UTF-16"},
		"in another directory":   {map[string]string{"c/.gitattributes": "b.tf " + utf16}, ""},
		"UTF-8 itself":           {map[string]string{".gitattributes": "*.tf working-tree-encoding=UTF-8"}, ""},
		"without a value":        {map[string]string{".gitattributes": "*.tf working-tree-encoding"}, "true"},
		"where case is the same": {map[string]string{".gitattributes": "B.TF " + utf16}, "utf-8 UTF-16"},
		"a file of another case": {map[string]string{"a/.GitAttributes": "*.tf " + utf16}, "utf-8 UTF-16"},
		"the nearer one": {map[string]string{
			".gitattributes": "*.tf " + utf16, "a/.gitattributes": "*.tf working-tree-encoding=UTF-32",
		}, "UTF-32"},
		"taken back": {map[string]string{
			".gitattributes": "*.tf " + utf16, "a/.gitattributes": "*.tf !working-tree-encoding",
		}, ""},
		"by a macro": {map[string]string{
			".gitattributes": "[attr]wide " + utf16, "a/.gitattributes": "*.tf wide",
		}, "UTF-16"},
		"filters": {map[string]string{
			".gitattributes": "*.tf filter=crypt\n*.tf export-subst",
		}, "filter=crypt export-subst"},
		"lfs": {map[string]string{".gitattributes": "*.tf filter=lfs"}, ""},
		"itself wide": {map[string]string{".gitattributes": "* " + utf16}, "unknown: .gitattributes has " +
			"working-tree-encoding itself, so that on disk it can say something else"},
		"too long": {map[string]string{
			".gitattributes": "*.tf " + utf16 + strings.Repeat("\n", maxAttributes),
		}, "unknown: .gitattributes has more than 1048576 bytes"},
		"a pointer": {map[string]string{
			".gitattributes": "version https://git-lfs.github.com/spec/v1\n" +
				"oid sha256:" + strings.Repeat("0", 64) + "\nsize 1\n",
		}, "unknown: .gitattributes is a Git LFS pointer or encrypted, so what git reads there is unknown"},
		"of no matter": {map[string]string{".gitattributes": "*.tf text eol=lf"}, ""},
		"an odd line that says nothing of it": {map[string]string{
			".gitattributes": "\ufeff# all\n*.tf " + utf16 + "\na/**.x text\n* builtin_x\n",
		}, "UTF-16"},
		"an odd line by a macro": {map[string]string{
			".gitattributes": "[attr]wide " + utf16, "a/.gitattributes": "*.tf wide builtin_x",
		}, "unknown: a/.gitattributes: not every git reads line 1 in the same way"},
		"an odd line with a filter": {map[string]string{
			".gitattributes": "*.tf filter=x builtin_x",
		}, "filter=x"},
		"stars that git 2.52 reads in another way": {map[string]string{
			".gitattributes": "/a**/b.tf " + utf16,
		}, "utf-8 UTF-16"},
		"a macro on some disks": {map[string]string{
			".GITATTRIBUTES": "[attr]wide " + utf16, "a/.gitattributes": "*.tf wide",
		}, "unknown: .GITATTRIBUTES: not every git reads line 1 in the same way"},
		"too many ways": {map[string]string{
			".gitattributes": func() string {
				var lines strings.Builder
				for i := range maxOutcomes {
					fmt.Fprintf(&lines, "B.tf working-tree-encoding=x%d\n", i)
				}
				return lines.String()
			}(),
		}, "unknown: the .gitattributes files above it can be read in more than 16 ways"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"a/b.tf": "x"}
			maps.Copy(files, c.files)
			r, at := states(t, files)
			for _, s := range at[0] {
				if got := said(New(r, s).Attributes("a/b.tf")); got != c.want {
					t.Errorf("index %v: got %q, want %q", s.Index != nil, got, c.want)
				}
			}
		})
	}
}

// TestShorterName: a directory of another name may be the same on some disk, and its name shorter.
func TestShorterName(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("\u017f", 20), strings.Repeat("s", 20)
	r, at := states(t, map[string]string{
		long + "/b.tf": "x", short + "/.gitattributes": "b.tf working-tree-encoding=UTF-16",
	})
	for _, s := range at[0] {
		if got, want := said(New(r, s).Attributes(long+"/b.tf")), "utf-8 UTF-16"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestEncodingChanges: of the files that do not change, those are found whose encoding does.
func TestEncodingChanges(t *testing.T) {
	const wide, narrow = "*.tf working-tree-encoding=UTF-16", "*.tf text"
	const macro = "[attr]wide working-tree-encoding=UTF-16"
	at := func(pairs ...string) map[string]string { // the attributes files of directories
		files := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			files[path.Join(pairs[i], attributesName)] = pairs[i+1]
		}
		return files
	}
	rest := map[string]string{"a.tf": "1", "sub/b.tf": "2", "sub/c.txt": "3", "far/away/d.tf": "4"}
	with := func(more map[string]string) map[string]string {
		files := maps.Clone(rest)
		maps.Copy(files, more)
		return files
	}
	for name, c := range map[string]struct {
		base, head map[string]string
		want       []string
	}{
		"nothing":      {at(".", wide), at(".", wide), nil},
		"new":          {nil, at(".", wide), []string{"a.tf", "far/away/d.tf", "sub/b.tf"}},
		"gone":         {at("sub", wide), nil, []string{"sub/b.tf"}},
		"changed":      {at("far", wide), at("far", narrow), []string{"far/away/d.tf"}},
		"of no matter": {nil, at(".", narrow), nil},
		"by a macro":   {at(".", macro), at(".", macro, "sub", "*.tf wide"), []string{"sub/b.tf"}},
		"changed as well": {
			nil, map[string]string{".gitattributes": wide, "a.tf": "another"}, []string{"far/away/d.tf", "sub/b.tf"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, all := states(t, with(c.base), with(c.head))
			base := all[0][0]
			for _, head := range all[1] {
				changes := NewEncodingChanges(New(r, head), []*Checkout{New(r, base)})
				see := func(change repo.Change) error {
					changes.Add(change)
					return nil
				}
				var err error
				if head.Index != nil {
					err = r.DiffIndex(base.Tree, head.Index, see)
				} else {
					err = r.Diff(base.Tree, head.Tree, see)
				}
				must(t, err)
				var got []string
				found, err := changes.Any()
				for _, path := range slices.Sorted(maps.Keys(with(c.head))) {
					if found && with(c.base)[path] == with(c.head)[path] && changes.Has(path) {
						got = append(got, path)
					}
				}
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("index %v: got %q, %v; want %q", head.Index != nil, got, err, c.want)
				}
			}
		})
	}
}

// TestRewritten: whoever adds first, the notes name the first files, and not every filter.
func TestRewritten(t *testing.T) {
	t.Parallel()
	var nobody *FilterReport
	nobody.Add("a", Attributes{filters: []string{"x"}})
	if n := nobody.Notes(); n != nil {
		t.Errorf("%q", n)
	}
	var want []string
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 2, 0, 3, 1}} {
		r := &FilterReport{}
		for _, i := range order {
			r.Add(fmt.Sprint("f", i), Attributes{filters: []string{"many"}})
			r.Add("\x1b", Attributes{exportSubst: i == 0})
		}
		for i := range 6 {
			r.Add("one", Attributes{filters: []string{fmt.Sprint("x", i)}})
		}
		got := r.Notes()
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) || len(got) != maxFilters+1 {
			t.Errorf("%q", got)
		}
	}
	for i, line := range map[int]string{
		0: "export-subst: git archive changes the text of 1 file after this check: \x1b",
		1: "filter=many: git sends 5 files through a program on checkout, " +
			"and what it writes was not checked: f0, f1, f2 and 2 more",
		5: "and 3 more filters: what git checks out differs from what was checked",
	} {
		if want[i] != line {
			t.Errorf("note %d: %q", i, want[i])
		}
	}
}
