package evaluator

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/rogpeppe/go-internal/txtar"
)

// The policies of the tests, and the head that each has.
const (
	first  = "11111111-1111-4111-8111-111111111111"
	second = "22222222-2222-4222-8222-222222222222"
)

// policy writes a policy: its id, its default and its rules.
func policy(id, byDefault string, list ...string) string {
	return fmt.Sprintf(`{"policyId": %q, "policyVersion": 7, "document": {
		"apiVersion": "agent-governance.io/v1", "kind": "Policy", "metadata": {"name": "test"},
		"spec": {"defaultEffect": %q, "rules": [%s]}}}`, id, byDefault, strings.Join(list, ",\n"))
}

// rule writes a rule: its effect and, as "field operator value", its conditions.
func rule(id, effect string, conditions ...string) string {
	var list []string
	for _, c := range conditions {
		part := strings.SplitN(c, " ", 3)
		list = append(list, fmt.Sprintf(`{"field": %q, "operator": %q, "value": %s}`, part[0], part[1], part[2]))
	}
	return fmt.Sprintf(`{"id": %q, "effect": %q, "conditions": [%s]}`, id, effect, strings.Join(list, ", "))
}

func bundle(policies ...string) string {
	return `{"policies": [` + strings.Join(policies, ",\n") + `], "frozenAgentIds": ["Agent-1"]}`
}

func read(t testing.TB, text string) *callrules.Set {
	t.Helper()
	set, err := Read(&document.Source{Name: "bundle.json", Text: []byte(text)})
	if err != nil {
		t.Fatalf("%v\nin %s", err, text)
	}
	return set
}

func request(t testing.TB, text string) *call.Call {
	t.Helper()
	c, err := callrules.ParseCall([]byte(text), &callrules.Set{Strategy: callrules.DenyOverrides})
	if err != nil {
		t.Fatalf("%v\nin %s", err, text)
	}
	return c
}

// line is an outcome in a line: decision, code, matched policy, its version and rule.
func line(o callrules.Outcome) string {
	parts := []string{o.Decision}
	if o.Code != "" {
		parts = append(parts, o.Code)
	}
	if o.Policy != nil {
		parts = append(parts, fmt.Sprintf("%s@%d", o.Policy.ID[:2], o.Policy.Version))
	}
	if o.Rule != nil {
		parts = append(parts, o.Rule.ID)
	}
	return strings.Join(parts, " ")
}

func decide(t testing.TB, bundleText, requestText string) string {
	t.Helper()
	return line(read(t, bundleText).Decide(request(t, requestText), callrules.Options{}))
}

const (
	isBash  = `tool_name eq "Bash"`
	isNone  = `tool_name eq "none"`
	bash    = `{"tool_name": "Bash", "agent_id": "agent-9", "input": {"command": "rm -rf /"}}`
	badRule = `input.command matches "(?=x)"`
)

func TestRow_1_02_CompileErrorNotes(t *testing.T) {
	// "Called when a matches rule's regex fails to compile."; once for each such condition.
	set := read(t, bundle(policy(first, "allow",
		rule("r1", "deny", badRule, `input.command matches "(a)\\1"`, `input.command matches "ok"`),
		rule("r2", "deny", `input.command matches "["`))))
	if len(set.Notes) != 3 {
		t.Fatalf("%d notes: %v", len(set.Notes), set.Notes)
	}
	for i, want := range []string{`"(?=x)" of the rule r1`, `"(a)\\1" of the rule r1`, `"[" of the rule r2`} {
		note := set.Notes[i]
		for _, part := range []string{want, "does not compile: ", first, "POLICY_COMPILE_ERROR"} {
			if !strings.Contains(note.Text, part) {
				t.Errorf("note %q lacks %q", note.Text, part)
			}
		}
		if note.Origin.File != "bundle.json" || note.Origin.Line != []int{3, 3, 4}[i] {
			t.Errorf("note %d is at %v", i, note.Origin)
		}
	}
	if broken := set.Policies[0].Broken; !strings.Contains(broken,
		`"(?=x)" of the rule r1 does not compile: invalid`) {
		t.Errorf("Broken is %q", broken)
	}
}

// TestAlgorithm: the steps of the document, one decision to a row.
func TestAlgorithm(t *testing.T) {
	allowAll, denyBash := rule("a", "allow", isBash), rule("d", "deny", isBash)
	for _, c := range []struct{ name, bundle, request, want string }{
		{"Row_1_03 the containing policy is marked errored: rules before the bad one never run",
			bundle(policy(first, "allow", denyBash, rule("bad", "allow", badRule))), bash,
			"deny POLICY_COMPILE_ERROR 11@7"},
		{"Row_1_05 null if the result is from defaultEffect fall-through",
			bundle(policy(first, "allow", rule("d", "deny", isNone))), bash, "allow"},
		{"Row_1_07 frozen: before any rule fires", bundle(policy(first, "allow", allowAll)),
			`{"tool_name": "Bash", "agent_id": "Agent-1"}`, "deny AGENT_FROZEN"},
		{"Row_1_07 frozen: case-insensitive", bundle(policy(first, "allow", allowAll)),
			`{"tool_name": "Bash", "agent_id": "aGENT-1"}`, "deny AGENT_FROZEN"},
		{"Row_1_07 frozen: also with zero policies", bundle(), `{"tool_name": "Bash", "agent_id": "agent-1"}`,
			"deny AGENT_FROZEN"},
		{"Row_1_07 frozen: also before a broken policy", bundle(policy(first, "allow", rule("bad", "deny", badRule))),
			`{"tool_name": "Bash", "agent_id": "agent-1"}`, "deny AGENT_FROZEN"},
		{"Row_1_07 frozen: a call that is no request has an agent too", bundle(policy(first, "allow", allowAll)),
			`{"tool": "Bash", "agent_id": "agent-1"}`, "deny AGENT_FROZEN"},
		{"Row_1_07 not frozen: another agent", bundle(policy(first, "allow", allowAll)),
			`{"tool_name": "Bash", "agent_id": "agent-11"}`, "allow 11@7 a"},
		{"Row_1_07 not frozen: no agent_id", bundle(policy(first, "allow", allowAll)), `{"tool_name": "Bash"}`,
			"allow 11@7 a"},
		{"Row_1_07 not frozen: agent_id null", bundle(policy(first, "allow", allowAll)),
			`{"tool_name": "Bash", "agent_id": null}`, "allow 11@7 a"},
		{"Row_1_08 the bundle has no policies", bundle(), bash, "deny NO_POLICIES"},
		{"Row_1_08 the bundle is null", " null\n", bash, "deny NO_POLICIES"},
		{"Row_1_09 a deny in an earlier policy wins with no code",
			bundle(policy(first, "allow", denyBash), policy(second, "allow", rule("bad", "deny", badRule))), bash,
			"deny 11@7 d"},
		{"Row_1_09 an earlier allow does not win over a policy that is broken",
			bundle(policy(first, "allow", allowAll), policy(second, "allow", rule("bad", "deny", badRule))), bash,
			"deny POLICY_COMPILE_ERROR 22@7"},
		{"Row_1_10 the errored policy is the matched one, without a rule",
			bundle(policy(first, "allow", rule("d", "deny", isNone)),
				policy(second, "allow", rule("bad", "deny", badRule))), bash, "deny POLICY_COMPILE_ERROR 22@7"},
		{"Row_1_11 AND all conditions: all hold",
			bundle(policy(first, "allow", rule("d", "deny", isBash, `input.command contains "rm"`))), bash,
			"deny 11@7 d"},
		{"Row_1_11 AND all conditions: the last does not",
			bundle(policy(first, "allow", rule("d", "deny", isBash, isNone))), bash, "allow"},
		{"Row_1_11 AND all conditions: the first does not",
			bundle(policy(first, "allow", rule("d", "deny", isNone, isBash))), bash, "allow"},
		{"Row_1_12 deny: return immediately",
			bundle(policy(first, "allow", denyBash, rule("d2", "deny", isBash), allowAll)), bash, "deny 11@7 d"},
		{"Row_1_13 a later deny wins", bundle(policy(first, "allow", allowAll, denyBash)), bash, "deny 11@7 d"},
		{"Row_1_13 a later deny of another policy wins",
			bundle(policy(first, "allow", allowAll), policy(second, "allow", denyBash)), bash, "deny 22@7 d"},
		{"Row_1_13 the last allow is reported",
			bundle(policy(first, "deny", allowAll, rule("b", "allow", isBash)),
				policy(second, "deny", rule("c", "allow", isBash), rule("n", "allow", isNone))), bash, "allow 22@7 c"},
		{"Row_1_14 no match: the first policy's default, allow",
			bundle(policy(first, "allow", rule("n", "deny", isNone)),
				policy(second, "deny", rule("n", "deny", isNone))), bash, "allow"},
		{"Row_1_14 no match: the first policy's default, deny",
			bundle(policy(first, "deny", rule("n", "deny", isNone)),
				policy(second, "allow", rule("n", "deny", isNone))), bash, "deny"},
		{"ask: it asks", bundle(policy(first, "allow", rule("q", "ask", isBash))), bash, "ask 11@7 q"},
		{"ask: a later deny wins", bundle(policy(first, "allow", rule("q", "ask", isBash), denyBash)), bash,
			"deny 11@7 d"},
		{"ask: an earlier deny wins", bundle(policy(first, "allow", denyBash, rule("q", "ask", isBash))), bash,
			"deny 11@7 d"},
		{"ask: a later allow does not win",
			bundle(policy(first, "allow", rule("q", "ask", isBash)), policy(second, "allow", allowAll)), bash,
			"ask 11@7 q"},
		{"ask: of several the last is reported, also from before an allow",
			bundle(policy(first, "allow", rule("q", "ask", isBash), allowAll, rule("n", "ask", isNone)),
				policy(second, "allow", rule("r", "ask", isBash), allowAll)), bash, "ask 22@7 r"},
		{"ask: a policy that is broken denies after it",
			bundle(policy(first, "allow", rule("q", "ask", isBash)), policy(second, "allow",
				rule("bad", "ask", badRule))), bash, "deny POLICY_COMPILE_ERROR 22@7"},
		{"ask: it wins over a default that denies", bundle(policy(first, "deny", rule("q", "ask", isBash))), bash,
			"ask 11@7 q"},
		{"the strictest default of a bundle with an ask: deny",
			bundle(policy(first, "allow", rule("n", "ask", isNone)), policy(second, "deny", rule("n", "deny", isNone))),
			bash, "deny"},
		{"the strictest default of a bundle with an ask: ask",
			bundle(policy(first, "allow", rule("n", "deny", isNone)), policy(second, "ask", rule("n", "deny", isNone))),
			bash, "ask"},
		{"the strictest default: not if a rule allows",
			bundle(policy(first, "allow", allowAll), policy(second, "ask", rule("n", "deny", isNone))), bash,
			"allow 11@7 a"},
		{"the strictest default of the command line's file",
			strings.ReplaceAll(bundle(policy(first, "allow", rule("n", "deny", isNone)),
				policy(second, "deny", rule("n", "deny", isNone))), `"policyId": `, `"id": `), bash, "deny"},
		{"the strictest default of a bundle with the gate", gated(`{"enforce": false}`,
			policy(first, "allow", rule("n", "deny", isNone)), policy(second, "deny", rule("n", "deny", isNone))), bash,
			"deny"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decide(t, c.bundle, c.request); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// gated is a bundle with a gate of MCP servers.
func gated(access string, policies ...string) string {
	return strings.Replace(bundle(policies...), "{", `{"mcpAccess": `+access+", ", 1)
}

// TestServers: tools of MCP servers that are not approved are denied before any rule, and other tools are not.
func TestServers(t *testing.T) {
	const refused = "deny MCP_SERVER_NOT_APPROVED"
	all := policy(first, "deny", rule("a", "allow", `tool_name matches ".*"`))
	for _, c := range []struct{ access, request, want string }{
		{`{"approvedServers": ["db"], "enforce": true}`, `{"tool_name": "mcp__db__query"}`, "allow 11@7 a"},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "mcp__db__query__all"}`, "allow 11@7 a"},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "mcp__dbs__query"}`, refused},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "mcp__DB__query"}`, refused},
		{`{"approvedServers": ["db"]}`, `{"tool": "mcp__web__query", "input": {}}`, refused},
		{`{}`, `{"tool_name": "mcp__db__query"}`, refused},
		{`{"approvedServers": ["db"], "enforce": false}`, `{"tool_name": "mcp__web__query"}`, "allow 11@7 a"},
		{`{}`, `{"tool_name": "Bash"}`, "allow 11@7 a"},
		{`{}`, `{"tool_name": "mcpx"}`, "allow 11@7 a"},
		// It is a server's, and which is not known.
		{`{"approvedServers": ["db", ""]}`, `{"tool_name": "mcp__db"}`, refused},
		{`{"approvedServers": ["", "_query"]}`, `{"tool_name": "mcp____query"}`, refused},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "mcp_db_query"}`, refused},
		{`{"approvedServers": ["query"]}`, `{"tool_name": "MCP:query"}`, refused},
		// The request names it.
		{`{"approvedServers": ["db"]}`, `{"tool_name": "query", "mcp_tool_name": "mcp__db__query"}`, "allow 11@7 a"},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "query", "mcp_tool_name": "mcp__web__query"}`, refused},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "mcp__web__query", "mcp_tool_name": "mcp__db__query"}`, refused},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "mcp_db_query", "mcp_context": {"server_name": "db"}}`,
			"allow 11@7 a"},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "MCP:query", "mcp_context": {"server_name": "web"}}`, refused},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "mcp__db__x", "mcp_context": {"server_name": "web"}}`, refused},
		{`{"approvedServers": ["db"]}`, `{"tool_name": "x", "mcp_context": {"url": "https://db"}}`, refused},
		// Frozen agents are denied before.
		{`{}`, `{"tool_name": "mcp__db__query", "agent_id": "agent-1"}`, "deny AGENT_FROZEN"},
	} {
		text := strings.Replace(gated(c.access, all), `""`, `"-"`, 1)
		if got := decide(t, text, c.request); got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.access, c.request, got, c.want)
		}
		if open := decide(t, bundle(all), c.request); open == refused {
			t.Errorf("%s is refused without the gate", c.request)
		}
	}
	if got := decide(t, gated(`{}`), `{"tool_name": "mcp__db__query"}`); got != refused {
		t.Errorf("before NO_POLICIES: %s", got)
	}
}

// written is a bundle as the project's server writes it.
const written = `{"bundleVersion":12,"contentHash":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
"builtAt":"2026-11-20T08:15:30.123Z","policies":[{"policyId":"11111111-1111-1111-1111-111111111111","policyVersion":4,
"document":{"apiVersion":"agent-governance.io/v1","kind":"Policy","metadata":{"name":"shop","description":"of the shop",
"labels":{"owner":"platform"}},"spec":{"defaultEffect":"allow","rules":[{"id":"no-pay","description":"pay by hand",
"effect":"deny","conditions":[{"field":"input.amount","operator":"in","value":[100,1000]}]},{"id":"ask-deploy",
"description":"who deploys?","effect":"ask","conditions":[{"field":"tool_name","operator":"eq","value":"Bash"},
{"field":"input.command","operator":"matches","value":"(?i)\\bdeploy\\b"}]}]}}}],"frozenAgentIds":["agent-1"],
"mcpAccess":{"approvedServers":["db"],"enforce":true},
"signature":{"signatureAlg":"ed25519","keyId":"key-1","signature":"c2lnbmF0dXJl"}}`

// TestWritten: bundles as its server and its command line write them load, and decide.
func TestWritten(t *testing.T) {
	local := strings.NewReplacer(`"policyId":"11111111-1111-1111-1111-111111111111","policyVersion":4`, `"id":"the-shop"`).
		Replace(`{"policies":[` + written[strings.Index(written, `{"policyId"`):strings.Index(written, `],"frozen`)] + "]}")
	none := "bundleVersion"
	for _, c := range []struct {
		bundle  string
		version int64
		notes   []string // parts
		server  string
	}{
		{written, 4, []string{`"signature" is not verified`, `"mcpAccess" denies tools of MCP servers`},
			"deny MCP_SERVER_NOT_APPROVED"},
		{strings.Replace(written, `"enforce":true`, `"enforce":false`, 1), 4,
			[]string{`"signature" is not verified`, `"enforce" is false: "mcpAccess" decides nothing`}, "allow"},
		{local, 1, nil, "allow"},
		// What is not verified may have any form.
		{strings.NewReplacer(`:12`, `:"x"`, `"2026-11-20T08:15:30.123Z"`, `null`, `0123456789abcdef"`, `!"`,
			`{"signatureAlg"`, `[{"alg"`, `dXJl"}}`, `"}]}`).Replace(written), 4,
			[]string{`"signature" is not verified`, `"mcpAccess" denies`}, "deny MCP_SERVER_NOT_APPROVED"},
		// Of an older server.
		{strings.Replace(written[:strings.Index(written, `,
"mcpAccess"`)]+"}", `"ask"`, `"deny"`, 1), 4, []string{`"contentHash" is not verified`, `no "mcpAccess"`}, "allow"},
		// Of a newer one.
		{strings.NewReplacer(`{"`+none, `{"orgId":"o","`+none, `"kind"`, `"status":"active","kind"`, `{"name"`,
			`{"slug":"s","name"`, `"spec":{`, `"spec":{"mode":"x",`, `{"policyId"`, `{"at":1,"policyId"`,
			`{"approved`, `{"pending":[],"approved`).Replace(written), 4,
			[]string{`unknown key "orgId" in the bundle: it is ignored`, `"signature" is`,
				`unknown key "pending" in "mcpAccess"`, `"mcpAccess" denies`, `unknown key "at" in the policy`,
				`unknown key "status" in the document`, `unknown key "slug" in "metadata"`, `unknown key "mode" in "spec"`},
			"deny MCP_SERVER_NOT_APPROVED"},
	} {
		set := read(t, c.bundle)
		var said []string
		for _, n := range set.Notes {
			said = append(said, n.Text)
		}
		all := strings.Join(said, "\n")
		for _, part := range c.notes {
			if !strings.Contains(all, part) {
				t.Errorf("%s\nlacks %s", all, part)
			}
		}
		if len(said) != len(c.notes) || set.Policies[0].Version != c.version {
			t.Errorf("version %d, notes %s\nof %s", set.Policies[0].Version, all, c.bundle)
		}
		for asked, want := range map[string]string{
			`{"tool_name": "Bash", "input": {"command": "make DEPLOY"}}`: "ask who deploys?",
			`{"tool_name": "pay", "input": {"amount": 1000}}`:            "deny pay by hand",
			`{"tool_name": "Read", "input": {"file_path": "/w/a"}}`:      "allow ",
		} {
			out := set.Decide(request(t, asked), callrules.Options{})
			if !strings.Contains(c.bundle, `"ask"`) {
				want = strings.Replace(want, "ask", "deny", 1)
			}
			if got := out.Decision + " " + out.Reason; got != want {
				t.Errorf("%s: got %s, want %s", asked, got, want)
			}
		}
		if got := line(set.Decide(request(t, `{"tool_name": "mcp__web__get"}`), callrules.Options{})); got != c.server {
			t.Errorf("a server that is not approved: %s, want %s", got, c.server)
		}
	}
}

// TestOnePolicy: a policy by itself, as users send it to the server, is a bundle of it.
func TestOnePolicy(t *testing.T) {
	_, text, _ := strings.Cut(policy(first, "ask", rule("d", "deny", isBash)), `"document": `)
	text = strings.TrimSuffix(text, "}")
	for asked, want := range map[string]string{bash: "deny te@0 d", `{"tool_name": "Read"}`: "ask",
		`{"tool_name": "mcp__db__x"}`: "ask"} {
		if got := decide(t, text, asked); got != want {
			t.Errorf("%s: got %s, want %s", asked, got, want)
		}
	}
	_, err := Read(source(strings.Replace(text, `"kind"`, `"sort"`, 1)))
	if err == nil || !strings.Contains(err.Error(), `the document has no "kind"`) {
		t.Error(err)
	}
}

// TestUnknownKeyOfARule: it never makes a call go on. A rule that denies or asks matches, one that allows does not.
func TestUnknownKeyOfARule(t *testing.T) {
	for _, old := range []string{`"id"`, `"field"`} {
		for effect, byDefault := range map[string]string{"deny": "allow", "ask": "allow", "allow": "deny"} {
			text := bundle(policy(first, byDefault, strings.Replace(rule("r", effect, isBash), old, `"nto": true, `+old, 1)))
			want := map[string]string{"deny": "deny 11@7 r", "ask": "ask 11@7 r", "allow": "deny"}[effect]
			if got := decide(t, text, bash); got != want {
				t.Errorf("%s: got %s, want %s", text, got, want)
			}
			if notes := read(t, text).Notes; len(notes) != 1 || !strings.Contains(notes[0].Text, `unknown key "nto" in the `) {
				t.Errorf("notes: %v", notes)
			}
		}
	}
	// An ask, too, that could let a call go on which the default denies; not where a rule allows the call anyway.
	doubtful := strings.Replace(rule("q", "ask", isBash), `"id"`, `"nto": 1, "id"`, 1)
	for text, want := range map[string]string{
		bundle(policy(first, "deny", doubtful)):                                 "deny",
		bundle(policy(first, "deny", doubtful, rule("s", "ask", isBash))):       "ask 11@7 s",
		bundle(policy(first, "deny", rule("a", "allow", isBash), doubtful)):     "ask 11@7 q",
		bundle(policy(first, "deny", rule("s", "ask", isBash), doubtful)):       "ask 11@7 q",
		bundle(policy(first, "ask", doubtful)):                                  "ask 11@7 q",
		bundle(policy(first, "deny", rule("q", "ask", `input.l contains "a"`))): "deny",
	} {
		asked := strings.Replace(bash, `"input": {`, `"input": {"l": ["a"], `, 1)
		if got := decide(t, text, asked); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestRow_1_04_Request(t *testing.T) {
	text := bundle(policy(first, "allow", rule("d", "deny", `kwargs.amount eq 5`, `tool eq "x"`)))
	// "an arbitrary object with tool_name (required) and an optional agent_id. Add any other fields"
	if got := decide(t, text, `{"tool_name": "pay", "tool": "x", "kwargs": {"amount": 5}}`); got != "deny 11@7 d" {
		t.Error(got)
	}
	for _, bad := range []string{`{"kwargs": {}}`, `{"tool_name": 5}`, `{"tool_name": null}`, `{"tool_name": ""}`,
		`[]`} {
		if _, err := callrules.ParseCall([]byte(bad), read(t, text)); err == nil {
			t.Errorf("%s is a request", bad)
		}
	}
	// "an arbitrary object": agent_id and cwd may be anything, too, and an id that is a number is the agent's.
	for request, want := range map[string]string{
		`{"tool_name": "x", "agent_id": {"of": 5}, "cwd": ["/w"]}`: "allow",
		`{"tool_name": "x", "agent_id": 5}`:                        "deny AGENT_FROZEN",
	} {
		rules := strings.Replace(bundle(policy(first, "allow", rule("d", "deny", `kwargs.amount eq 5`))), `"Agent-1"`,
			`"5"`, 1)
		if got := decide(t, rules, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
	// A request may name its owner.
	frozen := &call.Call{Tool: "Bash", Agent: "AGENT-1",
		Request: call.NewObject(call.Member{Name: "tool_name", Value: call.Text("Bash")})}
	if got := line(read(t, bundle(policy(first, "allow", rule("a", "allow", isBash)))).Decide(frozen,
		callrules.Options{})); got != "deny AGENT_FROZEN" {
		t.Errorf("a frozen agent next to its request: %s", got)
	}
	// A call of an agent's hook is a request of tool_name, agent_id, input and cwd.
	c := &call.Call{Tool: "Bash", Agent: "a", Dir: "/w",
		Input: call.NewObject(call.Member{Name: "command", Value: call.Text("ls")})}
	for _, condition := range []string{`tool_name eq "Bash"`, `agent_id eq "a"`, `cwd eq "/w"`,
		`input.command eq "ls"`} {
		if got := line(read(t, bundle(policy(first, "allow", rule("d", "deny", condition)))).Decide(c,
			callrules.Options{})); got != "deny 11@7 d" {
			t.Errorf("%s: %s", condition, got)
		}
	}
}

func TestRow_1_31_Reasons(t *testing.T) {
	ruleBundle := bundle(policy(first, "deny",
		strings.Replace(rule("d", "deny", isBash), `{"id"`, `{"description": "no shell", "id"`, 1),
		rule("e", "deny", `tool_name eq "Read"`), strings.Replace(rule("a", "allow", `tool_name eq "Glob"`), `{"id"`,
			`{"description": "fine", "id"`, 1)))
	for _, c := range []struct{ bundle, request, want string }{
		{ruleBundle, `{"tool_name": "Bash", "agent_id": "agent-1"}`, "agent frozen by operator"},
		{bundle(), bash, "no bundle loaded — failing closed"},
		{bundle(policy(first, "allow", rule("bad", "deny", badRule))), bash,
			"policy contains a regex pattern that failed to compile — failing closed: policy " + first +
				`, the pattern "(?=x)" of the rule bad does not compile: ` +
				"invalid or unsupported Perl syntax: `(?=`"},
		{ruleBundle, bash, "no shell"},
		{ruleBundle, `{"tool_name": "Read"}`, "denied by rule e"},
		{ruleBundle, `{"tool_name": "Other"}`, "no rule matches; default of the first policy: deny"},
		{ruleBundle, `{"tool_name": "Glob"}`, ""}, // "Human-readable reason for the deny."
		{bundle(policy(first, "allow", rule("q", "ask", isBash))), bash, "asked by rule q"},
		{bundle(policy(first, "allow", rule("n", "deny", isNone)), policy(second, "ask", rule("n", "deny", isNone))),
			bash, "no rule matches; the strictest default: ask"},
		{gated("{}"), `{"tool_name": "mcp__db__x"}`, `the MCP server "db" is not approved for this agent`},
		{gated("{}"), `{"tool_name": "MCP:x"}`,
			"the call does not tell which MCP server's tool it is, so the server is not approved"},
	} {
		if got := read(t, c.bundle).Decide(request(t, c.request), callrules.Options{}).Reason; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestRow_1_28_Budget: "bounded to 50 ms of total work", "The check fires at rule boundaries".
func TestRow_1_28_Budget(t *testing.T) {
	three := bundle(policy(first, "allow", rule("n", "deny", isNone), rule("a", "allow", isBash),
		rule("d", "deny", isBash)))
	for _, c := range []struct {
		name   string
		spent  []int // ms since the begin, at the boundary before each rule
		bundle string
		want   string
	}{
		{"49 ms", []int{0, 0, 49}, three, "deny 11@7 d"},
		{"50 ms", []int{50, 50, 50}, three, "deny 11@7 d"},
		{"51 ms before the first rule", []int{51}, three, "deny EVAL_TIMEOUT"},
		{"51 ms before the last rule: the allow does not stand", []int{0, 0, 51}, three, "deny EVAL_TIMEOUT"},
		{"the last rule may take any time", []int{0}, bundle(policy(first, "deny", rule("a", "allow", isBash))),
			"allow 11@7 a"},
		{"a broken policy has no rule boundary", []int{}, bundle(policy(first, "allow", rule("bad", "deny", badRule))),
			"deny POLICY_COMPILE_ERROR 11@7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var began time.Time // the zero time is a time like any other
			calls := 0
			clock := func() time.Time {
				calls++
				if calls == 1 {
					return began
				}
				return began.Add(time.Duration(c.spent[calls-2]) * time.Millisecond) // a further look is one too many
			}
			got := line(read(t, c.bundle).Decide(request(t, bash), callrules.Options{Clock: clock}))
			if got != c.want || calls != len(c.spent)+1 {
				t.Errorf("got %s, want %s; the clock was read %d times", got, c.want, calls)
			}
		})
	}
	out := read(t, three).Decide(request(t, bash), callrules.Options{Clock: ticking(51 * time.Millisecond)})
	if out.Reason != "evaluation exceeded wall-clock budget — failing closed" {
		t.Errorf("the reason is %q", out.Reason)
	}
	if got := line(read(t, three).Decide(request(t, bash), callrules.Options{})); got != "deny 11@7 d" {
		t.Errorf("without a clock: %s", got)
	}
}

// ticking is a clock that is the same time later at each look.
func ticking(step time.Duration) func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

// TestTraceIsWhole: of every rule a step, whatever decides.
func TestTraceIsWhole(t *testing.T) {
	list := policy(first, "allow", rule("n", "deny", isNone), rule("d", "deny", isBash), rule("e", "deny", isBash))
	for _, c := range []struct{ bundle, request, last string }{
		{bundle(list), bash, "it is not reached: d decides first"},
		{bundle(list), `{"tool_name": "x", "agent_id": "agent-1"}`, "it is not reached: AGENT_FROZEN decides first"},
		{bundle(policy(first, "allow", rule("1", "deny", isNone), rule("2", "deny", badRule),
			rule("3", "deny", isNone))), bash,
			"it is not reached: POLICY_COMPILE_ERROR decides first"},
		{bundle(list), `{"tool_name": "x"}`, `tool_name eq "Bash" does not hold`},
	} {
		trace := read(t, c.bundle).Decide(request(t, c.request), callrules.Options{Trace: true}).Trace
		if len(trace.Steps) != 3 || trace.Steps[2].Why != c.last {
			t.Errorf("steps %+v, want the last: %s", trace.Steps, c.last)
		}
	}
}

// BenchmarkThousandRules is row 1-29: "For a healthy 1000-rule bundle on a modern laptop, evaluation
// typically completes in 1–2 ms".
func BenchmarkThousandRules(b *testing.B) {
	var list []string
	for i := range 1000 {
		list = append(list, rule(fmt.Sprint("r", i), "deny", `tool_name in ["Bash", "Shell"]`,
			`input.command contains "git"`,
			fmt.Sprintf(`input.command matches "push\\s+.*--force-%d\\b"`, i)))
	}
	set := read(b, bundle(policy(first, "allow", list...)))
	c := request(b, `{"tool_name": "Bash",
		"input": {"command": "git push origin feature --force-with-lease && make test lint"}}`)
	clock := func() time.Time { // as dear as the real one, and never late: a busy machine may hold up any one decision
		_ = time.Now()
		return time.Time{}
	}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{Clock: clock}); out.Decision != "allow" || out.Code != "" {
			b.Fatal(line(out))
		}
	}
}

// TestRow_1_29_Healthy: a bundle of 1000 rules takes less processor time than the budget has time. A machine that is
// busy may hold up any one decision.
func TestRow_1_29_Healthy(t *testing.T) {
	if cputime.RaceDetector {
		t.Skip("SKIPPED: the race detector takes many times as long")
	}
	var list []string
	for i := range 1000 {
		list = append(list, rule(fmt.Sprint("r", i), "allow", isBash, `input.command matches "^rm\\s.*/$"`))
	}
	set, c, got := read(t, bundle(policy(first, "deny", list...))), request(t, bash), ""
	took := cputime.Of(func() { got = line(set.Decide(c, callrules.Options{})) })
	if got != "allow 11@7 r999" || took > budget {
		t.Errorf("got %s after %v", got, took)
	}
}

// TestShown: what a trace shows of a condition is what the file has.
func TestShown(t *testing.T) {
	set := read(t, bundle(policy(first, "allow", rule("d", "deny", `input.n in [1, 2.50]`))))
	if got, want := set.Rules[0].When.All[0].Test.Shown, `input.n in [1,2.5]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !json.Valid([]byte(bundle())) {
		t.Error("the tests' own bundle is not JSON")
	}
}

// The request that the conditions are tested on.
const asked = `{"tool_name": "Bash", "input": {
	"text": "git push", "number": 1000, "half": 2.50, "big": 1e21, "minus": -0, "yes": true, "no": false,
	"null": null, "empty": "", "list": ["a", "b"], "one": ["a"], "none": [], "flags": ["push", "--force"],
	"mixed": [1.50, true, null, ["c", [null, 1e21]], {"a": 1}, []], "object": {"a": 1, "": {"": "deep"}},
	"a.b": "dotted", "length": 3}}`

// TestConditions: whether the conditions of testdata/rows.txtar hold.
func TestConditions(t *testing.T) {
	for name, text := range cases(t) {
		for line := range strings.Lines(text) {
			word, condition, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			want, ok := map[string]string{"holds": "deny 11@7 d", "fails": "allow"}[word]
			if !ok || strings.Contains(text, "\n=>\n") {
				break
			}
			if got := decide(t, bundle(policy(first, "allow", rule("d", "deny", condition))), asked); got != want {
				t.Errorf("%s: %s: got %s, want %s", name, condition, got, want)
			}
		}
	}
}

// TestRow_1_23_NotInFailsClosed: where it cannot be determined whether a field is in a list, a rule that
// allows does not hold, and a rule that denies does.
func TestRow_1_23_NotInFailsClosed(t *testing.T) {
	for _, c := range []struct{ condition, isBash, allow string }{
		{`input.list not_in ["x"]`, "holds", "fails"},
		{`input.list not_in ["a,b"]`, "holds", "fails"}, // unlike in JavaScript: see docs/dialects.md
		{`input.list in ["a,b"]`, "holds", "fails"},
		{`input.list contains "a"`, "holds", "fails"},
		{`input.list starts_with "a"`, "holds", "fails"},
		{`input.list ends_with "b"`, "holds", "fails"},
		{`input.list matches "a"`, "holds", "fails"},
		{`input.object not_in ["x"]`, "holds", "fails"},
		{`input.absent not_in ["x"]`, "holds", "holds"}, // row 1-18
		{`input.null not_in ["x"]`, "holds", "holds"},
		{`input.text not_in ["x"]`, "holds", "holds"},
		{`input.text not_in ["git push"]`, "fails", "fails"},
	} {
		for effect, want := range map[string]string{"deny": c.isBash, "ask": c.isBash, "allow": c.allow} {
			byDefault := map[string]string{"deny": "allow", "ask": "allow", "allow": "deny"}[effect]
			got := "holds"
			if decide(t, bundle(policy(first, byDefault, rule("r", effect, c.condition))), asked) == byDefault {
				got = "fails"
			}
			if got != want {
				t.Errorf("%s in a rule of effect %s: %s, want %s", c.condition, effect, got, want)
			}
		}
	}
}

func TestRow_1_19_ValueMustBeAString(t *testing.T) {
	// "the condition value must be a string"
	for _, operator := range []string{"contains", "starts_with", "ends_with"} {
		for _, value := range []string{`5`, `true`, `["a"]`, `[]`} {
			text := bundle(policy(first, "allow", rule("d", "deny", "input.text "+operator+" "+value)))
			_, err := Read(source(text))
			if err == nil || !strings.Contains(err.Error(), "the value of "+operator+" is ") {
				t.Errorf("%s %s: %v", operator, value, err)
			}
		}
	}
}

func TestRow_1_20_NoLookaround(t *testing.T) {
	// "Lookaround and backreferences are not supported; patterns using them fail to compile"
	for _, pattern := range []string{`(?=a)`, `(?!a)`, `(?<=a)b`, `(?<!a)b`, `(a)\1`, `(?P=n)`, `\u0041`, `(`,
		`a{1001}`, `(?>a)`, `a++b`} {
		quoted, err := json.Marshal(pattern)
		if err != nil {
			t.Fatal(err)
		}
		set := read(t, bundle(policy(first, "allow", rule("d", "allow", "input.text matches "+string(quoted)))))
		if got := line(set.Decide(request(t, asked), callrules.Options{})); got != "deny POLICY_COMPILE_ERROR 11@7" ||
			len(set.Notes) != 1 {
			t.Errorf("%s: %s, %d notes", pattern, got, len(set.Notes))
		}
	}
}

func TestRow_1_21_MatchesOfNoString(t *testing.T) {
	for _, value := range []string{`5`, `true`, `["a"]`} {
		set := read(t, bundle(policy(first, "allow", rule("d", "deny", "input.text matches "+value))))
		if got := line(set.Decide(request(t, asked), callrules.Options{})); got != "deny POLICY_COMPILE_ERROR 11@7" {
			t.Errorf("matches %s: %s", value, got)
		}
		if broken := set.Policies[0].Broken; !strings.Contains(broken,
			"the pattern "+value+" of the rule d is not a string") {
			t.Errorf("matches %s: %s", value, broken)
		}
	}
}

func TestRow_1_27_PrototypeParts(t *testing.T) {
	// "__proto__, constructor, and prototype parts are rejected at the schema layer"
	for _, field := range []string{"__proto__", "input.__proto__.x", "constructor", "a.constructor", "prototype.a"} {
		_, err := Read(source(bundle(policy(first, "allow", rule("d", "deny", field+` eq "x"`)))))
		if err == nil || !strings.Contains(err.Error(), "has the part") {
			t.Errorf("%s: %v", field, err)
		}
	}
	// "inherited properties don't resolve"
	for _, field := range []string{"toString", "input.hasOwnProperty", "input.list.length", "input.text.length",
		"input.constructors"} {
		if got := decide(t, bundle(policy(first, "deny", rule("d", "allow", field+` neq "x"`))),
			asked); got != "allow 11@7 d" {
			t.Errorf("%s: %s", field, got)
		}
	}
}

// whole is a bundle with every key there is.
const whole = `{
  "bundleVersion": 3,
  "contentHash": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
  "builtAt": "2026-01-31T12:00:00.123Z",
  "policies": [
    {
      "policyId": "11111111-1111-4111-8111-111111111111",
      "policyVersion": 0,
      "document": {
        "apiVersion": "agent-governance.io/v1",
        "kind": "Policy",
        "metadata": {"name": "shell", "description": "what shells may do", "labels": {"team": "core"}},
        "spec": {
          "defaultEffect": "allow",
          "rules": [
            {"id": "r1", "description": "no root", "effect": "deny", "conditions": [
              {"field": "input.command", "operator": "contains", "value": "sudo"}
            ]}
          ]
        }
      }
    }
  ],
  "frozenAgentIds": ["agent-1"]
}`

func TestWholeBundleLoads(t *testing.T) {
	set := read(t, whole)
	if len(set.Notes) != 2 { // on the hash and the servers, see TestWritten
		t.Errorf("notes: %v", set.Notes)
	}
	if r := set.Rules[0]; r.ID != "r1" || r.Origin.Line != 16 || r.Origin.File != "bundle.json" ||
		r.Reason != "no root" {
		t.Errorf("the rule is %+v", r)
	}
	if p := set.Policies[0]; p.Version != 0 || p.ID != first || p.Broken != "" {
		t.Errorf("the policy is %+v", p)
	}
	// What the document itself does not show may be left out.
	short := whole
	for _, key := range []string{"bundleVersion", "contentHash", "builtAt"} {
		_, rest, _ := strings.Cut(short, "\n  \""+key)
		_, rest, _ = strings.Cut(rest, "\n")
		short = "{\n" + rest
	}
	short = strings.Replace(short, ",\n  \"frozenAgentIds\": [\"agent-1\"]", "", 1)
	if strings.Contains(short, "frozen") || strings.Contains(short, "builtAt") || len(read(t, short).Rules) != 1 {
		t.Error(short)
	}
}

// TestMistakes: what is replaced in the whole bundle, and the error that this makes.
func TestMistakes(t *testing.T) {
	const (
		ruleText      = `{"id": "r1", "description": "no root", "effect": "deny", "conditions": [`
		conditionText = `{"field": "input.command", "operator": "contains", "value": "sudo"}`
		otherRule     = `{"id": "r", "effect": "allow", "conditions": [{"field": "a", "operator": "eq", "value": 1}]},`
	)
	type mistake struct{ old, new, want string }
	all := map[string]mistake{
		"1_30 description of 1025": {`"what shells may do"`, `"` + strings.Repeat("x", 1025) + `"`,
			`12:54: description has 1025 characters; the limit is 1024`},
		"1_30 1001 rules": {ruleText, strings.Repeat(otherRule, 1000) + ruleText,
			`"rules" has 1001 items; the limit is 1000`},
		"1_30 51 conditions": {conditionText, strings.Repeat(conditionText+",", 50) + conditionText,
			`"conditions" has 51 items; the limit is 50`},
		"not UTF-8":           {`"no root"`, "\"no \xffroot\"", `a byte that is not UTF-8; save the file as UTF-8`},
		"a list for a bundle": {whole, `[]`, `1:1: the bundle is a list; write an object with policies`},
		"nothing":             {whole, " \n", `nothing in the file`},
	}
	for name, text := range cases(t) {
		if part := strings.Split(text, "\n=>\n"); len(part) == 3 {
			all[name] = mistake{part[0], part[1], strings.TrimSpace(part[2])}
		}
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(whole, c.old, c.new, 1)
			if text == whole {
				t.Fatal("the test replaces nothing")
			}
			set, err := Read(source(text))
			var list document.Errors
			if !errors.As(err, &list) || set != nil {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(list.Error(), c.want) || strings.Count(list.Error(), "b.json:") != len(list) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// cases are the files of testdata/rows.txtar, by their names.
func cases(t *testing.T) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/rows.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range archive.Files {
		all[f.Name] = string(f.Data)
	}
	return all
}

func TestRow_1_30_WithinTheLimits(t *testing.T) {
	var list, conditions []string
	for i := range 50 {
		conditions = append(conditions, fmt.Sprintf(`input.f%d eq 1`, i))
	}
	for i := range 1000 {
		list = append(list, rule(fmt.Sprint(i), "allow", isBash))
	}
	list[0] = rule("0", "allow", conditions...)
	text := strings.NewReplacer(`"test"`, `"`+strings.Repeat("é", 128)+`"`, `"policyVersion": 7`,
		`"policyVersion": 9007199254740991`).
		Replace(bundle(policy(first, "allow", list...)))
	if set := read(t, text); len(set.Rules) != 1000 || len(set.Rules[0].When.All) != 50 ||
		set.Policies[0].Version != 1<<53-1 {
		t.Errorf("%d rules, version %d", len(set.Rules), set.Policies[0].Version)
	}
}

// TestAllMistakesAtOnce: the mistakes of a file, each where it is, in order.
func TestAllMistakesAtOnce(t *testing.T) {
	text := strings.NewReplacer(`"kind"`, `"sort"`, `"contains"`, `"has"`, `"deny"`, `"asks"`, `"core"`, `5`, `"value"`,
		`"valve"`, `"agent-1"`, `"", 7`).Replace(whole)
	_, err := Read(source(text))
	var got []string
	for _, e := range err.(document.Errors) {
		got = append(got, fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Code))
		if inRule := e.Line == 16 || e.Line == 17; inRule != (e.Rule == "r1") {
			t.Errorf("%v is said to be of the rule %q", e, e.Rule)
		}
	}
	want := "9:19 E_POLICY_VALUE, 12:95 E_POLICY_TYPE, 16:62 E_POLICY_VALUE, 17:15 E_POLICY_VALUE, " +
		"17:54 E_POLICY_VALUE, 24:22 E_POLICY_VALUE, 24:26 E_POLICY_TYPE"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s\n%v", strings.Join(got, ", "), want, err)
	}
}

// TestMistakeBehindARule: what is wrong with the next policy is not said to be of the rule before.
func TestMistakeBehindARule(t *testing.T) {
	text := bundle(policy(first, "deny", rule("r", "deny", isBash)),
		strings.Replace(policy(second, "deny", rule("r", "deny", isBash)), "Policy", "P", 1))
	_, err := Read(source(text))
	if list := err.(document.Errors); len(list) != 1 || list[0].Rule != "" {
		t.Error(err)
	}
}

func TestMistakesHaveALimit(t *testing.T) {
	_, err := Read(&document.Source{Name: "b.json",
		Text: []byte(`{"policies": [` + strings.Repeat("1,", 900) + `1], ` + strings.Repeat("\n\"x\": 1,", 2000) +
			`"y": 1}`)})
	if list := err.(document.Errors); len(list) != maxMistakes+1 ||
		!strings.Contains(err.Error(), "more than 1000 mistakes; fix the others first") {
		t.Errorf("%d mistakes", len(list))
	}
}

// TestNotes: what loads and is often a mistake.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ name, bundle, want string }{
		{"X8 mixed defaults", bundle(policy(first, "deny", rule("r", "deny", isBash)),
			policy(second, "allow", rule("r", "deny", isBash))),
			"mixed defaults: the first policy's counts (" + first + ", deny), and that of " + second +
				" (allow) is never used; give all policies one default"},
		{"no policies", bundle(), "no policies: every call is denied, NO_POLICIES; write one"},
		{"a policy twice", bundle(policy(first, "deny", rule("r", "deny", isBash)),
			policy(first, "deny", rule("r", "deny", isBash))), "occurs twice, first in line 1"},
		{"a rule twice", bundle(policy(first, "deny", rule("r", "deny", isBash), rule("r", "deny", isBash))),
			"the rule r occurs twice in its policy, first in line 3"},
		{"eq with a list", bundle(policy(first, "deny", rule("r", "deny", `input.x eq ["a"]`))),
			"eq with a list: two lists are never equal, so it is always false; write in or not_in"},
		{"neq with a list", bundle(policy(first, "deny", rule("r", "deny", `input.x neq ["a"]`))),
			"so it is always true"},
		{"in with an empty list", bundle(policy(first, "deny", rule("r", "deny", `input.x in []`))),
			"in with an empty list is always false"},
		{"not_in with an empty list", bundle(policy(first, "deny", rule("r", "deny", `input.x not_in []`))),
			"not_in with an empty list is always true"},
		{"an empty text", bundle(policy(first, "deny", rule("r", "deny", `input.x contains ""`))),
			"contains with an empty string is true for every field that is present"},
		{"an empty part", bundle(policy(first, "deny", rule("r", "deny", `input..x eq 1`))),
			`the field "input..x" has an empty part`},
		{"a field that hooks do not bring", bundle(policy(first, "deny",
			rule("r", "deny", `command eq "a"`, `command neq "b"`))), `"command" is only in requests that bring it`},
		{"a signature", strings.Replace(bundle(policy(first, "deny", rule("r", "deny", isBash))), `{`,
			`{"signature": "x", `, 1), `"signature" is not verified`},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := read(t, c.bundle)
			if len(set.Notes) != 1 || !strings.Contains(set.Notes[0].Text, c.want) || set.Notes[0].Origin.Line < 1 {
				t.Errorf("got %v\nwant %s", set.Notes, c.want)
			}
		})
	}
	if notes := read(t, bundle(policy(first, "deny", rule("r", "deny", isBash)),
		policy(second, "deny", rule("r", "deny", isBash)))).Notes; len(notes) != 0 {
		t.Errorf("notes on a bundle without a mistake: %v", notes)
	}
}

func source(text string) *document.Source {
	return &document.Source{Name: "b.json", Text: []byte(text)}
}

// checkPositions: every mistake is of the file, and somewhere in it.
func checkPositions(t *testing.T, text string, err error) {
	t.Helper()
	var list document.Errors
	if !errors.As(err, &list) || len(list) == 0 {
		t.Fatalf("not Errors: %v", err)
	}
	lines := strings.Split(text, "\n")
	for _, e := range list {
		switch {
		case e.File != "b.json" || e.Found == "" || e.Fix == "" || e.Line < 0 || e.Line > len(lines):
			t.Errorf("no place in the file: %+v", e)
		case e.Line > 0 && (e.Column < 0 || e.Column > len(lines[e.Line-1])+1):
			t.Errorf("the column %d of a line of %d bytes: %v", e.Column, len(lines[e.Line-1]), e)
		}
	}
}

// FuzzRead: the reader never panics; mistakes have positions in the file; valid bundles are evaluated.
func FuzzRead(f *testing.F) {
	f.Add(whole, asked)
	f.Add(bundle(policy(first, "allow", rule("d", "deny", badRule), rule("a", "allow", `input.list.0 not_in ["a"]`))),
		bash)
	f.Add(strings.Replace(whole, `"`, ``, 1), bash)
	f.Add(strings.ReplaceAll(whole, `"policyId"`, `"kind"`), bash)
	f.Add(`{"policies": null}`, bash)
	f.Add("[[[[\n{\"a\":", `{"tool": "x"}`)
	f.Fuzz(func(t *testing.T, text, asked string) {
		set, err := Read(source(text))
		if err != nil {
			if set != nil {
				t.Error("a set next to an error")
			}
			checkPositions(t, text, err)
			return
		}
		c, err := callrules.ParseCall([]byte(asked), set)
		if err != nil {
			c = &call.Call{Tool: "Bash"}
		}
		out := set.Decide(c, callrules.Options{Trace: true})
		if out.Decision != "allow" && out.Decision != "deny" && out.Decision != "ask" || len(out.Trace.Steps) != len(set.Rules) {
			t.Errorf("decided %q in %d steps", out.Decision, len(out.Trace.Steps))
		}
		for _, note := range set.Notes {
			if note.Origin.Line < 1 || note.Origin.Line > strings.Count(text, "\n")+1 || note.Text == "" {
				t.Errorf("the note %v", note)
			}
		}
	})
}
