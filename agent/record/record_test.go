package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

func value(t testing.TB, text string) *call.Value {
	t.Helper()
	v, err := call.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func line(t testing.TB, e *Entry, texts bool) string {
	t.Helper()
	text := e.Line(texts)
	if !json.Valid(text) || bytes.Count(text, []byte("\n")) != 1 || text[len(text)-1] != '\n' {
		t.Fatalf("it is not a line of JSON: %q", text)
	}
	for _, r := range strings.TrimSuffix(string(text), "\n") {
		if !unicode.IsPrint(r) {
			t.Errorf("%U is not escaped: %q", r, text)
		}
	}
	return string(text)
}

func hash(s string) string {
	return fmt.Sprintf(`{"bytes":%d,"sha256":"%x"}`, len(s), sha256.Sum256([]byte(s)))
}

func TestLine(t *testing.T) {
	rule := &callrules.Rule{ID: "RM", Effect: callrules.Deny, Origin: callrules.Origin{File: "c.yml", Line: 2}}
	set := &callrules.Set{Name: "c.yml", Dialect: "native", Strategy: callrules.AllViolations}
	out := callrules.Outcome{Effect: callrules.Deny, Decision: "deny", Rule: rule, Reason: "no rm", Set: set,
		Trace: &callrules.Trace{Steps: []callrules.Step{{Rule: rule, Matched: true}}, Resolution: "so"}}
	yes, file := true, "a.tf"
	e := &Entry{
		Time:    time.Date(2026, 11, 23, 7, 5, 8, 120_000_000, time.FixedZone("", 3600)),
		Version: "v1", Agent: "codex", AgentID: new("a"), Session: new("s"), Event: new("PreToolUse"),
		Tool: new("Bash"), Dir: new("/w"),
		Answer: "deny", Approved: &yes, Form: out.Form([]callrules.Outcome{out}),
		Violations: []Violation{{"NET-1", "text", "0.0.0.0/0", &file, 1, 2, 3}},
		Allowed:    []Allowed{{Violation{"NET-2", "text", "::/0", nil, 4, 5, 6}, 7, "net"}},
		Input:      value(t, `{"command":"rm -rf /","n":1.50,"ok":true,"none":null,"list":["x",["y"]],"":{}}`),
	}
	begins := `{"time":"2026-11-23T06:05:08.12Z","version":"v1","agent":"codex","agent_id":"a","session":"s",` +
		`"event":"PreToolUse","tool":"Bash","cwd":"/w",` +
		`"answer":"deny","approved":true,"decision":"deny","rule":"RM","policy":null,"policy_version":null,` +
		`"code":null,"reason":"no rm",` +
		`"violations":[{"rule":"NET-1","kind":"text","pattern":"0.0.0.0/0","file":"a.tf","line":1,"column":2,` +
		`"occurrences":3}],"allowed_violations":[{"rule":"NET-2","kind":"text","pattern":"::/0","file":null,` +
		`"line":4,"column":5,"occurrences":6,"at_most":7,"owner":"net"}],"input":`
	ends := `,"trace":[{"file":"c.yml","dialect":"native","strategy":"all-violations","decision":"deny",` +
		`"matched_rules":[{"rule":"RM","effect":"deny","file":"c.yml","line":2}],"skipped_rules":[],` +
		`"final_resolution":"so"}]}` + "\n"
	for texts, input := range map[bool]string{
		false: `{"command":` + hash("rm -rf /") + `,"n":1.5,"ok":true,"none":null,"list":[` + hash("x") + `,[` +
			hash("y") + `]],"":{}}`,
		true: `{"command":"rm -rf /","n":1.5,"ok":true,"none":null,"list":["x",["y"]],"":{}}`,
	} {
		if got, want := line(t, e, texts), begins+input+ends; got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
	empty := line(t, &Entry{Agent: "codex", Answer: "deny", Form: callrules.Form{Decision: "deny"}}, false)
	const want = `{"time":"0001-01-01T00:00:00Z","version":"","agent":"codex","agent_id":null,"session":null,` +
		`"event":null,"tool":null,"cwd":null,"answer":"deny","approved":null,"decision":"deny","rule":null,` +
		`"policy":null,` +
		`"policy_version":null,"code":null,"reason":null,"violations":[],"allowed_violations":[],"input":null,` +
		`"trace":[]}` + "\n"
	if empty != want {
		t.Errorf("got  %swant %s", empty, want)
	}
}

// TestLineIsEscaped: no character of a call acts on a terminal or ends a line, and each is what it was when the line
// is read.
func TestLineIsEscaped(t *testing.T) {
	hostile := "\x1b[2J\u009b31m\x00\n\r\t\u2028\u2029\u202e\u200b\ufeff\x7f\U000e0041\"\\<ünï\U0001f600"
	e := &Entry{
		Version: hostile, Agent: hostile, AgentID: &hostile, Session: &hostile, Event: &hostile,
		Tool: &hostile, Dir: &hostile, Answer: hostile,
		Form:       callrules.Form{Decision: hostile, Reason: &hostile},
		Violations: []Violation{{Rule: hostile, Pattern: hostile, File: &hostile}},
		Input:      call.NewObject(call.Member{Name: hostile, Value: call.Text(hostile)}),
	}
	for _, texts := range []bool{false, true} {
		var back map[string]any
		if err := json.Unmarshal([]byte(line(t, e, texts)), &back); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"version", "agent", "agent_id", "session", "event", "tool", "cwd", "answer",
			"decision", "reason"} {
			if back[name] != hostile {
				t.Errorf("%s became %q", name, back[name])
			}
		}
		if got := back["input"].(map[string]any)[hostile]; texts && got != hostile || !texts &&
			got.(map[string]any)["bytes"] != float64(len(hostile)) {
			t.Errorf("the input became %q", back["input"])
		}
	}
}

// TestLineIsBounded: a string is cut between characters, and an input over the limit is written as its hash.
func TestLineIsBounded(t *testing.T) {
	for n := maxText - 4; n <= maxText+4; n++ {
		s := strings.Repeat("x", n%4) + strings.Repeat("\U0001f600", n/4)
		var back struct{ Input map[string]any }
		if err := json.Unmarshal([]byte(line(t,
			&Entry{Input: call.NewObject(call.Member{Name: "s", Value: call.Text(s)})}, true)), &back); err != nil {
			t.Fatal(err)
		}
		if n <= maxText {
			if back.Input["s"] != s {
				t.Errorf("%d bytes became %v", n, back.Input["s"])
			}
			continue
		}
		cut := back.Input["s"].(map[string]any)
		text := cut["text"].(string)
		if len(text) > maxText || len(text) <= maxText-4 || !utf8.ValidString(text) || !strings.HasPrefix(s, text) ||
			cut["bytes"] != float64(n) || cut["sha256"] != fmt.Sprintf("%x", sha256.Sum256([]byte(s))) {
			t.Errorf("%d bytes became %d, %v", n, len(text), cut["bytes"])
		}
	}
	for what, text := range map[string]string{
		"many texts":  `{"a":[` + strings.Repeat(`"x",`, 100_000) + `"x"]}`,
		"a long name": `{"` + strings.Repeat("x", 1<<20) + `":1}`,
		"many lists":  `{"a":[` + strings.Repeat(`[],`, 200_000) + `[]]}`,
	} {
		v := value(t, text)
		for _, texts := range []bool{false, true} {
			if texts && what == "many texts" {
				text = strings.ReplaceAll(text, `"x"`, `"xxxxxxxx"`)
				v = value(t, text)
			}
			if got := line(t, &Entry{Input: v}, texts); !strings.Contains(got, `"input":`+hash(text)+`,`) {
				t.Errorf("%s: %d bytes: %.100s", what, len(got), got)
			}
		}
	}
	long := strings.Repeat("ü", maxText)
	if got := line(t, &Entry{Tool: &long, Dir: &long, Session: &long, AgentID: &long,
		Form: callrules.Form{Reason: &long}}, false); len(got) > 6*maxText || strings.Count(got, " … (cut)") != 5 {
		t.Errorf("%d bytes", len(got))
	}
}

func log(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "log")
}

func add(t testing.TB, name, line string) {
	t.Helper()
	if err := Append(name, []byte(line)); err != nil {
		t.Error(err)
	}
}

func holds(t testing.TB, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("it holds %q, %v; want %q", got, err, want)
	}
}

func TestAppend(t *testing.T) {
	name := log(t)
	add(t, name, "a\n")
	if st, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && st.Mode() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	add(t, name, "b\n")
	holds(t, name, "a\nb\n")
	// What another left unfinished does not take the next line with it.
	if err := os.WriteFile(name, []byte("a\nhal"), 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, name, "c\n")
	holds(t, name, "a\nhal\nc\n")
	// Renamed by others: the next line begins a file.
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	add(t, name, "d\n")
	holds(t, name, "d\n")
	holds(t, name+".1", "a\nhal\nc\n")
	if err := Append(filepath.Join(filepath.Dir(name), "none", "log"), []byte("x\n")); err == nil {
		t.Error("a directory is made")
	}
	if err := Append(filepath.Dir(name), []byte("x\n")); err == nil ||
		!strings.Contains(err.Error(), "it is a directory") {
		t.Errorf("a directory: %v", err)
	}
}

// TestAppendLinks: a link is not followed, wherever it leads, and nothing is made behind it.
func TestAppendLinks(t *testing.T) {
	name := log(t)
	if err := os.WriteFile(name+".target", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{name + ".target", name + ".new", "log"} {
		if err := os.Symlink(target, name); err != nil {
			t.Skip(err)
		}
		if err := Append(name, []byte("x\n")); err == nil ||
			!strings.Contains(err.Error(), "it is a link; name the file itself") {
			t.Errorf("%s: %v", target, err)
		}
		// The same, where the link takes the file's place after it was looked at.
		if file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|noFollow, 0o600); err == nil &&
			noFollow != 0 {
			t.Errorf("%s is opened", target)
			file.Close()
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, name+".target", "mine")
	if _, err := os.Lstat(name + ".new"); err == nil {
		t.Error("a file is made behind a link")
	}
}

// TestAppendAtOnce: lines of many writers are complete, each once, in files that are renamed meanwhile, whatever was
// left unfinished.
func TestAppendAtOnce(t *testing.T) {
	const writers, lines = 16, 25
	name := log(t)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range lines {
				add(t, name, fmt.Sprintf("%d %d %s\n", w, i, strings.Repeat("x", 10_000)))
			}
		})
	}
	for i := range 5 {
		time.Sleep(5 * time.Millisecond)
		if err := os.Rename(name, fmt.Sprintf("%s.%d", name, i)); err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	group.Wait()
	seen := map[string]int{}
	files, err := filepath.Glob(name + "*")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			seen[line]++
		}
	}
	if len(seen) != writers*lines {
		t.Errorf("%d lines, want %d", len(seen), writers*lines)
	}
	for line, n := range seen {
		if n != 1 || !strings.HasSuffix(line, " "+strings.Repeat("x", 10_000)+"\n") {
			t.Errorf("%d times: %.40q", n, line)
		}
	}
}

// TestAppendIsSure: what is removed while a writer waits for it is opened again.
func TestAppendIsSure(t *testing.T) {
	name := log(t)
	file, err := open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := os.Remove(name); err != nil {
		t.Skip(err) // Windows
	}
	if current, err := appendTo(file, name, []byte("x\n")); current || err != nil {
		t.Errorf("a line is written to a file that nobody can find: %v", err)
	}
	add(t, name, "y\n")
	holds(t, name, "y\n")
}

// FuzzLine: any input becomes one visible line of JSON, and with its texts it is read back unchanged.
func FuzzLine(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":"b","c":[1,null,true,{"":"\u2028\u009b"}]}`, `[[[["x"]]]]`,
		`"\ud83d\ude00"`, `-0`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := call.ParseValue([]byte(text))
		if err != nil || len(text) > maxText { // what is cut is another test's
			return
		}
		line(t, &Entry{Input: v}, false)
		_, rest, _ := strings.Cut(line(t, &Entry{Input: v}, true), `"input":`)
		input, _, _ := strings.Cut(rest, `,"trace":[]}`)
		back, err := call.ParseValue([]byte(input))
		if err != nil || back.JSON() != v.JSON() {
			t.Errorf("%q became %q, %v", text, input, err)
		}
	})
}
