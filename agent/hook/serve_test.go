package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/verdict"
)

const denyShell = `rules:
  - id: SHELL
    title: No shell
    effect: deny
    when: {fact: tool, equals: Bash}
`

// kept is a keeper of one file of call rules, at a time that the test sets.
func kept(t *testing.T) (k *gate.Keeper, file string, now *time.Time) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "calls.yml")
	if err := os.WriteFile(file, []byte(denyShell), 0o666); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	h := &Hook{Calls: dialect.Files{Names: []string{file}}, Policy: []string{NoPolicy}}
	load := func() (*gate.Gate, error) { return h.gate(dir) }
	return &gate.Keeper{Load: load, Now: func() time.Time { return at }}, file, &at
}

func decision(t *testing.T, g *gate.Gate, tool string) callrules.Effect {
	t.Helper()
	r, err := g.Judge(t.Context(), &call.Call{Tool: tool}, callrules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Outcome().Effect
}

func current(t *testing.T, k *gate.Keeper) (*gate.Gate, string) {
	t.Helper()
	g, err := k.Current()
	if err != nil {
		return g, err.Error()
	}
	return g, ""
}

// TestReload: claudecube 2.5, "The rule engine supports runtime reloading ... when the file is modified", for every
// dialect and the bundle.
func TestReload(t *testing.T) {
	k, file, now := kept(t)
	if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Deny {
		t.Fatal(said)
	}
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, *now, *now); err != nil {
			t.Fatal(err)
		}
	}

	// "Debounced: File change events are debounced (e.g., 500ms) to handle editors that write files in multiple
	// steps."
	write(strings.Replace(denyShell, "Bash", "Read", 1))
	if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Deny {
		t.Error("a change is taken up at once", said)
	}
	*now = now.Add(gate.Settle - time.Millisecond)
	if g, _ := current(t, k); decision(t, g, "Bash") != callrules.Deny {
		t.Error("a change is taken up too early")
	}
	write(strings.Replace(denyShell, "Bash", "Grep", 1)) // the second step of the editor
	*now = now.Add(time.Millisecond)
	if g, _ := current(t, k); decision(t, g, "Bash") != callrules.Deny {
		t.Error("a change is taken up while the file still changes")
	}
	*now = now.Add(gate.Settle)
	if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Allow ||
		decision(t, g, "Grep") != callrules.Deny || decision(t, g, "Read") != callrules.Allow {
		t.Error("a change is not taken up", said)
	}

	// A change that is long over is taken up by the first call after it.
	write(denyShell)
	*now = now.Add(time.Hour)
	if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Deny {
		t.Error("an old change is not taken up at once", said)
	}

	// "If validation fails (bad YAML, invalid regex, schema error), the change is rejected and a warning is logged.
	// The previous valid rule engine remains active."
	broken := strings.Replace(denyShell, "equals: Bash", "matches: '('", 1)
	for _, bad := range []string{"rules: [", "rulez: []\n", broken, ""} {
		write(bad)
		*now = now.Add(time.Hour)
		if g, said := current(t, k); said == "" || decision(t, g, "Bash") != callrules.Deny {
			t.Errorf("%q: %q", bad, said)
		}
		if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Deny {
			t.Errorf("%q is said twice: %q", bad, said)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(time.Hour)
	if _, said := current(t, k); said != "" { // seen for the first time
		t.Error(said)
	}
	*now = now.Add(gate.Settle)
	if g, said := current(t, k); said == "" || decision(t, g, "Bash") != callrules.Deny {
		t.Errorf("without the file: %q", said)
	}

	// An editor writes another file and renames it.
	if err := os.WriteFile(file+"~", []byte(strings.Replace(denyShell, "Bash", "Read", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+"~", file); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(time.Hour)
	if g, said := current(t, k); said != "" || decision(t, g, "Read") != callrules.Deny {
		t.Error("a file that was renamed is not taken up", said)
	}
}

// TestNoRulesAtFirst: claudecube 2.3, "ensuring the server does not start with invalid rules".
func TestNoRulesAtFirst(t *testing.T) {
	k, file, _ := kept(t)
	if err := os.WriteFile(file, []byte("rules: ["), 0o666); err != nil {
		t.Fatal(err)
	}
	if g, err := k.Current(); g != nil || err == nil {
		t.Errorf("%v, %v", g, err)
	}
}

// TestServeLate: a judgement that was given up runs on while later ones run. For go test -race.
func TestServeLate(t *testing.T) {
	_, file, _ := kept(t)
	var in strings.Builder
	for i := range 300 {
		fmt.Fprintf(&in, `{"hook_event_name":"PreToolUse","cwd":%q,"tool_name":"Bash","tool_input":{"n":%d}}`+"\n",
			t.TempDir(), i)
	}
	var out strings.Builder
	h := &Hook{
		Agent: protocol.Named("codex"), Calls: dialect.Files{Names: []string{file}}, Policy: []string{NoPolicy},
		Timeout: 300 * time.Microsecond, Around: gate.Around{Getenv: os.Getenv},
		Safe: verdict.Visible, Warn: func(error) {},
	}
	if err := h.Serve(strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 300 {
		t.Errorf("%d of 300 calls are answered", n)
	}
}
