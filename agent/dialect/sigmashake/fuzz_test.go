package sigmashake

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// FuzzRead: a reader never panics; an error is in the file; what loads judges calls.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`rule r { enabled true priority 90 severity error DENY execution IF command CONTAINS "x" MESSAGE "m" }`))
	f.Add([]byte("rule r { ASK edit\nIF NOT (path GLOB \"**/{a,b}/?*\" OR content LINE_REGEX \"^(?:a+)+$\")\ncommand NOT WORD \"w\" AND input.a.b EQUALS \"\"\nPROMPT \"p\" }"))
	f.Add([]byte("# c\nrule r { FORCE any IF tool ENDS_WITH \"\\\"\\\\\\n\n\" SUBSTITUTE \"s\" CONTEXT \"c\" }\nrule s { LOG read IF tool STARTS_WITH \"\" }"))
	f.Add([]byte("rule r { AMBIENT RUN \"x\" } rule \"s { } ( ' \xff"))
	var calls []*call.Call
	for _, line := range []string{bash("git push --force x"), write("/w/a/b.ts", "a // b\nc\r\n"),
		input(`{"a.b":[1,null]}`), `{"tool":"MultiEdit"}`} {
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

// FuzzReadConfig: no text makes it panic, or turns the circuit breaker on without saying so.
func FuzzReadConfig(f *testing.F) {
	for _, text := range []string{"", "[hook]\nask_mode = \"tty\"\ncircuit_breaker = true\n",
		"hook = { x = 1 }\n[y]\nz = 2", "[[hook]]", "hook.a.b = []"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ReadConfig(&document.Source{Name: "config.toml", Text: text})
		var errs document.Errors
		switch {
		case err == nil && c.AskMode != ask.TTY && c.AskMode != ask.Agent && c.AskMode != ask.Dashboard:
			t.Errorf("%+v", c)
		case c.CircuitBreaker && !bytes.Contains(text, []byte("true")):
			t.Errorf("%+v", c)
		case err != nil && (!errors.As(err, &errs) || c != Config{}):
			t.Errorf("%T %v, %+v", err, err, c)
		}
		for _, e := range errs {
			if e.Line < 0 || e.Line > bytes.Count(text, []byte("\n"))+1 {
				t.Errorf("%+v", e)
			}
		}
	})
}
