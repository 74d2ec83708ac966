// Package keys finds the values at a path of a parsed file, and checks them.
//
// It knows no format: scanner/keys/formats reads each into documents of [Node]s. One walk checks them all.
package keys

import "cmp"

// A Document is a whole file, or one document of a YAML file.
type Document struct {
	Root *Node // never nil; the reader drops null documents
	Head Span  // its first line with content: the place of a missing key at its top
	// Kubernetes is set if kubectl reads objects in this format, so that the document may be a list of them.
	Kubernetes bool
	// Beyond are texts that are JSON and have no Inside, because of a limit: why. A path that would go on in one is a
	// [*BeyondError].
	Beyond map[*Node]string
}

// A Node is a value of a parsed file. Nodes may be shared: an alias refers to the node of its anchor. There is no
// cycle.
type Node struct {
	Kind Kind
	// Tagged is set if a list or mapping has a tag itself, or a YAML merge of a tagged value. It is one value that
	// equals nothing; forbidden items search inside it, required ones do not.
	Tagged bool
	// Shared is set if several entries or items refer to the node, as aliases do. The nodes under it are visited once.
	Shared bool
	// Parted is set if documents are made of the node's content as well as of the node, so that several walks reach
	// it. The nodes under it are visited once.
	Parted bool
	// Header marks the mapping of a block's type or label, whose one entry is the next label or the body: see [Block].
	Header bool
	// Dynamic marks the content of an HCL dynamic block, and all values in it: to a condition they are uncertain.
	Dynamic bool
	// Unsure marks what is in a dynamic block that may bring no block: it does not count as the one value that "any"
	// requires.
	Unsure bool
	// Body marks the mapping of an HCL body: entries of one name are several blocks, not one key twice.
	Body bool

	// At is the node's place: from its first byte, with quotes, anchor and tag (of a block scalar its indicator, of an
	// HCL value its expression), to its last.
	At Span
	// Inside is what is in a Scalar: the value of a text that is JSON as a whole, or of the argument of HCL's
	// jsonencode; nil for any other.
	Inside *Node

	Entries []Entry // of a Mapping, in the order of the file; names may occur more than once
	Items   []*Node // of a List
	// Joined is the text of a List of strings that is a command: forbidden items ask it for is and matches, too.
	Joined *Node
	Scalar Scalar // of a Scalar
}

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
	Named bool // whether Name is a string: only * and ** match a key that is not a scalar, or has variables
	// Hidden marks an entry of a YAML merge that another entry of the mapping with the same name overrides. Forbidden
	// items check it, required ones do not.
	Hidden bool
	// Unsure marks an entry that may never exist: of an HCL dynamic block, or with variables in its key. Its content
	// is checked, but it does not count as a required key.
	Unsure bool
}

// Block returns the entry of an HCL block. A path has a segment for its type and one for each label, so they are
// nested mappings, the body in the innermost. Their place is the header's.
func Block(name string, labels []string, header Span, body *Node) Entry {
	for i := len(labels) - 1; i >= 0; i-- {
		label := Entry{Name: labels[i], Named: true, At: header, Value: body}
		body = &Node{Kind: Mapping, At: header, Header: true, Dynamic: body.Dynamic, Entries: []Entry{label}}
	}
	return Entry{Name: name, Named: true, At: header, Value: body}
}

// A Scalar is a value other than a list or mapping, in all forms in which it may be compared.
type Scalar struct {
	// Texts are the forms that a forbidden item compares, at least one: first the value's own text, escapes resolved
	// and without quotes and tag, then, if it differs, the expression or date as written, and other parsers' readings.
	Texts []string
	// OneIsTrue says that "1" and "0", in quotes or not, were booleans somewhere in the format's history (HCL's).
	OneIsTrue bool
	// Plain marks YAML without quotes: other versions may read another value in Texts[0].
	Plain bool
	// Certain means that the value is known: no application's tag, no variables, no date, and parsers agree. Only then
	// can Texts[0] match a required matches or a matches_not.
	Certain bool
	// Variable marks a value that is tagged or has variables, and so may be anything at a where path.
	Variable bool
	// Exact is the value by the format's own type system, for required items.
	Exact Exact
}

// Exact is a typed value. Two are equal if type and text are; numbers are compared by value.
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

// A Span is a place: byte offsets in the parsed text, from Start up to, not including, End. Nodes in one text have its
// place; In, which is 0 outside of texts, tells them apart.
type Span struct{ Start, End, In int }

func (s Span) compare(other Span) int {
	return cmp.Or(cmp.Compare(s.Start, other.Start), cmp.Compare(s.In, other.In))
}
