package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/policyscan/policyscan/scanner/keys"
)

func readJSON(m *meter) ([]keys.Document, error) { return (&jsonReader{meter: m}).read() }

func readTerraformJSON(m *meter) ([]keys.Document, error) {
	return (&jsonReader{meter: m, terraform: true}).read()
}

func (j *jsonReader) read() ([]keys.Document, error) {
	m := j.meter
	extended, err := scanJSON(m)
	if err != nil {
		return nil, err
	}
	plain := m.text
	if extended {
		// Spaces take the place of comments and of trailing commas, so offsets stay. hujson writes into its input, and
		// wants an end of line behind each comment.
		if plain, err = hujson.Standardize(append(bytes.Clone(m.text), '\n')); err != nil {
			return nil, hujsonError(m, err)
		}
	}
	j.decoder = jsontext.NewDecoder(bytes.NewBuffer(plain), jsontext.AllowDuplicateNames(true))
	root, err := j.value()
	if err == nil {
		_, err = j.decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			if root.Kind == keys.Null {
				return nil, nil
			}
			return []keys.Document{{Root: root, Head: m.head(root.At.Start), Kubernetes: !j.terraform}}, nil
		}
		if err == nil {
			err = m.bad(int(j.decoder.InputOffset()), "not JSON: a second value")
		}
	}
	return nil, j.failed(err)
}

// scanJSON counts levels and values, and says whether the text has comments or trailing commas.
func scanJSON(m *meter) (extended bool, err error) {
	level, values := 0, 0
	before := byte(0) // the last byte that is neither space nor comment; 'a' for all of a literal
	for i := 0; i < len(m.text); i++ {
		c := m.text[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			if before == 'a' {
				before = ' '
			}
			continue
		case '/':
			extended = true
			i = skipComment(m.text, i) - 1
			continue
		case '"':
			values++
			for i++; i < len(m.text) && m.text[i] != '"'; i++ {
				if m.text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			values++
			level++
			if err := m.deeper(level, i); err != nil {
				return false, err
			}
		case ']', '}':
			level = max(level-1, 0)
			extended = extended || before == ','
		case ':':
			values-- // what is in front of it is a key
		case ',':
		default:
			if before != 'a' {
				values++
			}
			c = 'a'
		}
		before = c
	}
	if values > m.bounds.Nodes {
		return false, m.add(values)
	}
	return extended, nil
}

// skipComment returns the offset behind the comment that begins with the slash at i, or behind the slash.
func skipComment(text []byte, i int) int {
	rest := text[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			return i + end
		}
		return len(text)
	case bytes.HasPrefix(rest, []byte("/*")):
		if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			return i + 2 + end + 2
		}
		return len(text)
	}
	return i + 1
}

// failed is the error of a text that jsontext refuses.
func (j *jsonReader) failed(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return j.bad(int(syntax.ByteOffset), "not JSON: %v", syntax.Err)
	case errors.Is(err, io.EOF):
		return j.bad(len(j.text), "not JSON: there is no value")
	}
	return err
}

// hujsonError is an error of hujson, which has its place, in lines and bytes, in its text only.
func hujsonError(m *meter, err error) error {
	place := regexp.MustCompile(`^hujson: line (\d+), column (\d+): `).FindStringSubmatch(err.Error())
	if place == nil {
		return m.bad(0, "not JSON: %v", err)
	}
	line, _ := strconv.Atoi(place[1])   // which is decimal
	column, _ := strconv.Atoi(place[2]) // the same
	return m.bad(m.offset(line, column), "not JSON: %v", err.Error()[len(place[0]):])
}

// A jsonReader makes nodes of JSON's tokens.
type jsonReader struct {
	*meter
	decoder   *jsontext.Decoder
	terraform bool // the values are those of Terraform
}

// value reads one value. Its depth is that of the text, which has been checked.
func (j *jsonReader) value() (*keys.Node, error) {
	if err := j.add(1); err != nil {
		return nil, err
	}
	switch j.decoder.PeekKind() {
	case '{':
		return j.object()
	case '[':
		return j.array()
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
		text, err := unquote(raw)
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
	return node, nil
}

// ofTerraform is a value as Terraform reads it: as HCL does, but a template is nothing but its text.
func ofTerraform(s keys.Scalar) keys.Scalar {
	s.OneIsTrue = true
	text := s.Texts[0]
	if s.Exact.Type == keys.ExactText && (strings.Contains(text, "${") || strings.Contains(text, "%{")) {
		s.Certain, s.Variable, s.Exact = false, true, keys.Exact{}
	}
	return s
}

func (j *jsonReader) object() (*keys.Node, error) {
	if _, err := j.decoder.ReadToken(); err != nil {
		return nil, err
	}
	node := &keys.Node{Kind: keys.Mapping, At: j.span(1)}
	for j.decoder.PeekKind() != '}' {
		raw, err := j.decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		entry := keys.Entry{Named: true, At: j.span(len(raw))}
		if entry.Name, err = unquote(raw); err != nil {
			return nil, err
		}
		if entry.Value, err = j.value(); err != nil {
			return nil, err
		}
		node.Entries = append(node.Entries, entry)
	}
	_, err := j.decoder.ReadToken()
	node.At.End = j.span(0).End
	return node, err
}

func (j *jsonReader) array() (*keys.Node, error) {
	if _, err := j.decoder.ReadToken(); err != nil {
		return nil, err
	}
	node := &keys.Node{Kind: keys.List, At: j.span(1)}
	for j.decoder.PeekKind() != ']' {
		item, err := j.value()
		if err != nil {
			return nil, err
		}
		node.Items = append(node.Items, item)
	}
	_, err := j.decoder.ReadToken()
	node.At.End = j.span(0).End
	return node, err
}

// span is the place of what was read last.
func (j *jsonReader) span(size int) keys.Span {
	end := int(j.decoder.InputOffset())
	return keys.Span{Start: end - size, End: end}
}

func unquote(raw jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", fmt.Errorf("%s: %w", raw, err)
	}
	return string(text), nil
}
