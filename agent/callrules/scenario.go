package callrules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

// A Scenario is a call, with the expected result.
type Scenario struct {
	Description string
	Call        *call.Call
	Decision    string // the word that is expected
	Rule        string // the id of the rule that should decide; "" with AnyRule false is: none
	AnyRule     bool   // which rule decides is not said
	Code        string // the code that is expected; "" with AnyCode false is: none
	AnyCode     bool   // whether there is a code, and which, is not said
}

// ParseScenario reads a line of a file of scenarios, for these sets:
//
// {"tool": …, "input": …, "agent_id": …, "cwd": …, "expected_decision": …, "expected_rule_id": …, "expected_code": …,
// "description": …}
//
// expected_rule_id and expected_code are optional; null means none. The tool and the input may have the names in
// [ParseCall], so that the steps of sigmashake's scenarios are read ({"kind": "step"}); for its first line, {"kind":
// "meta"}, it returns nil. A "request" may replace the call, and is read as ParseCall reads a line: with tool_name
// and the members in evaluator's dot-paths.
func ParseScenario(line []byte, sets ...*Set) (*Scenario, error) {
	v, err := call.ParseValue(line)
	if err != nil {
		return nil, err
	}
	if v.Kind() != call.Object {
		return nil, errors.New("it is JSON, but not an object")
	}
	switch kind := v.Member("kind"); {
	case kind == nil, kind.Str() == "step":
	case kind.Str() == "meta":
		for _, m := range v.Members() {
			if m.Name == "request" || strings.HasPrefix(m.Name, "expected_") ||
				slices.Contains(toolNames(), m.Name) || slices.Contains(inputNames(), m.Name) {
				return nil, fmt.Errorf("it is \"meta\" and has %q, so it would be a call that is not checked; "+
					"write \"step\", or remove that", m.Name)
			}
		}
		return nil, nil
	default:
		return nil, fmt.Errorf("the kind %s is neither \"step\" nor \"meta\"", kind.JSON())
	}
	s := &Scenario{AnyRule: true, AnyCode: true}
	var members []call.Member
	var request *call.Value
	for _, m := range v.Members() {
		switch m.Name {
		case "kind":
		case "agent_id", "cwd":
			members = append(members, m)
		case "request":
			request = m.Value
		case "description", "expected_decision":
			if m.Value.Kind() != call.String {
				return nil, fmt.Errorf("%q is not a string", m.Name)
			}
			if m.Name == "description" {
				s.Description = m.Value.Str()
			} else {
				s.Decision = m.Value.Str()
			}
		case "expected_rule_id":
			s.Rule, s.AnyRule, err = m.Value.Str(), false, textOrNull(m)
		case "expected_code":
			s.Code, s.AnyCode, err = m.Value.Str(), false, textOrNull(m)
		default:
			if !slices.Contains(toolNames(), m.Name) && !slices.Contains(inputNames(), m.Name) {
				return nil, fmt.Errorf("%q is not a member of a scenario; write tool, input, agent_id, cwd, "+
					"expected_decision, expected_rule_id, expected_code, description and kind, or request", m.Name)
			}
			members = append(members, m)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.Decision == "" {
		return nil, errors.New("the expected decision is missing; write \"expected_decision\"")
	}
	switch {
	case request == nil:
		// all its members are known, so it is not a request with any other
		request, sets = call.NewObject(members...), nil
	case request.Member("tool_name") == nil:
		return nil, errors.New("\"request\" is not a request with tool_name")
	case members != nil:
		return nil, fmt.Errorf("it has %q next to the request; write it in the request", members[0].Name)
	}
	s.Call, err = fromValue(request, sets)
	return s, err
}

func textOrNull(m call.Member) error {
	if k := m.Value.Kind(); k != call.String && k != call.Null {
		return fmt.Errorf("%q is neither a string nor null", m.Name)
	}
	return nil
}
