package callrules

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/internal/cputime"
	"pgregory.net/rapid"
)

// TestWhyNot: what a trace says of a rule that did not match, and that a set without a strategy denies.
func TestWhyNot(t *testing.T) {
	for _, c := range []struct {
		when Predicate
		want string
	}{
		{Predicate{Test: &Test{Op: Equals, Text: "Bash", Shown: "tool is Bash"}}, "tool is Bash does not hold"},
		{Predicate{Test: &Test{Op: Matches, Broken: "it does not compile", Shown: "tool is like ("}},
			"tool is like ( cannot be asked: it does not compile"},
		{Predicate{Any: []Predicate{}}, "it asks for nothing that exists"},
	} {
		set := &Set{Strategy: AllViolations, Rules: []Rule{{Effect: Deny, When: c.when}}}
		if got := set.Decide(&call.Call{Tool: "Read"}, Options{Trace: true}).Trace.Steps[0].Why; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if out := (&Set{Name: "s"}).Decide(&call.Call{Tool: "x"}, Options{}); out.Effect != Deny {
		t.Errorf("a set without a strategy: %+v", out)
	}
}

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
			// in a directory that is not known
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

func TestSummary(t *testing.T) {
	rules := func(effects ...Effect) (all []Rule) {
		for _, e := range effects {
			all = append(all, Rule{Effect: e})
		}
		return all
	}
	disabled := rules(Deny, Shadow)
	disabled[1].Disabled = true
	for _, c := range []struct {
		set  Set
		want string
	}{
		{Set{}, "no rules"},
		{Set{Rules: rules(Allow)}, "1 rule: 1 allow"},
		{Set{Rules: rules(Ask, Allow, Deny, Allow), Words: map[Effect]string{Ask: "escalate"}},
			"4 rules: 1 deny, 2 allow, 1 escalate"},
		{Set{Rules: rules(Deny, Force, Log), Words: map[Effect]string{Deny: "block"}},
			"3 rules: 1 block, 1 force, 1 log"},
		{Set{Rules: disabled}, "2 rules: 1 deny, 1 shadow; 1 of them not enabled"},
	} {
		if got := c.set.Summary(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Each is whether each test can have its own item: against all ways to give them out.
func TestEachIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching("[abc]{1,3}")
		wanted := rapid.SliceOfN(letters, 0, 4).Draw(t, "wanted") // an item must be one of these letters
		items := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 5).Draw(t, "items")
		test := &Test{Fact: Fact{Source: FromExecArgs}, Op: Each}
		for _, w := range wanted {
			any := Predicate{Any: []Predicate{}}
			for _, l := range w {
				any.Any = append(any.Any, Predicate{Test: &Test{Fact: Fact{Source: FromItem}, Text: string(l)}})
			}
			test.Each = append(test.Each, any)
		}
		var every func(from int, left []string) bool
		every = func(from int, left []string) bool {
			if from == len(wanted) {
				return true
			}
			for i, item := range left {
				if strings.Contains(wanted[from], item) && every(from+1, slices.Delete(slices.Clone(left), i, i+1)) {
					return true
				}
			}
			return false
		}
		f := &facts{operated: true, ops: call.Operations{Exec: true, Runs: call.Program{Name: call.Text("x")}}}
		for _, item := range items {
			f.ops.Runs.Args = append(f.ops.Runs.Args, call.Text(item))
		}
		if got, want := test.holds(f), every(0, items); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func parsedValue(t testing.TB, text string) *call.Value {
	t.Helper()
	v, err := call.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// An input is an agent's to choose, and a hook that is late is one that did not speak: what is under 100 KB takes no
// second, whatever it is. For a hundred rules this took two minutes.
func TestManyRulesAreFast(t *testing.T) {
	var members []call.Member
	for i := 12_000; i > 0; i-- { // JavaScript has such names in numerical order
		members = append(members, call.Member{Name: fmt.Sprint(i), Value: call.Text("x")})
	}
	names := call.NewObject(call.Member{Name: "a", Value: call.NewObject(members...)})
	set := &Set{Strategy: AllViolations, Default: Allow}
	for range 100 {
		set.Rules = append(set.Rules, Rule{Effect: Deny, When: Predicate{Test: &Test{
			Fact: Fact{Source: FromInput, Path: []string{"a"}, JSON: true}, Op: Contains, Text: "y"}}})
	}
	took := cputime.Of(func() { set.Decide(&call.Call{Tool: "X", Input: names}, Options{}) })
	if took > 800*time.Millisecond {
		t.Errorf("it took %s", took)
	}
}

// A decision allocates nothing for each of its rules.
func TestAllocations(t *testing.T) {
	for _, s := range []Strategy{PriorityFirst, DenyOverrides, CategoryFirst, MostSpecific, AllViolations} {
		set := &Set{Strategy: s, Default: Allow, Policies: []Policy{{ID: "p", Default: Allow}}}
		for range 1000 {
			set.Rules = append(set.Rules, Rule{Effect: Deny, Domain: "exec", When: Predicate{All: []Predicate{
				{Test: &Test{Fact: Fact{Source: FromTool}, Op: Equals, Text: "Bash"}},
				{Test: &Test{Fact: Fact{Source: FromCapability}, Op: Equals, Text: "execute"}},
				{Test: &Test{Fact: Fact{Source: FromExecBin}, Op: Equals, Text: "git"}},
				{Test: &Test{Fact: Fact{Source: FromExecArgs}, Op: Each, Each: []Predicate{
					{Test: &Test{Fact: Fact{Source: FromItem}, Op: Equals, Text: "--force"}}}}},
				{Test: &Test{Fact: Fact{Source: FromInput, Path: []string{"command"}}, Op: Contains, Text: "nothing"}},
			}}})
		}
		c := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text("git push --force")})}
		if got := testing.AllocsPerRun(10, func() { set.Decide(c, Options{}) }); got > 100 {
			t.Errorf("%s: %v allocations for 1000 rules", s, got)
		}
	}
}

// TestWhichCommand: a trace says which command of a line decided, or why none did.
func TestWhichCommand(t *testing.T) {
	git := Predicate{Test: &Test{Fact: Fact{Source: FromProgram}, Op: Equals, Text: "git", Shown: "program is git"}}
	for _, c := range []struct {
		effect     Effect
		line, want string
	}{
		{Deny, "ls; git push", `command 2 of 2: "git push"`},
		{Allow, "git a; git b", "all of 2 commands"},
		{Allow, "git a; ls", `command 2 of 2, program is git does not hold: "ls"`},
		{Allow, "A=1 git a", `command 1 of 1 cannot be read in full (environment): "git a"`},
	} {
		set := &Set{Strategy: AllViolations, Default: Ask,
			Rules: []Rule{{ID: "r", Effect: c.effect, When: git, EachCommand: true}}}
		asked := &call.Call{Tool: "Bash", Input: parsedValue(t, `{"command":"`+c.line+`"}`)}
		if steps := set.Decide(asked, Options{Trace: true}).Trace.Steps; steps[0].Reason() != c.want {
			t.Errorf("%s, %q: %+v, want %s", c.effect, c.line, steps, c.want)
		}
	}
}

// allLines is a Regexp with one bound for all lines.
type allLines struct{ lines *[]string }

func (allLines) MatchString(string) bool { panic("matched with one line") }

func (r allLines) MatchAny(lines iter.Seq[string]) bool {
	*r.lines = slices.Collect(lines)
	return true
}

func TestLinesShareOneBound(t *testing.T) {
	var asked []string
	test := &Test{Op: Matches, ByLine: true, Regexp: allLines{&asked}}
	if !test.asks("a // b\r\n\nhttps://c") || !slices.Equal(asked, []string{"a ", "", "https:"}) {
		t.Errorf("%q", asked)
	}
}
