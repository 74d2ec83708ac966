package call

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	c, err := Parse([]byte(`{"tool":"Bash","input":{"command":"ls"},"agent_id":"a","cwd":"/w"}`))
	if err != nil || c.Tool != "Bash" || c.Input.Member("command").Str() != "ls" || c.Agent != "a" || c.Dir != "/w" || c.Request != nil {
		t.Errorf("got %+v, %v", c, err)
	}
	if got := c.request().JSON(); got != `{"tool_name":"Bash","agent_id":"a","input":{"command":"ls"},"cwd":"/w"}` {
		t.Errorf("as a request: %s", got)
	}
	c, err = Parse([]byte(`{"tool_name":"pay","kwargs":{"amount":5},"agent_id":null}`))
	if err != nil || c.Tool != "pay" || c.Input != nil || c.Agent != "" || c.request().At("kwargs", "amount").JSON() != "5" {
		t.Errorf("got %+v, %v", c, err)
	}
	for in, want := range map[string]string{
		`[]`:                         "not an object",
		`{}`:                         "names no tool",
		`{"tool":""}`:                "names no tool",
		`{"tool":1}`:                 `"tool" is not a text`,
		`{"tool":"a","input":"x"}`:   `"input" is not an object`,
		`{"tool":"a","inputs":{}}`:   `"inputs" is not a member`,
		`{"tool":"a","tool_name":1}`: `"tool_name" is not a text`,
		`{"tool_name":"a","cwd":[]}`: `"cwd" is not a text`,
		`{"tool":"a","tool":"b"}`:    "twice",
	} {
		if c, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v and %v, want an error with %q", in, c, err, want)
		}
	}
}

func TestParseScenario(t *testing.T) {
	s, err := ParseScenario([]byte(`{"kind":"step","tool_name":"Bash","tool_input":{"command":"x"},"expected_decision":"block","expected_rule_id":"r","description":"d"}`))
	if err != nil || s.Call.Tool != "Bash" || s.Call.Input.JSON() != `{"command":"x"}` || s.Decision != "block" || s.Rule != "r" || s.AnyRule || s.Description != "d" {
		t.Errorf("got %+v, %v", s, err)
	}
	s, err = ParseScenario([]byte(`{"tool":"Read","expected_decision":"allow","expected_rule_id":null}`))
	if err != nil || s.Rule != "" || s.AnyRule {
		t.Errorf("got %+v, %v", s, err)
	}
	s, err = ParseScenario([]byte(`{"tool":"Read","expected_decision":"allow"}`))
	if err != nil || !s.AnyRule {
		t.Errorf("got %+v, %v", s, err)
	}
	if s, err := ParseScenario([]byte(`{"kind":"meta","name":"n","tags":[]}`)); s != nil || err != nil {
		t.Errorf("a first line of sigmashake's: got %+v, %v", s, err)
	}
	// "A request from eval or a scenario may have other members"
	s, err = ParseScenario([]byte(`{"request":{"tool_name":"pay","tool":"x","kwargs":{"amount":5},"agent_id":"a"},"expected_decision":"deny"}`))
	if err != nil || s.Call.Tool != "pay" || s.Call.Agent != "a" || s.Call.request().At("kwargs", "amount").JSON() != "5" || s.Call.request().At("tool").Str() != "x" {
		t.Errorf("got %+v, %v", s, err)
	}
	for in, want := range map[string]string{
		`{"request":{"tool":"a"},"expected_decision":"x"}`:                "no request with tool_name",
		`{"request":null,"tool":"a","expected_decision":"x"}`:             "no request with tool_name",
		`{"request":{"tool_name":"a"},"cwd":"/","expected_decision":"x"}`: "beside its request",
		`{"tool":"a"}`:                       "does not say what is expected",
		`{"tool":"a","expected_decision":1}`: "not a text",
		`{"tool":"a","expected":"x"}`:        `"expected" is not a member`,
		`{"kind":"x"}`:                       "neither",
		`{"tool":"a","tool_name":"b","expected_decision":"x"}`:      "names the tool twice",
		`{"tool":"a","expected_decision":"x","expected_rule_id":1}`: "neither a text nor null",
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
	if got := Strictest(nil); got.Rule != nil || got.Effect.Rank() != 0 || got.Explicit() {
		t.Errorf("of none: %+v", got)
	}
}

func TestExplicit(t *testing.T) {
	for _, c := range []struct {
		of   Effect
		want bool
	}{{"allow!", true}, {Allow, false}, {"log!", false}, {"shadow!", false}, {"deny!", false}} {
		if o := set(c.of)[0]; o.Explicit() != c.want {
			t.Errorf("%s: %v", c.of, o.Explicit())
		}
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
		{Outcome{Decision: "allow", Set: s}, `{"decision":"allow","rule":null,"policy":null,"policy_version":null,"code":null,"reason":null}`},
		{Outcome{Decision: "deny", Set: s, Rule: &rule, Policy: &Policy{ID: "p", Version: 0}, Reason: "why"}, `{"decision":"deny","rule":"r<","policy":"p","policy_version":0,"code":null,"reason":"why"}`},
		{Outcome{Decision: "deny", Set: s, Code: CodeFrozen, Trace: &Trace{Steps: []Step{{Rule: &rule, Why: "no"}, {Rule: &rule, Matched: true}}, Resolution: "so"}},
			`{"decision":"deny","rule":null,"policy":null,"policy_version":null,"code":"AGENT_FROZEN","reason":null,"trace":[{"file":"f","dialect":"evaluator","strategy":"deny-overrides","decision":"deny","matched_rules":[{"rule":"r<","effect":"deny","file":"f","line":3}],"skipped_rules":[{"rule":"r<","effect":"deny","file":"f","line":3,"reason":"no"}],"final_resolution":"so"}]}`},
	} {
		got, err := c.o.Line([]Outcome{c.o}, 0)
		if err != nil || string(got) != c.want+"\n" {
			t.Errorf("got  %swant %s\n(%v)", got, c.want, err)
		}
	}
	late := Outcome{Decision: "allow", Set: s}
	if got, err := late.Line(nil, 1500*time.Microsecond); err != nil || !strings.HasSuffix(string(got), `,"latency_ms":1.5}`+"\n") {
		t.Errorf("got %s, %v, want the time in ms", got, err)
	}
}
