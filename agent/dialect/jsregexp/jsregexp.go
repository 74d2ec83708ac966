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
//     and ^..$ does. RE2 counts characters, so both the pattern and a text that has such a character are
//     read as UTF-16: each code unit is one character to RE2, and half of a pair is one that no text has.
//
// # What is refused
//
// What JavaScript refuses, with Error.Invalid; and what RE2 has no equivalent for: look-ahead, look-behind,
// back-references and counts over 1000. \u{...}, \p{...} and \P{...} are refused because without the
// flag u they mean the letter u or p, which nobody intends; (?i:...) because only the newest engines
// read it.
package jsregexp

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxUnits is the limit of UTF-16 code units in a pattern. RE2 takes a step for most of them at each character of the
// text.
const maxUnits = 20_000

// An Error says why a pattern was refused.
type Error struct {
	At      int    // where in the pattern, in bytes from 0
	Found   string // the problem
	Fix     string // the fix
	Invalid bool   // JavaScript refuses the pattern as well; false where that depends on the engine
}

func (e *Error) Error() string { return e.Found + "; " + e.Fix }

// A Regexp is a compiled pattern. Several goroutines may use it at once.
type Regexp struct {
	re *regexp.Regexp // over the stand-ins of UTF-16 code units
}

// Compile returns an expression that matches the texts that a pattern of JavaScript does. The error is
// an *[Error].
func Compile(pattern string) (*Regexp, error) {
	if !utf8.ValidString(pattern) {
		return nil, &Error{Found: "a pattern that is not UTF-8", Fix: "write it in UTF-8"}
	}
	p := &parser{units: utf16.Encode([]rune(pattern))}
	p.groups, p.named = p.count()
	text := p.pattern()
	if p.err == nil && len(p.units) > maxUnits {
		p.refuse(0, fmt.Sprintf("a pattern of over %d characters", maxUnits), "write a shorter one")
	}
	if p.err != nil {
		p.err.At = len(string(utf16.Decode(p.units[:p.err.At])))
		return nil, p.err
	}
	re, err := regexp.Compile(text)
	var problem *syntax.Error
	switch {
	case errors.As(err, &problem):
		found := fmt.Sprintf("a pattern that RE2 refuses: %s", problem.Code)
		return nil, &Error{Found: found, Fix: "write smaller counts, or fewer nested brackets"}
	case err != nil:
		return nil, &Error{Found: err.Error(), Fix: "simplify it"}
	}
	return &Regexp{re}, nil
}

// MatchString reports whether a text has a match, anywhere.
func (r *Regexp) MatchString(text string) bool { return r.re.MatchString(inUnits(text)) }

// String returns the expression in RE2's syntax.
func (r *Regexp) String() string { return r.re.String() }

// standIn returns RE2's character for a UTF-16 code unit: itself, or for half of a pair one beyond U+FFFF, where
// [inUnits] leaves no others.
func standIn(unit rune) rune {
	if utf16.IsSurrogate(unit) {
		return unit - firstHalf + firstStandIn
	}
	return unit
}

// inUnits returns a text with two stand-ins for each character beyond U+FFFF.
func inUnits(text string) string {
	first := 0
	for first < len(text) && text[first] < 0xF0 { // such a character begins with a higher byte
		first++
	}
	if first == len(text) {
		return text
	}
	var b strings.Builder
	b.Grow(2 * len(text))
	b.WriteString(text[:first])
	for _, r := range text[first:] {
		if r > lastUnit {
			high, low := utf16.EncodeRune(r)
			b.WriteRune(standIn(high))
			r = standIn(low)
		}
		b.WriteRune(r)
	}
	return b.String()
}
