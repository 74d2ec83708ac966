//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// closedStreams runs the program in a shell with these redirections.
func closedStreams(p program, redirections string) program {
	p.under = []string{"sh", "-c", `exec "$@" ` + redirections, "sh"}
	return p
}

// TestFault_159_StandardOutputClosed: output to a closed standard output is lost, which is never a success.
func TestFault_159_StandardOutputClosed(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		args   string
		status int
	}{
		{"--policy policy good", exitUndecided},
		{"--policy policy bad", exitViolation},
		{"--policy policy --output - good", exitUndecided},
		{"--policy policy --output - bad", exitViolation},
		{"--policy policy --output - --quiet good", exitUndecided},
		{"--policy policy --report sarif good", exitUndecided},
		{"--policy policy --report sarif=r.sarif good", exitUndecided}, // the text report
		{"--policy policy --report json=- --quiet bad", exitViolation},
		{"report verdict.json", exitUndecided},
		{"report verdict.json --report sarif", exitUndecided},
		{"--help", exitUndecided},
		{"scan --help", exitUndecided},
		{"--version", exitUndecided},
		{"list --policy policy", exitUndecided},
		{"validate policy", exitUndecided},
		{"explain --policy policy --root bad bad/main.tf", exitUndecided},
		{"test builtin:infra", exitUndecided},
		{"schema verdict", exitUndecided},
		{"completion bash", exitUndecided},
		{"init new", exitUndecided},
		{"hook install git --print", exitUndecided},
		{"eval --calls calls.yml", exitUndecided},
		// Nothing goes there.
		{"--policy policy --quiet good", exitPass},
		{"--policy policy --quiet bad", exitViolation},
		{"report verdict.json --report sarif=r.sarif", exitPass},
	} {
		works := exitPass // where there is a standard output
		if c.status == exitViolation {
			works = exitViolation
		}
		for lost, want := range map[string]int{
			">&-": c.status, ">&- <&-": c.status, ">&- 2>&-": c.status,
			">/dev/null": works, "2>&-": works, ">/dev/null 2>&1": works,
		} {
			const each = 2 // the first commands with all redirections
			if i >= each && lost != ">&-" && !*long {
				continue
			}
			p := newProgram(t)
			p.write("new/main.tf", "")
			p.write("calls.yml",
				"default: allow\nrules:\n  - {id: a, title: t, effect: deny, when: {fact: tool, equals: Grep}}\n")
			p.stdin = `{"tool": "Bash", "input": {"command": "ls"}}` + "\n"
			scans := strings.HasPrefix(c.args, "--policy")
			if !scans {
				p.run("--policy", "policy", "good").want(t, exitPass)
			}
			e := closedStreams(p, lost).run(strings.Fields(c.args)...)
			if e.status != want {
				t.Errorf("%s %s: status %d, want %d: %s", c.args, lost, e.status, want, e.err)
			}
			if strings.HasPrefix(lost, ">&-") && want != works && !strings.Contains(lost, "2>&-") &&
				!strings.Contains(e.err, "standard output is closed") &&
				!strings.Contains(e.err, "there is no call on standard input") {
				t.Errorf("%s %s: it says %q", c.args, lost, e.err)
			}
			if scans && !strings.Contains(c.args, "--output") {
				said := map[int]string{exitPass: "PASS", exitViolation: "FAIL NET-1@main.tf",
					exitUndecided: "UNDECIDED E_OUTPUT"}
				if got := p.saying(); got != said[want] {
					t.Errorf("%s %s: the verdict is %s, want %s", c.args, lost, got, said[want])
				}
			}
		}
	}
}

// TestFault_159_NoFileInItsPlace: no file that the program opens gets the number of a standard stream
// that is closed, and with it the text that goes there.
func TestFault_159_NoFileInItsPlace(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"0.0.0.0/0\"\n")
	g.git("add", "-A")
	before := g.git("count-objects", "-v") + g.git("status", "--porcelain")
	for _, lost := range []string{">&-", "2>&-", "<&-", ">&- 2>&- <&-"} {
		p := closedStreams(g.program, lost)
		p.run("--policy", "policy", "--staged", "--output", "verdict.json", "repo").want(t, exitViolation)
		if got := p.saying(); got != "FAIL NET-1@main.tf" {
			t.Errorf("%s: the verdict is %s", lost, got)
		}
		text, err := os.ReadFile(g.dir + "/verdict.json")
		if err != nil || !strings.HasPrefix(string(text), "{\n") || !strings.HasSuffix(string(text), "}\n") {
			t.Errorf("%s: %v: the verdict holds something else: %s", lost, err, text)
		}
		g.git("fsck", "--strict")
		if after := g.git("count-objects", "-v") + g.git("status", "--porcelain"); after != before {
			t.Errorf("%s: %s; before: %s", lost, after, before)
		}
	}
}

// TestFault_159_NullDevices: a /dev/null that the program is given is not mistaken for a closed stream, where the
// difference shows.
func TestFault_159_NullDevices(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range []struct {
		name   string
		give   func(*exec.Cmd)
		status int
	}{
		{"all three are one /dev/null", func(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null },
			exitPass},
		{"standard output and error are one", func(cmd *exec.Cmd) { cmd.Stdout, cmd.Stderr = null, null }, exitPass},
		{"one that is open to write only", func(cmd *exec.Cmd) { cmd.Stdout = nil }, exitPass},
		{"one that could be the runtime's", func(cmd *exec.Cmd) { cmd.Stdout = null }, exitUndecided},
	} {
		cmd := p.command(t.Context(), "--policy", "policy", "good")
		cmd.Stdin = nil
		c.give(cmd)
		if status := exitOf(cmd.Run()); status != c.status {
			t.Errorf("%s: status %d, want %d", c.name, status, c.status)
		}
	}
}

// TestFault_159_StandardInputClosed: a standard input that is closed holds no file, no list and no call.
func TestFault_159_StandardInputClosed(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"--policy policy --stdin --stdin-path main.tf",
		"--policy policy --files-from - good",
		"eval --calls calls.yml",
	} {
		p := newProgram(t)
		p.write("calls.yml",
			"policyscan: 1\nrules:\n  - {id: a, title: t, effect: deny, when: {fact: tool, equals: Grep}}\n")
		closedStreams(p, "<&-").run(strings.Fields(args)...).want(t, exitUndecided)
	}
}

// TestFault_159_HookWithoutAnswer: the denial of a call whose answer nobody can read is in the log, with the call.
func TestFault_159_HookWithoutAnswer(t *testing.T) {
	t.Parallel()
	const payload = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","permission_mode":"default",` +
		`"tool_name":"Bash","tool_input":{"command":"ls"}}`
	closedPipe := func() *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		return w
	}
	fullPipe := func() *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		if err := w.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = w.Write(make([]byte, 1<<16))
		}
		return w
	}
	const closed, cut = "standard output is closed or the null device", "the answer could not be written completely"
	for _, c := range []struct {
		name, lost, stdin, more string
		out                     func() *os.File
		want                    []string // lines of the log, and a part of the last reason
	}{
		{"closed", ">&-", payload, "", nil, []string{"deny s PreToolUse Bash /w", closed}},
		{"the null device", ">/dev/null", payload, "", nil, []string{"deny s PreToolUse Bash /w", closed}},
		{"closed, and no call", ">&-", `{"half`, "", nil, []string{"deny null null null null", closed}},
		{"closed, and standard input, too", ">&- <&-", "", "", nil, []string{"deny null null null null", closed}},
		{"closed, with --serve", ">&-", payload + "\n", "--serve", nil,
			[]string{"none s PreToolUse Bash /w", "deny s PreToolUse Bash /w", cut}},
		{"a full disk", ">/dev/full", payload, "", nil,
			[]string{"none s PreToolUse Bash /w", "deny s PreToolUse Bash /w", cut}},
		{"a pipe without a reader", "", payload, "", closedPipe,
			[]string{"none s PreToolUse Bash /w", "deny s PreToolUse Bash /w", cut}},
		{"a pipe that nobody reads", "", payload, "", fullPipe,
			[]string{"none s PreToolUse Bash /w", "deny s PreToolUse Bash /w", "it took over 5s"}},
	} {
		if _, err := os.Stat("/dev/full"); strings.Contains(c.lost, "full") && err != nil {
			continue
		}
		p := newProgram(t)
		p.write("calls.yml", "rules:\n  - {id: a, title: t, effect: deny, when: {fact: tool, equals: Grep}}\n")
		p.stdin = c.stdin
		if c.lost != "" {
			p = closedStreams(p, c.lost)
		}
		args := append(strings.Fields("hook claude-code --root . --policy none --calls calls.yml --log log"),
			strings.Fields(c.more)...)
		cmd := p.command(t.Context(), args...)
		var said strings.Builder
		cmd.Stderr = &said
		if c.out != nil {
			out := c.out()
			cmd.Stdout = out
			t.Cleanup(func() { out.Close() })
		}
		if status := exitOf(cmd.Run()); status != exitUndecided {
			t.Errorf("%s: status %d: %s", c.name, status, &said)
		}
		var got []string
		for _, l := range loggedIn(t, filepath.Join(p.dir, "log")) {
			got = append(got, strings.Join([]string{l.Answer, str(l.Session), str(l.Event), str(l.Tool), str(l.Cwd)}, " "))
			if l.Reason != nil {
				got = append(got, *l.Reason)
			}
		}
		if len(got) != len(c.want) || !slices.Equal(got[:len(got)-1], c.want[:len(got)-1]) ||
			!strings.Contains(got[len(got)-1], c.want[len(got)-1]) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
