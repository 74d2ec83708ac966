package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Encode returns the document's canonical bytes, as [Verdict.Write] writes them.
func (v *Verdict) Encode() ([]byte, error) {
	var text bytes.Buffer
	err := v.Write(&text)
	return text.Bytes(), err
}

// Write writes the document's canonical bytes: one JSON object, keys in the
// order of [Verdict], as [JSON] has it. Equal verdicts have equal bytes.
func (v *Verdict) Write(w io.Writer) error {
	return WriteJSON(w, v)
}

// JSON returns v as JSON that is safe to print: indented by two spaces, ending in a
// line feed, with [] for each list that is absent, and with \u escapes for what a terminal or GitHub's runner would
// obey. Else the bytes are those of encoding/json, whose options the encoder is given: it writes them in one pass.
func JSON(v any) ([]byte, error) {
	var text bytes.Buffer
	if err := WriteJSON(&text, v); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// WriteJSON writes v as [JSON] has it, as it is made: no part of the text but the last is in memory.
func WriteJSON(w io.Writer, v any) error {
	e := &escaper{to: w}
	err := json.MarshalWrite(e, v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false),
		jsontext.WithIndent("  "), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	return e.end()
}

// IsJSON reports whether a text is, byte for byte, what [WriteJSON] writes of v. It makes no second text for that.
func IsJSON(text []byte, v any) bool {
	c := &comparer{text}
	return WriteJSON(c, v) == nil && len(c.rest) == 0
}

// A comparer takes what is the rest of a text, and is an error of writing as soon as it is not.
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

// Each is a list of JSON whose items are made one after the other, as they are written.
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

// An escaper writes what [EscapeJSON] makes of a text that comes in parts, which may end anywhere.
type escaper struct {
	to   io.Writer
	held []byte // what the next part may complete: of a character, or of "##["
	room []byte
}

// Write takes the next part. The number that it returns is that of bytes taken.
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

// end writes a line feed and what is left.
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

// complete returns how much of a text is escaped alike whatever follows it.
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

// OrEmpty returns s, never nil: an absent list is [] in the document.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// plain are the bytes of JSON text that [EscapeJSON] leaves as they are, whatever is next to them.
var plain = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= ' ' && c < 0x7f && c != '#' || c == '\n'
	}
	return is
}()

// afterPlain returns the index of the first byte from i on that is not plain: the length, if there is none.
func afterPlain(text []byte, i int) int {
	for i < len(text) && plain[text[i]] {
		i++
	}
	return i
}

// EscapeJSON writes as \u escapes the characters that encoding/json leaves and
// that are not safe to print, and the middle of "##[". In JSON text all of these
// are within strings. The result is the text itself if nothing is escaped in it.
func EscapeJSON(text []byte) []byte {
	first := afterPlain(text, 0)
	if first == len(text) {
		return text
	}
	return escaped(make([]byte, 0, len(text)+len(text)/64), text, first)
}

// escaped appends a text to out, escaped. Its bytes before the first are plain.
func escaped(out, text []byte, first int) []byte {
	out = append(out, text[:first]...)
	for i := first; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == '#' && bytes.HasPrefix(text[i:], []byte("##[")):
			out = append(out, `#\u0023[`...)
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

// DocumentHead is how every document begins, of any version: one that is cut off is one, too.
const DocumentHead = "{\n  \"schema_version\": \""
