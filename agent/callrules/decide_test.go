package callrules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/call/shell"
	"github.com/policyscan/policyscan/internal/cputime"
	"pgregory.net/rapid"
)

// 0-02: rules of one priority keep the order of their files, however many they are: a sort that is stable for twelve
// by accident is not for a hundred.
func TestRow_0_02_ManyTies(t *testing.T) {
	set := &Set{Strategy: PriorityFirst, Default: Allow}
	for i := range 300 {
		set.Rules = append(set.Rules, Rule{ID: fmt.Sprintf("%d.%03d", 2-i%3, i), Effect: Log, Priority: -(i % 3),
			When: Predicate{Any: []Predicate{}}})
	}
	out := set.Decide(&call.Call{Tool: "x"}, Options{Trace: true})
	if out.Rule != nil || len(out.Trace.Steps) != 300 {
		t.Fatalf("%+v, %d steps", out.Rule, len(out.Trace.Steps))
	}
	for i, s := range out.Trace.Steps {
		if want := fmt.Sprintf("%d.%03d", 2-i/100, i%100*3+i/100); s.Rule.ID != want {
			t.Fatalf("step %d is %s, not %s", i, s.Rule.ID, want)
		}
	}
}

// Where no rule decides it is the set's default, in every strategy; and the trace says so.
func TestDefaults(t *testing.T) {
	never := Rule{ID: "never", Effect: Allow, Domain: "exec", When: Predicate{Any: []Predicate{}}}
	for _, s := range []Strategy{PriorityFirst, DenyOverrides, CategoryFirst, MostSpecific, AllViolations} {
		for _, def := range []Effect{Deny, Ask, Allow} {
			set := &Set{Strategy: s, Default: def, Policies: []Policy{{Default: def}}, Rules: []Rule{never}}
			out := set.Decide(&call.Call{Tool: "Bash",
				Input: call.NewObject(call.Member{Name: "command", Value: call.Text("ls")})}, Options{Trace: true})
			if out.Effect != def || out.Rule != nil || out.Code != "" {
				t.Errorf("%s, default %s: %+v", s, def, out)
			}
			if want := string(def) + ": no rule decides, so the default"; out.Trace.Resolution != want {
				t.Errorf("%s: %q", s, out.Trace.Resolution)
			}
		}
	}
	if out := (&Set{Name: "s"}).Decide(&call.Call{Tool: "x"}, Options{}); out.Effect != Deny ||
		!strings.Contains(out.Reason, "has no strategy") {
		t.Errorf("a set without a strategy: %+v", out)
	}
}

// TestStrategies: which rule decides, and what is said then. Of every rule the trace has a step.
func TestStrategies(t *testing.T) {
	deny, ask, allow := Rule{ID: "d", Effect: Deny}, Rule{ID: "k", Effect: Ask, Reason: "why"}, Rule{ID: "a",
		Effect: Allow}
	never := Rule{ID: "n", Effect: Deny, When: Predicate{Any: []Predicate{}}}
	in := func(policy int, r Rule) Rule { r.Policy = policy; return r }
	one, two := []Policy{{ID: "p", Default: Allow}}, []Policy{{ID: "p", Default: Deny}, {ID: "q", Default: Allow}}
	broken := []Policy{{ID: "p"}, {ID: "q", Broken: "it is"}}
	const late, compile = "evaluation exceeded wall-clock budget — failing closed", "policy contains a regex " +
		"pattern that failed to compile — failing closed: policy q, it is"
	for _, c := range []struct {
		set  Set
		call call.Call
		want string // effect, code, policy and rule: reason
	}{
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{allow}, Frozen: []string{"X"}},
			call.Call{Agent: "x"}, "deny AGENT_FROZEN - -: agent frozen by operator"},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{allow}, Frozen: []string{"X"}},
			call.Call{Request: call.NewObject(call.Member{Name: "agent_id", Value: call.Text("x")})},
			"deny AGENT_FROZEN - -: agent frozen by operator"},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{allow}, Frozen: []string{"X"}}, call.Call{},
			"allow - p a: "},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{allow, deny, allow}}, call.Call{},
			"deny - p d: denied by rule d"},
		{Set{Strategy: DenyOverrides, Policies: two, Rules: []Rule{allow, in(1, never), in(1, deny)}}, call.Call{},
			"deny - q d: denied by rule d"},
		{Set{Strategy: DenyOverrides, Policies: two, Rules: []Rule{in(1, allow), in(1, never)}}, call.Call{},
			"allow - q a: "},
		{Set{Strategy: DenyOverrides, Policies: two, Rules: []Rule{never, in(1, never)}}, call.Call{},
			"deny - - -: no rule matches; default of the first policy: deny"},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{never}}, call.Call{}, "allow - - -: "},
		{Set{Strategy: DenyOverrides, Policies: broken, Rules: []Rule{allow, in(1, allow)}}, call.Call{},
			"deny POLICY_COMPILE_ERROR q -: " + compile},
		// A look at the clock takes a second.
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{never, never, deny}, Budget: 2 * time.Second},
			call.Call{}, "deny EVAL_TIMEOUT - -: " + late},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{never, never, deny}, Budget: 3 * time.Second},
			call.Call{}, "deny - p d: denied by rule d"},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{never, never, deny}}, call.Call{},
			"deny - p d: denied by rule d"},

		{Set{Strategy: CategoryFirst, Rules: []Rule{ask, allow, deny, deny}}, call.Call{},
			"deny - - d: Denied by rule: d"},
		{Set{Strategy: CategoryFirst, Rules: []Rule{ask, never, allow}}, call.Call{},
			"allow - - a: Allowed by rule: a"},
		{Set{Strategy: CategoryFirst, Rules: []Rule{never, ask}}, call.Call{}, "ask - - k: why"},
		{Set{Strategy: CategoryFirst, Rules: []Rule{never}, Default: Ask}, call.Call{},
			"ask - - -: No matching rule; default action: ask"},

		{Set{Strategy: AllViolations, Rules: []Rule{allow, ask, never, deny}}, call.Call{}, "deny - - d: why; d"},
		{Set{Strategy: AllViolations, Rules: []Rule{deny, {ID: "f", Effect: Force}}}, call.Call{}, "deny - - d: d; f"},
		{Set{Strategy: AllViolations, Rules: []Rule{never, allow}, Default: Deny}, call.Call{}, "allow - - a: a"},
		{Set{Strategy: AllViolations, Rules: []Rule{never}, Default: Deny}, call.Call{},
			"deny - - -: no rule matches; default: deny"},
		{Set{Strategy: AllViolations, Rules: []Rule{never}, Default: Allow}, call.Call{}, "allow - - -: "},
	} {
		var now time.Time
		clock := func() time.Time { now = now.Add(time.Second); return now }
		for _, o := range []Options{{Clock: clock}, {Clock: clock, Trace: true}} {
			out := c.set.Decide(&c.call, o)
			policy, rule := "-", "-"
			if out.Policy != nil {
				policy = out.Policy.ID
			}
			if out.Rule != nil {
				rule = out.Rule.ID
			}
			if got := fmt.Sprintf("%s %s %s %s: %s", out.Effect, cmp.Or(out.Code, "-"), policy, rule,
				out.Reason); got != c.want {
				t.Errorf("%s of %+v: got %q, want %q", c.set.Strategy, c.set.Rules, got, c.want)
			}
			if o.Trace && len(out.Trace.Steps) != len(c.set.Rules) {
				t.Errorf("%s of %+v: %d steps", c.set.Strategy, c.set.Rules, len(out.Trace.Steps))
			}
		}
	}
	slow := Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{deny}, Budget: time.Nanosecond}
	if out := slow.Decide(&call.Call{}, Options{}); out.Rule == nil {
		t.Errorf("without a clock there is no budget: %+v", out)
	}
}

// TestWhyNot: what a trace says of a rule that did not match.
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

// TestFallback: it is what the set decides of a call that none of its rules matches.
func TestFallback(t *testing.T) {
	for _, s := range []Set{
		{Strategy: AllViolations, Default: Deny},
		{Strategy: PriorityFirst, Default: Allow},
		{Strategy: CategoryFirst, Default: Ask},
		{Strategy: MostSpecific, Default: Deny},
		{Strategy: DenyOverrides, Default: Allow},
		{Strategy: DenyOverrides, Default: Deny, Policies: []Policy{{Default: Allow}, {Default: Deny}}},
	} {
		if got, want := s.Fallback(), s.Decide(&call.Call{Tool: "x"}, Options{}).Effect; got != want {
			t.Errorf("%s: got %s, want %s", s.Strategy, got, want)
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

// A text that no rule changes is the same for each that asks for it, and for each call its own.
func TestJSONOfEachCall(t *testing.T) {
	fact := Fact{Source: FromInput, Path: []string{"a"}, JSON: true}
	for _, want := range []string{`[1]`, `{"b":[2]}`, `[]`, `5`, `true`, `x`} {
		in := want
		if want == "x" {
			in = `"x"`
		}
		f := &facts{call: &call.Call{Input: call.NewObject(call.Member{Name: "a", Value: parsedValue(t, in)})}}
		for range 2 {
			if got, ok := f.text(&fact); got != want || !ok {
				t.Errorf("%s: %q", want, got)
			}
		}
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

// TestCapabilityFacts: the facts that the targets of sigmashake's rules are about.
func TestCapabilityFacts(t *testing.T) {
	for tool, want := range map[string]string{
		"Bash": "execute -", "Edit": "write edit", "apply_patch": "write edit", "MultiEdit": "write edit",
		"Write": "write -", "NotebookEdit": "write -", "mcp__x__y": "- -",
	} {
		f := &facts{call: &call.Call{Tool: tool}}
		got := ""
		for _, of := range []Fact{{Source: FromCapability}, {Source: FromEdits}} {
			text, ok := f.text(&of)
			if !ok {
				text = "-"
			}
			got += " " + text
		}
		if got != " "+want {
			t.Errorf("%s:%s, not %s", tool, got, want)
		}
	}
}

// TestEachCommand: a rule that denies is met by any command of a line, by any name of its program; one that allows
// needs all of them as they are written, and none that hides another.
func TestEachCommand(t *testing.T) {
	program := func(name string, not bool) Predicate {
		return Predicate{Test: &Test{Fact: Fact{Source: FromProgram}, Op: Equals, Text: name, Not: not,
			Shown: "program"}}
	}
	item := []Predicate{{Test: &Test{Fact: Fact{Source: FromItem}, Op: Equals, Text: "push"}}}
	push := Predicate{Test: &Test{Fact: Fact{Source: FromArguments}, Op: Each, Each: item, Shown: "push"}}
	noPush := Predicate{Test: &Test{Fact: Fact{Source: FromArguments}, Op: Each, Each: item, Not: true,
		Shown: "no push"}}
	unseen := func(reason string) Predicate {
		return Predicate{Test: &Test{Fact: Fact{Source: FromUnseen}, Op: Equals, Text: reason, Shown: "unseen"}}
	}
	git, noGit := program("git", false), program("git", true)
	for _, c := range []struct {
		line string
		when Predicate
		want string // by a rule that denies, by one that allows
	}{
		{"git push", git, "yes yes"},
		{"ls; git push", git, "yes no"},
		{"git a; git b", git, "yes yes"},
		{"/usr/bin/git a", git, "yes no"},
		{"/usr/bin/git a", noGit, "yes no"},
		{"ls", noGit, "yes yes"},
		{"ls", git, "no no"},
		{"env git a", git, "yes yes"}, // env only runs git
		{"A=1 git a", git, "yes no"},
		{"git $X", git, "yes yes"}, // one command, whatever its arguments are
		{"git push", push, "yes yes"},
		{"git log; git push", push, "yes no"},
		{"git log", noPush, "yes yes"},
		{"git $X", noPush, "yes no"},
		{"git 'x", git, "yes no"},
		{"git $X", unseen(shell.Argument), "yes yes"},
		{"A=1 git a", unseen(shell.Environment), "yes yes"},
		{"A=1 git $X", unseen(shell.Environment), "yes no"}, // and an argument
		{"git a", unseen(shell.Argument), "no no"},
		{"", git, "no no"},
	} {
		asked := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text(c.line)})}
		var got []string
		for _, e := range []Effect{Deny, Allow} {
			rule := Rule{ID: "r", Effect: e, When: c.when, EachCommand: true, Unseen: c.when.About(FromUnseen)}
			set := &Set{Strategy: AllViolations, Default: Ask, Rules: []Rule{rule}}
			word := "no"
			if set.Decide(asked, Options{Trace: true}).Rule != nil {
				word = "yes"
			}
			got = append(got, word)
			if out := set.Decide(asked, Options{}); (out.Rule != nil) != (word == "yes") {
				t.Errorf("%q: %s with a trace, and without it not", c.line, word)
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%q, %+v: got %s, want %s", c.line, c.when.Test, got, c.want)
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
		{Deny, "ls", "program is git does not hold"},
		{Deny, "ls; cat x", "none of the 2 commands matches; in the last, program is git does not hold"},
		{Allow, "git a", `command 1 of 1: "git a"`},
		{Allow, "git a; git b", "all of 2 commands"},
		{Allow, "git a; ls", `command 2 of 2, program is git does not hold: "ls"`},
		{Allow, "A=1 git a", `command 1 of 1 cannot be read in full (environment): "git a"`},
		{Allow, "git 'x", `command 1 of 2 cannot be read in full (syntax): "git x"`},
	} {
		set := &Set{Strategy: AllViolations, Default: Ask,
			Rules: []Rule{{ID: "r", Effect: c.effect, When: git, EachCommand: true}}}
		asked := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text(c.line)})}
		steps := set.Decide(asked, Options{Trace: true}).Trace.Steps
		if len(steps) != 1 || steps[0].Reason() != c.want {
			t.Errorf("%s, %q: %+v, want %s", c.effect, c.line, steps, c.want)
		}
	}
}

// TestAbout: a predicate is about what any of its tests is about.
func TestAbout(t *testing.T) {
	test := func(s Source) Predicate { return Predicate{Test: &Test{Fact: Fact{Source: s}}} }
	p := Predicate{All: []Predicate{test(FromTool), {Any: []Predicate{test(FromUnseen)}}}}
	for source, want := range map[Source]bool{FromTool: true, FromUnseen: true, FromProgram: false} {
		if p.About(source) != want {
			t.Errorf("%d: not %v", source, want)
		}
	}
	var none Predicate
	if none.About(FromTool) {
		t.Error("no test is about the tool")
	}
}

// TestThrough: where env runs git, a rule that names env and is stricter decides; one that allows env says nothing of
// git.
func TestThrough(t *testing.T) {
	bin := func(name string) *Test { return &Test{Fact: Fact{Source: FromExecBin}, Op: Equals, Text: name} }
	rule := func(e Effect, name string) Rule {
		r := ruleOf("exec", e, string(e)+" "+name, bin(name))
		r.Through = name == "env"
		return r
	}
	for _, c := range []struct {
		rules []Rule
		want  string
	}{
		{[]Rule{rule(Deny, "env"), rule(Allow, "git")}, "deny env"},
		{[]Rule{rule(Allow, "env"), rule(Ask, "git")}, "ask git"},
		{[]Rule{rule(Ask, "env"), rule(Deny, "git")}, "deny git"},
		{[]Rule{rule(Allow, "git")}, "allow git"},
	} {
		asked := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text("env git a")})}
		out := specific(Ask, c.rules...).Decide(asked, Options{Trace: true})
		if out.Rule == nil || out.Rule.ID != c.want {
			t.Errorf("%+v: %+v, want %s", c.rules, out.Rule, c.want)
		}
	}
}

// TestText: the operators about text, and of each line without its comment.
func TestText(t *testing.T) {
	asked := &call.Call{Tool: "Write", Input: call.NewObject(call.Member{Name: "content",
		Value: call.Text("ab // x\r\ncd")})}
	content := Fact{Source: FromContent}
	for _, c := range []struct {
		test Test
		want bool
	}{
		{Test{Op: Contains, Text: "b //"}, true},
		{Test{Op: Contains, Text: "bc"}, false},
		{Test{Op: Begins, Text: "ab"}, true},
		{Test{Op: Begins, Text: "b"}, false},
		{Test{Op: Ends, Text: "cd"}, true},
		{Test{Op: Ends, Text: "c"}, false},
		{Test{Op: Equals, Text: "cd"}, false},
		{Test{Op: Equals, Text: "cd", ByLine: true}, true},
		{Test{Op: Equals, Text: "ab ", ByLine: true}, true},
		{Test{Op: Contains, Text: "x", ByLine: true}, false},
		{Test{Op: Contains, Text: "x", ByLine: true, Not: true}, true},
		{Test{Op: Equals, Text: "cd", Broken: "it is"}, false},
		{Test{Op: Equals, Text: "cd", Broken: "it is", IfBroken: Holds}, true},
	} {
		c.test.Fact = content
		set := &Set{Strategy: AllViolations, Default: Allow,
			Rules: []Rule{{Effect: Deny, When: Predicate{Test: &c.test}}}}
		if got := set.Decide(asked, Options{}).Rule != nil; got != c.want {
			t.Errorf("%+v: %v", c.test, got)
		}
	}
	missing := Test{Fact: Fact{Source: FromCommand}, Op: Equals, Absent: AsEmpty}
	set := &Set{Strategy: AllViolations, Default: Allow,
		Rules: []Rule{{Effect: Deny, When: Predicate{Test: &missing}}}}
	if set.Decide(asked, Options{}).Rule == nil {
		t.Error("what is missing is not as an empty text")
	}
}
