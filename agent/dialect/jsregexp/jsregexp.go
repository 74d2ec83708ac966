// Package jsregexp compiles regular expressions of JavaScript, as new RegExp(pattern) reads them: no flags, with the
// forms that Annex B of ECMAScript adds for the web.
//
// The result of [Compile] says whether a text in UTF-8 matches, as RegExp.prototype.test does. The engine is regexp2
// in its ECMAScript mode, which backtracks: some patterns take time exponential in the text. A match that takes over
// five seconds, or over 8 MB for what is still to be tried, is given up.
//
// The seconds are those of a clock, and not of work: on a machine that is busy with other things a match gets less done
// in them. Patterns of the public rules take under 30 ms for a line of ordinary length. The engine's clock is one
// goroutine for all matches; it ends a second after the last match could still run.
//
// Refused, in addition to what JavaScript refuses: \u{...}, \p{...}, \P{...} and \k<1>, which without the flag u, or a
// group of that name, mean the letters, which nobody intends; (?i:...) and two groups of one name, because only the
// newest engines read them; names of groups with a character beyond U+FFFF; counts over 2^31-1.
package jsregexp

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"

	"github.com/policyscan/policyscan/internal/late"
)

const (
	maxTime  = 5 * time.Second // of a match
	maxStack = 1 << 20         // of a match, in words of 8 bytes
	lastUnit = 0xFFFF          // the last character that is one UTF-16 code unit
)

// A Regexp is a compiled pattern. Several goroutines may use it at once.
type Regexp struct {
	engine *regexp2.Regexp

	// GivenUp is the result of a match that is given up.
	GivenUp bool
}

// A Mistake is why a pattern is refused, and what to write.
type Mistake struct{ Found, Fix string }

func (m *Mistake) Error() string { return m.Found + "; " + m.Fix }

// Compile returns an expression that matches the texts that a pattern of JavaScript does.
func Compile(pattern string) (Regexp, *Mistake) {
	units, wrong := inUnits(pattern)
	if wrong != nil {
		return Regexp{}, wrong
	}
	engine, wrong := compile(units)
	return Regexp{engine: engine}, wrong
}

func compile(units string) (*regexp2.Regexp, *Mistake) {
	engine, err := regexp2.Compile(units, regexp2.ECMAScript, regexp2.OptionMaxBacktrackingStackSize(maxStack))
	if err != nil {
		problem := new(syntax.Error)
		switch {
		case !errors.As(err, &problem):
			return nil, &Mistake{err.Error(), "write it another way"}
		case problem.Code == syntax.ErrCaptureGroupOutOfRange:
			return nil, &Mistake{"a number over 2147483647", "write a lower one"}
		}
		return nil, &Mistake{fmt.Sprintf("JavaScript refuses it: "+problem.Code.String(), problem.Args...),
			cmp.Or(fixes()[problem.Code], "write it another way")}
	}
	seen := map[string]bool{}
	for _, name := range engine.GetGroupNames() {
		if name != "" && seen[name] {
			return nil, &Mistake{fmt.Sprintf("two groups have the name %s", name), "give one another name"}
		}
		seen[name] = true
	}
	engine.MatchTimeout = maxTime
	return engine, nil
}

// fixes are what to write for what JavaScript refuses.
func fixes() map[syntax.ErrorCode]string {
	return map[syntax.ErrorCode]string{
		syntax.ErrMissingParen:          `close it with ), or write \( for the character`,
		syntax.ErrUnexpectedParen:       `write \) for the character`,
		syntax.ErrUnterminatedBracket:   `close it with ], or write \[ for the character`,
		syntax.ErrReversedCharRange:     `write the lower character first, or \- for the character -`,
		syntax.ErrInvalidRepeatOp:       `remove one, or write \ before it for the character`,
		syntax.ErrMissingRepeatArgument: `write .* for any text, or \ before it for the character`,
		syntax.ErrInvalidRepeatSize:     "write the lower number first",
		syntax.ErrQuantifiedAssertion:   "remove what follows it",
		syntax.ErrIllegalEndEscape:      "remove it",
		syntax.ErrUndefinedNameRef:      "name a group, as in (?<name>…)",
		syntax.ErrDuplicateGroupName:    "give one another name",
		syntax.ErrInvalidECMAGroupName:  "write a letter, and letters and digits after it",
	}
}

// MatchString reports whether a text has a match, anywhere.
func (r Regexp) MatchString(text string) bool {
	matches, err := r.match(text)
	if err != nil {
		return r.GivenUp
	}
	return matches
}

// MatchAny reports whether one of the texts has a match. All of them together have the time of one.
func (r Regexp) MatchAny(texts iter.Seq[string]) bool {
	end := time.Now().Add(maxTime)
	for text := range texts {
		matches, err := r.match(text)
		switch {
		case matches:
			return true
		case err != nil, time.Now().After(end):
			return r.GivenUp
		}
	}
	return false
}

func (r Regexp) match(text string) (bool, error) {
	if strings.ContainsFunc(text, func(c rune) bool { return c > lastUnit }) {
		units := make([]rune, 0, len(text)) // each as the engine takes it
		for _, unit := range utf16.Encode([]rune(text)) {
			c := rune(unit)
			if isHalf(c) {
				c = moved(c)
			}
			units = append(units, c)
		}
		return r.engine.MatchRunes(units)
	}
	return r.engine.MatchString(text)
}

// A half is a UTF-16 code unit that is half a character beyond U+FFFF. Strings of Go cannot hold it, and the engine
// keeps literals and classes in strings, so that all halves would be one character there. The character moved(half),
// which no text by units has, replaces it.
func isHalf(c rune) bool { return firstHalf <= c && c <= lastHalf }

func moved(half rune) rune { return half + 0x100000 }

const firstHalf, lastHalf rune = 0xD800, 0xDFFF

// tokens are the parts of a pattern that inUnits tells apart.
var tokens = late.Regexp(`(?s)\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c\w|\\[0-3][0-7]{0,2}|\\[4-7][0-7]?|` +
	`\\[pPu]\{|\\k<[0-9]|\\.|\(\?[:=!<]|\(\?|.`)

// inUnits returns a pattern by UTF-16 code units, as JavaScript counts without the flag u: a character beyond U+FFFF is
// two halves, and a quantifier after it repeats the second.
func inUnits(pattern string) (units string, wrong *Mistake) {
	var b strings.Builder
	inClass := false
	var class []unit // so far
	write := func(u unit) {
		switch {
		case inClass:
			class = append(class, u)
		case isHalf(u.char):
			b.WriteRune(moved(u.char))
		default:
			b.WriteString(u.text)
		}
	}
	for _, at := range tokens().FindAllStringIndex(pattern, -1) {
		token := pattern[at[0]:at[1]]
		last, size := utf8.DecodeLastRuneInString(token)
		switch {
		case last > lastUnit:
			high, low := utf16.EncodeRune(last)
			escape := strings.TrimSuffix(token, string(last)) // a backslash, or nothing
			write(unit{escape, high})
			write(unit{"", low})
		case len(token) == len(`\u0000`):
			code, _ := strconv.ParseUint(token[2:], 16, 16) // four digits
			write(unit{token, rune(code)})
		case len(token) == len(`\p{`) && last == '{': // or \P{ or \u{
			return "", &Mistake{token + ", which means something only with the flag u",
				`write the characters, as in [a-zé], or \u and four digits`}
		case strings.HasPrefix(token, `\k<`) && !inClass:
			return "", &Mistake{token + ", and the name of a group is no number", `write \` + token[3:]}
		case token == "(?" && !inClass:
			return "", noGroup(pattern[at[0]:])
		case token == "[" && !inClass:
			inClass = true
			b.WriteString(token)
		case token == "^" && inClass && pattern[at[0]-1] == '[' && class == nil:
			b.WriteString(token)
		case token == "]" && inClass:
			writeClass(&b, class)
			inClass, class = false, nil
			b.WriteString(token)
		case len(token) == size:
			write(unit{token, last})
		default:
			write(unit{token, -1})
		}
	}
	writeClass(&b, class) // it is not closed
	return b.String(), nil
}

// A unit is a part of a pattern, and its code unit if it is one as it is or as \u0000; otherwise -1.
type unit struct {
	text string
	char rune
}

// writeClass writes what is between the brackets of a class. A range that has all halves, or some and others, becomes
// several.
func writeClass(b *strings.Builder, class []unit) {
	one := func(u unit) {
		if isHalf(u.char) {
			b.WriteRune(moved(u.char))
		} else {
			b.WriteString(u.text)
		}
	}
	between := func(first, last rune) {
		b.WriteRune(moved(first))
		b.WriteByte('-')
		b.WriteRune(moved(last))
	}
	for i := 0; i < len(class); i++ {
		first := class[i]
		if i+2 >= len(class) || class[i+1].text != "-" {
			one(first)
			continue
		}
		last := class[i+2]
		i += 2
		several := len(first.text) == 2 && strings.Contains(`\d\D\w\W\s\S`, first.text) // no range begins with it
		switch {
		case isHalf(first.char) && last.char > lastHalf:
			between(first.char, lastHalf)
			b.WriteString(`\ue000-` + last.text)
		case isHalf(last.char) && first.char < firstHalf && !several:
			b.WriteString(first.text + `-\ud7ff`)
			between(firstHalf, last.char)
		case last.char > lastHalf && first.char < firstHalf && !several:
			b.WriteString(first.text + "-" + last.text)
			between(firstHalf, lastHalf)
		default:
			one(first)
			b.WriteByte('-')
			one(last)
		}
	}
}

// flags are those of Perl and others at the beginning of a group: (?i), (?-s:.
var flags = late.Regexp(`^\(\?[a-zA-Z]*(?:-[a-zA-Z]*)?[:)]`)

// noGroup returns what is wrong with a group that begins with (? in a way that JavaScript does not have.
func noGroup(text string) *Mistake {
	opening := flags().FindString(text)
	fix := "write (?: for a group"
	switch {
	case strings.HasPrefix(text, "(?P<"):
		opening, fix = "(?P<", "write (?<name>…)"
	case strings.HasPrefix(text, "(?>"):
		opening = "(?>"
	case strings.HasPrefix(text, "(?#"):
		opening, fix = "(?#", "remove the comment"
	case opening == "":
		opening = "(? and what follows it"
	case strings.Contains(opening, "i"):
		fix = "write a letter of either case as [Aa]"
	case strings.Contains(opening, "m"):
		fix = `write (?:^|\n) for ^ and (?=\n|$) for $`
	case strings.Contains(opening, "s"):
		fix = "write [^] for ."
	case strings.Contains(opening, "x"):
		fix = "remove it, the spaces and the comments"
	}
	if strings.HasSuffix(opening, ":") {
		return &Mistake{"only the newest JavaScript has " + opening, fix}
	}
	return &Mistake{"JavaScript has no " + opening, fix}
}
