package formats

import (
	"bytes"
	"strings"
)

// yamlMarks counts the separators of a text: commas, brackets, line ends, and each - or ? after another indicator in
// its line, as in "- - - a", which is three lists.
func yamlMarks(text []byte) int {
	marks := 0
	before := byte('\n') // the last byte that is not a space
	for i, c := range text {
		end := i+1 == len(text)
		switch c {
		case ' ', '\t':
			continue
		case ',', '\n', '[', '{':
			marks++
		case '\r':
			if end || text[i+1] != '\n' {
				marks++
			}
		case '-', '?':
			alone := i > 0 && strings.IndexByte(" \t", text[i-1]) >= 0 &&
				(end || strings.IndexByte(" \t\r\n", text[i+1]) >= 0)
			if alone && (before == '-' || before == '?' || before == ':') {
				marks++
			}
		}
		before = c
	}
	return marks
}

// maxTagDirectives bounds the %TAG lines of a text: yaml.v3 searches all of a document's for each line and each tag.
const maxTagDirectives = 1000

// maxTagBytes bounds the bytes of a text's tags with their %TAG prefixes: yaml.v3 copies the prefix into each, so a
// prefix of a megabyte and ten thousand tags would need ten gigabytes.
const maxTagBytes = 512 << 20

// checkTagDirectives bounds the cost of %TAG lines. It counts each "!" as a tag with the longest prefix.
func checkTagDirectives(m *meter) error {
	lines, longest, end, first := 0, 0, 0, 0
	for at := 0; ; at++ {
		i := bytes.Index(m.text[at:], []byte("%TAG"))
		if i < 0 {
			break
		}
		if at += i; at > 0 && m.text[at-1] != '\n' && m.text[at-1] != '\r' {
			continue
		}
		if lines++; lines > maxTagDirectives {
			return m.limit(at, "the file has more than %d %%TAG lines", maxTagDirectives)
		}
		if lines == 1 {
			first = at
		}
		for end = max(end, at); end < len(m.text) && m.text[end] != '\n' && m.text[end] != '\r'; end++ {
		}
		longest = max(longest, end-at)
	}
	if longest > 0 && (lines+longest)*bytes.Count(m.text, []byte("!")) > maxTagBytes {
		return m.limit(first, "the file has too many tags for so many or so long %%TAG lines")
	}
	return nil
}
