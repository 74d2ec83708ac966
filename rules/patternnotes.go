package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules/document"
)

func itemNotes(r *Rule, item Item) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	p, shown := item.Text, shownText(item.Text)
	if item.Kind == Key {
		return keyNotes(item.Key)
	}
	if item.Kind == Text {
		if text := expressionIn(p); text != "" && !r.in02 { // in 0.2 an error, or meant: {text: …}
			add("the pattern %s looks like a regular expression or a wildcard, because of %s, but a pattern is the "+
				"text itself; list each text that must not appear as a separate pattern", shown, shownText(text))
		}
		if trimmed := strings.Trim(p, " \t"); trimmed != p && !endsAWord(r, p, trimmed) {
			add("the pattern %s has a space or tab at an end, and matches only where the file has it too; "+
				"if that is not meant, write %s", shown, document.Quoted(trimmed))
		}
	} else {
		if m := slashed().FindStringSubmatch(p); m != nil {
			add("the expression %s begins with a slash and ends with a slash and %s, which are characters to find; "+
				"if another language's notation is meant, write %s",
				shown, shownText(m[2]), document.Quoted(plainOf(m[1], m[2])))
		}
		if slices.Contains(r.slow, p) {
			add("the expression %s is slow: no text of three bytes is in each of its matches, so every line of every "+
				"file that the rule selects is matched; write more of the text around it", shown)
		}
	}
	if n := strangerIn(p); n != "" {
		add("the pattern %s has %s", shown, n)
	}
	if !norm.NFC.IsNormalString(p) {
		add("the pattern %s is not in Unicode normal form C, in which most text "+
			"is written; that form is %s", shown, document.Quoted(norm.NFC.String(p)))
	}
	return notes
}

// slashed is a regex with flags as JavaScript and Perl write it.
var slashed = late.Regexp(`^/(.+)/([gimsu]+)$`)

// plainOf returns the regex between slashes without its flags.
func plainOf(expr, flags string) string {
	if strings.Contains(flags, "i") { // the other flags have no effect within one line
		expr = "(?i)" + expr
	}
	return strings.ReplaceAll(expr, `\/`, "/")
}

// endsAWord reports whether a space at an end of a pattern is intended: the rule has the same literal with another
// end, or a passing example that contains the trimmed literal.
func endsAWord(r *Rule, p, trimmed string) bool {
	return len(r.Patterns) <= 1000 && slices.ContainsFunc(r.Patterns, func(item Item) bool {
		other := item.Text
		return other != p && other != trimmed &&
			(strings.HasPrefix(other, trimmed) || strings.HasSuffix(other, trimmed))
	}) || slices.ContainsFunc(r.Examples, func(e Example) bool {
		return !e.Violates && strings.Contains(e.Content, trimmed)
	})
}

// expressions match what is typical of regexes and wildcards, and rare in other text.
var expressions = sync.OnceValue(func() []*regexp.Regexp { // compiled late: most bundles have no text to try them on
	return []*regexp.Regexp{
		regexp.MustCompile(`\.[*+]`),
		regexp.MustCompile(`\\[dDsSwW](?:[^A-Za-z]|$)`),        // not the directory in C:\data
		regexp.MustCompile(`[0-9A-Za-z)\]]\\\.[0-9A-Za-z(\[]`), // 10\.0
		regexp.MustCompile(`\([^()|\s]+(?:\|[^()|\s]+)+\)`),
		regexp.MustCompile(`\[\^?[^\]\s]*(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9])[^\]\s]*\]`),
		regexp.MustCompile(`^\^.+\$$`),
		regexp.MustCompile(`^\*\*/[*.\w]`),
	}
})

// expressionIn returns the part of a pattern that looks like a regex, or "".
func expressionIn(p string) string {
	if len(p) > 1024 || !strings.ContainsAny(p, `*+\(|[^`) { // such a regex is never that long
		return ""
	}
	for _, e := range expressions() {
		if found := e.FindString(p); found != "" {
			return found
		}
	}
	return ""
}

// strangerIn names the first lookalike or invisible character of a pattern, if any, and the fix. A pattern of only
// such characters is meant to forbid them.
func strangerIn(p string) string {
	if !strings.ContainsFunc(p, func(r rune) bool {
		return r > ' ' && r < utf8.RuneSelf || unicode.IsLetter(r) && lookalikes[r] == 0
	}) {
		return ""
	}
	runes := []rune(p)
	for i, r := range runes {
		if r < utf8.RuneSelf {
			continue
		}
		at := fmt.Sprintf("(U+%04X) as character %d", r, i+1)
		like := lookalikes[r]
		if r >= 0xFF01 && r <= 0xFF5E { // fullwidth
			like = r - 0xFEE0
		}
		switch {
		case strings.ContainsRune(invisible, r):
			if (r == 0x200C || r == 0x200D) && !nextToASCII(runes, i) {
				continue // joins letters of its script, or emoji
			}
			return fmt.Sprintf("an invisible character %s, which matches only where the file has it; remove it", at)
		case unicode.Is(unicode.Zs, r):
			return fmt.Sprintf("a space %s that an ordinary space does not match; write a space", at)
		case like != 0 && (!unicode.IsLetter(r) || inLatinWord(runes, i)):
			return fmt.Sprintf("%q %s, which looks like %q and does not match it; write %[3]q", r, at, like)
		}
	}
	return ""
}

func nextToASCII(runes []rune, i int) bool {
	return i > 0 && runes[i-1] < utf8.RuneSelf || i+1 < len(runes) && runes[i+1] < utf8.RuneSelf
}

// inLatinWord reports whether the neighbouring letters are Latin. A whole word of another script is fine.
func inLatinWord(runes []rune, i int) bool {
	isOther := func(r rune) bool { return !unicode.IsLetter(r) }
	from := i
	for from > 0 && unicode.IsLetter(runes[from-1]) {
		from--
	}
	word := runes[from:]
	if end := slices.IndexFunc(word, isOther); end >= 0 {
		word = word[:end]
	}
	return slices.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
}

// invisible has the characters without a glyph, soft hyphens, joiners, marks and fillers.
const invisible = "\u00AD\u034F\u061C\u115F\u1160\u3164\uFFA0\u180E\u200B\u200C\u200D\u200E\u200F\u202A\u202B\u202C" +
	"\u202D\u202E\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u2800\uFEFF"

// lookalikes maps characters to the ASCII character that they look like.
var lookalikes = map[rune]rune{
	// Dashes, quotes and marks that word processors and web pages insert.
	0x2010: '-', 0x2011: '-', 0x2012: '-', 0x2013: '-', 0x2014: '-', 0x2015: '-', 0x2212: '-', 0xFE58: '-',
	0xFE63: '-',
	0x2018: '\'', 0x2019: '\'', 0x201A: '\'', 0x201B: '\'', 0x2032: '\'', 0x02BC: '\'',
	0x201C: '"', 0x201D: '"', 0x201E: '"', 0x201F: '"', 0x2033: '"',
	0x2044: '/', 0x2215: '/', 0x29F8: '/', 0x2216: '\\', 0x29F5: '\\',
	0x2024: '.', 0x2217: '*', 0x204E: '*', 0x2236: ':', 0xA789: ':', 0x037E: ';', 0x01C3: '!', 0x2223: '|',
	0x223C: '~', 0x2039: '<', 0x203A: '>',
	// Cyrillic.
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'ѕ': 's', 'і': 'i', 'ј': 'j', 'һ': 'h',
	'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'ӏ': 'l', 'ѵ': 'v',
	'А': 'A', 'В': 'B', 'Е': 'E', 'З': '3', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T',
	'У': 'Y', 'Х': 'X', 'Ѕ': 'S', 'І': 'I', 'Ј': 'J',
	// Greek.
	'α': 'a', 'ο': 'o', 'ν': 'v', 'ρ': 'p', 'ι': 'i', 'κ': 'k', 'υ': 'u', 'χ': 'x', 'γ': 'y',
	'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P',
	'Τ': 'T', 'Υ': 'Y', 'Χ': 'X',
	// Latin and others.
	'ı': 'i', 'ȷ': 'j', 'ɑ': 'a', 'ɡ': 'g', 'ǀ': 'l', 'օ': 'o', 'ո': 'n', 'ս': 'u', 'հ': 'h', 'ց': 'g',
}
