package formats

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// What some YAML parsers read in one way and some in another is refused here, with its place: a rule that is asked of
// the one reading says nothing about a program that has the other.

// lineEnds are the characters at which a line ends in YAML 1.1, and so for yaml.v3, and not in YAML 1.2.
func lineEnds() []string { return []string{"\u0085", "\u2028", "\u2029"} }

// oneLine puts a character that the text does not have in the place of each of these, one of as many bytes, and
// returns what puts them back; nil if the text has none.
func oneLine(m *meter) ([]byte, *strings.Replacer, error) {
	text := m.text
	var back []string
	for _, end := range lineEnds() {
		if !bytes.Contains(text, []byte(end)) {
			continue
		}
		instead, last := '\u0100', '\u07ff'
		if len(end) == 3 {
			instead, last = '\ue000', '\uf8ff'
		}
		for instead <= last && bytes.ContainsRune(text, instead) {
			instead++
		}
		if instead > last {
			first := bytes.Index(m.text, []byte(end))
			return nil, nil, m.limit(first, "the file has %+q and every letter of other scripts", end)
		}
		text = bytes.ReplaceAll(text, []byte(end), []byte(string(instead)))
		back = append(back, string(instead), end)
	}
	if back == nil {
		return text, nil, nil
	}
	return text, strings.NewReplacer(back...), nil
}

// sameStructure reports whether two readings of a text differ in the texts of scalars at most.
func sameStructure(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Style != b.Style || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) ||
		a.Kind == yaml.AliasNode && a.Value != b.Value || a.Style&yaml.TaggedStyle != 0 && a.Tag != b.Tag {
		return false
	}
	for i := range a.Content {
		if !sameStructure(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// disputed is the error of a text with two structures.
func (y *yamlReader) disputed() error {
	first := len(y.text)
	for _, end := range lineEnds() {
		if i := bytes.Index(y.text, []byte(end)); i >= 0 {
			first = min(first, i)
		}
	}
	r, _ := utf8.DecodeRune(y.text[first:])
	return y.bad(first, "%U ends a line for some YAML parsers and not for others: they read this file differently", r)
}

// merges reports whether a key is a merge, and refuses keys that programs read differently: "<<" in quotes behind a
// "!", which yaml.v2, and so kubectl, takes for a merge; an alias that stands for "<<", which PyYAML does; and what is
// base64 by its tag, which most decode.
func (y *yamlReader) merges(k *yaml.Node, key *built) (bool, error) {
	named := k
	if k.Kind == yaml.AliasNode {
		named = k.Alias
	}
	merge := named.Kind == yaml.ScalarNode && named.Value == "<<" && named.Tag == "!!merge"
	switch {
	case named.Tag == "!!binary":
		return false, y.bad(key.start, "a key with the tag !!binary, which programs read differently")
	case merge && k != named:
		return false, y.bad(key.start, "an alias of the key <<, which some programs take for a merge: write <<")
	case named.Value == "<<" && named.Style&yaml.TaggedStyle == 0 && !merge && y.isTagged(key.node.At.Start):
		return false, y.bad(key.start, "the key << behind a !, which some programs take for a merge: drop the !")
	}
	return merge, nil
}

// checkColon refuses a plain text that ends in a colon in front of what ends it in flow style, at end: of {a:} yaml.v3
// and YAML 1.1 make the key "a:", and YAML 1.2 the key "a".
func (y *yamlReader) checkColon(value string, end int) error {
	if end < 0 || end == len(y.text) || !strings.HasSuffix(value, ":") || !isFlowMark(y.text[end]) {
		return nil
	}
	return y.bad(end-1, "the colon before %q is read differently by YAML parsers: as the end of a key, "+
		"and as part of a text; write a space after the colon, or put the text in quotes", y.text[end])
}

// checkMarks refuses a "?" in front of a key and a ":" behind it that have no space behind them: in flow style yaml.v3
// takes them for the marks of a key and a value, and YAML 1.2 for the first character of a text; a colon only where
// what it follows has neither quotes nor brackets. The text in front of the key ends at after.
func (y *yamlReader) checkMarks(k *yaml.Node, key *built, after int) error {
	mark, _ := y.skipProperties(after)
	mark, _ = y.skipFlowMarks(mark, key.start)
	if mark < key.start && y.text[mark] == '?' && y.isJoined(mark) {
		return y.bad(mark, "the question mark is read differently by YAML parsers: as the mark of a key, "+
			"and as part of it; write a space after it, or put the key in quotes")
	}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	mark = y.skipSpace(key.end)
	if mark < len(y.text) && y.text[mark] == ':' && y.isJoined(mark) && !isFlowMark(y.text[mark+1]) &&
		(k.Kind == yaml.AliasNode || k.Kind == yaml.ScalarNode && k.Style&quoted == 0) {
		return y.bad(mark, "the colon is read differently by YAML parsers: as the end of a key, "+
			"and as part of a text; write a space after the colon, or put the text in quotes")
	}
	return nil
}

// isJoined reports whether something other than space follows the byte at i.
func (y *yamlReader) isJoined(i int) bool { return i+1 < len(y.text) && !isSpace(y.text[i+1]) }

// checkProperties refuses an anchor or a tag at i that ends elsewhere for some parsers: for yaml.v3 an anchor has
// letters, digits, _ and -, and a tag can have commas and brackets. For YAML 1.2, both end at a space or a bracket.
func (y *yamlReader) checkProperties(i int) error {
	for i < len(y.text) && (y.text[i] == '&' || y.text[i] == '!') {
		content, end := y.skipProperty(i)
		switch property := y.text[i:end]; {
		case property[0] == '&' && end < len(y.text) && !isSpace(y.text[end]) && !isFlowMark(y.text[end]):
			return y.bad(i, "the anchor is read differently by YAML parsers: with %q in its name, and without; "+
				"write a space after the name", y.text[end])
		case property[0] == '!' && !bytes.HasPrefix(property, []byte("!<")) && bytes.ContainsAny(property, flowMarks):
			return y.bad(i, "the tag is read differently by YAML parsers: with a comma or bracket in it, and without; "+
				"write a space after the tag")
		}
		i = content
	}
	return nil
}

// flowMarks are the characters at which a text without quotes ends in flow style.
const flowMarks = ",[]{}"

func isFlowMark(c byte) bool { return strings.IndexByte(flowMarks, c) >= 0 }
