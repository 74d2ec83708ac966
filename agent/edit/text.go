package edit

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A text is the content of a file with LF, and how it is written back.
type text struct {
	body string
	crlf bool // it is written with CRLF
}

// readText reads a file. One that agents would write back in different ways is an error.
func readText(before string) (text, error) {
	if !utf8.ValidString(before) {
		return text{}, errors.New("the file is not UTF-8, " +
			"so policyscan cannot determine what the agent would make of its bytes; save it as UTF-8")
	}
	count := strings.Count(before, "\r\n")
	t := text{body: crlfToLF(before), crlf: count > 0}
	if t.crlf && (count != strings.Count(before, "\n") || strings.Contains(t.body, "\r\n")) {
		return text{}, errors.New("the file has lines that end in CRLF and others that do not, " +
			"and agents differ in which they write; write the whole file")
	}
	return t, nil
}

// readExisting is readText for a file that must exist.
func readExisting(before string, exists bool) (text, error) {
	t, err := readText(before)
	if err == nil && !exists {
		err = errNoFile()
	}
	return t, err
}

// encode returns bodies with the line ends of the file.
func (t text) encode(bodies ...string) []string {
	if t.crlf {
		for i := range bodies {
			bodies[i] = lfToCRLF(bodies[i])
		}
	}
	return bodies
}

func crlfToLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func lfToCRLF(s string) string { return strings.ReplaceAll(crlfToLF(s), "\n", "\r\n") }

// A replacement replaces one string by another.
type replacement struct {
	old, new string
	count    int // required occurrences of old; 0 is any number
}

// apply replaces old, which must occur exactly.
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

// withoutTrailing removes the blanks at the end of each line, which ends at LF, CRLF or CR.
func withoutTrailing(s string) string {
	var b strings.Builder
	for s != "" {
		line, end := s, ""
		if i := strings.IndexAny(s, "\r\n"); i >= 0 {
			line, end = s[:i], s[i:i+1]
		}
		b.WriteString(strings.TrimRightFunc(line, isBlank))
		b.WriteString(end)
		s = s[len(line)+len(end):]
	}
	return b.String()
}

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
