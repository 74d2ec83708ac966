package main

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal is what a person sees at a terminal of 80 columns where a program runs and ends so.
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
// is bold, the caret red. Neither NO_COLOR nor a dumb terminal gets colours.
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
		if !strings.Contains(seen, "\x1b[1m"+c.place+"\x1b[0m ") || c.mark != "" && !strings.Contains(seen, "\x1b[1;31m"+c.mark+"\x1b[0m\n") {
			t.Errorf("%q: the person sees %q", c.args, seen)
		}
		for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
			p.env = []string{"TERM=xterm", env}
			if seen := p.onTerminal(c.status, c.args...); strings.Contains(seen, "\x1b") || !strings.Contains(seen, c.place) {
				t.Errorf("%s %q: the person sees %q", env, c.args, seen)
			}
		}
	}
}

// TestNarrow: a long line of a rule file is cut to the terminal, and the caret stays under what it is about.
func TestNarrow(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.env = []string{"TERM=dumb"}
	p.write("policy/rules/boundaries.yml", "rules: [{id: A, title: t, enforcement: {mode: fail}, match: {files: ['**/*.tf', '**/*.tfvars', '**/*.yaml'], forbidden_patterns: [x], exclud: [y]}}]\n")
	seen := p.onTerminal(exitUndecided, "validate", "policy")
	lines := strings.Split(seen, "\n")
	at := strings.IndexByte(lines[2], '^')
	if shown := []rune(lines[1]); len(shown) > 80 || at < 0 || at >= len(shown) || !strings.HasPrefix(string(shown[at:]), "exclud:") {
		t.Errorf("the person sees\n%s", seen)
	}
}
