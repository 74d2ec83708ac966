package evaluator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

type operator struct {
	name string
	op   callrules.Op
	not  bool
}

// operators are all there are, in the order of the document.
var operators = []operator{
	{"eq", callrules.SameAs, false}, {"neq", callrules.SameAs, true},
	{"in", callrules.OneOf, false}, {"not_in", callrules.OneOf, true},
	{"contains", callrules.Contains, false}, {"starts_with", callrules.Begins, false},
	{"ends_with", callrules.Ends, false},
	{"matches", callrules.Matches, false},
}

func operatorNames() []string {
	var names []string
	for _, o := range operators {
		names = append(names, o.name)
	}
	return names
}

func (r *reader) condition(n *node, rule *callrules.Rule) callrules.Predicate {
	m := r.object(n, "the condition", []string{"field", "operator", "value"}, nil)
	field, path := r.field(m["field"])
	name := r.word(m["operator"], "operator", operatorNames()...)
	value, list := r.operand(m["value"])
	if field == "" || name == "" || value == nil {
		return callrules.Predicate{}
	}
	o := operators[slices.IndexFunc(operators, func(o operator) bool { return o.name == name })]
	test := &callrules.Test{
		Fact: callrules.Fact{
			Source: callrules.FromRequest, Path: path,
			// "The resolved field is stringified"; but not_in holds of whatever has no text.
			Joined: !o.not,
		},
		Op: o.op, Not: o.not,
		Shown: fmt.Sprintf("%s %s %s", field, name, value.JSON()),
	}
	if o.not {
		test.Absent = callrules.Holds // undefined is not equal to anything
	}
	at := m["value"].at
	switch o.op {
	case callrules.SameAs:
		test.Values = []*call.Value{value}
		if value.Kind() == call.List {
			r.note(at, "%s with a list: two lists are never equal, so it is always %t; write in or not_in",
				name, o.not)
		}
	case callrules.OneOf:
		test.Values = list
		if len(list) == 0 {
			r.note(at, "%s with an empty list is always %t; name the values", name, o.not)
		}
	case callrules.Matches:
		r.pattern(test, value, at, rule)
	default:
		if value.Kind() != call.String {
			r.fail(document.CodeType, at, fmt.Sprintf("the value of %s is %s", name, m["value"].kindName()),
				"write a string")
		}
		test.Text = value.Str()
		if test.Text == "" {
			r.note(at, "%s with an empty string is true for every field that is present; write the string", name)
		}
	}
	return callrules.Predicate{Test: test}
}

// narrow is a condition of a rule that lets a call go on. A list or an object has no text there, so that it meets no
// test of text. not_in then cannot be determined: the field must be missing, or have a text.
func narrow(p callrules.Predicate) callrules.Predicate {
	if p.Test == nil {
		return p
	}
	test := *p.Test
	test.Fact.Joined = false
	if test.Op != callrules.OneOf || !test.Not {
		return callrules.Predicate{Test: &test}
	}
	missing := &callrules.Test{Fact: test.Fact, Op: callrules.Exists, Not: true, Shown: test.Shown}
	test.Absent = callrules.Fails
	return callrules.Predicate{Any: []callrules.Predicate{{Test: missing}, {Test: &test}}}
}

// pattern compiles a pattern. One that does not compile breaks the policy.
func (r *reader) pattern(test *callrules.Test, value *call.Value, at int, rule *callrules.Rule) {
	shown := value.JSON()
	if len(shown) > 160 {
		shown = strings.ToValidUTF8(shown[:160], "") + "…"
	}
	cause := fmt.Sprintf("the pattern %s of the rule %s is not a string", shown, rule.ID)
	if value.Kind() == call.String {
		var err error
		if test.Regexp, err = regexp.Compile(value.Str()); err == nil {
			return
		}
		cause = fmt.Sprintf("the pattern %s of the rule %s does not compile: %s",
			document.Quoted(value.Str()), rule.ID,
			strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	policy := &r.set.Policies[rule.Policy]
	if policy.Broken == "" {
		policy.Broken = cause
	}
	// The policy is broken, so the test is never made. If it is, it decides against the call.
	test.Broken = cause
	if rule.Effect != callrules.Allow {
		test.IfBroken = callrules.Holds
	}
	r.note(at, "%s; every call that reaches the policy %s is denied, %s; "+
		"write RE2 syntax, without look-around and back-references",
		cause, policy.ID, callrules.CodeCompile)
}

func (r *reader) field(n *node) (text string, path []string) {
	text, ok := r.text(n, "field", 1, anyLength)
	if !ok {
		return "", nil
	}
	path = strings.Split(text, ".")
	for _, part := range path {
		switch part {
		case "__proto__", "constructor", "prototype":
			r.fail(document.CodeValue, n.at, fmt.Sprintf("the field %s has the part %q", document.Quoted(text), part),
				"name a field that a request has")
			return "", nil
		case "":
			r.note(n.at, "the field %s has an empty part, which is a key without a name; remove the dot",
				document.Quoted(text))
		}
	}
	if root := path[0]; !slices.Contains([]string{"tool_name", "agent_id", "input", "cwd", "session_id", ""}, root) &&
		!r.roots[root] {
		r.roots[root] = true
		r.note(n.at, "the field %s: the request of an agent's hook has tool_name, agent_id, input, cwd and "+
			"session_id; %q is only in requests that bring it",
			document.Quoted(text), root)
	}
	return text, path
}

// operand reads the value of a condition: a string, a number, a boolean, or a list of strings or of numbers. list has
// its text, or the texts of its items. The value is nil after a mistake.
func (r *reader) operand(n *node) (value *call.Value, list []*call.Value) {
	if n == nil {
		return nil, nil
	}
	items := []*node{n}
	if n.kind == call.List {
		items = n.items
	}
	for _, item := range items {
		switch {
		case item.kind == call.Null, item.kind == call.Object,
			n.kind == call.List && (item.kind == call.List || item.kind == call.Bool):
			r.fail(document.CodeType, item.at, "the value is or has "+item.kindName(),
				"write a string, a number, true or false, or a list of strings or of numbers")
			return nil, nil
		case item.kind != items[0].kind:
			r.fail(document.CodeType, item.at, "the list has strings and numbers", "write one kind")
			return nil, nil
		}
		v, ok := r.value(item)
		if !ok {
			return nil, nil
		}
		text, _ := v.Scalar()
		list = append(list, call.Text(text))
	}
	value, ok := r.value(n)
	if !ok {
		return nil, nil
	}
	return value, list
}
