package sigmashake

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/rogpeppe/go-internal/txtar"
)

// set reads one file of rules.
func set(t testing.TB, text string) *callrules.Set {
	t.Helper()
	s, err := Read("rules", []*document.Source{{Name: "a.rules", Text: []byte(text)}})
	if err != nil {
		t.Fatalf("%v, in\n%s", err, text)
	}
	return s
}

// decide returns a set's outcome for a line of JSON as "decision id"; the decision alone without a matching rule.
func decide(t *testing.T, s *callrules.Set, line string) string {
	t.Helper()
	c, err := callrules.ParseCall([]byte(line))
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	out := s.Decide(c, callrules.Options{})
	if out.Rule == nil {
		return out.Decision
	}
	return out.Decision + " " + out.Rule.ID
}

// fires reports whether a rule of that decision and target, with that condition, fires on a call.
func fires(t *testing.T, decision, condition, line string) bool {
	t.Helper()
	more := map[string]string{"ASK any": `PROMPT "?"`, "FORCE any": `SUBSTITUTE "x"`}[decision]
	s := set(t, fmt.Sprintf("rule r {\n%s\nIF %s\nMESSAGE \"m\" %s }", decision, condition, more))
	return decide(t, s, line) != "allow"
}

// TestRows holds rules to what testdata/rows.txtar says of them.
func TestRows(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/rows.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			text, lines, _ := strings.Cut(string(f.Data), "\n=>\n")
			var notes []string
			for line := range strings.Lines(lines) {
				word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				switch word {
				case "fires", "silent":
					if fires(t, "DENY any", text, rest) != (word == "fires") {
						t.Errorf("%s: not %s", rest, word)
					}
				case "error":
					if got := mistakes(t, text); len(got) != 1 || !strings.HasPrefix(got[0], rest) {
						t.Errorf("got %q\nwant %q", got, rest)
					}
				case "note":
					notes = append(notes, rest)
				case "no":
					notes = []string{}
				default:
					id, line, _ := strings.Cut(rest, " ")
					if got := decide(t, set(t, text), line); got != strings.TrimSuffix(word+" "+id, " -") {
						t.Errorf("%s: %s", line, got)
					}
				}
			}
			if notes == nil {
				return
			}
			begins := func(note, want string) bool { return strings.HasPrefix(note, want) }
			if got := noted(set(t, text)); !slices.EqualFunc(got, notes, begins) {
				t.Errorf("got %q\nwant %q", got, notes)
			}
		})
	}
}

// bash is a call of a command.
func bash(command string) string {
	return `{"tool":"Bash","input":{"command":` + call.Text(command).JSON() + `}}`
}

// write is a call that writes a file.
func write(path, content string) string {
	return `{"tool":"Write","input":{"file_path":` + call.Text(path).JSON() + `,"content":` +
		call.Text(content).JSON() + `}}`
}

// The document is silent: rules of one priority are asked by the byte order of their files, then by line.
func TestRow_0_02_Ties(t *testing.T) {
	file := func(name, id string) *document.Source {
		return &document.Source{
			Name: name,
			Text: []byte("rule " + id + ` { DENY any IF tool EQUALS "Bash" MESSAGE "m" }
rule ` + id + `-second { LOG any IF tool EQUALS "Bash" MESSAGE "m" }`),
		}
	}
	for _, files := range [][]*document.Source{
		{file("B.rules", "first"), file("a.rules", "other"), file("a/z.rules", "third")},
		{file("a/z.rules", "third"), file("a.rules", "other"), file("B.rules", "first")},
	} {
		s, err := Read("rules", files)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, r := range s.Rules {
			order = append(order, r.ID)
		}
		if got := strings.Join(order, " "); got != "first first-second other other-second third third-second" {
			t.Error(got)
		}
		if got := decide(t, s, bash("x")); got != "block first" {
			t.Error(got)
		}
	}
}

// "DENY execution → only matches tools classified as "execute" (Bash, shell)"; "DENY any → matches all
// tools"; edit is Edit and MultiEdit, a part of write; a tool that is not known is matched by any alone.
func TestRow_0_07_Targets(t *testing.T) {
	tools := map[string]string{
		"execution": "Bash shell command",
		"read":      "Read",
		"write":     "Write Edit MultiEdit NotebookEdit",
		"edit":      "Edit MultiEdit",
		"search":    "Glob Grep",
		"agent":     "Agent Task",
		"network":   "WebFetch WebSearch",
		"any": "Bash shell command Read Write Edit MultiEdit NotebookEdit Glob Grep Agent Task WebFetch WebSearch " +
			"mcp__git__push execute_sql",
	}
	for target, matched := range tools {
		for tool := range strings.FieldsSeq(tools["any"]) {
			want := strings.Contains(" "+matched+" ", " "+tool+" ")
			got := fires(t, "DENY "+target, `tool NOT EQUALS ""`, `{"tool":"`+tool+`"}`)
			if got != want {
				t.Errorf("target %s, tool %s: %v", target, tool, got)
			}
		}
	}
}

// "If a regex pattern is invalid or dangerous (nested quantifiers), it matches rather than silently failing. This
// triggers the rule, erring on the side of caution." The document does not name the decision: such a pattern matches
// in restricting rules, and does not in rules that let the call go on, on either side of NOT.
func TestRow_0_32_FailSecure(t *testing.T) {
	bad := map[string]string{
		"invalid":            `(`,
		"flags":              `(?i)drop`,
		"nested quantifiers": `(a+)+x`,
		"0-33: 501 long":     strings.Repeat("x", 501),
		"501 of UTF-16":      strings.Repeat("😀", 250) + "x",
	}
	for why, pattern := range bad {
		for _, op := range []string{"REGEX", "LINE_REGEX", "NOT REGEX", "NOT LINE_REGEX"} {
			condition := "command " + op + " " + quoted(pattern)
			for decision, want := range map[string]bool{"DENY any": true, "FORCE any": true, "ASK any": true,
				"ALLOW any": false, "LOG any": false, "SHADOW any": false} {
				for _, condition := range []string{condition, "NOT (" + condition + ")"} {
					if got := fires(t, decision, condition, bash("zzz")); got != want {
						t.Errorf("%s: %s IF %s fires: %v", why, decision, condition, got)
					}
				}
			}
		}
		s := set(t, "\nrule r {\nDENY any\nIF command REGEX "+quoted(pattern)+`
MESSAGE "m" }`)
		if len(s.Notes) != 1 || s.Notes[0].Origin != (callrules.Origin{File: "a.rules", Line: 2}) ||
			!strings.Contains(s.Notes[0].Text, "as matching") {
			t.Errorf("%s: validate says %+v", why, s.Notes)
		}
	}
	for condition, want := range map[string]string{"DENY": "true", "ALLOW": "false", "DENY NOT": "false", "ALLOW NOT": "true"} {
		decision, not, _ := strings.Cut(condition, " ")
		s := set(t, "rule r { "+decision+" any IF command "+not+" REGEX \"(a|aa)+$\" MESSAGE \"m\" }")
		if got := fmt.Sprintf("%+v", s.Rules[0].When.Test.Regexp); !strings.HasSuffix(got, "GivenUp:"+want+"}") {
			t.Errorf("%s: %s", condition, got)
		}
	}
	// It is the test that holds, not the rule: the other conditions still count.
	for line, want := range map[string]bool{bash("x"): true, write("/a", ""): false} {
		if fires(t, "DENY any", `tool EQUALS "Bash" AND command REGEX "("`, line) != want {
			t.Errorf("%s: not %v", line, want)
		}
	}
	if long := strings.Repeat("x", 500); compileRegex(long).broken != "" {
		t.Error("500 characters are too many")
	}
}

// quoted writes a text in the syntax of a rule file.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func TestRow_0_32_NestedQuantifiers(t *testing.T) {
	for pattern, want := range map[string]string{
		`(a+)+`: `(a+)+`, `x(?:\s*y)*z`: `(?:\s*y)*`, `(a{2,}b){3}`: `(a{2,}b){3}`, `((a*)b)+`: `((a*)b)+`,
		`((ab)+c){2,4}`: `((ab)+c){2,4}`, `(a+?)+?`: `(a+?)+`, `([)]+)+`: `([)]+)+`, `(\)+)+`: `(\)+)+`,
		`(a+)?`: "", `(a+){1}`: "", `(a+){01}`: "", `(a+){0,1}`: "", `(ab)+`: "", `(\d{1,3}\.)+`: "", `a+b+`: "",
		`(a\+)+`: "", `([+*])+`: "", `(a{)+`: "", `(a{,3})+`: "", `(a+)(b)+`: "", `)+(a+)+`: "", `(a+`: "",
		`[(]a+)+`: "", `([a+)+`: "", ``: "",
	} {
		if got := nestedQuantifiers(pattern); got != want {
			t.Errorf("%s: %q, not %q", pattern, got, want)
		}
	}
}

// The texts of a rule; testdata/rows.txtar has the decisions.
func TestRow_0_46_Texts(t *testing.T) {
	for text, want := range map[string]callrules.Rule{
		`ASK any PROMPT "may it?" IF tool EQUALS "x" MESSAGE "why"`:         {Reason: "why", Prompt: "may it?"},
		`FORCE any SUBSTITUTE "git mv x" IF tool EQUALS "x" MESSAGE "why"`:  {Reason: "why", Instead: "git mv x"},
		`DENY any IF tool EQUALS "x" MESSAGE "why" CONTEXT "see docs/x.md"`: {Reason: "why\nsee docs/x.md"},
	} {
		r := set(t, "rule r { "+text+" }").Rules[0]
		if r.Reason != want.Reason || r.Prompt != want.Prompt || r.Instead != want.Instead {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// The defaults: priority 50, severity warning, enabled true.
func TestRow_0_47_Defaults(t *testing.T) {
	s := set(t, `rule bare { DENY any IF tool EQUALS "x" MESSAGE "m" }
rule full {
  severity error
  priority 7
  enabled false
  DENY any
  IF tool EQUALS "x"
  MESSAGE "m"
}`)
	for i, want := range []callrules.Rule{
		{ID: "bare", Priority: 50, Origin: callrules.Origin{File: "a.rules", Line: 1}},
		{ID: "full", Priority: 7, Disabled: true, Origin: callrules.Origin{File: "a.rules", Line: 2}},
	} {
		got := s.Rules[i]
		if got.ID != want.ID || got.Priority != want.Priority || got.Disabled != want.Disabled || got.Origin != want.Origin {
			t.Errorf("%+v", got)
		}
	}
	if s.Dialect != "sigmashake" || s.Strategy != callrules.PriorityFirst || s.Default != callrules.Allow ||
		s.Name != "rules" {
		t.Errorf("%+v", s)
	}
}

// # comments, texts over several lines, \" and \\; any other backslash stays.
func TestRow_0_48_Lexis(t *testing.T) {
	s := set(t, "\ufeff# rule x { \"\r\nrule r{DENY any\r\nIF command CONTAINS \"a # b\" # a \" comment\r\n"+
		"OR(command EQUALS \"\\\"\\\\ \\n\\d\" OR command EQUALS \"\\\\\") MESSAGE \"one\n  two\" } # end")
	for command, want := range map[string]string{"a # b": "block r", `"\ \n\d`: "block r", `\`: "block r",
		"a": "allow"} {
		if got := decide(t, s, bash(command)); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
	if got := s.Rules[0].Reason; got != "one\n  two" {
		t.Errorf("%q", got)
	}
	s = set(t, "rule a { DENY any IF tool EQUALS \"1\n2\" MESSAGE \"1\n2\" }\n"+
		"rule b { DENY any IF tool EQUALS \"x\" MESSAGE \"m\" }")
	if a, b := s.Rules[0].Origin.Line, s.Rules[1].Origin.Line; a != 1 || b != 4 {
		t.Errorf("lines %d and %d", a, b)
	}
}

// Ids are unique in a file only; TestErrors has the duplicates.
func TestRow_0_49_IDs(t *testing.T) {
	text := []byte(`rule My-rule_1 { DENY any IF tool EQUALS "x" MESSAGE "m" }`)
	s, err := Read("rules", []*document.Source{{Name: "a.rules", Text: text}, {Name: "b.rules", Text: text}})
	if err != nil || len(s.Rules) != 2 || s.Rules[1].Origin.File != "b.rules" {
		t.Errorf("%v, %+v", err, s)
	}
}

// A trace shows each test in the words of its file.
func TestTrace(t *testing.T) {
	s := set(t, `rule one { DENY execution IF NOT (command CONTAINS "a" OR path GLOB "x") MESSAGE "m" }`)
	for line, want := range map[string]string{
		write("/a", ""): "the target execution does not hold",
		bash("a"):       `command NOT CONTAINS "a" does not hold`,
	} {
		c, err := callrules.ParseCall([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Decide(c, callrules.Options{Trace: true}).Trace.Steps[0].Why; got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// BenchmarkThousandRules is 0-35, "Evaluation latency | < 2ms", with twenty times the document's rules: no rule
// matches, so all are evaluated.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, `rule r%d { priority %d DENY execution IF command CONTAINS "git" AND
			command REGEX "push\\s+.*--force-%[1]d\\b" OR path GLOB "**/secret-%[1]d/*" MESSAGE "m" }
`, i, i%100)
	}
	set := set(b, text.String())
	c, err := callrules.ParseCall([]byte(bash("git push origin feature --force-with-lease && make test lint")))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}

// FuzzRead: a reader never panics; an error is in the file; what loads judges calls.
func FuzzRead(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/rows.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		text, _, _ := bytes.Cut(file.Data, []byte("\n=>\n"))
		f.Add(text)
	}
	var calls []*call.Call
	for _, line := range []string{bash("git push --force x"), write("/w/a/b.ts", "a // b\nc\r\n"),
		`{"tool":"X","input":{"a.b":[1,null]}}`, `{"tool":"MultiEdit"}`} {
		c, err := callrules.ParseCall([]byte(line))
		if err != nil {
			f.Fatal(err)
		}
		calls = append(calls, c)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Count(text, []byte("\n")) + 1
		s, err := Read("rules", []*document.Source{{Name: "a.rules", Text: text}})
		if err != nil {
			var errs document.Errors
			if !errors.As(err, &errs) || len(errs) == 0 || s != nil {
				t.Fatalf("%T %v, and the set %v", err, err, s)
			}
			for _, e := range errs {
				if e.Line < 0 || e.Line > lines || e.Found == "" || e.Fix == "" || e.File != "a.rules" &&
					e.Code != document.CodeNoRules {
					t.Errorf("%+v", e)
				}
			}
			return
		}
		if len(s.Rules) == 0 {
			t.Error("no rules, and no error")
		}
		for _, r := range s.Rules {
			if r.ID == "" || r.Effect == "" || r.Origin.Line < 1 || r.Origin.Line > lines {
				t.Errorf("%+v", r)
			}
		}
		for _, n := range s.Notes {
			if n.Text == "" || n.Origin.Line < 1 || n.Origin.Line > lines {
				t.Errorf("%+v", n)
			}
		}
		for _, c := range calls {
			out := s.Decide(c, callrules.Options{Trace: true})
			if out.Rule != nil && out.Rule.Disabled ||
				!strings.Contains(" block force ask allow log shadow ", " "+out.Decision+" ") {
				t.Errorf("%+v", out)
			}
		}
	})
}
