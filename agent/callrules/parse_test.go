package callrules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
)

func TestParse(t *testing.T) {
	c, err := ParseCall([]byte(`{"tool":"Bash","input":{"command":"ls"},"agent_id":"a","cwd":"/w"}`))
	if err != nil || c.Tool != "Bash" || c.Input.Member("command").Str() != "ls" || c.Agent != "a" || c.Dir != "/w" ||
		c.Request != nil {
		t.Errorf("got %+v, %v", c, err)
	}
	if got := (&facts{call: c}).request().JSON(); got != `{"tool_name":"Bash","agent_id":"a","input":{"command":"ls"},"cwd":"/w"}` {
		t.Errorf("as a request: %s", got)
	}
	c, err = ParseCall([]byte(`{"tool_name":"pay","kwargs":{"amount":5},"agent_id":null}`))
	if err != nil || c.Tool != "pay" || c.Input != nil || c.Agent != "" ||
		(&facts{call: c}).request().At("kwargs", "amount").JSON() != "5" {
		t.Errorf("got %+v, %v", c, err)
	}
	for in, want := range map[string]string{
		`[]`: "not an object", `{}`: "names no tool", `{"tool":""}`: "names no tool",
		`{"tool":1}`: `"tool" is not a string`, `{"tool_name":1}`: `"tool_name" is not a string`,
		`{"tool":"a","input":"x"}`:                          `"input" is a string that is not a JSON object`,
		`{"tool":"a","input":[]}`:                           `"input" is not an object`,
		`{"tool":"a","inputs":{}}`:                          `"inputs" is not a member`,
		`{"tool_name":"a","cwd":[]}`:                        `"cwd" is not a string`,
		`{"tool":"a","tool":"b"}`:                           "twice",
		`{"tool":"a","session_id":"s","tool_input":{}}`:     `"session_id" is not a member`,
		`{"tool":"a","tool_name":"a"}`:                      `the tool twice, as "tool" and as "tool_name"`,
		`{"tool_name":"a","toolName":"b"}`:                  `the tool twice, as "tool_name" and as "toolName"`,
		`{"tool":"a","input":{},"tool_input":{}}`:           `the input twice, as "input" and as "tool_input"`,
		`{"tool_name":"a","input":{},"arguments":{}}`:       `the input twice, as "input" and as "arguments"`,
		`{"toolName":"a","toolArgs":{},"toolInput":{}}`:     `the input twice, as "toolInput" and as "toolArgs"`,
		`{"tool_name":"a","tool_input":"rm -rf /"}`:         `"tool_input" is a string that is not a JSON object`,
		`{"toolName":"a","toolArgs":""}`:                    `"toolArgs" is a string that is not a JSON object`,
		`{"tool_name":"a","arguments":"[1]"}`:               `"arguments" is a string that is not a JSON object`,
		`{"tool_name":"a","arguments":"{\"a\":1,\"a\":2}"}`: `"arguments" is a string that is not a JSON object`,
		`{"tool_name":"a","toolInput":7}`:                   `"toolInput" is not an object`,
	} {
		if c, err := ParseCall([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v and %v, want an error with %q", in, c, err, want)
		}
	}
}

// TestFault_163_Names: whatever the input is called, it is the call's, and an evaluator's rule about the input finds
// it. What is written as text is in want: the input, then what is at input.command of the request.
func TestFault_163_Names(t *testing.T) {
	evaluator, native := &Set{Strategy: DenyOverrides}, &Set{Strategy: AllViolations}
	all := map[string][]*Set{"none": nil, "native": {native}, "evaluator": {evaluator}, "both": {native, evaluator}}
	for _, c := range []struct{ line, in, want string }{ // in: of which sets; "": of all
		{`{"tool":"Bash","input":{"command":"x"}}`, "", `{"command":"x"} "x"`},
		{`{"tool":"Bash","input":null,"cwd":null}`, "", `null null`},
		{`{"tool":"Bash","tool_input":null}`, "", `null null`},
		{`{"tool":"Bash"}`, "", `null null`},
		{`{"tool":null,"tool_name":"Bash","input":null,"tool_input":{"command":"x"}}`, "", `{"command":"x"} "x"`},
		{`{"toolName":"Bash","toolArgs":"{\"command\":\"x\"}","sessionId":"s"}`, "", `{"command":"x"} "x"`},
		{`{"toolName":"Bash","input":"{\"command\":\"x\"}"}`, "", `{"command":"x"} "x"`},
		{`{"tool_name":"Bash","input":"{\"command\":\"x\"}"}`, "", `{"command":"x"} "x"`},
		{`{"tool_name":"Bash","input":{"command":"x"},"tool_input":{"command":"y"}}`, "evaluator",
			`{"command":"x"} "x"`},
		{`{"tool_name":"Bash","input":{"command":"x"},"tool":"y","toolName":1}`, "both", `{"command":"x"} "x"`},
		{`{"tool_name":"Bash","input":{"other":"x"},"arguments":{"command":"y"}}`, "both", `{"other":"x"} null`},
		{`{"tool_name":"Bash","input":["x"],"arguments":{"command":"y"}}`, "evaluator", `null null`},
		{`{"tool_name":"Bash","arguments":["x","y"]}`, "evaluator", `null null`},
		{`{"tool_name":"Bash","input":"not JSON","cwd":["/"],"agent_id":5}`, "evaluator", `null null`},
	} {
		for name, sets := range all {
			if c.in != "" && name != c.in {
				continue
			}
			got, err := ParseCall([]byte(c.line), sets...)
			if err != nil {
				t.Errorf("%s, %s: %v", c.line, name, err)
				continue
			}
			if said := got.Input.JSON() + " " +
				(&facts{call: got}).along([]string{"input", "command"}).JSON(); got.Tool != "Bash" || said != c.want {
				t.Errorf("%s, %s: %q %s, want %s", c.line, name, got.Tool, said, c.want)
			}
		}
	}
	for _, tool := range []string{"tool", "tool_name", "toolName"} {
		for _, input := range []string{"input", "tool_input", "toolInput", "toolArgs", "arguments"} {
			for _, text := range []string{`{"command":"x"}`, `"{\"command\":\"x\"}"`} {
				line := `{"` + tool + `":"Bash","` + input + `":` + text + `}`
				for name, sets := range all {
					got, err := ParseCall([]byte(line), sets...)
					if err != nil || got.Tool != "Bash" || got.Input.JSON() != `{"command":"x"}` ||
						(&facts{call: got}).along([]string{"input", "command"}).Str() != "x" {
						t.Errorf("%s, %s: %+v, %v", line, name, got, err)
					}
				}
			}
		}
	}
	// A request is evaluated as sent; an ambiguity in it is an error if other sets check it, too.
	for line, sets := range map[string][]*Set{
		`{"tool_name":"Bash","input":"not JSON"}`:            {native, evaluator},
		`{"tool_name":"Bash","tool_input":"not JSON"}`:       {evaluator},
		`{"tool_name":"Bash","tool_input":{},"toolArgs":{}}`: {evaluator},
		`{"tool_name":"Bash","cwd":["/"]}`:                   {native},
	} {
		if got, err := ParseCall([]byte(line), sets...); err == nil {
			t.Errorf("%s: %+v", line, got)
		}
	}
	const sent = `{"tool_name":"a","tool_input":{"n":1},"input":"{\"n\":2}","tool":{"name":"b"}}`
	got, err := ParseCall([]byte(sent), evaluator)
	if err != nil || got.Request.JSON() != sent ||
		(&facts{call: got}).along([]string{"tool_input", "n"}).JSON() != "1" ||
		(&facts{call: got}).along([]string{"input"}).Kind() != call.String ||
		(&facts{call: got}).along([]string{"input", "n"}).JSON() != "2" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParseScenario(t *testing.T) {
	s, err := ParseScenario([]byte(`{"kind":"step","tool_name":"Bash","tool_input":{"command":"x"},
		"expected_decision":"block","expected_rule_id":"r","description":"d"}`))
	if err != nil || s.Call.Tool != "Bash" || s.Call.Input.JSON() != `{"command":"x"}` || s.Decision != "block" ||
		s.Rule != "r" || s.AnyRule || s.Description != "d" {
		t.Errorf("got %+v, %v", s, err)
	}
	s, err = ParseScenario([]byte(`{"tool":"Read","expected_decision":"allow","expected_rule_id":null}`))
	if err != nil || s.Rule != "" || s.AnyRule {
		t.Errorf("got %+v, %v", s, err)
	}
	s, err = ParseScenario([]byte(`{"tool":"Read","expected_decision":"allow"}`))
	if err != nil || !s.AnyRule || !s.AnyCode {
		t.Errorf("got %+v, %v", s, err)
	}
	s, err = ParseScenario([]byte(`{"toolName":"Bash","toolArgs":"{\"command\":\"x\"}","expected_decision":"deny",
		"expected_code":"NO_POLICIES"}`))
	if err != nil || s.Call.Input.JSON() != `{"command":"x"}` || s.Code != "NO_POLICIES" || s.AnyCode {
		t.Errorf("got %+v, %v", s, err)
	}
	if s, err := ParseScenario([]byte(`{"kind":"meta","name":"n","tags":[]}`)); s != nil || err != nil {
		t.Errorf("a first line of sigmashake's: got %+v, %v", s, err)
	}
	// "A request from eval or a scenario may have other members"
	s, err = ParseScenario([]byte(`{"request":{"tool_name":"pay","tool":"x","kwargs":{"amount":5},"agent_id":"a"},
		"expected_decision":"deny","expected_code":null}`), &Set{Strategy: DenyOverrides})
	if err != nil || s.Call.Tool != "pay" || s.Call.Agent != "a" ||
		(&facts{call: s.Call}).request().At("kwargs", "amount").JSON() != "5" || (&facts{call: s.Call}).request().At("tool").Str() != "x" ||
		s.Code != "" || s.AnyCode {
		t.Errorf("got %+v, %v", s, err)
	}
	for in, want := range map[string]string{
		`{"request":{"tool":"a"},"expected_decision":"x"}`:    "not a request with tool_name",
		`{"request":null,"tool":"a","expected_decision":"x"}`: "not a request with tool_name",
		`{"request":{"tool_name":"a"},"cwd":"/","expected_decision":"x"}`: "next to the request; write it in the " +
			"request",
		`{"tool":"a"}`:                                              "the expected decision is missing",
		`{"tool":"a","expected_decision":1}`:                        "not a string",
		`{"tool":"a","expected":"x"}`:                               `"expected" is not a member`,
		`{"kind":"x"}`:                                              "neither",
		`{"kind":"meta","tool":"a","expected_decision":"x"}`:        `has "tool", so it would be a call`,
		`{"kind":"meta","name":"n","expected_rule_id":null}`:        `has "expected_rule_id"`,
		`{"kind":"meta","request":{"tool_name":"a"}}`:               `has "request"`,
		`{"tool_input":{},"kind":"meta"}`:                           `has "tool_input"`,
		`{"tool":"a","tool_name":"b","expected_decision":"x"}`:      "names the tool twice",
		`{"tool":"a","expected_decision":"x","expected_rule_id":1}`: "neither a string nor null",
		`{"tool":"a","expected_decision":"x","expected_code":[]}`: `"expected_code" is neither a string nor ` +
			`null`,
		`{"tool":"a","expected_decision":"x","input":{},"toolInput":{}}`: "names the input twice",
	} {
		if s, err := ParseScenario([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v and %v, want an error with %q", in, s, err, want)
		}
	}
}

func set(effects ...Effect) []Outcome {
	var all []Outcome
	for _, e := range effects {
		o := Outcome{Effect: e, Decision: string(e)}
		if strings.HasSuffix(string(e), "!") { // a rule's, not a default
			o.Effect = Effect(strings.TrimSuffix(string(e), "!"))
			o.Rule = &Rule{ID: string(e), Effect: o.Effect}
		}
		all = append(all, o)
	}
	return all
}

// TestStrictest: "several files combine by strictest wins (deny, ask, allow), fixed".
func TestStrictest(t *testing.T) {
	for _, c := range []struct {
		of   []Effect
		want int // which of them
	}{
		{[]Effect{Allow, Ask, Deny}, 2},
		{[]Effect{Allow, Deny, "force!"}, 1},
		{[]Effect{"ask!", "allow!", Ask}, 0},
		{[]Effect{Allow, "log!", "allow!"}, 1},
		{[]Effect{Allow, Allow}, 0},
		{[]Effect{Allow, "deny!", Ask}, 1},
	} {
		all := set(c.of...)
		got := Strictest(all)
		if got.Decision != all[c.want].Decision || got.Effect != all[c.want].Effect {
			t.Errorf("%v: got %+v, want that of %d", c.of, got, c.want)
		}
	}
	for _, effect := range []Effect{"allow!", Allow, "log!", "shadow!", "deny!"} {
		if o := set(effect)[0]; o.Explicit() != (effect == "allow!") {
			t.Errorf("%s: %v", effect, o.Explicit())
		}
	}
	if got := Strictest(nil); got.Rule != nil || got.Effect.Rank() != 0 || got.Explicit() {
		t.Errorf("of none: %+v", got)
	}
}

// TestLine: null where there is nothing.
func TestLine(t *testing.T) {
	s := &Set{Name: "f", Dialect: "evaluator", Strategy: DenyOverrides}
	rule := Rule{ID: "r<", Effect: Deny, Origin: Origin{"f", 3}}
	for _, c := range []struct {
		o    Outcome
		want string
	}{
		{Outcome{Decision: "allow", Set: s},
			`{"decision":"allow","rule":null,"policy":null,"policy_version":null,"code":null,"reason":null}`},
		{Outcome{Decision: "deny", Set: s, Rule: &rule, Policy: &Policy{ID: "p", Version: 0}, Reason: "why"},
			`{"decision":"deny","rule":"r<","policy":"p","policy_version":0,"code":null,"reason":"why"}`},
		{Outcome{Decision: "deny", Set: s, Code: codeFrozen,
			Trace: &Trace{Steps: []Step{{Rule: &rule, Why: "no"}, {Rule: &rule, Matched: true}}, Resolution: "so"}},
			`{"decision":"deny","rule":null,"policy":null,"policy_version":null,"code":"AGENT_FROZEN",` +
				`"reason":null,"trace":[{"file":"f","dialect":"evaluator","strategy":"deny-overrides",` +
				`"decision":"deny",` +
				`"matched_rules":[{"rule":"r<","effect":"deny","file":"f","line":3}],` +
				`"skipped_rules":[{"rule":"r<","effect":"deny","file":"f","line":3,"reason":"no"}],` +
				`"final_resolution":"so"}]}`},
	} {
		got, err := c.o.Line([]Outcome{c.o}, 0)
		if err != nil || string(got) != c.want+"\n" {
			t.Errorf("got  %swant %s\n(%v)", got, c.want, err)
		}
	}
	late := Outcome{Decision: "allow", Set: s}
	if got, err := late.Line(nil, 1500*time.Microsecond); err != nil ||
		!strings.HasSuffix(string(got), `,"latency_ms":1.5}`+"\n") {
		t.Errorf("got %s, %v, want the time in ms", got, err)
	}
}

// TestOps: each test's operator, one to a row, on a call with all kinds of facts.
func TestOps(t *testing.T) {
	c := &call.Call{Tool: "Bash", Dir: "/w/src",
		Input: parsedValue(t, `{"command":"git push --force","n":5,"yes":true,"null":null,"list":["a"]}`)}
	in := func(name string) Fact { return Fact{Source: FromInput, Path: []string{name}} }
	cwd := Fact{Source: FromRequest, Path: []string{"cwd"}}
	is := func(text string) []Predicate {
		return []Predicate{{Test: &Test{Fact: Fact{Source: FromItem}, Op: Equals, Text: text}}}
	}
	for _, r := range []struct {
		name string
		test Test
		want bool
	}{
		{"the same number", Test{Fact: in("n"), Op: SameAs,
			Values: []*call.Value{call.Text("5"), parsedValue(t, "5.0")}}, true},
		{"a text is no number", Test{Fact: in("n"), Op: SameAs, Values: []*call.Value{call.Text("5")}}, false},
		{"not the same", Test{Fact: in("n"), Op: SameAs, Not: true, Values: []*call.Value{call.Text("5")}}, true},
		{"nothing is the same as what is missing",
			Test{Fact: in("gone"), Op: SameAs, Not: true, Values: []*call.Value{call.Text("5")}}, false},
		{"what is missing, where that holds",
			Test{Fact: in("null"), Op: SameAs, Absent: Holds, Values: []*call.Value{call.Text("5")}}, true},
		{"the same capability", Test{Fact: Fact{Source: FromCapability}, Op: SameAs,
			Values: []*call.Value{call.Text("execute")}}, true},
		{"the text of a number is one of some",
			Test{Fact: in("n"), Op: OneOf, Values: []*call.Value{call.Text("4"), call.Text("5")}}, true},
		{"the text of a boolean is one of others",
			Test{Fact: in("yes"), Op: OneOf, Values: []*call.Value{call.Text("false"), parsedValue(t, `["true"]`)}},
			false},
		{"a list has no text", Test{Fact: in("list"), Op: OneOf, Values: []*call.Value{call.Text("a")}}, false},
		{"the directory itself", Test{Fact: cwd, Op: Under, Text: "/w/src/"}, true},
		{"in a directory", Test{Fact: cwd, Op: Under, Text: "/w"}, true},
		{"in the root", Test{Fact: cwd, Op: Under, Text: "/"}, true},
		{"beside a directory", Test{Fact: cwd, Op: Under, Text: "/w/s"}, false},
		{"there", Test{Fact: in("n"), Op: Exists}, true},
		{"null is missing", Test{Fact: in("null"), Op: Exists}, false},
		{"not there", Test{Fact: in("gone"), Op: Exists, Not: true}, true},
		{"the second argument", Test{Fact: Fact{Source: FromExecArg, Index: 1}, Op: Equals, Text: "--force"}, true},
		{"a third argument", Test{Fact: Fact{Source: FromExecArg, Index: 2}, Op: Exists}, false},
		{"the arguments behind the first", Test{Fact: Fact{Source: FromExecArgs, Index: 1}, Op: Each,
			Each: is("push")}, false},
		{"the arguments from the first on", Test{Fact: Fact{Source: FromExecArgs}, Op: Each, Each: is("push")}, true},
		{"an item of a list", Test{Fact: in("list"), Op: Each, Each: is("a")}, true},
		{"no item of a list", Test{Fact: in("list"), Op: Each, Not: true, Each: is("b")}, true},
		{"what is no list has no items", Test{Fact: in("n"), Op: Each, Not: true, Each: is("a")}, false},
		{"an empty list of arguments exists", Test{Fact: Fact{Source: FromExecArgs, Index: 7}, Op: Exists},
			true},
	} {
		set := &Set{Strategy: AllViolations, Default: Allow,
			Rules: []Rule{{ID: "r", Effect: Deny, When: Predicate{Test: &r.test}}}}
		if got := set.Decide(c, Options{}).Rule != nil; got != r.want {
			t.Errorf("%s: %v, want %v", r.name, got, r.want)
		}
	}
	args := Test{Fact: Fact{Source: FromExecArgs}, Op: Exists}
	if args.holds(&facts{call: &call.Call{Tool: "Read"}}) {
		t.Error("what runs no program has arguments")
	}
}

// TestRespelled: a path is the same by each spelling of its directory, for rules that allow, deny or exclude it.
func TestRespelled(t *testing.T) {
	path := func(op Op, text string, not bool) Predicate {
		return Predicate{Test: &Test{Fact: Fact{Source: FromFSPath}, Op: op, Text: text, Not: not}}
	}
	set := &Set{Rules: []Rule{
		{ID: "in", When: path(Under, "/real/repo", false)},
		{ID: "below", When: Predicate{Any: []Predicate{path(Under, "/real/repo/src", false),
			path(Equals, "/real/repo/x", false)}}},
		{ID: "outside", When: Predicate{All: []Predicate{path(Under, "/real/repo", true)}}},
		{ID: "elsewhere", When: path(Under, "/real/repository", false)},
		{ID: "tool", When: Predicate{Test: &Test{Fact: Fact{Source: FromTool}, Op: Equals, Text: "Read"}}},
	}}
	again := set.Respelled("/real/repo", []string{"/link/repo", "/other"})
	for name, want := range map[string][]string{
		"/real/repo":           {"in", "tool"},
		"/link/repo":           {"in", "tool"},
		"/link/repo/src/a.go":  {"in", "below", "tool"},
		"/real/repo/src/a.go":  {"in", "below", "tool"},
		"/other/x":             {"in", "below", "tool"},
		"/link/repo/x/y":       {"in", "tool"},
		"/link/repository":     {"outside", "tool"},
		"/real/repository/src": {"outside", "elsewhere", "tool"},
		"/otherwise/src":       {"outside", "tool"},
	} {
		var got []string
		for i := range again.Rules {
			f := &facts{dir: again.dir, others: again.others, call: &call.Call{Tool: "Read",
				Input: call.NewObject(call.Member{Name: "file_path", Value: call.Text(name)})}}
			if ok, _ := again.Rules[i].When.holds(f); ok {
				got = append(got, again.Rules[i].ID)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if set.others != nil {
		t.Error("the set was changed")
	}
}
