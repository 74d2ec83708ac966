package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

// An input is an agent's payload, with its first error.
type input struct {
	of  *call.Value
	err error
}

func (in *input) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fmt.Errorf(format, args...)
	}
}

// member returns the member with one of the names, or nil if it is missing or null. Two members with different values
// are an error, because nobody can tell which one the agent uses.
func (in *input) member(names ...string) (string, *call.Value) {
	found, value := names[0], (*call.Value)(nil)
	for _, name := range names {
		v := in.of.Member(name)
		switch {
		case v.Kind() == call.Absent, v.Kind() == call.Null:
		case value == nil:
			found, value = name, v
		case v.JSON() != value.JSON():
			in.fail("%q and %q differ, so policyscan cannot determine which of them counts", found, name)
		}
	}
	return found, value
}

// text returns a string member, "" if it is missing or null.
func (in *input) text(names ...string) string {
	name, v := in.member(names...)
	if v != nil && v.Kind() != call.String {
		in.fail("%q is not a string", name)
	}
	return v.Str()
}

// event returns the name of the event, which must be one of an agent's.
func (in *input) event(of *Agent, names ...string) string {
	event := in.text(names...)
	if in.err == nil && !slices.Contains(of.Events, event) {
		in.fail("%q is %q, which is not asked before a tool runs; install the hook for %s", names[0], event,
			strings.Join(of.Events, ", "))
	}
	return event
}

// directory returns a member that is an absolute path, "" if it is missing or empty.
func (in *input) dir(names ...string) string {
	dir := in.text(names...)
	if dir != "" && !absolute(dir) {
		in.fail("%q is %q, which is not an absolute path", names[0], dir)
	}
	return dir
}

// absolute reports whether a path is absolute on any system, so that a payload has the same result wherever the tests
// run.
func absolute(path string) bool {
	if path[0] == '/' || path[0] == '\\' {
		return true
	}
	letter := path[0] | 0x20
	return len(path) >= 3 && 'a' <= letter && letter <= 'z' && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// object returns a member that is an object, nil if it is missing or null.
func (in *input) object(names ...string) *call.Value {
	name, v := in.member(names...)
	if v != nil && v.Kind() != call.Object {
		in.fail("%q is not an object", name)
	}
	return v
}

// arguments is object for the input of a tool, which some agents write as a string of JSON. An empty string, from a
// model that gives no arguments, is an empty object; any other string that is not an object is returned unchanged.
func (in *input) arguments(names ...string) (object *call.Value, text string) {
	name, v := in.member(names...)
	switch v.Kind() {
	case call.Absent, call.Object:
		return v, ""
	case call.String:
		text = v.Str()
		parsed, err := call.ParseValue([]byte(text))
		switch {
		case strings.TrimSpace(text) == "":
			return call.NewObject(), ""
		case err != nil:
			return nil, text
		case parsed.Kind() == call.Object:
			return parsed, ""
		case parsed.Kind() == call.Null:
			return nil, ""
		}
		in.fail("%q is a string of JSON, but not of an object", name)
		return nil, ""
	}
	in.fail("%q is not an object", name)
	return nil, ""
}

// texts returns a member that is a list of strings.
func (in *input) texts(name string) []string {
	_, v := in.member(name)
	if v != nil && v.Kind() != call.List {
		in.fail("%q is not a list", name)
	}
	var all []string
	for _, item := range v.Items() {
		if item.Kind() != call.String {
			in.fail("%q has an item that is not a string", name)
		}
		all = append(all, item.Str())
	}
	return all
}
