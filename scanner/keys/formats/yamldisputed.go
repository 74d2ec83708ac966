package formats

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Text that YAML parsers read differently is disputed, with its place: a rule checked against one reading proves
// nothing about a program with the other.

// firstLineEnd returns the offset of the first line end of YAML 1.1 that YAML 1.2 does not have, or -1.
func firstLineEnd(text []byte) int {
	return bytes.IndexFunc(text, func(r rune) bool { return r == '\u0085' || r == '\u2028' || r == '\u2029' })
}

// merges reports whether a key is a merge, if its value can be one. Programs differ on a "<<" after a "!", a merge for
// kubectl's yaml.v2; on an alias of "<<" and another key tagged !!merge, merges for PyYAML.
func (y *yamlReader) merges(k *yaml.Node, key *built) bool {
	named := anchored(k)
	merge := named.Value == "<<" && named.Tag == "!!merge"
	switch {
	case merge && k != named:
		y.disputed(key.start, "an alias of the key <<, which some programs take for a merge: write <<")
	case named.Tag == "!!merge" && !merge:
		y.disputed(key.start, "a key with the tag !!merge, which some programs take for a merge: drop the tag")
		return true
	case merge || named.Value != "<<" || named.Style&yaml.TaggedStyle != 0:
	case y.isTagged(key.node.At.Start):
		y.disputed(key.start, "the key << behind a !, which some programs take for a merge: drop the !")
		return true
	}
	return merge
}

// anchored returns the node that an alias stands for, or the node itself.
func anchored(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// checkDefault refuses a tagged mapping with the key "=": PyYAML reads the value of that key.
func (y *yamlReader) checkDefault(n *yaml.Node, start int) {
	for i := 0; i < len(n.Content); i += 2 {
		if k := anchored(n.Content[i]); k.Tag == "!!value" || k.Value == "=" && k.Style == 0 {
			y.disputed(start, "a mapping with a tag and the key =, whose value some programs take; drop the tag")
		}
	}
}

// isLoose reports whether only some programs can read a value with a tag of YAML, as PyYAML does: !!bool tRuE, and
// !!int " 1 " or with other digits than 0 to 9.
func isLoose(tag, text string) bool {
	switch tag {
	case "!!bool":
		bare, words := strings.ToLower(text), []string{"true", "false", "yes", "no", "on", "off"}
		return slices.Contains(words, bare) && text != strings.ToUpper(bare) && text[1:] != bare[1:]
	case "!!int", "!!float":
		bare := strings.ToLower(strings.TrimSpace(text))
		isDigit := func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) }
		return len(bare) < len(text) || strings.ContainsFunc(text, isDigit) ||
			strings.HasPrefix(unsigned(bare), "inf") || bare == "nan"
	}
	return false
}

// rubySymbol returns the name of a symbol of Ruby, :name, which GitLab reads as that name.
func rubySymbol(n *yaml.Node) (name string, ok bool) {
	n = anchored(n)
	name, ok = strings.CutPrefix(n.Value, ":")
	if strings.IndexAny(name, `"'`) == 0 {
		name = strings.Trim(name, `"'`)
	}
	return name, ok && name != "" && n.Kind == yaml.ScalarNode && n.Style == 0
}

// name is the text of a key. Most programs decode a key with a base64 tag.
func (y *yamlReader) name(k *yaml.Node, key *built) string {
	if anchored(k).Tag != "!!binary" {
		return key.text
	}
	y.disputed(key.start, "a key with the tag !!binary, which programs read differently")
	if decoded, err := base64.StdEncoding.DecodeString(withoutSpace(key.text)); err == nil {
		return string(decoded)
	}
	return key.text
}

// checkColon refuses a plain scalar with a final colon, ended by flow style at end: {a:} has the key "a:" for yaml.v3
// and YAML 1.1, and the key "a" for YAML 1.2.
func (y *yamlReader) checkColon(value string, end int) {
	if end >= 0 && end < len(y.text) && strings.HasSuffix(value, ":") && isFlowMark(y.text[end]) {
		y.disputed(end-1, "the colon before %q is read differently by YAML parsers; "+
			"write a space after the colon, or put the text in quotes", y.text[end])
	}
}

// checkMarks refuses a "?" before a key and a ":" after it without a space after them: in flow style yaml.v3 reads
// them as the indicators of key and value, YAML 1.2 as the first character of a string; a colon only if the text
// before it has neither quotes nor brackets. The text before the key ends at after.
func (y *yamlReader) checkMarks(k *yaml.Node, key *built, after int) {
	mark, _ := y.skipProperties(after)
	mark, _ = y.skipFlowMarks(mark, key.start)
	if mark < key.start && y.text[mark] == '?' && y.isJoined(mark) {
		y.disputed(mark, "the question mark is read differently by YAML parsers; "+
			"write a space after it, or put the key in quotes")
	}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	mark = y.skipSpace(key.end)
	if mark < len(y.text) && y.text[mark] == ':' && y.isJoined(mark) && !isFlowMark(y.text[mark+1]) &&
		(k.Kind == yaml.AliasNode || k.Kind == yaml.ScalarNode && k.Style&quoted == 0) {
		y.disputed(mark, "the colon is read differently by YAML parsers; "+
			"write a space after the colon, or put the text in quotes")
	}
}

func (y *yamlReader) isJoined(i int) bool { return i+1 < len(y.text) && !isSpace(y.text[i+1]) }

// checkProperties refuses an anchor or a tag at i that parsers end differently: for yaml.v3 an anchor has letters,
// digits, _ and -, and a tag can have commas and brackets. For YAML 1.2, both end at a space or a bracket.
func (y *yamlReader) checkProperties(i int) {
	for i < len(y.text) && (y.text[i] == '&' || y.text[i] == '!') {
		content, end := y.skipProperty(i)
		switch property := y.text[i:end]; {
		case property[0] == '&' && end < len(y.text) && !isSpace(y.text[end]) && !isFlowMark(y.text[end]):
			y.disputed(i, "the anchor is read differently by YAML parsers; "+
				"write a space after its name")
		case property[0] == '!' && !bytes.HasPrefix(property, []byte("!<")) && bytes.ContainsAny(property, flowMarks):
			y.disputed(i, "the tag is read differently by YAML parsers; "+
				"write a space after the tag")
		}
		i = content
	}
}

// flowMarks are the characters that end a plain scalar in flow style.
const flowMarks = ",[]{}"

func isFlowMark(c byte) bool { return strings.IndexByte(flowMarks, c) >= 0 }
