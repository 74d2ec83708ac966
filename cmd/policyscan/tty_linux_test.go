package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
)

// newTerminal is a new pseudo-terminal: the end of the person, and that of the program.
func newTerminal(t testing.TB) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

const askRule = `rule push {
  ASK execution
  IF command STARTS_WITH "git push"
  MESSAGE "A push."
  PROMPT "Push?"
}
`

// TestTerminal: sigmashake, "tty (default): Prints an inline prompt to the terminal via /dev/tty — same technique as
// sudo/ssh. Works even when stdin is piped."
func TestTerminal(t *testing.T) {
	t.Parallel()
	const approved = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",` +
		`"permissionDecisionReason":"policyscan: a person at the terminal approved it: `
	for _, c := range []struct {
		typed, want string
		flags       []string
	}{
		{"y\r", "{}\n", nil},
		{"n\r", `"permissionDecision":"deny"`, nil},
		{"\r", `"permissionDecision":"deny"`, nil},
		{"y\r", "{}\n", []string{"--ask-mode", "tty"}},
		// A yes is passed on only with --send-allow, and a no, or the Enter key alone, never is.
		{"y\r", approved, []string{"--ask-mode", "tty", "--send-allow"}},
		{"yes\n", approved, []string{"--send-allow"}},
		{"n\r", `"permissionDecision":"deny"`, []string{"--ask-mode", "tty", "--send-allow"}},
		{"\r", `"permissionDecision":"deny"`, []string{"--send-allow"}},
		{"", `"permissionDecision":"ask"`, []string{"--ask-mode", "agent", "--send-allow"}},
		{"", `"permissionDecision":"ask"`, []string{"--ask-mode", "agent"}},
	} {
		t.Run(fmt.Sprintf("%q %v", c.typed, c.flags), func(t *testing.T) {
			person, tty := newTerminal(t)
			p := newAsker(t)
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			cmd := p.command(ctx, append([]string{"hook", "claude-code", "--policy", "none", "--calls", "ask.rules",
				"--state", "state", "--log", "log"}, c.flags...)...)
			cmd.ExtraFiles = []*os.File{tty}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if c.typed != "" {
				shown := readUntil(t, person, "[y/N]")
				if !strings.Contains(shown, "Bash wants to run") || !strings.Contains(shown, "git push") ||
					!strings.Contains(shown, "A push. Push?") {
					t.Errorf("the person sees %q", shown)
				}
				if _, err := person.WriteString(c.typed); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, said.String())
			}
			if got := out.String(); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			// The log has the decision, the person's answer and the result.
			logged := map[string]string{"y\r": "ask none true", "n\r": "ask deny false", "\r": "ask deny false",
				"": "ask ask null"}[c.typed]
			if c.want == approved {
				logged = "ask allow true"
			}
			for _, l := range loggedIn(t, filepath.Join(p.dir, "log")) {
				said, err := json.Marshal(l.Approved)
				if got := l.Decision + " " + l.Answer + " " + string(said); err != nil || got != logged {
					t.Errorf("the log says %q, %v; want %q", got, err, logged)
				}
			}
		})
	}
}

// TestProgress: a long scan shows its progress on a terminal, and then erases it.
func TestProgress(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		person, tty := newTerminal(t)
		r := reporter{scanCmd: &scanCmd{Quiet: quiet}, about: new(run.Run), std: streams{err: tty}}
		stop := r.watch(new(scanner.Progress))
		want := "the end"
		if quiet {
			time.Sleep(1500 * time.Millisecond) // longer than it takes until the first is shown
		} else {
			readUntil(t, person, "\r\x1b[Kscanning: 0 files, 0 MB")
			want = "\r\x1b[Kthe end"
		}
		stop()
		if _, err := tty.WriteString("the end"); err != nil {
			t.Fatal(err)
		}
		if seen := readUntil(t, person, "the end"); !strings.HasSuffix(seen, want) || quiet && seen != want {
			t.Errorf("quiet: %v: the person sees %q, want %q at its end", quiet, seen, want)
		}
	}
}

// TestProgressLine: a share is shown only of a known total.
func TestProgressLine(t *testing.T) {
	for want, c := range map[string]struct {
		files, total int
		bytes        int64
	}{
		"scanning: 1,104 files, 0.4 GB":                {1104, 0, 400_000_000},
		"scanning: 999 of 1,234,567 files (0 %), 2 MB": {999, 1234567, 2_000_000},
		"scanning: 5,800 of 5,800 files (100 %), 0 MB": {5800, 5800, 1},
	} {
		if got := progressLine(c.files, c.total, c.bytes); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// newAsker is a program in a directory with a rule that asks, and a call that it asks about.
func newAsker(t *testing.T) program {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ask.rules"), []byte(askRule), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	return program{t: t, dir: dir, stdin: fmt.Sprintf(
		`{"session_id":"s","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse",`+
			`"tool_name":"Bash","tool_input":{"command":"git push"}}`, dir)}
}

// readUntil reads the terminal's output until a text appears.
func readUntil(t testing.TB, f *os.File, text string) string {
	t.Helper()
	if err := f.SetReadDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(seen.String(), text) {
		n, err := f.Read(buf)
		if err != nil {
			t.Fatalf("%v, after %q", err, seen.String())
		}
		seen.Write(buf[:n])
	}
	return seen.String()
}

// onTerminal is the output on a terminal of 80 columns where a program runs and ends so.
func (p program) onTerminal(status int, args ...string) string {
	p.t.Helper()
	person, tty := newTerminal(p.t)
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), hang)
	defer cancel()
	cmd := p.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = tty, tty
	if got := exitOf(cmd.Run()); got != status {
		p.t.Errorf("%q: exit status %d, want %d", args, got, status)
	}
	const end = "\x04the end"
	if _, err := tty.WriteString(end); err != nil {
		p.t.Fatal(err)
	}
	return strings.ReplaceAll(strings.TrimSuffix(readUntil(p.t, person, end), end), "\r\n", "\n")
}

// TestColors: on a terminal a mistake in a bundle looks the same in a scan, in validate and in test: the place
// is bold, the caret red. Neither NO_COLOR nor a dumb terminal gets colours, but --color always does.
func TestColors(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.write("broken/rules/invariants.yml", "rules: []\n")
	p.write("broken/rules/boundaries.yml", strings.Replace(oneRule, "forbidden", "forbiden", 1))
	p.write("wrong/rules/invariants.yml", "rules: []\n")
	p.write("wrong/rules/boundaries.yml", oneRule+"    examples: [{path: a.tf, content: a, violates: true}]\n")
	p.write("noted/rules/invariants.yml", "rules: []\n")
	p.write("noted/rules/boundaries.yml", strings.Replace(oneRule, "**/*.tf", "*.tf", 1))
	for _, c := range []struct {
		status      int
		args        []string
		place, mark string
	}{
		{exitUndecided, []string{"--policy", "broken", "good"}, "broken/rules/boundaries.yml:5:33:", "^"},
		{exitUndecided, []string{"validate", "broken"}, "broken/rules/boundaries.yml:5:33:", "^"},
		{exitViolation, []string{"test", "wrong"}, "wrong/rules/boundaries.yml:6:16:", "^"},
		{exitViolation, []string{"--policy", "policy", "bad"}, "bad/main.tf:1:9:", "^^^^^^^^^"},
		{exitPass, []string{"validate", "noted"}, "noted/rules/boundaries.yml:5:21:", ""},
	} {
		p.env = []string{"TERM=xterm"}
		seen := p.onTerminal(c.status, c.args...)
		if !strings.Contains(seen, "\x1b[1m"+c.place+"\x1b[0m ") || c.mark != "" &&
			!strings.Contains(seen, "\x1b[1;31m"+c.mark+"\x1b[0m\n") {
			t.Errorf("%q: the person sees %q", c.args, seen)
		}
		p.env = []string{"NO_COLOR=1"}
		if got := p.run(append(c.args, "--color", "always")...); !strings.Contains(got.out, "\x1b[1m"+c.place) {
			t.Errorf("%q with --color always: %q", c.args, got.out)
		}
		for _, env := range []string{"NO_COLOR=1", "TERM=dumb", "POLICYSCAN_COLOR=never"} {
			p.env = []string{"TERM=xterm", env}
			if seen := p.onTerminal(c.status, c.args...); strings.Contains(seen, "\x1b") ||
				!strings.Contains(seen, c.place) {
				t.Errorf("%s %q: the person sees %q", env, c.args, seen)
			}
		}
	}
}

// TestFault_129_Uncommitted: uncommitted edits are outside a change, and at a terminal, a scan of the commit that is
// checked out says that it read no uncommitted files.
func TestFault_129_Uncommitted(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "a")
	g.commit("one")
	g.git("branch", "one")
	g.put("main.tf", "b")
	g.commit("two")
	g.put("main.tf", "0.0.0.0/0")
	g.put("untracked.tf", "0.0.0.0/0")
	for args, noted := range map[string]bool{
		"--rev HEAD": true, "--rev one": false, "--diff-base one": true,
		"--diff-base one --head HEAD^ --allow empty": false,
	} {
		seen := g.onTerminal(exitPass, append(strings.Fields(args), "--policy", "policy", "repo")...)
		if strings.Contains(seen, "note: uncommitted changes were not checked; add --uncommitted") != noted {
			t.Errorf("%s: the person sees %q", args, seen)
		}
	}
	e := g.run("--rev", "HEAD", "--policy", "policy", "repo").want(t, exitPass)
	if strings.Contains(e.out, "uncommitted") {
		t.Errorf("without a terminal: %s", e.out)
	}
}
