package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/scanner/keys"
)

func readYAML(m *meter) ([]keys.Document, error) {
	if i := firstLineEnd(m.text); i >= 0 {
		r, _ := utf8.DecodeRune(m.text[i:])
		m.disputed(i, "%U ends a line for some YAML parsers and not for others; "+
			"remove it, or write it as an escape in double quotes", r)
		return m.settled(nil)
	}
	// yaml.v3 makes all nodes of a document, at half a kilobyte each, before they can be counted.
	if yamlMarks(m.text) > m.bounds.Nodes {
		return nil, m.limit(0, "the file has more than %d commas, brackets, lines and lists in them", m.bounds.Nodes)
	}
	if err := checkTagDirectives(m); err != nil {
		return nil, err
	}
	documents, err := (&yamlReader{meter: &meter{text: m.text, bounds: m.bounds}}).all()
	var parse *ParseError
	if !errors.As(err, &parse) || parse.Disputed {
		return documents, err
	}
	if strings.Contains(parse.Reason, "found a tab character") {
		if text, tabs := hideTabs(m.text); tabs != nil {
			y := &yamlReader{meter: &meter{text: text, bounds: m.bounds}, tabs: tabs}
			if documents, err := y.all(); err == nil && len(y.tabs) == 0 {
				return documents, nil
			}
		}
	}
	if documents, ok := m.asJSON(); ok {
		if len(documents) > 1 {
			m.disputed(parse.Offset, "%s, though some programs read it as JSON", parse.Reason)
		}
		return m.settled(documents)
	}
	return nil, err
}

// asJSON reads a text as JSON without comments: YAML 1.2 allows one value, kubectl several.
func (m *meter) asJSON() ([]keys.Document, bool) {
	if text := bytes.TrimLeft(m.text, " \t\r\n"); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil, false
	}
	j := &jsonReader{meter: &meter{text: m.text, bounds: m.bounds}, strict: true}
	documents, err := j.read()
	return documents, err == nil
}

func (y *yamlReader) all() ([]keys.Document, error) {
	hasMarks := bytes.Contains(y.text, []byte(byteOrderMark))
	y.text = y.prepare(y.text)
	documents, err := y.documents()
	var parse *ParseError
	switch {
	case err == nil:
		return y.settled(documents)
	case errors.As(err, &parse) && hasMarks: // other parsers may treat it as part of a string
		y.disputed(parse.Offset, "%s", parse.Reason)
		return y.settled(nil)
	}
	return nil, err
}

func (y *yamlReader) documents() (documents []keys.Document, err error) {
	text := y.hideSlashes(y.text)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	y.anchors, y.within = map[*yaml.Node]built{}, map[string]int{}
	for ; ; y.document++ {
		document, err := nextYAML(decoder)
		switch {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, y.failed(text, err)
		}
		y.begin = y.offset(document)
		if bytes.HasPrefix(y.text[y.begin:], []byte("---")) {
			y.begin += len("---")
		}
		root, err := y.read(document.Content[0], 1, y.begin)
		if err != nil {
			return nil, err
		}
		if root.node.Kind != keys.Null {
			documents = append(documents, keys.Document{
				Root: root.node, Head: y.head(root.node.At.Start), Kubernetes: true,
			})
		}
	}
}

// nextYAML returns the next document. A panic of yaml.v3 means malformed input.
func nextYAML(d *yaml.Decoder) (document *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			document, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	document = &yaml.Node{}
	if err := d.Decode(document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errors.New("yaml: not a document")
	}
	return document, nil
}

// A yamlReader converts yaml.v3's nodes, one document after the other.
type yamlReader struct {
	*meter
	slash    string       // "", or what hides "\/"
	tabs     map[int]bool // where a tab is hidden, and has not been put back
	anchors  map[*yaml.Node]built
	within   map[string]int // by anchor, the number of its nodes being read
	document int
	begin    int         // the earliest start of this document's root
	merged   int         // entries from merges, in all documents
	block    []keys.Node // the next nodes, made together
	cursor   cursor
	space    keys.Span // the last long one that was skipped
}

// built is a node and its place in the text.
type built struct {
	node   *keys.Node
	text   string // of a scalar that is a key
	start  int    // start of the node's text; of an alias, of the alias
	end    int    // its end
	size   int    // its number of nodes, aliases expanded
	height int    // its number of levels, aliases expanded
	open   bool   // whether the node is still being read
	in     int    // the number of its document
}

// read reads a node at a level; after is the end of the text before it.
func (y *yamlReader) read(n *yaml.Node, level, after int) (b built, err error) {
	start := y.offset(n)
	if n.Kind == yaml.AliasNode {
		return y.alias(n, level, start)
	}
	if n.Kind == yaml.ScalarNode {
		level-- // not a node itself
	}
	if err := y.node(level, start); err != nil {
		return built{}, err
	}
	if len(y.block) == 0 {
		y.block = make([]keys.Node, 32)
	}
	b = built{node: &y.block[0], start: start, size: 1, in: y.document}
	b.node.At.Start, y.block = start, y.block[1:]
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		y.checkProperties(start)
	}
	if n.Anchor != "" {
		y.anchors[n] = built{open: true, in: y.document}
		if y.within[n.Anchor]++; y.within[n.Anchor] > 1 {
			y.disputed(start, "the anchor &%s is within what it names: an alias stands for the one or the other; "+
				"use another name", n.Anchor)
		}
		defer func() {
			y.anchors[n] = b
			y.within[n.Anchor]--
		}()
	}
	switch n.Kind {
	case yaml.MappingNode:
		err = y.mapping(&b, n, level)
	case yaml.SequenceNode:
		err = y.sequence(&b, n, level)
	default:
		y.scalar(&b, n, after)
	}
	b.node.At.End = b.end
	return b, err
}

func (y *yamlReader) alias(n *yaml.Node, level, start int) (built, error) {
	b, known := y.anchors[n.Alias]
	if !known || b.in != y.document {
		y.disputed(start, "the alias *%s has no anchor in its document", n.Value)
	}
	if !known {
		return built{}, y.dispute
	}
	if b.open {
		return built{}, y.limit(start, "the alias *%s is within what it stands for", n.Value)
	}
	if err := y.add(b.size); err != nil {
		return built{}, err
	}
	if err := y.deeper(level+b.height-1, start); err != nil {
		return built{}, err
	}
	b.node.Shared = true
	b.start, b.end = start, start+1+len(n.Value)
	return b, nil
}

func (y *yamlReader) mapping(b *built, n *yaml.Node, level int) error {
	b.node.Kind = keys.Mapping
	if b.node.Tagged = n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!map"; b.node.Tagged {
		y.checkDefault(n, b.start)
	}
	b.height = 1
	b.node.Entries = slices.Grow(b.node.Entries, len(n.Content)/2)
	var merges []merge
	first, end := b.start, b.start
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := y.read(n.Content[i], level+1, end)
		if err != nil {
			return err
		}
		y.checkMarks(n.Content[i], &key, end)
		if i == 0 {
			first = key.start
		}
		y.nodes-- // a key is not a value
		if key.node.Kind == keys.Mapping {
			return y.bad(key.node.At.Start, "a mapping as a key: an unquoted {{ … }} of a template is one")
		}
		value, err := y.read(n.Content[i+1], level+1, key.end)
		if err != nil {
			return err
		}
		end = max(key.end, value.end)
		b.grow(&value)
		isMerge := y.merges(n.Content[i], &key)
		if from, ok := mergeable(value.node); ok && isMerge {
			merges = append(merges, merge{len(b.node.Entries), from})
			tagged := func(n *keys.Node) bool { return n.Tagged }
			b.node.Tagged = b.node.Tagged || value.node.Tagged || slices.ContainsFunc(from, tagged)
			continue
		}
		entry := keys.Entry{At: keys.Span{Start: key.start, End: key.end}, Value: value.node}
		if key.node.Kind != keys.List {
			entry.Name, entry.Named = y.name(n.Content[i], &key), true
		}
		b.node.Entries = append(b.node.Entries, entry)
		if name, ok := rubySymbol(n.Content[i]); ok && entry.Named {
			entry.Name, entry.Hidden, value.node.Shared = name, true, true
			b.node.Entries = append(b.node.Entries, entry)
		}
	}
	if merges != nil {
		if err := y.addMerged(merges, b.start); err != nil {
			return err
		}
		b.node.Entries = merged(b.node.Entries, merges)
	}
	b.end = y.closed(n, b.start, first, end, '{', '}')
	return nil
}

func (b *built) grow(inner *built) {
	b.size += inner.size
	b.height = max(b.height, inner.height+1)
}

// A merge is a key "<<": the entry that it precedes, and its mappings.
type merge struct {
	at   int
	from []*keys.Node
}

// mergeable returns the mappings of a "<<", if it has nothing else.
func mergeable(n *keys.Node) ([]*keys.Node, bool) {
	if n.Kind == keys.Mapping {
		return []*keys.Node{n}, true
	}
	for _, item := range n.Items {
		if item.Kind != keys.Mapping {
			return nil, false
		}
	}
	return n.Items, n.Kind == keys.List
}

func brought(merges []merge) int {
	n := 0
	for _, m := range merges {
		for _, from := range m.from {
			n += len(from.Entries)
		}
	}
	return n
}

// maxMerged bounds the entries from a text's merges, in addition to one per byte. They are copied, so a short text
// could need as much memory as a long one, which is parsed alone.
const maxMerged = 1_000_000

func (y *yamlReader) addMerged(merges []merge, start int) error {
	y.merged += brought(merges)
	if most := maxMerged + len(y.text); y.merged > most {
		return y.limit(start, "the merges (<<) of the file bring more than %d entries", most)
	}
	return nil
}

// merged returns a mapping's entries with the entries of its merges, each at its "<<". The mapping's own entry hides a
// merged one of the same name if it comes after the merge, and in a list of mappings the first one wins. Otherwise
// yaml.v2, and so kubectl, takes the last, yaml.v3 the first, so neither hides the other.
func merged(own []keys.Entry, merges []merge) []keys.Entry {
	last := map[string]int{}
	for i, e := range own {
		if e.Named {
			last[e.Name] = i
		}
	}
	all := make([]keys.Entry, 0, len(own)+brought(merges))
	next := 0
	for _, m := range merges {
		all = append(all, own[next:m.at]...)
		next = m.at
		seen := map[string]bool{}
		for _, from := range m.from {
			var names []string
			for _, e := range from.Entries {
				e.Value.Shared = true
				i, isOwn := last[e.Name]
				e.Hidden = e.Hidden || e.Named && (isOwn && i >= m.at || seen[e.Name])
				if e.Named && !e.Hidden {
					names = append(names, e.Name)
				}
				all = append(all, e)
			}
			for _, name := range names {
				seen[name] = true
			}
		}
	}
	return append(all, own[next:]...)
}

func (y *yamlReader) sequence(b *built, n *yaml.Node, level int) error {
	b.node.Kind = keys.List
	b.node.Tagged = n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!seq"
	b.height = 1
	end, _ := y.skipProperties(b.start)
	for _, child := range n.Content {
		item, err := y.read(child, level+1, end)
		if err != nil {
			return err
		}
		end = max(end, item.end)
		b.grow(&item)
		b.node.Items = append(b.node.Items, item.node)
	}
	b.end = y.closed(n, b.start, -1, end, '[', ']')
	return nil
}
