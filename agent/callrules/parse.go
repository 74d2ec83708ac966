package callrules

import (
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
)

// toolNames are the members that may name a call's tool: ours, and what agents write.
func toolNames() []string { return []string{"tool", "tool_name", "toolName"} }

// inputNames are the members that may hold its input: ours, and what agents write.
func inputNames() []string {
	return []string{"input", "tool_input", "toolInput", "toolArgs", "arguments"}
}

// ParseCall reads a call from a line of JSON, for these sets. There are three forms:
//
// - {"tool", "input", "agent_id", "cwd"}: only "tool" is required, and no other member is allowed.
// - The payload of an agent's hook, with "tool_name" or "toolName", and unrelated members.
// - A request of the evaluator's document: an object with "tool_name" and any other members, if one of
// the sets is of deny-overrides. "input" is its input, with or without other members.
//
// In each of them the input may have any of the agents' names for it, and may be JSON in a string. An ambiguous input
// is an error: a call is never checked without its input.
func ParseCall(line []byte, sets ...*Set) (*call.Call, error) {
	v, err := call.ParseValue(line)
	if err != nil {
		return nil, err
	}
	if v.Kind() != call.Object {
		return nil, errors.New("it is JSON, but not an object; write {\"tool\": …, \"input\": {…}}")
	}
	return fromValue(v, sets)
}

func fromValue(v *call.Value, sets []*Set) (*call.Call, error) {
	walks := func(s *Set) bool { return s.Strategy == DenyOverrides }
	request := v.Member("tool_name") != nil && slices.ContainsFunc(sets, walks)
	only := request && !slices.ContainsFunc(sets, func(s *Set) bool { return !walks(s) })
	c := &call.Call{}
	name := "tool_name"
	if !request {
		var err error
		if name, err = theOne(v, "tool", toolNames()); err != nil {
			return nil, err
		}
	}
	if name == "tool" {
		for _, m := range v.Members() {
			if !slices.Contains(inputNames(), m.Name) && !slices.Contains(toolNames(), m.Name) &&
				m.Name != "agent_id" && m.Name != "cwd" {
				return nil, fmt.Errorf("%q is not a member of a call; "+
					"write tool, input, agent_id and cwd, or a request with tool_name", m.Name)
			}
		}
	}
	for _, m := range []struct {
		name string
		to   *string
	}{{name, &c.Tool}, {"agent_id", &c.Agent}, {"cwd", &c.Dir}} {
		switch text := v.Member(m.name); text.Kind() {
		case call.String:
			*m.to = text.Str()
		case call.Absent, call.Null:
		default:
			if !request || m.to == &c.Tool { // a request's agent_id may be anything
				return nil, fmt.Errorf("%q is not a string", m.name)
			}
		}
	}
	if c.Tool == "" {
		return nil, errors.New("it names no tool; write the name as \"tool\", or as \"tool_name\" of a request")
	}
	of := "input"
	if own := v.Member(of); !request || own.Kind() == call.Absent || own.Kind() == call.Null {
		var err error
		if of, err = theOne(v, "input", inputNames()); err != nil {
			return nil, err
		}
	}
	var err error
	// Agents write the other names, and always for the input, but a request may use these two words as it likes.
	if c.Input, err = asInput(of, v.Member(of)); err != nil && !(only && (of == "input" || of == "arguments")) {
		return nil, err
	}
	switch name {
	case "tool_name":
		c.Request = v
	case "toolName":
		c.Request = v.With(call.Member{Name: "tool_name", Value: call.Text(c.Tool)})
	}
	return c, nil
}

// theOne returns the name of an object's only non-null member among some names, the first name if there is no such
// member. Two of them are an error: nobody can tell which one the agent uses.
func theOne(v *call.Value, what string, names []string) (string, error) {
	found := ""
	for _, name := range names {
		switch k := v.Member(name).Kind(); {
		case k == call.Absent, k == call.Null:
		case found == "":
			found = name
		default:
			return "", fmt.Errorf("it names the %s twice, as %q and as %q; remove one of them", what, found, name)
		}
	}
	if found == "" {
		return names[0], nil
	}
	return found, nil
}

// asInput returns the input in a member, as an object or as a string of one, or nil.
func asInput(name string, v *call.Value) (*call.Value, error) {
	switch v.Kind() {
	case call.Absent, call.Null:
		return nil, nil
	case call.Object:
		return v, nil
	case call.String:
		said, err := call.ParseValue([]byte(v.Str()))
		if err == nil && said.Kind() == call.Object {
			return said, nil
		}
		return nil, fmt.Errorf("%q is a string that is not a JSON object; write the input as an object", name)
	}
	return nil, fmt.Errorf("%q is not an object", name)
}
