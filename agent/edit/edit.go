// Package edit says what files would hold after a tool call of an agent that edits them.
//
// [Of] knows the tools by their names and the fields of their input ([docs/agents.md] has the table,
// and the code of each agent that it was read from). It reads no file: the caller reads what a file holds
// and hands it to [Edit.After], which does to it what the agent's own code does.
//
// # What cannot be determined
//
// A text to replace must occur exactly: what an agent makes of one that is nearly there is an error. Where an
// agent's releases differ in known ways, all results are returned, and each is to be checked. Where the result is
// not known, there is an error: nothing is guessed, and no call of a tool that edits files is mistaken for one that
// does not. A caller that needs the result must then not let the call run. One that needs only the files that are
// edited calls [Paths].
//
// # Limits
//
// What a command of a shell writes is not seen, except for a patch that Codex takes out of the command
// itself (apply_patch with a here-document). A file over 64 MiB, before or after, is an error. So are cells of
// notebooks, files in UTF-16, and files in which CRLF and LF are mixed, except where the whole file is written.
//
// [docs/agents.md]: https://github.com/policyscan/policyscan/blob/main/docs/agents.md
package edit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
)

// MaxBytes is how large a file may be, before an edit and after it.
const MaxBytes = 64 << 20

// maxContents is how many contents one call may leave possible.
const maxContents = 16

// An Edit is what a call would do to one file.
type Edit struct {
	Path   string // the file that is written or removed, as the agent names it
	From   string // the file that the content before is read from, and that is then gone; "" is Path
	Remove bool   // the file is removed
	change change // nil if it is removed, and in the edits of [Paths]
}

// A change returns each content that a file may hold after an edit. exists says whether there is a file before.
type change func(before string, exists bool) ([]string, error)

// After returns what the file would hold: one content, or several if the agent's releases differ; each of them is to
// be checked. exists says whether there is a file before. The error says why it cannot be determined.
func (e Edit) After(before []byte, exists bool) ([][]byte, error) {
	switch {
	case e.change == nil:
		return nil, errors.New("cannot determine what the file would contain")
	case len(before) > MaxBytes:
		return nil, errTooLarge()
	case !exists:
		before = nil
	}
	all, err := e.change(string(before), exists)
	if err != nil {
		return nil, err
	}
	var kept [][]byte
	for i, content := range all {
		if len(content) > MaxBytes {
			return nil, errTooLarge()
		}
		if !slices.Contains(all[:i], content) {
			kept = append(kept, []byte(content))
		}
	}
	return kept, nil
}

// Of returns the edits that a call is, in the order in which they are made, at most one for each path; none
// for a tool that edits no file. An error says why what a tool that edits files would do cannot be determined.
func Of(c *call.Call) ([]Edit, error) {
	if call.Known(c.Tool).Capability == call.Execute {
		return shellEdits(c)
	}
	named := false
	var first error
	for _, f := range forms() {
		if !slices.Contains(f.names, c.Tool) {
			continue
		}
		named = true
		in, err := f.read(c)
		if err == nil {
			edits := f.edits(in)
			if in.err != nil {
				return nil, in.err
			}
			return edits, nil
		}
		if first == nil || errors.Is(first, errCommand) {
			first = err
		}
	}
	switch {
	case first != nil:
		return nil, fmt.Errorf("%s: %w", c.Tool, first)
	case !named && call.Known(c.Tool).Capability == call.Write:
		return nil, fmt.Errorf("%s edits files in a way that policyscan does not know", c.Tool)
	case !named:
		if known := almost(c.Tool); known != "" {
			return nil, fmt.Errorf("%q is spelled almost as %s, so policyscan cannot determine whether it edits files",
				c.Tool, known)
		}
	}
	return nil, nil
}

func errTooLarge() error {
	return fmt.Errorf("the file has over %d bytes; edit it by hand, or split it", MaxBytes)
}

func errNoFile() error {
	return errors.New("there is no such file; create it")
}
