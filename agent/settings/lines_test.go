package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/internal/memdir"
)

func TestMain(m *testing.M) { os.Exit(memdir.Run(m.Run, 1<<30)) }

// posixShells are those by which agents may run a line: that of the user, whichever that is.
func posixShells() []string { return []string{"sh", "bash", "dash", "zsh", "fish"} }

// lines are the commands of an agent's hook that a POSIX system runs, with the shells that the agent
// may run them by.
func lines(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	quoted, err := quoteAll(args)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, of := range Targets() {
		h := of.entry(byName, quoted)
		if len(h.Hooks) > 0 {
			h = h.Hooks[0]
		}
		shells := posixShells()
		if of.Agent == "copilot" { // which takes bash
			shells = []string{"bash", "sh"}
		}
		all[of.Agent+"\n"+h.Command+h.Bash] = shells
	}
	return all
}

// A ran is how a line ended.
type ran struct {
	status   int
	out, err string
}

// runLine runs a line by a shell in whose PATH there are sh and, if it is not "", a program policyscan
// with such a text.
func runLine(t *testing.T, shell, line, program string) ran {
	t.Helper()
	dir := t.TempDir()
	sh, err := exec.LookPath("sh")
	if err == nil {
		err = os.Symlink(sh, filepath.Join(dir, "sh"))
	}
	if err == nil && program != "" {
		err = os.WriteFile(filepath.Join(dir, "policyscan"), []byte("#!/bin/sh\n"+program), 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	cmd := exec.Command(shell, "-c", line)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir, "HOME=" + dir, "LC_ALL=C.UTF-8"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("{}"), &out, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// TestFault_152_Lines: in every shell the line passes on what policyscan answers, byte for byte, and whatever else becomes
// of policyscan is a deny, a program that ends with status 0 and says nothing too: status 2 with a reason, or Copilot's JSON
// and nothing next to it.
func TestFault_152_Lines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the lines are for POSIX shells")
	}
	tried := 0
	for line, shells := range lines(t) {
		agent, line, _ := strings.Cut(line, "\n")
		for _, name := range shells {
			shell, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			tried++
			t.Run(agent+" "+name, func(t *testing.T) {
				for _, answer := range []string{
					`{"got":{}}`, `{}`, `{"reason":"%s \\n $HOME ` + "`id`" + ` $(id) ü \u2028 '\"' * ~ -n \\"}`, `{"long":"` + strings.Repeat("é ", 50_000) + `"}`,
				} {
					got := runLine(t, shell, line, "read -r in; [ \"$in\" = {} ] || exit 1\nprintf '%s\\n' '"+strings.ReplaceAll(answer, "'", `'\''`)+"'\n")
					if got != (ran{0, answer + "\n", ""}) {
						t.Errorf("%.100s became %+v", answer, got)
					}
				}
				for what, program := range map[string]string{
					"no program":             "",
					"status 0 and silent":    "exit 0",
					"an empty line":          "echo",
					"said to the person":     "echo all is well >&2",
					"garbage":                "echo all is well",
					"garbage before":         "echo debug; echo '{}'",
					"garbage behind":         "echo '{}'; echo debug",
					"half an answer":         "printf '{\"permissionDec'",
					"status 1":               "exit 1",
					"a usage error":          "echo policyscan: no >&2; exit 2",
					"half an answer, failed": "printf '{\"permissionDec'; exit 80",
					"a whole answer, failed": "echo '{\"permissionDecision\":\"allow\"}'; exit 3",
					"ended by signal":        "kill -9 $$",
					"answered, then ended":   "echo '{}'; kill -9 $$",
				} {
					got := runLine(t, shell, line, program)
					if agent != "copilot" {
						if got.status != 2 || !strings.Contains(got.err, unchecked+"\n") || got.out != "" {
							t.Errorf("%s: %+v", what, got)
						}
						continue
					}
					var deny struct{ PermissionDecision, PermissionDecisionReason string }
					if err := json.Unmarshal([]byte(got.out), &deny); err != nil || got.status != 0 || deny.PermissionDecision != "deny" || deny.PermissionDecisionReason != unchecked {
						t.Errorf("%s: %+v: %v", what, got, err)
					}
				}
			})
		}
	}
	if tried < 5 {
		t.Fatalf("%d lines were tried", tried)
	}
}

// TestFault_152_StartFile: what the documentation says that nobody sees: a start file that ends a login shell ends it
// before the line runs, with status 0 and without a word, and what it prints comes before the answer.
func TestFault_152_StartFile(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	h := Named("codex").entry(byName, "").Hooks[0]
	for profile, want := range map[string]string{"exit 0": "", "echo hello": "hello\n{}\n"} {
		for name, text := range map[string]string{".profile": profile, "policyscan": "#!/bin/sh\necho '{}'"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(bash, "-lc", "PATH=$HOME:$PATH; "+h.Command)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s: %v: %q, want %q", profile, err, out, want)
		}
	}
}

// TestLineByPath: a user's own settings run the program at its path, whatever the PATH has.
func TestLineByPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the lines are for POSIX shells")
	}
	dir := filepath.Join(t.TempDir(), "my tools é")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "policyscan")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nprintf '{%s}\\n' \"$*\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	program, err := quoteProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range Targets() {
		h := of.entry(program, " --calls x")
		if len(h.Hooks) > 0 {
			h = h.Hooks[0]
		}
		for _, name := range posixShells() {
			if shell, err := exec.LookPath(name); err == nil && (of.Agent != "copilot" || name != "fish") {
				want := ran{0, "{hook " + of.Agent + " --calls x}\n", ""}
				if got := runLine(t, shell, h.Command+h.Bash, "echo '{}'"); got != want {
					t.Errorf("%s %s: %+v, want %+v", of.Agent, name, got, want)
				}
			}
		}
	}
}

// TestLineArguments: the hook has its arguments as they were given, in every shell.
func TestLineArguments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the lines are for POSIX shells")
	}
	args := []string{"--calls", "my  rules/é.yml", "--x=a.b:c,d+e", "@f", "-a.b", "=g", " "}
	for line, shells := range lines(t, args...) {
		agent, line, _ := strings.Cut(line, "\n")
		for _, name := range shells {
			shell, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			want := "{\nhook\n" + agent + "\n" + strings.Join(args, "\n") + "\n}\n"
			if got := runLine(t, shell, line, `printf '{\n'; printf '%s\n' "$@"; printf '}\n'`); got != (ran{0, want, ""}) {
				t.Errorf("%s %s: %+v, want %q", agent, name, got, want)
			}
		}
	}
}
