package scanner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// testRule returns a boundary for every file.
func testRule(id string, patterns ...string) rules.Rule {
	return rules.Rule{
		ID: id, Title: "Title of " + id, Type: rules.Boundary, Files: []string{"**"},
		Patterns: rules.PlainItems(patterns...),
	}
}

// newBundle returns a bundle of the given rules.
func newBundle(list ...rules.Rule) *rules.Bundle { return rules.New(list, nil) }

// testBundle returns a bundle of one boundary for every file.
func testBundle(patterns ...string) *rules.Bundle {
	return rules.New([]rules.Rule{testRule("T-1", patterns...)}, nil)
}

// writeTree writes files to a new directory.
func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must(t, os.WriteFile(path, []byte(text), 0o666))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openRoot(t testing.TB, dir string) *worktree.Root {
	t.Helper()
	root, err := worktree.Open(dir)
	must(t, err)
	t.Cleanup(root.Close)
	return root
}

// scanDir is a full scan of dir, checked by [scanTree].
func scanDir(t testing.TB, dir string, b *rules.Bundle, o testOptions) *verdict.Verdict {
	t.Helper()
	return scanTree(t, b, tree.Dir(openRoot(t, dir)), o)
}

// scanTree scans, and checks the verdict by [checkVerdict].
func scanTree(t testing.TB, b *rules.Bundle, files tree.Tree, o testOptions) *verdict.Verdict {
	t.Helper()
	v := scanWith(context.Background(), b, files, o)
	checkVerdict(t, b, v)
	return v
}

// checkVerdict checks the invariants of every verdict.
func checkVerdict(t testing.TB, b *rules.Bundle, v *verdict.Verdict) {
	t.Helper()
	if v.Complete != (len(v.Errors) == 0) {
		t.Errorf("complete is %v with %d errors", v.Complete, len(v.Errors))
	}
	c := &v.Coverage
	if c.Governed != c.Scanned+len(c.NotScanned) {
		t.Errorf("%d files are covered, but %d scanned and %d not", c.Governed, c.Scanned, len(c.NotScanned))
	}
	if c.Files < c.Governed {
		t.Errorf("of %d files %d are covered", c.Files, c.Governed)
	}
	if pass := v.Verdict == verdict.Pass; pass != (v.Complete && len(v.Violations) == 0 && len(v.Rules) > 0) {
		t.Errorf("verdict is %s with %d errors, %d violations and %d rules", v.Verdict, len(v.Errors),
			len(v.Violations), len(v.Rules))
	}
	for _, o := range c.NotScanned {
		failed := slices.ContainsFunc(v.Errors, func(e verdict.Error) bool { return e.File == o.File || e.File == "" })
		if !failed && !slices.Contains(v.Allowed, o.Reason) {
			t.Errorf("%s was not scanned (%s), which no error says and nothing allows", o.File, o.Reason)
		}
	}
	byFile := func(a, b verdict.Omission) int { return cmp.Compare(a.File, b.File) }
	if !slices.IsSortedFunc(c.NotScanned, byFile) || !slices.IsSortedFunc(c.LeftOut, byFile) {
		t.Errorf("the files that were left out are not in order")
	}
	if !slices.IsSortedFunc(v.Errors, func(a, b verdict.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code))
	}) {
		t.Errorf("errors are not in order: %+v", v.Errors)
	}
	checkOrder(t, b, v.Violations)
	for i := range v.Violations {
		checkEvidence(t, &v.Violations[i])
	}
	checkJSON(t, v)
}

// checkOrder: boundaries, then invariants; then the rules' order; then path; then
// the patterns' order. Each of them once.
func checkOrder(t testing.TB, b *rules.Bundle, list []verdict.Violation) {
	t.Helper()
	rank := map[string]int{}
	patterns := map[string][]string{}
	for _, typ := range []rules.Type{rules.Boundary, rules.Invariant} {
		for i := range b.Rules {
			if r := &b.Rules[i]; r.Type == typ {
				rank[r.ID] = len(rank)
				for _, name := range rules.Names(r.Patterns) {
					patterns[r.ID] = append(patterns[r.ID], "found "+name)
				}
				for _, name := range rules.Names(r.Required) {
					patterns[r.ID] = append(patterns[r.ID], "missing "+name)
				}
				for _, g := range r.ForbiddenFiles {
					patterns[r.ID] = append(patterns[r.ID], "file "+g)
				}
				for _, g := range r.RequiredFiles {
					patterns[r.ID+" of the tree"] = append(patterns[r.ID+" of the tree"], "missing "+g)
				}
			}
		}
	}
	place := func(v verdict.Violation) int {
		id, kind := v.RuleID, v.Evidence.Kind
		if v.File == "" {
			id += " of the tree"
		}
		if kind != "missing" && kind != "file" {
			kind = "found"
		}
		return slices.Index(patterns[id], kind+" "+v.Evidence.Pattern)
	}
	compare := func(a, b verdict.Violation) int {
		return cmp.Or(
			cmp.Compare(rank[a.RuleID], rank[b.RuleID]),
			cmp.Compare(rawPath(a.File), rawPath(b.File)),
			cmp.Compare(place(a), place(b)))
	}
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			t.Errorf("violation %d is in the wrong place: %s %q %q after %s %q %q", i,
				list[i].RuleID, list[i].File, list[i].Evidence.Pattern, list[i-1].RuleID, list[i-1].File,
				list[i-1].Evidence.Pattern)
		}
	}
}

// rawPath undoes verdict.Path.
func rawPath(shown string) string {
	var b strings.Builder
	for i := 0; i < len(shown); i++ {
		switch {
		case shown[i] != '\\':
			b.WriteByte(shown[i])
		case shown[i+1] == '\\':
			b.WriteByte('\\')
			i++
		default: // \xHH
			var c byte
			_, _ = fmt.Sscanf(shown[i+2:i+4], "%02x", &c)
			b.WriteByte(c)
			i += 3
		}
	}
	return b.String()
}

func checkEvidence(t testing.TB, v *verdict.Violation) {
	t.Helper()
	e := &v.Evidence
	if n := utf8.RuneCountInString(e.Excerpt); n > 200 || !utf8.ValidString(e.Excerpt) {
		t.Errorf("%s: the excerpt has %d characters, valid UTF-8: %v", v.File, n, utf8.ValidString(e.Excerpt))
	}
	if e.Occurrences < 1 || e.Line < 1 || e.Column < 1 || e.EndLine < e.Line || e.EndColumn < 1 || e.UTF16Column < 1 ||
		e.UTF16EndColumn < 1 {
		t.Errorf("%s: impossible evidence %+v", v.File, *e)
	}
	if !utf8.ValidString(v.File) || v.Reason == "" || len(v.Fingerprint) != 64 {
		t.Errorf("impossible violation %+v", *v)
	}
}

// checkJSON: one object and a line feed, valid UTF-8, no control characters, and
// it reads back as the same verdict.
func checkJSON(t testing.TB, v *verdict.Verdict) {
	t.Helper()
	text := encoded(t, v)
	if !utf8.Valid(text) || !bytes.HasSuffix(text, []byte("}\n")) {
		t.Errorf("the document is no UTF-8 text that ends in } and LF")
	}
	for _, c := range text {
		if c < ' ' && c != '\n' || c == 0x7f {
			t.Errorf("the document holds the control character %#x", c)
		}
	}
	var input any
	must(t, json.Unmarshal(text, &input))
	if hasNull(input) {
		t.Errorf("the document holds a null")
	}
	var back verdict.Verdict
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	must(t, d.Decode(&back))
	if again := encoded(t, &back); !bytes.Equal(text, again) {
		t.Errorf("the document does not read back as itself")
	}
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(v, hasNull)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), hasNull)
	}
	return false
}

func encoded(t testing.TB, v *verdict.Verdict) []byte {
	t.Helper()
	text, err := v.Encode()
	must(t, err)
	return text
}

// outcome abbreviates a verdict as in docs/faults.md: P, F, or I and the first code.
func outcome(v *verdict.Verdict) string {
	switch {
	case v.Verdict == verdict.Pass:
		return "P"
	case len(v.Violations) > 0:
		return "F"
	}
	return "I(" + v.Errors[0].Code + ")"
}

func wantOutcome(t testing.TB, v *verdict.Verdict, want string) {
	t.Helper()
	if got := outcome(v); got != want {
		t.Errorf("got %s, want %s; errors %+v, violations %d", got, want, v.Errors, len(v.Violations))
	}
}

// violated lists the files with a violation, as the verdict writes them.
func violated(v *verdict.Verdict) []string {
	var files []string
	for i := range v.Violations {
		files = append(files, v.Violations[i].File)
	}
	return slices.Compact(slices.Sorted(slices.Values(files)))
}

// A fakeTree is a tree whose files are listed, opened and read by the test's functions.
type fakeTree struct {
	files       []tree.File
	onList      func(context.Context) error
	content     func(path string) (tree.Content, error)
	lookupError error
}

func (f *fakeTree) Scope() verdict.Scope                              { return verdict.Scope{Mode: "full"} }
func (f *fakeTree) History() (*tree.History, error)                   { return nil, nil }
func (f *fakeTree) Absent(string) string                              { return "does not exist" }
func (f *fakeTree) Lookup(string) (tree.PathInfo, error)              { return tree.PathInfo{}, f.lookupError }
func (f *fakeTree) Outside(string) string                             { return tree.OutsideTree }
func (f *fakeTree) IsPresent(string) (bool, error)                    { return true, nil }
func (f *fakeTree) Open(file tree.File, _ bool) (tree.Content, error) { return f.content(file.Path) }

func (f *fakeTree) Files(ctx context.Context, n int, q tree.Query) []iter.Seq2[tree.File, error] {
	return tree.Batches(ctx, n, nil, func(found func(tree.File, error)) {
		for _, file := range f.files {
			if reason, out := q.LeaveOut[file.Path]; out {
				file.State, file.Reason = tree.LeftOut, reason
			}
			file.Source = f
			found(file, nil)
		}
		if f.onList == nil {
			return
		}
		if err := f.onList(ctx); err != nil {
			found(tree.File{}, err)
		}
	})
}

// fakeFiles returns a tree of some paths with the same content.
func fakeFiles(content func(path string) (tree.Content, error), paths ...string) *fakeTree {
	f := &fakeTree{content: content}
	for _, p := range paths {
		f.files = append(f.files, tree.File{Path: p})
	}
	return f
}

func numberedFiles(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("dir%d/%d.tf", i%7, i))
	}
	return names
}

// A readContent is a content that is read through a reader of the test, created again after each Seek.
type readContent struct {
	*bytes.Reader
	wrap func(io.Reader) io.Reader
	r    io.Reader
}

func newReadContent(data []byte, wrap func(io.Reader) io.Reader) *readContent {
	c := &readContent{Reader: bytes.NewReader(data), wrap: wrap}
	c.r = wrap(c.Reader)
	return c
}

func (c *readContent) Read(p []byte) (int, error) { return c.r.Read(p) }

func (c *readContent) Seek(offset int64, whence int) (int64, error) {
	c.r = c.wrap(c.Reader)
	return c.Reader.Seek(offset, whence)
}

// WriteTo would go around wrap.
func (c *readContent) WriteTo(io.Writer) (int64, error) { panic("not part of a content") }

func (c *readContent) Changed() error { return nil }
func (c *readContent) Close()         {}
