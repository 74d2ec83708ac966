package naive

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// In a Template an expression stands between these bytes, which no text has.
const (
	holeStart = "\xff"
	holeEnd   = "\xfe"
)

// A jsonReader reads one value of RFC 8259, in which there can be expressions.
type jsonReader struct {
	text  string
	at    int
	place func(offset int) (at int, sub string)
}

// maxLevels bounds how deep a text may be.
const maxLevels = 1000

// inside is the object or list that a text is, as a whole, or nil.
func inside(n *Node) (inner *Node, tooDeep bool) {
	text := n.Scalar.Template
	switch {
	case n.Encoded != nil:
		return n.Encoded, false
	case n.Kind != ScalarNode:
		return nil, false
	case n.Scalar.Exact.Kind == textKind:
		text = n.Scalar.Exact.Text
	case n.Tagged && text == "":
		text = n.Scalar.Texts[0]
	}
	if start := strings.TrimLeft(text, " \t\r\n"); start == "" || start[0] != '{' && start[0] != '[' {
		return nil, false
	}
	if levels(text) > maxLevels {
		return nil, true
	}
	r := &jsonReader{text: text, place: func(offset int) (int, string) {
		return n.At, n.Sub + "/" + strconv.Itoa(offset)
	}}
	if inner, ok := r.value(); ok && r.gap() == "" {
		inner.Tagged = n.Tagged
		return inner, false
	}
	return nil, false
}

// levels is how deep the brackets of a text are nested, texts in it aside.
func levels(text string) int {
	deepest, depth, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// gap skips white space, and returns the character that follows; "" at the end.
func (r *jsonReader) gap() string {
	for r.at < len(r.text) && strings.Contains(" \t\r\n", r.text[r.at:r.at+1]) {
		r.at++
	}
	return r.text[r.at:min(r.at+1, len(r.text))]
}

// take skips white space and one of these characters, and returns it.
func (r *jsonReader) take(chars string) string {
	c := r.gap()
	if c == "" || !strings.Contains(chars, c) {
		return ""
	}
	r.at++
	return c
}

func (r *jsonReader) value() (*Node, bool) {
	first := r.gap()
	n := &Node{Kind: ScalarNode}
	n.At, n.Sub = r.place(r.at)
	switch first {
	case "{":
		n.Kind = MappingNode
		return n, r.items("}", func() bool {
			r.gap()
			e := Entry{}
			e.At, e.Sub = r.place(r.at)
			key, open, ok := r.string()
			if !ok || r.take(":") == "" {
				return false
			}
			e.Key, e.Any, e.Unsure = key, open, open
			e.Value, ok = r.value()
			n.Entries = append(n.Entries, e)
			return ok
		})
	case "[":
		n.Kind = ListNode
		return n, r.items("]", func() bool {
			item, ok := r.value()
			n.Items = append(n.Items, item)
			return ok
		})
	case `"`:
		text, open, ok := r.string()
		n.Scalar = textScalar(text)
		if open {
			n.Scalar, n.Tagged = openText(text), true
		}
		return n, ok
	case holeStart:
		hole, _, ok := strings.Cut(r.text[r.at+1:], holeEnd)
		r.at += len(hole) + 2
		n.Scalar = openText(hole)
		return n, ok
	}
	end := r.at
	for end < len(r.text) && !strings.Contains(" \t\r\n,]}"+holeStart, r.text[end:end+1]) {
		end++
	}
	word := r.text[r.at:end]
	r.at = end
	switch {
	case word == "null":
		n.Kind = NullNode
	case word == "true" || word == "false":
		n.Scalar = Scalar{Texts: []string{word}, Exact: Value{booleanKind, word}, Asked: word}
	case jsonNumber.MatchString(word):
		n.Scalar = Scalar{Texts: []string{word}, Exact: Value{numberKind, word}, Asked: word}
	default:
		return nil, false
	}
	return n, true
}

// items reads an object or a list up to its end.
func (r *jsonReader) items(end string, item func() bool) bool {
	r.at++
	if r.take(end) != "" {
		return true
	}
	for item() {
		if next := r.take("," + end); next != "," {
			return next == end
		}
	}
	return false
}

// string reads a text in quotes. It is open if it has an expression in it.
func (r *jsonReader) string() (text string, open, ok bool) {
	if r.take(`"`) == "" {
		return "", false, false
	}
	var b strings.Builder
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch {
		case c == '"':
			return b.String(), open, true
		case c < ' ':
			return "", false, false
		case c == holeStart[0]:
			hole, rest, _ := strings.Cut(r.text[r.at:], holeEnd)
			b.WriteString(holeStart + hole + holeEnd)
			r.at, open = len(r.text)-len(rest), true
		case c != '\\':
			b.WriteByte(c)
		case strings.HasPrefix(r.text[r.at:], "u"):
			char, ok := r.unit()
			if !ok {
				return "", false, false
			}
			if utf16.IsSurrogate(char) && strings.HasPrefix(r.text[r.at:], `\u`) {
				before := r.at
				r.at++
				second, ok := r.unit()
				if char = utf16.DecodeRune(char, second); !ok || char == utf8.RuneError {
					r.at = before
				}
			}
			b.WriteRune(char)
		default:
			i := strings.IndexByte(`"\/bfnrt`, r.text[min(r.at, len(r.text)-1)])
			if i < 0 {
				return "", false, false
			}
			b.WriteByte("\"\\/\b\f\n\r\t"[i])
			r.at++
		}
	}
	return "", false, false
}

// unit reads the u of an escape, and its digits.
func (r *jsonReader) unit() (rune, bool) {
	if r.at+5 > len(r.text) {
		return 0, false
	}
	unit, err := strconv.ParseUint(r.text[r.at+1:r.at+5], 16, 16)
	r.at += 5
	return rune(unit), err == nil
}

// openText is a text with an expression in it, a lone ${…} also without what is around it.
func openText(template string) Scalar {
	text := strings.NewReplacer(holeStart, "", holeEnd, "").Replace(template)
	s := Scalar{Texts: []string{text}, Open: true, Template: template}
	if inner, ok := strings.CutPrefix(text, "${"); ok && strings.Count(text, "${") == 1 && strings.HasSuffix(inner, "}") {
		s.Texts = append(s.Texts, strings.TrimSpace(strings.TrimSuffix(inner, "}")))
	}
	return s
}

// textScalar is a text, and nothing else.
func textScalar(text string) Scalar {
	return Scalar{Texts: []string{text}, Exact: Value{textKind, text}, Asked: text}
}
