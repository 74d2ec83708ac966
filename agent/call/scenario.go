package call

import (
	"errors"
	"fmt"
)

// A Scenario is a call, and what is expected of it.
type Scenario struct {
	Description string
	Call        *Call
	Decision    string // the word that is expected
	Rule        string // the id of the rule that should decide; "" with AnyRule false is: none
	AnyRule     bool   // which rule decides is not said
}

// ParseScenario reads a line of a file of scenarios:
//
//	{"tool": …, "input": …, "agent_id": …, "cwd": …, "expected_decision": …, "expected_rule_id": …, "description": …}
//
// expected_rule_id may be null, for no rule, or left out. The names tool_name and tool_input do as well, so that
// the steps of sigmashake's scenarios are read ({"kind": "step"}); its first line, {"kind": "meta"}, is none: nil.
// In place of the call there may be a "request" with tool_name and whatever else the dot-paths of evaluator ask for.
func ParseScenario(line []byte) (*Scenario, error) {
	v, err := ParseValue(line)
	if err != nil {
		return nil, err
	}
	if v.Kind() != Object {
		return nil, errors.New("it is JSON, but not an object")
	}
	switch kind := v.Member("kind"); {
	case kind == nil, kind.Str() == "step":
	case kind.Str() == "meta":
		return nil, nil
	default:
		return nil, fmt.Errorf("the kind %s is neither \"step\" nor \"meta\"", kind.JSON())
	}
	s := &Scenario{AnyRule: true}
	var members []Member
	var request *Value
	for _, m := range v.Members() {
		switch m.Name {
		case "kind":
		case "tool", "tool_name":
			members = append(members, Member{"tool", m.Value})
		case "input", "tool_input":
			members = append(members, Member{"input", m.Value})
		case "agent_id", "cwd":
			members = append(members, m)
		case "request":
			request = m.Value
		case "description", "expected_decision":
			if m.Value.Kind() != String {
				return nil, fmt.Errorf("%q is not a text", m.Name)
			}
			if m.Name == "description" {
				s.Description = m.Value.Str()
			} else {
				s.Decision = m.Value.Str()
			}
		case "expected_rule_id":
			switch m.Value.Kind() {
			case Null:
				s.AnyRule = false
			case String:
				s.Rule, s.AnyRule = m.Value.Str(), false
			default:
				return nil, errors.New("\"expected_rule_id\" is neither a text nor null")
			}
		default:
			return nil, fmt.Errorf("%q is not a member of a scenario; those are tool, input, agent_id, cwd, expected_decision, expected_rule_id, description and kind, or request", m.Name)
		}
	}
	if s.Decision == "" {
		return nil, errors.New("it does not say what is expected; write \"expected_decision\"")
	}
	for i := range members {
		for j := range i {
			if members[i].Name == members[j].Name {
				return nil, fmt.Errorf("it names the %s twice", members[i].Name)
			}
		}
	}
	switch {
	case request == nil:
		request = NewObject(members...)
	case request.Member("tool_name") == nil:
		return nil, errors.New("\"request\" is no request with tool_name")
	case members != nil:
		return nil, fmt.Errorf("it has %q beside its request; write it within", members[0].Name)
	}
	s.Call, err = FromValue(request)
	return s, err
}
