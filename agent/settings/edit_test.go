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

	"github.com/google/go-cmp/cmp"
	"github.com/policyscan/policyscan/rules/document"
)

// shortHook is a value that is short to read, put at hooks.Pre.
var (
	shortHook = map[string]any{"run": "a && b"}
	shortPath = []string{"hooks", "Pre"}
)

// A row is a text of testdata/settings.jsonl, and what is wanted of it: with "edit" it becomes that when the hook is
// put in, with "remove" when an element goes; "fresh" is the file that Install begins; with "refused" and "install" it
// is the error, of putting in a hook or the agent's.
type row struct {
	Is, Agent, Before, Want string
	Index                   int
}

// rows are those of a kind.
func rows(t testing.TB, kind string) []row {
	t.Helper()
	text, err := os.ReadFile("testdata/settings.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	for line := range bytes.Lines(text) {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Is == kind {
			all = append(all, r)
		}
	}
	return all
}

// TestEdits: an insertion has the style of its neighbors, nothing else changes, and removing it restores the first
// text.
func TestEdits(t *testing.T) {
	for _, r := range rows(t, "edit") {
		src := source(r.Before)
		root, err := parse(src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := insert(src, root, shortPath, shortHook)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Want, string(got)); diff != "" {
			t.Errorf("put in (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(r.Before, takeOut(t, got)); diff != "" {
			t.Errorf("taken out again (-want +got):\n%s", diff)
		}
	}
}

// takeOut removes the last element of hooks.Pre.
func takeOut(t *testing.T, text []byte) string {
	t.Helper()
	src := &document.Source{Name: "s.json", Text: text}
	root, err := parse(src)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	array, _, err := list(src, root, shortPath)
	if err != nil || array == nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(remove(text, root, shortPath, len(array.items)-1))
}

// TestRemove: what was put next to the hook later stays when the hook goes.
func TestRemove(t *testing.T) {
	for _, r := range rows(t, "remove") {
		root, err := parse(source(r.Before))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Want, string(remove([]byte(r.Before), root, shortPath, r.Index))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestRefused: what is not read whole is not edited.
func TestRefused(t *testing.T) {
	for _, r := range append(rows(t, "refused"), row{Before: "{\"a\": \"\xff\"}",
		Want: "s.json:1:8: a byte that is not UTF-8; save the file as UTF-8"}) {
		src := source(r.Before)
		root, err := parse(src)
		if err == nil {
			_, err = insert(src, root, shortPath, shortHook)
		}
		if err == nil || err.Error() != r.Want {
			t.Errorf("%q:\n got %v\nwant %s", r.Before, err, r.Want)
		}
	}
}

// TestTaken: what JSON allows is read, where it is, and lists up to 200 deep.
func TestTaken(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, end := range map[string]int{
		`{"a": 1e999}`: 11, `{"a": -0.5E+1 }`: 13, `{"a":"\ud83d"}`: 13, `{"\ude00\ud83d": 0 , "\ud83d": 1}`: 18,
		"{\"a\":\r\n\t\"\u2028\x7f\"\n}": 14,
		`{"a":` + deep(200) + "}":        405, `{"a":` + deep(201) + "}": 0, `{"a":` + deep(1e6) + "}": 0,
		`{"a":` + strings.Repeat("[", 200) + "1" + strings.Repeat("]", 200) + "}": 0,
	} {
		root, err := parse(&document.Source{Name: "s.json", Text: []byte(text)})
		switch {
		case end == 0 && err == nil:
			t.Errorf("%.20q is read", text)
		case end > 0 && (err != nil || root.items[0].value.end != end):
			t.Errorf("%.20q: %v, %+v", text, err, root)
		}
	}
}

// FuzzEdit: the parser accepts what encoding/json does, an edited text parses and holds its values and the hook, and
// removing the hook restores the first bytes.
func FuzzEdit(f *testing.F) {
	for _, r := range append(rows(f, "edit"), rows(f, "refused")...) {
		f.Add(r.Before)
	}
	f.Add(`{"a": -1.5e+3, "b": [true, false, null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		src := &document.Source{Name: "s.json", Text: []byte(text)}
		root, err := parse(src)
		if err != nil {
			var e *document.Error
			if !errors.As(err, &e) || e.Line < 0 || e.Line > strings.Count(text, "\n")+1 || e.Column > len(text)+1 {
				t.Errorf("the error is %#v", err)
			}
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("it parses, but is no JSON: %q", text)
		}
		out, err := insert(src, root, shortPath, shortHook)
		if err != nil {
			return
		}
		if diff := cmp.Diff(withHook(t, text), decode(t, string(out))); diff != "" {
			t.Errorf("%q became %q (-want +got):\n%s", text, out, diff)
		}
		if back := takeOut(t, out); back != text {
			t.Errorf("%q became %q, and then %q", text, out, back)
		}
	})
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return v
}

// withHook is a text, decoded, with the hook put in by way of maps.
func withHook(t *testing.T, text string) map[string]any {
	v := decode(t, text)
	hooks, _ := v["hooks"].(map[string]any)
	if hooks == nil {
		hooks = map[string]any{}
		v["hooks"] = hooks
	}
	list, _ := hooks["Pre"].([]any)
	hooks["Pre"] = append(list, shortHook)
	return v
}

// posixShells are those by which agents may run a line: that of the user, whichever that is.
func posixShells() []string { return []string{"sh", "bash", "dash", "zsh", "fish"} }

// lines are the commands of an agent's hook that a POSIX system runs, with the shells that the agent
// may run them by: those of calls (list 0), or of the end of a turn (1).
func lines(t *testing.T, list int, args ...string) map[string][]string {
	t.Helper()
	quoted, err := quoteAll(args)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, of := range Targets() {
		h := of.lists[list].entry(byName, quoted)
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

// runLine runs a line in a shell whose PATH has sh and, unless it is "", a program policyscan with this text.
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

// TestFault_152_Lines: in every shell the line passes policyscan's answer on, byte for byte. Any other end of
// policyscan is a deny, status 0 without output too: status 2 with a reason, or Copilot's JSON and nothing else.
func TestFault_152_Lines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the lines are for POSIX shells")
	}
	tried := 0
	for line, shells := range lines(t, 0) {
		agent, line, _ := strings.Cut(line, "\n")
		for _, name := range shells {
			shell, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			tried++
			t.Run(agent+" "+name, func(t *testing.T) {
				for _, answer := range []string{
					`{"got":{}}`, `{"reason":"%s \\n $HOME ` + "`id`" + ` $(id) ü \u2028 '\"' * ~ -n \\"}`,
					`{"long":"` + strings.Repeat("é ", 50_000) + `"}`,
				} {
					program := "read -r in; [ \"$in\" = {} ] || exit 1\n" +
						"printf '%s\\n' '" + strings.ReplaceAll(answer, "'", `'\''`) + "'\n"
					got := runLine(t, shell, line, program)
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
					err := json.Unmarshal([]byte(got.out), &deny)
					if err != nil || got.status != 0 || deny.PermissionDecision != "deny" ||
						deny.PermissionDecisionReason != unchecked {
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

// TestTurnLines: at the end of a turn the line passes the answer on, and no failure sends the agent back: the status
// is 0, and the user is told. Copilot's line is the program alone: Copilot takes a failure for no answer.
func TestTurnLines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the lines are for POSIX shells")
	}
	tried := 0
	for line, shells := range lines(t, 1, "--policy", "my rules") {
		agent, line, _ := strings.Cut(line, "\n")
		for _, name := range shells {
			shell, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			tried++
			const pass = `[ "$*" = "hook stop AGENT --policy my rules" ] || exit 1` + "\nprintf '%s\\n' '{\"reason\":\"a \\n b\"}'"
			got := runLine(t, shell, line, strings.Replace(pass, "AGENT", agent, 1))
			if want := (ran{0, `{"reason":"a \n b"}` + "\n", ""}); got != want {
				t.Errorf("%s %s: %+v, want %+v", agent, name, got, want)
			}
			if agent == "copilot" {
				continue
			}
			for _, program := range []string{"", "exit 0", "echo all is well", "exit 2", "echo '{}'; exit 2", "kill -9 $$"} {
				var said map[string]string
				got := runLine(t, shell, line, program)
				if err := json.Unmarshal([]byte(got.out), &said); err != nil || got.status != 0 ||
					len(said) != 1 || said["systemMessage"] != turnUnchecked {
					t.Errorf("%s %s, %q: %+v", agent, name, program, got)
				}
			}
		}
	}
	if tried < 5 {
		t.Fatalf("%d lines were tried", tried)
	}
}

// TestFault_152_StartFile: the documented gap: a start file that ends a login shell ends it before the line runs,
// silently with status 0, and its output comes before the answer.
func TestFault_152_StartFile(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	h := Named("codex").lists[0].entry(byName, "").Hooks[0]
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
		h := of.lists[0].entry(program, " --calls x")
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
	for line, shells := range lines(t, 0, args...) {
		agent, line, _ := strings.Cut(line, "\n")
		for _, name := range shells {
			shell, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			want := "{\nhook\n" + agent + "\n" + strings.Join(args, "\n") + "\n}\n"
			got := runLine(t, shell, line, `printf '{\n'; printf '%s\n' "$@"; printf '}\n'`)
			if got != (ran{0, want, ""}) {
				t.Errorf("%s %s: %+v, want %q", agent, name, got, want)
			}
		}
	}
}
