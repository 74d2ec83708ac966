package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/policyscan/policyscan/rules/document"
)

// maxDepth is how deep lists and objects may be nested. The settings that agents document are under 10 deep.
const maxDepth = 200

// A node is a value of a JSON text, by its place.
type node struct {
	kind       byte // the first byte of it: { [ " t f n, or '0' for a number
	start, end int  // bytes of the text, end exclusive
	items      []item
}

// An item is an element of an array or a member of an object. It starts where its name does.
type item struct {
	start int
	name  string // decoded; "" in an array
	value *node
}

func (n *node) called() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// member returns the member of an object by its name, or nil.
func (n *node) member(name string) *item {
	for i := range n.items {
		if n.kind == '{' && n.items[i].name == name {
			return &n.items[i]
		}
	}
	return nil
}

// at returns the value that names of members lead to, or nil.
func (n *node) at(path []string) *node {
	for _, name := range path {
		it := n.member(name)
		if it == nil {
			return nil
		}
		n = it.value
	}
	return n
}

const spaces = " \t\r\n"

// parse reads JSON by RFC 8259, strictly: one object, no duplicate names, no comma at the end and no comments. The
// error is a positioned *document.Error: an edit of a partly readable text would be a guess.
func parse(src *document.Source) (*node, error) {
	if bytes.HasPrefix(src.Text, []byte("\ufeff")) {
		const found = "the file begins with a byte order mark"
		return nil, src.ErrorAt(document.CodeSyntax, 1, 1, found, "save it without one")
	}
	if err := src.Check(); err != nil {
		return nil, err
	}
	if len(bytes.Trim(src.Text, spaces)) == 0 {
		return nil, src.ErrorAt(document.CodeSyntax, 0, 0, "the file is empty", "write {} into it, or remove it")
	}
	// The text is UTF-8; half of a surrogate pair is as valid in a setting as it is to an agent in JavaScript.
	p := parser{src, jsontext.NewDecoder(bytes.NewBuffer(src.Text), jsontext.AllowInvalidUTF8(true))}
	root, err := p.value(0)
	if err != nil {
		return nil, p.mistake(err)
	}
	if rest := bytes.TrimLeft(src.Text[root.end:], spaces); len(rest) > 0 {
		at := len(src.Text) - len(rest)
		return nil, src.Error(document.CodeSyntax, at, "there is more after the settings", "remove it")
	}
	if root.kind != '{' {
		found := "the settings are " + root.called() + ", not an object"
		return nil, src.Error(document.CodeType, root.start, found, "write them as {…}")
	}
	return root, nil
}

type parser struct {
	src *document.Source
	*jsontext.Decoder
}

// mistake is an error of the decoder at its place.
func (p *parser) mistake(err error) error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return err // the limit's
	}
	at, code := int(syntax.ByteOffset), document.CodeSyntax
	found, fix := syntax.Err.Error(), "fix it; nothing was written"
	switch rest := p.src.Text[at:]; {
	case errors.Is(err, jsontext.ErrDuplicateName):
		code, found = document.CodeDuplicate, fmt.Sprintf("%q occurs twice", syntax.JSONPointer.LastToken())
		fix = "remove one: programs differ in which of them they use"
	case errors.Is(err, io.ErrUnexpectedEOF):
		found = "the text ends too early"
	case bytes.HasPrefix(rest, []byte(",")):
		found, fix = "a comma without a value on each side of it", "remove it"
	case bytes.HasPrefix(rest, []byte("/*")), bytes.HasPrefix(rest, []byte("//")):
		found, fix = "a comment, which not every agent reads", "remove it"
	}
	return p.src.Error(code, at, found, fix)
}

func (p *parser) value(depth int) (*node, error) {
	n := &node{kind: byte(p.PeekKind())} // 0 for what the next read refuses
	var err error
	size, nested := 1, n.kind == '{' || n.kind == '['
	if nested {
		_, err = p.ReadToken()
	} else {
		var raw jsontext.Value
		raw, err = p.ReadValue()
		size = len(raw)
	}
	n.end = int(p.InputOffset())
	n.start = n.end - size
	if err == nil && depth > maxDepth {
		found := fmt.Sprintf("values are nested over %d deep", maxDepth)
		err = p.src.Error(document.CodeLimit, n.start, found, "make it flatter")
	}
	if err != nil || !nested {
		return n, err
	}
	for p.PeekKind() != '}' && p.PeekKind() != ']' {
		var it item
		if n.kind == '{' {
			name, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(p.src.Text[name.start:name.end], &it.name); err != nil {
				return nil, err
			}
			it.start = name.start
		}
		if it.value, err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if n.kind == '[' {
			it.start = it.value.start
		}
		n.items = append(n.items, it)
	}
	_, err = p.ReadToken()
	n.end = int(p.InputOffset())
	return n, err
}
