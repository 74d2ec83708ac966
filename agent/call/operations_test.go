package call

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call/shell"
	"pgregory.net/rapid"
)

// show writes operations as the tables below have them: exec BIN [ARGS], fs OP PATH, net HOST. What
// cannot be determined is a question mark.
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

type mapped struct{ tool, input, want string }

func testMap(t *testing.T, dir string, table []mapped) {
	t.Helper()
	for _, test := range table {
		if got := parsed(t, test.tool, test.input, dir).Operations().show(); got != test.want {
			t.Errorf("%s %s: %s, want %s", test.tool, test.input, got, test.want)
		}
	}
}

func testLines(t *testing.T, table [][2]string) {
	t.Helper()
	for _, test := range table {
		c := &Call{Tool: "Bash", Input: NewObject(Member{"command", Text(test[0])}), Dir: "/w"}
		if got := c.Operations().show(); got != "exec "+test[1] {
			t.Errorf("%q: %s, want exec %s", test[0], got, test[1])
		}
	}
}

// "bin = first non-env-assignment word of command, args = rest"
func TestRow_4_01_Bash(t *testing.T) {
	testLines(t, [][2]string{
		{"git push", "git [push]"},
		{"FOO=1 cargo build", "cargo [build]"},
		{"FOO=1 BAR='a b' cargo build", "cargo [build]"},
		{"A+=x b[0]=y cargo", "cargo []"},
		{"Z0=x z9=x cargo build", "cargo [build]"},
		{"1A=x cargo", "1A=x [cargo]"},
		{"=x cargo", "=x [cargo]"},
		{"  git \t status\n", "git [status]"},
		{"[0]=x cargo", "[0]=x [cargo]"},
		{"FOO=1", " []"},
		{">", " []"},
		{"", " []"},
		{"git commit -m 'a b'", "git [commit|-m|a b]"},
		{`"git" pu"sh" a\ b ""`, "git [push|a b|]"},
		{`echo "a \"b\" \c"`, `echo [a "b" \c]`},
		{"git pu\\\nsh", "git [push]"},
		{`git push "open`, "git [push|open]"},
		{`git push 'open`, "git [push|open]"},
		{"git push\\", "git [push]"},
		{"git push;", "git [push|;]"},
		{"case a in a) git;; esac", "case [a|in|a|)|git|;;|esac]"},
		{"git push&&true", "git [push|&&|true]"},
		{"(git push)", "git [push|)]"},
		{"! git push", "git [push]"},
		{"{ git push; }", "git [push|;|}]"},
		{">out 2>/dev/null git push", "git [push]"},
		{"git push 2>&1 >out", "git [push|2>&|1|>|out]"},
		{"git tag 2; cat 0<in", "git [tag|2|;|cat|0<|in]"},
		{"git push ';' '|'", "git [push|;||]"},
		{"git $(pwd) `id`", "git [$(pwd|)|`id`]"},
		{"/usr/bin/git push", "/usr/bin/git [push]"},
		// A comment is neither a program nor an argument that a rule might allow.
		{"# push it\ngit push", "git [push]"},
		{"git push --force # --dry-run", "git [push|--force]"},
		{"git push;# x\n", "git [push|;]"},
		{"git log a#b '#c' \\#d $# ${#x}", "git [log|a#b|#c|#d|$#|${#x}]"},
		{"#", " []"},
	})
}

// "Only the top-level command is matched": what it runs is in its arguments, as text.
func TestRow_4_05_TopLevel(t *testing.T) {
	testLines(t, [][2]string{
		{"bash -c 'git push'", "bash [-c|git push]"},
		{"make deploy; rm -rf /", "make [deploy|;|rm|-rf|/]"},
		{"xargs git push", "xargs [git|push]"},
	})
}

func TestRow_4_28_TransparentPrefixes(t *testing.T) {
	testLines(t, [][2]string{
		{"time cargo build", "cargo [build]"},
		{"time -p cargo", "cargo []"},
		{"time -f %e -o out cargo", "cargo []"},
		{"time --format=%e --output out cargo", "cargo []"},
		{"command git status", "git [status]"},
		{"command -p git status", "git [status]"},
		{"command -v git", "command [-v|git]"},
		{"command -V git", "command [-V|git]"},
		{"command -pv git", "command [-pv|git]"},
		{"command -p -V git", "command [-p|-V|git]"},
		{"command -- git", "git []"},
		{"nice cargo", "cargo []"},
		{"nice -n 10 cargo -n", "cargo [-n]"},
		{"nice -n10 cargo", "cargo []"},
		{"nice -10 cargo", "cargo []"},
		{"nice --adjustment 5 cargo", "cargo []"},
		{"nohup ./run &", "./run [&]"},
		{"timeout 30 cargo build", "cargo [build]"},
		{"timeout -s KILL -k 5 30 cargo", "cargo []"},
		{"timeout --signal=KILL --kill-after 5 --foreground 30 cargo", "cargo []"},
		{"timeout 30", "timeout [30]"},
		{"env cargo test", "cargo [test]"},
		{"env A=1 B=2 cargo test", "cargo [test]"},
		{"env -i -u HOME -C /tmp A=1 cargo", "cargo []"},
		{"env --unset=HOME --chdir /tmp cargo", "cargo []"},
		{"env - cargo", "cargo []"},
		{"env -S 'A=1 git push' origin", "git [push|origin]"},
		{"env -vS'git push'", "git [push]"},
		{"env --split-string='-i git push'", "git [push]"},
		{"env cargo -S x", "cargo [-S|x]"},
		{"env -u S cargo", "cargo []"},
		{"time nice -n 19 env FOO=bar cargo build", "cargo [build]"},
		{"FOO=1 time nohup cargo", "cargo []"},
		{"time (git push)", "git [push|)]"},
		// Where no program follows, the word is the program.
		{"env", "env []"},
		{"env -0", "env [-0]"},
		{"env FOO=1 BAR=2 >out", "env [FOO=1|BAR=2|>|out]"},
		{"nice env -u X", "env [-u|X]"},
		{"time -p; nohup", "nohup []"},
		{"command", "command []"},
		{"env | grep KEY", "grep [KEY]"},
		{"sudo git push", "sudo [git|push]"},
		{"strace -f git", "strace [-f|git]"},
		{strings.Repeat("env ", 31) + "git push", "git [push]"},
		{strings.Repeat("env ", 32) + "git push", "? []"},
	})
}

func TestRow_4_02_Files(t *testing.T) {
	testMap(t, "/w", []mapped{
		{"Read", `{"file_path":"/w/a"}`, "fs read /w/a"},
		{"Write", `{"file_path":"/w/a"}`, "fs write /w/a"},
		{"Edit", `{"file_path":"/w/a"}`, "fs write /w/a"},
		{"Glob", `{"pattern":"**/*.go"}`, "fs read /w/**/*.go"},
		{"Glob", `{"path":"/x","pattern":"*.go"}`, "fs read /x"},
		{"Grep", `{"path":"src","pattern":"TODO"}`, "fs read /w/src"},
		{"Grep", `{"pattern":"TODO"}`, "fs read /w/TODO"},
		// The table does not list them.
		{"MultiEdit", `{"file_path":"/w/a"}`, "nothing"},
		{"NotebookEdit", `{"notebook_path":"/w/a"}`, "nothing"},
	})
	t.Run("a pattern of files may leave the path", func(t *testing.T) {
		testMap(t, "/w", []mapped{
			{"Glob", `{"path":"/w","pattern":"../../etc/*"}`, "fs read /etc/*"},
			{"Glob", `{"path":"/w","pattern":"/etc/*"}`, "fs read /etc/*"},
			{"Glob", `{"path":"/w/src","pattern":"../src-old/*"}`, "fs read /w/src-old/*"},
			{"Glob", `{"path":"/w/src","pattern":"."}`, "fs read /w/src"},
		})
	})
	t.Run("a pattern of text is no path", func(t *testing.T) {
		testMap(t, "/w", []mapped{
			{"Grep", `{"pattern":"../../tmp/|secret"}`, "fs read /w"},
			{"Grep", `{"pattern":"/tmp/x|secret"}`, "fs read /w"},
			{"Grep", `{"path":"/x","pattern":"../y"}`, "fs read /x"},
		})
	})
	t.Run("in a folder that is not known", func(t *testing.T) {
		testMap(t, "", []mapped{
			{"Grep", `{"pattern":"TODO"}`, "fs read TODO"},
			{"Grep", `{"pattern":".."}`, "fs read ."},
			{"Grep", `{"pattern":"../x"}`, "fs read ."},
			{"Glob", `{"pattern":"../x"}`, "fs read ../x"},
		})
	})
	t.Run("what cannot be told", func(t *testing.T) {
		testMap(t, "/w", []mapped{
			{"Read", `{}`, "fs read ?"},
			{"Read", `{"file_path":""}`, "fs read ?"},
			{"Read", `{"file_path":["a"]}`, "fs read ?"},
			{"Read", `{"path":"/w/a"}`, "fs read ?"},
			{"Grep", `{"path":["a"],"pattern":"x"}`, "fs read ?"},
		})
	})
}

// "Unknown tools | no capability match"
func TestRow_4_04_UnknownTools(t *testing.T) {
	testMap(t, "/w", []mapped{
		{"Task", `{"prompt":"x"}`, "nothing"},
		{"mcp__files__read", `{"file_path":"/etc/passwd"}`, "nothing"},
		{"", `{"command":"git"}`, "nothing"},
	})
}

// Tools of other agents are what Known says, and may have their own keys.
func TestOtherAgents(t *testing.T) {
	testMap(t, "/w", []mapped{
		{"run_shell_command", `{"command":"git push"}`, "exec git [push]"},
		{"shell", `{"command":["git","push","a b"]}`, "exec git [push|a b]"},
		{"shell", `{"command":["bash","-lc","time git push"]}`, "exec git [push]"},
		{"shell", `{"command":["bash","-x","git push"]}`, "exec bash [-x|git push]"},
		{"exec_command", `{"cmd":"git push"}`, "exec git [push]"},
		{"shell", `{"command":["git",5]}`, "exec ? []"},
		{"shell", `{"command":[]}`, "exec ? []"},
		{"Bash", `{}`, "exec ? []"},
		{"view", `{"path":"a"}`, "fs read /w/a"},
		{"read_file", `{"absolute_path":"/x/a"}`, "fs read /x/a"},
		{"read_file", `{"target_file":"a","path":"a"}`, "fs read /w/a"},
		{"read_file", `{"file_path":"a","path":"/etc/shadow"}`, "fs read ?"},
		{"create", `{"path":"a"}`, "fs write /w/a"},
		{"replace", `{"file_path":"a"}`, "fs write /w/a"},
		{"apply_patch", `{"input":"*** Begin Patch"}`, "fs write ?"},
		{"web_fetch", `{"url":"https://a.b/"}`, "net a.b"},
		{"google_web_search", `{"query":"x"}`, "net *"},
	})
	for tool, want := range map[string]string{"Edit": "edit", "MultiEdit": "edit", "replace": "edit", "Write": "",
		"NotebookEdit": "", "Read": ""} {
		if got := (&Call{Tool: tool}).Operations().Edited.Str(); got != want {
			t.Errorf("%s: edited is %q, want %q", tool, got, want)
		}
	}
}

// Agents may expand ~ and remove spaces, so these are not what they look like.
func TestFault_157_Unsure(t *testing.T) {
	testMap(t, "/w", []mapped{
		{"Write", `{"file_path":"~/.bashrc"}`, "fs write ?"},
		{"Edit", `{"file_path":" /etc/passwd"}`, "fs write ?"},
		{"replace", `{"file_path":"a "}`, "fs write ?"},
		{"create", `{"path":"~u/a"}`, "fs write ?"},
		{"Edit", `{"file_path":"./~/a "}`, "fs write ?"},
		{"Edit", `{"file_path":"./~/a"}`, "fs write /w/~/a"},
		{"Glob", `{"pattern":"~/.ssh/*"}`, "fs read ?"},
		{"Glob", `{"pattern":"{/etc/passwd,x}"}`, "fs read ?"},
		{"Glob", `{"path":"/w","pattern":"src/{a,..}/../../etc/*"}`, "fs read ?"},
		{"Glob", `{"pattern":"**/*.{ts,tsx}"}`, "fs read /w/**/*.{ts,tsx}"},
		{"Glob", `{"path":"~","pattern":"*"}`, "fs read ?"},
		{"Grep", `{"path":"/w/","pattern":"~ "}`, "fs read /w"},
		{"Grep", `{"path":"~/","pattern":"a"}`, "fs read ?"},
	})
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
		input, err := ParseValue([]byte(c.input))
		if err != nil {
			t.Fatal(err)
		}
		read, fetch := (&Call{Tool: "Read", Input: input, Dir: "/w"}).Operations(), (&Call{Tool: "WebFetch",
			Input: input}).Operations()
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
		folder, name, want string
		absolute           bool
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
		if got, absolute := Resolve(test.folder, test.name); got != test.want || absolute != test.absolute {
			t.Errorf("Resolve(%q, %q): %q, %v", test.folder, test.name, got, absolute)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "..", ".", "", "/", `\`, "C:", "b c"})
		folder := strings.Join(rapid.SliceOfN(part, 0, 5).Draw(t, "folder"), "/")
		name := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "name"), "/")
		got, absolute := Resolve(folder, name)
		if again, still := Resolve("", got); again != got || still != absolute {
			t.Fatalf("%q in %q: %q (%v), and of that %q (%v)", name, folder, got, absolute, again, still)
		}
		if absolute && slices.Contains(strings.Split(got, "/"), "..") {
			t.Fatalf("%q in %q: %q", name, folder, got)
		}
	})
}

// Words that are quoted come back as they were, whatever is in them.
func TestTokensOfQuotedWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.String()).Draw(t, "words")
		double := rapid.Bool().Draw(t, "double")
		var line []string
		for _, w := range words {
			if double {
				line = append(line, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w)+`"`)
			} else {
				line = append(line, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
			}
		}
		got := shell.Tokens(strings.Join(line, " "))
		if len(got) != len(words) {
			t.Fatalf("%d words: %v", len(words), got)
		}
		for i := range got {
			if got[i].Operator || got[i].Text != words[i] {
				t.Fatalf("%q: %v", words[i], got[i])
			}
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
			"powershell Shell run_terminal_cmd"},
		{Execute, "PowerShell"},
		{Execute, "Monitor"},
		{Read, "Read read_file read_many_files fs_read view view_image"},
		{Read, "NotebookRead"},
		{Write, "Write write_file fs_write create create_file"},
		{Write, "Edit replace edit edit_file str_replace apply_patch Delete delete_file"},
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
	if got := Known("write_stdin"); got != (Tool{Capability: Execute}) {
		t.Errorf("write_stdin, which no other agent has: %+v", got)
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
