//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// shortHash is a commit in the pusher's view. Those of SHA-256 are as long.
var shortHash = regexp.MustCompile(`\b[0-9a-f]{7}\b`)

// TestPushes: what pushers see of a server with the hook, at 80 columns. lab/pushes does many more pushes.
func TestPushes(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "testdata/pushes.sh", t.TempDir())
	cmd.Env = slices.Concat(os.Environ(), gitEnv())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && strings.HasPrefix(line, "remote: ") {
			t.Errorf("over 80 columns: %s", line)
		}
	}
	got := shortHash.ReplaceAllString(string(out), "#######")
	if strings.Contains(got, "WRONG") {
		t.Error(got)
	}
	golden := filepath.Join("testdata", "pushes.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%v: pushers see\n%s\nwant\n%s", err, got, want)
	}
}

// TestPreReceiveRefuses: whatever is wrong with the hook's arguments, input or repository, its exit status is not 0, and
// 1 once the arguments are understood.
func TestPreReceiveRefuses(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("policyscan")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", dir+"/s.git").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	zeros := strings.Repeat("0", 40)
	for _, c := range []struct {
		args, env, input string
		status           int
		says             string
	}{
		{"", "", zeros + " " + zeros + " refs/heads/x\n", 1, "has a commit; push one [E_EMPTY]"},
		{"", "", "", 1, "OLD NEW REF"},
		{"--policy codex", "", "x\n", 1, "OLD NEW REF"}, // the name of an agent, whose hook ends with 0
		{"--policy pre-receive", "", "x\n", 1, "OLD NEW REF"},
		{"--policy missing", "", zeros + " " + strings.Repeat("1", 40) + " refs/heads/x\n", 1, "is not in this clone"},
		{"--no-own-policy", "", "x\n", 1, "--no-own-policy is given without --policy"},
		{"--timeout 0", "", "x\n", 1, "--timeout is 0s"},
		{"--timeout=-1s", "", "x\n", 1, "--timeout is -1s"},
		{"--policy-sha256 12 --policy p", "", "x\n", 1, "--policy-sha256 is"},
		{"--report nonsense", "", "x\n", 1, "nonsense"},
		{"--output /missing/file", "", "x\n", 1, "/missing"},
		{"--allow nonsense", "", zeros + " " + zeros + " refs/heads/x\n", 1, "E_"},
		{"--polcy x", "", "x\n", 2, "--policy"},
		{"extra", "", "x\n", 2, "extra"},
		{"", "GIT_DIR=missing", "x\n", 1, "E_REPO_FORMAT"},
		{"", "GIT_OBJECT_DIRECTORY=/missing", "x\n", 1, "E_READ"},
		{"", "POLICYSCAN_NONSENSE=1", "x\n", 2, "POLICYSCAN_NONSENSE"},
	} {
		cmd := exec.Command(program, append([]string{"hook", "pre-receive"}, strings.Fields(c.args)...)...)
		cmd.Dir, cmd.Stdin = filepath.Join(dir, "s.git"), strings.NewReader(c.input)
		cmd.Env = append(slices.Concat(os.Environ(), gitEnv()), "GIT_DIR=.")
		if c.env != "" {
			cmd.Env = append(cmd.Env, c.env)
		}
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		said := func() string { return strings.Join(strings.Fields(errs.String()), " ") }
		if got := exitOf(cmd.Run()); got != c.status || !strings.Contains(said(), c.says) || out.Len() > 0 {
			t.Errorf("%q, %q, %q: status %d, %s%s; want %d and %q", c.args, c.env, c.input, got, errs.String(), out.String(),
				c.status, c.says)
		}
	}
}
