package verdict

import (
	"strings"
	"unicode/utf8"
)

// Path writes the bytes of a path as text that no other path is written as: a
// backslash is `\\` and a byte that is not UTF-8 is `\xHH`. All else stays.
func Path(raw string) string {
	if utf8.ValidString(raw) && !strings.Contains(raw, `\`) {
		return raw
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[raw[i]>>4])
			b.WriteByte(hex[raw[i]&15])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(raw[i : i+n])
		}
		i += n
	}
	return b.String()
}
