package claudecube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/rules"
)

const (
	maxDepth    = 20 // a file of this form is six deep
	maxMistakes = 100
)

// A file is YAML that is read strictly, and what is wrong with it.
type file struct {
	src   *rules.Source
	lines [][]byte
	rule  string // that is being read
	errs  rules.Errors
	bad   map[*yaml.Node]bool // nodes that were refused already, which are stepped over

	// Where place was last asked for: it goes on from there, so that a file of one line with a million
	// nodes is not counted through for each.
	lastLine, lastColumn, lastOffset int
}

// fail notes a mistake at a node. A file of thousands of mistakes is not told of all of them.
func (f *file) fail(code string, n *yaml.Node, found, fix string) {
	if len(f.errs) < maxMistakes {
		line, column := f.place(n)
		e := f.src.ErrorAt(code, line, column, found, fix)
		e.Rule = f.rule
		f.errs = append(f.errs, e)
	}
}

// place converts a node's position, whose column counts characters. What is missing at the end of a
// file may be a line behind its last.
func (f *file) place(n *yaml.Node) (line, column int) {
	if n.Line < 1 || n.Line > len(f.lines) {
		return len(f.lines), len(f.lines[len(f.lines)-1]) + 1
	}
	if n.Line != f.lastLine || n.Column < f.lastColumn {
		f.lastLine, f.lastColumn, f.lastOffset = n.Line, 1, 0
	}
	for text := f.lines[n.Line-1]; f.lastColumn < n.Column; f.lastColumn++ {
		_, size := utf8.DecodeRune(text[f.lastOffset:])
		f.lastOffset += size
	}
	return n.Line, f.lastOffset + 1
}

// oddBreak is what YAML 1.1 takes for a line's end, and nobody who counts lines does.
var oddBreak = regexp.MustCompile(`\r([^\n]|\z)|[\x{85}\x{2028}\x{2029}]`)

var yamlPosition = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// document returns the one document of the file, or nil.
func (f *file) document() *yaml.Node {
	f.bad = map[*yaml.Node]bool{}
	refuse := func(code string, line int, found, fix string) *yaml.Node {
		f.errs = append(f.errs, f.src.ErrorAt(code, line, min(line, 1), found, fix))
		return nil
	}
	if len(f.src.Text) > rules.MaxFileBytes {
		return refuse(rules.CodeLimit, 0, fmt.Sprintf("the file has over %d bytes", rules.MaxFileBytes), "split it")
	}
	if e := f.src.Check(); e != nil {
		f.errs = append(f.errs, e)
		return nil
	}
	if at := oddBreak.FindIndex(f.src.Text); at != nil {
		f.errs = append(f.errs, f.src.Error(rules.CodeSyntax, at[0], "a line end that is neither LF nor CRLF", "save the file with one of them"))
		return nil
	}
	f.lines = bytes.Split(f.src.Text, []byte("\n"))
	for i, line := range f.lines {
		if bytes.HasPrefix(line, []byte("%")) {
			return refuse(rules.CodeSyntax, i+1, "a YAML directive", "leave the line out")
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			break
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(f.src.Text))
	root, err := decode(decoder)
	switch {
	case errors.Is(err, io.EOF):
		return refuse(rules.CodeEmpty, 0, "nothing in the file", `write "version:", "defaults:" and "rules:"`)
	case err != nil:
		line := 0
		if m := yamlPosition.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
			line, _ = strconv.Atoi(m[1]) // digits; too many are no line of a file
			line = min(line, len(f.lines))
		}
		return refuse(rules.CodeSyntax, line, "not YAML: "+yamlPosition.ReplaceAllString(err.Error(), ""), "check the indentation, and that each quote and bracket is closed; in single quotes a backslash is a backslash")
	}
	switch second, err := decode(decoder); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return refuse(rules.CodeSyntax, 0, "text behind the end of the document", "leave it out: a file of rules is one YAML document")
	default:
		f.fail(rules.CodeSyntax, second, "a second document", `write all rules into one, without a further "---"`)
		return nil
	}
	if root = root.Content[0]; !f.checkTree(root, 0) {
		return nil
	}
	return root
}

// decode returns the next document. yaml.v3 panics on some malformed text.
func decode(d *yaml.Decoder) (node *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			node, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	node = &yaml.Node{}
	if err := d.Decode(node); err != nil {
		return nil, err
	}
	if len(node.Content) != 1 {
		return nil, errors.New("yaml: not a document")
	}
	return node, nil
}

// checkTree refuses what a file of rules may not use, wherever it is. It returns false if the file
// cannot be walked.
func (f *file) checkTree(n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		f.fail(rules.CodeLimit, n, fmt.Sprintf("nested deeper than %d levels", maxDepth), "a file of rules needs six")
		return false
	}
	found := ""
	switch {
	case n.Kind == yaml.AliasNode:
		found = "the alias " + quoted("*"+n.Value)
	case n.Anchor != "":
		found = "the anchor " + quoted("&"+n.Anchor)
	case f.tagged(n):
		found = "a tag"
	case n.Kind == yaml.ScalarNode && n.Tag == "!!merge":
		found = `the merge key "<<"`
	}
	if found != "" {
		f.bad[n] = true
		f.fail(rules.CodeSyntax, n, found, "write out what is meant, or quote it if it is text")
	}
	seen := map[string]int{}
	for i, child := range n.Content {
		if !f.checkTree(child, depth+1) {
			return false
		}
		if n.Kind != yaml.MappingNode || i%2 == 1 || f.bad[child] {
			continue
		}
		first, twice := seen[child.Value]
		switch {
		case child.Kind != yaml.ScalarNode:
			f.bad[child] = true
			f.fail(rules.CodeKey, child, "a key that is not a text", "write a text before the colon")
		case twice:
			f.bad[child] = true
			f.fail(rules.CodeDuplicate, child, fmt.Sprintf("the key %s is there twice, first in line %d", quoted(child.Value), first), "leave one of them out")
		default:
			seen[child.Value] = child.Line
		}
	}
	return len(f.errs) < maxMistakes
}

// tagged reports whether a node has a tag of its own. yaml.v3 forgets the tag "!", but not that the
// node began with it.
func (f *file) tagged(n *yaml.Node) bool {
	if n.Style&yaml.TaggedStyle != 0 {
		return true
	}
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 && n.Content[0].Line == n.Line && n.Content[0].Column == n.Column {
		return false // it is its first key that begins there
	}
	line, column := f.place(n)
	text := f.lines[line-1]
	return column <= len(text) && text[column-1] == '!'
}

// mapping returns the values of a mapping by their keys, nil if it is none. Keys that are not
// known are mistakes.
func (f *file) mapping(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if f.bad[n] {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		f.fail(rules.CodeType, n, what+" is "+kindName(n), "write "+strings.Join(known, ", ")+" as keys, each with a colon")
		return nil
	}
	values := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case f.bad[key]:
		case !slices.Contains(known, key.Value):
			f.fail(rules.CodeKey, key, fmt.Sprintf("the key %s, which %s does not have", quoted(key.Value), what), "its keys are "+strings.Join(known, ", "))
		default:
			values[key.Value] = value
		}
	}
	return values
}

// need returns the value of a key that must be there: nil, if it is not or was refused.
func (f *file) need(n *yaml.Node, values map[string]*yaml.Node, key, fix string) *yaml.Node {
	value := values[key]
	if value == nil {
		for i := 0; i < len(n.Content); i += 2 {
			if f.bad[n.Content[i]] {
				return nil // it may be the one
			}
		}
		f.fail(rules.CodeValue, n, fmt.Sprintf("no %q", key), fix)
		return nil
	}
	if f.bad[value] {
		return nil
	}
	return value
}

// text returns a text. What YAML takes for a number, a truth value or nothing is not one.
func (f *file) text(n *yaml.Node, what string) (string, bool) {
	if n == nil || f.bad[n] {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		fix := "write a text"
		if n.Kind == yaml.ScalarNode {
			fix = "quote it if it is a text"
		}
		f.fail(rules.CodeType, n, what+" is "+kindName(n), fix)
		return "", false
	}
	return n.Value, true
}

// words is text that says something.
func (f *file) words(n *yaml.Node, what string) (string, bool) {
	text, ok := f.text(n, what)
	if ok && strings.TrimSpace(text) == "" {
		f.fail(rules.CodeValue, n, what+" is empty", "write a text")
		return "", false
	}
	return text, ok
}

func kindName(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	case n.Tag == "!!str":
		return "a text"
	}
	return "the YAML value " + quoted(n.Value)
}

// quoted shows a text of the file within a message, cut if it is very long.
func quoted(s string) string {
	const most = 160
	if len(s) <= most {
		return strconv.Quote(s)
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}
