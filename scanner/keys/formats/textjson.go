package formats

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/policyscan/policyscan/scanner/keys"
)

// maxTexts is the number of texts within each other that are looked into.
const maxTexts = 3

// An insideReader finds the texts of documents that are JSON objects or lists as a whole, and what is in them.
type insideReader struct {
	*meter
	format Format
	seen   map[*keys.Node]bool   // shared nodes
	beyond map[*keys.Node]string // of a document
}

// lookInto sets what is in the texts of documents.
func (m *meter) lookInto(documents []keys.Document, format Format) {
	r := &insideReader{meter: m, format: format, seen: map[*keys.Node]bool{}}
	for i := range documents {
		r.beyond = nil
		r.node(documents[i].Root, 0)
		documents[i].Beyond = r.beyond
	}
}

// node looks into the texts of a node, which is in a number of texts.
func (r *insideReader) node(n *keys.Node, texts int) {
	if n.Shared {
		if r.seen[n] {
			return
		}
		r.seen[n] = true
	}
	for i := range n.Entries {
		r.node(n.Entries[i].Value, texts)
	}
	for _, item := range n.Items {
		r.node(item, texts)
	}
	if n.Inside != nil { // of jsonencode, which is no text
		r.node(n.Inside, texts)
	}
	if n.Kind != keys.ScalarNode || n.Inside != nil {
		return
	}
	all := n.Scalar.Texts
	if text, ok := r.templates[n]; ok {
		all = []string{text}
	}
	limit := ""
	for _, text := range all {
		if n.Inside == nil && limit == "" {
			n.Inside, limit = r.read(text, n)
		}
	}
	if n.Inside != nil && texts == maxTexts {
		n.Inside, limit = nil, fmt.Sprintf("a path goes on in a text that is in more than %d texts", maxTexts-1)
	}
	if limit != "" {
		if r.beyond == nil {
			r.beyond = map[*keys.Node]string{}
		}
		r.beyond[n] = limit
	}
	if n.Inside != nil {
		// An application decides what a tagged text is, and a variable can expand to anything, so in a text of a text.
		n.Inside.Tagged = n.Scalar.Variable && (r.format == YAML || r.format == Dockerfile || texts > 0)
		r.node(n.Inside, texts+1)
	}
}

// read returns the value of a node's text that is a JSON object or list, or the limit that it exceeds; nil of another
// text.
func (r *insideReader) read(text string, of *keys.Node) (value *keys.Node, limit string) {
	text = strings.Trim(text, " \t\r\n")
	if len(text) < 2 || text[0] != '{' && text[0] != '[' || text[len(text)-1] != '}' && text[len(text)-1] != ']' {
		return nil, ""
	}
	template := of.Scalar.Variable && (r.format == HCL || r.format == TerraformJSON)
	if template {
		var ok bool
		if text, ok = withPlaceholders(text); !ok {
			return nil, ""
		}
	}
	m := &meter{text: []byte(text), bounds: r.bounds, nodes: r.nodes}
	inner := &jsonReader{meter: m, strict: true, lenient: true, template: template}
	documents, err := inner.read()
	var over *LimitError
	switch {
	case errors.As(err, &over):
		return nil, "a path goes on in a text, of which " + over.Reason
	case err != nil || len(documents) != 1 || inner.dispute != nil:
		return nil, ""
	}
	r.nodes = inner.nodes
	r.place(documents[0].Root, of)
	return documents[0].Root, ""
}

// place gives a node, and all in it, the place of their text.
func (r *insideReader) place(n, text *keys.Node) {
	next := func() keys.Span {
		r.places++
		return keys.Span{Start: text.At.Start, End: text.At.End, In: r.places}
	}
	n.At, n.Dynamic, n.Unsure = next(), text.Dynamic, text.Unsure
	for i := range n.Entries {
		n.Entries[i].At = next()
		r.place(n.Entries[i].Value, text)
	}
	for _, item := range n.Items {
		r.place(item, text)
	}
}

// placeholder begins a JSON string, or is in one, where HCL's template has a "${…}", whose source follows.
const placeholder = '\x01'

// withPlaceholders makes JSON of a text in which an HCL template has "${…}": in a string, or where a value could be.
// false if it has a directive, "%{…}", or a "${" without its end.
func withPlaceholders(text string) (string, bool) {
	if !strings.Contains(text, "{") || !strings.ContainsAny(text, "$%") {
		return text, true
	}
	var out []byte
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.HasPrefix(text[i:], "%{"):
			return "", false
		case strings.HasPrefix(text[i:], "${"):
			end := templateEnd(text, i)
			if end < 0 {
				return "", false
			}
			quoted, err := jsontext.AppendQuote(nil, string(placeholder)+text[i:end])
			if err != nil {
				return "", false
			}
			if inString {
				quoted = bytes.Trim(quoted, `"`)
			}
			out, i = append(out, quoted...), end-1
			continue
		case c == '\\' && inString && i+1 < len(text):
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			inString = !inString
		}
		out = append(out, c)
	}
	return strings.ReplaceAll(string(out), apart, ""), true
}

// apart is between the characters of a "${" or "%{" that is text.
const apart = "\x02"

// templateEnd returns the offset after the "${…}" at i, in which braces are balanced and strings skipped; -1 without
// an end.
func templateEnd(text string, i int) int {
	level, inString := 0, false
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && inString:
			i++
		case c == '"':
			inString = !inString
		case c == '{' && !inString:
			level++
		case c == '}' && !inString:
			if level--; level == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// ofTemplate is a scalar without the placeholders, which make it uncertain.
func ofTemplate(s keys.Scalar) keys.Scalar {
	text := s.Texts[0]
	if s.Exact.Type == keys.ExactText && strings.ContainsRune(text, placeholder) {
		return keys.Scalar{Texts: []string{strings.ReplaceAll(text, string(placeholder), "")}, Variable: true}
	}
	return s
}
