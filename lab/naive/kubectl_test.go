package naive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
	parser "github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/tailscale/hujson"
	"sigs.k8s.io/yaml/goyaml.v2"
)

// yamlTokens are what texts are made of: the line ends of YAML 1.1 and byte order marks among what they may hide.
func yamlTokens() []string {
	return []string{
		"a: ", "b: ", "c:", "- ", "\n", "\n", "\n  ", "\n    ", "\r\n", "\r", "[", "]", "{", "}", ", ", "? ", ": ", "x", "true", "1", "~", "\"", "'",
		"|", ">-", "|\n  ", "\n\n", " # c", "#", "# c\n", "&a ", "*a", "!!str ", "!own ", "<<: ", "<<: *a\n", "\n---\n", "---", "---#", "---\u00a0\n", `{"a":"b"}`, "...\n", "\n...\n", "%YAML 1.1\n",
		"\u0085", "\u2028", "\u2029", "\ufeff", "\u0085  ", "\u2028    ", " \u2029", "a: # c\u0085", "b: #\u2028  ", "\u2029   true", "\n\ufeff", "---\n\ufeff", "\t", "|\n  \t", `\/`, `"\/"`, " ", "  ",
		"a: b\n", "a:\n  b: true\n", "{a: b}", "[a, b]", "{\"a\": 1}", "{\"a\": 1}\n{\"b\": 2}", "a: 'b\n  c'\n", "a: \"b\u2028c\"\n", "{{", "é",
	}
}

// leaf is a value at a path of keys.
type leaf struct {
	path  keyitem.Path
	value any
}

// leavesOf are the values that a document of kubectl's has, lists left out of their paths.
func leavesOf(v any, path keyitem.Path, all []leaf) []leaf {
	next := func(key any) keyitem.Path {
		s := keyitem.Segment{Kind: keyitem.Any}
		if name, ok := key.(string); ok {
			s = keyitem.Segment{Kind: keyitem.Name, Name: name, Quoted: true}
		}
		return append(path[:len(path):len(path)], s)
	}
	switch v := v.(type) {
	case map[any]any:
		for key, value := range v {
			all = leavesOf(value, next(key), all)
		}
	case map[string]any:
		for key, value := range v {
			all = leavesOf(value, next(key), all)
		}
	case []any:
		for _, item := range v {
			all = leavesOf(item, path, all)
		}
	default:
		if len(path) > 0 {
			all = append(all, leaf{path, v})
		}
	}
	return all
}

// kubectlReads are the values that kubectl reads: of JSON, one value after the other; else of each part between lines
// "---" the first document.
func kubectlReads(text []byte) (all []leaf) {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); bytes.HasPrefix(trimmed, []byte("{")) {
		d := json.NewDecoder(bytes.NewReader(trimmed))
		for {
			var v any
			if d.Decode(&v) != nil {
				break
			}
			all = leavesOf(v, nil, all)
		}
	}
	var part []byte
	read := func() {
		defer func() { _ = recover() }() // it refuses some keys so
		var v any
		if yaml.Unmarshal(part, &v) == nil {
			all = leavesOf(v, nil, all)
		}
		part = nil
	}
	for line := range bytes.Lines(text) {
		rest, ends := bytes.CutPrefix(line, []byte("---"))
		if rest = bytes.TrimSpace(rest); ends && (len(rest) == 0 || rest[0] == '#') {
			read()
			continue
		}
		part = append(part, line...)
	}
	read()
	return all
}

// isFound reports whether a forbidden item for a value finds it.
func isFound(l leaf, documents []keys.Document) bool {
	item := keyitem.Item{Paths: []keyitem.Path{l.path}}
	var err error
	var value keyitem.Value
	switch v := l.value.(type) {
	case bool:
		value, err = keyitem.ParseValue(strconv.FormatBool(v), false)
	case int, int64, uint64:
		value, err = keyitem.ParseValue(fmt.Sprint(v), false)
	case string:
		value, err = keyitem.ParseValue(v, true)
	default: // whatever it is, it is there
		return len(keys.Forbidden(&item, documents)) > 0
	}
	item.Asks, item.Values = keyitem.Is, []keyitem.Value{value}
	return err == nil && len(keys.Forbidden(&item, documents)) > 0
}

// TestKubectl: what kubectl reads at a path, a forbidden item there finds, or the file cannot be parsed.
func TestKubectl(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	tokens := yamlTokens()
	values := 0
	for range 100_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(tokens[random.IntN(len(tokens))])
		}
		text := strings.TrimPrefix(b.String(), "\ufeff") // as kubectl, too, reads a file
		documents, err := parser.Parse(parser.YAML, []byte(text), parser.Limits())
		if err != nil {
			continue
		}
		for _, l := range kubectlReads([]byte(text)) {
			values++
			if !isFound(l, documents) {
				t.Errorf("%q: kubectl reads %v at %s", text, l.value, l.path)
			}
		}
	}
	if values < 3000 {
		t.Errorf("only %d values", values)
	}
}

// TestCommentsAreHujsons: comments and trailing commas are where hujson finds them.
func TestCommentsAreHujsons(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	tokens := []string{
		"{", "}", "[", "]", ",", ":", `"a"`, `"b\""`, "1", "true", " ", "\n", "// c\n", "/* ] */", "//", "/*", "*/", "/", `"a": 1`, `{"a": [1, 2,],}`, `["//", "/*"]`,
	}
	read := 0
	for range 100_000 {
		var b strings.Builder
		for range 1 + random.IntN(10) {
			b.WriteString(tokens[random.IntN(len(tokens))])
		}
		text := b.String()
		documents, err := parser.Parse(parser.JSON, []byte(text), parser.Limits())
		plain, err2 := hujson.Standardize([]byte(text + "\n"))
		if err2 != nil {
			if err == nil && len(documents) == 1 && !strings.Contains(text, "null") {
				t.Errorf("%q is read, and not by hujson: %v", text, err2)
			}
			continue
		}
		read++
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		again, err := parser.Parse(parser.JSON, plain, parser.Limits())
		if err != nil || outline(again) != outline(documents) {
			t.Errorf("%q: %v, of %q %v, %v", text, outline(documents), plain, outline(again), err)
		}
	}
	if read < 1500 {
		t.Errorf("only %d", read)
	}
}

// outline returns documents in words.
func outline(documents []keys.Document) string {
	var b strings.Builder
	var show func(n *keys.Node)
	show = func(n *keys.Node) {
		fmt.Fprintf(&b, "%d%v%v(", n.Kind, n.At, n.Scalar.Texts)
		for _, e := range n.Entries {
			fmt.Fprintf(&b, "%q:", e.Name)
			show(e.Value)
		}
		for _, item := range n.Items {
			show(item)
		}
		b.WriteByte(')')
	}
	for _, d := range documents {
		show(d.Root)
	}
	return b.String()
}
