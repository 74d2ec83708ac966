package edit

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
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A tree is a JSON value that is written as JavaScript's JSON.stringify writes it: the members of an
// object in their order (array indexes first), half surrogate pairs kept, and numbers as they come out
// of a double (1.0 is 1). call.Value would lose the pairs.
type tree struct {
	kind  byte   // '{', '[', or 's' for a scalar
	token string // of a scalar: what is written
	names []string
	items []*tree
}

func scalar(token string) *tree { return &tree{kind: 's', token: token} }

var errNoJSON = errors.New("it is not JSON")

// parseTree reads a text that holds one JSON value. A name that occurs twice in one object is an error: only
// the last would be written back.
func parseTree(text string) (*tree, error) {
	// Names are compared as they are written back, in which half surrogate pairs differ.
	dec := jsontext.NewDecoder(bytes.NewBufferString(text),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	t, err := readTree(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNoJSON
	}
	return t, nil
}

func readTree(dec *jsontext.Decoder) (*tree, error) {
	t := &tree{kind: byte(dec.PeekKind())}
	if t.kind != '{' && t.kind != '[' {
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, errNoJSON
		}
		switch token := string(raw); t.kind {
		case '"':
			return scalar(normal(token)), nil
		case '0':
			return scalar(numberToken(token)), nil
		default:
			return scalar(token), nil
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errNoJSON
	}
	seen := map[string]bool{}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if t.kind == '{' {
			raw, err := dec.ReadValue()
			if err != nil {
				return nil, errNoJSON
			}
			name := normal(string(raw))
			if seen[name] {
				return nil, fmt.Errorf("the name %s occurs twice in one object", quote(name))
			}
			seen[name] = true
			t.names = append(t.names, name)
		}
		item, err := readTree(dec)
		if err != nil {
			return nil, err
		}
		t.items = append(t.items, item)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errNoJSON
	}
	return t, nil
}

// normal returns the token of a string as JSON.stringify writes it.
func normal(token string) string {
	if !strings.Contains(token, `\`) { // JSON allows nothing else in it that JSON.stringify escapes
		return token
	}
	raw := token[1 : len(token)-1]
	var b strings.Builder
	b.WriteByte('"')
	for raw != "" {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			i = len(raw)
		}
		b.WriteString(raw[:i])
		if raw = raw[i:]; raw == "" {
			break
		}
		switch c := raw[1]; c {
		case 'u':
			r := hex(raw[2:6])
			raw = raw[6:]
			if utf16.IsSurrogate(r) && strings.HasPrefix(raw, `\u`) {
				if whole := utf16.DecodeRune(r, hex(raw[2:6])); whole != utf8.RuneError {
					r, raw = whole, raw[6:]
				}
			}
			writeRune(&b, r)
			continue
		case '/':
			b.WriteByte('/')
		default:
			b.WriteString(raw[:2])
		}
		raw = raw[2:]
	}
	b.WriteByte('"')
	return b.String()
}

func hex(digits string) rune {
	n, err := strconv.ParseUint(digits, 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// writeRune writes a character as JSON.stringify does within a string.
func writeRune(b io.StringWriter, r rune) {
	var s string
	switch {
	case r < 0x20 && strings.ContainsRune("\b\t\n\f\r", r):
		s = `\` + string("btn_fr"[r-'\b'])
	case r == '"' || r == '\\':
		s = `\` + string(r)
	case r < 0x20 || utf16.IsSurrogate(r):
		s = fmt.Sprintf(`\u%04x`, r)
	default:
		s = string(r)
	}
	_, _ = b.WriteString(s) // a strings.Builder has no error
}

// stringToken quotes a text as JSON.stringify does.
func stringToken(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		writeRune(&b, r)
	}
	b.WriteByte('"')
	return b.String()
}

// numberToken is a number as JavaScript writes the double that it is read as.
func numberToken(text string) string {
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && math.IsInf(n, 0): // JSON has no infinity
		return "null"
	case n == 0: // -0 too
		return "0"
	}
	token, err := json.Marshal(n) // which writes numbers as ECMAScript does
	if err != nil {
		return text
	}
	return string(token)
}

// number returns a number, 0 for any other value.
func (t *tree) number() float64 {
	if t == nil || t.kind != 's' {
		return 0
	}
	n, err := strconv.ParseFloat(t.token, 64)
	if err != nil {
		return 0
	}
	return n
}

// member returns the member of a name that needs no escapes, or nil.
func (t *tree) member(name string) *tree {
	if i := slices.Index(t.names, `"`+name+`"`); i >= 0 {
		return t.items[i]
	}
	return nil
}

// set gives a member a value, in its place or after the others.
func (t *tree) set(name string, v *tree) {
	if i := slices.Index(t.names, `"`+name+`"`); i >= 0 {
		t.items[i] = v
		return
	}
	t.names, t.items = append(t.names, `"`+name+`"`), append(t.items, v)
}

// write appends the value, indented by one space for each level. before is a line end and the indentation
// of the line that it begins in.
func (t *tree) write(b []byte, before string) []byte {
	if t.kind == 's' {
		return append(b, t.token...)
	}
	if len(b) > MaxBytes { // too large already; deep lists would grow with the square of their depth
		return b
	}
	b = append(b, t.kind)
	inner := before + " "
	for i, k := range t.order() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, inner...)
		if t.kind == '{' {
			b = append(b, t.names[k]...)
			b = append(b, ": "...)
		}
		b = t.items[k].write(b, inner)
	}
	if len(t.items) > 0 {
		b = append(b, before...)
	}
	return append(b, t.kind+2) // ']' and '}' are two after their openings
}

// order returns the positions of the items in the order in which JavaScript has them.
func (t *tree) order() []int {
	all := make([]int, len(t.items))
	for i := range all {
		all[i] = i
	}
	if t.kind == '{' {
		slices.SortStableFunc(all, func(i, k int) int { return cmp.Compare(index(t.names[i]), index(t.names[k])) })
	}
	return all
}

// index returns the array index that a name's token is; one beyond all of them if it is none.
func index(token string) uint64 {
	digits := token[1 : len(token)-1]
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n == math.MaxUint32 || strconv.FormatUint(n, 10) != digits {
		return math.MaxUint32
	}
	return n
}
