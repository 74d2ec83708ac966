package callrules

import (
	"cmp"

	"github.com/policyscan/policyscan/agent/call"
)

// A Source says where a fact is drawn from.
type Source uint8

// The sources of facts.
const (
	FromTool       Source = iota // the tool's name
	FromSameTool                 // the name that Claude Code has for a tool of this meaning, or its own
	FromCommand                  // input.command
	FromPath                     // input.file_path; if that is missing or null, input.path
	FromContent                  // input.content; if that is missing or null, input.new_string
	FromInput                    // the input, along Fact.Path
	FromRequest                  // the whole request, along Fact.Path
	FromCapability               // the tool's Capability; missing if it has none
	FromEdits                    // "edit" for Edit, MultiEdit and their equivalents in other agents; else missing
	FromExecBin                  // exec.bin: the program that a command runs
	FromExecArg                  // exec.args: the argument Fact.Index of that program, counted from 0
	FromExecArgs                 // exec.args: all of them from Fact.Index on, a list
	FromFSOp                     // fs.op: "read" or "write"
	FromFSPath                   // fs.path: the file or directory, absolute and clean if the working directory is known
	FromNetHost                  // net.host: the host of a URL in lower case, or "*" for any
	FromNetPath                  // net.path: the path of that URL, from its slash; missing of a search
	FromProgram                  // the program of the command being evaluated, see Rule.EachCommand
	FromArguments                // its arguments, a list
	FromUnseen                   // why something of it is not seen; missing if all is
	FromItem                     // the item of a list that a test with Op Each is about
)

// A Fact is the subject of a test. Null facts of an input are missing.
type Fact struct {
	Source Source
	Path   []string // of FromInput and FromRequest: names of members, one after the other
	Index  int      // of FromExecArg and FromExecArgs

	// JSON converts numbers, booleans, lists and objects to text, as JSON.stringify writes them. Without it objects
	// have no text, and a test of text treats them as missing.
	JSON bool

	// Joined converts lists to text as JavaScript's String does, see [call.Value.Joined]. Objects still have none.
	// Without it and without JSON a list has no text.
	Joined bool

	// Stringified is Joined for every value: null is "null", and an object "[object Object]".
	Stringified bool
}

// facts are the facts of a call; expensive ones are computed once.
type facts struct {
	call *call.Call

	dir    string // those of the set
	others []string

	requested *call.Value
	operated  bool
	ops       call.Operations
	listed    bool
	commands  []call.Command
	command   *call.Command // that is being evaluated
	allows    bool          // by a rule that allows
	accepts   bool          // and has its own test of unseen commands
	item      *call.Value
	written   map[*call.Value]string // JSON texts, each written once for all rules

	// may makes a test of a missing fact hold: a possible match counts.
	may bool

	// strict makes a test of a file or a host hold that the call names, and that cannot be determined.
	strict bool
}

// value returns a fact as it is, nil if it is missing or null.
func (f *facts) value(of *Fact) *call.Value {
	v := f.raw(of)
	if v.Kind() == call.Null {
		return nil
	}
	return v
}

func (f *facts) raw(of *Fact) *call.Value {
	switch of.Source {
	case FromTool:
		return call.Text(f.call.Tool)
	case FromSameTool:
		if f.call.Tool == notInMap {
			return call.Text(notInMap)
		}
		return call.Text(cmp.Or(call.Known(f.call.Tool).Same, f.call.Tool))
	case FromCommand:
		return f.call.Input.Member("command")
	case FromPath:
		return f.call.Input.First("file_path", "path", "filePath")
	case FromContent:
		return f.call.Input.First("content", "new_string", "newString")
	case FromInput:
		return f.call.Input.At(of.Path...)
	case FromRequest:
		return f.along(of.Path)
	case FromCapability:
		if c := call.Known(f.call.Tool).Capability; c != "" {
			return call.Text(string(c))
		}
		return nil
	case FromItem:
		return f.item
	case FromProgram, FromArguments, FromUnseen:
		return commandFact(f.command, of.Source)
	}
	ops := f.operations()
	switch of.Source {
	case FromEdits:
		return ops.Edited
	case FromExecBin:
		return ops.Runs.Name
	case FromExecArg:
		if of.Index < len(ops.Runs.Args) {
			return ops.Runs.Args[of.Index]
		}
	case FromExecArgs:
		if ops.Runs.Name != nil {
			return call.NewList(ops.Runs.Args[min(of.Index, len(ops.Runs.Args)):])
		}
	case FromFSOp:
		return ops.Op
	case FromFSPath:
		return ops.Path
	case FromNetHost:
		return ops.Host
	case FromNetPath:
		return ops.URLPath
	}
	return nil
}

// unsure says why a fact is missing though the call names it; "" if that is not so.
func (f *facts) unsure(of *Fact) string {
	switch of.Source {
	case FromFSPath:
		return f.operations().UnsurePath
	case FromNetHost:
		return f.operations().UnsureHost
	case FromNetPath:
		return f.operations().UnsureURLPath
	}
	return ""
}

func (f *facts) operations() *call.Operations {
	if !f.operated {
		f.ops, f.operated = f.call.Operations(), true
	}
	return &f.ops
}

// request is the root of dot-paths.
func (f *facts) request() *call.Value {
	c := f.call
	if f.requested == nil {
		f.requested = c.Request
	}
	if f.requested != nil {
		return f.requested
	}
	members := []call.Member{{Name: "tool_name", Value: call.Text(c.Tool)}}
	if c.Agent != "" {
		members = append(members, call.Member{Name: "agent_id", Value: call.Text(c.Agent)})
	}
	members = append(members, call.Member{Name: "input", Value: c.Input})
	if c.Dir != "" {
		members = append(members, call.Member{Name: "cwd", Value: call.Text(c.Dir)})
	}
	f.requested = call.NewObject(members...)
	return f.requested
}

// text returns the text of a fact, if any. The first two, which every rule of some dialects needs, are returned
// without making a Value.
func (f *facts) text(of *Fact) (string, bool) {
	switch of.Source {
	case FromTool:
		return f.call.Tool, true
	case FromCapability:
		c := call.Known(f.call.Tool).Capability
		return string(c), c != ""
	}
	v := f.raw(of)
	switch {
	case v.Kind() == call.String:
		return v.Str(), true
	case of.Stringified && v.Kind() != call.Absent:
		return v.Joined(), true
	case v.Kind() == call.Absent || v.Kind() == call.Null:
		return "", false
	case of.JSON && (v.Kind() == call.List || v.Kind() == call.Object):
		return f.json(v), true
	case of.Joined && v.Kind() == call.List:
		return v.Joined(), true
	}
	return v.Scalar()
}

func (f *facts) list(of *Fact) ([]*call.Value, bool) {
	if of.Source == FromExecArgs { // without a Value being made
		ops := f.operations()
		return ops.Runs.Args[min(of.Index, len(ops.Runs.Args)):], ops.Runs.Name != nil
	}
	if of.Source == FromArguments && f.command != nil {
		return f.command.Arguments, f.command.Called != nil
	}
	v := f.value(of)
	return v.Items(), v.Kind() == call.List
}

func (f *facts) json(v *call.Value) string {
	text, ok := f.written[v]
	if !ok {
		if f.written == nil {
			f.written = map[*call.Value]string{}
		}
		text = v.JSON()
		f.written[v] = text
	}
	return text
}

// along looks up a dot-path in the request. A rule about its input must not miss it because of another name
// or form, so without an object "input" in the request, the path continues in the call's input.
func (f *facts) along(path []string) *call.Value {
	v := f.request().At(path...)
	if k := v.Kind(); k != call.Absent && k != call.Null || len(path) == 0 || path[0] != "input" {
		return v
	}
	if own := f.request().Member("input").Kind(); own == call.Object || own == call.List {
		return v
	}
	return f.call.Input.At(path[1:]...)
}
