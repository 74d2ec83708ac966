package formats

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hclCopied is how many bytes may be copied to put the parts of templates together. hclsyntax joins the lines of
// a heredoc one by one, and copies all those in front each time: this takes about three seconds.
const hclCopied = 8 << 30

// An hclMode is a text that the scanner is in: a quoted one, a heredoc, or an expression in one of these.
type hclMode struct {
	kind      byte   // '"', '<' or '$'
	marker    []byte // of a heredoc
	lineStart bool   // of a heredoc: whether nothing of this line has been read
	braces    int    // of an expression: the count of braces that its closing one has
	ifs       []byte // of a text: its open directives, 'i' or 'f'
	literals  int    // of a text: in how many parts hclsyntax reads what is not an expression
	start     int
}

// heredoc opens a heredoc, if this is one.
func (s *hclScanner) heredoc() {
	start := s.i + 2
	if start < len(s.text) && s.text[start] == '-' {
		start++
	}
	end := start
	for end < len(s.text) && strings.IndexByte(" \t\r\n<\"", s.text[end]) < 0 {
		end++
	}
	line := end
	if line < len(s.text) && s.text[line] == '\r' {
		line++
	}
	if line >= len(s.text) || s.text[line] != '\n' || !hclsyntax.ValidIdentifier(string(s.text[start:end])) {
		s.i++
		s.operand = false
		return
	}
	s.modes = append(s.modes, hclMode{kind: '<', marker: s.text[start:end], lineStart: true, start: s.i})
	s.i = line + 1
}

// literal reads a part of a quoted text or of a heredoc.
func (s *hclScanner) literal(mode *hclMode) error {
	rest := s.text[s.i:]
	switch c := rest[0]; {
	case c == '$' || c == '%':
		return s.template(mode, c)
	case c == '"' && mode.kind == '"':
		s.i++
		return s.textEnds()
	case c == '\\' && mode.kind == '"' && len(rest) > 1 && rest[1] != '\n' && rest[1] != '\r':
		s.i += 2
		return nil
	case c == '\n':
		s.i++
		mode.lineStart = true
		mode.literals++
		return nil
	}
	if mode.kind == '<' && mode.lineStart {
		mode.lineStart = false
		end := bytes.IndexByte(rest, '\n')
		if end >= 0 && bytes.Equal(bytes.TrimSpace(rest[:end]), mode.marker) {
			s.i += end
			return s.textEnds()
		}
	}
	end := bytes.IndexAny(rest[1:], "$%\"\\\n")
	if end < 0 {
		end = len(rest) - 1
	}
	s.i += 1 + end
	return nil
}

// textEnds leaves a text.
func (s *hclScanner) textEnds() error {
	err := s.copy(s.mode())
	s.modes = s.modes[:len(s.modes)-1]
	s.operandEnds()
	return err
}

// copy counts the bytes that are copied to put a text together.
func (s *hclScanner) copy(mode *hclMode) error {
	literals := int64(mode.literals)
	s.copied += literals * (8*literals + int64(s.i-mode.start)/2)
	if s.copied > hclCopied {
		return s.limit(mode.start, "the file has texts of too many lines: this one has %d", mode.literals)
	}
	return nil
}

// template reads a dollar or percent sign: it may begin an expression or a directive, or be doubled to begin none.
func (s *hclScanner) template(mode *hclMode, sign byte) error {
	rest := s.text[s.i:]
	mode.lineStart = false
	switch {
	case len(rest) > 2 && rest[1] == sign && rest[2] == '{':
		s.i += 3
		mode.literals += 2
		return nil
	case len(rest) < 2 || rest[1] != '{':
		s.i++
		mode.literals += 2
		return nil
	}
	if sign == '%' {
		s.directive(mode, rest[2:])
	}
	if err := s.push('$'); err != nil {
		return err
	}
	s.i += 2
	s.braces++
	s.modes = append(s.modes, hclMode{kind: '$', braces: s.braces})
	s.operand = false
	return nil
}

// directive counts %{if} and %{for}, which end at %{endif} and %{endfor}.
func (s *hclScanner) directive(mode *hclMode, rest []byte) {
	word := skipHCLSpace(bytes.TrimPrefix(rest, []byte("~")))
	end := bytes.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
	if end >= 0 {
		word = word[:end]
	}
	last := byte(0)
	if len(mode.ifs) > 0 {
		last = mode.ifs[len(mode.ifs)-1]
	}
	switch word := string(word); {
	case word == "if" || word == "for":
		mode.ifs = append(mode.ifs, word[0])
	case last == 'i' && word == "endif" || last == 'f' && word == "endfor":
		mode.ifs = mode.ifs[:len(mode.ifs)-1]
	}
}
