package callrules

import (
	"slices"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
)

// TestOps: what a test asks, one to a row, of a call that has all kinds of facts.
func TestOps(t *testing.T) {
	c := &call.Call{Tool: "Bash", Dir: "/w/src",
		Input: parsedValue(t, `{"command":"git push --force","n":5,"yes":true,"null":null,"list":["a"]}`)}
	in := func(name string) Fact { return Fact{Source: FromInput, Path: []string{name}} }
	cwd := Fact{Source: FromRequest, Path: []string{"cwd"}}
	is := func(text string) []Predicate {
		return []Predicate{{Test: &Test{Fact: Fact{Source: FromItem}, Op: Equals, Text: text}}}
	}
	for _, r := range []struct {
		name string
		test Test
		want bool
	}{
		{"the same number", Test{Fact: in("n"), Op: SameAs,
			Values: []*call.Value{call.Text("5"), parsedValue(t, "5.0")}}, true},
		{"a text is no number", Test{Fact: in("n"), Op: SameAs, Values: []*call.Value{call.Text("5")}}, false},
		{"not the same", Test{Fact: in("n"), Op: SameAs, Not: true, Values: []*call.Value{call.Text("5")}}, true},
		{"nothing is the same as what is missing",
			Test{Fact: in("gone"), Op: SameAs, Not: true, Values: []*call.Value{call.Text("5")}}, false},
		{"what is missing, where that holds",
			Test{Fact: in("null"), Op: SameAs, Absent: Holds, Values: []*call.Value{call.Text("5")}}, true},
		{"the same capability", Test{Fact: Fact{Source: FromCapability}, Op: SameAs,
			Values: []*call.Value{call.Text("execute")}}, true},
		{"the text of a number is one of some",
			Test{Fact: in("n"), Op: OneOf, Values: []*call.Value{call.Text("4"), call.Text("5")}}, true},
		{"the text of a truth value is one of others",
			Test{Fact: in("yes"), Op: OneOf, Values: []*call.Value{call.Text("false"), parsedValue(t, `["true"]`)}},
			false},
		{"a list has no text", Test{Fact: in("list"), Op: OneOf, Values: []*call.Value{call.Text("a")}}, false},
		{"the folder itself", Test{Fact: cwd, Op: Under, Text: "/w/src/"}, true},
		{"beneath a folder", Test{Fact: cwd, Op: Under, Text: "/w"}, true},
		{"beneath the root", Test{Fact: cwd, Op: Under, Text: "/"}, true},
		{"beside a folder", Test{Fact: cwd, Op: Under, Text: "/w/s"}, false},
		{"there", Test{Fact: in("n"), Op: Exists}, true},
		{"null is not there", Test{Fact: in("null"), Op: Exists}, false},
		{"not there", Test{Fact: in("gone"), Op: Exists, Not: true}, true},
		{"the second argument", Test{Fact: Fact{Source: FromExecArg, Index: 1}, Op: Equals, Text: "--force"}, true},
		{"a third argument", Test{Fact: Fact{Source: FromExecArg, Index: 2}, Op: Exists}, false},
		{"the arguments behind the first", Test{Fact: Fact{Source: FromExecArgs, Index: 1}, Op: Each,
			Each: is("push")}, false},
		{"the arguments from the first on", Test{Fact: Fact{Source: FromExecArgs}, Op: Each, Each: is("push")}, true},
		{"an item of a list", Test{Fact: in("list"), Op: Each, Each: is("a")}, true},
		{"no item of a list", Test{Fact: in("list"), Op: Each, Not: true, Each: is("b")}, true},
		{"what is no list has no items", Test{Fact: in("n"), Op: Each, Not: true, Each: is("a")}, false},
		{"the arguments are there, if there are none", Test{Fact: Fact{Source: FromExecArgs, Index: 7}, Op: Exists},
			true},
	} {
		set := &Set{Strategy: AllViolations, Default: Allow,
			Rules: []Rule{{ID: "r", Effect: Deny, When: Predicate{Test: &r.test}}}}
		if got := set.Decide(c, Options{}).Rule != nil; got != r.want {
			t.Errorf("%s: %v, want %v", r.name, got, r.want)
		}
	}
	args := Test{Fact: Fact{Source: FromExecArgs}, Op: Exists}
	if args.holds(&facts{call: &call.Call{Tool: "Read"}}) {
		t.Error("what runs no program has arguments")
	}
}

// TestRespelled: a path is the same by each spelling of the folder that it is in, for rules that allow, deny or say
// what it is not.
func TestRespelled(t *testing.T) {
	path := func(op Op, text string, not bool) Predicate {
		return Predicate{Test: &Test{Fact: Fact{Source: FromFSPath}, Op: op, Text: text, Not: not}}
	}
	set := &Set{Rules: []Rule{
		{ID: "in", When: path(Under, "/real/repo", false)},
		{ID: "beneath", When: Predicate{Any: []Predicate{path(Under, "/real/repo/src", false),
			path(Equals, "/real/repo/x", false)}}},
		{ID: "outside", When: Predicate{All: []Predicate{path(Under, "/real/repo", true)}}},
		{ID: "elsewhere", When: path(Under, "/real/repository", false)},
		{ID: "tool", When: Predicate{Test: &Test{Fact: Fact{Source: FromTool}, Op: Equals, Text: "Read"}}},
	}}
	again := set.Respelled("/real/repo", []string{"/link/repo", "/other"})
	for name, want := range map[string][]string{
		"/real/repo":           {"in", "tool"},
		"/link/repo":           {"in", "tool"},
		"/link/repo/src/a.go":  {"in", "beneath", "tool"},
		"/real/repo/src/a.go":  {"in", "beneath", "tool"},
		"/other/x":             {"in", "beneath", "tool"},
		"/link/repo/x/y":       {"in", "tool"},
		"/link/repository":     {"outside", "tool"},
		"/real/repository/src": {"outside", "elsewhere", "tool"},
		"/otherwise/src":       {"outside", "tool"},
	} {
		var got []string
		for i := range again.Rules {
			f := &facts{call: &call.Call{Tool: "Read",
				Input: call.NewObject(call.Member{Name: "file_path", Value: call.Text(name)})}}
			if ok, _ := again.Rules[i].When.holds(f); ok {
				got = append(got, again.Rules[i].ID)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if set.Rules[0].When.Test == nil || set.Rules[1].When.Any[0].Test.Text != "/real/repo/src" {
		t.Error("the set was changed")
	}
}
