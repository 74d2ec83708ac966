package regex

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

type use uint8

const (
	ofFile  use = iota // the lines of a file
	ofValue            // the lines of a value
	ofText             // a value as a whole: the regex begins with (?s)
)

const (
	oneLine   = ", but an expression sees one line at a time"
	wholeText = ", or begin the expression with (?s), which matches the whole text at once"
)

func (u use) beyondLine(found, fix string) *Error {
	if u == ofValue {
		fix += wholeText
	}
	return &Error{found + oneLine, fix}
}

// beginsWhole reports whether a source begins with flags that include s.
func beginsWhole(source string) bool {
	end := strings.IndexAny(source, ":)<")
	return strings.HasPrefix(source, "(?") && end >= 0 && source[end] == ')' && sets(source[len("(?"):end], 's')
}

// sets reports whether flags set a flag. Those after a hyphen are cleared.
func sets(flags string, flag byte) bool {
	on, _, _ := strings.Cut(flags, "-")
	return strings.IndexByte(on, flag) >= 0
}

// checkSpelling refuses a line end, the flag s, \A and \z in a valid RE2 source. The syntax tree does not distinguish
// them from \s, an equal class, ^ and $.
func (u use) checkSpelling(source string) error {
	inClass, negated := false, false
	for i := 0; i < len(source); {
		rest, size := source[i:], 1
		switch {
		case !inClass && strings.HasPrefix(rest, `\Q`):
			quoted, _, _ := strings.Cut(rest, `\E`)
			size = len(quoted)
		case rest[0] == '\\':
			var c rune
			c, size = escaped(rest)
			if err := u.checkEscape(rest[:size], c, negated); err != nil {
				return err
			}
		case inClass && strings.HasPrefix(rest, "[:"):
			if end := strings.Index(rest[len("[:"):], ":]"); end >= 0 {
				size = len("[:") + end + len(":]")
			}
		case inClass:
			inClass = rest[0] != ']'
		case rest[0] == '[':
			inClass, negated = true, strings.HasPrefix(rest, "[^")
			if size = len("["); negated {
				size = len("[^")
			}
			if strings.HasPrefix(rest[size:], "]") { // first in the class it is a character
				size++
			}
		case strings.HasPrefix(rest, "(?"):
			size = strings.IndexAny(rest, ":)<")
			if err := u.checkFlags(rest[len("("):size]); err != nil {
				return err
			}
		}
		negated = negated && inClass
		i += size
	}
	return nil
}

// escaped returns the character of an escape, or -1, and the length of the escape.
func escaped(s string) (c rune, size int) {
	end := func(is string) int {
		n := 1
		for n < len(s) && n < 4 && strings.IndexByte(is, s[n]) >= 0 {
			n++
		}
		return n
	}
	digits, base := "", 16
	switch {
	case strings.HasPrefix(s, `\n`):
		return '\n', 2
	case strings.HasPrefix(s, `\r`):
		return '\r', 2
	case strings.HasPrefix(s, `\x{`):
		digits, _, _ = strings.Cut(s[len(`\x{`):], "}")
		size = len(`\x{}`) + len(digits)
	case strings.HasPrefix(s, `\x`):
		digits, size = s[2:4], 4
	case end("01234567") > 1:
		size = end("01234567")
		digits, base = s[1:size], 8
	default:
		return -1, 2
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return -1, size
	}
	return rune(n), size
}

func (u use) checkEscape(escape string, c rune, negated bool) error {
	switch {
	case escape == `\A` && u == ofText:
		return &Error{`\A`, "write ^, which is the start of the text"}
	case escape == `\A` && u == ofValue:
		return u.beyondLine(`\A`, "write ^, which is the start of a line")
	case escape == `\A`:
		return u.beyondLine(`\A`, "write ^, which is the start of a line, and within_lines: 1 for that of the file")
	case escape == `\z` && u == ofText:
		return &Error{`\z`, "write $, which is the end of the text"}
	case escape == `\z`:
		return u.beyondLine(`\z`, "write $, which is the end of a line")
	case u == ofText || negated || c != '\n' && c != '\r':
		return nil
	case u == ofFile:
		return u.beyondLine("the line end "+escape,
			"remove it, or write a text for what is on several lines: ^ and $ are the ends of a line")
	}
	return u.beyondLine("the line end "+escape, "remove it: ^ and $ are the ends of a line")
}

func (u use) checkFlags(flags string) error {
	switch {
	case u == ofText && sets(flags[len("?"):], 'm'):
		return &Error{"the flag m in (" + flags + "), but with (?s) in front ^ and $ are the ends of the whole text",
			`remove it, and write (?:^|\n) and (?:\n|$) for the ends of a line`}
	case u != ofText && sets(flags[len("?"):], 's'):
		return u.beyondLine("the flag s in ("+flags+")", "remove it: . is any character of the line")
	}
	return nil
}

// anyCharacter reports whether a part of a regex matches any character, line ends included, such as [\s\S].
func anyCharacter(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == 0 && re.Rune[1] == unicode.MaxRune
	}
	return slices.ContainsFunc(re.Sub, anyCharacter)
}
