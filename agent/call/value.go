package call

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of value. A nil *Value is Absent.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	List
	Object
)

// A Value is an immutable JSON value. The members of an object are in the order of its text. A nil Value is missing.
type Value struct {
	kind  Kind
	truth bool
	num   float64
	text  string
	items []*Value
	names []string // of an object's members, whose values are items
}

// ParseValue reads exactly one JSON value. An object with a duplicate name is an error: nobody can tell which one the
// agent uses. So is half of a surrogate pair: an agent in JavaScript could join two such strings to a character.
func ParseValue(text []byte) (*Value, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text)) // which neither copies nor changes the text
	v, err := parseNext(dec)
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return nil, fmt.Errorf("the name %q occurs twice in one object", syntax.JSONPointer.LastToken())
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("it is not JSON: %w, at byte %d", syntax.Err, syntax.ByteOffset)
	case err != nil:
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON value")
	}
	return v, nil
}

func parseNext(dec *jsontext.Decoder) (*Value, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	v := &Value{kind: List}
	switch token.Kind() {
	case jsontext.KindNull:
		return &Value{kind: Null}, nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return &Value{kind: Bool, truth: token.Bool()}, nil
	case jsontext.KindString:
		return Text(token.String()), nil
	case jsontext.KindNumber:
		n, err := strconv.ParseFloat(token.String(), 64)
		if err != nil {
			return nil, fmt.Errorf("the number %s is out of range", token)
		}
		return &Value{kind: Number, num: n}, nil
	case jsontext.KindBeginObject:
		v.kind = Object
	}
	for dec.PeekKind() != jsontext.KindEndObject && dec.PeekKind() != jsontext.KindEndArray {
		if v.kind == Object {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			v.names = append(v.names, name.String())
		}
		item, err := parseNext(dec)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	_, err = dec.ReadToken() // the end
	return v, err
}

// Text is a string.
func Text(s string) *Value { return &Value{kind: String, text: s} }

// A Member is a name and a value of an object.
type Member struct {
	Name  string
	Value *Value
}

// NewObject is an object; members without a value are left out.
func NewObject(members ...Member) *Value {
	v := &Value{kind: Object}
	for _, m := range members {
		if m.Value != nil {
			v.names, v.items = append(v.names, m.Name), append(v.items, m.Value)
		}
	}
	return v
}

// NewList returns a list of items, which must not be nil and must not change afterwards.
func NewList(items []*Value) *Value { return &Value{kind: List, items: items} }

// With returns a copy of an object with more members at its end, which replace members of the same name.
func (v *Value) With(members ...Member) *Value {
	all := v.Members()
next:
	for _, m := range members {
		for i := range all {
			if all[i].Name == m.Name {
				all[i] = m
				continue next
			}
		}
		all = append(all, m)
	}
	return NewObject(all...)
}

// Kind returns what the value is; Absent for nil.
func (v *Value) Kind() Kind {
	if v == nil {
		return Absent
	}
	return v.kind
}

// Str returns the text of a string; "" for any other value.
func (v *Value) Str() string {
	if v.Kind() != String {
		return ""
	}
	return v.text
}

// True reports whether the value is true.
func (v *Value) True() bool { return v.Kind() == Bool && v.truth }

// Num returns a number; 0 for any other value.
func (v *Value) Num() float64 {
	if v.Kind() != Number {
		return 0
	}
	return v.num
}

// Member returns the member of an object of that name, or nil.
func (v *Value) Member(name string) *Value {
	if v.Kind() != Object {
		return nil
	}
	for i, n := range v.names {
		if n == name {
			return v.items[i]
		}
	}
	return nil
}

// First returns the first of some members of an object that is neither missing nor null, or nil.
func (v *Value) First(names ...string) *Value {
	for _, name := range names {
		if m := v.Member(name); m.Kind() != Absent && m.Kind() != Null {
			return m
		}
	}
	return nil
}

// Members returns the members of an object in the order of its text.
func (v *Value) Members() []Member {
	if v.Kind() != Object {
		return nil
	}
	all := make([]Member, len(v.names))
	for i := range all {
		all[i] = Member{v.names[i], v.items[i]}
	}
	return all
}

// Items returns the items of a list, which must not be changed.
func (v *Value) Items() []*Value {
	if v.Kind() != List {
		return nil
	}
	return v.items
}

// At follows names of members and, in a list, decimal indexes, and returns the value, or nil.
func (v *Value) At(parts ...string) *Value {
	for _, part := range parts {
		if v.Kind() == List {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v.items) || strconv.Itoa(i) != part {
				return nil
			}
			v = v.items[i]
			continue
		}
		v = v.Member(part)
	}
	return v
}

// Same reports whether two values are of one kind and equal. A list or an object never is, as in JavaScript's strict
// equality.
func (v *Value) Same(w *Value) bool {
	if v.Kind() != w.Kind() {
		return false
	}
	switch v.Kind() {
	case Null:
		return true
	case Bool:
		return v.truth == w.truth
	case Number:
		return v.num == w.num
	case String:
		return v.text == w.text
	}
	return false
}

// Scalar returns a string, a number or a boolean as JavaScript's String writes it.
func (v *Value) Scalar() (text string, ok bool) {
	switch v.Kind() {
	case String:
		return v.text, true
	case Bool, Number:
		return v.JSON(), true
	}
	return "", false
}

// Joined returns the value as JavaScript's String does: a list as its items with commas, nested lists in the same
// way, null in a list as nothing, an object as "[object Object]".
func (v *Value) Joined() string { return string(v.appendJoined(nil)) }

func (v *Value) appendJoined(b []byte) []byte {
	switch v.Kind() {
	case String:
		return append(b, v.text...)
	case Object:
		return append(b, "[object Object]"...)
	case List:
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			if item.Kind() != Null {
				b = item.appendJoined(b)
			}
		}
		return b
	case Absent:
		return append(b, "undefined"...)
	}
	return v.appendJSON(b)
}

// JSON returns the value as JavaScript's JSON.stringify writes it: no spaces, members in the order
// of the text except for names that are array indexes, which come first in numerical order.
func (v *Value) JSON() string {
	if v == nil {
		return "null"
	}
	return string(v.appendJSON(nil))
}

func (v *Value) appendJSON(b []byte) []byte {
	switch v.kind {
	case Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, v.truth)
	case Number: // as ECMAScript writes it (Number::toString); encoding/json does so too, except for -0
		text, err := json.Marshal(v.num)
		switch {
		case v.num == 0:
			return append(b, '0')
		case err != nil: // NaN and infinities, which JSON cannot hold
			return append(b, "null"...)
		}
		return append(b, text...)
	case String:
		return appendString(b, v.text)
	case List:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	for i, k := range v.order() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, v.names[k])
		b = append(b, ':')
		b = v.items[k].appendJSON(b)
	}
	return append(b, '}')
}

// order returns the positions of an object's members in the order in which JavaScript keeps them.
func (v *Value) order() []int {
	indexes := make([]uint64, len(v.names)) // MaxUint32 for any other name
	all := make([]int, len(v.names))
	for i, name := range v.names {
		all[i], indexes[i] = i, math.MaxUint32
		if n, err := strconv.ParseUint(name, 10, 32); err == nil && strconv.FormatUint(n, 10) == name {
			indexes[i] = n
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(indexes[a], indexes[b]) })
	return all
}

// appendString quotes a string as JSON.stringify does, without the escapes for HTML or JavaScript.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // of a text that is not UTF-8, U+FFFD for each byte
	return b
}
