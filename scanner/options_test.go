package scanner

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// same returns a function that opens every file with the same text.
func same(text string) func(string) (tree.Content, error) {
	return func(string) (tree.Content, error) { return tree.InMemory([]byte(text)), nil }
}

func TestFault_013_MaxFileBytes(t *testing.T) {
	const limit = 300_000
	dir := writeTree(t, map[string]string{
		"at.tf": strings.Repeat("x", limit), "over.tf": strings.Repeat("x", limit+1), "key.tf": "key" +
			strings.Repeat("x", limit), "other.md": strings.Repeat("x", 2*limit),
	})
	r := testRule("T-1", "key")
	r.Files = []string{"*.tf"}
	b := newBundle(r)
	v := scanDir(t, dir, b, testOptions{MaxFileBytes: limit})
	wantOutcome(t, v, "I(E_LIMIT)")
	want := []verdict.Omission{{File: "key.tf", Reason: "limit"}, {File: "over.tf", Reason: "limit"}}
	if !slices.Equal(v.Coverage.NotScanned, want) || v.Coverage.Scanned != 1 || v.Coverage.Bytes != limit {
		t.Errorf("%+v", v.Coverage)
	}
	if len(v.Errors) != 2 || v.Errors[1].File != "over.tf" || !strings.Contains(v.Errors[1].Message,
		"--max-file-bytes") {
		t.Errorf("%+v", v.Errors)
	}
	wantOutcome(t, scanDir(t, dir, b, testOptions{MaxFileBytes: limit + 3}), "F")

	// A content of unknown size is stopped while it is read.
	endless := fakeFiles(func(string) (tree.Content, error) { return &endlessContent{}, nil }, "a")
	wantOutcome(t, scanTree(t, testBundle("key"), endless, testOptions{MaxFileBytes: 10 << 20}), "I(E_LIMIT)")
}

// An endlessContent claims to be empty, and never ends.
type endlessContent struct{ at int64 }

func (c *endlessContent) Read(p []byte) (int, error) {
	c.at += int64(len(p))
	return len(p), nil
}
func (c *endlessContent) Seek(int64, int) (int64, error) { return 0, errors.New("not expected") }
func (c *endlessContent) Size() int64                    { return 0 }
func (c *endlessContent) Changed() error                 { return nil }
func (c *endlessContent) Close()                         {}

func TestEmptyTree(t *testing.T) {
	dir := t.TempDir()
	git := writeTree(t, map[string]string{".git/config": "x"})
	for _, input := range []tree.Tree{tree.Dir(openRoot(t, dir)), tree.Dir(openRoot(t, git)),
		tree.List(openRoot(t, dir), nil)} {
		wantOutcome(t, scanTree(t, testBundle("key"), input, testOptions{}), "I(E_EMPTY)")
		o := testOptions{Allow: []string{check.AllowEmpty}}
		wantOutcome(t, scanTree(t, testBundle("key"), input, o), "P")
		o.RequireGoverned = true
		wantOutcome(t, scanTree(t, testBundle("key"), input, o), "I(E_NO_GOVERNED)")
	}
}

// A list of rule files only is not an empty tree: they are skipped.
func TestAllLeftOut(t *testing.T) {
	const name = "rules/boundaries.yml"
	dir := writeTree(t, map[string]string{name: "key"})
	single, err := tree.Single(name, []byte("key"))
	must(t, err)
	for _, input := range []tree.Tree{single, tree.List(openRoot(t, dir), []string{name})} {
		o := testOptions{LeaveOut: map[string]string{name: "rules"}}
		wantOutcome(t, scanTree(t, testBundle("key"), input, o), "P")
		o.RequireGoverned = true
		wantOutcome(t, scanTree(t, testBundle("key"), input, o), "I(E_NO_GOVERNED)")
	}
}

func TestProgress(t *testing.T) {
	r := testRule("R-1", "key")
	r.Files = []string{"*.tf"}
	dir := writeTree(t, map[string]string{"a.tf": "x", "b.tf": "key", "c.md": "key"})
	p := &Progress{}
	Scan(t.Context(), testOptions{}.run(one(newBundle(r)), tree.Dir(openRoot(t, dir))), p)
	if files, bytes := p.Counts(); files != 3 || bytes != 4 {
		t.Errorf("%d files, %d bytes", files, bytes)
	}
}
