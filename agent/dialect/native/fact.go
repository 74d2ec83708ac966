package native

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

type fact struct {
	name string
	fact callrules.Fact

	list  bool     // a list: a test is about one of its items
	glob  bool     // a path or a name, not free text
	clean bool     // an absolute path without ".."
	host  bool     // a host, as call.Host writes it
	words []string // all that it can be
}

// facts are all facts, in the order of the manual. "input" also has paths: input.a.b.
func facts() []fact {
	from := func(source callrules.Source) callrules.Fact { return callrules.Fact{Source: source, JSON: true} }
	request := func(name string) callrules.Fact {
		return callrules.Fact{Source: callrules.FromRequest, Path: []string{name}}
	}
	return []fact{
		{name: "tool", fact: from(callrules.FromTool), glob: true},
		{name: "capability", fact: from(callrules.FromCapability), words: []string{
			string(call.Execute), string(call.Read), string(call.Write), string(call.Search),
			string(call.Agent), string(call.Network),
		}},
		{name: "command", fact: from(callrules.FromCommand)},
		{name: "path", fact: from(callrules.FromPath), glob: true},
		{name: "content", fact: from(callrules.FromContent)},
		{name: "exec.bin", fact: from(callrules.FromProgram), glob: true},
		{name: "exec.args", fact: from(callrules.FromArguments), glob: true, list: true},
		{name: "exec.unseen", fact: from(callrules.FromUnseen), words: call.Unseen()},
		{name: "fs.op", fact: from(callrules.FromFSOp), words: []string{"read", "write"}},
		{name: "fs.path", fact: from(callrules.FromFSPath), glob: true, clean: true},
		{name: "net.host", fact: from(callrules.FromNetHost), glob: true, host: true},
		{name: "agent", fact: request("agent_id"), glob: true},
		{name: "cwd", fact: request("cwd"), glob: true, clean: true},
		{name: "input", fact: from(callrules.FromInput), glob: true},
	}
}

// fact finds the fact of a test.
func (r *reader) fact(e document.Entry) (*fact, bool) {
	name, ok := r.doc.Text(e)
	if !ok {
		return nil, false
	}
	all := facts()
	if i := slices.IndexFunc(all, func(f fact) bool { return f.name == name }); i >= 0 {
		return &all[i], true
	}
	rest, ok := strings.CutPrefix(name, "input.")
	parts := strings.Split(rest, ".")
	if !ok || slices.Contains(parts, "") {
		known := ""
		for _, f := range all {
			known += f.name + ", "
		}
		r.doc.Fail(document.CodeValue, e.Value, fmt.Sprintf("there is no fact %q", name),
			"write one of "+known+"input.NAME")
		return nil, false
	}
	return &fact{name: name, fact: callrules.Fact{Source: callrules.FromInput, Path: parts, JSON: true},
		glob: true}, true
}

type operator struct {
	name string
	op   callrules.Op
}

// operators are all there are, in the order of the manual.
func operators() []operator {
	return []operator{
		{"equals", callrules.Equals}, {"contains", callrules.Contains}, {"begins_with", callrules.Begins},
		{"ends_with", callrules.Ends},
		{"matches", callrules.Matches}, {"glob", callrules.Globs}, {"one_of", callrules.OneOf},
		{"under", callrules.Under}, {"exists", callrules.Exists},
	}
}

func operatorNames() []string {
	var names []string
	for _, o := range operators() {
		names = append(names, o.name)
	}
	return names
}
