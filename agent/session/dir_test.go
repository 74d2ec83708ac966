package session

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/private"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string) *Dir {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func sessions(t *testing.T) string {
	return filepath.Join(t.TempDir(), "state", "policyscan", "sessions")
}

// deny notes a denial and returns how many there were then.
func deny(t *testing.T, f *Dir, id string) int {
	t.Helper()
	var n int
	if err := f.Change(id, now, func(s *State) { s.Judged(true, false); n = s.denials }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestChange(t *testing.T) {
	dir := sessions(t)
	f := open(t, dir)
	for want := 1; want <= 3; want++ {
		if got := deny(t, f, "one"); got != want {
			t.Errorf("%d denials, want %d", got, want)
		}
	}
	if got := deny(t, f, "../../two"); got != 1 {
		t.Errorf("another session has %d denials", got)
	}
	if got := deny(t, open(t, dir), "one"); got != 4 {
		t.Errorf("another process sees %d denials, want 4", got)
	}
	blocked := false
	for range 3 {
		err := f.Change("one", now, func(s *State) { blocked = s.Repeats(bash("curl --token hunter2")) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if !blocked {
		t.Error("the loop guard forgets")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v: want two states and the lock", entries, err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(e.Name(), "one") {
			t.Errorf("%s: %s, %v", e.Name(), text, err)
		}
		if info, err := e.Info(); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o700) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := f.Change("", now, func(*State) {}); err == nil {
		t.Error("a session without an id is accepted")
	}
}

// only returns the file of the one state that there is.
func only(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

// A state that cannot be determined is an error, so that the caller denies; it is not started again.
func TestDamaged(t *testing.T) {
	hash := strings.Repeat("a", 64)
	good := `{"version":1,"command":"` + hash + `","times":2,"denials":5}` + "\n"
	if s, err := parse([]byte(good)); err != nil || s.times != 2 || s.denials != 5 || s.command != hash {
		t.Fatal(s, err)
	}
	for _, text := range []string{
		"", " ", "{}", "[]", "null", "\x00", good[:20], good + good, good + "x",
		strings.Replace(good, `"version":1`, `"version":2`, 1),
		strings.Replace(good, `"version":1,`, ``, 1),
		strings.Replace(good, `"times":2`, `"times":"2"`, 1),
		strings.Replace(good, `"times":2`, `"times":4`, 1),
		strings.Replace(good, `"times":2`, `"times":0`, 1),
		strings.Replace(good, `"times":2`, `"times":1.5`, 1),
		strings.Replace(good, `"denials":5`, `"denials":6`, 1),
		strings.Replace(good, `"denials":5`, `"denials":-1`, 1),
		strings.Replace(good, `"denials":5`, `"denials":5,"x":1`, 1),
		strings.Replace(good, `"denials":5`, `"denials":5,"denials":0`, 1),
		strings.Replace(good, hash, hash[1:], 1),
		strings.Replace(good, `"`+hash+`"`, `5`, 1),
		good + strings.Repeat(" ", maxBytes),
	} {
		dir := sessions(t)
		f := open(t, dir)
		deny(t, f, "one")
		file := only(t, dir)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := f.Change("one", now, func(*State) { t.Errorf("%q is changed", text) })
		if err == nil || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%q: %v", text, err)
		}
		if left, err := os.ReadFile(file); err != nil || string(left) != text {
			t.Errorf("%q became %q, %v", text, left, err)
		}
		if err := os.Remove(file); err != nil || deny(t, f, "one") != 1 {
			t.Errorf("%q: it does not start again when the file is removed, %v", text, err)
		}
	}
}

func TestNotAFile(t *testing.T) {
	dir := sessions(t)
	f := open(t, dir)
	deny(t, f, "one")
	file := only(t, dir)
	for name, put := range map[string]func() error{
		"a directory": func() error { return os.Mkdir(file, 0o700) },
		"a link":      func() error { return os.Symlink(filepath.Join(dir, "other"), file) },
	} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Skip(err)
		}
		if err := f.Change("one", now, func(*State) {}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// States that nobody changed for more than seven days are removed when a session begins; nothing else is.
func TestSweep(t *testing.T) {
	dir := sessions(t)
	f := open(t, dir)
	deny(t, f, "week")
	week := only(t, dir)
	for _, id := range []string{"old", "young"} {
		deny(t, f, id)
	}
	other := filepath.Join(dir, "notes.json")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(found) != 5 {
		t.Fatal(found, err)
	}
	const days = 7 * 24 * time.Hour
	for _, name := range found {
		if err := os.Chtimes(name, now, now.Add(-days-time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(week, now, now.Add(-days)); err != nil {
		t.Fatal(err)
	}
	if got := deny(t, f, "young"); got != 2 { // which is of today again, and not a new session
		t.Errorf("%d denials, want 2", got)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "*")); len(found) != 5 {
		t.Errorf("a session that goes on sweeps: %q", found)
	}
	deny(t, f, "new")
	if found, _ := filepath.Glob(filepath.Join(dir, "*")); len(found) != 5 { // week, young, new, the lock, notes.json
		t.Errorf("%q", found)
	}
	if got := deny(t, f, "young"); got != 3 {
		t.Errorf("a young state is removed: %d", got)
	}
	if got := deny(t, f, "week"); got != 2 {
		t.Errorf("a state of seven days is removed: %d", got)
	}
	if got := deny(t, f, "old"); got != 1 {
		t.Errorf("an old state is kept: %d", got)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

var worker = flag.String("worker", "", "be a process of TestProcesses, in this directory")

// Several processes of one session, several goroutines in each: every call is counted once.
func TestProcesses(t *testing.T) {
	const processes, goroutines, calls = 4, 2, 10
	if *worker != "" {
		var group sync.WaitGroup
		for range goroutines {
			group.Go(func() {
				f, err := Open(*worker)
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				for range calls {
					err := f.Change("one", now, func(s *State) { s.command = next(s.command); s.times = 1 })
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		return
	}
	dir := sessions(t)
	var group sync.WaitGroup
	for range processes {
		group.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestProcesses$", "-worker="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	err := open(t, dir).Change("one", now, func(s *State) {
		if want := fmt.Sprintf("%064x", processes*goroutines*calls); s.command != want {
			t.Errorf("%s calls, want %s", s.command, want)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// next replaces a command's hash by a counter.
func next(hash string) string {
	n := 0
	if hash != "" {
		if _, err := fmt.Sscanf(hash, "%x", &n); err != nil {
			panic(err)
		}
	}
	return fmt.Sprintf("%064x", n+1)
}

// A process that keeps the lock makes others fail after a while; they do not wait for it.
func TestLockHeld(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	one, two := open(t, dir), open(t, dir)
	began := time.Now()
	err := one.Change("a", now, func(*State) {
		err := two.Change("b", now, func(*State) { t.Error("two at once") })
		if err == nil || !strings.Contains(err.Error(), "lock") {
			t.Errorf("%v", err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	// A busy machine makes it longer, and never shorter.
	if took := time.Since(began); took < private.MaxWait || private.MaxWait > 5*time.Second {
		t.Errorf("it waited %v, and is to wait %v", took, private.MaxWait)
	}
	if err := two.Change("b", now, func(*State) {}); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"command":"","times":0,"denials":5}`))
	f.Add([]byte(`{"version":1,"command":"` + strings.Repeat("0", 64) + `","times":3,"denials":0}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parse(text)
		if err != nil {
			return
		}
		if again, err := parse(s.text()); err != nil || again != s {
			t.Errorf("%q: %v becomes %v, %v", text, s, again, err)
		}
	})
}

func bash(command string) *call.Call {
	return &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command", Value: call.Text(command)})}
}

// "Detects when the same Bash command is repeated 3+ times consecutively and blocks it".
func TestRow_0_36_LoopGuard(t *testing.T) {
	read := &call.Call{Tool: "Read", Input: call.NewObject(call.Member{Name: "file_path", Value: call.Text("/a")})}
	for _, c := range []struct {
		name  string
		calls []*call.Call
		want  string // b: blocked
	}{
		{"third and later", []*call.Call{bash("ls"), bash("ls"), bash("ls"), bash("ls"), bash("ls")}, "..bbb"},
		{"another command between", []*call.Call{bash("ls"), bash("ls"), bash("pwd"), bash("ls"), bash("ls"),
			bash("ls")}, ".....b"},
		{"another tool between", []*call.Call{bash("ls"), bash("ls"), read, bash("ls"), bash("ls")}, "....."},
		{"a blank more", []*call.Call{bash("ls"), bash("ls"), bash("ls "), bash("ls")}, "...."},
		{"another tool's calls", []*call.Call{read, read, read, read}, "...."},
		{"no command", []*call.Call{{Tool: "Bash"}, {Tool: "Bash"}, {Tool: "Bash"}}, "..."},
		{"an empty command", []*call.Call{bash(""), bash(""), bash("")}, "..b"},
		{"after a block", []*call.Call{bash("ls"), bash("ls"), bash("ls"), bash("pwd"), bash("ls")}, "..b.."},
		{"another agent's Bash", []*call.Call{bash("ls"), {Tool: "run_shell_command", Input: bash("ls").Input},
			bash("ls")}, "..b"},
	} {
		var s State
		var got strings.Builder
		for _, use := range c.calls {
			if s.Repeats(use) {
				got.WriteByte('b')
			} else {
				got.WriteByte('.')
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, &got, c.want)
		}
	}
}

// "Disabled by default"; "automatically allow the next call after 5 consecutive deny decisions"; "Resets on any
// non-deny decision."
func TestRow_0_37_0_39_CircuitBreaker(t *testing.T) {
	for _, c := range []struct {
		name    string
		breaker bool
		denied  string // d: denied
		want    string // t: let through although denied
	}{
		{"off", false, "dddddddddddd", "............"},
		{"the sixth", true, "dddddd", ".....t"},
		{"once", true, "ddddddddddddd", ".....t.....t."},
		{"reset by what is not denied", true, "dddd.dddddd", "..........t"},
		{"the sixth is not denied", true, "ddddd.dddddd", "...........t"},
	} {
		var s State
		var got strings.Builder
		for _, d := range c.denied {
			if s.Judged(d == 'd', c.breaker) {
				got.WriteByte('t')
			} else {
				got.WriteByte('.')
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, &got, c.want)
		}
	}
}

// Denials from before it was switched on count: they were consecutive too.
func TestBreakerSwitchedOn(t *testing.T) {
	var s State
	for range 7 {
		s.Judged(true, false)
	}
	if !s.Judged(true, true) || s.Judged(true, true) {
		t.Error("the breaker does not open once")
	}
}
