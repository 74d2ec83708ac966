package baseline

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// commits makes commits with some files, one after another; a name can begin with a mode, if it is not 100644.
func commits(t *testing.T, all ...map[string]string) (*repo.Repository, []repo.Hash) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	git := func(in, name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, name}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", name, err, out)
		}
	}
	var stream strings.Builder
	for i, files := range all {
		fmt.Fprintf(&stream, "commit refs/heads/c%d\ncommitter A <a@b> %d +0000\ndata 0\n", i, 1700000000+i)
		if i > 0 {
			fmt.Fprintf(&stream, "from refs/heads/c%d\n", i-1)
		}
		stream.WriteString("deleteall\n")
		for name, content := range files {
			mode, path, found := strings.Cut(name, ":")
			if !found {
				mode, path = "100644", name
			}
			fmt.Fprintf(&stream, "M %s inline %s\ndata %d\n%s\n", mode, path, len(content), content)
		}
	}
	git("", "init", "-q")
	git(stream.String(), "fast-import", "--quiet")
	r, err := repo.Find(dir)
	must(t, err)
	var hashes []repo.Hash
	for i := range all {
		hash, err := r.Commit(fmt.Sprintf("c%d", i))
		must(t, err)
		hashes = append(hashes, hash)
	}
	return r, hashes
}

// TestCounts: how often a rule was broken, and why a number is missing.
func TestCounts(t *testing.T) {
	yes := strings.Repeat("key\n", 3)
	wide := "\xff\xfek\x00e\x00y\x00\n\x00k\x00e\x00y\x00\n\x00k\x00e\x00y\x00\n\x00"
	b, err := rules.Load(rules.Files{
		rules.BoundariesFile: []byte(`bundle: "0.2"
rules:
  - {id: TEXT, title: T, enforcement: {mode: fail},
     match: {files: ["/*.tf", "/*.yaml", "/link*"], exclude: ["/no*"],
      forbidden_patterns: [key, {text: "k e y", case: ignore}]}}
  - {id: KEYS, title: T, enforcement: {mode: fail}, match: {files: ["/*.yaml"], forbidden_patterns: [{key: "**.key"}]}}
  - {id: LAX, title: T, enforcement: {mode: fail},
     match: {files: ["/*.yaml"], unparsable: text, forbidden_patterns: [{key: "**.key"}, "key"]}}
  - {id: PATH, title: T, enforcement: {mode: fail}, match: {forbidden_files: ["/*.pem", "/secret*", "/module*"]}}
`),
		rules.InvariantsFile: []byte(`bundle: "0.2"
rules:
  - {id: MUST, title: T, enforcement: {mode: fail}, match: {files: ["/*.tf"], required_patterns: [owner, team]}}
`),
	})
	must(t, err)
	const pointer = "version https://git-lfs.github.com/spec/v1\n" +
		"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	before := map[string]string{
		"a.tf": yes + "k e y\n", "gone.tf": yes, "no.tf": yes, "in-use.tf": yes, "out.tf": yes, "lfs.tf": pointer,
		"a.yaml": "key: 1\nb: {key: 2}\n", "bad.yaml": "key: [{{\n", "secret.pem": "", "120000:link": "key/key",
		"120000:link2.pem": "x",
		".gitattributes":   "wide.tf working-tree-encoding=UTF-16LE\nodd.tf working-tree-encoding=nonsense\n",
		"wide.tf":          "\u656b\u3a79", "odd.tf": yes, "big.tf": strings.Repeat("x", 900) + yes,
		"dir.tf/file": yes,
	}
	now := map[string]string{"a.tf": yes, "a.yaml": "b: 1\n", "bad.yaml": "key: 1\n", "new.tf": wide, "gone.tf2": "",
		"in-use.tf": "x", "dir.tf": yes, "120000:link": "x"}
	r, hashes := commits(t, before, now)
	compared, err := r.Compare(hashes[0].String(), hashes[1].String())
	must(t, err)
	blob, err := r.HashBlob(int64(len(yes)), strings.NewReader(yes))
	must(t, err)
	c := &check.Checker{
		Bundle: b, Plans: check.NewPlanCache(b), Limiter: check.NewParseLimiter(),
		Exclude: func(path string) bool { return path == "out.tf" }, MaxFileBytes: 800,
		RuleFiles: []check.RuleFile{{Path: "in-use.tf", Blob: blob}}, Compares: true,
	}
	base := New(tree.Changes(r, compared, "a", "x"), c, nil)
	of := map[string]int{}
	for i := range b.Rules {
		of[b.Rules[i].ID] = i
	}
	if refs, err := base.references(); err != nil || len(refs) != 1 || !refs[0].Base || !refs[0].MergeBase {
		t.Fatalf("%+v, %v", refs, err)
	}
	for _, c := range []struct {
		rule, path string
		had, has   allowance.Count
	}{
		{"TEXT", "a.tf", allowance.Count{Count: 4}, allowance.Count{Count: 3}},
		{"MUST", "a.tf", allowance.Count{Count: 2}, allowance.Count{Count: 2}},
		{"KEYS", "a.tf", allowance.Count{Reason: allowance.NotSelected},
			allowance.Count{Reason: allowance.NotSelected}},
		{"TEXT", "gone.tf", allowance.Count{Count: 3}, allowance.Count{Reason: allowance.Missing}},
		{"TEXT", "new.tf", allowance.Count{Reason: allowance.Missing}, allowance.Count{Count: 3}},
		{"TEXT", "no.tf", allowance.Count{Reason: allowance.NotSelected}, allowance.Count{Reason: allowance.Missing}},
		{"TEXT", "out.tf", allowance.Count{Reason: allowance.NotSelected}, allowance.Count{Reason: allowance.Missing}},
		{"TEXT", "in-use.tf", allowance.Count{Reason: allowance.NotSelected}, allowance.Count{}},
		{"TEXT", "lfs.tf", allowance.Count{Reason: allowance.Unreadable}, allowance.Count{Reason: allowance.Missing}},
		{"TEXT", "big.tf", allowance.Count{Reason: allowance.Unreadable}, allowance.Count{Reason: allowance.Missing}},
		{"TEXT", "odd.tf", allowance.Count{Reason: allowance.Unreadable}, allowance.Count{Reason: allowance.Missing}},
		{"TEXT", "wide.tf", allowance.Count{Count: 1}, allowance.Count{Reason: allowance.Missing}},
		{"TEXT", "dir.tf", allowance.Count{Reason: allowance.Missing}, allowance.Count{Count: 3}},
		{"TEXT", "link", allowance.Count{Count: 2}, allowance.Count{}},
		{"TEXT", "a.yaml", allowance.Count{Count: 2}, allowance.Count{}},
		{"KEYS", "a.yaml", allowance.Count{Count: 2}, allowance.Count{}},
		{"KEYS", "bad.yaml", allowance.Count{Reason: allowance.Unparsed}, allowance.Count{Count: 1}},
		{"TEXT", "bad.yaml", allowance.Count{Count: 1}, allowance.Count{Count: 1}},
		{"LAX", "bad.yaml", allowance.Count{Count: 1}, allowance.Count{Count: 1, Same: 1}},
		{"PATH", "secret.pem", allowance.Count{Count: 2}, allowance.Count{Reason: allowance.Missing}},
		{"PATH", "link2.pem", allowance.Count{Count: 1}, allowance.Count{Reason: allowance.Missing}},
		{"PATH", "a.tf", allowance.Count{Reason: allowance.NotSelected},
			allowance.Count{Reason: allowance.NotSelected}},
		{"TEXT", "nowhere", allowance.Count{Reason: allowance.Missing}, allowance.Count{Reason: allowance.Missing}},
		{"TEXT", ".git", allowance.Count{Reason: allowance.Missing}, allowance.Count{Reason: allowance.Missing}},
	} {
		for range 2 { // the second time from the cache
			had, err := base.countsBefore(context.Background(), of[c.rule], c.path)
			must(t, err)
			has, err := base.countNow(context.Background(), of[c.rule], c.path)
			must(t, err)
			if had[0] != c.had || has != c.has {
				t.Errorf("%s, %s: had %+v, has %+v, want %+v and %+v", c.rule, c.path, had[0], has, c.had, c.has)
			}
		}
	}
}
