package evaluator

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/callrules"
)

// The bundle as its project's server writes it, and the algorithm of its later versions written down once more, for
// requests without lists and objects.
type (
	naiveBundle struct {
		Policies       []naivePolicy `json:"policies"`
		FrozenAgentIDs []string      `json:"frozenAgentIds"`
		Access         naiveAccess   `json:"mcpAccess"`
	}
	naiveAccess struct {
		Approved []string `json:"approvedServers"`
		Enforce  bool     `json:"enforce"`
	}
	naivePolicy struct {
		ID       string `json:"policyId"`
		Version  int    `json:"policyVersion"`
		Document struct {
			APIVersion string            `json:"apiVersion"`
			Kind       string            `json:"kind"`
			Metadata   map[string]string `json:"metadata"`
			Spec       struct {
				Default string      `json:"defaultEffect"`
				Rules   []naiveRule `json:"rules"`
			} `json:"spec"`
		} `json:"document"`
	}
	naiveRule struct {
		ID         string           `json:"id"`
		Effect     string           `json:"effect"`
		Conditions []naiveCondition `json:"conditions"`
	}
	naiveCondition struct {
		Field    string `json:"field"`
		Operator string `json:"operator"`
		Value    any    `json:"value"`
	}
)

func (b *naiveBundle) decide(request map[string]any) string {
	for _, id := range b.FrozenAgentIDs {
		if agent, ok := request["agent_id"].(string); ok && strings.EqualFold(id, agent) {
			return "deny AGENT_FROZEN"
		}
	}
	if part := strings.SplitN(request["tool_name"].(string), "__", 3); b.Access.Enforce && part[0] == "mcp" &&
		!slices.Contains(b.Access.Approved, part[1]) {
		return "deny MCP_SERVER_NOT_APPROVED"
	}
	if len(b.Policies) == 0 {
		return "deny NO_POLICIES"
	}
	strictest, by := "allow", map[string]string{}
	for _, p := range b.Policies {
		if d := p.Document.Spec.Default; d == "deny" || d == "ask" && strictest == "allow" {
			strictest = d
		}
		for _, r := range p.Document.Spec.Rules {
			for _, c := range r.Conditions {
				if pattern, ok := c.Value.(string); c.Operator == "matches" && (!ok || pattern == "(") {
					return fmt.Sprintf("deny POLICY_COMPILE_ERROR %s@%d", p.ID[:2], p.Version)
				}
			}
		}
		for _, r := range p.Document.Spec.Rules {
			if slices.ContainsFunc(r.Conditions, func(c naiveCondition) bool { return !c.holds(request) }) {
				continue
			}
			by[r.Effect] = fmt.Sprintf("%s %s@%d %s", r.Effect, p.ID[:2], p.Version, r.ID)
			if r.Effect == "deny" {
				return by["deny"]
			}
		}
	}
	for _, effect := range []string{"ask", "allow"} {
		if by[effect] != "" {
			return by[effect]
		}
	}
	return strictest
}

func (c *naiveCondition) holds(request map[string]any) bool {
	var value any = request
	for part := range strings.SplitSeq(c.Field, ".") {
		within, _ := value.(map[string]any)
		value = within[part]
	}
	if _, list := c.Value.([]any); c.Operator == "eq" || c.Operator == "neq" {
		return (!list && value == c.Value) == (c.Operator == "eq")
	}
	text := fmt.Sprint(value)
	switch c.Operator {
	case "in", "not_in":
		list, ok := c.Value.([]any)
		if !ok {
			list = []any{c.Value}
		}
		is := slices.ContainsFunc(list, func(v any) bool { return value != nil && fmt.Sprint(v) == text })
		return is == (c.Operator == "in")
	case "contains":
		return value != nil && strings.Contains(text, c.Value.(string))
	case "starts_with":
		return value != nil && strings.HasPrefix(text, c.Value.(string))
	case "ends_with":
		return value != nil && strings.HasSuffix(text, c.Value.(string))
	}
	return value != nil && regexp.MustCompile(c.Value.(string)).MatchString(text)
}

// TestNaive: the decisions are those of the naive evaluator.
func TestNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(57, 3))
	texts := []string{"", "a", "ab", "b", "7", "true", "Bash", "mcp__db__q", "mcp__web__q"}
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	seen := map[string]int{}
	for range 4000 {
		b := naiveBundle{FrozenAgentIDs: []string{}, Access: naiveAccess{Approved: []string{}}}
		if random.IntN(8) == 0 {
			b.FrozenAgentIDs = []string{"A"}
		}
		if b.Access.Enforce = random.IntN(2) == 0; random.IntN(2) == 0 {
			b.Access.Approved = []string{"db"}
		}
		for i := range random.IntN(4) {
			p := naivePolicy{ID: strings.Repeat(fmt.Sprint(i), 8) + "-1111-4111-8111-111111111111", Version: i}
			p.Document.APIVersion, p.Document.Kind = "agent-governance.io/v1", "Policy"
			p.Document.Metadata = map[string]string{"name": "n"}
			p.Document.Spec.Default = one("allow", "deny", "ask")
			for k := range 1 + random.IntN(3) {
				r := naiveRule{ID: fmt.Sprint("r", k), Effect: one("allow", "deny", "ask")}
				for range 1 + random.IntN(2) {
					c := naiveCondition{Field: one("tool_name", "input.a", "input.n", "input.b", "input.none", "agent_id"),
						Operator: one(operatorNames()...), Value: one(texts...)}
					switch kind := random.IntN(6); {
					case c.Operator == "matches" && random.IntN(20) == 0:
						c.Value = "("
					case kind < 4 || c.Operator != "in" && !strings.HasSuffix(c.Operator, "eq") && c.Operator != "not_in":
					case kind == 4:
						c.Value = []any{7.0, true}[random.IntN(2)]
					default:
						c.Value = []any{one(texts...), one(texts...)}
					}
					r.Conditions = append(r.Conditions, c)
				}
				p.Document.Spec.Rules = append(p.Document.Spec.Rules, r)
			}
			b.Policies = append(b.Policies, p)
		}
		if b.Policies == nil {
			b.Policies = []naivePolicy{}
		}
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		set := read(t, string(text))
		for range 5 {
			asked := map[string]any{"tool_name": one(texts[1:]...), "agent_id": one("a", "b"),
				"input": map[string]any{"a": one(texts...), "n": 7.0, "b": random.IntN(2) == 0}}
			call, err := json.Marshal(asked)
			if err != nil {
				t.Fatal(err)
			}
			got, want := line(set.Decide(request(t, string(call)), callrules.Options{})), b.decide(asked)
			if got != want {
				t.Fatalf("got %s, want %s\nfor %s\nin %s", got, want, call, text)
			}
			first, _, _ := strings.Cut(want, "@")
			seen[first]++
		}
	}
	if len(seen) < 13 { // three effects by three policies, three defaults, three codes without a policy
		t.Errorf("only %v", seen)
	}
}
