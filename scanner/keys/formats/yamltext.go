package formats

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/scanner/keys"
)

// A cursor is a place in a text in yaml.v3's terms: a line and a character, both from 1.
type cursor struct{ line, column, offset int }

// offset converts the place of a node. Nodes come in the order of the text, so the way from one to the next is short.
func (y *yamlReader) offset(n *yaml.Node) int {
	c := y.cursor
	if c.line == 0 || n.Line < c.line || n.Line == c.line && n.Column < c.column {
		c = cursor{1, 1, 0}
	}
	for c.offset < len(y.text) && (c.line < n.Line || c.line == n.Line && c.column < n.Column) {
		switch b := y.text[c.offset]; {
		case b == '\n', b == '\r' && (c.offset+1 == len(y.text) || y.text[c.offset+1] != '\n'):
			c.line, c.column = c.line+1, 0
		case b == '\r':
			c.column-- // the line ends with the next byte
		case b >= utf8.RuneSelf:
			_, size := utf8.DecodeRune(y.text[c.offset:])
			c.offset += size - 1
		}
		c.offset++
		c.column++
	}
	y.cursor = c
	return c.offset
}

func (y *yamlReader) scalar(b *built, n *yaml.Node, after int) {
	value := y.value(n)
	b.text = value
	tag := ""
	if n.Style&yaml.TaggedStyle != 0 {
		tag = n.Tag
	}
	style := n.Style &^ yaml.TaggedStyle
	if value == "" && style == 0 && tag == "" && n.Anchor == "" {
		tag = y.nothing(b, after)
		b.node.Kind, b.node.Scalar = yamlScalar(tag, value)
		return
	}
	start, properties := y.skipProperties(b.start)
	if tag == "" && (style != 0 || y.isTagged(b.start)) {
		tag = "!!str"
	}
	switch {
	case style == yaml.DoubleQuotedStyle:
		b.end = closingQuote(y.text, start, '"')
	case style == yaml.SingleQuotedStyle:
		b.end = closingQuote(y.text, start, '\'')
	case style == yaml.LiteralStyle, style == yaml.FoldedStyle:
		if b.end = y.blockEnd(start, value); len(y.tabs) > 0 {
			value = y.withTab(value, start)
			b.text = value
		}
	case value == "":
		b.end = properties
	default:
		b.end = matchText(y.text, start, value)
		y.checkColon(value, b.end)
	}
	if b.end < 0 {
		b.end = properties
		y.disputed(b.start, "the text of this value is not where yaml.v3 says it is")
	}
	b.node.Kind, b.node.Scalar = yamlScalar(tag, value)
	if isLoose(tag, value) {
		y.disputed(b.start, "a value that does not fit its tag, %s, for all programs; drop the tag", tag)
	}
	if symbol, ok := rubySymbol(n); ok {
		b.node.Scalar.Texts = append(b.node.Scalar.Texts, symbol)
	}
	if tag == "!!binary" && len(b.node.Scalar.Texts) == 1 {
		y.disputed(b.start, "a value with the tag !!binary that is not base64, which programs read differently")
	}
}

func (y *yamlReader) lineEnd(i int) int {
	for i < len(y.text) && y.text[i] != '\n' && y.text[i] != '\r' {
		i++
	}
	return i
}

// nothing finds the place of an omitted value: after its indicator. yaml.v3 gives the next token, or a place in a
// comment. It returns the value's tag, which is a string's if there is a "!".
func (y *yamlReader) nothing(b *built, after int) (tag string) {
	before := after
	i, after := y.skipFlowMarks(after, b.start)
	if i < b.start && isIndicator(y.text[i]) {
		after = i + 1
	}
	end := after
	i = y.skipSpace(after)
	isOwn := before != after || before == y.begin || before == i // and not the next node's
	if isOwn && i == b.start && i < len(y.text) && y.text[i] == '!' && !y.isJoined(i) {
		after, end, tag = i, i+1, "!!str"
	}
	b.start, b.node.At.Start, b.end = after, after, end
	return tag
}

// skipFlowMarks skips brackets and commas from i on, up to limit. It returns the start of the text after them, and
// their end.
func (y *yamlReader) skipFlowMarks(i, limit int) (content, end int) {
	content, end = y.skipSpace(i), i
	for content < limit && strings.IndexByte("[{,", y.text[content]) >= 0 {
		end = content + 1
		content = y.skipSpace(end)
	}
	return content, end
}

// skipProperties returns the start of a node's content, after its anchor and tag at i, and their end.
func (y *yamlReader) skipProperties(i int) (content, end int) {
	content, end = i, i
	for content < len(y.text) && (y.text[content] == '&' || y.text[content] == '!') {
		content, end = y.skipProperty(content)
	}
	return content, end
}

func (y *yamlReader) skipProperty(i int) (next, end int) {
	end = i + 1
	if y.text[i] == '&' {
		for end < len(y.text) && isAnchorByte(y.text[end]) {
			end++
		}
	} else {
		for end < len(y.text) && !isSpace(y.text[end]) {
			end++
		}
	}
	return y.skipSpace(end), end
}

// isTagged reports whether the node at i has a tag, even a mere "!", which yaml.v3 drops.
func (y *yamlReader) isTagged(i int) bool {
	for i < len(y.text) && y.text[i] == '&' {
		for i++; i < len(y.text) && isAnchorByte(y.text[i]); i++ {
		}
		i = y.skipSpace(i)
	}
	return i < len(y.text) && y.text[i] == '!'
}

func isIndicator(c byte) bool { return c == ':' || c == '-' || c == '?' }

func isAnchorByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// skipSpace returns the offset of the first byte from i on that is neither space, line end nor in a comment.
func (y *yamlReader) skipSpace(i int) int {
	if i == y.space.Start && i < y.space.End {
		return y.space.End
	}
	end := y.spaceEnd(i)
	if end-i > 1000 { // nested keys end at one place, and megabytes of comments may follow
		y.space = keys.Span{Start: i, End: end}
	}
	return end
}

func (y *yamlReader) spaceEnd(i int) int {
	for ; i < len(y.text); i++ {
		switch y.text[i] {
		case ' ', '\t', '\r', '\n':
		case '#':
			for i+1 < len(y.text) && y.text[i+1] != '\n' && y.text[i+1] != '\r' {
				i++
			}
		default:
			return i
		}
	}
	return i
}

// closed returns the end of a collection whose first node begins at first and whose last ends at last: in flow style,
// after its bracket. A mapping of one pair in a list, [a: b], has none.
func (y *yamlReader) closed(n *yaml.Node, start, first, last int, open, bracket byte) int {
	if n.Style&yaml.FlowStyle == 0 {
		return last
	}
	content := start
	if len(n.Content) == 0 || start != first {
		content, _ = y.skipProperties(start)
	}
	if content >= len(y.text) || y.text[content] != open {
		return last
	}
	i := max(last, content+1)
	for ; i < len(y.text) && y.text[i] != bracket; i++ {
		if i = y.skipSpace(i); i < len(y.text) && y.text[i] == bracket {
			break
		}
	}
	return min(i+1, len(y.text))
}

// closingQuote returns the offset after the quote that closes the one at i, or -1.
func closingQuote(text []byte, i int, quote byte) int {
	if i >= len(text) || text[i] != quote {
		return -1
	}
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}

// blockEnd returns the end of a block scalar with its indicator at i: after the last byte of its value other than
// space, or after its header.
func (y *yamlReader) blockEnd(i int, value string) int {
	if i >= len(y.text) || y.text[i] != '|' && y.text[i] != '>' {
		return -1
	}
	header := i + 1
	for header < len(y.text) && strings.IndexByte("+-0123456789", y.text[header]) >= 0 {
		header++
	}
	if strings.Trim(value, " \t\r\n") == "" {
		return header
	}
	return matchText(y.text, y.lineEnd(header), value)
}

// matchText returns the end of a value whose text begins at i, or -1. Folding changes only spaces and line ends.
func matchText(text []byte, i int, value string) int {
	end := -1
	for _, c := range []byte(value) {
		if isSpace(c) {
			continue
		}
		for i < len(text) && isSpace(text[i]) {
			i++
		}
		if i >= len(text) || text[i] != c {
			return -1
		}
		i++
		end = i
	}
	return end
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// yamlScalar resolves a text by YAML 1.2's core schema, ignoring yaml.v3's resolution. tag is its short tag, or ""
// without tag and quotes. Every other tag is application-specific.
func yamlScalar(tag, text string) (keys.Kind, keys.Scalar) {
	plain := core(text)
	based := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0o")
	var fits bool // whether the tag's type accepts the text
	switch tag {
	case "":
		fits = true
	case "!!str":
		plain, fits = coreText, true
	case "!!int":
		fits = plain == coreNumber && isCoreInt(text)
	case "!!float":
		fits = plain == coreInfinite || plain == coreNumber && !based
	case "!!bool":
		fits = plain == coreBool
	case "!!null":
		fits = plain == coreNull
	}
	exact := keys.Exact{}
	switch {
	case !fits:
		texts := []string{text}
		if decoded, err := base64.StdEncoding.DecodeString(withoutSpace(text)); tag == "!!binary" && err == nil {
			texts = append(texts, string(decoded)) // as yaml.v2 and yaml.v3 read it
		}
		return keys.ScalarNode, keys.Scalar{Texts: texts, Variable: true}
	case plain == coreNull:
		return keys.Null, keys.Scalar{Texts: []string{text}}
	case plain == coreText:
		exact = exactText(text)
	case plain == coreBool:
		exact = exactBool(strings.ToLower(text))
	case plain == coreNumber:
		exact = exactNumber(text)
	}
	scalar := known(exact, text)
	scalar.Certain = plain != coreInfinite // whose spelling differs from format to format
	scalar.Plain = tag != "!!str"
	return keys.ScalarNode, scalar
}

func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }

// A coreType is the type of a plain scalar in the core schema.
type coreType uint8

const (
	coreText coreType = iota
	coreNumber
	coreInfinite // or not a number
	coreBool
	coreNull
)

func core(text string) coreType {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return coreNull
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return coreBool
	}
	switch {
	case strings.IndexByte("+-."+decimals, text[0]) < 0: // as most texts
		return coreText
	case isCoreInt(text) || isFloat(text):
		return coreNumber
	case isInfinite(text):
		return coreInfinite
	}
	return coreText
}

func isInfinite(text string) bool {
	switch unsigned(text) {
	case ".inf", ".Inf", ".INF":
		return true
	}
	return text == ".nan" || text == ".NaN" || text == ".NAN"
}

// isCoreInt reports whether a text is [-+]?[0-9]+, 0o[0-7]+ or 0x[0-9a-fA-F]+.
func isCoreInt(text string) bool {
	if rest, ok := strings.CutPrefix(text, "0o"); ok {
		return only(rest, "01234567")
	}
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		return only(rest, decimals+"abcdefABCDEF")
	}
	return only(unsigned(text), decimals)
}

// isFloat reports whether a text is [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?.
func isFloat(text string) bool {
	text = unsigned(text)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if !only(unsigned(text[i+1:]), decimals) {
			return false
		}
		text = text[:i]
	}
	whole, fraction, pointed := strings.Cut(text, ".")
	return only(whole, decimals) && (fraction == "" || only(fraction, decimals)) ||
		whole == "" && pointed && only(fraction, decimals)
}

const decimals = "0123456789"

// only reports whether a text is not empty, and all its characters are in a set.
func only(text, set string) bool { return text != "" && strings.Trim(text, set) == "" }

func unsigned(text string) string {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[1:]
	}
	return text
}
