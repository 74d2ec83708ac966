//go:build linux

package scanner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"pgregory.net/rapid"
)

// nobody is a user who cannot read root's private files.
const nobody = 65534

// asNobody scans as another user, for root may read everything. That user can reach the binary and the tree.
func asNobody(t *testing.T, dir string) *verdict.Verdict {
	t.Helper()
	if os.Getuid() != 0 {
		return scanDir(t, dir, testBundle("key"), testOptions{})
	}
	v, _ := scanInChild(t, childScan{Dir: dir, Patterns: []string{"key"}, UID: nobody})
	return v
}

func TestFault_044_UnreadableFile(t *testing.T) {
	dir := reachable(t)
	writeFile(t, dir+"/a.tf", "x")
	writeFile(t, dir+"/secret.tf", "key")
	must(t, os.Chmod(dir+"/secret.tf", 0))
	v := asNobody(t, dir)
	wantOutcome(t, v, "I(E_READ)")
	if v.Errors[0].File != "secret.tf" || len(v.Coverage.NotScanned) != 1 || v.Coverage.Scanned != 1 {
		t.Errorf("%+v, %+v", v.Errors, v.Coverage)
	}
}

func TestFault_045_UnreadableDir(t *testing.T) {
	for _, mode := range []os.FileMode{0, 0o111, 0o444} {
		dir := reachable(t)
		writeFile(t, dir+"/a.tf", "x")
		writeFile(t, dir+"/closed/main.tf", "key")
		must(t, os.Chmod(dir+"/closed", mode))
		v := asNobody(t, dir)
		must(t, os.Chmod(dir+"/closed", 0o755))
		wantOutcome(t, v, "I(E_READ)")
		want := "closed"
		if mode == 0o444 { // its names can be listed, its files not opened
			want = "closed/main.tf"
		}
		if v.Errors[0].File != want {
			t.Errorf("mode %o: %+v", mode, v.Errors)
		}
	}
}

func TestFault_053_Root(t *testing.T) {
	t.Run("unreadable", func(t *testing.T) {
		dir := reachable(t)
		writeFile(t, dir+"/sub/main.tf", "key")
		must(t, os.Chmod(dir, 0o311))
		defer func() { must(t, os.Chmod(dir, 0o755)) }()
		_, err := worktree.Open(dir)
		if os.Getuid() == 0 {
			_, err = runChild(t, childScan{Dir: dir, Patterns: []string{"key"}, UID: nobody})
		}
		if err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%v", err)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "gone")
		writeFile(t, dir+"/main.tf", "key")
		root := openRoot(t, dir)
		must(t, os.RemoveAll(dir))
		wantOutcome(t, scanTree(t, testBundle("key"), tree.Dir(root),
			testOptions{Allow: []string{check.AllowEmpty}}), "I(E_CHANGED)")
		wantOutcome(t, scanTree(t, testBundle("key"), tree.List(root, []string{"main.tf"}), testOptions{}),
			"I(E_FILES_FROM)")
	})
	t.Run("moved", func(t *testing.T) {
		base := writeTree(t, map[string]string{"old/main.tf": "key"})
		root := openRoot(t, base+"/old")
		must(t, os.Rename(base+"/old", base+"/new"))
		wantOutcome(t, scanTree(t, testBundle("key"), tree.Dir(root), testOptions{}), "F")
	})
}

func TestFault_068_ManyViolations(t *testing.T) {
	patterns, files := 100, 100
	if *long {
		files = 1000
	}
	var list []string
	var text strings.Builder
	for i := range patterns {
		list = append(list, fmt.Sprintf("<%03d>", i))
		fmt.Fprintf(&text, "x = <%03d>\n", patterns-1-i)
	}
	lines := []byte(text.String())
	input := fakeFiles(func(string) (tree.Content, error) { return tree.InMemory(lines), nil }, numberedFiles(files)...)
	v := scanWith(t.Context(), testBundle(list...), input, testOptions{})
	if len(v.Violations) != patterns*files || v.Complete != true {
		t.Fatalf("%d violations", len(v.Violations))
	}
	checkOrder(t, testBundle(list...), v.Violations[:2000])
	if text := encoded(t, v); !utf8.Valid(text) || len(text) < 500*patterns*files {
		t.Errorf("%d bytes", len(text))
	}
}

func TestFault_069_ViolationsAndErrors(t *testing.T) {
	dir := writeTree(t, map[string]string{"bad.tf": "key", "long.tf": strings.Repeat("x", 1000),
		"pointer.tf": "version https://git-lfs.github.com/spec/v1\noid key\n"})
	writeFIFO(t, dir+"/pipe.tf")
	v := scanDir(t, dir, testBundle("key"), testOptions{MaxFileBytes: 999})
	wantOutcome(t, v, "F")
	var codes []string
	for _, e := range v.Errors {
		codes = append(codes, e.File+" "+e.Code)
	}
	if want := []string{"long.tf E_LIMIT", "pipe.tf E_NOT_REGULAR", "pointer.tf E_UNAVAILABLE"}; !slices.Equal(codes,
		want) || v.Complete {
		t.Errorf("complete %v, errors %q, want %q", v.Complete, codes, want)
	}
	if got := violated(v); !slices.Equal(got, []string{"bad.tf", "pointer.tf"}) {
		t.Errorf("%q", got)
	}
}

// Whatever bytes are around a match, the document is UTF-8 without controls, its excerpt has at most 200 characters,
// and contains the match.
func TestFault_070_Excerpt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.StringMatching(`[a-z\x{1b}\x{e9}\x{202e}\x{1f600}]{1,30}`).Draw(rt, "pattern")
		hostile := []byte("a\x00\x1b\x7f\x80\xc3\xa9\xe2\x82\xac\xf0\x9f\xff\xfe\r \t\\\"")
		around := rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 400)
		content := string(around.Draw(rt, "before")) + pattern + string(around.Draw(rt, "after"))
		r := testRule("T-1", pattern)
		r.Redact = rapid.Bool().Draw(rt, "redact")
		input, err := tree.Single("main.tf", []byte(content))
		if err != nil {
			rt.Fatal(err)
		}
		v := scanWith(t.Context(), rules.New([]rules.Rule{r}, nil), input, testOptions{})
		if len(v.Violations) != 1 || !strings.Contains(v.Violations[0].Evidence.Excerpt, pattern) {
			rt.Fatalf("%+v", v.Violations)
		}
		if checkVerdict(t, rules.New([]rules.Rule{r}, nil), v); t.Failed() {
			rt.Fatalf("content %q", content)
		}
	})
}

// A disturbed tree changes its files before they are opened, and between the reads of a long one.
type disturbed struct {
	tree.Tree
	before, between func(path string)
}

func (d disturbed) Files(ctx context.Context, n int, q tree.Query) []iter.Seq2[tree.File, error] {
	all := d.Tree.Files(ctx, n, q)
	for i, files := range all {
		all[i] = func(yield func(tree.File, error) bool) {
			for f, err := range files {
				f.Source = disturbedSource{f.Source, d}
				if !yield(f, err) {
					return
				}
			}
		}
	}
	return all
}

type disturbedSource struct {
	tree.Source
	by disturbed
}

func (s disturbedSource) Open(f tree.File, watched bool) (tree.Content, error) {
	s.by.before(f.Path)
	c, err := s.Source.Open(f, watched)
	if err != nil {
		return nil, err
	}
	return disturbedContent{c, f.Path, watched, s.by}, nil
}

type disturbedContent struct {
	tree.Content
	path    string
	watched bool
	by      disturbed
}

func (c disturbedContent) Read(p []byte) (int, error) {
	n, err := c.Content.Read(p)
	if c.watched { // else several reads repeat it
		c.by.between(c.path)
	}
	return n, err
}

// TestFault_064_AnotherRunsTemporaryFile: another run's temporary file, listed and then renamed to its verdict, is not
// a file of the tree, even if it has changed. One that stays is scanned, and files of other names must not vanish.
func TestFault_064_AnotherRunsTemporaryFile(t *testing.T) {
	const name = ".verdict.json.12-0.tmp"
	output := map[string]string{"verdict.json": tree.Output}
	none := func(string) {}
	remove := func(file string) { must(t, os.Remove(file)) }
	grow := func(file string) {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		_, err = f.WriteString("more")
		must(t, errors.Join(err, f.Close()))
	}
	long := strings.Repeat("x", 2*match.WindowSize)
	for what, c := range map[string]struct {
		path, content   string
		before, between func(file string)
		leaveOut        map[string]string
		want            string
		files           int
	}{
		"gone":                    {name, "a key", remove, none, output, "P", 1},
		"grows, then gone":        {name, long, none, func(file string) { grow(file); remove(file) }, output, "P", 1},
		"grows":                   {name, long, none, grow, output, "I(E_CHANGED)", 2},
		"grows, with a violation": {name, "a key" + long, none, grow, output, "I(E_CHANGED)", 2},
		"stays":                   {name, "a key", none, none, output, "F", 2},
		"stays, long":             {name, long + "a key", none, none, output, "F", 2},
		"another dir":             {"sub/" + name, "a key", remove, none, output, "I(E_CHANGED)", 2},
		"not that of the output":  {".x.12-0.tmp", "a key", remove, none, output, "I(E_CHANGED)", 2},
		"left out by another name": {name, "a key", remove, none, map[string]string{"verdict.json": "rules"},
			"I(E_CHANGED)", 2},
		"no output": {name, "a key", remove, none, nil, "I(E_CHANGED)", 2},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o777))
			must(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte("fine"), 0o666))
			file := filepath.Join(dir, c.path)
			must(t, os.WriteFile(file, []byte(c.content), 0o666))
			root, err := worktree.Open(dir)
			must(t, err)
			defer root.Close()
			only := func(f func(string)) func(string) { // once: a file that grows at each read never ends
				return func(path string) {
					if path == c.path {
						f(file)
						f = none
					}
				}
			}
			v := scanTree(t, testBundle("key"), disturbed{tree.Dir(root), only(c.before), only(c.between)},
				testOptions{LeaveOut: c.leaveOut})
			if wantOutcome(t, v, c.want); v.Coverage.Files != c.files || v.Coverage.Governed != c.files {
				t.Errorf("coverage %+v", v.Coverage)
			}
		})
	}
}
