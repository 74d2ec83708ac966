package edit

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/internal/late"
)

const bom = "\xef\xbb\xbf"

// A text is the content of a file as agents search it, and what is needed to write it back.
type text struct {
	body   string // without byte order mark, lines end in LF
	hasBOM bool
	crlf   bool // it is written with CRLF
}

// maxCRLF is within how many bytes the first CRLF of a file must end: Claude Code looks for it in the first 4096
// UTF-16 units.
const maxCRLF = 4096

// readText reads a file that is edited. If agents would write it back in different ways, it is an error.
func readText(before string) (text, error) {
	if !utf8.ValidString(before) {
		return text{}, errors.New("the file is not UTF-8, " +
			"so policyscan cannot determine what the agent would make of its bytes; save it as UTF-8")
	}
	body, hasBOM := strings.CutPrefix(before, bom)
	first, count := strings.Index(body, "\r\n"), strings.Count(body, "\r\n")
	if count > 0 && (count != strings.Count(body, "\n") || first+len("\r\n") > maxCRLF) {
		return text{}, errors.New("the file has lines that end in CRLF and others that end in LF or are very long, " +
			"and agents differ in which they write; write the whole file")
	}
	return text{body: crlfToLF(body), hasBOM: hasBOM, crlf: count > 0}, nil
}

// encode is what is written for a body in place of the file's own.
func (t text) encode(body string) string {
	if t.crlf {
		body = lfToCRLF(body)
	}
	if t.hasBOM {
		body = bom + strings.TrimPrefix(body, bom)
	}
	return body
}

func (t text) encodeAll(bodies []string) []string {
	all := make([]string, len(bodies))
	for i, body := range bodies {
		all[i] = t.encode(body)
	}
	return all
}

func crlfToLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func lfToCRLF(s string) string { return strings.ReplaceAll(crlfToLF(s), "\n", "\r\n") }

// A replacement is a text that takes the place of another.
type replacement struct {
	old, new string
	count    int // how often old must occur; 0 is any number
}

// apply replaces old, which must occur exactly as it is.
func (r replacement) apply(body string) (string, error) {
	n := strings.Count(body, r.old)
	switch {
	case r.old == "" && body == "":
		return r.new, nil
	case r.old == "":
		return "", errors.New("the old text is empty, and the file is not; name the text to replace")
	case r.old == r.new:
		return "", errors.New("the old text and the new text are the same")
	case n == 0:
		return "", fmt.Errorf("the old text %s does not occur in the file exactly; copy it from the file as it is",
			quote(r.old))
	case r.count > 0 && n != r.count:
		return "", fmt.Errorf("the old text %s occurs %d times in the file, not %d; "+
			"add lines around it, or replace all", quote(r.old), n, r.count)
	case len(body)+n*(len(r.new)-len(r.old)) > MaxBytes:
		return "", errTooLarge()
	}
	return strings.ReplaceAll(body, r.old, r.new), nil
}

// isBlank reports whether JavaScript's \s matches a character.
func isBlank(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

// trim is JavaScript's String.prototype.trim.
func trim(s string) string { return strings.TrimFunc(s, isBlank) }

// trailing matches what JavaScript's \s matches at the end of a line, which ends at LF, CRLF or CR.
var trailing = late.Regexp(
	`[\t\v\f \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+([\r\n]|\z)`)

func withoutTrailing(s string) string { return trailing().ReplaceAllString(s, "$1") }

// quote shows the beginning of a text in an error.
func quote(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	end := most
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%q…", s[:end])
}
