package edit

import (
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

// parseTree reads a text that holds one JSON value. A name that occurs twice in one object is an error: only
// the last would be written back.
func parseTree(text string) (*tree, error) {
	if !json.Valid([]byte(text)) {
		return nil, errors.New("it is not JSON")
	}
	p := parser{text: text}
	return p.value()
}

// A parser reads a text that is known to be JSON.
type parser struct {
	text string
	at   int
}

// next returns the first byte that is not whitespace, and leaves it there.
func (p *parser) next() byte {
	for strings.IndexByte(" \t\r\n,:", p.text[p.at]) >= 0 {
		p.at++
	}
	return p.text[p.at]
}

func (p *parser) value() (*tree, error) {
	c := p.next()
	switch c {
	case '"':
		return scalar(p.string()), nil
	case '{', '[':
	default:
		end := p.at
		for end < len(p.text) && strings.IndexByte(" \t\r\n,]}", p.text[end]) < 0 {
			end++
		}
		token := p.text[p.at:end]
		p.at = end
		if c == '-' || c >= '0' && c <= '9' {
			token = numberToken(token)
		}
		return scalar(token), nil
	}
	p.at++
	t := &tree{kind: c}
	seen := map[string]bool{}
	for {
		c := p.next()
		if c == ']' || c == '}' {
			p.at++
			return t, nil
		}
		if t.kind == '{' {
			name := p.string()
			if seen[name] {
				return nil, fmt.Errorf("the name %s occurs twice in one object", quote(name))
			}
			seen[name] = true
			t.names = append(t.names, name)
		}
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		t.items = append(t.items, item)
	}
}

// string returns the token of a string as JSON.stringify writes it.
func (p *parser) string() string {
	begin := p.at + 1
	p.at = begin
	plain := true
	for p.text[p.at] != '"' {
		if p.text[p.at] == '\\' {
			plain = false
			p.at++
		}
		p.at++
	}
	raw := p.text[begin:p.at]
	p.at++
	if plain { // JSON allows nothing in it that JSON.stringify escapes
		return `"` + raw + `"`
	}
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
