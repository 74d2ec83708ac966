package edit

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	utf8Mark = "\xef\xbb\xbf"
	utf16LE  = "\xff\xfe"
	utf16BE  = "\xfe\xff"
)

// A file is what a file holds, as Claude Code reads it: text without a byte order mark and with LF line
// ends, and what is needed to write it back.
type file struct {
	body string
	mark string // the byte order mark, which says the encoding too; "" is UTF-8 without one
	crlf bool   // it is written with CRLF
}

// decode reads a file as Claude Code does. A file that is neither UTF-8 nor UTF-16LE with its mark is an
// error: the agent refuses it, or writes U+FFFD in place of its bytes.
func decode(before []byte) (file, error) {
	text := string(before)
	f := file{}
	switch {
	case strings.HasPrefix(text, utf16BE):
		return f, errors.New("the file is UTF-16 with the high byte first, which the agent does not read; " +
			"save it as UTF-8")
	case strings.HasPrefix(text, utf16LE):
		f.mark = utf16LE
		var err error
		if text, err = fromUTF16(text[len(utf16LE):]); err != nil {
			return f, err
		}
	case strings.HasPrefix(text, utf8Mark):
		f.mark, text = utf8Mark, text[len(utf8Mark):]
	}
	if !utf8.ValidString(text) {
		return f, errNotUTF8()
	}
	f.crlf = mostlyCRLF(text)
	f.body = strings.ReplaceAll(text, "\r\n", "\n")
	return f, nil
}

func errNotUTF8() error {
	return errors.New("the file is not UTF-8, " +
		"so policyscan cannot determine what the agent would make of its bytes; save it as UTF-8")
}

// encode is what is written for a text in place of the file's own.
func (f file) encode(body string) ([]byte, error) {
	if f.crlf {
		lf := strings.ReplaceAll(body, "\r\n", "\n")
		if len(lf)+strings.Count(lf, "\n") > MaxBytes {
			return nil, errTooLarge()
		}
		body = strings.ReplaceAll(lf, "\n", "\r\n")
	}
	if f.mark == utf16LE {
		return []byte(utf16LE + toUTF16(strings.TrimPrefix(body, "\ufeff"))), nil
	}
	return []byte(f.mark + strings.TrimPrefix(body, f.mark)), nil
}

// encodeAll is encode of several.
func (f file) encodeAll(bodies []string) ([][]byte, error) {
	all := make([][]byte, len(bodies))
	for i, body := range bodies {
		var err error
		if all[i], err = f.encode(body); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// mostlyCRLF reports whether more lines end in CRLF than in LF alone, in the first 4096 UTF-16 units, by
// which Claude Code decides.
func mostlyCRLF(text string) bool {
	crlf, lf, units, last := 0, 0, 0, rune(0)
	for _, r := range text {
		if units >= 4096 {
			break
		}
		units += utf16.RuneLen(r)
		if r == '\n' && last == '\r' {
			crlf++
		} else if r == '\n' {
			lf++
		}
		last = r
	}
	return crlf > lf
}

func fromUTF16(text string) (string, error) {
	if len(text)%2 != 0 {
		return "", errors.New("the file is UTF-16 with half a character at its end; save it as UTF-8")
	}
	var b strings.Builder
	b.Grow(len(text) / 2)
	for i := 0; i < len(text); i += 2 {
		r := rune(text[i]) | rune(text[i+1])<<8
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if i+3 < len(text) {
				low = rune(text[i+2]) | rune(text[i+3])<<8
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return "", fmt.Errorf("the file is UTF-16 with half a surrogate pair at byte %d; save it as UTF-8",
					i+len(utf16LE))
			}
			i += 2
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

func toUTF16(text string) string {
	var b strings.Builder
	b.Grow(2 * len(text))
	for _, r := range text {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			b.WriteString(string([]byte{byte(high), byte(high >> 8), byte(low), byte(low >> 8)}))
			continue
		}
		b.WriteByte(byte(r))
		b.WriteByte(byte(r >> 8))
	}
	return b.String()
}

// plain returns a file's text, for an agent that reads UTF-8 alone and takes it as it is.
func plain(before []byte) (string, error) {
	if !utf8.Valid(before) {
		return "", errNotUTF8()
	}
	return string(before), nil
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

// withoutTrailing removes the spaces at the end of each line, which ends at LF, CRLF or CR.
func withoutTrailing(s string) string {
	var b strings.Builder
	for s != "" {
		end := strings.IndexAny(s, "\r\n")
		if end < 0 {
			end = len(s)
		}
		b.WriteString(strings.TrimRightFunc(s[:end], isBlank))
		next := min(end+1, len(s))
		if strings.HasPrefix(s[end:], "\r\n") {
			next = end + 2
		}
		b.WriteString(s[end:next])
		s = s[next:]
	}
	return b.String()
}

// replaceAll replaces each of n occurrences, unless that makes a text that is too large.
func replaceAll(text, old, repl string, n int) (string, error) {
	if len(text)+n*(len(repl)-len(old)) > MaxBytes {
		return "", errTooLarge()
	}
	return strings.ReplaceAll(text, old, repl), nil
}

// maxSteps is how many bytes may be looked at to find the places of one edit: some seconds' work at worst.
const maxSteps = 1 << 30

// A budget is the steps that are left.
type budget int

// spend takes steps, and is an error if none are left.
func (b *budget) spend(steps int) error {
	if *b -= budget(steps); *b < 0 {
		return errors.New("finding the places of the edits takes too many steps; make fewer edits in one call")
	}
	return nil
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
