package keys_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/keys"
)

// A tree is written as JSON, with these additions, for nodes of all formats:
//
//	"resource aws_x main": {}   an HCL block with two labels: what has a space is a block
//	"<<x": 1                    the key x, hidden by a merge
//	"x$or y"                    a text that parsers read differently
//	"?": 1                      a key that is no text
//	"~x": 1                     the key x, which may never exist
//	{"$tag": …}                 the value with a tag: of a list or mapping its own, of a scalar Variable
//	"$var.x"                    an HCL expression with variables
//	{"$text": …}                a text with this in it
//	{"$like": "name"}           an alias of the node under the key or the block "&name", which is the key name
//
// The places of nodes and keys are those of the JSON.
type treeReader struct {
	t       testing.TB
	text    []byte
	decoder *json.Decoder
	named   map[string]*keys.Node
}

func readTree(t testing.TB, text string) *keys.Node {
	t.Helper()
	r := &treeReader{t: t, text: []byte(text), named: map[string]*keys.Node{}}
	r.decoder = json.NewDecoder(bytes.NewReader(r.text))
	r.decoder.UseNumber()
	return r.value()
}

// token returns the next token and its place.
func (r *treeReader) token() (json.Token, keys.Span) {
	start := int(r.decoder.InputOffset())
	for start < len(r.text) && strings.IndexByte(" \t\n,:", r.text[start]) >= 0 {
		start++
	}
	token, err := r.decoder.Token()
	if err != nil {
		r.t.Fatalf("%s: %v", r.text, err)
	}
	return token, keys.Span{Start: start, End: int(r.decoder.InputOffset())}
}

func (r *treeReader) value() *keys.Node {
	token, at := r.token()
	n := &keys.Node{At: at}
	scalar := func(text string, exact keys.ExactType) {
		n.Kind = keys.ScalarNode
		n.Scalar = keys.Scalar{Texts: []string{text}, Certain: true, Exact: keys.Exact{Type: exact, Text: text}}
	}
	switch v := token.(type) {
	case nil:
	case bool:
		scalar(fmt.Sprint(v), keys.ExactBool)
	case json.Number:
		scalar(string(v), keys.ExactNumber)
	case string:
		if scalar(v, keys.ExactText); strings.HasPrefix(v, "$var") {
			n.Scalar.Certain, n.Scalar.Variable, n.Scalar.Exact = false, true, keys.Exact{}
		} else if one, other, two := strings.Cut(v, "$or "); two {
			n.Scalar = keys.Scalar{Texts: []string{one, other}}
		}
	case json.Delim:
		if v == '[' {
			n.Kind = keys.List
			for r.decoder.More() {
				n.Items = append(n.Items, r.value())
			}
		} else {
			n.Kind = keys.Mapping
			for r.decoder.More() {
				if alias := r.entry(n); alias != nil {
					n = alias
				}
			}
		}
		_, end := r.token()
		if n.At.Start == at.Start {
			n.At.End = end.End
		}
	}
	return n
}

// entry reads an entry of a mapping. If it makes the mapping another node, that is returned.
func (r *treeReader) entry(n *keys.Node) *keys.Node {
	token, at := r.token()
	key := token.(string)
	switch key {
	case "$tag":
		tagged := r.value()
		tagged.At = n.At
		if tagged.Kind == keys.ScalarNode {
			tagged.Scalar.Certain, tagged.Scalar.Variable, tagged.Scalar.Exact = false, true, keys.Exact{}
		} else {
			tagged.Tagged = true
		}
		return tagged
	case "$text":
		inside := r.value()
		return &keys.Node{Kind: keys.ScalarNode, At: n.At, Inside: inside, Scalar: keys.Scalar{
			Texts: []string{"{}"}, Certain: true, Exact: keys.Exact{Type: keys.ExactText, Text: "{}"},
		}}
	case "$like":
		name, _ := r.token()
		alias := r.named[name.(string)]
		if alias == nil {
			r.t.Fatalf("no node %v", name)
		}
		alias.Shared = true
		return alias
	}
	anchor := strings.HasPrefix(key, "&")
	key = strings.TrimPrefix(key, "&")
	value := r.value()
	if anchor {
		r.named[key] = value
	}
	parts := strings.Fields(key)
	if len(parts) > 1 {
		n.Entries = append(n.Entries, keys.Block(parts[0], parts[1:], at, value))
		return nil
	}
	name, hidden := strings.CutPrefix(key, "<<")
	name, unsure := strings.CutPrefix(name, "~")
	n.Entries = append(n.Entries, keys.Entry{
		Name: name, Named: key != "?", Hidden: hidden, Unsure: unsure, At: at, Value: value,
	})
	return nil
}

// file makes a file of documents, each a tree.
func file(t testing.TB, texts ...string) []keys.Document {
	t.Helper()
	var all []keys.Document
	for _, text := range texts {
		root := readTree(t, text)
		all = append(all, keys.Document{Root: root, Head: root.At, Kubernetes: true})
	}
	return all
}

// readItem reads an item, with Go's JSON for YAML.
func readItem(t testing.TB, text string) *keyitem.Item {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var m map[string]any
	if err := decoder.Decode(&m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	list := func(v any) []any {
		if all, ok := v.([]any); ok {
			return all
		}
		return []any{v}
	}
	paths := func(v any) (all []keyitem.Path) {
		for _, path := range list(v) {
			all = append(all, parsePath(t, path.(string)))
		}
		return all
	}
	values := func(v any) (all []keyitem.Value) {
		for _, value := range list(v) {
			quoted, isText := value.(string)
			parsed, err := keyitem.ParseValue(fmt.Sprint(value), isText)
			if err != nil {
				t.Fatalf("%s: %v %v", text, quoted, err)
			}
			all = append(all, parsed)
		}
		return all
	}
	limit := func(v any) keyitem.Number {
		n, ok := keyitem.ParseQuantity(fmt.Sprint(v))
		if !ok {
			t.Fatalf("%s: %v", text, v)
		}
		return n
	}
	condition := func(c *keyitem.Condition, key string, value any) {
		asks, ok := map[string]keyitem.Asks{
			"is": keyitem.Is, "is_not": keyitem.IsNot, "matches": keyitem.Matches, "matches_not": keyitem.MatchesNot,
			"below": keyitem.Below, "above": keyitem.Above, "at_least": keyitem.AtLeast, "at_most": keyitem.AtMost,
			"missing": keyitem.Missing, "present": keyitem.Present,
		}[key]
		if !ok {
			return
		}
		switch c.Asks = asks; asks {
		case keyitem.Is, keyitem.IsNot:
			c.Values = values(value)
		case keyitem.Matches, keyitem.MatchesNot:
			expr, err := regex.Compile(value.(string))
			if err != nil {
				t.Fatal(err)
			}
			c.Match = expr
		case keyitem.Missing, keyitem.Present:
		default:
			c.Limit = limit(value)
		}
	}
	conditions := func(value any) (all []keyitem.At) {
		for _, path := range slices.Sorted(maps.Keys(value.(map[string]any))) {
			of, at := value.(map[string]any)[path], keyitem.At{Path: parsePath(t, path)}
			long, ok := of.(map[string]any)
			if !ok {
				long = map[string]any{"is": of}
			}
			for key, value := range long {
				condition(&at.Condition, key, value)
			}
			all = append(all, at)
		}
		return all
	}
	item := &keyitem.Item{Paths: paths(m["key"])}
	_, item.AnyValue = m["any"]
	_, item.Quantity = m["quantity"]
	for key, value := range m {
		switch key {
		case "each":
			item.Each = paths(value)
		case "where":
			item.Where = conditions(value)
		case "if":
			item.If = conditions(value)
		default:
			condition(&item.Condition, key, value)
		}
	}
	return item
}

func parsePath(t testing.TB, text string) keyitem.Path {
	t.Helper()
	path, err := keyitem.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
