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

// TestEdits: an insertion has the style of its neighbors, nothing else changes, and removing it restores the first
// text.
func TestEdits(t *testing.T) {
	for _, test := range []struct{ name, before, after string }{
		{"an empty object", "{}", `{"hooks": {
  "Pre": [
    {
      "run": "a && b"
    }
  ]
}}`},
		{"an empty object with a line in it", "{\n}\n", `{"hooks": {
  "Pre": [
    {
      "run": "a && b"
    }
  ]
}
}
`},
		{"beside other settings, with their indentation", `{
    "model": "x"
}
`, `{
    "model": "x",
    "hooks": {
        "Pre": [
            {
                "run": "a && b"
            }
        ]
    }
}
`},
		{"beside other events", `{
	"hooks": {
		"Post": []
	},
	"model": "x"
}`, `{
	"hooks": {
		"Post": [],
		"Pre": [
			{
				"run": "a && b"
			}
		]
	},
	"model": "x"
}`},
		{"after another hook", `{
  "hooks": {
    "Pre": [
      {"run": "mine"}
    ]
  }
}
`, `{
  "hooks": {
    "Pre": [
      {"run": "mine"},
      {
        "run": "a && b"
      }
    ]
  }
}
`},
		{"into an empty list", `{
  "hooks": {
    "Pre": []
  }
}
`, `{
  "hooks": {
    "Pre": [{
      "run": "a && b"
    }]
  }
}
`},
		{"into an empty object beneath", `{
  "hooks": { }
}
`, `{
  "hooks": {"Pre": [
    {
      "run": "a && b"
    }
  ] }
}
`},
		{"in one line", `{"model":"x"}`, `{"model":"x", "hooks": { "Pre": [ {"run":"a && b"} ] }}`},
		{"in one line, after another hook", `{"hooks":{"Pre":[{"run":"mine"}]}}`, `{"hooks":{"Pre":[{"run":"mine"}, {"run":"a && b"}]}}`},
		{"with CRLF", "{\r\n  \"model\": \"x\"\r\n}\r\n", "{\r\n  \"model\": \"x\",\r\n  \"hooks\": {\r\n    \"Pre\": [\r\n      {\r\n        \"run\": \"a && b\"\r\n      }\r\n    ]\r\n  }\r\n}\r\n"},
		{"in an odd layout", "{ \"a\": 1\n, \"b\" : [ 2 ,3]\n}", "{ \"a\": 1\n, \"b\" : [ 2 ,3], \"hooks\": { \"Pre\": [ {\"run\":\"a && b\"} ] }\n}"},
		{"names with escapes are the same names", `{"h\u006foks": {"Pre": [1]}}`, `{"h\u006foks": {"Pre": [1, {"run":"a && b"}]}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := &document.Source{Name: "s.json", Text: []byte(test.before)}
			root, err := parse(src)
			if err != nil {
				t.Fatal(err)
			}
			got, err := insert(src, root, shortPath, shortHook)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(got)); diff != "" {
				t.Errorf("put in (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.before, takeOut(t, got)); diff != "" {
				t.Errorf("taken out again (-want +got):\n%s", diff)
			}
		})
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
	for _, test := range []struct {
		name   string
		before string
		index  int
		after  string
	}{
		{"the first of two", "{\n  \"hooks\": {\n    \"Pre\": [\n      1,\n      2\n    ]\n  }\n}", 0, "{\n  \"hooks\": {\n    \"Pre\": [\n      2\n    ]\n  }\n}"},
		{"one in the middle", `{"hooks":{"Pre":[1, 2, 3]}}`, 1, `{"hooks":{"Pre":[1, 3]}}`},
		{"its event, when others came after it", "{\n  \"hooks\": {\n    \"Pre\": [\n      1\n    ],\n    \"Post\": []\n  }\n}", 0, "{\n  \"hooks\": {\n    \"Post\": []\n  }\n}"},
		{"all hooks, when settings came after them", "{\n  \"hooks\": {\n    \"Pre\": [\n      1\n    ]\n  },\n  \"a\": 1\n}", 0, "{\n  \"a\": 1\n}"},
		{"all there is", "{\n  \"hooks\": {\n    \"Pre\": [\n      1\n    ]\n  }\n}\n", 0, "{\n}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, err := parse(&document.Source{Name: "s.json", Text: []byte(test.before)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(remove([]byte(test.before), root, shortPath, test.index))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefused: what is not read whole is not edited.
func TestRefused(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "s.json: the file is empty; write {} into it, or remove it"},
		{" \n", "s.json: the file is empty; write {} into it, or remove it"},
		{"\ufeff{}", "s.json:1:1: the file begins with a byte order mark; save it without one"},
		{"{\"a\": \"\xff\"}", "s.json:1:8: a byte that is not UTF-8; save the file as UTF-8"},
		{"[]", "s.json:1:1: the settings are a list, not an object; write them as {…}"},
		{"7", "s.json:1:1: the settings are a number, not an object; write them as {…}"},
		{"null", "s.json:1:1: the settings are null, not an object; write them as {…}"},
		{"{} {}", "s.json:1:4: there is more after the settings; remove it"},
		{"{\"a\": 1,}", "s.json:1:8: a comma without a value on each side of it; remove it"},
		{"{\"a\": [1,]}", "s.json:1:9: a comma without a value on each side of it; remove it"},
		{"{\"a\": 1", "s.json:1:8: the text ends too early; fix it; nothing was written"},
		{"{\"a\" 1}",
			"s.json:1:6: invalid character '1' after object name (expecting ':'); fix it; nothing was written"},
		{"{a: 1}", "s.json:1:2: invalid character 'a' at start of value; fix it; nothing was written"},
		{"{'a': 1}", "s.json:1:2: invalid character '\\'' at start of value; fix it; nothing was written"},
		{"{\"a\": 01}",
			"s.json:1:8: invalid character '1' after object value (expecting ',' or '}'); fix it; nothing was written"},
		{"{\"a\": 1A}",
			"s.json:1:8: invalid character 'A' after object value (expecting ',' or '}'); fix it; nothing was written"},
		{"{\"a\": 1Z}",
			"s.json:1:8: invalid character 'Z' after object value (expecting ',' or '}'); fix it; nothing was written"},
		{"{\"a\": 1a}",
			"s.json:1:8: invalid character 'a' after object value (expecting ',' or '}'); fix it; nothing was written"},
		{"{\"a\": 1z}",
			"s.json:1:8: invalid character 'z' after object value (expecting ',' or '}'); fix it; nothing was written"},
		{"{\"a\": 190", "s.json:1:10: the text ends too early; fix it; nothing was written"},
		{"{\"a\": NaN}", "s.json:1:7: invalid character 'N' at start of value; fix it; nothing was written"},
		{"{\"a\": \"b\nc\"}",
			"s.json:1:9: invalid character '\\n' in string (expecting non-control character); fix it; nothing was written"},
		{"{\"a\": \"\\x\"}", "s.json:1:8: invalid escape sequence `\\x` in string; fix it; nothing was written"},
		{"{\"a\": \"b", "s.json:1:9: the text ends too early; fix it; nothing was written"},
		{"{\"a\": \"\\", "s.json:1:8: the text ends too early; fix it; nothing was written"},
		{"{\n  // mine\n  \"a\": 1\n}", "s.json:2:3: a comment, which not every agent reads; remove it"},
		{"{\"a\": 1 /* mine */}", "s.json:1:9: a comment, which not every agent reads; remove it"},
		{"{\n  \"a\": 1,\n  \"\\u0061\": 2\n}", "s.json:3:3: \"a\" occurs twice; remove one: programs differ in which of them they use"},
		{strings.Repeat("[", 400), "s.json:1:202: values are nested over 200 deep; make it flatter"},
		{"{\"hooks\": []}", "s.json:1:11: \"hooks\" is a list, not an object; fix it; nothing was written"},
		{"{\"hooks\": null}", "s.json:1:11: \"hooks\" is null, not an object; fix it; nothing was written"},
		{"{\"hooks\": {\"Pre\": {}}}", "s.json:1:19: \"hooks.Pre\" is an object, not a list; fix it; nothing was written"},
		{"{\"hooks\": {\"Pre\": \"x\"}}", "s.json:1:19: \"hooks.Pre\" is a string, not a list; fix it; nothing was written"},
		{"{\"hooks\": {\"Pre\": false}}", "s.json:1:19: \"hooks.Pre\" is true or false, not a list; fix it; nothing was written"},
		{"{\"hooks\": {\"Pre\": true}}", "s.json:1:19: \"hooks.Pre\" is true or false, not a list; fix it; nothing was written"},
	} {
		src := &document.Source{Name: "s.json", Text: []byte(test.text)}
		root, err := parse(src)
		if err == nil {
			_, err = insert(src, root, shortPath, shortHook)
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%q:\n got %v\nwant %s", test.text, err, test.want)
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
	for _, seed := range []string{
		"{}", "{ }", "{\n}\n", `{"a":1}`, "{\n  \"a\": 1\n}\n", `{"hooks":{}}`, `{"hooks": {"Pre": [ ]}}`, "{\n\t\"hooks\": {\n\t\t\"Pre\": [1]\n\t}\n}",
		"{\r\n  \"a\": [1, \"\\u00e9\\\\\"]\r\n}", `{"a": -1.5e+3, "b": [true, false, null]}`, "{\"a\": 1 // c\n}", `{"a":1,"a":2}`, "{\"hooks\":\n{\"Pre\":\n[\n1]}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := &document.Source{Name: "s.json", Text: []byte(text)}
		root, err := parse(src)
		if err != nil {
			var e *document.Error
			if ok := asError(err, &e); !ok || e.Line < 0 || e.Line > strings.Count(text, "\n")+1 || e.Column > len(text)+1 {
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

func asError(err error, to **document.Error) bool {
	e, ok := err.(*document.Error)
	*to = e
	return ok
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
// may run them by.
func lines(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	quoted, err := quoteAll(args)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, of := range Targets() {
		h := of.entry(byName, quoted)
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
	for line, shells := range lines(t) {
		agent, line, _ := strings.Cut(line, "\n")
		for _, name := range shells {
			shell, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			tried++
			t.Run(agent+" "+name, func(t *testing.T) {
				for _, answer := range []string{
					`{"got":{}}`, `{}`, `{"reason":"%s \\n $HOME ` + "`id`" + ` $(id) ü \u2028 '\"' * ~ -n \\"}`, `{"long":"` + strings.Repeat("é ", 50_000) + `"}`,
				} {
					got := runLine(t, shell, line, "read -r in; [ \"$in\" = {} ] || exit 1\nprintf '%s\\n' '"+strings.ReplaceAll(answer, "'", `'\''`)+"'\n")
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
					if err := json.Unmarshal([]byte(got.out), &deny); err != nil || got.status != 0 || deny.PermissionDecision != "deny" || deny.PermissionDecisionReason != unchecked {
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

// TestFault_152_StartFile: the documented gap: a start file that ends a login shell ends it before the line runs,
// silently with status 0, and its output comes before the answer.
func TestFault_152_StartFile(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	h := Named("codex").entry(byName, "").Hooks[0]
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
		h := of.entry(program, " --calls x")
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
	for line, shells := range lines(t, args...) {
		agent, line, _ := strings.Cut(line, "\n")
		for _, name := range shells {
			shell, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			want := "{\nhook\n" + agent + "\n" + strings.Join(args, "\n") + "\n}\n"
			if got := runLine(t, shell, line, `printf '{\n'; printf '%s\n' "$@"; printf '}\n'`); got != (ran{0, want, ""}) {
				t.Errorf("%s %s: %+v, want %q", agent, name, got, want)
			}
		}
	}
}
