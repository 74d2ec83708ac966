package sigmashake

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// A made rule is what of a rule a plain reading of the document needs.
type made struct {
	id, decision string
	priority     int
	enabled      bool
	target       string
	groups       [][]string // texts that the command must contain: any group, all of a group
}

func (m made) String() string {
	var groups []string
	for _, g := range m.groups {
		var all []string
		for _, text := range g {
			all = append(all, fmt.Sprintf("command CONTAINS %q", text))
		}
		groups = append(groups, strings.Join(all, "\n  AND "))
	}
	more := map[string]string{"ASK": ` PROMPT "?"`, "FORCE": ` SUBSTITUTE "x"`}[m.decision]
	return fmt.Sprintf("rule %s { enabled %t priority %d\n  %s %s\n  IF %s\n  MESSAGE \"m\"%s }\n",
		m.id, m.enabled, m.priority, m.decision, m.target, strings.Join(groups, "\n  OR "), more)
}

// makeRules makes rules of distinct priorities.
func makeRules(r *rand.Rand) []made {
	var all []made
	for i, priority := range r.Perm(7)[:1+r.IntN(6)] {
		m := made{
			id: fmt.Sprintf("r%d", i), priority: 10*priority - 20, enabled: r.IntN(5) > 0,
			decision: []string{"DENY", "ALLOW", "LOG", "SHADOW", "ASK", "FORCE"}[r.IntN(6)],
			target:   []string{"execution", "any", "read"}[r.IntN(3)],
		}
		for range 1 + r.IntN(2) {
			var g []string
			for range 1 + r.IntN(2) {
				g = append(g, []string{"a", "b", "c"}[r.IntN(3)])
			}
			m.groups = append(m.groups, g)
		}
		all = append(all, m)
	}
	return all
}

// naive is the document's algorithm read aloud: "Sort rules by priority descending", "Filter to enabled rules only",
// "If both match → return immediately", "Default: return {decision: "allow"}".
func naive(all []made, tool, command string) string {
	words := map[string]string{"DENY": "block", "ALLOW": "allow", "LOG": "log", "SHADOW": "shadow", "ASK": "ask",
		"FORCE": "force"}
	var best *made
	for i := range all {
		m := &all[i]
		about := m.target == "any" || m.target == "execution" && tool == "Bash" || m.target == "read" && tool == "Read"
		any := false
		for _, g := range m.groups {
			every := true
			for _, text := range g {
				every = every && strings.Contains(command, text)
			}
			any = any || every
		}
		if m.enabled && about && any && (best == nil || m.priority > best.priority) {
			best = m
		}
	}
	if best == nil {
		return "allow"
	}
	return words[best.decision] + " " + best.id
}

// With distinct priorities the lines of the rules may be in any order, in one file or in several, and the outcome is
// that of the document.
func TestOrderOfLines(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 1))
	seen := map[string]int{}
	for range 500 {
		all := makeRules(r)
		other := append([]made{}, all...)
		r.Shuffle(len(other), func(i, k int) { other[i], other[k] = other[k], other[i] })
		var one strings.Builder
		files := []*document.Source{{Name: "b.rules"}, {Name: "a.rules"}, {Name: "c.rules"}}
		for i := range all {
			one.WriteString(all[i].String())
			f := files[r.IntN(3)]
			f.Text = append(f.Text, other[i].String()...)
		}
		for _, f := range files {
			f.Text = append(f.Text, "# the end\n"...)
		}
		first := set(t, one.String())
		second, err := Read("rules", files)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			tool := []string{"Bash", "Read", "Write"}[r.IntN(3)]
			command := []string{"", "a", "b", "ab", "bc", "abc"}[r.IntN(6)]
			want := naive(all, tool, command)
			line := `{"tool":"` + tool + `","input":{"command":"` + command + `"}}`
			for _, s := range []*callrules.Set{first, second} {
				if got := decide(t, s, line); got != want {
					t.Fatalf("%s %q: %s, want %s\n%s", tool, command, got, want, one.String())
				}
			}
			word, _, _ := strings.Cut(want, " ")
			seen[word]++
		}
	}
	for _, word := range []string{"block", "allow", "log", "shadow", "ask", "force"} {
		if seen[word] < 50 {
			t.Errorf("only %d of %s", seen[word], word)
		}
	}
}

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
