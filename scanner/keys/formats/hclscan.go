package formats

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hclsyntax goes down a level for each bracket, block, template, directive of a template, unary operator, condition and
// splat, and the stack of Go has an end from which no program recovers. After an error it looks for a place to go on
// and may take the closing brace of a block for part of the error, so that
//
//	b {
//	  x @ }
//
// again and again is one block in another although each is closed. So the text is scanned first: the levels are
// counted, and it is cut into the items of its top level, which are parsed a few at a time.

const (
	// hclBraces is how many opening braces a piece of text may have that is parsed at once: as many blocks may be in
	// each other in the worst case, at about 4 KiB of stack for each.
	hclBraces = 20_000
	// hclTokens is how many words and signs an item of the top level may have: hclsyntax has half a kilobyte of each.
	hclTokens = 4_000_000
	// hclDigits is how many bytes a number may have; converting it takes time that grows with the square of them.
	hclDigits = 4096
	// hclSkipped is how often ends of lines and comments may be skipped: behind an operand, hclsyntax does it once for
	// each operator in front of it.
	hclSkipped = 1_000_000_000
	// hclNames is how many names a function may have in front of its own, as in provider::aws::arn_parse(x). hclsyntax
	// joins them one by one, and copies all those in front each time. Terraform has two.
	hclNames = 100
)

// An hclItem is a line of the top level, with the lines that its brackets and heredocs take in.
type hclItem struct {
	start, end int
	braces     int
	tokens     int
}

// An hclFrame is what a closing bracket or the end of a template closes.
type hclFrame struct {
	closing byte // '}', ']', ')', or '$' for the end of a template
	level   int  // within it
	unary   int  // operators in front of the operand that comes next
	behind  int  // the most operators that were in front of an operand, which look at what is behind it
	chain   int  // conditions and splats of the expression so far, each of which is within the one before
}

type hclScanner struct {
	*meter
	i       int
	frames  []hclFrame
	modes   []hclMode
	braces  int
	operand bool // whether the token before ends an operand, so that a minus is not unary
	copied  int64
	skipped int
	names   int // that :: joins, so far
	item    hclItem
	items   []hclItem
}

func scanHCL(m *meter) ([]hclItem, error) {
	s := &hclScanner{meter: m, frames: []hclFrame{{}}}
	for s.i < len(s.text) {
		var err error
		switch mode := s.mode(); {
		case mode == nil || mode.kind == '$':
			err = s.token()
		default:
			err = s.literal(mode)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range s.modes { // texts without an end
		if err := s.copy(&s.modes[i]); err != nil {
			return nil, err
		}
	}
	s.item.end = len(s.text)
	return append(s.items, s.item), nil
}

func (s *hclScanner) mode() *hclMode {
	if len(s.modes) == 0 {
		return nil
	}
	return &s.modes[len(s.modes)-1]
}

func (s *hclScanner) frame() *hclFrame { return &s.frames[len(s.frames)-1] }

// level is that of the next token.
func (s *hclScanner) level() int {
	f := s.frame()
	level := f.level + f.unary + f.chain
	if mode := s.mode(); mode != nil {
		level += len(mode.ifs)
	}
	return level
}

func (s *hclScanner) push(closing byte) error {
	level := s.level() + 1
	s.frames = append(s.frames, hclFrame{closing: closing, level: level})
	return s.deeper(level, s.i)
}

// pop closes the innermost frame if that is what the token closes. What does not match anything is an error that
// hclsyntax reports; to it, too, nothing is closed then.
func (s *hclScanner) pop(closing byte) {
	if s.frame().closing == closing && closing != 0 {
		s.frames = s.frames[:len(s.frames)-1]
	}
	s.operandEnds()
}

func (s *hclScanner) operandEnds() {
	f := s.frame()
	f.behind, f.unary = max(f.behind, f.unary), 0
	s.operand = true
}

// skip counts an end of a line or a comment.
func (s *hclScanner) skip() error {
	if s.skipped += s.frame().behind; s.skipped > hclSkipped {
		return s.limit(s.i, "the file has too many comments or line ends behind values with many operators")
	}
	return nil
}

// token reads a token outside of texts.
func (s *hclScanner) token() error {
	if s.item.tokens++; s.item.tokens > hclTokens {
		return s.limit(s.item.start, "the file has an argument or block with more than %d words and signs", hclTokens)
	}
	c, next := s.text[s.i], byte(0)
	if s.i+1 < len(s.text) {
		next = s.text[s.i+1]
	}
	if err := s.name(c, next); err != nil {
		return err
	}
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		s.i++
		s.item.tokens--
	case c == '\n':
		s.i++
		s.newline()
		return s.skip()
	case c == '#' || c == '/' && (next == '/' || next == '*'):
		return s.comment()
	case c == '"':
		s.modes = append(s.modes, hclMode{kind: '"', start: s.i})
		s.i++
	case c == '<' && next == '<':
		s.heredoc()
	case c == '{':
		s.braces++
		s.item.braces++
		err := s.push('}')
		s.i++
		s.operand = false
		return err
	case c == '}':
		s.i++
		s.closeBrace('}')
	case c == '~' && next == '}':
		s.i += 2
		s.closeBrace(0)
	case c == '[' || c == '(':
		err := s.push(map[byte]byte{'[': ']', '(': ')'}[c])
		s.i++
		s.operand = false
		return err
	case c == ']' || c == ')':
		s.i++
		s.pop(c)
	case c == '?' || c == '*' && s.frame().closing == ']' && !s.operand:
		// The splat [*] is over with its bracket, but what follows it is within.
		f := s.frame()
		if c == '*' {
			f = &s.frames[len(s.frames)-2]
		}
		f.chain++
		f.unary = 0
		s.i++
		s.operand = false
		return s.deeper(s.level(), s.i-1)
	case c == '!' && next != '=' || c == '-' && !s.operand:
		s.frame().unary++
		s.i++
		s.operand = false
		return s.deeper(s.level(), s.i-1)
	case '0' <= c && c <= '9':
		return s.number()
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf:
		s.word()
	default:
		if c == ',' {
			s.frame().chain, s.frame().unary = 0, 0
		}
		s.i++
		s.operand = false
	}
	return nil
}

// name counts the names that :: joins. c is the first byte of a token, and next the one behind it.
func (s *hclScanner) name(c, next byte) error {
	switch {
	case c == ':' && next == ':':
		if s.names++; s.names > hclNames {
			return s.limit(s.i, "the file has a function with more than %d names before its own", hclNames)
		}
	case strings.IndexByte("\"!%&()*+,-.<=>?[]^{|}", c) >= 0:
		s.names = 0
	}
	return nil
}

// newline ends an item of a body or an object, but nothing in brackets.
func (s *hclScanner) newline() {
	f := s.frame()
	if f.closing == '}' || f.closing == 0 {
		f.chain, f.unary, f.behind = 0, 0, 0
		s.operand = false
	}
	if len(s.frames) == 1 && len(s.modes) == 0 {
		s.item.end = s.i
		if !emptyHCL(s.text[s.item.start:s.i]) { // of these may be millions
			s.items = append(s.items, s.item)
		}
		s.item = hclItem{start: s.i}
	}
}

// number skips a number: digits, points and exponents, but no point at the end.
func (s *hclScanner) number() error {
	start, end := s.i, s.i
	digit := func(i int) bool { return i < len(s.text) && '0' <= s.text[i] && s.text[i] <= '9' }
	for i := start; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case digit(i):
			end = i + 1
			continue
		case c == '.':
			continue
		case (c == 'e' || c == 'E') && digit(i+1):
			continue
		case (c == 'e' || c == 'E') && i+1 < len(s.text) && (s.text[i+1] == '+' || s.text[i+1] == '-') && digit(i+2):
			i++
			continue
		}
		break
	}
	s.i = end
	if end-start > hclDigits {
		return s.limit(start, "the file has a number of more than %d digits", hclDigits)
	}
	s.operandEnds()
	return nil
}

// word skips an identifier, or a character that HCL does not have.
func (s *hclScanner) word() {
	prefix := "" // with which a character that may only be further on in an identifier is one
	for s.i < len(s.text) {
		c := s.text[s.i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && c < utf8.RuneSelf && (prefix == "" || c != '-' && (c < '0' || c > '9')) {
			break
		}
		size := 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(s.text[s.i:])
			if !hclsyntax.ValidIdentifier(prefix + string(s.text[s.i:s.i+size])) {
				break
			}
		}
		s.i += size
		prefix = "a"
	}
	if prefix == "" {
		s.i++
		s.operand = false
		return
	}
	s.operandEnds()
}

// comment skips a comment. One that is not closed is an error.
func (s *hclScanner) comment() error {
	if err := s.skip(); err != nil {
		return err
	}
	rest := s.text[s.i:]
	if bytes.HasPrefix(rest, []byte("/*")) {
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return s.bad(s.i, "not HCL: a comment without its end")
		}
		s.i += 2 + end + 2
		return nil
	}
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		s.i += end + 1
		s.newline()
		return nil
	}
	s.i = len(s.text)
	return nil
}

// closeBrace closes an expression in a text, or what closing closes; ~} closes nothing else.
func (s *hclScanner) closeBrace(closing byte) {
	mode := s.mode()
	s.braces--
	if mode == nil || mode.braces != s.braces+1 {
		s.pop(closing)
		return
	}
	for s.frame().closing != '$' {
		s.frames = s.frames[:len(s.frames)-1]
	}
	s.frames = s.frames[:len(s.frames)-1]
	s.modes = s.modes[:len(s.modes)-1]
}
