package callrules

import (
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
)

// specific is a set of rules, the most specific first.
func specific(def Effect, rules ...Rule) *Set {
	return &Set{Name: "p", Strategy: MostSpecific, Default: def, Rules: rules}
}

func ruleOf(domain string, effect Effect, id string, tests ...*Test) Rule {
	r := Rule{ID: id, Domain: domain, Effect: effect}
	for _, t := range tests {
		t.Shown = id
		r.When.All = append(r.When.All, Predicate{Test: t})
	}
	return r
}

// "If multiple domains matched (rare): deny > ask > allow (deny-overrides)". No call of a tool asks for two
// things, so the facts are made here.
func TestRow_4_21_AcrossDomains(t *testing.T) {
	for _, test := range []struct{ exec, fs, net, want Effect }{
		{Allow, Allow, Deny, Deny},
		{Deny, Allow, Ask, Deny},
		{Allow, Ask, Allow, Ask},
		{Ask, Deny, Allow, Deny},
		{Allow, Allow, Allow, Allow},
		{"", Allow, "", Allow}, // the default, deny, has no say where a rule matched
		{"", "", "", Deny},
	} {
		s := specific(Deny)
		for _, d := range []struct {
			name   string
			effect Effect
		}{{"exec", test.exec}, {"fs", test.fs}, {"net", test.net}} {
			if d.effect != "" {
				s.Rules = append(s.Rules, ruleOf(d.name, d.effect, d.name))
			}
		}
		f := &facts{call: &call.Call{Tool: "x"}, operated: true, ops: call.Operations{
			Exec: true, Net: true, Runs: call.Program{Name: call.Text("git")},
			Op: call.Text("read"), Path: call.Text("/a"), Host: call.Text("b")}}
		w := &walk{set: s, facts: f, trace: &Trace{}}
		out := w.mostSpecific()
		if out.Effect != test.want {
			t.Errorf("%+v: %s", test, out.Effect)
		}
		for _, r := range s.Rules { // of equal ones the first
			if r.Effect == test.want {
				if out.Rule == nil || out.Rule.ID != r.ID {
					t.Errorf("%+v: by %+v, not by %s", test, out.Rule, r.ID)
				}
				break
			}
		}
		if several := len(s.Rules) == 3; strings.Contains(w.trace.Resolution, "the strictest") != several {
			t.Errorf("%+v: %q", test, w.trace.Resolution)
		}
	}
}

// What cannot be determined is never a pass: of the rules that it might be, and the default, the strictest.
func TestWhatCannotBeDetermined(t *testing.T) {
	etc := func(r *Test) *Test { r.Fact.Source, r.Op, r.Text = FromFSPath, Under, "/etc"; return r }
	denied := ruleOf("fs", Deny, "no /etc", etc(&Test{}))
	deniedToo := ruleOf("fs", Deny, "no /etc either", etc(&Test{}))
	others := ruleOf("fs", Allow, "not /etc", etc(&Test{Not: true}))
	any := ruleOf("fs", Allow, "any")
	write := ruleOf("fs", Deny, "no write", &Test{Fact: Fact{Source: FromFSOp}, Op: Equals, Text: "write"})
	for _, test := range []struct {
		name string
		set  *Set
		want Effect
		rule string
	}{
		{"a rule might deny, the default allows", specific(Allow, denied), Deny, "no /etc"},
		{"a rule might allow, the default denies", specific(Deny, others), Deny, ""},
		{"a rule might allow, and so does the default", specific(Allow, others), Allow, ""},
		{"a rule allows whatever it is", specific(Deny, any), Allow, "any"},
		{"a rule allows whatever it is, and one might deny before", specific(Deny, denied, any), Deny, "no /etc"},
		{"two rules might deny: the first", specific(Allow, denied, others, deniedToo), Deny, "no /etc"},
		{"a rule allows whatever it is, and one would deny behind", specific(Deny, any, denied), Allow, "any"},
		{"what is known counts", specific(Allow, write), Allow, ""},
	} {
		for _, c := range []*call.Call{
			{Tool: "Read", Dir: "/w"}, // no file_path
			// in a folder that is not known
			{Tool: "Read", Input: call.NewObject(call.Member{Name: "file_path", Value: call.Text("../x")})},
		} {
			out := test.set.Decide(c, Options{Trace: true})
			id := ""
			if out.Rule != nil {
				id = out.Rule.ID
			}
			if out.Effect != test.want || id != test.rule || !strings.Contains(out.Reason, "cannot be determined") {
				t.Errorf("%s: %s by %q: %s", test.name, out.Effect, id, out.Reason)
			}
			if len(out.Trace.Steps) != len(test.set.Rules) {
				t.Errorf("%s: %d steps", test.name, len(out.Trace.Steps))
			}
		}
	}
	for _, c := range []*call.Call{{Tool: "Bash"}, {Tool: "WebFetch"}} {
		s := specific(Allow, ruleOf("exec", Deny, "no git",
			&Test{Fact: Fact{Source: FromExecBin}, Op: Equals, Text: "git"}),
			ruleOf("net", Ask, "evil?", &Test{Fact: Fact{Source: FromNetHost}, Op: Equals, Text: "evil.com"}))
		if out := s.Decide(c, Options{}); out.Effect.Rank() == 0 {
			t.Errorf("%s: %s", c.Tool, out.Effect)
		}
	}
}
