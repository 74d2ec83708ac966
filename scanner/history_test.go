package scanner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
)

// A testHistory is commits of a test repository: mark 1 has no parent.
type testHistory []historyCommit

type historyCommit struct {
	parents []int
	files   map[string]string // all of them; the mode before a colon, if it is not 100644
}

// write makes the commits in a new repository and returns it, with the hashes of the commits.
func (h testHistory) write(t testing.TB) (*repo.Repository, []repo.Hash) {
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
	for i, c := range h {
		fmt.Fprintf(&stream, "commit refs/heads/c%d\nmark :%d\ncommitter A <a@b> %d +0000\ndata 0\n", i+1, i+1,
			1700000000+i)
		for k, parent := range c.parents {
			fmt.Fprintf(&stream, "%s :%d\n", []string{"from", "merge"}[min(k, 1)], parent)
		}
		stream.WriteString("deleteall\n")
		for name, content := range c.files {
			mode, name, _ := strings.Cut(":"+name, ":")
			if before, after, found := strings.Cut(name, ":"); found {
				mode, name = before, after
			}
			if mode == "" {
				mode = "100644"
			}
			fmt.Fprintf(&stream, "M %s inline %s\ndata %d\n%s\n", mode, name, len(content), content)
		}
	}
	git("", "init", "-q")
	git(stream.String(), "fast-import", "--quiet")
	r, err := repo.Find(dir)
	must(t, err)
	var hashes []repo.Hash
	for i := range h {
		text, err := os.ReadFile(filepath.Join(dir, ".git/refs/heads", fmt.Sprintf("c%d", i+1)))
		must(t, err)
		hash, err := r.Commit(strings.TrimSpace(string(text)))
		must(t, err)
		hashes = append(hashes, hash)
	}
	return r, hashes
}

// TestManyStates: more states than are checked at once give one report.
func TestManyStates(t *testing.T) {
	policy := writeTree(t, map[string]string{
		"rules/boundaries.yml": "rules:\n  - id: BAD-1\n    title: nothing bad\n    enforcement: {mode: fail}\n" +
			"    match: {files: [\"**/*.tf\"], forbidden_patterns: [BAD]}\n",
		"rules/invariants.yml": "rules: []\n",
	})
	none, many := map[string]string{"a": "x"}, map[string]string{"00000.tf": "BAD", "99999.tf": "BAD"}
	for i := range statesAtOnce {
		many[fmt.Sprintf("%05d.tf", i+1)] = "good"
	}
	r, commits := testHistory{{files: none}, {[]int{1}, many}, {[]int{2}, none}}.write(t)
	about, err := run.Open(t.Context(), run.Options{
		Path: r.WorkTree, Base: commits[0].String(), Head: commits[2].String(), EachCommit: true,
		Policies: []string{policy}, Getenv: os.Getenv,
	})
	must(t, err)
	defer about.Close()
	v := Scan(t.Context(), about, nil)
	if n := len(v.Violations); n != 2 || v.Violations[0].File != "00000.tf" || v.Violations[1].File != "99999.tf" ||
		v.Coverage.States != len(many) {
		t.Errorf("%d violations, %d states: %v", n, v.Coverage.States, v.Violations)
	}
}
