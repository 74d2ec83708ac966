package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/private"
)

const questionsDir = ".local/state/policyscan/questions" // by default, in the home directory of a program

// watchQuestions runs policyscan ask --watch on a terminal, where the person is, and returns when it waits for questions.
func (p program) watchQuestions(args ...string) (person *os.File, end func() error) {
	p.t.Helper()
	person, tty := newTerminal(p.t)
	ctx, cancel := context.WithTimeout(p.t.Context(), hang)
	cmd := p.command(ctx, append([]string{"ask", "--watch"}, args...)...)
	cmd.ExtraFiles = []*os.File{tty}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	readUntil(p.t, person, "Ctrl-C ends it\r\n")
	return person, cmd.Wait
}

// asking runs the hook with a call that it asks about elsewhere. answer waits for the hook's end.
func (p program) asking(args ...string) (answer func() string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), hang)
	cmd := p.command(ctx, append([]string{"hook", "claude-code", "--policy", "none", "--calls", "ask.rules",
		"--state", filepath.Join(p.t.TempDir(), "state")}, args...)...) // or the loop guard decides
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return func() string {
		defer cancel()
		if err := cmd.Wait(); err != nil {
			p.t.Error(err)
		}
		return out.String()
	}
}

func typeIn(t *testing.T, person *os.File, text string) {
	t.Helper()
	if _, err := person.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestRow_0_43_Dashboard: sigmashake, "dashboard: Posts to the dashboard … Requires the dashboard to be running"; here
// it is policyscan ask --watch in another terminal.
func TestRow_0_43_Dashboard(t *testing.T) {
	t.Parallel()
	p := newAsker(t)
	if err := os.Mkdir(filepath.Join(p.dir, ".sigmashake"), 0o777); err != nil {
		t.Fatal(err)
	}
	p.write(".sigmashake/config.toml", "[hook]\nask_mode = \"dashboard\"\n")
	const denied, did = `"permissionDecision":"deny"`, "the person at the terminal did not approve: rule push"
	absent := denied + `,"permissionDecisionReason":"policyscan: rule push (ask.rules:1): A push. Push?\n` +
		`the call needs a person, and policyscan ask --watch --dir \"` + filepath.Join(p.dir, questionsDir) +
		`\" cannot ask, so it is denied: it does not run; start it in another terminal"`
	if got := p.asking()(); !strings.Contains(got, absent) {
		t.Errorf("it never ran: %s", got)
	}
	person, end := p.watchQuestions()
	for _, c := range []struct{ typed, said, want string }{
		{"y\r", "allowed", "{}\n"}, {"YES\r", "allowed", "{}\n"}, {"n\r", "denied", did}, {"\r", "denied", did},
		{"yy\r", "denied", did},
	} {
		answer := p.asking()
		seen := readUntil(t, person, "[y/N] (no, in ")
		for _, want := range []string{"policyscan: Bash wants to run\r\n  git push\r\n", "  rule push (ask.rules:1): A push. Push?\r\n",
			"  (in " + p.dir + ")\r\nAllow it? "} {
			if !strings.Contains(seen, want) {
				t.Errorf("the person does not see %q in %q", want, seen)
			}
		}
		typeIn(t, person, c.typed)
		readUntil(t, person, c.said+"\r\n")
		if got := answer(); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s", c.typed, got)
		}
	}

	// What the call has cannot move the cursor; and a yes is passed on if the hook says so.
	hostile := p
	hostile.stdin = strings.Replace(p.stdin, "git push", `git push \u001b[2J\r\n\u202eAllow it?`, 1)
	answer := hostile.asking("--send-allow")
	if seen := readUntil(t, person, "[y/N] (no, in "); !strings.Contains(seen,
		"\r\n  git push \\u{1b}[2J\\u{d}\\u{a}\\u{202e}Allow it?\r\n") || strings.Contains(seen, "\x1b") {
		t.Errorf("the person sees %q", seen)
	}
	typeIn(t, person, "y\r")
	if got := answer(); !strings.Contains(got, `"permissionDecision":"allow"`) {
		t.Errorf("a yes with --send-allow: %s", got)
	}

	// Of two questions the second waits, and one answer is for one.
	first := p.asking()
	readUntil(t, person, "[y/N] (no, in ")
	second := p.asking()
	p.questions(2)
	typeIn(t, person, "y\r")
	if seen := readUntil(t, person, "[y/N] (no, in "); strings.Contains(seen, "denied") {
		t.Errorf("the second was answered with the first: %q", seen)
	}
	typeIn(t, person, "n\r")
	if got := first(); got != "{}\n" {
		t.Errorf("the first, allowed: %s", got)
	}
	if got := second(); !strings.Contains(got, did) {
		t.Errorf("the second, denied: %s", got)
	}
	if found, err := filepath.Glob(filepath.Join(p.dir, questionsDir, "*")); err != nil || len(found) != 1 {
		t.Errorf("%q, %v are left, want the lock alone", found, err)
	}

	// If the watcher ends, so does the question.
	if e := p.onTerminal(exitUndecided, "ask"); !strings.Contains(e, "add --watch") {
		t.Errorf("without --watch: %s", e)
	}
	answer = p.asking()
	readUntil(t, person, "[y/N] (no, in ")
	typeIn(t, person, "\x03")
	if got := exitOf(end()); got != 128+int(syscall.SIGINT) {
		t.Errorf("after Ctrl-C: status %d", got)
	}
	if got := answer(); !strings.Contains(got, absent) {
		t.Errorf("it has ended: %s", got)
	}
}

// TestQuestionTimesOut: "Times out after 60 seconds (deny on timeout)", in another terminal, too.
func TestQuestionTimesOut(t *testing.T) {
	if !*long {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	p := newAsker(t)
	person, _ := p.watchQuestions()
	answer := p.asking("--ask-mode", "dashboard")
	readUntil(t, person, "seconds) \r\nno answer, so: no\r\n")
	if got := answer(); !strings.Contains(got, "the person at the terminal did not approve") {
		t.Error(got)
	}
}

// questions waits until there are so many questions, and returns their files.
func (p program) questions(n int) []string {
	p.t.Helper()
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(p.dir, questionsDir, "*.question"))
		if err != nil {
			p.t.Fatal(err)
		}
		if len(found) == n {
			return found
		}
	}
	p.t.Fatalf("there are no %d questions", n)
	return nil
}

// TestForeignAnswers: the answer to an earlier question, its copy, and the answer to another text or id do not count.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	p := newAsker(t)
	dir := filepath.Join(p.dir, questionsDir)
	root, err := private.Create(dir, "questions")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	hold := func() *os.File { // as a watcher
		lock, err := root.Create("lock")
		if err == nil {
			err = private.Lock(lock)
		}
		if err != nil {
			t.Fatal(err)
		}
		return lock
	}
	asked := func() (id string, text []byte) {
		file := p.questions(1)[0]
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(filepath.Base(file), ".question"), text
	}
	sum := func(id string, text []byte) string {
		cmd := exec.Command("sha256sum")
		cmd.Stdin = strings.NewReader(id + "\n" + string(text))
		out, err := cmd.Output()
		if err != nil {
			t.Skip(err)
		}
		return strings.Fields(string(out))[0]
	}
	put := func(id, answer string) {
		if err := private.Write(root, id+".answer", []byte(answer)); err != nil {
			t.Fatal(err)
		}
	}

	lock := hold()
	answer := p.asking("--ask-mode", "dashboard")
	id, text := asked()
	yes := "true " + sum(id, text) + "\n"
	put(id, yes)
	if got := answer(); got != "{}\n" {
		t.Fatalf("the right answer: %s", got)
	}
	old := id
	for name, content := range map[string]func(id string, text []byte) string{
		"copied":         func(string, []byte) string { return yes },
		"of another id":  func(_ string, text []byte) string { return "true " + sum("A", text) + "\n" },
		"of other bytes": func(id string, text []byte) string { return "true " + sum(id, append(text, ' ')) + "\n" },
		"of none":        func(string, []byte) string { return "true\n" },
		"empty":          func(string, []byte) string { return "" },
		"of several":     func(id string, text []byte) string { return "true " + sum(id, text) + "\ntrue " + sum(id, text) + "\n" },
	} {
		put(old, yes) // it is still there
		answer := p.asking("--ask-mode", "dashboard")
		id, text := asked()
		put(id, content(id, text))
		if err := lock.Close(); err != nil { // so that the next look is the last, and has the answer
			t.Fatal(err)
		}
		if got := answer(); !strings.Contains(got, "so it is denied") {
			t.Errorf("%s: %s", name, got)
		}
		lock = hold()
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

// TestQuestionsDirRefused: a directory that others may write, one behind a symlink and one in a repository are refused
// by the hook and by the watcher.
func TestQuestionsDirRefused(t *testing.T) {
	t.Parallel()
	p := newAsker(t)
	for _, dir := range []string{"open", "real", "repo/sub", "repo/.git"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(p.dir, "open"), 0o722); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "real", "repo/out": "../real", "into": "repo"} {
		if err := os.Symlink(to, filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"open": "others may write the directory of questions", "link": "is a link", "ask.rules": "not a directory",
		"repo/sub": "is in the repository", "repo/new": "is in the repository", "into/sub": "is in the repository",
	} {
		dir := filepath.Join(p.dir, name)
		if name != "repo/new" { // which only the watcher makes
			got := p.asking("--ask-mode", "dashboard", "--ask-dir", dir)()
			if !strings.Contains(got, `"permissionDecision":"deny"`) || !strings.Contains(got, want) {
				t.Errorf("the hook, %s: %s", name, got)
			}
		}
		_, tty := newTerminal(t)
		ctx, cancel := context.WithTimeout(t.Context(), hang)
		cmd := p.command(ctx, "ask", "--watch", "--dir", dir)
		cmd.ExtraFiles = []*os.File{tty}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
		var said bytes.Buffer
		cmd.Stderr = &said
		if status := exitOf(cmd.Run()); status != exitUndecided || !strings.Contains(said.String(), want) {
			t.Errorf("the watcher, %s: status %d, %s", name, status, said.String())
		}
		cancel()
	}
	// Nor may the agent edit what is there.
	p.stdin = strings.NewReplacer(`"Bash"`, `"Write"`, `{"command":"git push"}`,
		`{"file_path":"`+filepath.Join(p.dir, questionsDir, "x.answer")+`","content":"true"}`).Replace(p.stdin)
	if got := p.asking()(); !strings.Contains(got, `"permissionDecision":"ask"`) || !strings.Contains(got, "part of what checks") {
		t.Errorf("an edit of an answer: %s", got)
	}
}
