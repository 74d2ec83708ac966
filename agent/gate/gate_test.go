package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/edit"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

const boundaries = `rules:
  - id: OPEN
    title: Nothing is open to all
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0", "::/0"]}
    message: The network team hands out ranges.
    remediation: Use var.office_range.
    docs_url: https://example.com/open
  - id: KEY
    title: No keys
    enforcement: {mode: fail}
    match: {files: ["**"], forbidden_patterns: ["AKIA"]}
`

const invariants = `rules:
  - id: TWO
    title: No two lines
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], required_absent: ["a\nb"]}
`

func bundle(t testing.TB) *rules.Bundle {
	t.Helper()
	b, err := rules.Load(rules.Files{"rules/boundaries.yml": []byte(boundaries),
		"rules/invariants.yml": []byte(invariants)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// directory is a real directory that holds files.
func tempDir(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		write(t, filepath.Join(root, name), content)
	}
	return root
}

func write(t interface {
	Helper()
	Fatal(...any)
}, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// asked is a call, its input as name, value, name, value ...
func asked(t testing.TB, dir, tool string, input ...any) *call.Call {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(input); i += 2 {
		m[input[i].(string)] = input[i+1]
	}
	text, err := json.Marshal(map[string]any{"tool": tool, "input": m, "cwd": dir})
	if err != nil {
		t.Fatal(err)
	}
	c, err := callrules.ParseCall(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func judge(t testing.TB, g *Gate, c *call.Call) *Result {
	t.Helper()
	r, err := g.Judge(t.Context(), c, callrules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ids(list []verdict.Violation) string {
	var all []string
	for _, v := range list {
		all = append(all, v.RuleID+" "+v.File)
	}
	return strings.Join(all, ", ")
}

// TestReason: "The reason that goes back to the agent names rule, pattern, line and remediation, so that it can
// fix its edit."
func TestReason(t *testing.T) {
	root := tempDir(t, map[string]string{"a.tf": "::/0\n"})
	g := &Gate{Bundle: bundle(t), Root: root}
	r := judge(t, g, asked(t, root, "Edit", "file_path", "a.tf", "old_string", "::/0\n", "new_string",
		"::/0\n\n  0.0.0.0/0 \x1b[31m0.0.0.0/0\n"))
	want := `the edit would break the policy:
- OPEN: a.tf:3:3 must not contain "0.0.0.0/0" (2 times after the edit): Nothing is open to all. ` +
		`The network team hands out ranges. To fix it: Use var.office_range. See https://example.com/open
already there before this edit: OPEN in a.tf:1 ("::/0")`
	if r.Reason() != want {
		t.Errorf("got  %s\nwant %s", r.Reason(), want)
	}
	if r.Outcome().Rule.Origin != (callrules.Origin{File: "rules/boundaries.yml", Line: 2}) {
		t.Errorf("the rule is from %+v", r.Outcome().Rule.Origin)
	}
}

func TestManyViolations(t *testing.T) {
	var b strings.Builder
	b.WriteString("rules:\n")
	var content string
	for i := range 15 {
		id := string(rune('a' + i))
		fmt.Fprintf(&b, "  - {id: R%s, title: t, enforcement: {mode: fail}, "+
			"match: {files: ['**'], forbidden_patterns: [bad%[1]s]}}\n", id)
		content += "bad" + id
	}
	many, err := rules.Load(rules.Files{"rules/boundaries.yml": []byte(b.String()),
		"rules/invariants.yml": []byte("rules: []\n")})
	if err != nil {
		t.Fatal(err)
	}
	root := tempDir(t, nil)
	r := judge(t, &Gate{Bundle: many, Root: root}, asked(t, root, "Write", "file_path", "x", "content", content))
	if len(r.New) != 15 || strings.Count(r.Reason(), "\n- R") != 10 ||
		!strings.HasSuffix(r.Reason(), "\n- and 5 more") {
		t.Errorf("%d: %s", len(r.New), r.Reason())
	}
}

// TestLinks: a file is checked at its real path, whatever path the call has.
func TestLinks(t *testing.T) {
	root := tempDir(t, map[string]string{"net/a.tf": "x", "plain.txt": "x"})
	outside := tempDir(t, map[string]string{"b.tf": "x"})
	for name, target := range map[string]string{
		"link.txt": "net/a.tf", "dir": "net", "out.tf": outside + "/b.tf", "dangling.txt": "net/new.tf",
		"loop.tf": "loop.tf",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Symlink(root, filepath.Join(outside, "in")); err != nil {
		t.Fatal(err)
	}
	g := &Gate{Bundle: bundle(t), Root: root}
	for path, want := range map[string]string{
		"link.txt":           "OPEN net/a.tf",
		"dir/a.tf":           "OPEN net/a.tf",
		"dir/new.tf":         "OPEN net/new.tf",
		"dir/deeper/new.tf":  "OPEN net/deeper/new.tf",
		"dangling.txt":       "OPEN net/new.tf",
		"out.tf":             "OPEN out.tf", // where an agent that renames would put it
		outside + "/in/x.tf": "OPEN x.tf",
		outside + "/b.tf":    "",
		"net/../x/../a.tf":   "OPEN a.tf",
	} {
		if r := judge(t, g, asked(t, root, "Write", "file_path", path, "content", "0.0.0.0/0")); ids(r.New) != want {
			t.Errorf("%s: %q, want %q", path, ids(r.New), want)
		}
	}
	// What an edit changes is read through the link.
	if r := judge(t, g, asked(t, root, "Edit", "file_path", "out.tf", "old_string", "x", "new_string",
		"y 0.0.0.0/0")); ids(r.New) != "OPEN out.tf" {
		t.Errorf("an edit through a link: %q", ids(r.New))
	}
	for _, path := range []string{"dir/../a.tf", "net/../dir/../a.txt", "dir/./../a.tf", "dir/x/../../a.tf", root +
		"/dir/../a.tf"} {
		if r, err := g.Judge(t.Context(), asked(t, root, "Write", "file_path", path, "content", "x"),
			callrules.Options{}); err == nil || !strings.Contains(err.Error(), "over a link") {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
	}
	if r, err := g.Judge(t.Context(), asked(t, root, "Write", "file_path", "loop.tf", "content", "x"),
		callrules.Options{}); err == nil {
		t.Errorf("a link to itself: %+v", r)
	}
	for i := range 50 {
		if err := os.Symlink(fmt.Sprintf("chain%d.tf", i+1),
			filepath.Join(root, fmt.Sprintf("chain%d.tf", i))); err != nil {
			t.Fatal(err)
		}
	}
	if r := judge(t, g, asked(t, root, "Write", "file_path", "chain45.tf", "content",
		"0.0.0.0/0")); !strings.Contains(ids(r.New), "OPEN chain50.tf") {
		t.Errorf("five links to a missing file: %q", ids(r.New))
	}
	if r, err := g.Judge(t.Context(), asked(t, root, "Write", "file_path", "chain0.tf", "content", "x"),
		callrules.Options{}); err == nil || !strings.Contains(err.Error(), "too many links") {
		t.Errorf("fifty links to a missing file: %+v, %v", r, err)
	}
}

// workTrees makes a repository with two work trees, and another one.
func workTrees(t *testing.T) (root, beside, other string) {
	t.Helper()
	base := tempDir(t, nil)
	root, beside, other = filepath.Join(base, "main"), filepath.Join(base, "beside"), filepath.Join(base, "other")
	git := filepath.Join(root, ".git", "worktrees", "beside")
	for name, content := range map[string]string{
		filepath.Join(root, ".git", "HEAD"): "ref: refs/heads/main\n", filepath.Join(git, "commondir"): "../..\n",
		filepath.Join(beside, ".git"):        "gitdir: " + git + "\n",
		filepath.Join(other, ".git", "HEAD"): "ref: refs/heads/main\n",
	} {
		write(t, name, content)
	}
	return root, beside, other
}

// TestGuardsOfRoot: an agent's files in the root are guarded by their paths, whatever repository the root is in, and so
// are the files that Gemini reads above it.
func TestGuardsOfRoot(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g, err := (&Gate{Root: root}).WithGuards(Guards{
		Agent: "gemini", Root: root, Around: Around{Getenv: func(string) string { return "" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(under(root, agentNames()), under(filepath.Dir(root), geminiVariables())...) {
		if !slices.Contains(g.Guarded, name) {
			t.Errorf("%s is not guarded", name)
		}
	}
	if !slices.Contains(g.Around.Dirs, root) {
		t.Errorf("around the directories %q", g.Around.Dirs)
	}
}

// TestGuardNames: names are guarded in each work tree of the repository: some in each directory, some in the root of
// each repository in it, and what is guarded in the root in the others' roots.
func TestGuardNames(t *testing.T) {
	root, beside, other := workTrees(t)
	write(t, filepath.Join(root, "nested", ".git"), "x")
	g := &Gate{
		Root: root, Guarded: []string{filepath.Join(root, "policy", "rules")},
		GuardedNames:     []string{".agent/hooks", ".agent.json"},
		GuardedRootNames: []string{".policyscan", "rules/a.yml"},
	}
	for path, guarded := range map[string]bool{
		"a.tf": false, "rules/a.yml": true, "RULES/a.yml": true, "rules/b.yml": false, "sub/rules/a.yml": false,
		".policyscan/rules/b": true, "sub/.policyscan/x": false,
		".agent/hooks": true, "a/b/.agent/hooks/x": true, "a/.Agent.JSON": true, "a/.agent/other": false,
		"a.agent.json": false, ".agent": false,
		"nested/rules/a.yml": true, "nested/.policyscan/rules/b": true, "nested/b/.policyscan/x": false,
		"nested/b/.agent.json": true,
		"policy/rules/a.yml":   true, "policy/a.yml": false, "a/policy/rules/a.yml": false, ".git/config": true,
	} {
		for dir, tree := range map[string]bool{root: true, beside: true, other: false} {
			want := guarded && tree && (dir == root || !strings.HasPrefix(path, "nested/") ||
				strings.Contains(path, ".agent"))
			named := filepath.Join(dir, path)
			if got, err := g.guarded([]file{{edit: edit.Edit{Path: named}, named: named, real: named}},
				root); err != nil || (got == named) != want {
				t.Errorf("%s: %q, %v, want %v", named, got, err, want)
			}
		}
	}
	// A name counts at its own path, whatever its target and whatever the path to it.
	away := tempDir(t, map[string]string{"hooks/x": "", "other/x": ""})
	for link, target := range map[string]string{
		filepath.Join(root, "a", ".agent"): "../cc", filepath.Join(root, "cc", "x"): "",
		filepath.Join(beside, ".agent"): away,
		filepath.Join(away, "main"):     root, filepath.Join(away, "out"): filepath.Join(away, "other"),
	} {
		if target == "" {
			write(t, link, "")
			continue
		}
		if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]bool{
		filepath.Join(root, "a/.agent/hooks"): true, filepath.Join(root, "a/.agent/x"): false,
		filepath.Join(beside, ".agent/hooks/x"): true, filepath.Join(away, "hooks/x"): false,
		filepath.Join(away, "main/a/.agent/hooks"): true, filepath.Join(away, "main/.agent.json"): true,
		filepath.Join(away, "out/.agent.json"): false, ".agent.json": true, "x.json": false,
	} {
		real, beside, err := locate(name, root)
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.guarded([]file{{edit: edit.Edit{Path: name}, named: name, real: real, beside: beside}}, root)
		if err != nil || (got == name) != want {
			t.Errorf("%s: %q, %v, want %v", name, got, err, want)
		}
	}
	patch := "*** Begin Patch\n*** Update File: cc/x\n*** Move to: gone\n@@\n-a\n+b\n*** End Patch"
	write(t, filepath.Join(root, "cc", "x"), "a\n")
	if r := judge(t, &Gate{Root: root, Guarded: []string{filepath.Join(root, "cc")}},
		asked(t, root, "apply_patch", "command", patch)); !strings.HasPrefix(r.Reason(),
		"cc/x is part of what checks") {
		t.Errorf("what is moved away: %q", r.Reason())
	}
	if r := judge(t, &Gate{Root: root, Guarded: []string{filepath.Join(root, "c")}},
		asked(t, root, "apply_patch", "command", patch)); r.Reason() != "" {
		t.Errorf("what is moved and not guarded: %q", r.Reason())
	}

	broken := *g
	broken.Root = filepath.Join(root, "nested") // whose .git says nothing
	if got, err := broken.guarded([]file{{edit: edit.Edit{Path: "x"}, named: "x", real: filepath.Join(beside, "x")}},
		beside); err == nil {
		t.Errorf("of a broken repository: %q", got)
	}
	for _, g := range []Gate{{}, {Guarded: []string{root}}, {GuardedNames: []string{"x"}},
		{GuardedRootNames: []string{"x"}}} {
		any := len(g.Guarded) == 1 || len(g.GuardedNames) == 1 || len(g.GuardedRootNames) == 1
		g.Root = root
		if got, err := g.guarded([]file{{edit: edit.Edit{Path: "x"}, named: "x",
			real: filepath.Join(root, ".git", "config")}}, root); (got == "x") != any || err != nil {
			t.Errorf("%+v guards .git: %q, %v", g, got, err)
		}
	}
}

// TestLargeFile: the edit of a file of 64 MiB is judged, and of a larger one it is said that it is not.
func TestLargeFile(t *testing.T) {
	root := tempDir(t, nil)
	g := &Gate{Bundle: bundle(t), Root: root}
	for more, want := range map[int]string{0: "", 1: "a.tf cannot be read: it has over 67108864 bytes"} {
		f, err := os.Create(filepath.Join(root, "a.tf"))
		part, left := bytes.Repeat([]byte("x"), 1<<20), maxBytes+more-len("AKIA")
		for ; err == nil && left > 0; left -= len(part) {
			_, err = f.Write(part[:min(left, len(part))])
		}
		if err == nil {
			_, err = f.WriteString("AKIA")
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := g.Judge(t.Context(), asked(t, root, "Write", "file_path", "a.tf", "content", "AKIA"),
			callrules.Options{})
		if want == "" && (err != nil || ids(r.Old) != "KEY a.tf") || want != "" &&
			(err == nil || err.Error() != want) {
			t.Errorf("%d bytes more: %+v, %v", more, r, err)
		}
	}
}

// TestCannotBeDetermined: what cannot be determined is an error, never a pass.
func TestCannotBeDetermined(t *testing.T) {
	root := tempDir(t, map[string]string{"a.tf": "one\none\n", "dir.tf/x": "x"})
	g := &Gate{Bundle: bundle(t), Root: root}
	long := func(n int) string { return root + strings.Repeat("/", n-len(root+"b.tf")) + "b.tf" }
	for _, c := range []struct {
		name string
		call *call.Call
		want string
	}{
		{"no file", asked(t, root, "Write", "content", "x"), "file_path"},
		{"no working directory", asked(t, "", "Write", "file_path", "a.tf", "content", "x"), "working directory"},
		{"not there", asked(t, root, "Edit", "file_path", "a.tf", "old_string", "two", "new_string", "x"), "a.tf"},
		{"there twice", asked(t, root, "Edit", "file_path", "a.tf", "old_string", "one", "new_string", "x"), "a.tf"},
		{"a long way round", asked(t, root, "Write", "file_path", strings.Repeat("x/../", 100_000)+"a.tf", "content",
			"x"), "longer than 32768 bytes"},
		{"one byte too long", asked(t, root, "Write", "file_path", long(maxPath+1), "content", "x"),
			"longer than 32768 bytes"},
		{"a directory", asked(t, root, "Write", "file_path", "dir.tf", "content", "x"), "is a directory"},
		{"below a file", asked(t, root, "Write", "file_path", "a.tf/b.tf", "content", "x"), "file"},
	} {
		r, err := g.Judge(t.Context(), c.call, callrules.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v and %v, want an error with %q", c.name, r, err, c.want)
		}
	}
	if r := judge(t, g, asked(t, root, "Write", "file_path", long(maxPath), "content",
		"AKIA")); ids(r.New) != "KEY b.tf" {
		t.Errorf("the longest path: %q", ids(r.New))
	}
}

// TestTwoNames: a patch whose parts build on each other is not taken apart by another spelling of one file.
func TestTwoNames(t *testing.T) {
	root := tempDir(t, map[string]string{"net/a.txt": "clean\n", "net/m.tf": "x\ny\n"})
	if err := os.Symlink("net", filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Link(filepath.Join(root, "net/a.txt"), filepath.Join(root, "hard.txt")); err != nil {
		t.Skip(err)
	}
	g := &Gate{Bundle: bundle(t), Root: root}
	moved := "*** Update File: net/a.txt\n*** Move to: net/b.tf\n@@\n-clean\n+still clean"
	for _, c := range []struct{ name, first, second string }{
		{"absolute", "*** Update File: " + root + "/net/a.txt\n@@\n+0.0.0.0/0\n clean", moved},
		{"through a link", "*** Update File: link/a.txt\n@@\n+0.0.0.0/0\n clean", moved},
		{"by another hard link", "*** Update File: hard.txt\n@@\n+0.0.0.0/0\n clean", moved},
		{"added", "*** Add File: link/a.txt\n+0.0.0.0/0\n+clean", moved},
		{"not there yet", "*** Add File: net/new.tf\n+a", "*** Add File: link/new.tf\n+b"},
		{"moved, then changed", "*** Update File: net/a.txt\n*** Move to: net/m.tf\n@@\n-clean\n+a",
			"*** Update File: link/m.tf\n@@\n-x\n+b"},
		{"two lines", "*** Update File: net/m.tf\n@@\n-x\n+a", "*** Update File: link/m.tf\n@@\n-y\n+b"},
	} {
		patch := "*** Begin Patch\n" + c.first + "\n" + c.second + "\n*** End Patch"
		r, err := g.Judge(t.Context(), asked(t, root, "apply_patch", "command", patch), callrules.Options{})
		if err == nil || !strings.Contains(err.Error(), "file as") {
			t.Errorf("%s: got %+v and %v, want an error", c.name, r, err)
		}
	}
	both := "*** Begin Patch\n*** Update File: net/m.tf\n@@\n-x\n+a\n" +
		"*** Update File: net/m.tf\n@@\n-y\n+b\n*** End Patch"
	if r := judge(t, g, asked(t, root, "apply_patch", "command", both)); ids(r.New) != "TWO net/m.tf" {
		t.Errorf("by one name: %q", ids(r.New))
	}
}

// TestGuard: the rules that judge an agent are not its to change.
func TestGuard(t *testing.T) {
	root := tempDir(t, map[string]string{"rules/boundaries.yml": boundaries, "calls.rules": "x"})
	if err := os.Symlink("rules", filepath.Join(root, "r")); err != nil {
		t.Skip(err)
	}
	g := &Gate{
		Bundle: bundle(t), Root: root,
		RuleFiles: []string{filepath.Join(root, "rules/boundaries.yml")},
		Guarded:   []string{filepath.Join(root, "rules"), filepath.Join(root, "calls.rules")},
	}
	for path, want := range map[string]callrules.Effect{
		"rules/boundaries.yml": callrules.Ask, "rules/new.yml": callrules.Ask, "r/boundaries.yml": callrules.Ask,
		"calls.rules": callrules.Ask, "Rules/new.yml": callrules.Ask, "CALLS.rules": callrules.Ask,
		"rules.yml": callrules.Allow, "rulesx/a": callrules.Allow,
		"a/b/.git": callrules.Ask, "a/.GIT/config": callrules.Ask, "a.git/config": callrules.Allow,
		"a/.gitignore": callrules.Allow,
	} {
		r := judge(t, g, asked(t, root, "Write", "file_path", path, "content", "rules: []"))
		if out := r.Outcome(); out.Effect != want || want == callrules.Ask &&
			(out.Rule.ID != GuardRule || !strings.Contains(r.Reason(), "a person must decide")) {
			t.Errorf("%s: %s %+v %q", path, out.Effect, out.Rule, r.Reason())
		}
	}
	// What is guarded by the name of a link is guarded by every other.
	byLink := &Gate{Root: root, Guarded: []string{filepath.Join(root, "r", "boundaries.yml")}}
	for path, want := range map[string]callrules.Effect{"r/boundaries.yml": callrules.Ask,
		"rules/boundaries.yml": callrules.Ask, "rules/new.yml": ""} {
		if out := judge(t, byLink, asked(t, root, "Write", "file_path", path, "content",
			"rules: []")).Outcome(); out.Effect != want {
			t.Errorf("%s: %s", path, out.Effect)
		}
	}
	// The bundle's own files hold what they forbid, and a scan leaves them out.
	if r := judge(t, g, asked(t, root, "Write", "file_path", "rules/boundaries.yml", "content",
		"AKIA")); len(r.New) > 0 {
		t.Errorf("%+v", r.New)
	}
	if r := judge(t, g, asked(t, root, "Write", "file_path", "rules/other.yml", "content",
		"AKIA")); ids(r.New) != "KEY rules/other.yml" || r.Outcome().Effect != callrules.Deny {
		t.Errorf("%+v", r.New)
	}
	// Each *.yml in the directory of a 0.2 bundle is a rule file, and guarded.
	g.RuleDirs = []string{filepath.Join(root, "rules")}
	for path, effect := range map[string]callrules.Effect{
		"rules/other.yml": callrules.Ask, "rules/other.yaml": callrules.Deny, "rules/sub/other.yml": callrules.Deny,
		"rules/allowances.yml": callrules.Ask, "rules/README.md": callrules.Deny, "other.yml": callrules.Deny,
	} {
		r := judge(t, g, asked(t, root, "Write", "file_path", path, "content", "AKIA"))
		if (len(r.New) > 0) != (effect == callrules.Deny) || r.Outcome().Effect != effect {
			t.Errorf("%s: %s, %+v", path, r.Outcome().Effect, r.New)
		}
	}
}

// TestByProcess: a path that each process takes for another file is not judged.
func TestByProcess(t *testing.T) {
	root := tempDir(t, map[string]string{"a/b.tf": "x"})
	for link, target := range map[string]string{"cwd": "/proc/self/cwd", "again": "a/../cwd", "a/up": "../again",
		"plain": "a", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	for name, through := range map[string]bool{
		"/proc/self/cwd/m.tf": true, "/proc/thread-self/cwd/m.tf": true, "cwd/m.tf": true, "cwd": true,
		"again/m.tf": true, "a/up/m.tf": true,
		"plain/b.tf": false, "a/b.tf": false, "new/m.tf": false, "/process/m.tf": false,
	} {
		_, _, err := locate(name, root)
		if got := err != nil && strings.Contains(err.Error(), "leads through /proc"); got != through || err != nil &&
			!through {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := locate("loop/m.tf", root); err == nil {
		t.Error("a link to itself leads somewhere")
	}
}

// TestSets: the strictest of the bundle and the call rules wins.
func TestSets(t *testing.T) {
	root := tempDir(t, nil)
	set := func(e callrules.Effect, contains string) *callrules.Set {
		return &callrules.Set{Name: "f", Dialect: "native", Strategy: callrules.AllViolations,
			Default: callrules.Allow, Rules: []callrules.Rule{{
				ID: "R-" + string(e), Effect: e, Reason: "because", Origin: callrules.Origin{File: "f", Line: 7},
				When: callrules.Predicate{Test: &callrules.Test{Fact: callrules.Fact{Source: callrules.FromContent},
					Op: callrules.Contains, Text: contains}},
			}}}
	}
	for _, c := range []struct {
		sets    []*callrules.Set
		content string
		want    callrules.Effect
		rule    string
		reason  string
	}{
		{nil, "x", callrules.Allow, "", ""},
		{[]*callrules.Set{set(callrules.Allow, "x")}, "x", callrules.Allow, "R-allow", ""},
		{[]*callrules.Set{set(callrules.Allow, "x"), set(callrules.Ask, "x")}, "x", callrules.Ask, "R-ask",
			"rule R-ask (f:7): because"},
		{[]*callrules.Set{set(callrules.Allow, "x"), set(callrules.Ask, "x"), set(callrules.Deny, "y")}, "xy",
			callrules.Deny, "R-deny", "rule R-deny (f:7): because"},
		{[]*callrules.Set{set(callrules.Allow, "AKIA")}, "AKIA", callrules.Deny, "KEY",
			"the edit would break the policy:\n- KEY: a:1:1 must not contain \"AKIA\": No keys."},
	} {
		r := judge(t, &Gate{Bundle: bundle(t), Root: root, Sets: c.sets},
			asked(t, root, "Write", "file_path", "a", "content", c.content))
		out := r.Outcome()
		got := ""
		if out.Rule != nil {
			got = out.Rule.ID
		}
		if out.Effect != c.want || got != c.rule || r.Reason() != c.reason {
			t.Errorf("%s: got %s by %q: %q", c.content, out.Effect, got, r.Reason())
		}
	}
	ask := set(callrules.Ask, "x")
	ask.Rules[0].Prompt, ask.Rules[0].Instead = "Are you\nsure?", "use `ls`"
	if r := judge(t, &Gate{Sets: []*callrules.Set{ask}},
		asked(t, root, "Write", "file_path", "a", "content",
			"x")); r.Reason() != "rule R-ask (f:7): because Are you sure? Instead: use `ls`" {
		t.Errorf("what a rule has to say: %q", r.Reason())
	}
	frozen := &Result{Outcomes: []callrules.Outcome{{Effect: callrules.Deny, Set: ask, Code: "AGENT_FROZEN",
		Reason: "it is"}, {Effect: callrules.Deny, Decision: "deny", Set: ask}}}
	if want := "f: AGENT_FROZEN: it is\nf: no rule matches, and its default is deny"; frozen.Reason() != want {
		t.Errorf("decided by no rule: %q, want %q", frozen.Reason(), want)
	}
	if len(judge(t, &Gate{}, asked(t, root, "Bash", "command", "ls")).Outcomes) > 0 {
		t.Error("nothing judges, and there is an outcome")
	}
}

// denying returns a gate with one rule, which denies the tool Bash.
func denying() *Gate {
	tool := callrules.Predicate{Test: &callrules.Test{
		Fact: callrules.Fact{Source: callrules.FromTool}, Op: callrules.Equals, Text: "Bash",
	}}
	return &Gate{Sets: []*callrules.Set{{
		Name: "calls.yml", Dialect: "native", Strategy: callrules.AllViolations, Default: callrules.Allow,
		Rules: []callrules.Rule{{ID: "SHELL", Effect: callrules.Deny, Reason: "No shell", When: tool}},
	}}}
}

// TestScenarios: each scenario is compared with what is expected of it; what cannot be read is the last thing.
func TestScenarios(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // for each scenario its line and differences, or the error
	}{
		{`{"kind":"meta"}
{"tool":"Bash","input":{},"expected_decision":"deny","expected_rule_id":"SHELL","expected_code":null}

{"tool":"Bash","input":{},"expected_decision":"allow","expected_rule_id":null}
{"tool":"Read","input":{},"expected_decision":"allow","expected_rule_id":"SHELL","expected_code":"X"}
{"tool":"Read","input":{},"expected_decision":"allow"}`, []string{
			"2:[]", "4:[{decision allow deny} {rule no rule SHELL}]", "5:[{rule SHELL no rule} {code X no code}]",
			"6:[]",
		}},
		{
			`{"tool":"Read","input":{},"expected_decision":"allow"}` + "\nx\n" + `{"tool":"Read"}`,
			[]string{"1:[]", "s.jsonl:2: "},
		},
		{`{"kind":"meta"}`, []string{"contain no call, so nothing was tested"}},
		{"", []string{"contain no call, so nothing was tested"}},
	} {
		name := filepath.Join(tempDir(t, map[string]string{"s.jsonl": c.text}), "s.jsonl")
		var got []string
		trials, err := denying().Scenarios(name)
		for _, trial := range trials {
			got = append(got, fmt.Sprint(trial.Line, ":", trial.Differences()))
		}
		if err != nil {
			got = append(got, err.Error())
		}
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
	trials, err := denying().Scenarios(filepath.Join(t.TempDir(), "none"))
	if trials != nil || err == nil || !strings.Contains(err.Error(), "cannot be read: ") {
		t.Errorf("%v, %v", trials, err)
	}
}

// TestExplain: the call, its result with the reason, then each set's decision with its rules.
func TestExplain(t *testing.T) {
	for tool, want := range map[string][]string{
		"Bash": {
			"Bash {}", "  deny", "  rule SHELL (:0): No shell", "  calls.yml (native, all-violations): deny",
			"    + deny SHELL", "    = ",
		},
		"Read": {"Read {}", "  allow", "  calls.yml (native, all-violations): allow", "    - deny SHELL  ", "    = "},
	} {
		c := &call.Call{Tool: tool, Input: call.NewObject()}
		r, err := denying().Judge(t.Context(), c, callrules.Options{Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		out := r.Outcome()
		if got := r.Explain(c, &out); !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", tool, got, want)
		}
	}
}
