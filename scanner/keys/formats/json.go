package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/zclconf/go-cty/cty"

	"github.com/policyscan/policyscan/scanner/keys"
)

func readJSON(m *meter) ([]keys.Document, error) { return (&jsonReader{meter: m}).read() }

func readTerraformJSON(m *meter) ([]keys.Document, error) {
	return (&jsonReader{meter: m, terraform: true}).read()
}

// read reads the values of a text, each of which is a document. Invalid UTF-8, or half a surrogate pair, is U+FFFD, as
// in most programs.
func (j *jsonReader) read() ([]keys.Document, error) {
	plain, err := j.scan()
	if err != nil {
		return nil, err
	}
	documents, err := j.documents(plain)
	var parse *ParseError
	if errors.As(err, &parse) && !j.strict {
		j.nodes, j.lenient = 0, true
		if documents, err2 := j.documents(plain); err2 == nil {
			j.disputed(parse.Offset, "%s", parse.Reason)
			return j.settled(documents)
		}
	}
	if err != nil {
		return nil, err
	}
	return j.settled(documents)
}

func (j *jsonReader) documents(plain []byte) (documents []keys.Document, err error) {
	j.decoder = jsontext.NewDecoder(bytes.NewBuffer(plain), // a buffer is not copied
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(j.lenient))
	for j.decoder.PeekKind() != 0 {
		root, err := j.value()
		if err != nil {
			return nil, j.failed(err)
		}
		if root.Kind != keys.Null {
			documents = append(documents, keys.Document{
				Root: root, Head: j.head(root.At.Start), Kubernetes: !j.terraform,
			})
		}
	}
	if _, err = j.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, j.failed(err)
	}
	return documents, nil
}

// scan counts levels and values, and returns the text with comments and trailing commas replaced by spaces.
func (j *jsonReader) scan() (plain []byte, err error) {
	plain = j.text
	hide := func(start, end int) {
		if &plain[0] == &j.text[0] {
			plain = bytes.Clone(j.text)
		}
		blank(plain[start:end])
	}
	level, values := 0, 0
	before := byte(0) // the last byte that is neither space nor comment; 'a' for all of a literal
	comma := -1       // the last comma after a value
	for i := 0; i < len(j.text); i++ {
		c := j.text[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			if before == 'a' {
				before = ' '
			}
			continue
		case '/':
			end := skipComment(j.text, i)
			if end < 0 || j.strict {
				return nil, j.bad(i, "not JSON: a slash that begins no comment, or one without its end")
			}
			if at := bytes.IndexAny(j.text[i:end], "\r\u2028\u2029"); at >= 0 && j.text[i+1] == '/' {
				j.disputed(i+at, "a character that ends the comment for some JSON parsers; remove it")
			}
			hide(i, end)
			i = end - 1
			continue
		case '"':
			values++
			for i++; i < len(j.text) && j.text[i] != '"'; i++ {
				if j.text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			values++
			level++
			if err := j.deeper(level, i); err != nil {
				return nil, err
			}
		case ']', '}':
			level = max(level-1, 0)
			if before == ',' && comma >= 0 && !j.strict {
				hide(comma, comma+1)
			}
		case ':':
			values-- // the text before it is a key
		case ',':
			if comma = i; strings.IndexByte("\x00[{:,", before) >= 0 {
				comma = -1
			}
		default:
			if before != 'a' {
				values++
			}
			c = 'a'
		}
		before = c
	}
	if values > j.bounds.Nodes {
		return nil, j.add(values)
	}
	return plain, nil
}

// skipComment returns the offset after the comment that begins with the slash at i, or -1.
func skipComment(text []byte, i int) int {
	rest := text[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			return i + len(bytes.TrimSuffix(rest[:end], []byte("\r")))
		}
		return len(bytes.TrimSuffix(text, []byte("\r")))
	case bytes.HasPrefix(rest, []byte("/*")):
		if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			return i + 2 + end + 2
		}
	}
	return -1
}

func (j *jsonReader) failed(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return j.bad(int(syntax.ByteOffset), "not JSON: %v", syntax.Err)
	case errors.Is(err, io.EOF):
		return j.bad(len(j.text), "not JSON: a value without its end")
	}
	return err
}

type jsonReader struct {
	*meter
	decoder   *jsontext.Decoder
	terraform bool // the values are those of Terraform
	strict    bool // there are no comments, and no trailing commas
	lenient   bool // invalid UTF-8, or half a surrogate pair, is U+FFFD
	template  bool // strings may have placeholders
}

// value reads one value. The depth of the text has been checked.
func (j *jsonReader) value() (*keys.Node, error) {
	if err := j.add(1); err != nil {
		return nil, err
	}
	if kind := j.decoder.PeekKind(); kind == '{' || kind == '[' {
		return j.collection(kind == '{')
	}
	raw, err := j.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	node := &keys.Node{Kind: keys.ScalarNode, At: j.span(len(raw))}
	switch raw.Kind() {
	case 'n':
		node.Kind = keys.Null
	case '"':
		text, err := j.unquote(raw)
		if err != nil {
			return nil, err
		}
		node.Scalar = known(exactText(text), text)
	case '0':
		node.Scalar = known(exactNumber(string(raw)), string(raw))
	default:
		node.Scalar = known(exactBool(string(raw)), string(raw))
	}
	if j.terraform && node.Kind == keys.ScalarNode {
		node.Scalar = ofTerraform(node.Scalar)
	}
	if j.template && node.Kind == keys.ScalarNode {
		node.Scalar = ofTemplate(node.Scalar)
	}
	return node, nil
}

// ofTerraform is a value as Terraform reads it: as HCL, except that a template is only its text.
func ofTerraform(s keys.Scalar) keys.Scalar {
	s.OneIsTrue = true
	text := s.Texts[0]
	if s.Exact.Type == keys.ExactText && isTemplate(text) {
		s.Certain, s.Variable, s.Exact = false, true, keys.Exact{}
	}
	return s
}

func isTemplate(text string) bool {
	return strings.Contains(text, "${") || strings.Contains(text, "%{")
}

// collection reads an object, or an array.
func (j *jsonReader) collection(isObject bool) (*keys.Node, error) {
	if _, err := j.decoder.ReadToken(); err != nil {
		return nil, err
	}
	node, end := &keys.Node{Kind: keys.List, At: j.span(1)}, jsontext.Kind(']')
	if isObject {
		node.Kind, end = keys.Mapping, '}'
	}
	for j.decoder.PeekKind() != end {
		var entry keys.Entry
		if isObject {
			raw, err := j.decoder.ReadValue()
			if err != nil {
				return nil, err
			}
			entry = keys.Entry{Named: true, At: j.span(len(raw))}
			if entry.Name, err = j.unquote(raw); err != nil {
				return nil, err
			}
			if j.template && strings.ContainsRune(entry.Name, placeholder) {
				entry.Named, entry.Unsure = false, true
			}
		}
		value, err := j.value()
		if err != nil {
			return nil, err
		}
		if entry.Value = value; isObject {
			node.Entries = append(node.Entries, entry)
			if j.terraform && isTemplate(entry.Name) { // in an object
				entry.Named, entry.Unsure, entry.Hidden, value.Shared = false, true, true, true
				node.Entries = append(node.Entries, entry)
			}
		} else {
			node.Items = append(node.Items, value)
		}
	}
	_, err := j.decoder.ReadToken()
	node.At.End = j.span(0).End
	return node, err
}

func (j *jsonReader) span(size int) keys.Span {
	end := int(j.decoder.InputOffset())
	return keys.Span{Start: end - size, End: end}
}

func (j *jsonReader) unquote(raw jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil && !j.lenient {
		return "", fmt.Errorf("%s: %w", raw, err)
	}
	if j.terraform {
		return cty.NormalizeString(string(text)), nil
	}
	return string(text), nil
}
