package claudecube

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
)

var public = flag.String("claudecube", "", "a file of rules in this form, which must load")

// head is a file up to its rules.
const head = "version: \"1\"\ndefaults: {unmatched: escalate}\nrules:\n"

func read(t testing.TB, text string) *callrules.Set {
	t.Helper()
	set, err := Read(&document.Source{Name: "rules.yaml", Text: []byte(text)})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return set
}

func uses(tool, input string) *call.Call {
	v, err := call.ParseValue([]byte(input))
	if err != nil {
		panic(err)
	}
	return &call.Call{Tool: tool, Input: v}
}

// decides checks a set's decision on a call and, unless it is "", the rule; "-" means no rule.
func decides(t *testing.T, set *callrules.Set, tool, input, decision, rule string) {
	t.Helper()
	out := set.Decide(uses(tool, input), callrules.Options{})
	got := "-"
	if out.Rule != nil {
		got = out.Rule.ID
	}
	if out.Decision != decision || rule != "" && got != rule {
		t.Errorf("%s %s: %s by %s, want %s by %s", tool, input, out.Decision, got, decision, rule)
	}
}

// rule is a rule, named by its number, of one field and patterns that are "type text".
func rule(n int, action, tool, field string, patterns ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: R%d\n    action: %s\n    tool: %q\n", n, action, tool)
	if field != "" {
		fmt.Fprintf(&b, "    match:\n      %q:\n", field)
	}
	for _, p := range patterns {
		kind, text, _ := strings.Cut(p, " ")
		fmt.Fprintf(&b, "        - {pattern: %s, type: %s}\n", quoteYAML(text), kind)
	}
	return b.String()
}

func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Mistakes of a file, and where they are. "Zod strips unknown keys" is not followed: they are mistakes.
var mistakes = []struct {
	row, text, at, found string
}{
	{"2_01_Version", "defaults: {}\nrules: []\n", "1:1", `no "version"`},
	{"2_01_VersionIsAString", "version: 1\ndefaults: {}\nrules: []\n", "1:10", `"version" is the YAML value "1"`},
	{"2_01_Defaults", "version: \"1\"\nrules: []\n", "1:1", `no "defaults"`},
	{"2_01_DefaultsIsAMap", "version: \"1\"\ndefaults:\nrules: []\n", "2:10", `"defaults" is empty`},
	{"2_01_Rules", "version: \"1\"\ndefaults: {}\n", "1:1", `no "rules"`},
	{"2_01_RulesIsAList", "version: \"1\"\ndefaults: {}\nrules: {}\n", "3:8", `"rules" is a mapping`},
	{"2_01_RulesIsNull", "version: \"1\"\ndefaults: {}\nrules:\n", "3:7", `"rules" is empty`},
	{"2_01_UnknownKey", "version: \"1\"\ndefaults: {}\nrules: []\nnotes: x\n", "4:1",
		`unknown key "notes" in the file`},
	{"2_01_OwnKey", "version: \"1\"\ndefaults: {}\nrules: []\nx-notes: x\n", "4:1",
		`unknown key "x-notes" in the file`},
	{"2_01_Empty", "# nothing\n", "", "the file is empty"},
	{"2_01_EmptyMapping", "{}\n", "", "the file is empty"},
	{"2_01_NotAMapping", "- a\n", "1:1", "the file is a list"},
	{"2_01_NotYAML", "version: \"1\n", "2", "not YAML"},
	{"2_01_TwoDocuments", head + "  []\n---\nversion: \"1\"\n", "5:1", "a second document"},
	{"2_01_Anchor", "version: &v \"1\"\ndefaults: {}\nrules: []\n", "1:10", `the anchor "&v"`},
	{"2_01_Merge", "version: \"1\"\ndefaults:\n  <<: {unmatched: allow}\nrules: []\n", "3:3", "the merge key"},
	{"2_01_Tag", "version: !!str 1\ndefaults: {}\nrules: []\n", "1:10", `the tag "!!str"`},
	{"2_01_TagOfNothing", "version: ! 1\ndefaults: {}\nrules: []\n", "1:10", `the tag "!"`},
	{"2_01_LineEnd", "version: \"1\"\rrules: []\n", "1:13", "a carriage return that is not part of a CRLF"},
	{"2_01_LineEndUnicode", "# a\nversion: \"\u2028\"\n", "2:11", "the line separator U+2028"},
	{"2_01_Directive", "%YAML 1.1\n---\nversion: \"1\"\n", "1:1", "a YAML directive"},
	{"2_01_KeyTwice", "version: \"1\"\ndefaults: {}\nrules: []\nversion: \"2\"\n", "4:1",
		`duplicate key "version", first on line 1`},
	{"2_01_KeyIsAList", "version: \"1\"\ndefaults: {}\nrules: []\n? [a]\n: b\n", "4:3", "a key that is not a string"},
	{"2_01_Deep", head + "  " + strings.Repeat("[", 120) + strings.Repeat("]", 120) + "\n", "4:103",
		"nested deeper than 100 levels"},
	{"2_01_UTF8", "version: \"\xff\"\n", "1:11", "the byte 0xFF is not UTF-8"},
	{"2_02_Unmatched", "version: \"1\"\ndefaults: {unmatched: ask}\nrules: []\n", "2:23", `the unmatched "ask"`},
	{"2_02_UnmatchedNull", "version: \"1\"\ndefaults:\n  unmatched:\nrules: []\n", "3:13", `"unmatched" has no value`},
	{"2_02_UnknownDefault", "version: \"1\"\ndefaults: {unmached: deny}\nrules: []\n", "2:12",
		`unknown key "unmached" in "defaults"`},
	{"2_03_BudgetZero", "version: \"1\"\ndefaults: {max_budget_per_agent: 0}\nrules: []\n", "2:34",
		`"max_budget_per_agent" is 0`},
	{"2_03_BudgetNegative", "version: \"1\"\ndefaults: {max_budget_per_agent: -0.5}\nrules: []\n", "2:34",
		`"max_budget_per_agent" is -0.5`},
	{"2_03_BudgetText", "version: \"1\"\ndefaults: {max_budget_per_agent: \"5\"}\nrules: []\n", "2:34",
		`"max_budget_per_agent" is not a decimal number`},
	{"2_03_BudgetInfinite", "version: \"1\"\ndefaults: {max_budget_per_agent: .inf}\nrules: []\n", "2:34",
		`"max_budget_per_agent" is not a decimal number`},
	{"2_03_TurnsFraction", "version: \"1\"\ndefaults: {max_turns_per_agent: 1.5}\nrules: []\n", "2:33",
		`"max_turns_per_agent" is 1.5`},
	{"2_03_TurnsZero", "version: \"1\"\ndefaults: {max_turns_per_agent: 0}\nrules: []\n", "2:33",
		`"max_turns_per_agent" is 0`},
	{"2_04_Name", head + "  - {action: deny, tool: Bash}\n", "4:5", `no "name"`},
	{"2_04_NameIsANumber", head + "  - {name: 5, action: deny, tool: Bash}\n", "4:12", `"name" is the YAML value "5"`},
	{"2_04_NameBlank", head + "  - {name: ' ', action: deny, tool: Bash}\n", "4:12", `"name" is blank`},
	{"2_04_Action", head + "  - {name: N, tool: Bash}\n", "4:5", `no "action"`},
	{"2_04_ActionWord", head + "  - {name: N, action: block, tool: Bash}\n", "4:23", `the action "block"`},
	{"2_04_ActionCase", head + "  - {name: N, action: Deny, tool: Bash}\n", "4:23", `the action "Deny"`},
	{"2_04_Tool", head + "  - {name: N, action: deny}\n", "4:5", `no "tool"`},
	{"2_04_ReasonIsNull", head + "  - {name: N, action: deny, tool: Bash, reason: }\n", "4:49",
		`"reason" has no value`},
	{"2_04_UnknownKey", head + "  - {name: N, action: deny, tool: Bash, priority: 5}\n", "4:41",
		`unknown key "priority" in the rule`},
	{"2_04_OwnKey", head + "  - {name: N, action: deny, tool: Bash, x-owner: me}\n", "4:41",
		`unknown key "x-owner" in the rule`},
	{"2_04_RuleIsAText", head + "  - N\n", "4:5", "the rule is a string"},
	{"2_04_MatchIsNull", head + "  - {name: N, action: deny, tool: Bash, match: }\n", "4:48", `"match" is empty`},
	{"2_05_Type", head + "  - {name: N, action: deny, tool: Bash, match: {command: [{pattern: a, type: regexp}]}}\n",
		"4:78", `the type "regexp"`},
	{"2_05_Pattern", head + "  - {name: N, action: deny, tool: Bash, match: {command: [{type: regex}]}}\n", "4:59",
		`no "pattern"`},
	{"2_05_PatternIsANumber", head + "  - {name: N, action: deny, tool: Bash, match: {command: [{pattern: 5}]}}\n",
		"4:69", `"pattern" is the YAML value "5"`},
	{"2_05_PatternIsAText", head + "  - {name: N, action: deny, tool: Bash, match: {command: [rm]}}\n", "4:59",
		"the pattern is a string"},
	{"2_05_FieldIsAText", head + "  - {name: N, action: deny, tool: Bash, match: {command: rm}}\n", "4:58",
		`the field "command" is a string`},
	{"2_05_UnknownKey", head + "  - {name: N, action: deny, tool: Bash, match: {command: [{pattern: a, flags: i}]}}\n",
		"4:72", `unknown key "flags" in the pattern`},
	{"2_08_Negated", head + "  - {name: N, action: deny, tool: Edit, match: {file_path: [{pattern: '!src/**', type: glob}]}}\n", "4:71", `the field "file_path", the pattern "!src/**": a leading "!"`},
	{"2_08_Extglob", head + "  - {name: N, action: deny, tool: Edit, match: {file_path: [{pattern: '**/+(a|b)', type: glob}]}}\n", "4:71", `the field "file_path", the pattern "**/+(a|b)": "+("`},
	{"2_09_Blank", head + "  - {name: N, action: deny, tool: 'Write | Edit'}\n", "4:35",
		`the tool "Write ", with a space`},
	{"2_09_Empty", head + "  - {name: N, action: deny, tool: ''}\n", "4:35", `"tool" is empty`},
	{"2_09_EmptySide", head + "  - {name: N, action: deny, tool: 'Write|'}\n", "4:35", `no name on one side of a "|"`},
	{"2_09_Glob", head + "  - {name: N, action: deny, tool: 'mcp__*'}\n", "4:35",
		`the tool "mcp__*": names are compared exactly`},
	{"2_09_Regex", head + "  - {name: N, action: deny, tool: '^Write$'}\n", "4:35",
		`the tool "^Write$": names are compared exactly`},
	{"2_09_Twice", head + "  - {name: N, action: deny, tool: 'Write|Write'}\n", "4:35",
		`the tool "Write" occurs twice`},
	{"2_13_EmptyMatch", head + "  - {name: N, action: deny, tool: Bash, match: {}}\n", "4:48", `"match" has no field`},
	{"2_13_EmptyField", head + "  - {name: N, action: deny, tool: Bash, match: {command: []}}\n", "4:58",
		`the field "command" has no pattern`},
	{"2_14_EmptyPart", head + "  - {name: N, action: deny, tool: Bash, match: {a..b: [{pattern: x}]}}\n", "4:49",
		`the field "a..b" has an empty part`},
	{"2_14_FieldIsANumber", head + "  - {name: N, action: deny, tool: Bash, match: {5: [{pattern: x}]}}\n", "4:49",
		`a field whose name is the YAML value "5"`},
	{"2_16_InvalidRegex", head + "  - {name: N, action: deny, tool: Bash, match: {command: [{pattern: 'a(', type: regex}]}}\n", "4:69", `the field "command", the pattern "a(": a ( that is not closed`},
	{"2_07_LookAhead", head + "  - {name: N, action: deny, tool: Bash, match: {command: [{pattern: 'rm (?!x)', type: regex}]}}\n", "4:69", `the field "command", the pattern "rm (?!x)": look-ahead`},
	{"2_07_BackReference", head + "  - {name: N, action: deny, tool: Bash, match: {command: [{pattern: '(a)\\1', type: regex}]}}\n", "4:69", `the back-reference \1`},
	{"Column_InBytes", head + "  - {name: é, action: déný, tool: Bash}\n", "4:24", `the action "déný"`},
}

func TestMistakes(t *testing.T) {
	for _, c := range mistakes {
		t.Run("Row_"+c.row, func(t *testing.T) {
			set, err := Read(&document.Source{Name: "r.yaml", Text: []byte(c.text)})
			var list document.Errors
			if !errors.As(err, &list) || set != nil {
				t.Fatalf("set %v, error %v", set, err)
			}
			for _, e := range list {
				if e.Fix == "" {
					t.Errorf("%v: nothing to do", e)
				}
				at := strings.TrimSuffix(fmt.Sprintf("%d:%d", e.Line, e.Column), ":0")
				if e.Line == 0 {
					at = ""
				}
				if len(list) == 1 && at == c.at && strings.Contains(e.Found, c.found) {
					return
				}
			}
			t.Errorf("want %s: %s; got\n%v", c.at, c.found, err)
		})
	}
}

func TestRow_2_01_Alias(t *testing.T) {
	_, err := Read(&document.Source{Name: "r.yaml",
		Text: []byte("version: &v \"1\"\ndefaults: {unmatched: *v}\nrules: []\n")})
	if want := `r.yaml:1:10: the anchor "&v"; remove it, or quote it if it is text` + "\n" +
		`r.yaml:2:23: the alias "*v"; write out what it refers to, or quote it if it is text`; err == nil ||
		err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Limits, of which none is reached by a file that somebody wrote.
func TestLimits(t *testing.T) {
	many := func(n int, item string) string { return strings.Repeat(item, n) }
	pattern := func(n int) string { return rule(1, "deny", "Bash", "command", "literal "+many(n, "a")) }
	for _, c := range []struct{ text, found string }{
		{head + pattern(document.MaxPatternBytes), ""},
		{head + pattern(document.MaxPatternBytes+1), "a pattern of 65537 bytes"},
		{head + many(document.MaxRules, "- {name: N, action: deny, tool: T}\n"), ""},
		{head + many(document.MaxRules+1, "- {name: N, action: deny, tool: T}\n"), "10001 rules"},
		{head + pattern(1) + "#" + many(document.MaxFileBytes, "a"), "larger than 4194304 bytes"},
		{"version: \"1\"\ndefaults: {max_budget_per_agent: 9007199254740993}\nrules: []\n", ""},
		{"version: \"1\"\ndefaults: {max_budget_per_agent: 1e17}\nrules: []\n", `"max_budget_per_agent" is "1e17"`},
	} {
		_, err := Read(&document.Source{Name: "r.yaml", Text: []byte(c.text)})
		if (err == nil) != (c.found == "") || err != nil && !strings.Contains(err.Error(), c.found) {
			t.Errorf("%.80s: %.200v, want %q", c.text, err, c.found)
		}
	}
	_, err := Read(&document.Source{Name: "r.yaml", Text: []byte(head + many(4000, "- {}\n"))})
	var list document.Errors
	if !errors.As(err, &list) || len(list) != 10_001 || !strings.Contains(err.Error(), "more than 10000 mistakes") {
		t.Errorf("%d mistakes of 12,000 are reported", len(list))
	}
}

// "throws an error with the rule name, field, and pattern", and "throws on any validation error": here, on all of
// them at once, in the order of the file.
func TestRow_2_16_AllMistakes(t *testing.T) {
	text := "version: 2\nbogus: 1\ndefaults: {unmatched: no}\nrules:\n" +
		rule(1, "deny", "Bash", "command", "regex (") + rule(2, "denied", "Bash", "") +
		"  - {name: R3, action: deny, tool: ' '}\n"
	_, err := Read(&document.Source{Name: "r.yaml", Text: []byte(text)})
	var list document.Errors
	if !errors.As(err, &list) {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprintf("%d %s", e.Line, e.Rule))
	}
	if want := "[1  2  3  10 R1 12 R2 14 R3]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s\n%v", got, want, err)
	}
	if want := `r.yaml:10:21: rule "R1": the field "command", the pattern "(": a ( that is not closed; close it, or write \( for the character`; list[3].Error() != want {
		t.Errorf("got  %s\nwant %s", list[3], want)
	}
}

func TestRow_2_16_Summary(t *testing.T) {
	set := read(t, head+rule(1, "allow", "Read", "")+rule(2, "deny", "Bash", "")+rule(3, "allow", "Grep", "")+rule(4,
		"escalate", "Edit", ""))
	if got, want := set.Summary(), "4 rules: 1 deny, 2 allow, 1 escalate"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// "unmatched: ... .default("escalate")".
func TestRow_2_02_Unmatched(t *testing.T) {
	for defaults, want := range map[string]string{"{}": "escalate", "{unmatched: escalate}": "escalate",
		"{unmatched: deny}": "deny", "{unmatched: allow}": "allow"} {
		set := read(t, "version: \"1\"\ndefaults: "+defaults+"\nrules: []\n")
		out := set.Decide(uses("Bash", `{}`), callrules.Options{})
		if out.Decision != want || out.Rule != nil || out.Reason != "No matching rule; default action: "+want {
			t.Errorf("%s: %s, %v, %q", defaults, out.Decision, out.Rule, out.Reason)
		}
	}
}

// "NOT ENFORCED (placeholder)".
func TestRow_2_03_Placeholders(t *testing.T) {
	set := read(t, "version: \"1\"\ndefaults:\n  max_budget_per_agent: 5.00\n  max_turns_per_agent: 50.0\nrules: []\n")
	for i, want := range []string{`3 "max_budget_per_agent" is a placeholder and is not enforced`,
		`4 "max_turns_per_agent" is a placeholder and is not enforced`} {
		if got := fmt.Sprint(set.Notes[i].Origin.Line, " ", set.Notes[i].Text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	decides(t, set, "Bash", `{}`, "escalate", "-")
}

// "literal (default): Exact string equality".
func TestRow_2_05_2_06_Literal(t *testing.T) {
	for _, kind := range []string{"", ", type: literal"} {
		set := read(t, head+"  - {name: N, action: allow, tool: Bash, match: {command: [{pattern: npm test"+kind+"}]}}\n")
		decides(t, set, "Bash", `{"command": "npm test"}`, "allow", "N")
		for _, other := range []string{"npm test && rm -rf /", "npm test ", "npm  test", "NPM test", "npm", ""} {
			decides(t, set, "Bash", fmt.Sprintf(`{"command": %q}`, other), "escalate", "-")
		}
	}
}

// "new RegExp(pattern.pattern).test(value)".
func TestRow_2_07_Regex(t *testing.T) {
	set := read(t, head+rule(1, "deny", "Bash", "command", `regex git\s+push`)+rule(2, "allow", "Bash", "command",
		`regex ^ls$`))
	decides(t, set, "Bash", `{"command": "cd a; git \ufeffpush"}`, "deny", "R1")
	decides(t, set, "Bash", `{"command": "GIT push"}`, "escalate", "-")
	decides(t, set, "Bash", `{"command": "ls"}`, "allow", "R2")
	decides(t, set, "Bash", `{"command": "x\nls"}`, "escalate", "-")
	decides(t, set, "Bash", `{"command": "ls\n"}`, "escalate", "-")
}

// "Tool name matching is exact string comparison (not regex or glob)."
func TestRow_2_09_Tools(t *testing.T) {
	set := read(t, head+rule(1, "deny", "Write|Edit", ""))
	decides(t, set, "Write", `{}`, "deny", "R1")
	decides(t, set, "Edit", `{}`, "deny", "R1")
	for _, tool := range []string{"MultiEdit", "write", "Write|Edit", "Writ", "write_file", "Write "} {
		decides(t, set, tool, `{}`, "escalate", "-")
	}
}

// "If any field's patterns match, the rule matches."
func TestRow_2_10_OrAcrossFields(t *testing.T) {
	set := read(t, head+`  - name: N
    action: allow
    tool: Write
    match:
      file_path: [{pattern: "/a"}]
      content: [{pattern: "b"}]
`)
	decides(t, set, "Write", `{"file_path": "/a", "content": "c"}`, "allow", "N")
	decides(t, set, "Write", `{"file_path": "/c", "content": "b"}`, "allow", "N")
	decides(t, set, "Write", `{"file_path": "/c", "content": "c"}`, "escalate", "-")
}

// "If any pattern in a field's array matches, that field matches."
func TestRow_2_11_OrWithinAField(t *testing.T) {
	set := read(t, head+rule(1, "deny", "Bash", "command", "literal a", "regex ^b", "glob c*"))
	for _, command := range []string{"a", "bx", "cx"} {
		decides(t, set, "Bash", fmt.Sprintf(`{"command": %q}`, command), "deny", "R1")
	}
	decides(t, set, "Bash", `{"command": "x"}`, "escalate", "-")
}

// "If a field specified in match is not present in the tool input, that field is skipped."
func TestRow_2_12_MissingFields(t *testing.T) {
	set := read(t, head+"  - {name: N, action: deny, tool: Edit, match: {file_path: [{pattern: '', type: regex}], path: [{pattern: a}]}}\n")
	decides(t, set, "Edit", `{"path": "a"}`, "deny", "N")
	decides(t, set, "Edit", `{"file_path": ""}`, "deny", "N")
	decides(t, set, "Edit", `{}`, "escalate", "-")
	if out := set.Decide(&call.Call{Tool: "Edit"}, callrules.Options{}); out.Decision != "escalate" {
		t.Errorf("a call without an input: %s", out.Decision)
	}
}

// "If match is omitted entirely, the rule matches all uses of the specified tool(s)."
func TestRow_2_13_NoMatch(t *testing.T) {
	set := read(t, head+rule(1, "allow", "Read", ""))
	decides(t, set, "Read", `{"file_path": "/etc/shadow"}`, "allow", "R1")
	decides(t, set, "Read", `{}`, "allow", "R1")
}

// "Field names support dot-notation for nested access".
func TestRow_2_14_Nested(t *testing.T) {
	set := read(t, head+rule(1, "deny", "Edit", "nested.field", "literal x")+rule(2, "deny", "MultiEdit",
		"edits.1.new_string", "literal x"))
	decides(t, set, "Edit", `{"nested": {"field": "x"}}`, "deny", "R1")
	decides(t, set, "Edit", `{"nested.field": "x"}`, "escalate", "-")
	decides(t, set, "Edit", `{"nested": "x"}`, "escalate", "-")
	decides(t, set, "MultiEdit", `{"edits": [{}, {"new_string": "x"}]}`, "deny", "R2")
	decides(t, set, "MultiEdit", `{"edits": [{"new_string": "x"}]}`, "escalate", "-")
}

// Numbers and booleans are compared as JavaScript writes them, lists too if that only makes a decision stricter; null
// is missing, and objects have no string.
func TestRow_2_15_Scalars(t *testing.T) {
	set := read(t, head+rule(1, "deny", "Bash", "timeout", "literal 5", "literal true", "literal null",
		"literal [object Object]", "literal 1,2", "literal 1e+21"))
	for input, want := range map[string]string{`5`: "deny", `5.0`: "deny", `"5"`: "deny", `true`: "deny",
		`1e21`: "deny", `null`: "escalate", `{}`: "escalate", `[1,2]`: "deny", `[[1,2]]`: "deny", `[1,3]`: "escalate",
		`[{}]`: "deny", `[[true]]`: "deny", `[null]`: "escalate", `false`: "escalate"} {
		decides(t, set, "Bash", `{"timeout": `+input+`}`, want, "")
	}
	for _, c := range []struct{ unmatched, action, want string }{
		{"allow", "deny", "deny"}, {"allow", "escalate", "escalate"}, {"deny", "allow", "deny"},
		{"escalate", "allow", "escalate"},
		{"deny", "escalate", "deny"}, // what the default denies is not asked about for a list's text
	} {
		for _, pattern := range []string{"literal rm,-rf,x", "regex rm", "glob rm,-rf,*"} {
			text := "version: \"1\"\ndefaults: {unmatched: " + c.unmatched + "}\nrules:\n" +
				rule(1, c.action, "Bash", "command", pattern)
			decides(t, read(t, text), "Bash", `{"command": ["rm", "-rf", "x"]}`, c.want, "")
		}
	}
}

// "Check all deny rules. ... Check all allow rules. ... Check all escalate rules. ... Within each category, rules are
// evaluated in array order (the order they appear in the YAML file). First match wins."
func TestRow_2_17_18_19_Order(t *testing.T) {
	escalate, allow, deny := "  - {name: E, action: escalate, tool: Bash}\n", "  - {name: A, action: allow, tool: Bash, match: {command: [{pattern: a}, {pattern: b}]}}\n", "  - {name: D, action: deny, tool: Bash, match: {command: [{pattern: b}]}}\n"
	for _, order := range []string{escalate + allow + deny, deny + allow + escalate, allow + escalate + deny, allow +
		deny + escalate} {
		set := read(t, head+order)
		decides(t, set, "Bash", `{"command": "b"}`, "deny", "D")
		decides(t, set, "Bash", `{"command": "a"}`, "allow", "A")
		decides(t, set, "Bash", `{"command": "c"}`, "escalate", "E")
	}
	for _, action := range []string{"deny", "allow", "escalate"} {
		set := read(t, head+rule(1, action, "Bash", "command", "literal b")+rule(2, action, "Bash", "command",
			"literal a")+rule(3, action, "Bash", "command", "literal a"))
		decides(t, set, "Bash", `{"command": "a"}`, action, "R2")
	}
}

// "returns { action: defaultAction, rule: null, reason }", and the other reasons.
func TestRow_2_20_21_Reasons(t *testing.T) {
	for _, action := range []string{"deny", "allow", "escalate"} {
		verb := map[string]string{"deny": "Denied", "allow": "Allowed", "escalate": "Escalated"}[action]
		set := read(t, head+"  - {name: N, action: "+action+", tool: Bash}\n  - {name: M, action: "+action+", tool: Edit, reason: Because}\n")
		for tool, want := range map[string]string{"Bash": verb + " by rule: N", "Edit": "Because",
			"Read": "No matching rule; default action: escalate"} {
			if out := set.Decide(uses(tool, `{}`), callrules.Options{}); out.Reason != want {
				t.Errorf("%s: got %q, want %q", tool, out.Reason, want)
			}
		}
	}
}

func shipped(t *testing.T) *callrules.Set {
	text, err := os.ReadFile("../../../examples/agent/dialects/claudecube-defaults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(text))
}

// "Stateless ... The same input always produces the same output." "Thread-safe: Can evaluate multiple tool calls
// concurrently."
func TestRow_2_22_Concurrent(t *testing.T) {
	set := shipped(t)
	type want struct{ tool, input, decision string }
	wants := []want{
		{"Bash", `{"command": "rm -rf /"}`, "deny"}, {"Bash", `{"command": "git status"}`, "allow"},
		{"Bash", `{"command": "curl x"}`, "escalate"}, {"Edit", `{"file_path": "/p/src/a.ts"}`, "allow"},
	}
	var group sync.WaitGroup
	for i := range 1000 {
		group.Go(func() {
			w := wants[i%len(wants)]
			for range 5 {
				if out := set.Decide(uses(w.tool, w.input),
					callrules.Options{Trace: i%3 == 0}); out.Decision != w.decision {
					t.Errorf("%s: %s", w.input, out.Decision)
				}
			}
		})
	}
	group.Wait()
}

// Every consequence of the table "2.2 Default Rules", what slips through included.
func TestRow_2_23_2_24_ShippedRules(t *testing.T) {
	set := shipped(t)
	const destructive, push, sensitive, readOnly, src, dev = "Block destructive commands", "Block force push", "Block sensitive file edits", "Allow read-only tools", "Allow edits within src/", "Allow safe dev commands"
	for _, c := range []struct{ tool, value, decision, rule string }{
		// Deny rules, checked first.
		{"Bash", "rm -rf /", "deny", destructive},
		{"Bash", "rm /etc/passwd", "deny", destructive},
		{"Bash", "rm -f /x", "deny", destructive},
		{"Bash", "rm\t-Rf\n/x", "deny", destructive},
		{"Bash", "echo 'rm /'", "deny", destructive},
		{"Bash", "git status; rm -rf /", "deny", destructive},
		{"Bash", "git push --force", "deny", push},
		{"Bash", "git  push origin main --force-with-lease", "deny", push},
		{"Bash", "npm run x && git push x --force", "deny", push},
		{"Write", "/p/.env", "deny", sensitive},
		{"Edit", "/p/src/.env", "deny", sensitive},
		{"Edit", "/p/key.pem", "deny", sensitive},
		{"Edit", "/p/src/secret.ts", "deny", sensitive},
		{"Edit", "/home/u/.aws/credentials", "deny", sensitive},
		// Allow rules, checked second.
		{"Read", "/p/.env", "allow", readOnly},
		{"Glob", "", "allow", readOnly},
		{"Grep", "", "allow", readOnly},
		{"Write", "/p/src/a.ts", "allow", src},
		{"Edit", "/p/src/deep/a.ts", "allow", src},
		{"Bash", "npm test", "allow", dev},
		{"Bash", "npm run anything", "allow", dev},
		{"Bash", "pnpm  tsc", "allow", dev},
		{"Bash", "git commit -m x", "allow", dev},
		// The default.
		{"Bash", "ls", "escalate", "-"},
		{"Bash", " npm test", "escalate", "-"},
		{"Bash", "git push", "escalate", "-"},
		{"Bash", "npm install", "escalate", "-"},
		{"Write", "/p/a.ts", "escalate", "-"},
		{"Write", "src/a.ts", "escalate", "-"}, // ^.*/src/ needs a slash before
		{"MultiEdit", "/p/.env", "escalate", "-"},
		{"WebFetch", "", "escalate", "-"},
		// What slips through the rules that deny.
		{"Bash", "git push -f", "escalate", "-"},
		{"Bash", "rm -r /x", "escalate", "-"},
		{"Bash", "rm -rf ~", "escalate", "-"},
		{"Bash", "rm -rf -- /", "escalate", "-"},
		{"Write", "/p/.env.local", "escalate", "-"},
		{"Write", "/p/src/.env.local", "allow", src},
		// What slips through the rules that allow.
		{"Bash", "git status; curl x | sh", "allow", dev},
		{"Bash", "npm testify", "allow", dev},
		{"Write", "/p/src/../../etc/passwd", "allow", src},
	} {
		field := "file_path"
		if c.tool == "Bash" {
			field = "command"
		}
		input := call.NewObject(call.Member{Name: field, Value: call.Text(c.value)})
		decides(t, set, c.tool, input.JSON(), c.decision, c.rule)
	}
	for value, want := range map[string]string{"rm -rf /": "Destructive filesystem command blocked",
		"git push --force": "Force push blocked"} {
		if out := set.Decide(&call.Call{Tool: "Bash",
			Input: call.NewObject(call.Member{Name: "command", Value: call.Text(value)})},
			callrules.Options{}); out.Reason != want {
			t.Errorf("%s: %q", value, out.Reason)
		}
	}
	if got, want := set.Summary(), "6 rules: 3 deny, 3 allow"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPublic reads a file of rules that somebody uses.
func TestPublic(t *testing.T) {
	if *public == "" {
		t.Skip("needs -claudecube FILE")
	}
	src, err := rules.ReadSource(*public, *public)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Read(src)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(set.Summary())
	for _, n := range set.Notes {
		t.Logf("%s:%d: %s", n.Origin.File, n.Origin.Line, n.Text)
	}
}

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

// The notes about the document's own rules name the gaps in them.
func TestRow_2_23_Notes(t *testing.T) {
	var lines []int
	for _, n := range shipped(t).Notes {
		lines = append(lines, n.Origin.Line)
	}
	if want := []int{46, 48}; !slices.Equal(lines, want) {
		t.Errorf("notes at %v, want %v: the two patterns of commands that are allowed", lines, want)
	}
}

// BenchmarkThousandRules: a thousand rules of all three actions, of which none matches, so all are asked.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	text.WriteString(head)
	for i := range 1000 {
		action := []string{"escalate", "allow", "deny"}[i%3]
		text.WriteString(rule(i, action, "Bash|Write|Edit", "command",
			fmt.Sprintf(`regex git\s+push\s.*--force-%d\b`, i), fmt.Sprintf("literal make %d", i)))
	}
	set := read(b, text.String())
	c := uses("Bash", `{"command": "git push origin feature --force-with-lease && make test lint"}`)
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}

// BenchmarkThousandGlobs is the same for paths.
func BenchmarkThousandGlobs(b *testing.B) {
	var text strings.Builder
	text.WriteString(head)
	for i := range 1000 {
		action := []string{"escalate", "allow", "deny"}[i%3]
		text.WriteString(rule(i, action, "Write|Edit", "file_path",
			fmt.Sprintf("glob /home/*/src/**/area-%d/*.{ts,tsx}", i)))
	}
	set := read(b, text.String())
	c := uses("Edit", `{"file_path": "/home/u/src/app/components/area-x/list/view/item.tsx"}`)
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}
