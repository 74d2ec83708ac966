package sigmashake

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
	"golang.org/x/tools/txtar"
)

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
