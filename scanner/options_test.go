package scanner

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
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

func TestRequireGoverned(t *testing.T) {
	r := testRule("T-1", "key")
	r.Files = []string{"*.tf"}
	dir := writeTree(t, map[string]string{"a.md": "key"})
	wantOutcome(t, scanDir(t, dir, newBundle(r), testOptions{}), "P")
	v := scanDir(t, dir, newBundle(r), testOptions{RequireGoverned: true})
	wantOutcome(t, v, "I(E_NO_GOVERNED)")
	writeFile(t, dir+"/a.tf", "x")
	wantOutcome(t, scanDir(t, dir, newBundle(r), testOptions{RequireGoverned: true}), "P")
}

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

func TestNoRules(t *testing.T) {
	if v := scanDir(t, writeTree(t, map[string]string{"a": "x"}), newBundle(),
		testOptions{}); v.Verdict == verdict.Pass {
		t.Error("a PASS without a rule")
	}
}

func TestPartial(t *testing.T) {
	dir := writeTree(t, map[string]string{"a.tf": "key", "b.tf": "x"})
	noA := func(path string) bool { return path == "a.tf" }
	v := scanDir(t, dir, testBundle("key"), testOptions{Exclude: noA})
	wantOutcome(t, v, "I(E_PARTIAL)")
	if c := v.Coverage; !v.Partial || c.Files != 2 || c.Governed != 1 {
		t.Errorf("partial %v, %+v", v.Partial, c)
	}
	if v = scanDir(t, dir, testBundle("key"), testOptions{Exclude: noA,
		Allow: []string{check.AllowPartial}}); !v.Partial {
		t.Error("allowed, but the verdict does not say partial")
	}
	wantOutcome(t, v, "P")
	wantOutcome(t, scanDir(t, dir, testBundle("nowhere"), testOptions{Rules: []string{"X"}}), "I(E_PARTIAL)")
	wantOutcome(t, scanDir(t, dir, testBundle("key"), testOptions{Rules: []string{"X"},
		Allow: []string{check.AllowPartial}}), "F")
	if v := scanDir(t, dir, testBundle("key"), testOptions{}); v.Partial {
		t.Error("a whole run says partial")
	}
}

func TestAllow(t *testing.T) {
	dir := writeTree(t, map[string]string{
		"a.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 3\n",
	})
	v := scanDir(t, dir, testBundle("key"), testOptions{Allow: []string{"partial", "empty", "special-file", "empty"}})
	wantOutcome(t, v, "I(E_UNAVAILABLE)")
	if want := []string{"empty", "partial", "special-file"}; !slices.Equal(v.Allowed, want) {
		t.Errorf("allowed %q, want %q", v.Allowed, want)
	}
	v = scanDir(t, dir, testBundle("key"), testOptions{Allow: []string{check.AllowLFSPointer}})
	wantOutcome(t, v, "P")
	if want := []verdict.Omission{{File: "a.bin", Reason: "lfs-pointer"}}; !slices.Equal(v.Coverage.NotScanned, want) {
		t.Errorf("%+v", v.Coverage)
	}
	// The pointer's text is matched, too.
	wantOutcome(t, scanDir(t, dir, testBundle("sha256:abc"), testOptions{Allow: []string{check.AllowLFSPointer}}), "F")

	for name, text := range map[string]string{
		"long":    "version https://git-lfs.github.com/spec/v1\n" + strings.Repeat("x", 1024),
		"shifted": " version https://git-lfs.github.com/spec/v1\n",
		"other":   "version https://git-lfs.github.com/sp",
	} {
		if wantOutcome(t, scanDir(t, writeTree(t, map[string]string{"a": text}), testBundle("key"), testOptions{}),
			"P"); t.Failed() {
			t.Fatalf("%s is no pointer", name)
		}
	}
	const prefix = "version https://git-lfs.github.com/spec/"
	wantOutcome(t, scanDir(t, writeTree(t, map[string]string{"a": prefix + strings.Repeat("x", 1023-len(prefix))}),
		testBundle("key"), testOptions{}), "I(E_UNAVAILABLE)")
	wantOutcome(t, scanDir(t, writeTree(t, map[string]string{"a": prefix + strings.Repeat("x", 1024-len(prefix))}),
		testBundle("key"), testOptions{}), "P")
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

func TestListedEntries(t *testing.T) {
	dir := writeTree(t, map[string]string{"a.tf": "key", "sub/b.tf": "key", "c": "key"})
	root := openRoot(t, dir)
	v := scanTree(t, testBundle("key"), tree.List(root, []string{"sub/b.tf", "./a.tf", "a.tf", "sub/../a.tf",
		"sub//b.tf"}), testOptions{})
	if got := violated(v); !slices.Equal(got, []string{"a.tf", "sub/b.tf"}) || v.Coverage.Files != 2 || !v.Complete {
		t.Errorf("%q, %+v, %+v", got, v.Coverage, v.Errors)
	}
	for _, entry := range []string{"", "/etc/passwd", dir + "/a.tf", "..", "../x", "sub/../../x", "sub", ".", "./",
		"sub/", "nowhere", "a.tf/x", "nowhere/x", "a.tf\r", `"a.tf"`, "a\x00b", strings.Repeat("x", 300), "A.TF"} {
		v := scanTree(t, testBundle("key"), tree.List(root, []string{"c", entry}), testOptions{})
		if len(v.Errors) != 1 || v.Errors[0].Code != code.FilesFrom || len(v.Violations) != 1 {
			t.Errorf("%q: errors %+v, violations %+v", entry, v.Errors, v.Violations)
		}
	}
}

func TestSinglePath(t *testing.T) {
	for _, path := range []string{"", ".", "/", "/x", "..", "../x", "a/../.."} {
		if _, err := tree.Single(path, nil); err == nil {
			t.Errorf("%q is taken", path)
		}
	}
	input, err := tree.Single("./a//b.tf", []byte("key"))
	must(t, err)
	v := scanTree(t, testBundle("key"), input, testOptions{Version: "1.2"})
	if got := violated(v); !slices.Equal(got, []string{"a/b.tf"}) || v.Scope.Mode != "stdin" ||
		v.Tool.Version != "1.2" || v.Policy[0].From != "disk" {
		t.Errorf("%q, %+v, %+v, %+v", got, v.Scope, v.Tool, v.Policy)
	}
}

// Deprecated rules are counted, never enforced; the verdict repeats the rules' texts.
func TestRulesInVerdict(t *testing.T) {
	r := testRule("T-1", "key")
	r.Message, r.Remediation, r.DocsURL, r.Owner, r.Severity, r.Tags = "m", "r", "https://d", "o", "high",
		[]string{"a", "b"}
	i := testRule("T-2", "nowhere")
	i.Type = rules.Invariant
	v := scanTree(t, rules.New([]rules.Rule{r, i}, []rules.Rule{testRule("T-0", "key", "x")}),
		fakeFiles(same("x key"), "a", "b"), testOptions{})
	if p := v.Policy[0]; p.Boundaries != 1 || p.Invariants != 1 || p.Deprecated != 1 {
		t.Errorf("%+v", p)
	}
	if len(v.Violations) != 2 || v.Violations[0].Reason != "m" || len(v.Rules) != 2 {
		t.Fatalf("%+v", v.Violations)
	}
	if g := v.Rules[0]; g.Message != "m" || g.Remediation != "r" || g.DocsURL != "https://d" || g.Owner != "o" ||
		g.Severity != "high" || len(g.Tags) != 2 || g.Files != 2 || g.From != "disk" {
		t.Errorf("%+v", g)
	}
}
