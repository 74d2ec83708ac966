package regex

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Error explains why a regex is refused.
type Error struct {
	Found string // what was found
	Fix   string // what to write instead
}

// Error returns "what was found; what to write".
func (e *Error) Error() string { return e.Found + "; " + e.Fix }

// checkSource makes the checks that need no parsing.
func checkSource(source string) error {
	if len(source) > MaxBytes {
		return &Error{fmt.Sprintf("an expression of %d bytes, over %d", len(source), MaxBytes), "write several items"}
	}
	if n := FoldedRanges(source); n > MaxFolded {
		return &Error{fmt.Sprintf("%d ranges up to characters beyond ASCII under (?i), over %d", n, MaxFolded),
			"write fewer, or those without letters before the (?i)"}
	}
	at := strings.IndexFunc(source, unicode.IsControl)
	if at < 0 {
		return nil
	}
	c, _ := utf8.DecodeRuneInString(source[at:])
	rest := strings.TrimRight(source[at:], "\r\n")
	switch {
	case rest == "" && at > 0:
		return &Error{"a line end at the end of the expression, as a YAML block scalar (|) adds it",
			"write the expression on one line in single quotes, or begin the block scalar with |-"}
	case c == '\n' || c == '\r':
		return &Error{"a raw line end in the expression",
			"write the expression on one line: it is matched within one line"}
	case c == '\t':
		return &Error{"a raw tab in the expression", `write \t`}
	}
	return &Error{fmt.Sprintf("the raw control character %U in the expression", c), fmt.Sprintf(`write \x{%X}`, c)}
}

// FoldedRanges returns the number of ranges of a regex that ignore case and end beyond ASCII, or slightly more.
// Parsing one, perhaps of only 6 bytes, takes up to 4 ms, since regexp/syntax looks up the other cases of each
// character.
func FoldedRanges(source string) int {
	flags := false
	for rest := source; !flags; {
		_, after, ok := strings.Cut(rest, "(?")
		if !ok {
			return 0
		}
		end := strings.IndexAny(after, ":)<")
		flags, rest = strings.Contains(after[:max(end, 0)], "i"), after
	}
	n := 0
	for _, c := range strings.Split(source, "-")[1:] {
		beyond := c != "" && c[0] >= utf8.RuneSelf
		octal := len(c) > 1 && c[0] == '\\' && '0' <= c[1] && c[1] <= '7'
		if beyond || octal || strings.HasPrefix(c, `\x`) {
			n++
		}
	}
	return n
}

// checkSize refuses a tree that would become a large program.
func checkSize(tree *syntax.Regexp) error {
	switch n, ranges := steps(tree); {
	case n > MaxSteps:
		return &Error{fmt.Sprintf("an expression that becomes %d instructions, over %d", n, MaxSteps),
			"write smaller numbers in braces, or several items"}
	case ranges > MaxRanges:
		return &Error{fmt.Sprintf("character classes with %d numbers, over %d", ranges, MaxRanges),
			`write fewer classes such as \pL, or several items`}
	}
	return nil
}

// checkMeaning refuses what RE2 accepts and a rule cannot mean. p is the program of the code.
func (u use) checkMeaning(tree *syntax.Regexp, code *syntax.Prog, p *program) error {
	never := !p.matches(false, false)
	switch {
	case tree.Op == syntax.OpEmptyMatch:
		return &Error{"an empty expression", "write at least one character"}
	case p.matchesEmpty:
		return &Error{
			`an expression whose shortest match is empty (assertions such as ^, $ and \b match no character)`,
			"write at least one character that each match has, such as a+ for a*",
		}
	case never && !newProgram(code, true).matches(false, false):
		return &Error{"an expression that no text matches", "write at least one character that can match"}
	case u != ofText && anyCharacter(tree):
		return u.beyondLine(`a class of any character, line ends included, such as [\s\S]`,
			"write . for any character of the line")
	case never:
		return &Error{"an expression that only a line end matches", "write what a line has: ^ and $ are its ends"}
	case !p.matches(true, false):
		return &Error{`an expression that matches no line: an assertion (^, $, \b or \B) cannot hold where it is`,
			`write ^ only where a match begins, $ only where it ends, \^ or \$ for the character, ` +
				`and \b only between a word character and another`}
	case u == ofFile && !p.matches(true, true):
		return &Error{`a byte order mark after ^, but the mark of a file belongs to no line, and ^ is after it`,
			`remove \x{FEFF}; to find the mark itself write {text: "\uFEFF", within_lines: 1}`}
	}
	return nil
}

// parseError returns RE2's error in our words.
func parseError(source string, err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return &Error{"an expression that RE2 refuses: " + err.Error(), "write it in RE2's syntax"}
	}
	switch e.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		return groupError(source, e)
	case syntax.ErrInvalidEscape:
		return escapeError(e.Expr)
	case syntax.ErrTrailingBackslash:
		return &Error{"a backslash at the end", `write \\ for the character`}
	case syntax.ErrInvalidCharRange:
		if strings.HasPrefix(e.Expr, `\`) {
			return &Error{"the unknown class " + shown(e.Expr),
				`write a Unicode category or script, such as \p{L} or \p{Greek}`}
		}
		if strings.HasPrefix(e.Expr, "[:") {
			return &Error{"the unknown class " + shown(e.Expr), "write one of POSIX's, such as [[:alpha:]]"}
		}
		return &Error{"the range " + shown(e.Expr) + " in a class",
			`write the smaller character first, or \- for a hyphen`}
	case syntax.ErrMissingBracket:
		if strings.HasPrefix(e.Expr, "[^]") {
			return &Error{"[^], any character in JavaScript, is a class without its closing bracket",
				"write . for any character of the line"}
		}
		return &Error{"a class without its closing bracket: " + shown(e.Expr), `write the ], or \[ for the character`}
	case syntax.ErrMissingParen:
		return &Error{"a group without its closing parenthesis", `write the ), or \( for the character`}
	case syntax.ErrUnexpectedParen:
		return &Error{"a closing parenthesis without its group", `write the (, or \) for the character`}
	case syntax.ErrMissingRepeatArgument:
		return &Error{shown(e.Expr) + " with nothing before it to repeat",
			`write what it repeats, or \` + e.Expr[:1] + " for the character"}
	case syntax.ErrInvalidRepeatOp:
		if strings.HasSuffix(e.Expr, "+") {
			return &Error{"two repetitions in a row, or a possessive one: " + shown(e.Expr),
				"write one: RE2 never backtracks, so it is fast without"}
		}
		return &Error{"two repetitions in a row: " + shown(e.Expr),
			"write one, or put (?:) around what the first repeats"}
	case syntax.ErrInvalidRepeatSize:
		return &Error{"the repetition " + shown(e.Expr),
			"write at most 1000, repetitions within it multiplied, and the smaller number first"}
	case syntax.ErrInvalidUTF8:
		return &Error{"an expression that is not UTF-8", `write \x{FFFD} for any byte that is not UTF-8`}
	case syntax.ErrNestingDepth:
		return &Error{"an expression that is nested more than 1000 deep", "write fewer groups"}
	case syntax.ErrLarge:
		return &Error{fmt.Sprintf("an expression that becomes more than %d instructions", MaxSteps),
			"write smaller numbers in braces, or several items"}
	}
	return &Error{fmt.Sprintf("an expression that RE2 refuses: %s: %s", e.Code, shown(e.Expr)),
		"write it in RE2's syntax"}
}

// groupError returns the error about an unknown group that begins with (?. Where RE2 only reports "(?P", the source
// shows which it is.
func groupError(source string, e *syntax.Error) *Error {
	const part = "write it as a part of the expression, which the match then includes"
	const recursion = "RE2 has none: write the group again, as deep as it must go"
	kinds := []struct{ prefix, name, fix string }{
		{"(?=", "look-ahead", "RE2 has none: if something must follow, " + part},
		{"(?!", "negative look-ahead", "RE2 has none: write what may follow, such as (?:[^x]|$) where x must not"},
		{"(?<=", "look-behind", "RE2 has none: if something must come before, " + part},
		{"(?<!", "negative look-behind",
			"RE2 has none: write what may come before, such as (?:^|[^x]) where x must not"},
		{"(?P=", "back-reference", again},
		{"(?P>", "recursion", recursion},
		{"(?>", "atomic group", "write (?: for (?>: RE2 never backtracks, so it is fast without"},
		{"(?#", "comment", "write it as a comment of the file"},
		{"(?|", "branch reset", "write (?: for (?|"},
		{"(?(", "condition", "RE2 has none: write both forms with | between them"},
		{"(?&", "recursion", recursion},
		{"(?R", "recursion", recursion},
		{"(?0", "recursion", recursion},
		{"(?1", "recursion", recursion},
	}
	for _, k := range kinds {
		meant := e.Expr == "(?P" && strings.HasPrefix(k.prefix, e.Expr) && strings.Contains(source, k.prefix)
		if meant || strings.HasPrefix(e.Expr, k.prefix) {
			return &Error{"the " + k.name + " " + k.prefix, k.fix}
		}
	}
	switch {
	case e.Code == syntax.ErrInvalidNamedCapture:
		return &Error{"the name of the group " + shown(e.Expr),
			"write (?: instead, or a name of letters, digits and _ between < and >"}
	case strings.HasSuffix(e.Expr, "x"):
		return &Error{"the flag x in " + shown(e.Expr),
			"RE2 has none: write the expression without spaces and comments"}
	}
	return &Error{"the unknown group " + shown(e.Expr),
		`write (?: for a group, (?i), (?m), (?s) or (?U) for a flag, or \( for the character`}
}

const again = "RE2 has none: write again what the group may match, each form with | between them"

func escapeError(escape string) *Error {
	fixes := map[string]string{
		`\Z`: `write $`,
		`\G`: "remove it: each match is searched from the end of the one before",
		`\K`: "remove it: the match includes what comes before",
		`\R`: "remove it: an expression is matched within one line",
		`\X`: "write . for a character",
		`\N`: "write . for a character",
		`\C`: "write . for a character",
		`\h`: `write [ \t]`,
		`\H`: `write [^ \t]`,
		`\e`: `write \x1b`,
		`\u`: `write \x{ and } around the hexadecimal number`,
		`\U`: `write \x{ and } around the hexadecimal number`,
		`\c`: `write the character's number, such as \x01`,
		`\x`: `write two hexadecimal digits, or \x{ and } around up to 10FFFF`,
		`\E`: `remove it, or write \Q before what it ends`,
	}
	key := escape[:min(2, len(escape))]
	switch fix, ok := fixes[key]; {
	case len(key) == 2 && '1' <= key[1] && key[1] <= '9', key == `\k`, key == `\g`:
		return &Error{"the back-reference " + shown(escape), again}
	case len(key) == 2 && strings.Contains("dDsSwWpPbBAz", key[1:]): // RE2 has them, but not here
		return &Error{shown(escape) + " at a place within [ ] where only a character can be",
			`write it at another place, \- for a hyphen, or \x08 for a backspace`}
	case ok:
		return &Error{"the escape " + shown(escape) + ", which RE2 does not have", fix}
	}
	return &Error{"the escape " + shown(escape) + ", which RE2 does not have",
		`write the character alone, or \\ for a backslash`}
}

// shownBytes is roughly the length up to which a message shows a regex.
const shownBytes = 40

// shown returns a part of a regex for a message: unchanged if readable, otherwise quoted.
func shown(part string) string {
	end := ""
	if len(part) > shownBytes {
		part, end = part[:wholeRunes(part, shownBytes)], "…"
	}
	if strconv.CanBackquote(part) {
		return part + end
	}
	return strconv.Quote(part) + end
}
