package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/internal/late"
)

// document parses the single YAML document of a file, and refuses YAML features that a bundle may not use. It returns
// nil if there is nothing to walk.
func (d *YAML) document(content []byte) *yaml.Node {
	if len(content) > MaxFileBytes {
		d.fail(CodeLimit, Place{}, fmt.Sprintf("larger than %d bytes", MaxFileBytes), "write fewer or shorter rules")
		return nil
	}
	d.text = bytes.TrimPrefix(content, []byte(byteOrderMark))
	d.lines = []int{0}
	for i, c := range d.text {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	if !d.checkText() || !d.checkDirectives() {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(d.text))
	root, err := decode(decoder)
	if errors.Is(err, io.EOF) {
		d.fail(CodeEmpty, Place{}, "the file is empty", "write "+d.form.File)
		return nil
	}
	if err != nil {
		d.syntax(err)
		return nil
	}
	switch second, err := decode(decoder); {
	case errors.Is(err, io.EOF):
	case err != nil:
		d.fail(CodeSyntax, Place{d.lineAfterEnd(), 1}, "text after the end of the document",
			"remove it: a rule file is one YAML document")
		return nil
	default:
		d.fail(CodeSyntax, d.Place(second), "a second document",
			`write all rules into one document, without a further "---"`)
		return nil
	}
	return root.Content[0]
}

// decode returns the next document. yaml.v3 panics on some malformed input; decode returns an error instead.
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

// A cursor is a character of a line and the byte where it begins, both 0-based.
type cursor struct{ line, chars, offset int }

// Place returns the position of a value. yaml.v3 counts characters, and a file may be one line of 4 MiB with a million
// nodes, so counting continues from the previous node.
func (d *YAML) Place(n *yaml.Node) Place {
	line, chars := d.line(n.Line), n.Column-1
	if d.ascii {
		return Place{n.Line, min(max(chars, 0), len(line)) + 1}
	}
	c := &d.cursor
	if c.line != n.Line {
		*c = cursor{line: n.Line}
	}
	for ; c.chars < chars && c.offset < len(line); c.chars++ {
		_, size := utf8.DecodeRune(line[c.offset:])
		c.offset += size
	}
	for ; c.chars > max(chars, 0); c.chars-- {
		_, size := utf8.DecodeLastRune(line[:c.offset])
		c.offset -= size
	}
	return Place{n.Line, c.offset + 1}
}

func (d *YAML) source(at Place) []byte {
	line := d.line(at.Line)
	if at.Column < 1 || at.Column > len(line) {
		return nil
	}
	return line[at.Column-1:]
}

func (d *YAML) checkDirectives() bool {
	for n := 1; n <= len(d.lines); n++ {
		line := bytes.TrimLeft(d.line(n), " \t")
		switch {
		case len(line) == 0 || line[0] == '#':
		case line[0] == '%':
			d.fail(CodeSyntax, Place{n, 1}, "a YAML directive", "remove the line")
			return false
		default:
			return true
		}
	}
	return true
}

// lineAfterEnd returns the first line after the document that is not valid.
func (d *YAML) lineAfterEnd() int {
	for n := 1; n <= len(d.lines); n++ {
		if rest, ok := bytes.CutPrefix(d.line(n), []byte("...")); ok {
			rest = bytes.TrimSpace(rest)
			if len(rest) > 0 && rest[0] != '#' {
				return n
			}
			for n++; n <= len(d.lines); n++ {
				if line := bytes.TrimSpace(d.line(n)); len(line) > 0 && line[0] != '#' {
					return n
				}
			}
		}
	}
	return len(d.lines)
}

var (
	yamlPosition  = late.Regexp(`^yaml: (?:line (\d+): )?`)
	unknownAnchor = late.Regexp(`^unknown anchor '(.*)' referenced$`)
)

func (d *YAML) syntax(err error) {
	problem := yamlPosition().ReplaceAllString(err.Error(), "")
	if strings.Contains(problem, "exceeded max depth") {
		d.fail(CodeLimit, Place{}, fmt.Sprintf("nested deeper than %d levels", maxDepth), "a rule file needs six")
		return
	}
	if m := unknownAnchor().FindStringSubmatch(problem); m != nil {
		for n := range d.lines {
			if d.suspect(n+1, "*"+m[1]) {
				return
			}
		}
	}
	line := d.lineOfError(err)
	if d.suspect(line, "") {
		return
	}
	fix := "check the indentation, and that each quote and bracket is closed"
	if strings.Contains(problem, "escape character") {
		fix = "use single quotes, in which a backslash is a backslash"
	}
	d.fail(CodeSyntax, Place{line, 0}, "not YAML: "+problem, fix)
}

// maxProbeBytes is the size of a file above which the line of a syntax error is yaml.v3's.
const maxProbeBytes = 256 << 10

// lineOfError finds the line of a syntax error: the one after the longest run of lines that is valid YAML. yaml.v3
// often names the line of the enclosing block, and sometimes no line; but the number of lines that it had read shows
// where to look.
func (d *YAML) lineOfError(err error) int {
	line := 1
	if m := yamlPosition().FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		if n, err := strconv.Atoi(m[1]); err == nil { // too large a number is not a line of the file
			line = min(n, len(d.lines))
		}
	}
	if len(d.text) > maxProbeBytes {
		return line
	}
	lines := &lineReader{text: d.text}
	_, _ = decode(yaml.NewDecoder(lines)) // fails as before
	for n := lines.read - 1; n > 0 && n >= lines.read-20; n-- {
		_, err := decode(yaml.NewDecoder(bytes.NewReader(d.text[:d.lines[n]])))
		if err == nil || errors.Is(err, io.EOF) {
			return n + 1
		}
	}
	return line
}

type lineReader struct {
	text []byte
	read int
}

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	end := bytes.IndexByte(r.text, '\n') + 1
	if end == 0 {
		end = len(r.text)
	}
	n := copy(p, r.text[:end])
	r.text = r.text[n:]
	if n == end {
		r.read++
	}
	return n, nil
}

// checkTree refuses anchors, aliases, merge keys, tags, duplicate keys, keys that are not strings, and deep nesting,
// anywhere below n. It marks the nodes that the walk must skip, so that each mistake is reported once. It returns
// false if n is too deep to be walked at all.
func (d *YAML) checkTree(n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		d.fail(CodeLimit, d.Place(n), fmt.Sprintf("nested deeper than %d levels", maxDepth), "a rule file needs six")
		return false
	}
	d.checkNode(n)
	var keys map[string]Place
	if n.Kind == yaml.MappingNode {
		keys = make(map[string]Place, len(n.Content)/2)
	}
	for i, child := range n.Content {
		if d.batch.full || !d.checkTree(child, depth+1) {
			return false
		}
		if n.Kind != yaml.MappingNode || i%2 == 1 || d.bad[child] {
			continue
		}
		at := d.Place(child)
		if child.Kind != yaml.ScalarNode {
			d.bad[child] = true
			d.fail(CodeKey, at, "a key that is not a string", "write a string before the colon")
			continue
		}
		if first, twice := keys[child.Value]; twice {
			d.bad[child] = true
			d.fail(CodeDuplicate, at,
				fmt.Sprintf("duplicate key %s, first on line %d", Quoted(child.Value), first.Line),
				"remove one of them")
			continue
		}
		keys[child.Value] = at
	}
	return true
}

func (d *YAML) checkNode(n *yaml.Node) {
	at := d.Place(n)
	refuse := func(found, fix string) {
		d.bad[n] = n.Kind == yaml.ScalarNode || n.Kind == yaml.AliasNode
		d.fail(CodeSyntax, at, found, fix)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		refuse("the alias "+Quoted("*"+n.Value), "write out what it refers to, or quote it if it is text")
	case n.Anchor != "":
		refuse("the anchor "+Quoted("&"+n.Anchor), "remove it, or quote it if it is text")
	case d.tagged(n, at):
		tag, _, _ := bytes.Cut(d.source(at), []byte(" "))
		refuse("the tag "+Quoted(string(tag)), "remove it, or quote it if it is text")
	case n.Kind == yaml.ScalarNode && n.Tag == "!!merge":
		refuse(`the merge key "<<"`, "write the keys out")
	}
}

// tagged reports whether a node has its own tag. yaml.v3 drops the tag "!", but not its position.
func (d *YAML) tagged(n *yaml.Node, at Place) bool {
	if n.Style&yaml.TaggedStyle != 0 {
		return true
	}
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 && d.Place(n.Content[0]) == at {
		return false // its first key begins there
	}
	return bytes.HasPrefix(d.source(at), []byte("!"))
}
