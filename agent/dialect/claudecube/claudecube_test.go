package claudecube

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/rogpeppe/go-internal/txtar"
)

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

// rows are the files of testdata/rows.txtar.
func rows(t testing.TB) []txtar.File {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/rows.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return archive.Files
}

// TestRows holds rules to what testdata/rows.txtar says of them.
func TestRows(t *testing.T) {
	for _, f := range rows(t) {
		t.Run(f.Name, func(t *testing.T) {
			text, lines, _ := strings.Cut(string(f.Data), "\n=>\n")
			for line := range strings.Lines(lines) {
				word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				switch word {
				case "error":
					refused(t, text, rest)
				case "note", "no":
					var got []string
					for _, n := range read(t, text).Notes {
						if n.Origin.File != "rules.yaml" || n.Origin.Line < 4 {
							t.Errorf("%v: a note without its place", n)
						}
						got = append(got, n.Text)
					}
					if word == "no" && got != nil || word == "note" && (len(got) != 1 || got[0] != rest) {
						t.Errorf("got %q", got)
					}
				default:
					set := shipped(t)
					if text != "" {
						set = read(t, text)
					}
					match := regexp.MustCompile(`^(.*?) (\w[\w|]* ?) (\{.*)$`).FindStringSubmatch(rest)
					decides(t, set, match[2], match[3], word, match[1])
				}
			}
		})
	}
}

// refused wants the one error of a text to be "LINE:COLUMN part of it".
func refused(t *testing.T, text, want string) {
	t.Helper()
	set, err := Read(&document.Source{Name: "r.yaml", Text: []byte(text)})
	var list document.Errors
	if !errors.As(err, &list) || set != nil || len(list) != 1 || list[0].Fix == "" {
		t.Fatalf("set %v, error %v", set, err)
	}
	at, found, _ := strings.Cut(want, " ")
	place := fmt.Sprintf("r.yaml:%s:", at)
	if !strings.HasPrefix(err.Error(), strings.Replace(place, "::", ":", 1)) ||
		!strings.Contains(list[0].Found, found) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestMistakes(t *testing.T) {
	refused(t, "version: \"1\"\rrules: []\n", "1:13 a carriage return that is not part of a CRLF")
	refused(t, "version: \"\xff\"\n", "1:11 the byte 0xFF is not UTF-8")
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
	if want := "[1  3  10 R1 12 R2 14 R3]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s\n%v", got, want, err)
	}
	const want = `r.yaml:10:21: rule "R1": the field "command", the pattern "(": JavaScript refuses it: missing closing ); close it with ), or write \( for the character`
	if !strings.HasPrefix(list[2].Error(), want) {
		t.Errorf("got  %s\nwant %s", list[2], want)
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

// "returns { action: defaultAction, rule: null, reason }", and the other reasons.
func TestRow_2_20_21_Reasons(t *testing.T) {
	for _, action := range []string{"deny", "allow", "escalate"} {
		verb := map[string]string{"deny": "Denied", "allow": "Allowed", "escalate": "Escalated"}[action]
		set := read(
			t,
			head+rule(1, action, "Bash", "")+"  - {name: M, action: "+action+", tool: Edit, reason: Because}\n",
		)
		for tool, want := range map[string]string{"Bash": verb + " by rule: R1", "Edit": "Because",
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

func TestNotesOfTheWholeFile(t *testing.T) {
	const rest = "rules:\n  - {name: N, action: deny, tool: Bash}\n"
	for text, want := range map[string]string{
		"defaults: {}\nrules: []\n": "[3 there are no rules; every call gets the default, escalate]",
		"defaults: {unmatched: allow}\n" + rest: "[2 calls that no rule is about are allowed; write escalate or " +
			"deny, in case an agent gets a new tool]",
		"defaults:\n  max_budget_per_agent: 5.00\n  max_turns_per_agent: 50.0\n" + rest: `[3 "max_budget_per_agent" ` +
			`is a placeholder and is not enforced 4 "max_turns_per_agent" is a placeholder and is not enforced]`,
	} {
		var got []string
		for _, n := range read(t, "version: \"1\"\n"+text).Notes {
			got = append(got, fmt.Sprint(n.Origin.Line, " ", n.Text))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	if notes := read(t, "version: \"2\"\ndefaults: {}\n"+rest).Notes; len(notes) != 1 ||
		!strings.HasPrefix(notes[0].Text, `the version is "2"; `) {
		t.Error(notes)
	}
}

// The summary of the document's own rules, a call without an input, and the reasons that the rules give.
func TestRow_2_23_Reasons(t *testing.T) {
	set := shipped(t)
	if got, want := set.Summary(), "6 rules: 3 deny, 3 allow"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for command, want := range map[string]string{"rm -rf /": "Destructive filesystem command blocked",
		"git push --force": "Force push blocked", "": "No matching rule; default action: escalate"} {
		c := &call.Call{Tool: "Bash"}
		if command != "" {
			c.Input = call.NewObject(call.Member{Name: "command", Value: call.Text(command)})
		}
		if out := set.Decide(c, callrules.Options{}); out.Reason != want {
			t.Errorf("%s: %q", command, out.Reason)
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
