// Package jsregexp compiles regular expressions of JavaScript, as new RegExp(pattern) reads them: no flags, with the
// forms that Annex B of ECMAScript adds for the web.
//
// The result of [Compile] says whether a text in UTF-8 matches, as RegExp.prototype.test does. The engine is regexp2
// in its ECMAScript mode, which backtracks: some patterns take time exponential in the text. A match that takes over
// five seconds, or over 8 MB for what is still to be tried, is given up.
//
// Refused, in addition to what JavaScript refuses: \u{...}, \p{...} and \P{...}, because without the flag u they mean
// the letter u or p, which nobody intends; and (?i:...), because only the newest engines read it.
package jsregexp

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"

	"github.com/policyscan/policyscan/internal/late"
)

const (
	maxTime  = 5 * time.Second // of a match; patterns of the public rules take under a millisecond
	maxStack = 1 << 20         // of a match, in words of 8 bytes
	lastUnit = 0xFFFF          // the last character that is one UTF-16 code unit
)

// A Regexp is a compiled pattern. Several goroutines may use it at once.
type Regexp struct {
	engine *regexp2.Regexp

	// GivenUp is what MatchString returns for a match that is given up.
	GivenUp bool
}

// Compile returns an expression that matches the texts that a pattern of JavaScript does.
func Compile(pattern string) (Regexp, error) {
	units, hasHalves, err := inUnits(pattern)
	if err != nil {
		return Regexp{}, err
	}
	engine, err := compile(units)
	if err == nil && hasHalves {
		// The engine's search for a prefix takes all halves for one character. With a ^ it searches for none.
		engine, err = compile("^[^]*?(?:" + units + ")")
	}
	return Regexp{engine: engine}, err
}

func compile(units string) (*regexp2.Regexp, error) {
	engine, err := regexp2.Compile(units, regexp2.ECMAScript, regexp2.OptionMaxBacktrackingStackSize(maxStack))
	if problem := new(syntax.Error); errors.As(err, &problem) {
		return nil, fmt.Errorf("JavaScript refuses it: "+problem.Code.String(), problem.Args...)
	}
	if err != nil {
		return nil, err
	}
	engine.MatchTimeout = maxTime
	return engine, nil
}

// MatchString reports whether a text has a match, anywhere.
func (r Regexp) MatchString(text string) bool {
	var matches bool
	var err error
	if hasPairs(text) {
		matches, err = r.engine.MatchRunes(unitsOf(text))
	} else {
		matches, err = r.engine.MatchString(text)
	}
	if err != nil {
		return r.GivenUp
	}
	return matches
}

// hasPairs reports whether a text has a character beyond U+FFFF, which begins with a byte that no other has.
func hasPairs(text string) bool {
	for i := range len(text) {
		if text[i] >= 0xF0 {
			return true
		}
	}
	return false
}

// unitsOf returns the UTF-16 code units of a text, each as the engine takes it.
func unitsOf(text string) []rune {
	units := make([]rune, 0, len(text))
	for _, unit := range utf16.Encode([]rune(text)) {
		units = append(units, rune(unit))
	}
	return units
}

// tokens are the parts of a pattern that inUnits tells apart. The first is the escape of half a character.
var tokens = late.Regexp(`(?s)\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\[pPu]\{|\\.|\(\?[:=!<]|\(\?|.`)

// inUnits returns a pattern by UTF-16 code units, as JavaScript counts without the flag u: a character beyond U+FFFF is
// two halves, and a quantifier after it repeats the second. The engine looks literals of several characters up as
// strings of Go, in which all halves are one character. So a half is never in a longer literal: it is a group,
// with a look-ahead that always holds.
func inUnits(pattern string) (units string, hasHalves bool, err error) {
	var b strings.Builder
	inClass := false
	writeHalf := func(escape string) {
		hasHalves = true
		if !inClass {
			escape = "(?:(?=[^])" + escape + ")"
		}
		b.WriteString(escape)
	}
	for _, token := range tokens().FindAllString(pattern, -1) {
		last, _ := utf8.DecodeLastRuneInString(token)
		switch {
		case last > lastUnit:
			high, low := utf16.EncodeRune(last)
			writeHalf(fmt.Sprintf(`\u%x`, high))
			writeHalf(fmt.Sprintf(`\u%x`, low))
			continue
		case len(token) == len(`\ud800`):
			writeHalf(token)
			continue
		case len(token) == len(`\p{`) && last == '{':
			return "", false, fmt.Errorf("%s, which means something only with the flag u", token)
		case token == "(?" && !inClass:
			return "", false, errors.New("a group that begins with (? but none of : = ! <")
		case token == "[":
			inClass = true
		case token == "]":
			inClass = false
		}
		b.WriteString(token)
	}
	return b.String(), hasHalves, nil
}
