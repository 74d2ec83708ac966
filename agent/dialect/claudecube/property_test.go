package claudecube

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// made are some rules, each as it is in a file, and what a plain reading of the document needs of them.
type made struct {
	text    string
	action  string
	name    string
	tools   []string
	field   string // "" without a match
	literal string
	regex   string
}

func makeRules(r *rand.Rand, actions ...string) []made {
	var all []made
	for i := range 1 + r.IntN(6) {
		m := made{action: actions[r.IntN(len(actions))], name: fmt.Sprintf("R%d", i)}
		for _, tool := range []string{"Bash", "Edit", "Read"} {
			if r.IntN(2) == 0 {
				m.tools = append(m.tools, tool)
			}
		}
		if m.tools == nil {
			m.tools = []string{"Bash"}
		}
		var patterns []string
		if r.IntN(4) > 0 {
			m.field = []string{"command", "file_path"}[r.IntN(2)]
			m.literal, m.regex = []string{"a", "b", "ab"}[r.IntN(3)], []string{"^a", "b$", "c+", "^$"}[r.IntN(4)]
			patterns = []string{"literal " + m.literal, "regex " + m.regex}
		}
		m.text = rule(i, m.action, strings.Join(m.tools, "|"), m.field, patterns...)
		all = append(all, m)
	}
	return all
}

func joined(list []made) string {
	var b strings.Builder
	for _, m := range list {
		b.WriteString(m.text)
	}
	return b.String()
}

func makeCall(r *rand.Rand) *call.Call {
	var members []call.Member
	for _, name := range []string{"command", "file_path"} {
		if r.IntN(3) > 0 {
			members = append(members, call.Member{Name: name,
				Value: call.Text([]string{"", "a", "b", "ab", "cc", "xa"}[r.IntN(6)])})
		}
	}
	return &call.Call{Tool: []string{"Bash", "Edit", "Read", "Task"}[r.IntN(4)], Input: call.NewObject(members...)}
}

// naive is the document read aloud: section 2.4, over the rules as they were made.
func naive(list []made, c *call.Call) (action, name string) {
	for _, action := range []string{"deny", "allow", "escalate"} {
		for _, m := range list {
			if m.action != action || !strings.Contains("|"+strings.Join(m.tools, "|")+"|", "|"+c.Tool+"|") {
				continue
			}
			value := c.Input.Member(m.field)
			if m.field == "" || value != nil &&
				(value.Str() == m.literal || regexp.MustCompile(m.regex).MatchString(value.Str())) {
				return action, m.name
			}
		}
	}
	return "escalate", "-"
}

func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 19))
	seen := map[string]int{}
	for range 1000 {
		list := makeRules(r, "deny", "allow", "escalate")
		set := read(t, head+joined(list))
		for range 5 {
			c := makeCall(r)
			action, name := naive(list, c)
			seen[action]++
			decides(t, set, c.Tool, c.Input.JSON(), action, name)
		}
	}
	for _, action := range []string{"deny", "allow", "escalate"} {
		if seen[action] < 300 {
			t.Errorf("only %d of %s", seen[action], action)
		}
	}
}

// FuzzRead: the reader never panics; mistakes have positions, and valid rules can be evaluated.
func FuzzRead(f *testing.F) {
	for _, c := range rows(f) {
		text, _, _ := bytes.Cut(c.Data, []byte("\n=>\n"))
		f.Add(text)
	}
	f.Add([]byte(head + rule(1, "deny", "Bash|Edit", "a.b", "literal a", "regex ^[^a].*$", "glob {a,.b}/**")))
	f.Add([]byte("---"))
	f.Add([]byte("# comment\n00"))
	f.Add([]byte("version: \"1\"\r\ndefaults: {max_budget_per_agent: 1e3}\r\nrules: []\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := Read(&document.Source{Name: "f", Text: text})
		if err != nil {
			var list document.Errors
			if !errors.As(err, &list) || len(list) == 0 || set != nil {
				t.Fatalf("%v, %v", set, err)
			}
			lines := strings.Split(string(text), "\n")
			for _, e := range list {
				if e.Line < 0 || e.Line > len(lines) || e.Line > 0 && e.Column > len(lines[e.Line-1])+1 {
					t.Errorf("%d lines: %v", len(lines), e)
				}
			}
			return
		}
		for _, r := range set.Rules {
			if r.ID == "" || r.Origin.Line < 1 || r.Origin.Line > len(strings.Split(string(text), "\n")) {
				t.Errorf("%+v", r)
			}
		}
		for _, tool := range []string{"Bash", "Edit"} {
			out := set.Decide(uses(tool, `{"command": "rm\n", "a": {"b": "😀"}, "timeout": 5}`),
				callrules.Options{Trace: true})
			if out.Decision != "deny" && out.Decision != "allow" && out.Decision != "escalate" || out.Reason == "" {
				t.Errorf("%+v", out)
			}
		}
	})
}
