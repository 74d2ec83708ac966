package call

// A Source says where a fact is drawn from.
type Source uint8

// The sources of facts.
const (
	FromTool       Source = iota // the tool's name
	FromCommand                  // input.command
	FromPath                     // input.file_path; if that is missing or null, input.path
	FromContent                  // input.content; if that is missing or null, input.new_string
	FromInput                    // the input, along Fact.Path
	FromRequest                  // the whole request, along Fact.Path
	FromCapability               // the tool's Capability; missing if it has none
	FromEdits                    // "edit" for Claude Code's Edit and MultiEdit and what other agents call so; else missing
	FromExecBin                  // exec.bin: the program that a command runs
	FromExecArg                  // exec.args: the argument Fact.Index of that program, counted from 0
	FromExecArgs                 // exec.args: all of them from Fact.Index on, a list
	FromFSOp                     // fs.op: "read" or "write"
	FromFSPath                   // fs.path: the file or folder, absolute and clean if the working folder is known
	FromNetHost                  // net.host: the host of a URL in lower case, or "*" for any
	FromProgram                  // the program of the command that a rule is asked about, see Rule.EachCommand
	FromArguments                // its arguments, a list
	FromUnseen                   // why something of it is not seen; missing if all is
	FromItem                     // the item of a list that a test with Op Each is about
)

// A Fact is what a test is about. Facts of an input that are null are missing.
type Fact struct {
	Source Source
	Path   []string // of FromInput and FromRequest: names of members, one after the other
	Index  int      // of FromExecArg and FromExecArgs

	// JSON makes a text of numbers, truth values, lists and objects, as JSON.stringify writes them.
	// Without it objects have no text, and a test of text is as if they were missing.
	JSON bool

	// Joined makes a text of lists as JavaScript's String does, see [Value.Joined]. Objects still have none. Without
	// it and without JSON a list has no text.
	Joined bool
}

// facts are the facts of a call, those that take work made once.
type facts struct {
	call *Call

	requested *Value
	operated  bool
	ops       operations
	listed    bool
	commands  []command
	command   *command // that a rule is asked about
	allows    bool     // by a rule that allows
	accepts   bool     // and that says itself what may be unseen
	item      *Value
	written   map[*Value]string // JSON texts, each written once however many rules ask for it

	// may makes a test of a fact that is missing hold, whatever the test says: what might match is
	// asked for then.
	may bool

	// strict makes a test of a file or a host hold that the call names, and that cannot be determined.
	strict bool
}

// operations are what a call does, as the capability map of clash's document says it. A value
// that is nil is missing.
type operations struct {
	exec   bool // a command is run; which one is unknown if there is no bin
	net    bool // the network is used; which host is unknown if there is no host
	op     *Value
	path   *Value
	host   *Value
	edited *Value

	unsurePath string // why path is nil though the call names one, and what to write; "" if that is not so
	unsureHost string // the same of host

	runs    reading
	through []reading // what was looked through to the program that runs
}

// value returns a fact as it is, nil if it is missing or null.
func (f *facts) value(of *Fact) *Value {
	v := f.raw(of)
	if v.Kind() == Null {
		return nil
	}
	return v
}

func (f *facts) raw(of *Fact) *Value {
	switch of.Source {
	case FromTool:
		return Text(f.call.Tool)
	case FromCommand:
		return f.call.Input.Member("command")
	case FromPath:
		return first(f.call.Input, "file_path", "path")
	case FromContent:
		return first(f.call.Input, "content", "new_string")
	case FromInput:
		return f.call.Input.At(of.Path...)
	case FromRequest:
		return f.call.at(f.request(), of.Path)
	case FromCapability:
		if c := Known(f.call.Tool).Capability; c != "" {
			return Text(string(c))
		}
		return nil
	case FromItem:
		return f.item
	case FromProgram, FromArguments, FromUnseen:
		return f.command.value(of.Source)
	}
	ops := f.operations()
	switch of.Source {
	case FromEdits:
		return ops.edited
	case FromExecBin:
		return ops.runs.bin
	case FromExecArg:
		if of.Index < len(ops.runs.args) {
			return ops.runs.args[of.Index]
		}
	case FromExecArgs:
		if ops.runs.bin != nil {
			return &Value{kind: List, items: ops.runs.args[min(of.Index, len(ops.runs.args)):]}
		}
	case FromFSOp:
		return ops.op
	case FromFSPath:
		return ops.path
	case FromNetHost:
		return ops.host
	}
	return nil
}

// unsure says why a fact is missing though the call names it; "" if that is not so.
func (f *facts) unsure(of *Fact) string {
	switch of.Source {
	case FromFSPath:
		return f.operations().unsurePath
	case FromNetHost:
		return f.operations().unsureHost
	}
	return ""
}

// operations are made once.
func (f *facts) operations() *operations {
	if !f.operated {
		f.ops, f.operated = f.call.operations(), true
	}
	return &f.ops
}

// request is what dot-paths walk.
func (f *facts) request() *Value {
	if f.requested == nil {
		f.requested = f.call.request()
	}
	return f.requested
}

// first returns the first of some members that is neither missing nor null.
func first(v *Value, names ...string) *Value {
	for _, name := range names {
		if m := v.Member(name); m.Kind() != Absent && m.Kind() != Null {
			return m
		}
	}
	return nil
}

// text returns the text of a fact, if it has one. Every rule of some dialects asks for the first two: they are
// had without a Value being made.
func (f *facts) text(of *Fact) (string, bool) {
	switch of.Source {
	case FromTool:
		return f.call.Tool, true
	case FromCapability:
		c := Known(f.call.Tool).Capability
		return string(c), c != ""
	}
	v := f.value(of)
	switch {
	case v == nil:
		return "", false
	case v.kind == String:
		return v.text, true
	case of.JSON && (v.kind == List || v.kind == Object):
		return f.json(v), true
	case of.Joined && v.kind == List:
		return v.Joined(), true
	}
	return v.Scalar()
}

// list returns the items of a fact, if it is a list.
func (f *facts) list(of *Fact) ([]*Value, bool) {
	if of.Source == FromExecArgs { // without a Value being made
		ops := f.operations()
		return ops.runs.args[min(of.Index, len(ops.runs.args)):], ops.runs.bin != nil
	}
	if of.Source == FromArguments && f.command != nil {
		return f.command.args, f.command.names != nil
	}
	v := f.value(of)
	return v.Items(), v.Kind() == List
}

// json is the JSON of a list or an object.
func (f *facts) json(v *Value) string {
	text, ok := f.written[v]
	if !ok {
		if f.written == nil {
			f.written = map[*Value]string{}
		}
		text = v.JSON()
		f.written[v] = text
	}
	return text
}
