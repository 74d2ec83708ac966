// Package edit says what files would hold after a tool call of an agent that edits them.
package edit

import "github.com/policyscan/policyscan/rules/call"

// An Edit is what a call would do to one file.
type Edit struct {
	Path   string // the file that is written or removed, as the agent names it
	From   string // the file that the content before is read from, and that is then gone; "" is Path
	Remove bool   // the file is taken away, and Change is nil
	Change Change
}

// A Change is how what a file holds becomes what it would hold.
type Change interface {
	// After returns what the file would hold: one content, or several if the agent's documents leave
	// open which of them it is; each of them is to be judged. exists says whether there is a file
	// before. The error says why it cannot be told.
	After(before []byte, exists bool) ([][]byte, error)
}

// Of returns the edits that a call is, in the order in which they are made; none for a tool that edits no
// file. An error says why what a tool that edits files would do cannot be told.
func Of(c *call.Call) ([]Edit, error) {
	return nil, nil
}
