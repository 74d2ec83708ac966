package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Encode returns the document's canonical bytes, as in [Verdict.Write].
func (v *Verdict) Encode() ([]byte, error) { return JSON(v) }

// Write writes the document's canonical bytes: one JSON object, keys in the order of [Verdict], as in [JSON]. Equal
// verdicts have equal bytes.
func (v *Verdict) Write(w io.Writer) error {
	return WriteJSON(w, v)
}

// JSON returns v as JSON that is safe to print: indented by two spaces, ending in a line feed, with [] for nil lists,
// and with \u escapes for anything that a terminal or GitHub's runner would obey. Otherwise the bytes are those of
// encoding/json.
func JSON(v any) ([]byte, error) {
	var text bytes.Buffer
	if err := WriteJSON(&text, v); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// WriteJSON writes v like [JSON], as a stream.
func WriteJSON(w io.Writer, v any) error {
	e := &escaper{to: w}
	err := json.MarshalWrite(e, v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false),
		jsontext.WithIndent("  "), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	return e.end()
}

// IsJSON reports whether a text is, byte for byte, the JSON of [WriteJSON] for v. It makes no second text.
func IsJSON(text []byte, v any) bool {
	c := &comparer{text}
	return WriteJSON(c, v) == nil && len(c.rest) == 0
}

// A comparer compares written bytes with the rest of a text; writing fails at the first difference.
type comparer struct{ rest []byte }

var errOther = errors.New("it is another text")

func (c *comparer) Write(part []byte) (int, error) {
	rest, same := bytes.CutPrefix(c.rest, part)
	if !same {
		return 0, errOther
	}
	c.rest = rest
	return len(part), nil
}

// Each is a list of JSON whose items are made as they are written.
type Each[T any] iter.Seq[T]

// MarshalJSONTo writes the list.
func (all Each[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for one := range all {
		if err := json.MarshalEncode(e, &one); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}

// An escaper is [EscapeJSON] for a stream, whose parts may end anywhere.
type escaper struct {
	to   io.Writer
	held []byte // an incomplete character, or a beginning of "##[" or "##v"
	room []byte
}

// Write escapes the next part, and returns its length.
func (e *escaper) Write(part []byte) (int, error) {
	text := part
	if len(e.held) > 0 {
		text = append(e.held, part...)
	}
	n := complete(text)
	err := e.escape(text[:n])
	e.held = append([]byte(nil), text[n:]...)
	return len(part), err
}

// end writes the rest and a line feed.
func (e *escaper) end() error { return e.escape(append(e.held, '\n')) }

func (e *escaper) escape(text []byte) error {
	out := text
	if first := afterPlain(text, 0); first < len(text) {
		e.room = escaped(e.room[:0], text, first)
		out = e.room
	}
	_, err := e.to.Write(out)
	return err
}

// complete returns the length of the text that is escaped alike whatever follows it.
func complete(text []byte) int {
	n := len(text)
	for n > 0 && n > len(text)-2 && text[n-1] == '#' {
		n--
	}
	if n < len(text) {
		return n
	}
	for i := n - 1; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return n
}

// OrEmpty returns s, never nil: a nil list is [] in the document.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// plain is the bytes of JSON text that [EscapeJSON] never changes, whatever is next to them.
var plain = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= ' ' && c < 0x7f && c != '#' || c == '\n'
	}
	return is
}()

// afterPlain returns the index of the first byte from i on that is not plain, or the length.
func afterPlain(text []byte, i int) int {
	for i < len(text) && plain[text[i]] {
		i++
	}
	return i
}

// EscapeJSON writes as \u escapes the characters that encoding/json keeps and that are not safe to print, the middle of
// "##[", and that of "##v", which can begin a command of Azure's agent. In JSON text all of these are within strings.
// Without any it returns text itself.
func EscapeJSON(text []byte) []byte {
	first := afterPlain(text, 0)
	if first == len(text) {
		return text
	}
	return escaped(make([]byte, 0, len(text)+len(text)/64), text, first)
}

// escaped appends the escaped text to out. The bytes before first are plain.
func escaped(out, text []byte, first int) []byte {
	out = append(out, text[:first]...)
	for i := first; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == '#' && len(text) > i+2 && text[i+1] == '#' && strings.IndexByte("[vV", text[i+2]) >= 0:
			out = append(append(out, `#\u0023`...), text[i+2])
			n = len("##[")
		case r == '\n' || Shown(r):
			out = append(out, text[i:i+n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
		next := afterPlain(text, i)
		out = append(out, text[i:next]...)
		i = next
	}
	return out
}

// DocumentHead is the beginning of every document, of any version, also of one that is cut off.
const DocumentHead = "{\n  \"schema_version\": \""
