package callrules

import (
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/call/shell"
)

// TestEachCommand: a rule that denies is met by any command of a line, by any name of its program; one that allows
// needs all of them as they are written, and none that hides another.
func TestEachCommand(t *testing.T) {
	program := func(name string, not bool) Predicate {
		return Predicate{Test: &Test{Fact: Fact{Source: FromProgram}, Op: Equals, Text: name, Not: not,
			Shown: "program"}}
	}
	item := []Predicate{{Test: &Test{Fact: Fact{Source: FromItem}, Op: Equals, Text: "push"}}}
	push := Predicate{Test: &Test{Fact: Fact{Source: FromArguments}, Op: Each, Each: item, Shown: "push"}}
	noPush := Predicate{Test: &Test{Fact: Fact{Source: FromArguments}, Op: Each, Each: item, Not: true,
		Shown: "no push"}}
	unseen := func(reason string) Predicate {
		return Predicate{Test: &Test{Fact: Fact{Source: FromUnseen}, Op: Equals, Text: reason, Shown: "unseen"}}
	}
	git, noGit := program("git", false), program("git", true)
	for _, c := range []struct {
		line string
		when Predicate
		want string // by a rule that denies, by one that allows
	}{
		{"git push", git, "yes yes"},
		{"ls; git push", git, "yes no"},
		{"git a; git b", git, "yes yes"},
		{"/usr/bin/git a", git, "yes no"},
		{"/usr/bin/git a", noGit, "yes no"},
		{"ls", noGit, "yes yes"},
		{"ls", git, "no no"},
		{"env git a", git, "yes yes"}, // env only runs git
		{"A=1 git a", git, "yes no"},
		{"git $X", git, "yes yes"}, // one command, whatever its arguments are
		{"git push", push, "yes yes"},
		{"git log; git push", push, "yes no"},
		{"git log", noPush, "yes yes"},
		{"git $X", noPush, "yes no"},
		{"git 'x", git, "yes no"},
		{"git $X", unseen(shell.Argument), "yes yes"},
		{"A=1 git a", unseen(shell.Environment), "yes yes"},
		{"A=1 git $X", unseen(shell.Environment), "yes no"}, // and an argument
		{"git a", unseen(shell.Argument), "no no"},
		{"", git, "no no"},
	} {
		asked := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text(c.line)})}
		var got []string
		for _, e := range []Effect{Deny, Allow} {
			rule := Rule{ID: "r", Effect: e, When: c.when, EachCommand: true, Unseen: c.when.About(FromUnseen)}
			set := &Set{Strategy: AllViolations, Default: Ask, Rules: []Rule{rule}}
			word := "no"
			if set.Decide(asked, Options{Trace: true}).Rule != nil {
				word = "yes"
			}
			got = append(got, word)
			if out := set.Decide(asked, Options{}); (out.Rule != nil) != (word == "yes") {
				t.Errorf("%q: %s with a trace, and without it not", c.line, word)
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%q, %+v: got %s, want %s", c.line, c.when.Test, got, c.want)
		}
	}
}

// TestWhichCommand: a trace says which command of a line decided, or why none did.
func TestWhichCommand(t *testing.T) {
	git := Predicate{Test: &Test{Fact: Fact{Source: FromProgram}, Op: Equals, Text: "git", Shown: "program is git"}}
	for _, c := range []struct {
		effect     Effect
		line, want string
	}{
		{Deny, "ls; git push", `command 2 of 2: "git push"`},
		{Deny, "ls", "program is git does not hold"},
		{Deny, "ls; cat x", "none of the 2 commands matches; in the last, program is git does not hold"},
		{Allow, "git a", `command 1 of 1: "git a"`},
		{Allow, "git a; git b", "all of 2 commands"},
		{Allow, "git a; ls", `command 2 of 2, program is git does not hold: "ls"`},
		{Allow, "A=1 git a", `command 1 of 1 cannot be read in full (environment): "git a"`},
		{Allow, "git 'x", `command 1 of 2 cannot be read in full (syntax): "git x"`},
	} {
		set := &Set{Strategy: AllViolations, Default: Ask,
			Rules: []Rule{{ID: "r", Effect: c.effect, When: git, EachCommand: true}}}
		asked := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text(c.line)})}
		steps := set.Decide(asked, Options{Trace: true}).Trace.Steps
		if len(steps) != 1 || steps[0].Reason() != c.want {
			t.Errorf("%s, %q: %+v, want %s", c.effect, c.line, steps, c.want)
		}
	}
}

// TestAbout: a predicate is about what any of its tests is about.
func TestAbout(t *testing.T) {
	test := func(s Source) Predicate { return Predicate{Test: &Test{Fact: Fact{Source: s}}} }
	p := Predicate{All: []Predicate{test(FromTool), {Any: []Predicate{test(FromUnseen)}}}}
	for source, want := range map[Source]bool{FromTool: true, FromUnseen: true, FromProgram: false} {
		if p.About(source) != want {
			t.Errorf("%d: not %v", source, want)
		}
	}
	var none Predicate
	if none.About(FromTool) {
		t.Error("no test is about the tool")
	}
}

// TestThrough: where env runs git, a rule that names env and is stricter decides; one that allows env says nothing of
// git.
func TestThrough(t *testing.T) {
	bin := func(name string) *Test { return &Test{Fact: Fact{Source: FromExecBin}, Op: Equals, Text: name} }
	rule := func(e Effect, name string) Rule {
		r := ruleOf("exec", e, string(e)+" "+name, bin(name))
		r.Through = name == "env"
		return r
	}
	for _, c := range []struct {
		rules []Rule
		want  string
	}{
		{[]Rule{rule(Deny, "env"), rule(Allow, "git")}, "deny env"},
		{[]Rule{rule(Allow, "env"), rule(Ask, "git")}, "ask git"},
		{[]Rule{rule(Ask, "env"), rule(Deny, "git")}, "deny git"},
		{[]Rule{rule(Allow, "git")}, "allow git"},
	} {
		asked := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text("env git a")})}
		out := specific(Ask, c.rules...).Decide(asked, Options{Trace: true})
		if out.Rule == nil || out.Rule.ID != c.want {
			t.Errorf("%+v: %+v, want %s", c.rules, out.Rule, c.want)
		}
	}
}

// TestText: the operators about text, and of each line without its comment.
func TestText(t *testing.T) {
	asked := &call.Call{Tool: "Write", Input: call.NewObject(call.Member{Name: "content",
		Value: call.Text("ab // x\r\ncd")})}
	content := Fact{Source: FromContent}
	for _, c := range []struct {
		test Test
		want bool
	}{
		{Test{Op: Contains, Text: "b //"}, true},
		{Test{Op: Contains, Text: "bc"}, false},
		{Test{Op: Begins, Text: "ab"}, true},
		{Test{Op: Begins, Text: "b"}, false},
		{Test{Op: Ends, Text: "cd"}, true},
		{Test{Op: Ends, Text: "c"}, false},
		{Test{Op: Equals, Text: "cd"}, false},
		{Test{Op: Equals, Text: "cd", ByLine: true}, true},
		{Test{Op: Equals, Text: "ab ", ByLine: true}, true},
		{Test{Op: Contains, Text: "x", ByLine: true}, false},
		{Test{Op: Contains, Text: "x", ByLine: true, Not: true}, true},
		{Test{Op: Equals, Text: "cd", Broken: "it is"}, false},
		{Test{Op: Equals, Text: "cd", Broken: "it is", IfBroken: Holds}, true},
	} {
		c.test.Fact = content
		set := &Set{Strategy: AllViolations, Default: Allow,
			Rules: []Rule{{Effect: Deny, When: Predicate{Test: &c.test}}}}
		if got := set.Decide(asked, Options{}).Rule != nil; got != c.want {
			t.Errorf("%+v: %v", c.test, got)
		}
	}
	missing := Test{Fact: Fact{Source: FromCommand}, Op: Equals, Absent: AsEmpty}
	set := &Set{Strategy: AllViolations, Default: Allow,
		Rules: []Rule{{Effect: Deny, When: Predicate{Test: &missing}}}}
	if set.Decide(asked, Options{}).Rule == nil {
		t.Error("what is missing is not as an empty text")
	}
}
