// Package formats reads YAML, JSON, HCL, TOML and Dockerfiles into the documents that scanner/keys walks.
//
// Each format is a file of this package and a line of its table; the parsers are libraries. A reader evaluates
// nothing: it returns for each value its kind, its possible readings, and its bytes in the text.
//
// No text makes a reader panic, overflow the stack or run forever: [Limits] bounds the bytes, the levels and the
// nodes, aliases expanded. If a parser would recurse deeper than a stack allows, levels are counted on the bytes
// first. A text over a limit is a [LimitError], an invalid text a [ParseError]; both come without documents, even
// before the error. Only a disputed text has documents: whatever a program reading it may see.
package formats

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/scanner/keys"
)

// Format is the name of a format, as in a rule's "format". Only a file's name can select TerraformJSON.
type Format string

const (
	YAML Format = "yaml"
	JSON Format = "json"
	HCL  Format = "hcl"
	TOML Format = "toml"

	Dockerfile Format = "dockerfile"

	// TerraformJSON is JSON whose strings can be HCL templates.
	TerraformJSON Format = "terraform json"
)

// Bounds limit how much of a file is read.
type Bounds struct {
	Bytes  int // of the text
	Levels int // of nesting
	Nodes  int // after the expansion of aliases and merges
}

// Limits are the bounds of bundle 0.2.
func Limits() Bounds { return Bounds{Bytes: 64 << 20, Levels: 1000, Nodes: 10_000_000} }

// A ParseError explains why a text is not valid in its format.
type ParseError struct {
	Offset   int // of the offending byte of the text
	Reason   string
	Disputed bool // some programs read the text, and others refuse it or read something else
}

func (e *ParseError) Error() string { return e.Reason }

// A LimitError names the limit that a text exceeds.
type LimitError struct {
	Offset int // of the first byte of the text over the limit, or 0
	Reason string
}

func (e *LimitError) Error() string { return e.Reason }

type reader struct {
	format     Format
	extensions []string // in lower case
	read       func(*meter) ([]keys.Document, error)
}

var readers = []reader{
	{YAML, []string{".yaml", ".yml"}, readYAML},
	{JSON, []string{".json", ".jsonc"}, readJSON},
	{TerraformJSON, []string{".tf.json", ".tofu.json"}, readTerraformJSON},
	{HCL, []string{".tf", ".tofu", ".tfvars", ".hcl"}, readHCL},
	{TOML, []string{".toml"}, readTOML},
	{Dockerfile, []string{".dockerfile", ".containerfile"}, readDockerfile},
}

// Of returns the format of a file by its name: the longest matching extension counts. A Dockerfile may have any that
// is not another format's.
func Of(path string) (Format, bool) {
	var found Format
	longest := 0
	for _, r := range readers {
		for _, ext := range r.extensions {
			if len(ext) > longest && len(path) >= len(ext) && asciiEqualFold(path[len(path)-len(ext):], ext) {
				found, longest = r.format, len(ext)
			}
		}
	}
	if name := path[strings.LastIndexByte(path, '/')+1:]; longest == 0 && isDockerfile(name) {
		return Dockerfile, true
	}
	return found, longest > 0
}

// isDockerfile reports whether a name is Dockerfile or Containerfile, or begins with one and a point.
func isDockerfile(name string) bool {
	return slices.ContainsFunc([]string{"dockerfile", "containerfile"}, func(first string) bool {
		n := len(first)
		return len(name) >= n && asciiEqualFold(name[:n], first) && (len(name) == n || name[n] == '.')
	}) && !(len(name) > len(ignoreFile) && asciiEqualFold(name[len(name)-len(ignoreFile):], ignoreFile))
}

const ignoreFile = ".dockerignore"

// asciiEqualFold compares s with lower, which has no capitals, without the case of ASCII letters.
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

// Names returns globs for the names of all formats, for messages.
func Names() []string {
	var all []string
	for _, r := range readers {
		for _, ext := range r.extensions {
			all = append(all, "*"+ext)
		}
	}
	return append(all, "Dockerfile", "Dockerfile.*", "Containerfile", "Containerfile.*")
}

// Parse reads a text: UTF-8 without its byte order mark. All places in the documents and errors are offsets into it.
// The documents are in the order of the text, without nulls: a text of only nulls has no documents. The text must not
// be changed while they are in use. It fails with a [*ParseError], a [*LimitError] or, for an unknown format, another
// error. With the [*ParseError] of a disputed text come the documents of its readings.
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
		if format != JSON && format != TerraformJSON && format != Dockerfile {
			return nil, m.bad(at, reason, text[at])
		}
		m.disputed(at, reason, text[at])
	}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) { // not all parsers refuse it
		m.disputed(0, "a second byte order mark")
		return m.settled(nil)
	}
	for _, r := range readers {
		if r.format != format {
			continue
		}
		documents, err := r.read(m)
		m.lookInto(documents, format)
		return documents, err
	}
	return nil, fmt.Errorf("unknown format %q", string(format))
}

// A meter counts the nodes and levels of a text, and makes the errors about it.
type meter struct {
	text    []byte
	bounds  Bounds
	nodes   int
	places  int         // numbers given to values that share a place
	dispute *ParseError // or nil

	templates map[*keys.Node]string // texts of HCL templates, with apart in what only looks like one
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

// disputed records, the first time, that programs read the text differently: the reader goes on with one of the
// readings.
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

// offset converts a line, which ends in "\n", and a byte in it, both from 1.
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
