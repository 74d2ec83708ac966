package verdict

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Path writes the bytes of a path as unique text: a backslash is `\\` and a byte that is not UTF-8 is `\xHH`. All
// other bytes stay.
func Path(raw string) string {
	if utf8.ValidString(raw) && !strings.Contains(raw, `\`) {
		return raw
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, raw[i])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(raw[i : i+n])
		}
		i += n
	}
	return b.String()
}

// RawPath is the inverse of [Path]. It keeps text that Path does not write.
func RawPath(written string) string {
	if !strings.Contains(written, `\`) {
		return written
	}
	var b strings.Builder
	for i := 0; i < len(written); i++ {
		rest := written[i:]
		if strings.HasPrefix(rest, `\\`) {
			i++
		} else if strings.HasPrefix(rest, `\x`) && len(rest) >= 4 {
			if c, err := strconv.ParseUint(rest[2:4], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(written[i])
	}
	return b.String()
}
