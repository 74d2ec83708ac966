package editor

import (
	"bytes"
	"strings"
)

// An outline is the keys and scalars of a YAML text, read by its indentation and brackets alone: a text that is being
// typed is mostly no YAML. Items of a list are below the key of the list.
type outline struct {
	nodes []node
	block []int  // the keys whose lines are open at the end, outermost first
	flow  []flow // the braces and brackets that are open at the end
}

// A flow is a mapping or a list in brackets.
type flow struct {
	key       int // the key of which it is the value, or an item; -1 without one
	isMapping bool
	current   int // the key whose value is read; -1 before it
}

// A node is a key, or a scalar.
type node struct {
	text       string // without quotes
	isKey      bool
	start, end int // offsets, quotes included
	column     int // of a key outside of brackets, in bytes
	parent     int // the key above; -1 without one
}

// path returns the keys from the top to a node, joined by spaces. A key itself is included.
func (o *outline) path(at int) string {
	path := ""
	for ; at >= 0; at = o.nodes[at].parent {
		if o.nodes[at].isKey {
			path = o.nodes[at].text + " " + path
		}
	}
	return strings.TrimSuffix(path, " ")
}

// at returns the node at an offset, or -1.
func (o *outline) at(offset int) int {
	for i := range o.nodes {
		if n := &o.nodes[i]; n.start <= offset && offset <= n.end {
			return i
		}
	}
	return -1
}

// above returns the key whose mapping or list has something at a column after all nodes so far, or -1.
func (o *outline) above(column int) int {
	for i := len(o.block) - 1; i >= 0; i-- {
		if o.nodes[o.block[i]].column < column {
			o.block = o.block[:i+1]
			return o.block[i]
		}
	}
	o.block = nil
	return -1
}

func readOutline(b []byte) *outline {
	o := &outline{}
	blockColumn := -1 // of a key or item with a block scalar, in which there are no keys
	at := 0
	for line := range bytes.Lines(b) {
		content := bytes.TrimRight(line, "\r\n")
		indent := len(content) - len(bytes.TrimLeft(content, " "))
		switch {
		case len(o.flow) > 0:
			o.readFlow(b, at, at+len(content))
		case indent == len(content), blockColumn >= 0 && indent > blockColumn:
		default:
			blockColumn = o.readLine(b, at, at+len(content))
		}
		at += len(line)
	}
	return o
}

// readLine reads a line outside of brackets. It returns the column of a key or item with a block scalar, or -1.
func (o *outline) readLine(b []byte, lineStart, end int) int {
	at, column := lineStart, 0
	space := func() {
		for at < end && (b[at] == ' ' || b[at] == '\t') {
			at++
		}
	}
	for space(); at < end && b[at] == '-' && (at+1 == end || b[at+1] == ' '); space() {
		column = at - lineStart
		at++
	}
	parent := o.above(at - lineStart)
	text, next := scalarAt(b, at, end, false)
	if next > at && next < end && b[next] == ':' && b[at] != '{' && b[at] != '[' {
		column = at - lineStart
		o.nodes = append(o.nodes, node{text, true, at, next, column, parent})
		parent, at = len(o.nodes)-1, next+1
		o.block = append(o.block, parent)
		space()
		text, next = scalarAt(b, at, end, false)
	}
	switch {
	case at == end:
	case b[at] == '|' || b[at] == '>':
		return column
	case b[at] == '{' || b[at] == '[':
		o.flow = []flow{{parent, b[at] == '{', -1}}
		o.readFlow(b, at+1, end)
	case next > at:
		o.nodes = append(o.nodes, node{text, false, at, next, 0, parent})
	}
	return -1
}

// readFlow reads a line, or its rest, within brackets.
func (o *outline) readFlow(b []byte, at, end int) {
	for ; at < end && len(o.flow) > 0; at++ {
		in := &o.flow[len(o.flow)-1]
		parent := in.key
		if in.current >= 0 {
			parent = in.current
		}
		switch c := b[at]; c {
		case ' ', '\t', ':':
		case '#':
			return
		case ',':
			in.current = -1
		case '{', '[':
			o.flow = append(o.flow, flow{parent, c == '{', -1})
		case '}', ']':
			o.flow = o.flow[:len(o.flow)-1]
		default:
			text, next := scalarAt(b, at, end, true)
			isKey := in.isMapping && in.current < 0 && bytes.HasPrefix(bytes.TrimLeft(b[next:end], " \t"), []byte(":"))
			if o.nodes = append(o.nodes, node{text, isKey, at, next, 0, parent}); isKey {
				in.current = len(o.nodes) - 1
			}
			at = next - 1
		}
	}
}

// scalarAt returns the scalar at an offset of a line, and where it ends: there without one, as in a comment.
func scalarAt(b []byte, at, end int, inFlow bool) (text string, next int) {
	next = at
	if at == end || b[at] == '#' {
		return "", at
	}
	if quote := b[at]; quote == '"' || quote == '\'' {
		for next++; next < end && b[next] != quote; next++ {
			if quote == '"' && b[next] == '\\' && next+1 < end {
				next++
			}
		}
		return string(b[at+1 : next]), min(next+1, end)
	}
	isEnd := func(i int) bool { return i >= end || b[i] == ' ' || inFlow && strings.IndexByte(",]}", b[i]) >= 0 }
	for ; next < end; next++ {
		c := b[next]
		if c == ':' && isEnd(next+1) || next > at && (c == '#' && b[next-1] == ' ' ||
			inFlow && strings.IndexByte(",[]{}", c) >= 0) {
			break
		}
	}
	text = strings.TrimRight(string(b[at:next]), " \t")
	return text, at + len(text)
}
