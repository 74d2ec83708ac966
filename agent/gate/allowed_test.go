package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
)

const allowedRules = `bundle: "0.2"
rules:
  - id: OPEN
    title: Nothing is open to all
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0", "::/0"]}
  - id: NEVER
    title: Never
    enforcement: {mode: fail}
    allowances: never
    match: {files: ["**/*.tf"], forbidden_patterns: [secret]}
  - id: KIND
    title: No kind
    enforcement: {mode: fail}
    match: {files: ["**/*.yaml"], forbidden_patterns: [{key: kind}]}
  - id: PATH
    title: No keys
    enforcement: {mode: fail}
    match: {forbidden_files: ["**/*.pem"]}
`

// runGit runs git in a directory, without anyone's settings.
func runGit(t rapid.TB, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	args = append([]string{"-c", "init.defaultBranch=main", "-c", "core.autocrlf=false"}, args...)
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

var long = flag.Bool("long", false, "try as many edits and histories as rapid does by default")

// fewer lets rapid try a few times only, without -long.
func fewer(t *testing.T, times string) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if *long || checks.Value.String() != checks.DefValue {
		return
	}
	t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) }) // it was that before
	if err := checks.Value.Set(times); err != nil {
		t.Fatal(err)
	}
}

// listed is an allowances.yml.
func listed(entries ...string) string {
	text := "bundle: \"0.2\"\nallowances:\n"
	for _, e := range entries {
		text += "  - {" + e + ", owner: net, reason: x}\n"
	}
	return text
}

const (
	allowancesFile = ".policyscan/rules/allowances.yml"
	boundariesFile = ".policyscan/rules/boundaries.yml"
	openEntry      = "rule: OPEN, file: old.tf, at_most: 4"
)

// committed is the root of a repository with the rules above, whose files are committed.
func committed(t testing.TB, files map[string]string) string {
	t.Helper()
	root := tempDir(t, files)
	write(t, filepath.Join(root, boundariesFile), allowedRules)
	runGit(t, root, "init", "-q")
	runGit(t, root, "add", "-A")
	runGit(t, root, "commit", "-q", "-m", "x")
	return root
}

// opened is the gate of a root, in 2027.
func opened(t testing.TB, root string, policies ...string) *Gate {
	t.Helper()
	if len(policies) == 0 {
		policies = []string{""}
	}
	g, err := Open(policies, nil, root)
	if err != nil {
		t.Fatal(err)
	}
	g.Now = func() time.Time { return time.Date(2027, 3, 1, 23, 0, 0, 0, time.UTC) }
	return g
}

func open(n int) string { return strings.Repeat("0.0.0.0/0\n", n) }

// TestAllowed: an edit may leave in a file what an allowance of HEAD lets it have, and not more than it has on disk or
// has at HEAD.
func TestAllowed(t *testing.T) {
	text, err := os.ReadFile("testdata/allowed.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var c struct {
			Name          string
			Files         map[string]string // committed
			Disk          map[string]string // changed since; "-" is removed
			File, Content string            // that the call writes
			Refused       string            // a part of the reason; "": the call is allowed
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) {
			root := committed(t, c.Files)
			for name, content := range c.Disk {
				if content == "-" {
					if err := os.Remove(filepath.Join(root, name)); err != nil {
						t.Fatal(err)
					}
					continue
				}
				write(t, filepath.Join(root, name), content)
			}
			r := judge(t, opened(t, root), asked(t, root, "Write", "file_path", c.File, "content", c.Content))
			denied := r.Outcome().Effect == callrules.Deny
			if denied != (c.Refused != "") || denied && !strings.Contains(r.Reason(), c.Refused) {
				t.Errorf("%s: %q, want %q", r.Outcome().Decision, r.Reason(), c.Refused)
			}
			if len(r.Signed) == 0 {
				return
			}
			note := "allowed by allowances.yml: " + r.Signed[0].RuleID + " in "
			if denied || !strings.Contains(r.Note(), note) || !strings.Contains(r.Note(), ", owner net") {
				t.Errorf("allowed: %+v, note %q", r.Signed, r.Note())
			}
		})
	}
}

// TestAllowedWhere: the allowances that count are those of HEAD of the work tree that a file is in; of a bundle from
// elsewhere, or without a commit, those on disk.
func TestAllowedWhere(t *testing.T) {
	files := map[string]string{"old.tf": open(2), "sub/old.tf": open(2), allowancesFile: listed(openEntry)}
	root := committed(t, files)
	linked := filepath.Join(tempDir(t, nil), "linked")
	runGit(t, root, "worktree", "add", "-q", linked)
	runGit(t, linked, "rm", "-q", allowancesFile)
	runGit(t, linked, "commit", "-q", "-m", "none")
	bundled := map[string]string{"old.tf": open(2), allowancesFile: listed(openEntry), boundariesFile: allowedRules}
	unborn, plain := tempDir(t, bundled), tempDir(t, bundled)
	runGit(t, unborn, "init", "-q")
	bare := committed(t, map[string]string{"old.tf": open(2)})
	inner := committed(t, map[string]string{"sub/old.tf": open(2), "sub/" + allowancesFile: listed(openEntry),
		"sub/" + boundariesFile: allowedRules})
	broken := committed(t, map[string]string{"old.tf": open(2), allowancesFile: "bundle: x\n"})
	write(t, filepath.Join(broken, allowancesFile), listed(openEntry))
	edit := "::/0\n" + open(1)
	for _, c := range []struct {
		name, root, file string
		policies         []string
		want             string // a part of the reason
	}{
		{"the root", root, root + "/old.tf", nil, ""},
		{"another file of its", root, root + "/sub/old.tf", nil, "must not contain"},
		{"another work tree, whose HEAD has none", root, linked + "/old.tf", nil, "not committed"},
		{"before the first commit", unborn, unborn + "/old.tf", nil, ""},
		{"no repository", plain, plain + "/old.tf", nil, ""},
		{"a bundle elsewhere", bare, bare + "/old.tf", []string{plain + "/.policyscan"}, ""},
		{"another repository's", bare, bare + "/old.tf", []string{root + "/.policyscan"}, ""},
		{"a directory of a repository", inner + "/sub", inner + "/sub/old.tf", nil, ""},
		{"a list at HEAD that cannot be read", broken, broken + "/old.tf", nil, "cannot determine what HEAD allows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := asked(t, c.root, "Write", "file_path", c.file, "content", edit)
			r := judge(t, opened(t, c.root, c.policies...), call)
			denied := r.Outcome().Effect == callrules.Deny
			if denied != (c.want != "") || !strings.Contains(r.Reason(), c.want) {
				t.Errorf("denied: %v, %q, want %q", denied, r.Reason(), c.want)
			}
		})
	}
}

// TestAllowedAsStaged: on histories of all kinds the gate lets an edit bring more of a rule exactly if a scan of what
// is staged passes with it, as long as the disk is as HEAD is; and whatever is on disk, it denies nothing that such a
// scan checks and passes.
func TestAllowedAsStaged(t *testing.T) {
	fewer(t, "20")
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pieces := []string{"0.0.0.0/0\n", "::/0\n", "x\n", "secret\n", "kind: a\n", "b: [\n"}
	names := []string{"a.tf", "b.tf", "c.yaml", "k.pem"}
	content := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 4).Draw(t, "pieces"), "")
	})
	n, allowed, refused := 0, 0, 0
	check := func(t *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		write(t, filepath.Join(root, boundariesFile), allowedRules)
		edited := rapid.SampledFrom(names).Draw(t, "edited")
		var entries []string
		for i := range rapid.IntRange(1, 3).Draw(t, "entries") {
			name := edited
			if i > 0 {
				name = rapid.SampledFrom(names).Draw(t, "for")
			}
			rule := map[string]string{".tf": "OPEN", ".yaml": "KIND", ".pem": "PATH"}[filepath.Ext(name)]
			e := fmt.Sprintf("rule: %s, file: %s, at_most: %d", rule, name, rapid.IntRange(1, 4).Draw(t, "at most"))
			e += rapid.SampledFrom([]string{"", "", ", may_grow: true", ", until: 2027-02-28", ", until: 2027-03-01",
				", from: z.tf"}).Draw(t, "more")
			entries = append(entries, e)
		}
		write(t, filepath.Join(root, allowancesFile), listed(entries...))
		had := ""
		for _, name := range names {
			if rapid.IntRange(0, 4).Draw(t, "there") > 0 {
				text := content.Draw(t, "committed")
				write(t, filepath.Join(root, name), text)
				if name == edited {
					had = text
				}
			}
		}
		runGit(t, root, "init", "-q")
		runGit(t, root, "add", "-A")
		runGit(t, root, "commit", "-q", "-m", "x")
		g, err := Open([]string{""}, nil, root)
		if err != nil {
			t.Fatal(err)
		}
		g.Now = func() time.Time { return time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC) }
		same := rapid.Bool().Draw(t, "the disk is as HEAD is")
		if !same {
			write(t, filepath.Join(root, edited), rapid.OneOf(rapid.Just("x\n"), content).Draw(t, "on disk"))
		}
		exchanged := strings.NewReplacer("0.0.0.0/0", "::/0", "::/0", "0.0.0.0/0").Replace(had)
		after := rapid.OneOf(rapid.Just(exchanged), rapid.Just("#\n"+had), content).Draw(t, "after")
		c := &call.Call{Tool: "Write", Dir: root, Input: call.NewObject(
			call.Member{Name: "file_path", Value: call.Text(edited)},
			call.Member{Name: "content", Value: call.Text(after)})}
		r, err := g.Judge(context.Background(), c, callrules.Options{})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, edited), after)
		runGit(t, root, "add", edited)
		violates := stagedRules(t, root, edited)
		signed := map[string]bool{}
		for i := range r.Signed {
			signed[r.Signed[i].RuleID] = true
			allowed++
			if same && violates[r.Signed[i].RuleID] {
				t.Fatalf("%s in %s: allowed, and the commit is not", r.Signed[i].RuleID, edited)
			}
		}
		for i := range r.New {
			refused++
			if !violates[r.New[i].RuleID] && after != had || signed[r.New[i].RuleID] {
				t.Fatalf("%s in %s: denied, and the commit is not: %s", r.New[i].RuleID, edited, r.Reason())
			}
		}
	}
	for range 20 { // of a few histories none may allow
		if rapid.Check(t, check); t.Failed() || allowed > 0 && refused > 0 {
			return
		}
	}
	t.Errorf("%d allowed, %d refused: nothing was tried", allowed, refused)
}

// stagedRules are the rules that a file as it is staged violates.
func stagedRules(t rapid.TB, root, name string) map[string]bool {
	t.Helper()
	r, err := run.Open(context.Background(), run.Options{
		Path: root, Policies: []string{""}, Staged: true, Git: repo.Environment{},
		Getenv: func(string) string { return "" }, Now: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := scanner.Scan(context.Background(), r, nil)
	violates := map[string]bool{}
	for i := range v.Violations {
		if v.Violations[i].File == name {
			violates[v.Violations[i].RuleID] = true
		}
	}
	return violates
}

// TestAllowedCost: HEAD is read only for a file that has an entry, and of which a call would bring more.
func TestAllowedCost(t *testing.T) {
	root := committed(t, map[string]string{"old.tf": open(2), "new.tf": "", allowancesFile: listed(openEntry)})
	if err := os.Rename(filepath.Join(root, ".git", "objects"), filepath.Join(root, ".git", "gone")); err != nil {
		t.Fatal(err)
	}
	g := opened(t, root)
	for _, c := range []struct{ file, content, want string }{
		{"old.tf", "x\n" + open(2), ""},
		{"old.tf", "x\n", ""},
		{"new.tf", open(1), "must not contain"},
		{"old.tf", open(3), "cannot determine what HEAD allows"},
	} {
		r := judge(t, g, asked(t, root, "Write", "file_path", c.file, "content", c.content))
		if !strings.Contains(r.Reason(), c.want) || (c.want == "") != (r.Outcome().Effect == callrules.Allow) ||
			c.want == "must not contain" && strings.Contains(r.Reason(), "HEAD") {
			t.Errorf("%s: %q, want %q", c.file, r.Reason(), c.want)
		}
	}
}
