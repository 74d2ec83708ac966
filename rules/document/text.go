package document

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// byteOrderMark is U+FEFF in UTF-8. It is allowed at the start of a rule file, since Windows editors write it.
const byteOrderMark = "\uFEFF"

// line returns a 1-based line without its end, or nothing.
func (d *YAML) line(n int) []byte {
	if n < 1 || n > len(d.lines) {
		return nil
	}
	end := len(d.text)
	if n < len(d.lines) {
		end = d.lines[n] - 1
	}
	return bytes.TrimSuffix(d.text[d.lines[n-1]:end], []byte("\r"))
}

// around returns the part of a line around a column, and the column's byte in it.
func around(line []byte, column int) (source string, caret int) {
	column--
	if column < 0 || column > len(line) {
		column, caret = 0, -1
	}
	start, end := max(0, column-shownBytes), min(len(line), column+2*shownBytes)
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	if caret == 0 {
		caret = column - start
	}
	source = string(line[start:end])
	if start > 0 {
		source, caret = "…"+source, caret+len("…")
	}
	if end < len(line) {
		source += "…"
	}
	return source, caret
}

func (d *YAML) at(offset int) Place {
	n := bytes.Count(d.text[:offset], []byte("\n"))
	return Place{n + 1, offset - d.lines[n] + 1}
}

// checkText refuses text that is not UTF-8, has a lone CR, or has control characters. It reports the first of each.
func (d *YAML) checkText() bool {
	switch {
	case hasUTF32(d.text):
		d.fail(CodeSyntax, Place{}, "the text is UTF-32", "save the file as UTF-8")
		return false
	case hasUTF16(d.text):
		d.fail(CodeSyntax, Place{}, "the text is UTF-16", "save the file as UTF-8")
		return false
	}
	reported := map[string]bool{}
	report := func(kind string, offset int, found, fix string) {
		if !reported[kind] {
			reported[kind] = true
			d.fail(CodeSyntax, d.at(offset), found, fix)
		}
	}
	d.ascii = true
	for i := 0; i < len(d.text); {
		c := d.text[i]
		if c >= ' ' && c < 0x7F || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(d.text[i:])
		d.ascii = d.ascii && c < utf8.RuneSelf
		switch {
		case r == utf8.RuneError && n == 1:
			report("utf-8", i, fmt.Sprintf("the byte 0x%02X is not UTF-8", c), "save the file as UTF-8")
		case r == '\r':
			if i+1 == len(d.text) || d.text[i+1] != '\n' {
				report("cr", i, "a carriage return that is not part of a CRLF", "end lines with LF or CRLF")
			}
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			report("break", i, fmt.Sprintf("the line separator U+%04X", r),
				`end lines with LF or CRLF; within a string write "`+
					map[rune]string{0x85: `\N`, 0x2028: `\L`, 0x2029: `\P`}[r]+`" in double quotes`)
		case r == 0xFEFF:
			report("bom", i, "a byte order mark U+FEFF within the text",
				`remove it; within a string write "\uFEFF" in double quotes`)
		case r < ' ' || r >= 0x7F && r < 0xA0 || r == 0xFFFE || r == 0xFFFF:
			escape := `\u%04X`
			if r <= 0xFF {
				escape = `\x%02X`
			}
			report("control", i, fmt.Sprintf("the control character U+%04X", r),
				fmt.Sprintf(`remove it; within a string write "`+escape+`" in double quotes`, r))
		}
		i += n
	}
	return len(reported) == 0
}

func hasUTF32(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xFF\xFE\x00\x00")) || bytes.HasPrefix(text, []byte("\x00\x00\xFE\xFF")) ||
		len(text) >= 4 && text[1] == 0 && text[2] == 0 && (text[0] == 0 || text[3] == 0)
}

func hasUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xFF\xFE")) || bytes.HasPrefix(text, []byte("\xFE\xFF")) ||
		len(text) >= 2 && (text[0] == 0) != (text[1] == 0)
}
