package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/policyscan/policyscan/verdict/code"
)

// A consumer that takes the first of two keys, or stops at the first document, reads
// what any other does: there is one object, one line feed after it, and no key twice.
func TestFault_071_OneDocument(t *testing.T) {
	v := New("1.0")
	v.Rules = []Rule{{ID: "A-1", Title: "a"}, {ID: "A-2", Title: "b"}}
	v.Errors = []Error{{Code: code.Read, File: "x", Message: "}{"}}
	v.Decide()
	text, err := v.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(text, []byte("}\n")) || bytes.HasSuffix(text, []byte("}\n\n")) {
		t.Errorf("it ends in %q", text[len(text)-3:])
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	type level struct {
		object bool
		keys   map[string]bool
		isKey  bool
	}
	var stack []*level
	documents := 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if len(stack) == 0 {
				documents++
			} else {
				stack[len(stack)-1].isKey = true
			}
			stack = append(stack, &level{token == json.Delim('{'), map[string]bool{}, true})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
			continue
		}
		top := stack[len(stack)-1]
		if top.object && top.isKey {
			key, _ := token.(string)
			if top.keys[key] {
				t.Errorf("the key %q is there twice", key)
			}
			top.keys[key] = true
			top.isKey = false
			continue
		}
		top.isKey = true
	}
	if documents != 1 {
		t.Errorf("%d documents", documents)
	}
}
