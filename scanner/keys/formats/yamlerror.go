package formats

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxProbeBytes is the size of a text above which an error's line comes from yaml.v3.
const maxProbeBytes = 256 << 10

// failed is the error of a text that yaml.v3 refuses. Its line is often the enclosing block's, or missing; but the
// lines up to one before the error are YAML, and the parser has not read far past it.
func (y *yamlReader) failed(text []byte, err error) error {
	yamlLine := regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	found := yamlLine.FindStringSubmatch(err.Error())
	reason := yamlLine.ReplaceAllString(err.Error(), "")
	line := 1
	if found != nil && found[1] != "" {
		if n, err := strconv.Atoi(found[1]); err == nil { // a number too large for a line
			line = n
		}
	}
	probed := len(text) <= maxProbeBytes
	if offset := y.named(reason, probed); offset >= 0 {
		return y.bad(offset, "not YAML: %s", reason)
	}
	tooDeep := strings.Contains(reason, "exceeded max depth")
	if probed && !tooDeep {
		lines := slices.Collect(linesOf(text))
		read := &lineReader{lines: slices.Clone(lines)}
		_ = isYAML(read) // it fails as before
		for n := read.next - 1; n >= 0 && n >= read.next-20; n-- {
			if isYAML(bytes.NewReader(bytes.Join(lines[:n], nil))) {
				line = max(line, n+1)
				break
			}
		}
	}
	offset := y.offset(&yaml.Node{Line: line, Column: 1})
	if tooDeep {
		return y.deeper(y.bounds.Levels+1, offset)
	}
	for offset < len(y.text) && (y.text[offset] == ' ' || y.text[offset] == '\t') {
		offset++
	}
	switch {
	case strings.HasPrefix(reason, "found unknown escape"):
		offset = unknownEscape(text, offset)
	case probed:
		offset = stop(text, offset, reason)
	}
	return y.bad(offset, "not YAML: %s", reason)
}

// unknownEscape returns the place of the first escape from start on that YAML does not have, or start.
func unknownEscape(text []byte, start int) int {
	for i := start; i+1 < len(text); i++ {
		if text[i] == '\\' {
			if strings.IndexByte("0abt\tnvfre \"'/\\N_LPxuU\r\n", text[i+1]) < 0 {
				return i
			}
			i++
		}
	}
	return start
}

func linesOf(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start := 0
		for i, c := range text {
			if c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
				if !yield(text[start : i+1]) {
					return
				}
				start = i + 1
			}
		}
		yield(text[start:])
	}
}

// named returns the place of a reason's subject, or -1: yaml.v3 gives no line for these. An alias can be probed for,
// which is more exact.
func (y *yamlReader) named(reason string, probed bool) int {
	if rest, ok := strings.CutPrefix(reason, "unknown anchor '"); ok && !probed {
		return bytes.Index(y.text, []byte("*"+strings.TrimSuffix(rest, "' referenced")))
	}
	if strings.HasPrefix(reason, "control characters") {
		return bytes.IndexFunc(y.text, func(r rune) bool {
			return r < ' ' && r != '\t' && r != '\n' && r != '\r' || '\x7f' <= r && r < '\u00a0' && r != '\u0085' ||
				r == '\ufffe' || r == '\uffff'
		})
	}
	return -1
}

// stop returns the last of the first few indicators in the line from start on up to which a text is YAML: the bracket
// in "a: [". Without one it returns start. A colon counts only if the error is about a colon.
func stop(text []byte, start int, reason string) int {
	indicators := "[]{},\"'&*!|>%@`?-"
	if strings.Contains(reason, "mapping values") {
		indicators += ":"
	}
	const most = 16
	var places []int
	for i := start; i < len(text) && text[i] != '\n' && text[i] != '\r' && len(places) < most; i++ {
		if strings.IndexByte(indicators, text[i]) >= 0 {
			places = append(places, i)
		}
	}
	for _, i := range slices.Backward(places) {
		if isYAML(bytes.NewReader(text[:i])) {
			return i
		}
	}
	return start
}

func isYAML(r io.Reader) bool {
	decoder := yaml.NewDecoder(r)
	for {
		if _, err := nextYAML(decoder); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

type lineReader struct {
	lines [][]byte
	next  int
}

func (r *lineReader) Read(p []byte) (int, error) {
	if r.next >= len(r.lines) {
		return 0, io.EOF
	}
	n := copy(p, r.lines[r.next])
	if r.lines[r.next] = r.lines[r.next][n:]; len(r.lines[r.next]) == 0 {
		r.next++
	}
	return n, nil
}
