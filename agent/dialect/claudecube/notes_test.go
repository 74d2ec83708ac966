package claudecube

import (
	"fmt"
	"slices"
	"testing"
)

func TestNotes(t *testing.T) {
	for _, c := range []struct{ rules, want string }{
		{rule(1, "deny", "Bash", ""), ""},
		{rule(1, "deny", "Bash", "command", `regex \brm\b`), ""},
		{rule(1, "allow", "Bash", "command", `regex ^ls$`), ""},
		{rule(1, "deny", "Edit", "file_path", `glob **/.env`, `glob /etc/**`, `literal /etc/passwd`, `regex ^/etc`),
			""},
		{rule(1, "deny", "mcp__github__push|run_shell_command", "x", "literal y"), ""},
		{rule(1, "deny", "Bash", "comand", "regex x"),
			`the rule "R1" asks for comand, which no use of Bash has; they have command, description, timeout, run_in_background`},
		{rule(1, "deny", "Write|Edit", "content", "regex x"), ""},
		{rule(1, "deny", "BASH", ""), `the rule "R1" is about BASH, and the tool's name is Bash`},
		{rule(1, "deny", "Wobble", ""), `the rule "R1" is about Wobble, which is not a known tool`},
		{rule(1, "deny", "Bash", "command", "literal ^rm"),
			`the rule "R1", the field command, the literal "^rm": the whole value must be this text; write "type: regex" or "type: glob" if it is one`},
		{rule(1, "deny", "Bash", "command", "literal rm x"),
			`the rule "R1", the field command, the literal "rm x": the command with one more space is not denied; write a regex`},
		{rule(1, "allow", "Bash", "command", "literal npm test"), ""},
		{rule(1, "deny", "Bash", "command", "regex "),
			`the rule "R1", the field command, the regex "": it matches every value`},
		{rule(1, "allow", "Bash", "command", "regex ls$"),
			`the rule "R1", the field command, the regex "ls$": it is found anywhere in a command, so whatever comes before it is allowed too; begin it with ^`},
		{rule(1, "allow", "Bash", "command", "regex ^ls"),
			`the rule "R1", the field command, the regex "^ls": whatever follows in a command is allowed too, as in "...; rm -rf ."; end it with [^;&|<>$()\x60\n]*$`},
		{rule(1, "deny", "Edit", "file_path", "regex ^src/"),
			`the rule "R1", the field file_path, the regex "^src/": agents give absolute paths, which begin differently; write (^|/) for ^`},
		{rule(1, "deny", "Edit", "file_path", "regex ^app/"),
			`the rule "R1", the field file_path, the regex "^app/": agents give absolute paths, which begin differently; write (^|/) for ^`},
		{rule(1, "deny", "Edit", "file_path", "regex ^Zoo/"),
			`the rule "R1", the field file_path, the regex "^Zoo/": agents give absolute paths, which begin differently; write (^|/) for ^`},
		{rule(1, "deny", "Edit", "file_path", "regex ^"), ""},
		{rule(1, "deny", "Edit", "file_path", "glob src/*.ts"),
			`the rule "R1", the field file_path, the glob "src/*.ts": agents give absolute paths, which it does not match; begin it with / or **/`},
		{rule(1, "deny", "Edit", "file_path", "literal src/a.ts"),
			`the rule "R1", the field file_path, the literal "src/a.ts": agents give absolute paths, which it does not match; begin it with / or **/`},
		{rule(1, "allow", "Edit", "file_path", "glob src/*.ts"),
			`the rule "R1", the field file_path, the glob "src/*.ts": a wildcard does not begin a name with a dot, as in micromatch; agents give absolute paths, which it does not match; begin it with / or **/`},
		{rule(1, "allow", "Edit", "file_path", "glob /p/**"),
			`the rule "R1", the field file_path, the glob "/p/**": a wildcard does not begin a name with a dot, as in micromatch`},
		{"  - {name: R1, action: deny, tool: Bash, match: {command: [{pattern: \"rm\\n\", type: regex}]}}\n",
			`the rule "R1", the field command, the regex "rm\n": it ends with a line feed; write it after the colon, or with "|-"`},
		{"  - {name: R1, action: deny, tool: Write, match: {file_path: [{pattern: x, type: regex}], content: [{pattern: x, type: regex}]}}\n", `the rule "R1" has several fields, of which any one is enough; write a pattern of one field if all must match`},
		{rule(1, "deny", "Bash", "") + rule(1, "deny", "Edit", ""),
			`the rule "R1" has the same name as the rule in line 4; outcomes show the name, so give each its own`},
		{rule(1, "allow", "Bash", "command", "literal ls") + rule(2, "deny", "Bash|Edit", ""),
			`the rule "R1" never decides: "R2", in line 10, comes first and matches every use of Bash`},
		{rule(1, "escalate", "Bash|Edit", "") + rule(2, "deny", "Bash", ""), ""},
		{rule(1, "escalate", "Bash", "") + rule(2, "escalate", "Bash", ""),
			`the rule "R2" never decides: "R1", in line 4, comes first and matches every use of Bash`},
	} {
		set := read(t, head+c.rules)
		var got []string
		for _, n := range set.Notes {
			if n.Origin.File != "rules.yaml" || n.Origin.Line < 4 {
				t.Errorf("%v: a note without its place", n)
			}
			got = append(got, n.Text)
		}
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || got[0] != c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.rules, got, c.want)
		}
	}
}

func TestNotesOfTheWholeFile(t *testing.T) {
	for text, want := range map[string]string{
		"version: \"1\"\ndefaults: {}\nrules: []\n": "[3 there are no rules; every call gets the default, escalate]",
		"version: \"2\"\ndefaults: {}\nrules:\n" +
			rule(1, "deny", "Bash", ""): `[1 the version is "2"; the form that is read is that of version "1"]`,
		"version: \"1\"\ndefaults: {unmatched: allow}\nrules:\n" +
			rule(1, "deny", "Bash", ""): `[2 calls that no rule is about are allowed; write escalate or deny, in case an agent gets a new tool]`,
	} {
		var got []string
		for _, n := range read(t, text).Notes {
			got = append(got, fmt.Sprint(n.Origin.Line, " ", n.Text))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

// The notes about the rules that the document ships with say what slips through them.
func TestRow_2_23_Notes(t *testing.T) {
	var lines []int
	for _, n := range shipped(t).Notes {
		lines = append(lines, n.Origin.Line)
	}
	if want := []int{46, 48}; !slices.Equal(lines, want) {
		t.Errorf("notes at %v, want %v: the two patterns of commands that are allowed", lines, want)
	}
}
