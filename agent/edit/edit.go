// Package edit says what files would hold after a tool call of an agent that edits them.
//
// [Of] knows the tools by their names and the fields of their input ([docs/agents/edits.md] has the table,
// and the code of each agent that it was read from). It reads no file: the caller reads what a file holds
// and hands it to [Change.After], which does to it what the agent's own code does.
//
// # What cannot be determined
//
// Agents differ from one version to the next, and some match a text that is nearly there. Where the steps
// are known and several results are possible, all of them are returned, and each is to be checked. Where
// they are not, there is an error: nothing is guessed, and no call of a tool that edits files is taken for
// one that does not. A caller that needs the result must then not let the call run. One that asks only which
// files are edited calls [Paths].
//
// # Limits
//
// What a command of a shell writes is not seen, except for a patch that Codex takes out of the command
// itself (apply_patch with a here-document). A file over 64 MiB, before or after, is an error, and so is
// an edit that would take more than a fixed number of steps to find its place: time grows with the size
// of the file and of the call, not with their product.
//
// [docs/agents/edits.md]: https://github.com/policyscan/policyscan/blob/main/docs/agents/edits.md
package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
)

// MaxBytes is how large a file may be, before an edit and after it.
const MaxBytes = 64 << 20

// maxContents is how many contents one edit may leave open. Each choice doubles them.
const maxContents = 16

// An Edit is what a call would do to one file.
type Edit struct {
	Path   string // the file that is written or removed, as the agent names it
	From   string // the file that the content before is read from, and that is then gone; "" is Path
	Remove bool   // the file is removed, and Change is nil
	Change Change
}

// A Change is how what a file holds becomes what it would hold.
type Change interface {
	// After returns what the file would hold: one content, or several if the agent's documents leave
	// open which of them it is; each of them is to be checked. exists says whether there is a file
	// before. The error says why it cannot be determined.
	After(before []byte, exists bool) ([][]byte, error)
}

// Of returns the edits that a call is, in the order in which they are made, at most one for each path; none
// for a tool that edits no file. An error says why what a tool that edits files would do cannot be determined.
func Of(c *call.Call) ([]Edit, error) {
	edits, err := of(c)
	if err != nil {
		return nil, err
	}
	for i := range edits {
		if edits[i].Change != nil {
			edits[i].Change = limited{edits[i].Change}
		}
	}
	return edits, nil
}

func of(c *call.Call) ([]Edit, error) {
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

// limited is a change whose files are neither over MaxBytes, before and after, nor twice the same.
type limited struct{ Change }

func (l limited) After(before []byte, exists bool) ([][]byte, error) {
	if !exists {
		before = nil
	}
	if len(before) > MaxBytes {
		return nil, errTooLarge()
	}
	all, err := l.Change.After(before, exists)
	if err != nil {
		return nil, err
	}
	var kept [][]byte
	for _, content := range all {
		if len(content) > MaxBytes {
			return nil, errTooLarge()
		}
		if !slices.ContainsFunc(kept, func(k []byte) bool { return bytes.Equal(k, content) }) {
			kept = append(kept, content)
		}
	}
	if len(kept) == 0 {
		return nil, errors.New("cannot determine what the file would contain")
	}
	return kept, nil
}

func errTooLarge() error {
	return fmt.Errorf("the file has over %d bytes; edit it by hand, or split it", MaxBytes)
}

// each applies a step to each of some texts, and returns all that it makes of them. A text for which the
// agent would refuse is left out, unless it would refuse for all: then nothing would be written, and the
// first reason is returned.
func each(texts []string, step func(string) ([]string, error)) ([]string, error) {
	var all []string
	var first error
	for _, text := range texts {
		made, err := step(text)
		if err != nil && first == nil {
			first = err
		}
		for _, m := range made {
			if len(m) > MaxBytes {
				return nil, errTooLarge()
			}
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
		if len(all) > maxContents {
			return nil, fmt.Errorf("more than %d contents are possible; make fewer edits in one call", maxContents)
		}
	}
	if len(all) == 0 {
		return nil, first
	}
	return all, nil
}
