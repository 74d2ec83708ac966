package naive

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// linesOnly refuses what asks for more than a line by its spelling, and \A and \z.
func linesOnly(expr string) error {
	for _, t := range tokens(expr) {
		switch {
		case t.isTextEnd():
			return errors.New("an assertion for which ^ or $ stands")
		case t.flags("s"):
			return errors.New("(?s), where a line is all")
		case !t.negated && t.isLineEnd():
			return errors.New("a line end")
		}
	}
	return nil
}

// A token is a piece of an expression: a character, an escape, a text between \Q and \E, the start of a class or group.
type token struct {
	text    string
	inClass bool
	negated bool // it is in a class that says what not
}

var tokenForm = regexp.MustCompile(`(?s)^(?:\\Q.*?(?:\\E|$)|\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|` +
	`\\[0-7]{2,3}|\\.|\[\^?\]?|\(\?[a-zA-Z-]*|.)`)

// tokens cuts an expression.
func tokens(expr string) []token {
	var all []token
	var in token
	for expr != "" {
		text := tokenForm.FindString(expr)
		if text == "" {
			break // it is no UTF-8
		}
		switch {
		case in.inClass && text == "]":
			in = token{}
		case in.inClass && text[0] == '[':
			text = "["
			if posix := regexp.MustCompile(`^\[:\^?\w+:\]`).FindString(expr); posix != "" {
				text = posix
			}
		case !in.inClass && text[0] == '[':
			in = token{inClass: true, negated: strings.HasPrefix(text, "[^")}
		case in.inClass && text[0] == '(':
			text = "("
		}
		all = append(all, token{text, in.inClass, in.negated})
		expr = expr[len(text):]
	}
	return all
}

func (t token) isTextEnd() bool { return !t.inClass && (t.text == `\A` || t.text == `\z`) }

// flags reports whether the token sets a flag.
func (t token) flags(flag string) bool {
	set, _, _ := strings.Cut(t.text, "-")
	return !t.inClass && strings.HasPrefix(set, "(?") && !strings.HasPrefix(set, "(?P") && strings.Contains(set, flag)
}

// isLineEnd reports whether the token is an escape that means LF or CR.
func (t token) isLineEnd() bool {
	if t.text[0] != '\\' || strings.HasPrefix(t.text, `\Q`) {
		return false
	}
	tree, err := syntax.Parse("["+t.text+"]", syntax.Perl)
	isEnd := func(r rune) bool { return r == '\n' || r == '\r' }
	return err == nil && tree.Op == syntax.OpLiteral && isEnd(tree.Rune[0])
}
