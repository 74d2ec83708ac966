package formats

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// yaml.v3 refuses some valid YAML 1.2. It gets another text with the same number of bytes and lines, so that each
// place stays the file's.

const byteOrderMark = "\ufeff"

// prepare returns a text in which a %YAML 1.2 line names 1.1, "---" replaces a "..." before a document without one, and
// a byte order mark before a document is an empty line. One that is not right after a marker is reported as disputed,
// and so is every other: yaml.v2, and so kubectl, keeps it, and may drop a character of the lines after it.
func (y *yamlReader) prepare(text []byte) []byte {
	y.disputeReturns(text)
	hasMarks := bytes.Contains(text, []byte(byteOrderMark))
	if !hasMarks && !bytes.Contains(text, []byte("%YAML")) && !bytes.Contains(text, []byte("...")) &&
		!bytes.Contains(text, []byte("---")) {
		return text
	}
	text = bytes.Clone(text)
	var end []byte        // a line "..." without a document after it so far
	begun := false        // the document that the line belongs to has content
	atMarker := len(text) // where a mark would be right after a marker
	at := 0
	for line := range linesOf(text) {
		next, isMarked := at+len(line), false
		if isMarked = !begun && bytes.HasPrefix(line, []byte(byteOrderMark)); isMarked {
			if at != atMarker {
				y.disputeMark(at)
			}
			line = line[copy(line, "  \n"):]
		}
		if bytes.HasPrefix(line, []byte("---")) && y.disputeMarker(line, next-len(line), begun) {
			blank(line[3:len(bytes.TrimRight(line, "\r\n"))])
		}
		content := bytes.Trim(line, " \t\r\n")
		marker, isBare := markerOf(line)
		switch {
		case marker == "..." && isBare:
			if begun {
				atMarker = next
			}
			begun, end = false, line
		case marker == "---":
			if !isMarked && (at == 0 || text[at-1] == '\n') {
				atMarker = next
			}
			begun, end = !isBare, nil
		case len(content) == 0 || content[0] == '#':
		case !begun && line[0] == '%':
			version, ok := bytes.CutPrefix(line, []byte("%YAML"))
			if version = bytes.TrimLeft(version, " \t"); ok && bytes.HasPrefix(version, []byte("1.2")) {
				version[2] = '1'
			}
			end = nil
		default:
			copy(end, "---")
			begun, end = true, nil
		}
		at = next
	}
	if at := bytes.Index(text, []byte(byteOrderMark)); at >= 0 {
		y.disputeMark(at)
	}
	return text
}

// markerOf returns the marker at the start of a line, "---" or "...", or "", and whether at most a comment follows.
func markerOf(line []byte) (marker string, isBare bool) {
	marker = string(line[:min(len(line), 3)])
	if marker != "---" && marker != "..." || len(line) > 3 && !isSpace(line[3]) {
		return "", false
	}
	rest := bytes.Trim(line[3:], " \t\r\n")
	return marker, len(rest) == 0 || rest[0] == '#'
}

func blank(part []byte) {
	for i := range part {
		part[i] = ' '
	}
}

// disputeMarker reports a line at an offset that begins with "---" and is a marker for some programs only: helm splits
// a file there, js-yaml begins a document with a list in "----", and kubectl splits if a comment or nothing but space
// of Unicode follows, which it returns.
func (y *yamlReader) disputeMarker(line []byte, at int, begun bool) bool {
	if len(line) == 3 || isSpace(line[3]) || line[3] == '-' && begun {
		return false
	}
	y.disputed(at, "a line that begins with --- ends a document for some programs and not for others; "+
		"write a space or a line end after ---, or indent the line")
	rest := bytes.TrimSpace(line[3:])
	return len(rest) == 0 || rest[0] == '#'
}

// disputeReturns reports a lone carriage return in a text with other line ends: npm's yaml treats it as a character,
// in comments, too.
func (y *yamlReader) disputeReturns(text []byte) {
	if bytes.IndexByte(text, '\r') < 0 || bytes.IndexByte(text, '\n') < 0 {
		return
	}
	for at := 0; ; at++ {
		i := bytes.IndexByte(text[at:], '\r')
		if i < 0 {
			return
		}
		if at += i; at+1 == len(text) || text[at+1] != '\n' {
			y.disputed(at, "a carriage return without a line feed ends a line for some YAML parsers and not for "+
				"others; use one kind of line end")
			return
		}
	}
}

func (y *yamlReader) disputeMark(at int) {
	y.disputed(at, "a byte order mark here is read differently by YAML parsers; remove it")
}

// hideSlashes replaces each "\/" that would be an escape in double quotes, which yaml.v3 does not know.
func (y *yamlReader) hideSlashes(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\/`)) {
		return text
	}
	slash := '\u0100' // or another of two bytes that the text does not have
	for bytes.ContainsRune(text, slash) {
		slash++
	}
	if slash > '\u07ff' {
		return text
	}
	y.slash = string(slash)
	text = bytes.Clone(text)
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' {
			if text[i+1] == '/' {
				copy(text[i:], y.slash)
			}
			i++
		}
	}
	return text
}

// value is the text of a scalar in the file.
func (y *yamlReader) value(n *yaml.Node) string {
	value := n.Value
	if y.slash != "" {
		slash := `\/`
		if n.Style&yaml.DoubleQuotedStyle != 0 {
			slash = "/"
		}
		value = strings.ReplaceAll(value, y.slash, slash)
	}
	return value
}

// tabInstead replaces a tab before a block scalar's text.
const tabInstead = 'x'

// hideTabs replaces each tab that may begin the text of a block scalar: yaml.v3 treats it as indentation. It returns
// their offsets.
func hideTabs(text []byte) ([]byte, map[int]bool) {
	text = bytes.Clone(text)
	places := map[int]bool{}
	header := false // the last line with content may be a literal block scalar's header
	at := 0
	for line := range linesOf(text) {
		content := bytes.TrimLeft(line, " ")
		indent := len(line) - len(content)
		bare := bytes.Trim(content, "\r\n")
		if header && indent > 0 && len(bare) > 0 && bare[0] == '\t' {
			text[at+indent] = tabInstead
			places[at+indent] = true
		}
		if len(bare) > 0 {
			header = endsAsHeader(bare)
		}
		at += len(line)
	}
	if len(places) == 0 {
		return text, nil
	}
	return text, places
}

// endsAsHeader reports whether a line ends in "|", "|-" or "|+", and perhaps a comment.
func endsAsHeader(line []byte) bool {
	if i := bytes.LastIndex(line, []byte(" #")); i >= 0 && endsAsHeader(line[:i]) {
		return true
	}
	line = bytes.TrimRight(line, " \t")
	line = bytes.TrimRight(line, "+-")
	return bytes.HasSuffix(line, []byte("|"))
}

// withTab restores a tab before the text of a block scalar whose indicator is at i.
func (y *yamlReader) withTab(value string, i int) string {
	for i = y.lineEnd(i); i < len(y.text) && isSpace(y.text[i]); {
		i++
	}
	at := strings.IndexByte(value, tabInstead)
	if !y.tabs[i] || at < 0 {
		return value
	}
	delete(y.tabs, i)
	return value[:at] + "\t" + value[at+1:]
}
