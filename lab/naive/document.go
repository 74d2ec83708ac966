package naive

import (
	"slices"
	"strconv"
	"strings"
)

// A Document is one document of a file, as who wrote the file means it: nothing here reads a file.
type Document struct {
	Root *Node
	Head int  // the first line with content, for what the document lacks, an offset like all of them; -1 without one
	Open bool // it is an item of a list with a tag, and may be anything
	// Lists says that the format is YAML or JSON, where a document can be a list of Kubernetes.
	Lists  bool
	Tagged bool // it is inside a list or mapping with a tag, where nothing required is reached
}

// A Parsed is what is known of a content in a format.
type Parsed struct {
	Documents []Document // without the empty ones
	Code      string     // the error of a content that cannot be judged: E_PARSE or E_LIMIT
	Disputed  bool       // with E_PARSE: some program reads it, as these documents
	Template  bool       // with E_PARSE: nobody does, and it has the mark of a template
	Starts    []int      // for each offset in the text, and its end, the one in the content; nil if they are the same
}

// A NodeKind is what a node is.
type NodeKind string

const (
	ScalarNode  NodeKind = "scalar"
	NullNode    NodeKind = "null"
	ListNode    NodeKind = "list"
	MappingNode NodeKind = "mapping" // or a block, or the labels of one
)

// A Node is a value. Several keys may lead to one, by aliases.
type Node struct {
	Kind    NodeKind
	At      int     // its first byte, quotes, anchor and tag included
	Tagged  bool    // it has a tag that is not a core one
	Scalar  Scalar  // of a scalar
	Items   []*Node // of a list
	Entries []Entry // of a mapping
	Label   bool    // its only entry is a label of a block
	Sub     string  // which of several that share the place
	Encoded *Node   // of an expression: the object or list that jsonencode is given
	Joined  *Node   // of a list: the JSON form of a Dockerfile as one text
}

// An Entry is a key and its value.
type Entry struct {
	Key    string
	Any    bool // it has no text: a mapping, or an expression
	At     int  // the key, or the header of a block or table
	Hidden bool // by a key that is nearer, or by an earlier merge
	Unsure bool // it may never exist: a dynamic block, or a key of HCL with variables
	Value  *Node
	// Dynamic says that it is a dynamic block, and Block that it is a block, which is not one key with others.
	Dynamic, Block bool
	Sub            string // which of several that share the place
	Also           []int  // further places of the key: an instruction has several
}

// A Scalar is a value that is not a collection, and not null.
type Scalar struct {
	Texts  []string // with any of which a forbidden text is compared, and which a forbidden matches asks
	Exact  Value    // the value in the format; of no kind if that takes evaluation
	Asked  string   // by a required matches and by matches_not, if the exact value is of a kind
	Open   bool     // it may be anything: tagged, or an expression
	Plain  bool     // YAML whose versions may differ: without quotes, or with a tag of a number or a boolean
	Binary bool     // HCL or JSON of Terraform, where "1" and "0" are booleans
	// Template is the text that a template of HCL makes, each ${…} in it between holeStart and holeEnd; empty without
	// one, and with a directive.
	Template string
}

// values calls visit for each value that a node at the end of a path stands for. A list with a tag is one; its items
// are more, if the reader looks inside.
func values(n *Node, inside bool, visit func(*Node)) {
	if n.Kind != ListNode || n.Tagged || len(n.Items) == 0 {
		visit(n)
	}
	if n.Kind == ListNode && (inside || !n.Tagged) {
		for _, item := range n.Items {
			values(item, inside, visit)
		}
	}
}

// A splitting is how a file falls into documents.
type splitting struct {
	required bool
	narrow   bool // the item has where or each
}

// split are those documents: a list at the top is one for each item, and so are the items of a document with a kind and
// items, as kubectl takes them, whatever the kind is. Only with an apiVersion it is certain that it is such a list.
func (s splitting) split(documents []Document) []Document {
	var all []Document
	for _, d := range documents {
		all = append(all, s.one(d, nil)...)
	}
	return all
}

// one splits a document; kinds are what the list around it says of its kind.
func (s splitting) one(d Document, kinds []Entry) []Document {
	var all []Document
	switch {
	case d.Root.Kind == NullNode:
		return nil
	case d.Root.Kind == ListNode:
		if d.Root.Tagged && s.required {
			all = append(all, d)
		}
		for _, item := range d.Root.Items {
			tagged := d.Root.Tagged
			all = append(all, s.one(Document{item, item.At, d.Open || tagged, d.Lists, d.Tagged || tagged}, kinds)...)
		}
		return all
	}
	whole := withKind(d, kinds)
	var says []Entry
	lists, onlyLists, onlyList, versioned := []*Node{}, !d.Root.Tagged, true, false
	for _, e := range d.Root.Entries {
		v := e.Value
		switch {
		case e.Any || e.Hidden && s.required:
		case e.Key == "apiVersion":
			versioned = versioned || v.Kind != NullNode
		case e.Key == "kind":
			text := v.Scalar.Exact.Text
			if v.Scalar.Exact.Kind != textKind {
				text = ""
			}
			onlyLists = onlyLists && strings.HasSuffix(text, "List")
			onlyList = onlyList && text == "List"
			if saysKind(v) {
				says = append(says, e)
			}
		case e.Key == "items" && v.Kind == ListNode:
			lists = append(lists, v)
		case e.Key == "items":
			onlyLists = false
		}
	}
	if len(says) == 0 || len(lists) == 0 || !d.Lists || s.required && !s.narrow && !versioned {
		return []Document{whole}
	}
	// Required items do not apply to a list by its kind, but items that select documents or nodes
	// do, for it may be a document of that kind.
	if !s.required || !onlyLists || !versioned || s.narrow && !onlyList {
		all = append(all, whole)
	}
	var given []Entry
	for _, e := range says {
		if text := strings.TrimSuffix(e.Value.Scalar.Texts[0], "List"); text != "" {
			of := *e.Value
			of.Scalar.Texts = []string{text}
			of.Scalar.Exact.Text, of.Scalar.Asked = text, text
			given = append(given, Entry{Key: "kind", At: e.At, Hidden: true, Value: &of})
		}
	}
	for _, list := range lists {
		open := d.Open || d.Root.Tagged || len(given) > 1
		items := Document{list, list.At, open, true, d.Tagged || d.Root.Tagged}
		for _, one := range s.one(items, given) {
			if one.Root != list { // the document has the list
				all = append(all, one)
			}
		}
	}
	return all
}

// saysKind reports whether the value of kind says one.
func saysKind(v *Node) bool { return v.Kind == ScalarNode && v.Scalar.Texts[0] != "" }

// withKind is a document with the kinds that the list around it gives to one without a kind. It does not have them.
func withKind(d Document, kinds []Entry) Document {
	has := func(e Entry) bool { return e.Key == "kind" && !e.Any && saysKind(e.Value) }
	if len(kinds) == 0 || d.Root.Kind != MappingNode || slices.ContainsFunc(d.Root.Entries, has) {
		return d
	}
	root := *d.Root
	root.Entries = slices.Concat(root.Entries, kinds)
	d.Root = &root
	return d
}

// formats are the formats of names, by their ends.
func formats() map[string]string {
	return map[string]string{
		".yaml": "yaml", ".yml": "yaml", ".json": "json", ".jsonc": "json", ".tf.json": terraformJSON, ".tofu.json": terraformJSON,
		".tf": "hcl", ".tofu": "hcl", ".tfvars": "hcl", ".hcl": "hcl", ".toml": "toml",
	}
}

// terraformJSON is JSON in which texts can be templates. Only a name says so.
const terraformJSON = "terraform json"

// dockerFormat is the one format that this package reads by itself.
const dockerFormat = "dockerfile"

// formatOf is the format of a path by its name, or empty.
func formatOf(path string) string {
	best := ""
	name := lower(path[strings.LastIndex(path, "/")+1:])
	for _, word := range []string{"dockerfile", "containerfile"} {
		is := name == word || strings.HasPrefix(name, word+".") || strings.HasSuffix(name, "."+word)
		if is && !strings.HasSuffix(name, ".dockerignore") && formats()[name[max(strings.LastIndex(name, "."), 0):]] == "" {
			return dockerFormat
		}
	}
	for end := range formats() {
		if strings.HasSuffix(lower(path), end) && len(end) > len(best) {
			best = end
		}
	}
	return formats()[best]
}

// Meant is the key of [Scan.Parsed].
func Meant(format, content string) string { return format + "\x00" + content }

// parsed returns what a file means to an item, or the code of the error; [unasked] if the item is not asked of it, and
// [unknown] if that is not known.
func parsed(item Item, f File, known map[string]*Parsed) (*Parsed, string) {
	if f.Kind != Regular || isPointer(f.Content) {
		return nil, unasked
	}
	format := item.Key.Format
	if format == "" || format == "json" && formatOf(f.Path) == terraformJSON {
		if format = formatOf(f.Path); format == "" {
			return nil, "E_FORMAT"
		}
	}
	p := known[Meant(format, f.Content)]
	if format == dockerFormat {
		text, starts := decoded(f.Content)
		p = parseDockerfile(text)
		p.Starts = starts
	}
	if p == nil {
		return nil, unknown
	}
	return p, p.Code
}

const (
	unasked = "not asked"
	unknown = "not known"
)

// ask returns where a file breaks an item with a key, what the file means, and what kept it from being asked.
func ask(item Item, required bool, f File, known map[string]*Parsed) (places []spot, p *Parsed, code string) {
	p, code = parsed(item, f, known)
	if code == "" || p != nil && p.Disputed && !required {
		var limited bool
		if places, limited = item.Key.brokenIn(p.Documents, required); limited {
			return nil, p, "E_LIMIT"
		}
	}
	return places, p, code
}

// contains reports whether a file has one of the items of containing, or may have one; code is such an item's error.
func (r Rule) contains(f File, known map[string]*Parsed) (has bool, code string) {
	for _, item := range r.Containing {
		if item.Key == nil {
			has = has || isPointer(f.Content) || len(item.Find(f.Content)) > 0
			continue
		}
		places, _, wrong := ask(item, false, f, known)
		has = has || len(places) > 0 || wrong != ""
		if wrong == "E_LIMIT" || wrong == unknown {
			code = wrong
		}
	}
	return has || r.Containing == nil, code
}

// isUnparsable reports whether one of the rule's items with a key cannot be asked of a file since it cannot be parsed.
func (r Rule) isUnparsable(f File, known map[string]*Parsed) bool {
	return slices.ContainsFunc(slices.Concat(r.Forbidden, r.Absent, r.Required), func(item Item) bool {
		if item.Key == nil {
			return false
		}
		_, code := parsed(item, f, known)
		return code == "E_PARSE"
	})
}

// unparsed returns the codes of what kept items with a key from being asked of a file, each once.
func unparsed(b *Bundle, f File, known map[string]*Parsed) []string {
	var codes []string
	for _, r := range b.Enforced() {
		if !r.Selects(f.Path) {
			continue
		}
		has, code := r.contains(f, known)
		if code != "" {
			codes = append(codes, code)
		}
		for _, item := range slices.Concat(r.Forbidden, r.Absent, r.Required) {
			if item.Key == nil || !has || r.TextAlone {
				continue
			}
			required := slices.ContainsFunc(r.Required, func(i Item) bool { return i.Key == item.Key })
			switch _, p, code := ask(item, required, f, known); {
			case code == "" || code == unasked || code == "E_PARSE" && r.UnparsableText && p.Template:
			default:
				codes = append(codes, code)
			}
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// broken is the violation of an item with a key, if there are places.
func broken(kind string, item Item, f File, p *Parsed, places []spot) []Violation {
	if len(places) == 0 {
		return nil
	}
	e := markOf(f.Content)
	v := Violation{Kind: kind, Pattern: item.Name, Occurrences: len(places)}
	var offsets []string
	for _, place := range places {
		offset := max(place.at, 0)
		if p.Starts != nil && place.at >= 0 {
			offset = p.Starts[offset]
		}
		if offsets == nil {
			v.Offset = offset
			v.Line, v.Column = position(f.Content, e, 0, offset)
		}
		offsets = append(offsets, strconv.Itoa(offset))
	}
	if places[0].at >= 0 { // else the file as a whole lacks it
		v.Places = strings.Join(offsets, " ")
	}
	return []Violation{v}
}
