package formats

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A dockerLexer takes the quotes and escapes of a text away as Docker's lexer does, and leaves variables as they are.
type dockerLexer struct {
	text   string
	at     int
	escape rune
	levels int // of "${…}" in "${…}", at most
	level  int
	// keepQuotes and keepEscapes leave them in the text.
	keepQuotes, keepEscapes bool

	out    []byte
	words  []string
	word   []byte
	inWord bool
}

const endOfText = -1

var errDockerLevels = errors.New("too many levels")

// lex reads a whole text: as one, in out, and as words. The error says why Docker refuses it, or is errDockerLevels.
func (l *dockerLexer) lex() error {
	l.text = strings.TrimPrefix(l.text, byteOrderMark)
	err := l.until(endOfText, l.keepEscapes, false)
	l.endWord()
	return err
}

func (l *dockerLexer) peek() rune {
	if l.at >= len(l.text) {
		return endOfText
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.at:])
	return r
}

func (l *dockerLexer) next() rune {
	r := l.peek()
	if r != endOfText {
		l.at += utf8.RuneLen(r)
	}
	return r
}

func (l *dockerLexer) add(r rune) { l.out = utf8.AppendRune(l.out, r) }

func (l *dockerLexer) endWord() {
	if len(l.word) > 0 && len(l.words) < tooMany {
		l.words = append(l.words, string(l.word))
		l.word, l.inWord = l.word[:0], false
	}
}

// addToWord adds to the word what is in out from an offset. Unless it is quoted, spaces in it end the word.
func (l *dockerLexer) addToWord(from int, quoted bool) {
	if l.level > 0 {
		return
	}
	for _, r := range string(l.out[from:]) {
		switch {
		case quoted || !unicode.IsSpace(r):
			l.word, l.inWord = utf8.AppendRune(l.word, r), true
		case l.inWord:
			l.endWord()
		}
	}
	l.inWord = l.inWord || quoted
}

// until reads up to a character that is not quoted, which it skips, or to the end. pattern doubles escapes in quotes.
func (l *dockerLexer) until(stop rune, keepEscapes, pattern bool) (err error) {
	defer func(before bool) { l.keepEscapes = before }(l.keepEscapes)
	l.keepEscapes = keepEscapes
	for r := l.peek(); r != endOfText; r = l.peek() {
		if r == stop {
			l.at++
			return nil
		}
		from := len(l.out)
		switch {
		case r == '\'':
			err = l.single(pattern)
		case r == '"':
			err = l.double(pattern)
		case r == '$':
			err = l.dollar()
		case r == '<':
			l.heredoc()
		case r == l.escape:
			l.at++
			if l.keepEscapes {
				l.add(r)
			}
			if r = l.next(); r == endOfText {
				l.addToWord(from, true)
				continue
			}
			l.add(r)
		default:
			l.add(l.next())
			l.addToWord(from, false)
			continue
		}
		if err != nil {
			return err
		}
		l.addToWord(from, r != '$')
	}
	if stop != endOfText {
		return errors.New("a ${ without its }")
	}
	return nil
}

func (l *dockerLexer) quote() {
	if r := l.next(); l.keepQuotes {
		l.add(r)
	}
}

func (l *dockerLexer) single(pattern bool) error {
	l.quote()
	for r := l.peek(); r != '\''; r = l.peek() {
		if r == endOfText {
			return errors.New("a single quote without its end")
		}
		if pattern && r == l.escape {
			l.add(r)
		}
		l.add(l.next())
	}
	l.quote()
	return nil
}

func (l *dockerLexer) double(pattern bool) error {
	l.quote()
	for r := l.peek(); r != '"'; r = l.peek() {
		switch r {
		case endOfText:
			return errors.New("a double quote without its end")
		case '$':
			if err := l.dollar(); err != nil {
				return err
			}
			continue
		case l.escape:
			l.at++
			switch after := l.peek(); {
			case after == endOfText:
				continue
			case after == '"' || after == '$' || after == l.escape:
				if l.keepEscapes {
					l.add(r)
				}
				r = l.next()
			case l.keepEscapes && (!l.keepQuotes || pattern):
				l.add(r)
			}
			l.add(r)
			continue
		}
		l.add(l.next())
	}
	l.quote()
	return nil
}

// dollar reads "$", "$NAME" or "${NAME…}".
func (l *dockerLexer) dollar() error {
	l.add(l.next())
	if l.peek() != '{' {
		name := l.name()
		l.out = append(l.out, name...)
		return nil
	}
	l.add(l.next())
	if r := l.peek(); r == '{' || r == '}' || r == ':' {
		return errors.New("a ${ without a name")
	}
	l.out = append(l.out, l.name()...)
	r := l.next()
	switch {
	case r == '}':
		l.add(r)
		return nil
	case r == ':':
		l.add(r)
		if r = l.next(); r == '#' || r == '%' {
			return errors.New("a ${ with :# or :%")
		}
		l.add(r)
		return l.operand(':')
	case r == '/' && l.peek() == '/':
		l.at++
	case r == endOfText || !strings.ContainsRune("+-?#%/", r):
		return errors.New("a ${ without its }, or with an unknown operator")
	}
	l.add(r)
	return l.operand(r)
}

// operand reads what follows the operator in "${NAME…}".
func (l *dockerLexer) operand(operator rune) error {
	if l.level++; l.level > l.levels {
		return errDockerLevels
	}
	defer func() { l.level-- }()
	l.word = l.word[:0] // Docker's lexer forgets the word so far
	if operator == '/' {
		if err := l.until('/', true, true); err != nil {
			return err
		}
		l.add('/')
	}
	pattern := operator == '#' || operator == '%'
	if err := l.until('}', pattern || operator == '/', pattern); err != nil {
		return err
	}
	l.add('}')
	return nil
}

// name reads a variable's name: letters, digits and "_", or digits, or one special character.
func (l *dockerLexer) name() string {
	start := l.at
	first := l.peek()
	is := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	switch {
	case first == endOfText:
		return ""
	case unicode.IsDigit(first):
		is = unicode.IsDigit
	case strings.ContainsRune("@*#?-$!", first):
		l.at++
		return l.text[start:l.at]
	}
	for r := first; r != endOfText && is(r); r = l.peek() {
		l.next()
	}
	return l.text[start:l.at]
}

// heredoc reads "<", or "<<" and the spaces after it, which belong to the word that follows.
func (l *dockerLexer) heredoc() {
	l.add(l.next())
	if l.peek() != '<' {
		return
	}
	l.add(l.next())
	for r := l.peek(); r == ' ' || r == '\t' || r == '\r'; r = l.peek() {
		l.add(l.next())
	}
}
