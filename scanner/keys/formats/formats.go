// Package formats reads files of YAML, JSON, HCL and TOML into the documents that scanner/keys walks.
//
// Each format is a file of this package and a line of its table; the parsers are libraries. A reader evaluates nothing:
// it says of each value what it is, in which ways it may be read, and which bytes of the text it is.
//
// No text makes a reader panic, run out of stack or run without end: [Limits] bounds the bytes, the levels and the
// nodes, aliases expanded. Levels are counted on the bytes before a parser sees them wherever the parser would follow
// them further down than a stack can go. A text that is over a bound is a [LimitError], one that is not of its format a
// [ParseError]; either way there are no documents, not even those before the error. Only a disputed text has some: what
// a program that reads it may see.
package formats

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/scanner/keys"
)

// Format is the name of a format, as "format" in a rule has it. Only a file's name can say TerraformJSON.
type Format string

// The formats.
const (
	YAML Format = "yaml"
	JSON Format = "json"
	HCL  Format = "hcl"
	TOML Format = "toml"

	// TerraformJSON is JSON in which a text can be a template of HCL.
	TerraformJSON Format = "terraform json"
)

// Bounds are how much of a file is read.
type Bounds struct {
	Bytes  int // of the text
	Levels int // of nesting
	Nodes  int // after the expansion of aliases and merges
}

// Limits are the bounds of bundle 0.2.
func Limits() Bounds { return Bounds{Bytes: 64 << 20, Levels: 1000, Nodes: 10_000_000} }

// A ParseError says why a text is not of its format.
type ParseError struct {
	Offset   int // of the byte of the text at which that shows
	Reason   string
	Disputed bool // some programs read the text, and others refuse it or read something else
}

func (e *ParseError) Error() string { return e.Reason }

// A LimitError says which bound a text is over.
type LimitError struct {
	Offset int // of the byte of the text at which that shows, or 0
	Reason string
}

func (e *LimitError) Error() string { return e.Reason }

type reader struct {
	format     Format
	extensions []string // in lower case
	read       func(*meter) ([]keys.Document, error)
}

func readers() []reader {
	return []reader{
		{YAML, []string{".yaml", ".yml"}, readYAML},
		{JSON, []string{".json", ".jsonc"}, readJSON},
		{TerraformJSON, []string{".tf.json", ".tofu.json"}, readTerraformJSON},
		{HCL, []string{".tf", ".tofu", ".tfvars", ".hcl"}, readHCL},
		{TOML, []string{".toml"}, readTOML},
	}
}

// Of returns the format that a file's name says it has: of the extensions that it ends in, the longest counts.
func Of(path string) (Format, bool) {
	var found Format
	longest := 0
	for _, r := range readers() {
		for _, ext := range r.extensions {
			if len(ext) > longest && len(path) >= len(ext) && asciiEqualFold(path[len(path)-len(ext):], ext) {
				found, longest = r.format, len(ext)
			}
		}
	}
	return found, longest > 0
}

// asciiEqualFold reports whether s is lower, which has no capitals, but for the case of ASCII letters.
func asciiEqualFold(s, lower string) bool {
	for i := range len(lower) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Extensions returns the extensions of the names that have a format, for messages.
func Extensions() []string {
	var all []string
	for _, r := range readers() {
		all = append(all, r.extensions...)
	}
	return all
}

// Parse reads a text: UTF-8 without its byte order mark. All places in the documents and errors are offsets into
// it. The documents are in the order of the text, and none is a null: a text in which every document is one has none.
// The text must not be changed while they are in use. The error is a [*ParseError], a [*LimitError] or, for a format
// that is not one of these, another. With a [*ParseError] of a disputed text come the documents of the readings that
// there are.
func Parse(format Format, text []byte, bounds Bounds) ([]keys.Document, error) {
	m := &meter{text: text, bounds: bounds}
	if len(text) > bounds.Bytes {
		return nil, m.limit(0, "the file has more than %d bytes", bounds.Bytes)
	}
	if !utf8.Valid(text) {
		at := 0
		for r, n := utf8.DecodeRune(text); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(text[at:]) {
			at += n
		}
		const reason = "the byte 0x%02X is not UTF-8"
		if format != JSON && format != TerraformJSON {
			return nil, m.bad(at, reason, text[at])
		}
		m.disputed(at, reason, text[at])
	}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) { // not all parsers refuse it
		m.disputed(0, "a second byte order mark")
		return m.settled(nil)
	}
	for _, r := range readers() {
		if r.format == format {
			return r.read(m)
		}
	}
	return nil, fmt.Errorf("unknown format %q", string(format))
}

// A meter counts what is made of a text, and makes the errors about it.
type meter struct {
	text    []byte
	bounds  Bounds
	nodes   int
	dispute *ParseError // or nil
}

func (m *meter) add(n int) error {
	if n > m.bounds.Nodes-m.nodes {
		return m.limit(0, "the file has more than %d values, aliases expanded", m.bounds.Nodes)
	}
	m.nodes += n
	return nil
}

func (m *meter) deeper(level, offset int) error {
	if level > m.bounds.Levels {
		return m.limit(offset, "the file is nested more than %d levels deep", m.bounds.Levels)
	}
	return nil
}

func (m *meter) node(level, offset int) error {
	if err := m.deeper(level, offset); err != nil {
		return err
	}
	return m.add(1)
}

func (m *meter) limit(offset int, reason string, args ...any) error {
	return &LimitError{min(max(offset, 0), len(m.text)), brief(fmt.Sprintf(reason, args...))}
}

func (m *meter) bad(offset int, reason string, args ...any) error {
	return m.parseError(offset, reason, args...)
}

func (m *meter) parseError(offset int, reason string, args ...any) *ParseError {
	return &ParseError{Offset: min(max(offset, 0), len(m.text)), Reason: brief(fmt.Sprintf(reason, args...))}
}

// disputed notes that programs read the text differently, the first time: the reader goes on with one of the readings.
func (m *meter) disputed(offset int, reason string, args ...any) {
	if m.dispute == nil {
		m.dispute = m.parseError(offset, reason, args...)
		m.dispute.Disputed = true
	}
}

func (m *meter) settled(documents []keys.Document) ([]keys.Document, error) {
	if m.dispute != nil {
		return documents, m.dispute
	}
	return documents, nil
}

// brief shortens a reason that quotes much of the text, as parsers do with a key or a number of megabytes.
func brief(reason string) string {
	const most, start, end = 500, 300, 150
	if len(reason) <= most {
		return reason
	}
	return strings.ToValidUTF8(reason[:start], "") + " … " + strings.ToValidUTF8(reason[len(reason)-end:], "")
}

// offset is that of a place in lines, which end in "\n", and bytes, both from 1.
func (m *meter) offset(line, column int) int {
	offset := 0
	for range line - 1 {
		offset += bytes.IndexByte(m.text[offset:], '\n') + 1
	}
	return offset + column - 1
}

// head is a document's first line with content, from its first byte at offset to the line's end.
func (m *meter) head(offset int) keys.Span {
	end := offset
	for end < len(m.text) && m.text[end] != '\n' && m.text[end] != '\r' {
		end++
	}
	return keys.Span{Start: offset, End: end}
}

func known(exact keys.Exact, texts ...string) keys.Scalar {
	return keys.Scalar{Texts: texts, Certain: true, Exact: exact}
}

func exactText(s string) keys.Exact { return keys.Exact{Type: keys.ExactText, Text: s} }

func exactNumber(s string) keys.Exact { return keys.Exact{Type: keys.ExactNumber, Text: s} }

func exactBool(s string) keys.Exact { return keys.Exact{Type: keys.ExactBool, Text: s} }
