package sigmashake

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/ask"
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

// TestErrors: the errors that testdata/rows.txtar cannot have.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"rule r \x00": `1:8: the control character U+0000`, "rule \xff": `1:6: a byte that is not UTF-8`,
	} {
		if got := mistakes(t, text); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%q: %q", text, got)
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

// TestNotesAreBounded: of many ties and many hidden rules the first are listed, and the rest counted.
func TestNotesAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "rule d%d { priority %d DENY read IF path EQUALS \"%d\" MESSAGE \"m\" }\n", i, i, i)
		fmt.Fprintf(&b, "rule l%d { priority 100 LOG any IF path EQUALS \"%d\" MESSAGE \"m\" }\n", i, i)
	}
	const hidden = "59: rules that never fire because of one of higher priority: 10 more than are listed here; " +
		"this is the last"
	if got := noted(set(t, b.String())); len(got) != 21 || got[20] != hidden {
		t.Errorf("%d notes:\n%s", len(got), strings.Join(got, "\n"))
	}
	b.Reset()
	for i := range 10 {
		fmt.Fprintf(&b, "rule d%d { DENY read IF path EQUALS \"%[1]d\" MESSAGE \"m\" }\n"+
			"rule l%[1]d { LOG read IF path EQUALS \"%[1]d\" MESSAGE \"m\" }\n", i)
	}
	b.WriteString("rule alone { priority 7 LOG read IF path EQUALS \"x\" MESSAGE \"m\" }\n") // is no pair's
	const ties = "20: pairs of rules of one priority and target that decide differently: 80 more than are listed " +
		"here; this is the last"
	if got := noted(set(t, b.String())); len(got) != 21 || got[20] != ties {
		t.Errorf("%d notes:\n%s", len(got), strings.Join(got, "\n"))
	}
}

// 0-37 "Disabled by default (Fails Closed)", 0-38 "circuit_breaker = true under the [hook] block in config.toml",
// 0-41 "tty (default)", 0-44 "Configure per-project in .sigmashake/config.toml".
func TestRow_0_38_Config(t *testing.T) {
	for text, want := range map[string]Config{
		"":                              {AskMode: ask.TTY},
		"[hook]\n":                      {AskMode: ask.TTY},
		"[hook]\nask_mode = \"tty\"":    {AskMode: ask.TTY},
		"[hook]\r\nask_mode = \"tty\"":  {AskMode: ask.TTY},
		"hook.ask_mode = 'dashboard'":   {AskMode: ask.Dashboard},
		"hook.ask_mode = 'agent'":       {AskMode: ask.Agent},
		"hook = { ask_mode = \"tty\" }": {AskMode: ask.TTY},
		"[hook]\ncircuit_breaker = true # ask_mode = 1":           {AskMode: ask.TTY, CircuitBreaker: true},
		"[hook]\ncircuit_breaker = false":                         {AskMode: ask.TTY},
		"[serve]\nport = 1\ncircuit_breaker = true\n[[x]]\n[x.y]": {AskMode: ask.TTY},
		"[Hook]\ncircuit_breaker = true":                          {AskMode: ask.TTY},
		"circuit_breaker = true":                                  {AskMode: ask.TTY},
	} {
		if got, err := ReadConfig(&document.Source{Name: "config.toml", Text: []byte(text)}); err != nil ||
			got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestConfigErrors: what is before each error, and how it begins.
func TestConfigErrors(t *testing.T) {
	const boolean = "circuit_breaker is not true or false; write true or false, without quotes"
	const notKey, notTable = "is not a key of [hook]; the keys are ", "hook is not a table; write [hook] and its keys"
	for text, want := range map[string]string{
		"[hook]\nask_mode = \"web\"":             `2: ask_mode = "web"; write "tty", "dashboard" or "agent"`,
		"[hook]\nask_mode = 1":                   `2: ask_mode is not a string; write "tty", "dashboard" or "agent"`,
		"\n[hook]\n\ncircuit_breaker = \"true\"": `4: ` + boolean,
		"[hook]\ncircuit_breaker = 1":            `2: ` + boolean,
		"[x]\na=1\n[hook]\nx = 1\nASK_MODE = \"tty\"": `4: "x" ` + notKey + "ask_mode and circuit_breaker\n" +
			`config.toml:5: "ASK_MODE" ` + notKey,
		"[hook]\n[hook.sub]\nx = 1":                    `2: "sub" ` + notKey,
		"\nhook = { x = 1 }":                           `2: "x" ` + notKey,
		"\nhook = 1":                                   `2: ` + notTable,
		"\n[[hook]]\nask_mode = \"tty\"":               `2: ` + notTable,
		"[hook]\nask_mode = \"tty\"\nask_mode = \"x\"": `3:1: it is not TOML: toml: key ask_mode is already defined`,
		"[hook]\nask_mode = tty":                       `2:12: it is not TOML: `,
		"[hook]\nx = \"\xff\"":                         `2:6: a byte that is not UTF-8`,
	} {
		c, err := ReadConfig(&document.Source{Name: "config.toml", Text: []byte(text)})
		var errs document.Errors
		if !errors.As(err, &errs) || !strings.HasPrefix(err.Error(), "config.toml:"+want) || c != (Config{}) {
			t.Errorf("%q: %+v\n got  %v\n want %s", text, c, err, want)
		}
	}
}
