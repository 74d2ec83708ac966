package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules/document"
)

// maxDepth is how deep lists and objects may be nested. The settings that agents document
// are under 10 deep.
const maxDepth = 200

// A node is a value of a JSON text, by its place.
type node struct {
	kind       byte // the first byte of it: { [ " t f n, or 0 for a number
	start, end int  // bytes of the text, end exclusive
	items      []item
}

// An item is an element of an array or a member of an object. It starts where its name does.
type item struct {
	start int
	name  string // decoded; "" in an array
	value *node
}

// called is what a value is, in a message.
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

// member returns the member of an object by its name: nil if there is none.
func (n *node) member(name string) *item {
	for i := range n.items {
		if n.kind == '{' && n.items[i].name == name {
			return &n.items[i]
		}
	}
	return nil
}

// parse reads a JSON text as RFC 8259 has it, strictly: one object, no name twice within one, no comma at the end,
// and only if comments is true may there be comments. The error is a *document.Error at its place: an edit of what cannot
// be read whole would be a guess.
func parse(src *document.Source, comments bool) (*node, error) {
	if bytes.HasPrefix(src.Text, []byte("\ufeff")) {
		return nil, src.ErrorAt(document.CodeSyntax, 1, 1, "the file begins with a byte order mark", "save it without one")
	}
	if err := src.Check(); err != nil {
		return nil, err
	}
	p := parser{src: src, text: src.Text}
	if comments {
		p.text = withoutComments(src.Text)
	}
	p.space()
	if p.at == len(p.text) {
		return nil, src.ErrorAt(document.CodeSyntax, 0, 0, "the file is empty", "write {} into it, or remove it")
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.text) {
		return nil, p.unexpected("the end of the file")
	}
	if root.kind != '{' {
		return nil, src.Error(document.CodeType, root.start, "the settings are "+root.called()+", not an object", "write them as {…}")
	}
	return root, nil
}

type parser struct {
	src  *document.Source
	text []byte // its text, or that without comments
	at   int
}

// next is the byte that comes now, 0 at the end. A checked text has no NUL.
func (p *parser) next() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) space() {
	for p.at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n"), p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) unexpected(wanted string) error {
	const fix = "fix it; nothing was written"
	if p.at == len(p.text) {
		return p.src.Error(document.CodeSyntax, p.at, "the text ends where "+wanted+" belongs", fix)
	}
	if rest := p.text[p.at:]; bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) {
		const found = "a comment, which the agent may not read, or that does not end"
		return p.src.Error(document.CodeSyntax, p.at, found, "remove it")
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	return p.src.Error(document.CodeSyntax, p.at, fmt.Sprintf("%q where %s belongs", r, wanted), fix)
}

func (p *parser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.src.Error(document.CodeLimit, p.at, fmt.Sprintf("values are nested over %d deep", maxDepth), "make it flatter")
	}
	n := &node{kind: p.next(), start: p.at}
	var err error
	switch n.kind {
	case '{', '[':
		err = p.list(n, depth)
	case '"':
		_, err = p.quoted()
	default:
		err = p.word(n)
	}
	n.end = p.at
	return n, err
}

// list reads an object or an array.
func (p *parser) list(n *node, depth int) error {
	closing := n.kind + 2 // ] and } are two after [ and {
	p.at++
	p.space()
	if p.next() == closing {
		p.at++
		return nil
	}
	names := map[string]bool{}
	for {
		it := item{start: p.at}
		var err error
		if n.kind == '{' {
			if it.name, err = p.name(names); err != nil {
				return err
			}
		}
		if it.value, err = p.value(depth + 1); err != nil {
			return err
		}
		n.items = append(n.items, it)
		p.space()
		switch p.next() {
		case ',':
			p.at++
			p.space()
		case closing:
			p.at++
			return nil
		default:
			return p.unexpected(`"," or "` + string(closing) + `"`)
		}
	}
}

// name reads a member's name and its colon.
func (p *parser) name(seen map[string]bool) (string, error) {
	if p.next() != '"' {
		return "", p.unexpected("a name in quotes")
	}
	start := p.at
	name, err := p.quoted()
	if err != nil {
		return "", err
	}
	if seen[name] {
		return "", p.src.Error(document.CodeDuplicate, start, fmt.Sprintf("%q occurs twice", name), "remove one: programs differ in which of them they use")
	}
	seen[name] = true
	p.space()
	if p.next() != ':' {
		return "", p.unexpected(`":"`)
	}
	p.at++
	p.space()
	return name, nil
}

// quoted reads a text in quotes and returns what it means.
func (p *parser) quoted() (string, error) {
	start := p.at
	p.at++
	for {
		switch c := p.next(); {
		case c == '"':
			p.at++
			var s string
			if err := json.Unmarshal(p.text[start:p.at], &s); err != nil {
				p.at = start
				return "", p.unexpected("a string with valid escapes")
			}
			return s, nil
		case c < ' ':
			return "", p.unexpected("the end of a string")
		case c == '\\' && p.at+1 < len(p.text):
			p.at += 2
		default:
			p.at++
		}
	}
}

// word reads true, false, null or a number.
func (p *parser) word(n *node) error {
	start := p.at
	for c := p.next(); 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.'; c = p.next() {
		p.at++
	}
	if word := p.text[start:p.at]; len(word) == 0 || !json.Valid(word) {
		p.at = start
		return p.unexpected("a value")
	}
	if n.kind != 't' && n.kind != 'f' && n.kind != 'n' {
		n.kind = 0
	}
	return nil
}
