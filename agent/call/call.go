// Package call checks the tool calls of coding agents against rules.
//
// A [Call] is a tool's name, its input and where it would run. A [Set] is what was read from a
// team's rules, in any dialect: rules made of predicates over facts, each with an effect, and one
// strategy, which says how the rules of the set become one [Outcome]. [Set.Decide] is a pure
// function of the set, the call and a clock; it reads nothing and changes nothing, and several
// goroutines may use one Set.
//
// The readers of the dialects (packages sigmashake, evaluator, claudecube, clash and native, used through
// package dialect) parse, validate and lower to a Set. They never decide, and this package does not know
// the dialect of a rule. docs/dialects.md says what each dialect means, and where its document is not
// followed.
//
// # Limits
//
// A call is what the agent asked for. What a program does once it runs (a script, a child process) is not seen. The
// commands of a command line are, through package shell, for native rules; clash's rules see only the first.
package call

import (
	"errors"
	"fmt"
	"slices"
)

// A Call is one call of a tool by an agent, before it runs.
type Call struct {
	Tool  string // the tool's name, as the agent says it; not empty
	Input *Value // the tool's input, an object; nil if there is none
	Agent string // the agent's id; "" if there is none
	Dir   string // the working folder, absolute; "" if it is not known

	// Request is what the dot-paths of deny-overrides walk, and where it has no input of its own, Input. If it is
	// nil, it is made of the above: tool_name, agent_id, input and cwd.
	Request *Value
}

// toolNames are the members that may name a call's tool: ours, and what agents write.
func toolNames() []string { return []string{"tool", "tool_name", "toolName"} }

// inputNames are the members that may hold its input: ours, and what agents write.
func inputNames() []string {
	return []string{"input", "tool_input", "toolInput", "toolArgs", "arguments"}
}

// Parse reads a call from a line of JSON, which sets will check. There are three forms:
//
//   - {"tool", "input", "agent_id", "cwd"}: only "tool" must be there, and nothing else may be.
//   - What an agent gives its hooks, with "tool_name" or "toolName", and members that say nothing of the call.
//   - A request as the evaluator's document has it: an object with "tool_name" and any other members, if one of
//     the sets is of deny-overrides. "input" is its input whatever else it has.
//
// In each of them the input may have one of the names that agents give it, and may be JSON in a text. What leaves
// open what the input is, is an error: a call is never checked without the input that it has.
func Parse(line []byte, sets ...*Set) (*Call, error) {
	v, err := ParseValue(line)
	if err != nil {
		return nil, err
	}
	if v.Kind() != Object {
		return nil, errors.New("it is JSON, but not an object; write {\"tool\": …, \"input\": {…}}")
	}
	return fromValue(v, sets)
}

// fromValue is Parse of what is parsed already.
func fromValue(v *Value, sets []*Set) (*Call, error) {
	walks := func(s *Set) bool { return s.Strategy == DenyOverrides }
	request := v.Member("tool_name") != nil && slices.ContainsFunc(sets, walks)
	only := request && !slices.ContainsFunc(sets, func(s *Set) bool { return !walks(s) })
	c := &Call{}
	name := "tool_name"
	if !request {
		var err error
		if name, err = theOne(v, "tool", toolNames()); err != nil {
			return nil, err
		}
	}
	if name == "tool" {
		for _, m := range v.Members() {
			if !slices.Contains(inputNames(), m.Name) && !slices.Contains(toolNames(), m.Name) && m.Name != "agent_id" && m.Name != "cwd" {
				return nil, fmt.Errorf("%q is not a member of a call; write tool, input, agent_id and cwd, or a request with tool_name", m.Name)
			}
		}
	}
	for _, m := range []struct {
		name string
		to   *string
	}{{name, &c.Tool}, {"agent_id", &c.Agent}, {"cwd", &c.Dir}} {
		switch text := v.Member(m.name); text.Kind() {
		case String:
			*m.to = text.Str()
		case Absent, Null:
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
	if own := v.Member(of); !request || own.Kind() == Absent || own.Kind() == Null {
		var err error
		if of, err = theOne(v, "input", inputNames()); err != nil {
			return nil, err
		}
	}
	var err error
	if c.Input, err = asInput(of, v.Member(of)); err != nil && !(only && mayBeAnything(of)) {
		return nil, err
	}
	switch name {
	case "tool_name":
		c.Request = v
	case "toolName":
		c.Request = v.With(Member{"tool_name", Text(c.Tool)})
	}
	return c, nil
}

// mayBeAnything reports whether a member of a request may hold any value: agents write the other names, and always for
// the input, but these are words that a request may use as it likes.
func mayBeAnything(name string) bool { return name == "input" || name == "arguments" }

// theOne returns which of some names an object has a member of that is not null, the first if it has none. Two of them
// are an error: which of them the agent acts on is unknown.
func theOne(v *Value, what string, names []string) (string, error) {
	found := ""
	for _, name := range names {
		switch k := v.Member(name).Kind(); {
		case k == Absent, k == Null:
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

// asInput returns the input that a member holds, as an object or as a string of one; nil if there is none.
func asInput(name string, v *Value) (*Value, error) {
	switch v.Kind() {
	case Absent, Null:
		return nil, nil
	case Object:
		return v, nil
	case String:
		said, err := ParseValue([]byte(v.Str()))
		if err == nil && said.Kind() == Object {
			return said, nil
		}
		return nil, fmt.Errorf("%q is a string that is not a JSON object; write the input as an object", name)
	}
	return nil, fmt.Errorf("%q is not an object", name)
}

// request is what dot-paths walk.
func (c *Call) request() *Value {
	if c.Request != nil {
		return c.Request
	}
	members := []Member{{"tool_name", Text(c.Tool)}}
	if c.Agent != "" {
		members = append(members, Member{"agent_id", Text(c.Agent)})
	}
	members = append(members, Member{"input", c.Input})
	if c.Dir != "" {
		members = append(members, Member{"cwd", Text(c.Dir)})
	}
	return NewObject(members...)
}

// at walks the request along a dot-path. A request is as it was sent, and a rule about its input must not miss it for
// the name or the form in which it came: where the request has no object "input", what is beneath is the call's.
func (c *Call) at(request *Value, path []string) *Value {
	v := request.At(path...)
	if k := v.Kind(); k != Absent && k != Null || len(path) == 0 || path[0] != "input" {
		return v
	}
	if own := request.Member("input").Kind(); own == Object || own == List {
		return v
	}
	return c.Input.At(path[1:]...)
}
