package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/protocol"
)

type object = map[string]any

// payload is an agent's hook input for a call in a directory.
func payload(agent, dir, tool string, input object) string {
	p := object{"session_id": "s", "cwd": dir, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input}
	switch agent {
	case "claude-code":
		p["permission_mode"] = "default"
	case "gemini":
		p["hook_event_name"] = "BeforeTool"
	case "copilot":
		text, _ := json.Marshal(input)
		p = object{"sessionId": "s", "timestamp": 1, "cwd": dir, "toolName": tool, "toolArgs": string(text)}
	case "cursor":
		p["hook_event_name"], p["conversation_id"], p["workspace_roots"] = "preToolUse", "s", []string{dir}
	}
	text, _ := json.Marshal(p)
	return string(text)
}

// An editing is a way in which an agent's tools change a file.
type editing struct {
	agent, name string
	exists      bool // only of a file that is there, whose content is "one\n"
	tool        string
	input       func(path string) object
}

// editings are the ways of all agents.
func editings() []editing {
	patch := func(format string) func(string) object {
		return func(path string) object {
			return object{"command": "*** Begin Patch\n" + strings.ReplaceAll(format, "PATH", path) +
				"\n*** End Patch\n"}
		}
	}
	write := func(path string) object { return object{"file_path": path, "content": "x\n"} }
	replace := func(path string) object {
		return object{"file_path": path, "old_string": "one", "new_string": "two"}
	}
	return []editing{
		{"claude-code", "write", false, "Write", write},
		{"claude-code", "edit", true, "Edit", replace},
		{"codex", "add", false, "apply_patch", patch("*** Add File: PATH\n+x")},
		{"codex", "update", true, "apply_patch", patch("*** Update File: PATH\n@@\n-one\n+two")},
		{"codex", "delete", true, "apply_patch", patch("*** Delete File: PATH")},
		{"codex", "move away", true, "apply_patch",
			patch("*** Update File: PATH\n*** Move to: moved.txt\n@@\n-one\n+two")},
		{"codex", "move there", false, "apply_patch",
			patch("*** Update File: notes.txt\n*** Move to: PATH\n@@\n-one\n+two")},
		{"gemini", "write", false, "write_file", write},
		{"gemini", "replace", true, "replace", replace},
		{"copilot", "create", false, "create", func(path string) object {
			return object{"path": path,
				"file_text": "x\n"}
		}},
		{"copilot", "edit", true, "edit", func(path string) object {
			return object{"path": path, "old_str": "one",
				"new_str": "two"}
		}},
		{"cursor", "write", false, "Write", write},
		{"cursor", "delete", true, "Delete", func(path string) object { return object{"file_path": path} }},
	}
}

// A guardWorld is a repository, a home directory and directories of programs, with a hook that allows everything.
type guardWorld struct {
	program
	repo string
}

func newGuardWorld(t *testing.T) *guardWorld {
	t.Helper()
	needs(t, "git")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &guardWorld{program: program{t: t, dir: dir}, repo: filepath.Join(dir, "repo")}
	if w.file, err = exec.LookPath("policyscan"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"repo", "first", "realbin", "home"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "--template="}, {"config", "core.hooksPath", "githooks"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	w.write("never.yml", "rules:\n  - {id: NEVER, title: Never, effect: deny, when: {fact: tool, equals: Nobody}}\n")
	w.write("repo/notes.txt", "one\n")
	w.write("home/.gitconfig",
		"[core]\n\thooksPath = ~/ghooks\n[includeIf \"gitdir:/nowhere/\"]\n\tpath = more.conf\n")
	w.write("home/more.conf", "[core]\n\thooksPath = morehooks\n[include]\n\tpath = more.conf\n")
	w.link("realbin", "linkbin")
	list := strings.Join([]string{filepath.Join(dir, "first"), "tools", "", filepath.Join(dir, "linkbin"),
		filepath.Join(dir, "none"), filepath.Dir(w.file)}, string(filepath.ListSeparator))
	home := filepath.Join(dir, "home")
	w.env = []string{
		"PATH=" + list, "HOME=" + home, "ZDOTDIR=" + filepath.Join(home, "z"),
		"XDG_CONFIG_HOME=" + filepath.Join(home, "cfg"),
		"BASH_ENV=" + filepath.Join(home, "env.bash"), "ENV=env.sh", "CLAUDE_PROJECT_DIR=", "GEMINI_PROJECT_DIR=",
		"CURSOR_PROJECT_DIR=",
	}
	return w
}

func (w *guardWorld) link(target, name string) {
	w.t.Helper()
	if err := os.Symlink(filepath.FromSlash(target), filepath.Join(w.dir, filepath.FromSlash(name))); err != nil {
		w.t.Skip(err)
	}
}

// answers are those of an agent's hook to some payloads.
func (w *guardWorld) answers(agent string, payloads []string, flags ...string) []string {
	w.t.Helper()
	p := w.program
	p.dir, p.stdin = w.repo, strings.Join(payloads, "\n")+"\n"
	e := p.run(append([]string{"hook", agent, "--serve", "--policy", "none", "--calls", w.dir + "/never.yml",
		"--state", "../state", "--timeout", "10m"}, flags...)...)
	answers := strings.Split(strings.TrimSuffix(e.out, "\n"), "\n")
	if e.status != 0 || len(answers) != len(payloads) {
		w.t.Fatalf("%d answers to %d calls: %+v", len(answers), len(payloads), e)
	}
	return answers
}

// placesIn reads a list of files: the ones that decide whether the hook runs and whether its answer counts, or files
// similar to them, on which nothing depends. Missing files end in "?".
func placesIn(t testing.TB, name string) (all []string) {
	t.Helper()
	for line := range strings.Lines(sections(readFile(t, "testdata/guarded.txt"))[name]) {
		if !strings.HasPrefix(line, "#") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// TestFault_151_Guarded: an agent that changes the program itself, another one on PATH, a shell's start file, the
// configuration of commit hooks or the hook's workflow needs a person, whatever tool makes the change.
func TestFault_151_Guarded(t *testing.T) {
	t.Parallel()
	w := newGuardWorld(t)
	w.link("sub/policyscan", "repo/policyscan")
	w.link("../realbin/policyscan", "repo/to-tool")
	w.link("../home/.profile", "repo/to-profile")
	w.link(".github/workflows/gate.yml", "repo/to-workflow")
	w.write("repo/inner/.git/HEAD", "ref: refs/heads/main\n")
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(w.repo, "inner", ".git", dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	places := map[bool][]string{
		true:  append(placesIn(t, "guarded"), w.file+"?"),
		false: placesIn(t, "free"),
	}
	for _, name := range slices.Concat(places[true], places[false]) {
		if strings.HasSuffix(name, "?") || strings.HasPrefix(name, "to-") || strings.Contains(name, "/../") {
			continue
		}
		content := "one\n"
		if slices.Contains(places[true], name) || strings.HasPrefix(name, "docs/") {
			content += "  - uses: policyscan/PolicyScan@v1\n"
		}
		w.write(filepath.Join("repo", name), content)
	}
	for _, name := range []string{"home/.profile", "realbin/policyscan"} {
		w.write(name, "one\n")
	}
	if err := os.Truncate(filepath.Join(w.repo, ".github", "workflows", "large.yml"), 80<<20); err != nil {
		t.Fatal(err)
	}
	for _, agent := range protocol.Agents() {
		t.Run(agent.Name, func(t *testing.T) {
			var names, payloads []string
			var want []bool
			sampled := 0
			for _, guarded := range []bool{true, false} {
				for _, name := range places[guarded] {
					name, absent := strings.CutSuffix(name, "?")
					path := filepath.Join(w.repo, filepath.FromSlash(name))
					switch {
					case filepath.IsAbs(name):
						path = name
					case strings.Contains(name, "/../"):
						path = w.repo + "/" + name
					}
					for _, way := range editings() {
						if way.agent != agent.Name || absent && way.exists || strings.HasSuffix(name, "large.yml") &&
							way.name != "write" {
							continue
						}
						if way.name == "move there" && name == "notes.txt" {
							continue
						}
						if sampled++; !*long && sampled%5 != 0 {
							continue
						}
						names = append(names, way.name+" "+name)
						payloads = append(payloads, payload(agent.Name, w.repo, way.tool, way.input(path)))
						want = append(want, guarded)
					}
				}
			}
			for i, got := range w.answers(agent.Name, payloads) {
				word := "deny"
				if agent.Name == "claude-code" || agent.Name == "copilot" {
					word = "ask"
				}
				switch {
				case want[i] && (!strings.Contains(got, `"`+word+`"`) ||
					!strings.Contains(got, "is part of what checks this agent")):
					t.Errorf("%s: %s, want %s", names[i], got, word)
				case want[i] && word == "deny" && !strings.Contains(got, "needs a person's approval"):
					t.Errorf("%s: %s", names[i], got)
				case !want[i] && got != "{}":
					t.Errorf("%s: %s, and nothing depends on it", names[i], got)
				}
			}
			if !*long {
				return
			}
			// The root may be a directory of the repository.
			for i, got := range w.answers(agent.Name, payloads, "--root", "tools") {
				if name := strings.Fields(names[i])[len(strings.Fields(names[i]))-1]; want[i] &&
					!strings.Contains(got, "is part of what") && !strings.HasPrefix(name, "sub/") &&
					!strings.HasPrefix(name, "inner/") {
					t.Errorf("%s, with a directory as the root: %s", names[i], got)
				}
			}
			for i, got := range w.answers(agent.Name, payloads, "--allow-rule-edits") {
				if got != "{}" {
					t.Errorf("%s, allowed: %s", names[i], got)
				}
			}
		})
	}
}

// TestFault_151_UsualPlaces: with --calls auto the places where it looks are guarded, whether there is a file or not.
func TestFault_151_UsualPlaces(t *testing.T) {
	t.Parallel()
	w := newGuardWorld(t)
	w.write("repo/inner/.git/HEAD", "ref: refs/heads/main\n")
	w.write("repo/.sigmashake/rules/a.rules", "rule a {\n  DENY any\n  IF tool EQUALS \"Nobody\"\n  MESSAGE \"m\"\n}\n")
	places := map[string]bool{ // whether only auto guards them
		".sigmashake/rules/a.rules": true, ".sigmashake/rules/new.rules": true, "config/rules.yaml": true,
		"CONFIG/Rules.yaml": true, ".clash/policy.sexpr": true, "inner/config/rules.yaml": true,
		"../home/.clash/policy.sexpr": true, "../home/cfg/rubric/policies.json": true, ".policyscan/calls.yml": false,
		"config/other.yaml": false, "sub/config/rules.yaml": false, "../home/.clash/other": false,
		"../home/.config/rubric/policies.json": false,
	}
	var payloads []string
	names := slices.Sorted(maps.Keys(places))
	for _, name := range names {
		payloads = append(payloads, payload("claude-code", w.repo, "Write",
			object{"file_path": filepath.Join(w.repo, name), "content": "x"}))
	}
	answers := map[bool][]string{true: w.answers("claude-code", payloads, "--calls", "auto"),
		false: w.answers("claude-code", payloads)}
	for i, name := range names {
		for auto, all := range answers {
			want := places[name] && auto || name == ".policyscan/calls.yml"
			if got := strings.Contains(all[i], "is part of what checks this agent"); got != want || !want && all[i] != "{}" {
				t.Errorf("%s, auto %t: %s", name, auto, all[i])
			}
		}
	}
}

// TestFault_152_Installed: the entry as hook install writes it, run by each shell. With the program it answers as the
// program does; with a silent program of status 0 instead it denies.
func TestFault_152_Installed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the lines are for POSIX shells")
	}
	w := newGuardWorld(t)
	w.write("repo/calls.yml",
		"rules:\n  - {id: RM, title: No rm, effect: deny, when: {fact: command, begins_with: rm}}\n")
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	w.link(sh, "realbin/sh")
	program := filepath.Join(w.dir, "realbin", "policyscan")
	for _, agent := range protocol.Agents() {
		p := w.program
		p.dir = w.repo
		// The program of these tests is in a temporary directory, which is refused.
		p.env = append(slices.Clone(p.env), "TMPDIR="+w.dir)
		p.run("hook", "install", agent.Name, "--", "--policy", "none", "--calls", "calls.yml").want(t, 0)
		user := p.run("hook", "install", agent.Name, "--user", "--print").want(t, 0).out
		if !strings.Contains(user, "$("+w.file+" hook "+agent.Name) {
			t.Errorf("the user's settings do not name the program by its path:\n%s", user)
		}
		passing := p
		passing.env = append(slices.Clone(p.env), "TMPDIR="+filepath.Dir(w.file))
		if e := passing.run("hook", "install", agent.Name, "--user"); e.status != 2 ||
			!strings.Contains(e.err, "which is temporary") {
			t.Errorf("from the directory of temporary files: %+v", e)
		}
		line := installedLine(t, p.run("hook", "install", agent.Name, "--print", "--", "--policy", "none", "--calls",
			"calls.yml").out)
		tool := map[string]string{"gemini": "run_shell_command", "copilot": "bash", "cursor": "Shell"}[agent.Name]
		if tool == "" {
			tool = "Bash"
		}
		for _, name := range []string{"sh", "bash", "dash", "zsh", "fish"} {
			shell, err := exec.LookPath(name)
			if err != nil || agent.Name == "copilot" && name != "bash" || !*long && name != "sh" && name != "bash" {
				continue
			}
			ran := func(command string) (status int, out, said string) {
				cmd := exec.Command(shell, "-c", line)
				cmd.Dir, cmd.Stdin = w.repo, strings.NewReader(payload(agent.Name, w.repo, tool,
					object{"command": command}))
				cmd.Env = append(inherited(), "PATH="+filepath.Dir(program), "HOME="+w.dir, "XDG_STATE_HOME="+w.dir)
				var stdout, stderr strings.Builder
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				status = exitOf(cmd.Run())
				return status, stdout.String(), stderr.String()
			}
			put := func(text string) {
				_ = os.Remove(program) // it need not be there
				if text == "" {
					err = os.Symlink(w.file, program)
				} else {
					err = os.WriteFile(program, []byte("#!"+sh+"\n"+text), 0o777)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			where := agent.Name + " by " + name
			put("")
			if status, out, said := ran("ls"); status != 0 || out != "{}\n" || said != "" {
				t.Errorf("%s: no opinion: %d %q %q", where, status, out, said)
			}
			if status, out, said := ran("rm x"); status != 0 || !strings.Contains(out, "rule RM") || said != "" {
				t.Errorf("%s: deny: %d %q %q", where, status, out, said)
			}
			for _, text := range []string{"exit 0", "echo fine", "exit 1"} {
				put(text)
				status, out, said := ran("ls")
				denied := status == 2 && out == "" && strings.Contains(said, "so it is denied")
				if agent.Name == "copilot" {
					denied = status == 0 && strings.HasPrefix(out, `{"permissionDecision":"deny"`)
				}
				if !denied {
					t.Errorf("%s: %q in its place: %d %q %q", where, text, status, out, said)
				}
			}
		}
	}
}

// installedLine is the command that settings, as hook install --print shows them, run on a POSIX system.
func installedLine(t *testing.T, shown string) string {
	t.Helper()
	_, text, _ := strings.Cut(shown, "\n")
	var settings any
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		t.Fatalf("%v: %s", err, shown)
	}
	var find func(any) string
	find = func(v any) string {
		var found string
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				found += find(item)
			}
		case object:
			for name, member := range v {
				if line, ok := member.(string); ok && (name == "command" || name == "bash") {
					return line
				}
				found += find(member)
			}
		}
		return found
	}
	line := find(settings)
	if line == "" {
		t.Fatal(fmt.Errorf("no command: %s", shown))
	}
	return line
}
