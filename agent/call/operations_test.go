package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call/shell"
	"pgregory.net/rapid"
)

// show writes operations for the tables of the tests: exec BIN [ARGS], fs OP PATH, net HOST, with a question mark for
// what cannot be determined.
func (o Operations) show() string {
	name := func(v *Value) string {
		if v == nil {
			return "?"
		}
		return v.Str()
	}
	var all []string
	if o.Exec {
		args := make([]string, len(o.Runs.Args))
		for i, a := range o.Runs.Args {
			args[i] = a.Str()
		}
		all = append(all, fmt.Sprintf("exec %s [%s]", name(o.Runs.Name), strings.Join(args, "|")))
	}
	if o.Op != nil {
		all = append(all, fmt.Sprintf("fs %s %s", o.Op.Str(), name(o.Path)))
	}
	if o.Net {
		all = append(all, "net "+name(o.Host))
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// parsed is a call of a tool in /w.
func parsed(t *testing.T, tool, input, dir string) *Call {
	t.Helper()
	v, err := ParseValue([]byte(input))
	if err != nil {
		t.Fatal(err)
	}
	return &Call{Tool: tool, Input: v, Dir: dir}
}

// TestOperations: what the calls of testdata/operations.jsonl are about. The numbers are those of the requirements.
func TestOperations(t *testing.T) {
	text, err := os.ReadFile("testdata/operations.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var c struct {
			Name, Dir, Tool string
			Input           json.RawMessage
			Want            string
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if got := parsed(t, c.Tool, string(c.Input), c.Dir).Operations().show(); got != c.Want {
			t.Errorf("%s: %s %s: %s, want %s", c.Name, c.Tool, c.Input, got, c.Want)
		}
	}
	for n, want := range map[int]string{31: "exec git [push]", 32: "exec ? []"} {
		line := strings.Repeat("env ", n) + "git push"
		c := &Call{Tool: "Bash", Input: NewObject(Member{"command", Text(line)})}
		if got := c.Operations().show(); got != want {
			t.Errorf("%d times env: %s", n, got)
		}
	}
	for n, want := range map[int]string{maxHost: strings.Repeat("a", maxHost), maxHost + 1: ""} {
		if got := hostOf("https://" + strings.Repeat("a", n) + "/").Str(); got != want {
			t.Errorf("a host of %d bytes: %q", n, got)
		}
	}
}

// TestEdited: the tools that edit, in the words of Claude Code.
func TestEdited(t *testing.T) {
	for tool, want := range map[string]string{"Edit": "edit", "MultiEdit": "edit", "replace": "edit", "Write": "",
		"NotebookEdit": "", "Read": ""} {
		if got := (&Call{Tool: tool}).Operations().Edited.Str(); got != want {
			t.Errorf("%s: edited is %q, want %q", tool, got, want)
		}
	}
}

// Agents may expand ~ and remove spaces, so these are not what they look like.
func TestFault_157_Unsure(t *testing.T) {
	for _, c := range []struct{ input, path, host string }{
		{`{"file_path":"~/a"}`, "the path begins with ~", ""},
		{`{"file_path":"a "}`, "the path begins or ends with a space", ""},
		{`{"file_path":["a"]}`, "the path is not one string", ""},
		{`{"file_path":""}`, "", ""},
		{`{}`, "", ""},
		{`{"url":"https:a"}`, "", "the host of the URL"},
		{`{"url":5}`, "", "the host of the URL"},
		{`{"prompt":"https://a"}`, "", ""},
		{`{"url":null}`, "", ""},
	} {
		read := parsed(t, "Read", c.input, "/w").Operations()
		fetch := parsed(t, "WebFetch", c.input, "").Operations()
		if got := read.UnsurePath; !strings.HasPrefix(got, c.path) || (got == "") != (c.path == "") {
			t.Errorf("%s: %q", c.input, got)
		}
		if got := fetch.UnsureHost; !strings.HasPrefix(got, c.host) || (got == "") != (c.host == "") {
			t.Errorf("%s: %q", c.input, got)
		}
	}
}

// "Relative paths in tool inputs are resolved against the current working directory"
func TestRow_4_25_Resolve(t *testing.T) {
	for _, test := range []struct {
		dir, name, want string
		absolute        bool
	}{
		{"/w", "a", "/w/a", true},
		{"/w", "./a//b/", "/w/a/b", true},
		{"/w", "src/../../etc/x", "/etc/x", true},
		{"/w", "/../../etc", "/etc", true},
		{"/w", "", "/w", true},
		{"", "a/../b", "b", false},
		{"", "../b", "../b", false},
		{"", "", ".", false},
		{"w", "a", "w/a", false},
		{"", "./C:a", "./C:a", false},
		{"/w", `a\b`, `/w/a\b`, true},
		{"/w", "C:notes", "/w/C:notes", true},
		{`C:\w`, `a\..\b`, "C:/w/b", true},
		{`C:\w`, `..\..\x`, "C:/x", true},
		{"C:/w", `c:\Users\x`, "C:/Users/x", true},
		{"C:/w", `\x`, "C:/x", true},
		{"C:/w", "C:a", "C:/w/a", true},
		{"C:/w", "D:a", "D:/a", true},
		{"", `d:\a`, "D:/a", true},
		{"", `a:\x`, "A:/x", true},
		{"", `z:\x`, "Z:/x", true},
		{"", "C:", "C:/", true},
		{"/w", `D:\a`, "D:/a", true},
		{"", `\\server\share\a`, "/server/share/a", true},
		{`\\server\share`, `a\b`, "/server/share/a/b", true},
	} {
		if got, absolute := Resolve(test.dir, test.name); got != test.want || absolute != test.absolute {
			t.Errorf("Resolve(%q, %q): %q, %v", test.dir, test.name, got, absolute)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "..", ".", "", "/", `\`, "C:", "b c"})
		dir := strings.Join(rapid.SliceOfN(part, 0, 5).Draw(t, "directory"), "/")
		name := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "name"), "/")
		got, absolute := Resolve(dir, name)
		if again, still := Resolve("", got); again != got || still != absolute {
			t.Fatalf("%q in %q: %q (%v), and of that %q (%v)", name, dir, got, absolute, again, still)
		}
		if absolute && slices.Contains(strings.Split(got, "/"), "..") {
			t.Fatalf("%q in %q: %q", name, dir, got)
		}
	})
}

func FuzzCommand(f *testing.F) {
	for _, line := range []string{"git push", "env -S'a b' c", `time -f "%e" nice -n`, "2>&1 >x (a;b)", "'", `"\`,
		"$(a", "timeout", "env -S-S-S", "A=1", "command -pv x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		all := shell.Tokens(line)
		length := 0
		for _, token := range all {
			length += len(token.Text)
			if token.Operator && strings.Trim(token.Text, "0123456789;&|()<>") != "" {
				t.Errorf("the operator %q", token.Text)
			}
		}
		if length > len(line) {
			t.Errorf("%d bytes of tokens of %d bytes", length, len(line))
		}
		runs, _ := program(all)
		bin, args := runs.Name, runs.Args
		second, _ := program(shell.Tokens(line))
		again, more := second.Name, second.Args
		if (bin == nil) != (again == nil) || bin.Str() != again.Str() || len(args) != len(more) {
			t.Errorf("%q and %q", bin.Str(), again.Str())
		}
		if bin.Str() != "" && !strings.Contains(line, "\\") && !strings.ContainsAny(line, `'"`) &&
			!strings.Contains(line, bin.Str()) {
			t.Errorf("the program %q is not in the line", bin.Str())
		}
	})
}

// TestRow_0_08_Capabilities: "maps tool names to the 6-capability taxonomy (execute, read, write, search, agent,
// network)". The first of each line is Claude Code's name, for which the others are another agent's.
func TestRow_0_08_Capabilities(t *testing.T) {
	for _, line := range []struct {
		capability Capability
		names      string
	}{
		// 0-09, of sigmashake's adapters
		{Execute, "Bash bash shell command"},
		{Read, "Read"},
		{Write, "Write"},
		{Write, "Edit"},
		{Write, "MultiEdit"},
		{Search, "Glob"},
		{Search, "Grep"},
		{Agent, "Task Agent"},
		{Network, "WebFetch"},
		{Network, "WebSearch"},
		// of the agents themselves
		{Execute, "Bash run_shell_command local_shell shell_command container.exec exec_command execute_bash " +
			"powershell Shell run_terminal_cmd run_in_terminal runTerminalCommand"},
		{Execute, "PowerShell"},
		{Execute, "Monitor"},
		{Read, "Read read_file read_many_files fs_read view view_image"},
		{Read, "NotebookRead"},
		{Write, "Write write_file fs_write create create_file createFile"},
		{Write, "Edit replace edit edit_file str_replace apply_patch Delete delete_file editFiles deleteFile"},
		{Write, "NotebookEdit"},
		{Search, "Glob glob list_directory list_dir LS"},
		{Search, "Grep grep search_file_content grep_search grep_files"},
		{Network, "WebFetch web_fetch webfetch"},
		{Network, "WebSearch google_web_search web_search"},
		{Agent, "Task task spawn_agent"},
	} {
		same, _, _ := strings.Cut(line.names, " ")
		for name := range strings.FieldsSeq(line.names) {
			if got := Known(name); got != (Tool{Same: same, Capability: line.capability}) {
				t.Errorf("%s: %+v, not %s and %s", name, got, same, line.capability)
			}
		}
	}
	for _, name := range []string{"write_stdin", "run_task", "create_and_run_task"} {
		if got := Known(name); got != (Tool{Capability: Execute}) {
			t.Errorf("%s, which no other agent has: %+v", name, got)
		}
	}
}

// TestRow_0_10_UnknownTools: of a tool that is not known nothing is guessed from its name, nor from its case.
func TestRow_0_10_UnknownTools(t *testing.T) {
	for _, name := range []string{"", "BASH", "bash ", "read", "write", "edit_", "search", "mcp__shell__exec",
		"execute_sql", "TodoWrite", "Bash:", "agent"} {
		if got := Known(name); got != (Tool{}) {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

// TestCommands: every command of a call, its program by each of its names, and what is not seen of it.
func TestCommands(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"git push && /usr/bin/ls -l"}`, `git(git)[push] /usr/bin/ls(/usr/bin/ls ls)[-l]`},
		{"shell", `{"command":["git","push"]}`, `git(git)[push]`},
		{"shell", `{"command":["bash","-lc","git push; ls"]}`, `git(git)[push] ls(ls)[]`},
		{"exec_command", `{"cmd":"env git push"}`, `env(env)[git|push] git(git)[push]`},
		{"Bash", `{"command":"git $X"}`, `git(git)[$X]!argument`},
		{"Bash", `{"command":""}`, `()[]`},
		{"Bash", `{"command":7}`, `-()[]!syntax`},
		{"Bash", `{}`, `-()[]!syntax`},
		{"shell", `{"command":["git",5]}`, `-()[]!syntax`},
		// What does not parse is read by words, too.
		{"Bash", `{"command":"git push 'x"}`, `git(git)[push|x]!syntax git(git)[push|x]!syntax`},
		{"Read", `{"file_path":"a","command":"git push"}`, ``},
	} {
		all := parsed(t, c.tool, c.input, "/w").Commands()
		var said []string
		for _, x := range all {
			var args []string
			for i, a := range x.Arguments {
				if args = append(args, a.Str()); a.Str() != x.Parsed.Args[i] {
					t.Errorf("%s: argument %d is %q and %q", c.input, i, a.Str(), x.Parsed.Args[i])
				}
			}
			word := x.Parsed.Word
			if len(x.Called) == 0 {
				word = "-"
			}
			text := fmt.Sprintf("%s(%s)[%s]", word, strings.Join(x.Called, " "), strings.Join(args, "|"))
			if x.Parsed.Unseen != "" {
				text += "!" + x.Parsed.Unseen
			}
			said = append(said, text)
		}
		if got := strings.Join(said, " "); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.tool, c.input, got, c.want)
		}
		if c.tool == "Bash" && strings.Contains(c.want, "!") && !slices.Contains(Unseen(), all[0].Parsed.Unseen) {
			t.Errorf("%q is not one of %q", all[0].Parsed.Unseen, Unseen())
		}
	}
}

// TestCommandString: a displayed command is at most a line.
func TestCommandString(t *testing.T) {
	for line, want := range map[string]string{
		"git push":                       `"git push"`,
		"echo 'a\nb'":                    `"echo a\nb"`,
		"x " + strings.Repeat("é", 100):  `"x ` + strings.Repeat("é", 78) + `…"`,
		"x" + strings.Repeat(" é", 21):   `"x` + strings.Repeat(" é", 20) + `"`,
		"x " + strings.Repeat("y", 80-2): `"x ` + strings.Repeat("y", 78) + `"`,
		"x " + strings.Repeat("y", 80-1): `"x ` + strings.Repeat("y", 78) + `…"`,
	} {
		all := (&Call{Tool: "Bash", Input: NewObject(Member{"command", Text(line)})}).Commands()
		if len(all) != 1 || all[0].String() != want {
			t.Errorf("%q: %v, want %s", line, all, want)
		}
	}
}

// TestRuns: the program of a command is the last one after wrappers such as env.
func TestRuns(t *testing.T) {
	for words, want := range map[string]string{
		"git push": "git", "env A=1 git push": "git", "time -p nice -n 5 git": "git", "": "", "env": "env",
		strings.Repeat("env ", 32) + "git": "",
	} {
		if got := Runs(strings.Fields(words)); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	for _, name := range LookedThrough() {
		words := []string{name, "git"}
		if name == "timeout" {
			words = []string{name, "5", "git"}
		}
		if got := Runs(words); got != "git" {
			t.Errorf("%s is not looked through: %q", name, got)
		}
	}
}

// TestTextOfValues: a value as a string, as in JavaScript.
func TestTextOfValues(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: "a", `5`: "5", `1.50`: "1.5", `true`: "true", `null`: "null", `{}`: "[object Object]", `[]`: "",
		`[1,null,["a",{"b":1}],true]`: "1,,a,[object Object],true",
	} {
		v := value(t, in)
		if got := v.Joined(); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
		text, ok := v.Scalar()
		if scalar := strings.Trim(in, `[]{}nul`) == in; ok != scalar || ok && text != want {
			t.Errorf("%s: %q, %v", in, text, ok)
		}
	}
	if got := (*Value)(nil).Joined(); got != "undefined" {
		t.Errorf("a value that is missing: %q", got)
	}
	list := NewList([]*Value{Text("a"), value(t, "null")})
	if list.Kind() != List || len(list.Items()) != 2 || list.At("0").Str() != "a" || list.JSON() != `["a",null]` {
		t.Errorf("%s", list.JSON())
	}
	first := value(t, `{"a":null,"b":"x","c":"y"}`)
	if first.First("z", "a", "b", "c").Str() != "x" || first.First("a") != nil || Text("x").First("a") != nil {
		t.Error("the first that is neither missing nor null")
	}
}
