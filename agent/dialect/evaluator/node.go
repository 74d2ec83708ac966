package evaluator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// A node is a JSON value and its place.
type node struct {
	kind    call.Kind
	at, end int // its first byte, and the one after it; 0-based
	text    string
	items   []*node // of a list or an object

	name   string // of a member of an object
	nameAt int
}

// maxMistakes is how many mistakes of a bundle are reported: each is looked up in the text.
const maxMistakes = 1000

type reader struct {
	src   *document.Source
	lines []int // where each line begins
	errs  document.Errors
	set   *callrules.Set

	rule    string          // the id of the rule that is read
	unknown string          // an unknown key in it; or ""
	roots   map[string]bool // the first parts of fields of which a note was made
	later   bool            // the bundle has what only versions after the document have
}

func (r *reader) fail(code string, at int, found, fix string) {
	switch {
	case len(r.errs) > maxMistakes:
		return
	case len(r.errs) == maxMistakes:
		found, fix = fmt.Sprintf("more than %d mistakes", maxMistakes), "fix the others first"
	}
	e := r.src.Error(code, at, found, fix)
	e.Rule = r.rule
	r.errs = append(r.errs, e)
}

func (r *reader) note(at int, format string, args ...any) {
	r.set.Notes = append(r.set.Notes, callrules.Note{Origin: r.origin(at), Text: fmt.Sprintf(format, args...)})
}

func (r *reader) origin(at int) callrules.Origin {
	return callrules.Origin{File: r.src.Name, Line: r.line(at)}
}

func (r *reader) line(at int) int { return sort.SearchInts(r.lines, at+1) }

func (r *reader) parse() *node {
	r.lines = []int{0}
	for i, c := range r.src.Text {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	// The text is checked first, for the decoder's errors and its limit of depth.
	var raw json.RawMessage
	if err := json.Unmarshal(r.src.Text, &raw); err != nil {
		at := len(r.src.Text)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) { // its offset is the number of bytes read, the bad one included
			at = max(0, min(int(syntax.Offset)-1, at))
		}
		if len(bytes.TrimSpace(r.src.Text)) == 0 {
			r.fail(document.CodeEmpty, 0, "nothing in the file", `write {"policies": [...]}`)
		} else {
			r.fail(document.CodeSyntax, at, "not JSON: "+err.Error(),
				"a bundle is one JSON object, without comments or trailing commas")
		}
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(r.src.Text))
	dec.UseNumber()
	n, err := r.next(dec)
	if err != nil {
		r.fail(document.CodeSyntax, int(dec.InputOffset()), "not JSON: "+err.Error(), "a bundle is one JSON object")
		return nil
	}
	return n
}

func (r *reader) next(dec *json.Decoder) (*node, error) {
	n := &node{at: r.begin(dec)}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case nil:
		n.kind = call.Null
	case bool:
		n.kind = call.Bool
	case json.Number:
		n.kind = call.Number
	case string:
		n.kind, n.text = call.String, t
	case json.Delim:
		n.kind = call.List
		if t == '{' {
			n.kind = call.Object
		}
		seen := map[string]bool{}
		for dec.More() {
			nameAt := r.begin(dec)
			var name json.Token
			if n.kind == call.Object {
				if name, err = dec.Token(); err != nil {
					return nil, err
				}
			}
			item, err := r.next(dec)
			if err != nil {
				return nil, err
			}
			item.nameAt = nameAt
			item.name, _ = name.(string) // a member begins with nothing else
			if n.kind == call.Object && seen[item.name] {
				r.fail(document.CodeDuplicate, nameAt,
					fmt.Sprintf("the key %q occurs twice", item.name), "remove one of them")
				continue
			}
			seen[item.name] = true
			n.items = append(n.items, item)
		}
		if _, err := dec.Token(); err != nil { // the end
			return nil, err
		}
	}
	n.end = int(dec.InputOffset())
	return n, nil
}

// begin is the offset of the next token: after the whitespace and the comma or colon that the decoder has yet to
// read. It exists, as the text is JSON.
func (r *reader) begin(dec *json.Decoder) int {
	at := int(dec.InputOffset())
	for bytes.IndexByte([]byte(" \t\r\n,:"), r.src.Text[at]) >= 0 {
		at++
	}
	return at
}

func (r *reader) value(n *node) (*call.Value, bool) {
	v, err := call.ParseValue(r.src.Text[n.at:n.end])
	if err != nil {
		r.fail(document.CodeValue, n.at, err.Error(), "write one that JavaScript can represent")
		return nil, false
	}
	return v, true
}

// member returns the member of an object of that name, or nil.
func (n *node) member(name string) *node {
	for _, m := range n.items {
		if m.name == name && n.kind == call.Object {
			return m
		}
	}
	return nil
}

// kindName is the kind of n, with its article.
func (n *node) kindName() string {
	switch n.kind {
	case call.Null:
		return "null"
	case call.Bool:
		return "a boolean"
	case call.Number:
		return "a number"
	case call.String:
		return "a string"
	case call.List:
		return "a list"
	}
	return "an object"
}
