package evaluator

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

// naive is the document's algorithm a second time, on maps and lists alone. Its numbers are only numbers that print
// alike in Go and JavaScript.
func naive(bundle, request map[string]any, clock func() time.Duration) string {
	began := clock()
	if id, ok := request["agent_id"].(string); ok {
		id = strings.ToLower(id)
		for _, frozen := range bundle["frozenAgentIds"].([]any) {
			if strings.ToLower(frozen.(string)) == id {
				return "deny AGENT_FROZEN"
			}
		}
	}
	policies := bundle["policies"].([]any)
	if len(policies) == 0 {
		return "deny NO_POLICIES"
	}
	result := ""
	for _, p := range policies {
		entry := p.(map[string]any)
		name := fmt.Sprintf("%s@%v", entry["policyId"].(string)[:2], entry["policyVersion"])
		list := entry["document"].(map[string]any)["spec"].(map[string]any)["rules"].([]any)
		for _, r := range list {
			for _, c := range r.(map[string]any)["conditions"].([]any) {
				condition := c.(map[string]any)
				if condition["operator"] == "matches" {
					pattern, ok := condition["value"].(string)
					if _, err := regexp.Compile(pattern); !ok || err != nil {
						return "deny POLICY_COMPILE_ERROR " + name
					}
				}
			}
		}
		for _, r := range list {
			if clock()-began > 50*time.Millisecond {
				return "deny EVAL_TIMEOUT"
			}
			rule := r.(map[string]any)
			all := true
			for _, c := range rule["conditions"].([]any) {
				all = all && naiveHolds(c.(map[string]any), request, rule["effect"] == "allow")
			}
			if all {
				result = fmt.Sprintf("%s %s %s", rule["effect"], name, rule["id"])
				if rule["effect"] == "deny" {
					return result
				}
			}
		}
	}
	if result == "" {
		document := policies[0].(map[string]any)["document"].(map[string]any)
		return document["spec"].(map[string]any)["defaultEffect"].(string)
	}
	return result
}

func naiveHolds(condition, request map[string]any, allows bool) bool {
	var field any = request
	there := true
	for part := range strings.SplitSeq(condition["field"].(string), ".") {
		switch v := field.(type) {
		case map[string]any:
			field, there = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if there = err == nil && i >= 0 && i < len(v); there {
				field = v[i]
			}
		default:
			there = false
		}
		if !there {
			field = nil
			break
		}
	}
	text, isText := naiveText(field)
	list, isList := field.([]any)
	if isList && !allows && condition["operator"] != "not_in" {
		text, isText = naiveJoin(list), true
	}
	value := condition["value"]
	want, _ := value.(string)
	switch condition["operator"] {
	case "eq":
		return naiveSame(field, value)
	case "neq":
		return !naiveSame(field, value)
	case "in", "not_in":
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		in := isText && slices.ContainsFunc(list, func(item any) bool {
			itemText, _ := naiveText(item)
			return itemText == text
		})
		if condition["operator"] == "in" {
			return in
		}
		if field != nil && !isText && allows {
			return false
		}
		return !in
	case "contains":
		return isText && strings.Contains(text, want)
	case "starts_with":
		return isText && strings.HasPrefix(text, want)
	case "ends_with":
		return isText && strings.HasSuffix(text, want)
	}
	return isText && regexp.MustCompile(want).MatchString(text)
}

func naiveText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// naiveJoin is Array.prototype.join with commas.
func naiveJoin(list []any) string {
	var texts []string
	for _, item := range list {
		text, _ := naiveText(item)
		switch item := item.(type) {
		case []any:
			text = naiveJoin(item)
		case map[string]any:
			text = "[object Object]"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ",")
}

func naiveSame(a, b any) bool {
	switch a.(type) {
	case string, bool, float64:
		switch b.(type) {
		case string, bool, float64:
			return a == b
		}
	}
	return false
}

// A draw makes bundles and requests of few words, so that they often meet.
type draw struct{ *rapid.T }

func (d draw) one(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(d.T, label)
}

func (d draw) value() any {
	scalars := []any{"a", "ab", "b", "", "1", "true", 1.0, 2.5, true, false}
	switch rapid.IntRange(0, 5).Draw(d.T, "kind") {
	case 0:
		return rapid.SliceOfN(rapid.SampledFrom([]any{"a", "b", "1", "true"}), 0, 3).Draw(d.T, "texts")
	case 1:
		return rapid.SliceOfN(rapid.SampledFrom([]any{1.0, 2.5}), 0, 3).Draw(d.T, "numbers")
	}
	return rapid.SampledFrom(scalars).Draw(d.T, "scalar")
}

func (d draw) rule(id string) map[string]any {
	var conditions []any
	for range rapid.IntRange(1, 2).Draw(d.T, "conditions") {
		c := map[string]any{
			"field": d.one("field", "tool_name", "input.x", "input.y", "input.y.0", "input.z.x", "input.x",
				"agent_id"),
			"operator": d.one("operator", "eq", "neq", "in", "not_in", "contains", "starts_with", "ends_with",
				"matches"),
		}
		switch c["operator"] {
		case "contains", "starts_with", "ends_with":
			c["value"] = d.one("text", "a", "b", "", "1")
		case "matches":
			c["value"] = d.one("pattern", "^a", "b$", "1|true", ".*", "a.*b", "(?i)B", "^a", "^b", "(?=a)")
		default:
			c["value"] = d.value()
		}
		conditions = append(conditions, c)
	}
	return map[string]any{"id": id, "effect": d.one("effect", "allow", "allow", "deny"), "conditions": conditions}
}

func (d draw) bundle() map[string]any {
	policies := []any{}
	for p := range rapid.IntRange(0, 3).Draw(d.T, "policies") {
		var list []any
		for r := range rapid.IntRange(1, 4).Draw(d.T, "rules") {
			list = append(list, d.rule(fmt.Sprint("r", r)))
		}
		policies = append(policies, map[string]any{
			"policyId": strings.Replace(first, "11", fmt.Sprint(20+p), 1), "policyVersion": 3,
			"document": map[string]any{"apiVersion": "agent-governance.io/v1", "kind": "Policy",
				"metadata": map[string]any{"name": "p"},
				"spec":     map[string]any{"defaultEffect": d.one("default", "allow", "deny"), "rules": list}},
		})
	}
	return map[string]any{"policies": policies, "frozenAgentIds": []any{"A", "none"}}
}

func (d draw) request() map[string]any {
	input := map[string]any{}
	for _, name := range []string{"x", "y", "z"} {
		switch rapid.IntRange(0, 4).Draw(d.T, name) {
		case 0:
			input[name] = nil
		case 1:
			input[name] = map[string]any{"x": d.value()}
		case 2:
			input[name] = d.value()
		case 3:
			input[name] = rapid.SampledFrom([]any{
				d.value(), []any{d.value(), nil, d.value()}, []any{map[string]any{"a": 1}, "b"}, []any{"a"},
				[]any{[]any{}},
			}).Draw(d.T, "deep")
		}
	}
	r := map[string]any{"tool_name": d.one("tool", "a", "ab", "b"), "input": input}
	switch agent := d.one("agent", "", "null", "a", "b", "b", "b"); agent {
	case "":
	case "null":
		r["agent_id"] = nil
	default:
		r["agent_id"] = agent
	}
	return r
}

// throughJSON gives a value as the reader and the naive algorithm both get it.
func throughJSON(t *rapid.T, v any) (text string, back map[string]any) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b), back
}

// TestAgainstNaive: reader and evaluator together agree with the naive algorithm, with a running clock.
func TestAgainstNaive(t *testing.T) {
	said := map[string]int{}
	check := func(rt *rapid.T) {
		d := draw{rt}
		bundleText, bundleMap := throughJSON(rt, d.bundle())
		requestText, requestMap := throughJSON(rt, d.request())
		steps := rapid.SliceOfN(rapid.IntRange(0, 20), 16, 16).Draw(rt, "ms between two looks at the clock")
		if rapid.Bool().Draw(rt, "no time passes") {
			clear(steps)
		}
		clock := func() func() time.Duration {
			var now time.Duration
			looks := 0
			return func() time.Duration {
				now += time.Duration(steps[looks]) * time.Millisecond
				looks++
				return now
			}
		}
		want := naive(bundleMap, requestMap, clock())
		ours := clock()
		options := callrules.Options{Clock: func() time.Time { return time.Time{}.Add(ours()) }, Trace: true}
		set := read(t, bundleText)
		out := set.Decide(request(t, requestText), options)
		if got := line(out); got != want {
			rt.Fatalf("got %s, want %s\n%s\n%s", got, want, bundleText, requestText)
		}
		if len(out.Trace.Steps) != len(set.Rules) {
			rt.Fatalf("%d steps of %d rules", len(out.Trace.Steps), len(set.Rules))
		}
		key, _, _ := strings.Cut(want, "@")
		said[strings.Join(strings.Fields(key)[:min(2, len(strings.Fields(key)))], " ")]++
	}
	kinds := []string{"allow", "deny", "allow 20", "allow 21", "deny 20", "deny 21", "deny AGENT_FROZEN",
		"deny NO_POLICIES", "deny POLICY_COMPILE_ERROR", "deny EVAL_TIMEOUT"}
	unsaid := func(kind string) bool { return said[kind] == 0 }
	for range 100 { // some are rare
		if rapid.Check(t, check); t.Failed() || !slices.ContainsFunc(kinds, unsaid) {
			return
		}
	}
	t.Errorf("of %q some were never said: %v", kinds, said)
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
		if out.Decision != "allow" && out.Decision != "deny" || len(out.Trace.Steps) != len(set.Rules) {
			t.Errorf("decided %q in %d steps", out.Decision, len(out.Trace.Steps))
		}
		for _, note := range set.Notes {
			if note.Origin.Line < 1 || note.Origin.Line > strings.Count(text, "\n")+1 || note.Text == "" {
				t.Errorf("the note %v", note)
			}
		}
	})
}
