package call

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

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
