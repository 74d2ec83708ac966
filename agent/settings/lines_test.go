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
)

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
		h := of.entry(quoted)
		if len(h.Hooks) > 0 {
			h = h.Hooks[0]
		}
		shells := []string{"sh", "bash"}
		switch of.Agent {
		case "claude-code", "cursor":
			shells = append(shells, "dash", "zsh")
		case "codex": // the user's own, whichever that is
			shells = append(shells, "dash", "zsh", "fish")
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

// TestLines: in every shell the line passes on what policyscan answers, and whatever else becomes of
// policyscan is a deny: status 2 with a reason, or Copilot's JSON and nothing beside it.
func TestLines(t *testing.T) {
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
				if got := runLine(t, shell, line, `read -r in; printf '%s\n' "{\"got\":$in}"`); got != (ran{0, "{\"got\":{}}\n", ""}) {
					t.Errorf("an answer became %+v", got)
				}
				if got := runLine(t, shell, line, "exit 0"); got.status != 0 || strings.TrimSpace(got.out) != "" || got.err != "" {
					t.Errorf("an empty answer became %+v", got)
				}
				for what, program := range map[string]string{
					"no program":      "",
					"status 1":        "exit 1",
					"a usage error":   "echo policyscan: no >&2; exit 2",
					"half an answer":  "printf '{\"permissionDec'; exit 80",
					"a whole answer":  "echo '{\"permissionDecision\":\"allow\"}'; exit 3",
					"ended by signal": "kill -9 $$",
				} {
					got := runLine(t, shell, line, program)
					if agent != "copilot" {
						if got.status != 2 || !strings.Contains(got.err, unjudged+"\n") {
							t.Errorf("%s: %+v", what, got)
						}
						continue
					}
					var deny struct{ PermissionDecision, PermissionDecisionReason string }
					if err := json.Unmarshal([]byte(got.out), &deny); err != nil || got.status != 0 || deny.PermissionDecision != "deny" || deny.PermissionDecisionReason != unjudged {
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
			want := "hook\n" + agent + "\n" + strings.Join(args, "\n") + "\n"
			if got := runLine(t, shell, line, `printf '%s\n' "$@"`); got != (ran{0, want, ""}) {
				t.Errorf("%s %s: %+v, want %q", agent, name, got, want)
			}
		}
	}
}
