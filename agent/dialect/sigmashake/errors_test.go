package sigmashake

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/rules/document"
)

// mistakes are the errors of one file, without its name.
func mistakes(t *testing.T, text string) []string {
	t.Helper()
	s, err := Read("rules", []*document.Source{{Name: "a.rules", Text: []byte(text)}})
	if err == nil {
		return nil
	}
	var errs document.Errors
	if !errors.As(err, &errs) || s != nil {
		t.Fatalf("%T, and the set %v", err, s)
	}
	var all []string
	for _, e := range errs {
		all = append(all, strings.TrimPrefix(e.Error(), "a.rules:"))
	}
	return all
}

// TestErrors: the errors of a file, with their positions.
func TestErrors(t *testing.T) {
	const end = ` IF tool EQUALS "x" MESSAGE "m" }`
	for _, test := range []struct {
		text string
		want string // what the one error begins with
	}{
		{`rule r { DENY any` + end + ` x`, `1:52: "x" where a rule should begin; write: rule <id> { … }`},
		{`Rule r { DENY any` + end, `1:1: "Rule" where a rule should begin`},
		{`rule "r" { DENY any` + end, `1:1: "rule" where a rule should begin`},
		{`rule r.1 { DENY any` + end, `1:6: the id "r.1" has a dot in it; an id is made of letters, digits, - and _`},
		{"rule r { DENY any" + end + "\nrule r { DENY any" + end,
			`2:6: rule "r": the id "r" is also that of the rule in line 1`},
		{`rule r { DENY any IF tool EQUALS "x"`, `1:6: rule "r": the rule "r" has no closing }`},
		{"rule r { DENY any IF tool EQUALS \"x\"\nrule s { DENY any" + end,
			`1:6: rule "r": the rule "r" has no closing }`},
		{`rule r {` + end, `1:6: rule "r": the rule has no decision; write one of DENY`},
		{`rule r { DENY any MESSAGE "m" }`, `1:6: rule "r": the rule has no IF, and a rule without conditions never fires`},
		{`rule r { DENY` + end, `1:15: rule "r": "IF" after DENY; write one of execution, read, write, edit`},
		{`rule r { DENY shell` + end, `1:15: rule "r": DENY shell; write one of execution`},
		{`rule r { DENY Any` + end, `1:15: rule "r": DENY Any; write one of`},
		{`rule r { DENY any LOG any` + end, `1:19: rule "r": LOG, and DENY in line 1; a rule has one decision`},
		{`rule r { DENY any DENY any` + end, `1:19: rule "r": DENY, and DENY in line 1`},
		{`rule r { BLOCK any` + end, `1:10: rule "r": "BLOCK" is not a key of a rule; a rule has enabled`},
		{`rule r { deny any` + end, `1:10: rule "r": "deny" is not a key of a rule; write DENY`},
		{`rule r { ENABLED true DENY any` + end, `1:10: rule "r": "ENABLED" is not a key of a rule; write enabled`},
		{`rule r { DENY any IF tool EQUALS "x" Message "m" }`,
			`1:38: rule "r": "Message" after a condition, on the same line; write AND or OR between them`},
		{"rule r { DENY any IF tool EQUALS \"x\"\nmessage \"m\" }",
			`2:1: rule "r": "message" is not a key of a rule; a rule has`},
		{`rule r { "x" DENY any` + end, `1:10: rule "r": a quoted string is not a key of a rule`},
		{`rule r { enabled yes DENY any` + end, `1:18: rule "r": enabled yes; write true or false`},
		{`rule r { enabled "true" DENY any` + end,
			`1:18: rule "r": a quoted string after enabled; write true or false`},
		{`rule r { enabled true enabled false DENY any` + end, `1:23: rule "r": enabled, and enabled in line 1`},
		{`rule r { priority high DENY any` + end, `1:19: rule "r": priority high; write a whole number`},
		{`rule r { priority 1.5 DENY any` + end, `1:19: rule "r": priority 1.5; write a whole number`},
		{`rule r { priority 1234567890 DENY any` + end,
			`1:19: rule "r": priority 1234567890; write a whole number of at most nine digits`},
		{`rule r { severity high DENY any` + end, `1:19: rule "r": severity high; write error, warning or info`},
		{`rule r { ASK any` + end, `1:6: rule "r": ASK without PROMPT`},
		{`rule r { FORCE any` + end, `1:6: rule "r": FORCE without SUBSTITUTE`},
		{`rule r { DENY any PROMPT "?"` + end, `1:19: rule "r": PROMPT in a rule that does not ASK`},
		{`rule r { ASK any PROMPT "?" SUBSTITUTE "x"` + end,
			`1:29: rule "r": SUBSTITUTE in a rule that does not FORCE`},
		{`rule r { ASK any PROMPT " "` + end, `1:25: rule "r": PROMPT is empty`},
		{`rule r { DENY any PROMPT ?` + end, `1:26: rule "r": the character "?" after PROMPT; write a string in double quotes`},
		{`rule r { DENY any IF tool EQUALS "x" MESSAGE m }`,
			`1:46: rule "r": "m" after MESSAGE; write a string in double quotes`},
		// 0-50: side effects next to the decision, and rules that gate nothing.
		{`rule r { DENY any RUN "rm x"` + end,
			`1:19: rule "r": RUN, which runs a command; remove it; policyscan runs nothing`},
		{`rule r { DENY any WEBHOOK "https://x"` + end,
			`1:19: rule "r": WEBHOOK, which calls a server; remove it; policyscan cannot reach a network`},
		{`rule r { AMBIENT MESSAGE "m" }`, `1:10: rule "r": AMBIENT, which is knowledge for the agent and decides no call`},
		{`rule r { DENY any IF tool EQUALS "x" MESSAGE "m" OR path EQUALS "y" }`,
			`1:50: rule "r": OR outside of the conditions`},
		{`rule r { DENY any “m”` + end, `1:19: rule "r": the character "“"; put strings in double quotes`},
		{`rule r { DENY any; IF tool EQUALS "x" MESSAGE "m" }`, `1:18: rule "r": the character ";"; remove it`},
		{`rule r { DENY any IF tool EQUALS 'x' MESSAGE "m" }`,
			`1:34: rule "r": the character "'" after EQUALS; write a string in double quotes`},
		{`rule r { DENY any IF tool EQUALS "x" MESSAGE "a "b" c" }`,
			`1:50: rule "r": "b" right after the end of a string; write a " within a string as \"`},
		{"rule r { DENY any IF tool EQUALS \"x\" MESSAGE \"m }\n",
			`1:46: a string that begins here and never ends; close it with "`},
		{`rule r { DENY any IF tool EQUALS "x" MESSAGE "m\`, `1:46: a string that begins here and never ends`},
		{`"rule r { DENY any }`, `1:1: a string that begins here and never ends; close it with "`},
		// 0-21: a field that is not one would be empty, and a NOT about it would always hold.
		{`rule r { DENY any IF file NOT EQUALS "x" MESSAGE "m" }`,
			`1:22: rule "r": "file" is not a field; the fields are command, path, content, tool and input.<key>`},
		{`rule r { DENY any IF input. EQUALS "x" MESSAGE "m" }`,
			`1:22: rule "r": "input." is not a field; write the name of a member`},
		{`rule r { DENY any IF Input.a EQUALS "x" MESSAGE "m" }`, `1:22: rule "r": "Input.a" is not a field`},
		{`rule r { DENY any IF tool MATCHES "x" MESSAGE "m" }`,
			`1:27: rule "r": "MATCHES" is not an operator; the operators are CONTAINS`},
		{`rule r { DENY any IF tool contains "x" MESSAGE "m" }`, `1:27: rule "r": "contains" is not an operator`},
		{`rule r { DENY any IF tool LINE_WORD "x" MESSAGE "m" }`, `1:27: rule "r": "LINE_WORD" is not an operator`},
		{`rule r { DENY any IF tool EQUALS x MESSAGE "m" }`,
			`1:34: rule "r": "x" after EQUALS; write a string in double quotes`},
		{`rule r { DENY any IF tool "x" MESSAGE "m" }`,
			`1:27: rule "r": a quoted string after tool; write an operator: CONTAINS`},
		{`rule r { DENY any IF MESSAGE "m" }`, `1:22: rule "r": "MESSAGE" where a condition should begin`},
		{`rule r { DENY any IF tool EQUALS "x" AND MESSAGE "m" }`,
			`1:42: rule "r": "MESSAGE" where a condition should begin`},
		{`rule r { DENY any IF tool EQUALS "x" OR AND path EQUALS "y" MESSAGE "m" }`,
			`1:41: rule "r": "AND" where a condition should begin`},
		{`rule r { DENY any IF () MESSAGE "m" }`, `1:23: rule "r": ")" where a condition should begin`},
		{`rule r { DENY any IF (tool EQUALS "x" MESSAGE "m" }`, `1:22: rule "r": a parenthesis that is not closed`},
		{`rule r { DENY any IF tool EQUALS "x") MESSAGE "m" }`, `1:37: rule "r": ")" is not a key of a rule`},
		{`rule r { DENY any IF tool EQUALS "x" path EQUALS "y" MESSAGE "m" }`,
			`1:38: rule "r": "path" after a condition, on the same line; write AND or OR`},
		{"rule r { DENY any IF tool EQUALS \"x\ny\" path EQUALS \"y\" MESSAGE \"m\" }",
			`2:4: rule "r": "path" after a condition, on the same line`},
		{"rule r { DENY any IF (tool EQUALS \"x\"\n) path EQUALS \"y\" MESSAGE \"m\" }",
			`2:3: rule "r": "path" after a condition, on the same line`},
		{`rule r { DENY any IF tool EQUALS "x" (path EQUALS "y") MESSAGE "m" }`,
			`1:38: rule "r": "(" after a condition, on the same line`},
		{`rule r { DENY any IF ` + strings.Repeat("NOT ", 50) + `tool EQUALS "x" MESSAGE "m" }`,
			`1:222: rule "r": parentheses and NOTs nested more than 50 deep; split the rule`},
		{"rule r \x00", `1:8: the control character U+0000`},
		{"rule \xff", `1:6: a byte that is not UTF-8`},
	} {
		got := mistakes(t, test.text)
		if len(got) != 1 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("%s\n  got  %q\n  want %q", test.text, got, test.want)
		}
	}
	// next to one another there may be more
	for _, conditions := range []string{strings.Repeat("NOT ", 49), strings.Repeat(`(NOT path EQUALS "x") OR `, 100)} {
		if got := mistakes(t, `rule r { DENY any IF `+conditions+`tool EQUALS "x" MESSAGE "m" }`); got != nil {
			t.Error(got)
		}
	}
}

// TestAllErrors: mistakes hide no others, in this file or another, and none is reported twice.
func TestAllErrors(t *testing.T) {
	text := `rule a {
  enabled maybe
  priority x
  DENY nothing
  IF paht EQUALS "x"
  OR path IS "x" AND path EQUALS y
  MESSAGE
}
rule b { LOG any }
rule c { DENY any IF tool EQUALS "x" MESSAGE "m" }
what is this
rule d { DENY any RUN "x" WEBHOOK "y" IF tool EQUALS "x" }
`
	want := []string{
		`2:11: rule "a": enabled maybe`, `3:12: rule "a": priority x`, `4:8: rule "a": DENY nothing`,
		`5:6: rule "a": "paht" is not a field`,
		`6:11: rule "a": "IS" is not an operator`, `6:34: rule "a": "y" after EQUALS`,
		`8:1: rule "a": "}" after MESSAGE`,
		`9:6: rule "b": the rule has no IF`, `11:1: "what" where a rule should begin`, `12:19: rule "d": RUN`,
		`12:27: rule "d": WEBHOOK`,
	}
	got := mistakes(t, text)
	for i, w := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], w) {
			t.Fatalf("error %d is not %s:\n%s", i, w, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d errors:\n%s", len(got), strings.Join(got, "\n"))
	}

	_, err := Read("rules", []*document.Source{{Name: "b.rules", Text: []byte("x")},
		{Name: "a.rules", Text: []byte("\xff")}, {Name: "c.rules"}})
	if err == nil || !strings.HasPrefix(err.Error(), "a.rules:1:1: ") ||
		!strings.Contains(err.Error(), "\nb.rules:1:1: ") {
		t.Error(err)
	}
}

// TestOpenText: after a missing quote, words and strings are swapped; only the first resulting error is reported, and
// the unterminated string.
func TestOpenText(t *testing.T) {
	text := ""
	for i, message := range []string{`"one"`, `"two`, `"three IF so"`, `"four"`} {
		text += fmt.Sprintf("rule r%d { DENY any IF tool EQUALS \"x\"\nMESSAGE %s }\n", i, message)
	}
	got := mistakes(t, text)
	if len(got) != 2 || !strings.HasPrefix(got[0], "5:36: ") || !strings.HasPrefix(got[1], "8:14: ") ||
		!strings.Contains(got[1], "never ends") {
		t.Errorf("%q", got)
	}
}

// TestNoRules: a set that would allow everything is not one.
func TestNoRules(t *testing.T) {
	for _, files := range [][]*document.Source{nil, {{Name: "a.rules"}},
		{{Name: "a.rules", Text: []byte("# rule r { }\n")}}} {
		var errs document.Errors
		if _, err := Read("rules", files); !errors.As(err, &errs) || errs[0].Code != document.CodeNoRules ||
			!strings.HasPrefix(err.Error(), "rules: no rule in ") {
			t.Errorf("%v: %v", files, err)
		}
	}
	s, err := Read("rules", []*document.Source{{Name: "a.rules"},
		{Name: "b.rules", Text: []byte(`rule r { DENY any IF tool EQUALS "x" MESSAGE "m" }`)}})
	if err != nil || len(s.Rules) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A file of 100 KB that is nothing but mistakes, or braces, took 1 s and 16 s, and had 4 MB of errors.
func TestHostileFiles(t *testing.T) {
	read := func(text string) (errs document.Errors) {
		var err error
		took := cputime.Of(func() {
			_, err = Read("rules",
				[]*document.Source{{Name: "a.rules", Text: []byte(text)}})
		})
		if took > 5*time.Second {
			t.Errorf("%.20s: %s", text, took)
		}
		errors.As(err, &errs)
		return errs
	}
	errs := read("rule r {" + strings.Repeat("IF ", 33_000))
	if n := len(errs); n != maxMistakes+1 || !strings.Contains(errs.Error(), "more than 200 mistakes") {
		t.Errorf("%d errors, the last %v", n, errs[max(0, n-1)])
	}
	for _, glob := range []string{strings.Repeat("{", 95_000), strings.Repeat("{a,", 24_000) +
		strings.Repeat("}", 24_000)} {
		if errs := read(`rule r { DENY any IF path GLOB "` + glob + `" MESSAGE "m" }`); errs != nil {
			t.Error(errs)
		}
	}
}

// noted are the notes of a set, as "line: text".
func noted(s *callrules.Set) []string {
	var all []string
	for _, n := range s.Notes {
		all = append(all, fmt.Sprintf("%d: %s", n.Origin.Line, n.Text))
	}
	return all
}

func TestNotes(t *testing.T) {
	const m = ` MESSAGE "m" }`
	for _, test := range []struct {
		name string
		text string
		want []string // of each note the beginning
	}{
		{"nothing to say", `rule a { DENY any IF tool EQUALS ""` + m + "\n" +
			`rule b { LOG any priority 40 IF path GLOB ""` + m, nil},
		{"no MESSAGE", `rule a { DENY any IF tool EQUALS "x" }`, []string{`1: rule "a": the rule has no MESSAGE`}},
		{"an empty text", `rule a { DENY any IF command NOT CONTAINS ""` + m,
			[]string{`1: rule "a": command NOT CONTAINS "": every string contains the empty one`}},
		{"a glob of another dialect", `rule a { DENY any IF path GLOB "*.(js|ts)" OR path GLOB "(a|b)" OR path GLOB "!x"` + m,
			[]string{`1: rule "a": path GLOB "*.(js|ts)": ( | ) are literal in a GLOB; write {a,b}`,
				`1: rule "a": path GLOB "(a|b)": ( | ) are literal`, `1: rule "a": path GLOB "!x": ! is literal`}},
		{"parentheses alone", `rule a { DENY any IF path GLOB "app/(shop)/*"` + m, nil},

		{"X5: a tie", "rule a { DENY read IF tool EQUALS \"x\"" + m + "\nrule b { LOG read IF tool EQUALS \"y\"" + m +
			"\nrule c { ASK read PROMPT \"?\" IF tool EQUALS \"z\"" + m,
			[]string{`2: rule "b": priority 50 and target read are also those of "a" in a.rules:1`,
				`3: rule "c": priority 50 and target read are also those of "a"`,
				`3: rule "c": priority 50 and target read are also those of "b"`}},
		{"X5: one decision", "rule a { DENY any IF tool EQUALS \"x\"" + m +
			"\nrule b { FORCE any SUBSTITUTE \"y\" IF tool EQUALS \"y\"" + m, nil},
		{"X5: the other one alone", "rule a { DENY read IF tool EQUALS \"x\"" + m +
			"\nrule b { LOG read IF tool EQUALS \"y\"" + m + "\nrule c { DENY read IF tool EQUALS \"z\"" + m,
			[]string{`2: rule "b": priority 50 and target read are also those of "a"`,
				`3: rule "c": priority 50 and target read are also those of "b"`}},
		{"X5: another target", "rule a { DENY read IF tool EQUALS \"x\"" + m +
			"\nrule b { LOG write IF tool EQUALS \"y\"" + m, nil},
		{"X5: not enabled", "rule a { DENY any IF tool EQUALS \"x\"" + m +
			"\nrule b { enabled false LOG any IF tool EQUALS \"y\"" + m, nil},

		{"X7: the same conditions", "rule a { DENY write IF path EQUALS \"x\" AND (tool EQUALS \"y\" OR tool EQUALS \"z\")" + m + "\nrule b { priority 60 LOG any IF (tool EQUALS \"z\" OR tool EQUALS \"y\") AND path EQUALS \"x\"" + m,
			[]string{`1: rule "a": it never fires, because "b" in a.rules:2 has a higher priority (60, this one 50)`}},
		{"X7: what always holds", "rule a { DENY edit IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 SHADOW write IF tool CONTAINS \"\" OR path EQUALS \"y\"" + m,
			[]string{`2: rule "b": tool CONTAINS ""`, `1: rule "a": it never fires, because "b"`}},
		{"X7: a beginning and an end that always hold", "rule a { DENY edit IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 LOG edit IF path STARTS_WITH \"\"" + m +
			"\nrule c { DENY read IF path EQUALS \"x\"" + m +
			"\nrule d { priority 60 LOG read IF path ENDS_WITH \"\"" + m,
			[]string{`2: rule "b": path STARTS_WITH ""`, `4: rule "d": path ENDS_WITH ""`,
				`1: rule "a": it never fires, because "b"`, `3: rule "c": it never fires, because "d"`}},
		{"X7: an AND that always holds", "rule a { DENY any IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 LOG any IF path CONTAINS \"\" AND tool CONTAINS \"\"" + m,
			[]string{`2: rule "b": path CONTAINS ""`, `2: rule "b": tool CONTAINS ""`,
				`1: rule "a": it never fires, because "b"`}},
		{"X7: an OR that does not always hold", "rule a { DENY any IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 LOG any IF path EQUALS \"y\" OR tool EQUALS \"z\"" + m, nil},
		{"X7: the empty text itself", "rule a { DENY any IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 LOG any IF path EQUALS \"\"" + m, nil},
		{"X7: what does not always hold", "rule a { DENY edit IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 SHADOW write IF tool CONTAINS \"\" AND path EQUALS \"y\"" + m,
			[]string{`2: rule "b": tool CONTAINS ""`}},
		{"X7: what never holds", "rule a { DENY edit IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 SHADOW write IF tool NOT CONTAINS \"\"" + m,
			[]string{`2: rule "b": tool NOT CONTAINS ""`}},
		{"X7: a lower priority", "rule a { DENY any IF path EQUALS \"x\"" + m +
			"\nrule b { priority 40 LOG any IF path EQUALS \"x\"" + m, nil},
		{"X7: fewer tools", "rule a { DENY write IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 LOG edit IF path EQUALS \"x\"" + m, nil},
		{"X7: other conditions", "rule a { DENY any IF path EQUALS \"x\" OR tool EQUALS \"y\"" + m +
			"\nrule b { priority 60 LOG any IF path EQUALS \"x\" AND tool EQUALS \"y\"" + m, nil},
		{"X7: other conditions of an AND", "rule a { DENY any IF path EQUALS \"x\" AND tool EQUALS \"y\"" + m +
			"\nrule b { priority 60 LOG any IF path EQUALS \"x\" AND tool EQUALS \"z\"" + m, nil},
		{"X7: the opposite", "rule a { DENY any IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 LOG any IF NOT path EQUALS \"x\"" + m, nil},
		{"X7: one that denies too", "rule a { DENY any IF path EQUALS \"x\"" + m +
			"\nrule b { priority 60 ASK any PROMPT \"?\" IF path EQUALS \"x\"" + m, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := noted(set(t, test.text))
			if len(got) != len(test.want) {
				t.Fatalf("%d notes:\n%s", len(got), strings.Join(got, "\n"))
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got  %s\nwant %s", got[i], want)
				}
			}
		})
	}
}

// TestNotesAreBounded: of many ties and many hidden rules the first are listed, and the rest counted.
func TestNotesAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "rule d%d { priority %d DENY read IF path EQUALS \"%d\" MESSAGE \"m\" }\n", i, i, i)
		fmt.Fprintf(&b, "rule l%d { priority 100 LOG any IF path EQUALS \"%d\" MESSAGE \"m\" }\n", i, i)
	}
	got := noted(set(t, b.String()))
	if want := `59: rules that never fire because of one of higher priority: 10 more than are listed here; this is the last`; len(got) != 21 || got[20] != want {
		t.Errorf("%d notes:\n%s", len(got), strings.Join(got, "\n"))
	}
	b.Reset()
	for i := range 10 {
		fmt.Fprintf(&b, "rule d%d { DENY read IF path EQUALS \"%d\" MESSAGE \"m\" }\nrule l%d { LOG read IF path EQUALS \"%d\" MESSAGE \"m\" }\n", i, i, i, i)
	}
	b.WriteString("rule alone { priority 7 LOG read IF path EQUALS \"x\" MESSAGE \"m\" }\n") // is no pair's
	got = noted(set(t, b.String()))
	if want := `20: pairs of rules of one priority and target that decide differently: 80 more than are listed here; this is the last`; len(got) != 21 || got[20] != want {
		t.Errorf("%d notes:\n%s", len(got), strings.Join(got, "\n"))
	}
}
