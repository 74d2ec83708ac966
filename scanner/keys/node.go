// Package keys finds what a path reaches in a parsed file, and judges the values there.
//
// It knows no format: a reader for each (scanner/keys/formats) makes documents of [Node]s. One walk judges them all.
package keys

// A Document is one document of a file: a whole file, or one of those in a YAML file.
type Document struct {
	Root *Node // never nil; a null document is left out by the reader
	Head Span  // its first line with content: the place of a missing key at its top
	// Kubernetes says that kubectl reads objects in this format, so that the document may be a list of them.
	Kubernetes bool
}

// A Node is a value of a parsed file. Nodes may be shared: an alias leads to the node of its anchor. There is no cycle.
type Node struct {
	Kind Kind
	// At is the node's place: from its first byte, with quotes, anchor and tag (of a block scalar its indicator, of an
	// HCL value its expression), to its last.
	At Span
	// Tagged is set if a list or mapping has a tag itself, or a YAML merge of a tagged value. It is one value that
	// equals nothing; forbidden items search inside it, required ones do not.
	Tagged bool
	// Shared is set if several entries or items refer to the node, as aliases do. The nodes under it are visited once.
	Shared bool
	// Parted is set if documents are made of the node's content as well as of the node, so that several walks reach
	// it. The nodes under it are visited once.
	Parted bool
	// Header says that a mapping is a type or label of a block, of which its one entry is the next: see [Block].
	Header bool

	Entries []Entry // of a Mapping, in the order of the file; names may occur more than once
	Items   []*Node // of a List
	Scalar  Scalar  // of a Scalar
}

// Kind is what a node is.
type Kind uint8

// The kinds of node. An HCL block's body is a Mapping.
const (
	Null Kind = iota
	ScalarNode
	Mapping
	List
)

// An Entry is a key and its value, or the header of an HCL block and its body: see [Block].
type Entry struct {
	Name  string
	At    Span // the key, the block's header or the table's header
	Value *Node
	Named bool // whether Name is a text at all: a key that is no scalar, or has variables, is matched by * and ** only
	// Hidden says that a YAML merge brings this entry, and another entry of the mapping with the same name counts
	// instead. Forbidden items look at it, required ones do not.
	Hidden bool
	// Unsure says that the entry may never exist: of an HCL dynamic block, and of a key with variables. Its content is
	// checked, but it does not meet a required key.
	Unsure bool
}

// Block returns the entry of an HCL block. A path has a segment for its type and one for each label, so they are
// mappings in each other, the body in the innermost. Their place is the header's.
func Block(name string, labels []string, header Span, body *Node) Entry {
	for i := len(labels) - 1; i >= 0; i-- {
		label := Entry{Name: labels[i], Named: true, At: header, Value: body}
		body = &Node{Kind: Mapping, At: header, Header: true, Entries: []Entry{label}}
	}
	return Entry{Name: name, Named: true, At: header, Value: body}
}

// A Scalar is a value that is neither list nor mapping, in each way in which it may be compared.
type Scalar struct {
	// Texts are what a forbidden item compares, at least one: first the value's own text, escapes resolved and without
	// quotes and tag, then, if it differs, the expression or date as written, and what other parsers make of it.
	Texts []string
	// OneIsTrue says that "1" and "0", in quotes or not, were booleans somewhere in the format's history (HCL's).
	OneIsTrue bool
	// Plain says that it is YAML without quotes: other versions may read another value in Texts[0].
	Plain bool
	// Certain says that the value is known: no tag of the author's own, no variables, no date, and parsers agree. Only
	// then Texts[0] can be what a required matches or a matches_not asks for.
	Certain bool
	// Variable says that the value is tagged or has variables, and so may be anything at a where path.
	Variable bool
	// Exact is the value by the format's own type system, for required items.
	Exact Exact
}

// Exact is a typed value. Two are equal if they are the same type and the same text; numbers are compared by value.
type Exact struct {
	Type ExactType
	Text string // the text; of a number a spelling that Decimal reads; of a boolean "true" or "false"
}

// ExactType is the type of an exact value.
type ExactType uint8

// The types. Nothing equals a value without a type: an expression, a tagged value, a TOML date, an infinity.
const (
	NoType ExactType = iota
	ExactText
	ExactNumber
	ExactBool
)

// A Span is a place: offsets of bytes in the text that was parsed, from Start up to, not including, End.
type Span struct{ Start, End int }
