// Package call judges the tool calls of coding agents by rules about them.
//
// A [Call] is a tool's name, its input and where it would run. A [Set] is what was read from a
// team's rules, whatever they were written in: rules of predicates over facts, each with an effect,
// and one strategy, which says how the rules of the set become one [Outcome]. [Set.Decide] is a pure
// function of the set, the call and a clock; it reads nothing and changes nothing, and several
// goroutines may use one Set.
//
// The readers of the dialects (packages sigmashake, evaluator, claudecube, clash and native, behind
// package dialect) parse, validate and lower to a Set. They never decide; nothing here knows in what
// a rule was written. What each dialect means, and where its document is not followed, is in
// docs/dialects.md.
//
// # Limits
//
// A call is what the agent asked for. What a command does once it runs (a shell's compounds and
// substitutions, a script, a child process) is not seen.
package call

import (
	"errors"
	"fmt"
)

// A Call is one call of a tool by an agent, before it runs.
type Call struct {
	Tool  string // the tool's name, as the agent says it; not empty
	Input *Value // the tool's input, an object; nil if there is none
	Agent string // the agent's id; "" if there is none
	Dir   string // the working folder, absolute; "" if it is not known

	// Request is what the dot-paths of deny-overrides walk. If it is nil, it is made of the above:
	// tool_name, agent_id, input and cwd.
	Request *Value
}

// Parse reads a call from a line of JSON: {"tool", "input", "agent_id", "cwd"}, or a request as the
// evaluator's document has it, with "tool_name" and any other members. Of the first form only "tool"
// must be there, and nothing else may be.
func Parse(line []byte) (*Call, error) {
	v, err := ParseValue(line)
	if err != nil {
		return nil, err
	}
	if v.Kind() != Object {
		return nil, errors.New("it is JSON, but not an object; write {\"tool\": …, \"input\": {…}}")
	}
	return FromValue(v)
}

// FromValue is Parse of what is parsed already.
func FromValue(v *Value) (*Call, error) {
	name, request := "tool", (*Value)(nil)
	if v.Member("tool_name") != nil { // a request may have any other member, "tool" among them
		name, request = "tool_name", v
	}
	c := &Call{Request: request}
	for _, m := range v.Members() {
		var to *string
		switch m.Name {
		case name:
			to = &c.Tool
		case "agent_id":
			to = &c.Agent
		case "cwd":
			to = &c.Dir
		case "input":
			if m.Value.Kind() == Object {
				c.Input = m.Value
			} else if m.Value.Kind() != Null && request == nil {
				return nil, errors.New("\"input\" is not an object")
			}
			continue
		default:
			if request == nil {
				return nil, fmt.Errorf("%q is not a member of a call; those are tool, input, agent_id and cwd, or those of a request with tool_name", m.Name)
			}
			continue
		}
		switch m.Value.Kind() {
		case String:
			*to = m.Value.Str()
		case Null:
		default:
			return nil, fmt.Errorf("%q is not a text", m.Name)
		}
	}
	if c.Tool == "" {
		return nil, errors.New("it names no tool; write the name as \"tool\", or as \"tool_name\" of a request")
	}
	return c, nil
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
