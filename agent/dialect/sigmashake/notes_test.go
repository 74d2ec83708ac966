package sigmashake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/callrules"
)

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
