package sigmashake

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	end   kind = iota // of the file
	word              // letters, digits, _, - and .
	quote             // a string in double quotes
	mark              // { } ( or )
	stray             // a character that is not part of the language
)

// A token is the smallest part of a file that has a meaning.
type token struct {
	kind kind
	text string // of a quoted string, its value without escapes
	at   int    // its first byte
	to   int    // the byte after it
	line int    // of its first byte, counted from 1
}

func (t token) is(text string) bool { return (t.kind == word || t.kind == mark) && t.text == text }

func (t token) shown() string {
	switch t.kind {
	case end:
		return "the end of the file"
	case quote:
		return "a quoted string"
	case stray:
		return fmt.Sprintf("the character %s", strconv.QuoteToGraphic(t.text))
	}
	return fmt.Sprintf("%q", t.text)
}

// lex splits a file into tokens, of which the last is its end. open is the offset of an unterminated string, or -1;
// the rest of the file is then not split.
func lex(text []byte) (tokens []token, open int) {
	at, line := 0, 1
	if bytes.HasPrefix(text, []byte("\ufeff")) { // an editor's mark, which means nothing in UTF-8
		at = len("\ufeff")
	}
	for at < len(text) {
		switch c := text[at]; {
		case c == '\n':
			line++
			at++
		case c == ' ' || c == '\t' || c == '\r':
			at++
		case c == '#':
			comment, _, _ := bytes.Cut(text[at:], []byte("\n"))
			at += len(comment)
		case c == '"':
			to, said := unquote(text, at)
			if to == 0 {
				return append(tokens, token{kind: end, at: len(text), to: len(text), line: line}), at
			}
			tokens = append(tokens, token{quote, said, at, to, line})
			line += bytes.Count(text[at:to], []byte("\n"))
			at = to
		case strings.IndexByte("{}()", c) >= 0:
			tokens = append(tokens, token{mark, string(c), at, at + 1, line})
			at++
		case ofWord(c):
			to := at
			for to < len(text) && ofWord(text[to]) {
				to++
			}
			tokens = append(tokens, token{word, string(text[at:to]), at, to, line})
			at = to
		default:
			_, n := utf8.DecodeRune(text[at:])
			tokens = append(tokens, token{stray, string(text[at : at+n]), at, at + n, line})
			at += n
		}
	}
	return append(tokens, token{kind: end, at: len(text), to: len(text), line: line}), -1
}

func ofWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

// unquote reads the text in quotes that begins at a byte. Only \" and \\ are escapes: a regular
// expression keeps its backslashes. Without a closing quote to is 0.
func unquote(text []byte, at int) (to int, said string) {
	var b strings.Builder
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1, b.String()
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return 0, ""
}
