package protocol

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// The files of an agent's archive besides its single inputs: inputs that Read refuses, each with the beginning
// of the error; inputs that it takes although something is unusual, each with the request; and the answers, which
// -update writes. Inputs are written after what the agent's documents say or its program sends.
const (
	refused = "refused"
	taken   = "taken"
	answers = "answers"
)

func archive(t testing.TB, agent string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", agent+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// recorded is a file of an agent's archive in testdata: AGENT/FILE.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	agent, file, _ := strings.Cut(name, "/")
	for _, f := range archive(t, agent).Files {
		if f.Name == file {
			return f.Data
		}
	}
	t.Fatalf("testdata/%s.txtar has no %s", agent, file)
	return nil
}

// rows are the lines of a file of an agent's archive, each an input and what is wanted of it.
func rows(t *testing.T, agent, file string) [][]string {
	t.Helper()
	var all [][]string
	for _, f := range archive(t, agent).Files {
		for line := range strings.Lines(string(f.Data)) {
			if f.Name == file {
				all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
			}
		}
	}
	return all
}

// TestReadRefuses: what is not the input of a hook before a tool, or leaves open what the tool would do.
func TestReadRefuses(t *testing.T) {
	for _, a := range Agents() {
		for _, row := range rows(t, a.Name, refused) {
			e, err := a.Read([]byte(row[0]))
			if err == nil || !strings.HasPrefix(err.Error(), row[1]) || e != nil {
				t.Errorf("%s %s: %+v, %v, want %s", a.Name, row[0], e, err, row[1])
			}
		}
	}
}

// TestReadTakes: what is no reason to refuse an input.
func TestReadTakes(t *testing.T) {
	for _, a := range Agents() {
		for _, row := range rows(t, a.Name, taken) {
			e, err := a.Read([]byte(row[0]))
			if err != nil || e.Call.Request.JSON() != row[1] {
				t.Errorf("%s %s: %+v, %v, want %s", a.Name, row[0], e, err, row[1])
			}
		}
	}
}

// TestCanAsk: an ask stays one only if the user is sure to be asked.
func TestCanAsk(t *testing.T) {
	for mode, want := range map[string]bool{
		"default": true, "acceptEdits": true, "plan": true,
		"bypassPermissions": false, "auto": false, "dontAsk": false, "": false, "new": false,
	} {
		e, err := Named("claude-code").Read([]byte(
			`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"permission_mode":"` + mode + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		if e.CanAsk != want {
			t.Errorf("%q: %v, want %v", mode, e.CanAsk, want)
		}
	}
}

func TestAgents(t *testing.T) {
	var names []string
	for _, a := range Agents() {
		names = append(names, a.Name)
		if got := Named(a.Name); got == nil || got.Name != a.Name || got.Title == "" || len(got.Events) == 0 {
			t.Errorf("Named(%q) is %+v", a.Name, got)
		}
	}
	if diff := cmp.Diff([]string{"claude-code", "codex", "gemini", "copilot", "cursor"}, names); diff != "" {
		t.Error(diff)
	}
	if got := Named("Codex"); got != nil {
		t.Errorf("Named of no agent is %+v", got)
	}
}
