// Package jsregexp compiles regular expressions of JavaScript, as new RegExp(pattern) reads them: no
// flags, with the forms that Annex B of ECMAScript adds for the web.
//
// The result of [Compile] says whether a text in UTF-8 matches, as RegExp.prototype.test does, and nothing
// else: which part matched, and the groups, are not kept.
//
// # What is translated
//
//   - \d, \w and \b are about ASCII, as they are in RE2; \s is JavaScript's, which has U+00A0, U+FEFF and
//     the other spaces of Unicode too. A dot is any character but \n, \r, U+2028 and U+2029. ^ and $ are
//     the ends of the text, nothing else.
//   - \cX, \xHH, \uHHHH, \0 and octal escapes, [\b], [^], []; a { that begins no count, a } and a ]
//     are literal, as is any other character after a backslash.
//   - Groups of any kind group; lazy quantifiers are greedy: neither changes whether there is a match.
//   - A character beyond U+FFFF is two, as JavaScript counts without the flag u: ^.$ does not match one,
//     and ^..$ does. See grid.
//
// # What is refused
//
// What JavaScript refuses, with Error.Invalid; and what RE2 has no equivalent for: look-ahead, look-behind,
// back-references, counts over 1000, half of a character beyond U+FFFF (a class that holds some of the
// code units U+D800 to U+DFFF but not all, a quantifier after such a character), and a high count
// of something that may be such a character. \u{...}, \p{...} and \P{...} are refused because without the
// flag u they mean the letter u or p, which nobody intends; (?i:...) because only the newest engines
// read it.
package jsregexp

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode/utf16"
	"unicode/utf8"
)

// An Error says why a pattern was refused.
type Error struct {
	At      int    // where in the pattern, in bytes from 0
	Found   string // what was found
	Fix     string // what to do about it
	Invalid bool   // JavaScript refuses the pattern as well; false where that depends on the engine
}

func (e *Error) Error() string { return e.Found + "; " + e.Fix }

// Compile returns an expression that matches the texts that a pattern of JavaScript does. The error is
// an *[Error].
func Compile(pattern string) (*regexp.Regexp, error) {
	if !utf8.ValidString(pattern) {
		return nil, &Error{Found: "a pattern that is not UTF-8", Fix: "write it in UTF-8"}
	}
	p := &parser{units: utf16.Encode([]rune(pattern))}
	p.groups, p.named = p.count()
	all := p.pattern()
	if p.err == nil && p.over {
		p.refuse(0, "a pattern that becomes too large", "write * or + for a high count of a dot, a negated class or what else may be a character beyond U+FFFF, which JavaScript counts twice; or name the characters, as in [ -~]{1,80}")
	}
	if p.err != nil {
		p.err.At = len(string(utf16.Decode(p.units[:p.err.At])))
		return nil, p.err
	}
	re, err := regexp.Compile(all.String())
	var problem *syntax.Error
	switch {
	case errors.As(err, &problem):
		return nil, &Error{Found: fmt.Sprintf("a pattern that RE2 refuses: %s", problem.Code), Fix: "write smaller counts, or fewer nested brackets"}
	case err != nil:
		return nil, &Error{Found: err.Error(), Fix: "simplify it"}
	}
	return re, nil
}
