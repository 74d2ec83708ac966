package scanner

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"pgregory.net/rapid"
)

// A link to a directory is E_LINK if a path is forbidden below it but not below its target; a link with a forbidden
// path is a violation, whatever its target.
func TestForbiddenBelowLinks(t *testing.T) {
	dir := t.TempDir()
	for name, target := range map[string]string{"keys": "data", "same": "data", "x.pem": "data/a.txt",
		"deep/keys": "nowhere"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data/a.txt"), []byte("a"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		globs, exclude []string
		fold           bool
		want           string
		codes          []string
	}{
		{globs: []string{"**/*.pem"}, want: "F"},
		{globs: []string{"**/*.PEM"}, fold: true, want: "F"},
		{globs: []string{"**/*.PEM"}, want: "P"},
		{globs: []string{"**/*.pem"}, exclude: []string{"*.pem"}, want: "P"},
		{globs: []string{"keys/**"}, want: "I(E_LINK)", codes: []string{"keys"}},
		{globs: []string{"KEYS/**"}, fold: true, want: "I(E_LINK)", codes: []string{"keys"}},
		{globs: []string{"KEYS/**"}, want: "P"},
		{globs: []string{"keys/**", "data/**"}, want: "F"},
		{globs: []string{"*/keys/*.pem"}, want: "I(E_LINK)", codes: []string{"deep/keys"}},
		{globs: []string{"keys/**"}, exclude: []string{"keys/**"}, want: "P"},
	} {
		r := testRule("R-1")
		r.Files, r.Patterns, r.ForbiddenFiles, r.Exclude, r.PathCase = nil, nil, c.globs, c.exclude, c.fold
		v := scanDir(t, dir, rules.New([]rules.Rule{r}, nil), testOptions{})
		wantOutcome(t, v, c.want)
		var codes []string
		for _, e := range v.Errors {
			codes = append(codes, e.File)
		}
		if !slices.Equal(codes, c.codes) {
			t.Errorf("%q without %q: errors about %q, want %q", c.globs, c.exclude, codes, c.codes)
		}
	}
}

// Paths excluded by --exclude are neither forbidden nor found as required files.
func TestPathsOfPartialRuns(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x.pem", "LICENSE"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r := testRule("R-1")
	r.Files, r.Patterns, r.ForbiddenFiles, r.RequiredFiles = nil, nil, []string{"*.pem"}, []string{"LICENSE"}
	b := rules.New([]rules.Rule{r}, nil)
	v := scanDir(t, dir, b, testOptions{Exclude: glob.Compile([]string{"*.pem"}).Match,
		Allow: []string{check.AllowPartial}})
	wantOutcome(t, v, "P")
	v = scanDir(t, dir, b, testOptions{Exclude: glob.Compile([]string{"**"}).Match,
		Allow: []string{check.AllowPartial}})
	if len(v.Violations) != 1 || v.Violations[0].File != "" {
		t.Errorf("%+v", v.Violations)
	}
}

// The text that a redacting rule's regex matched is nowhere in the violation; the regex is shown instead.
func TestRedactedExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab \t世")), 0, 200, -1)
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		expression := "k" + strings.Repeat("[0-9]", rapid.IntRange(1, 60).Draw(t, "length"))
		item := rules.Item{Kind: rules.Regex, Text: expression}.Named()
		r := testRule("R-1")
		r.Redact, r.Patterns = true, []rules.Item{item}
		br := check.Finding{Path: "a", Ref: rules.PatternRef{Of: rules.ForbiddenPattern}, Match: &match.Find{
			Evidence: verdict.Evidence{Line: 1, Column: 1, LineHash: "abc:1", Occurrences: 1, Encoding: "utf-8"},
			Before:   before, Matched: "SECRET", After: after, Line: []byte(before + "SECRET" + after),
		}}
		v := br.Violation(rules.New([]rules.Rule{r}, nil))
		e := &v.Evidence
		shown := string([]rune(expression)[:min(len(expression), 200)])
		if strings.ContainsAny(e.Excerpt, "SECRTab世") || !strings.Contains(e.Excerpt, shown) {
			t.Fatalf("%q", e.Excerpt)
		}
		if utf8.RuneCountInString(e.Excerpt) > 200 || e.LineHash != "" || e.Kind != "regex" || e.Pattern != item.Name {
			t.Fatalf("%+v", e)
		}
		if v.Fingerprint != verdict.Fingerprint(r.ID, "a", item.Name, []byte(e.Excerpt)) {
			t.Fatal("the fingerprint is not of the excerpt")
		}
	})
}

// A brokenTree lists some files, and reports an entry that cannot be listed.
type brokenTree struct{ *fakeTree }

func (b brokenTree) Files(ctx context.Context, n int, q tree.Query) []iter.Seq2[tree.File, error] {
	wrong := tree.FileError("dir", os.ErrPermission)
	all := b.fakeTree.Files(ctx, n, q)
	first := all[0]
	all[0] = func(yield func(tree.File, error) bool) {
		if yield(tree.File{}, &wrong) {
			first(yield)
		}
	}
	return all
}

// If a tree cannot be listed completely, its missing files are unknown: an error, not a violation.
func TestRequiredFilesOfBrokenTrees(t *testing.T) {
	r := testRule("R-1")
	r.Files, r.Patterns, r.RequiredFiles = nil, nil, []string{"LICENSE"}
	b := rules.New([]rules.Rule{r}, nil)
	files := fakeFiles(func(string) (tree.Content, error) { return tree.InMemory([]byte("a")), nil }, "a.txt")
	wantOutcome(t, scanTree(t, b, files, testOptions{}), "F")
	wantOutcome(t, scanTree(t, b, brokenTree{files}, testOptions{}), "I(E_READ)")
	files.files = append(files.files, tree.File{Path: "LICENSE"})
	wantOutcome(t, scanTree(t, b, files, testOptions{}), "P")
	files.files[1].Kind = worktree.Symlink
	wantOutcome(t, scanTree(t, b, files, testOptions{}), "F")
	wantOutcome(t, scanTree(t, b, files, testOptions{LeaveOut: map[string]string{"LICENSE": "rules"}}), "F")
	files.onList = func(context.Context) error { return context.Canceled }
	if v := scanTree(t, b, files, testOptions{}); len(v.Violations) != 0 {
		t.Errorf("of a listing that did not end: %+v", v.Violations)
	}
}

// A symlink whose target cannot be looked up cannot be decided.
func TestUnknownTarget(t *testing.T) {
	files := fakeFiles(same("b"), "link")
	files.files[0].Kind, files.lookupError = worktree.Symlink, os.ErrPermission
	wantOutcome(t, scanTree(t, testBundle("key"), files, testOptions{}), "I(E_READ)")
}
