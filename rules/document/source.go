package document

import (
	"bytes"
	"unicode/utf8"
)

// A Source is a file of rules, with its name and its text. Readers of other dialects make their errors with it, so
// that they look like a bundle's.
type Source struct {
	Name string
	Text []byte
}

// Error returns a mistake at a 0-based byte of the text.
func (s *Source) Error(code string, offset int, found, fix string) *Error {
	offset = min(offset, len(s.Text))
	line := bytes.Count(s.Text[:offset], []byte("\n")) + 1
	return s.ErrorAt(code, line, offset-bytes.LastIndexByte(s.Text[:offset], '\n'), found, fix)
}

// ErrorAt returns a mistake at a 1-based line and column, in bytes. A column of 0 is unknown, a line of 0 is the file
// as a whole.
func (s *Source) ErrorAt(code string, line, column int, found, fix string) *Error {
	e := &Error{Code: code, File: s.Name, Line: line, Column: column, Found: found, Fix: fix, caret: -1}
	rest := s.Text
	for range line - 1 {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	if line > 0 {
		text, _, _ := bytes.Cut(rest, []byte("\n"))
		e.source, e.caret = around(bytes.TrimSuffix(text, []byte("\r")), column)
	}
	return e
}

// Check refuses text that is not valid UTF-8 text; it returns nil if it is. For other dialects this is the only check.
func (s *Source) Check() *Error {
	if hasUTF32(s.Text) || hasUTF16(s.Text) {
		return s.ErrorAt(CodeSyntax, 0, 0, "the text is UTF-16 or UTF-32", "save the file as UTF-8")
	}
	for at, r := range string(s.Text) {
		if r == utf8.RuneError && !bytes.HasPrefix(s.Text[at:], []byte("\uFFFD")) {
			return s.Error(CodeSyntax, at, "a byte that is not UTF-8", "save the file as UTF-8")
		}
	}
	if at := bytes.IndexByte(s.Text, 0); at >= 0 {
		return s.Error(CodeSyntax, at, "the control character U+0000", "remove it")
	}
	return nil
}
