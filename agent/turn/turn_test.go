package turn

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/run"
)

const bundle = `rules:
  - id: ALL-1
    title: Nowhere
    remediation: Remove it.
    enforcement: {mode: fail}
    match: {files: ["**"], forbidden_patterns: ["MARK"]}
`

// repository makes a repository with a commit, and returns its root and a way to run git in it.
func repository(t *testing.T) (root string, git func(args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+root+"/nowhere")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	t.Setenv("HOME", filepath.Join(root, "nowhere"))
	t.Setenv("XDG_CONFIG_HOME", "")
	git("init", "-q", "-b", "main", "--template=")
	write(t, root, ".policyscan/rules/boundaries.yml", bundle)
	write(t, root, ".policyscan/rules/invariants.yml", "rules: []\n")
	git("add", "-A")
	git("commit", "-qm", "x")
	return root, git
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func changed(t *testing.T, root string) *Result {
	t.Helper()
	return Check(t.Context(), []string{root}, func(string) run.Options {
		return run.Options{Policies: []string{""}, Getenv: func(string) string { return "" }}
	})
}

// TestUntracked: the checked untracked files are the ones in the list of git: not what it ignores, in any directory,
// nor what is in another repository; also what is tracked although it is ignored.
func TestUntracked(t *testing.T) {
	root, git := repository(t)
	write(t, root, "logs/kept.log", "x\n")
	git("add", "logs/kept.log")
	git("commit", "-qm", "x")
	for name, content := range map[string]string{
		".gitignore": "*.log\n!keep.log\n/build/\nlogs/\nnode_modules\nname with space\n#x\n\\#y\n", "sub/.gitignore": "*.tf\n!b.tf\ndeep/\n",
		".git/info/exclude": "secret.txt\n",
	} {
		write(t, root, name, content)
	}
	for _, name := range strings.Fields("a.tf a.log keep.log build/x sub/build/x logs/new logs/kept.log node_modules/m/x " +
		"sub/node_modules sub/a.tf sub/b.tf sub/deep/b.tf sub/other/a.tf secret.txt sub/secret.txt ünï.tf #x #y nested/x") {
		write(t, root, name, "MARK\n")
	}
	write(t, root, "name with space", "MARK\n")
	if out, err := exec.Command("git", "init", "-q", filepath.Join(root, "nested")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var want, got []string
	for name := range strings.SplitSeq(git("ls-files", "-z", "-o", "-m", "--exclude-standard"), "\x00") {
		if name != "" && name != "nested/" && !strings.HasSuffix(name, ".gitignore") {
			want = append(want, name)
		}
	}
	r := changed(t, root)
	for i := range r.violations {
		got = append(got, r.violations[i].of.File)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) != 7 || len(r.Undecided()) > 0 {
		t.Errorf("checked %q\nwant    %q\n%q", got, want, r.Undecided())
	}
}

// TestReason: the agent reads at most 20 violations, each with its place, and how to fix a rule once.
func TestReason(t *testing.T) {
	root, git := repository(t)
	write(t, root, "committed", "MARK\n") // what HEAD has does not count
	git("add", "committed")
	git("commit", "-qm", "x")
	write(t, root, "committed", "x\nMARK\n")
	if r := changed(t, root); len(r.Keys())+len(r.Undecided()) > 0 {
		t.Errorf("%q, %q", r.Keys(), r.Undecided())
	}
	for i := range 22 {
		write(t, root, fmt.Sprintf("f%02d", i), "x\nMARK\n")
	}
	r := changed(t, root)
	lines := strings.Split(r.Reason(2, 3), "\n")
	if len(lines) != 22 || !strings.HasSuffix(lines[0], "(request 2 of 3):") || lines[21] != "- and 2 more" ||
		lines[1] != `- ALL-1: f00:2:1 must not contain "MARK": Nowhere. To fix it: Remove it.` ||
		lines[2] != `- ALL-1: f01:2:1 must not contain "MARK"` {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	if left := strings.Split(r.Left(), "\n"); len(left) != 22 || left[21] != "- and 2 more" {
		t.Errorf("%q", left)
	}

	// Violations that were there as often or more do not count; more of them do.
	before := r.Counts()
	write(t, root, "f03", "MARK\nMARK\n")
	write(t, root, "f04", "moved\nmoved\nMARK\n")
	write(t, root, "f05", "x\n")
	r = changed(t, root)
	keys := len(r.Keys())
	r.Since(func(key string) int64 { return before[key] })
	if len(r.Keys()) != 1 || keys != 21 || !strings.Contains(r.Reason(1, 3), "f03:1:1 must not contain \"MARK\" (also in line 2)") {
		t.Errorf("%d keys became %q", keys, r.Keys())
	}
}
