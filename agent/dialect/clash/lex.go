package clash

import (
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
)

type kind uint8

const (
	list  kind = iota // (...)
	text              // "..."
	regex             // /.../
	word              // allow, *, :has
)

func (k kind) String() string {
	return [...]string{"a list", "a string", "a regex", "a word"}[k]
}

type node struct {
	kind  kind
	at    int    // the byte it begins at
	text  string // of a text without its quotes and escapes, of a regex without its slashes
	items []*node
}

func (n *node) is(w string) bool { return n.kind == word && n.text == w }

// head returns the word that a list begins with; "" if it does not begin with one.
func (n *node) head() string {
	if n.kind == list && len(n.items) > 0 && n.items[0].kind == word {
		return n.items[0].text
	}
	return ""
}

// String returns the node with single spaces and without comments, so that it reads as the same.
func (n *node) String() string {
	switch n.kind {
	case list:
		var items []string
		for _, item := range n.items {
			items = append(items, item.String())
		}
		return "(" + strings.Join(items, " ") + ")"
	case text:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n.text) + `"`
	case regex:
		return "/" + n.text + "/"
	}
	return n.text
}

func (c *compiler) ends(at int) bool {
	return at >= len(c.src.Text) || strings.IndexByte(" \t\r\n()\";", c.src.Text[at]) >= 0
}

func (c *compiler) read() []*node {
	var top []*node
	var open []*node
	add := func(n *node) {
		if len(open) == 0 {
			top = append(top, n)
			return
		}
		open[len(open)-1].items = append(open[len(open)-1].items, n)
	}
	src := string(c.src.Text)
	for at := 0; at < len(src); {
		switch src[at] {
		case ' ', '\t', '\r', '\n':
			at++
		case ';':
			if end := strings.IndexByte(src[at:], '\n'); end >= 0 {
				at += end
			} else {
				at = len(src)
			}
		case '(':
			n := &node{kind: list, at: at}
			add(n)
			if open = append(open, n); len(open) > maxDepth {
				c.fail(document.CodeLimit, at,
					fmt.Sprintf("lists nested more than %d deep", maxDepth), "close some before")
				return nil
			}
			at++
		case ')':
			if len(open) == 0 {
				c.fail(document.CodeSyntax, at, `a ")" that closes nothing`, "remove it, or open the list before it")
			} else {
				open = open[:len(open)-1]
			}
			at++
		case '"':
			n := &node{kind: text, at: at}
			end, ok := c.text(n, src)
			if !ok {
				return nil
			}
			add(n)
			at = end
		case '/':
			end := closing(src, at+1, c.ends)
			if end < 0 {
				c.fail(document.CodeSyntax, at, "a regex that is not closed on its line",
					`end it with / and a space or ")"; put a string in quotes, as in "/*"`)
				return nil
			}
			add(&node{kind: regex, at: at, text: src[at+1 : end]})
			at = end + 1
		default:
			end := at
			for !c.ends(end) {
				end++
			}
			add(&node{kind: word, at: at, text: src[at:end]})
			at = end
		}
	}
	for _, n := range open {
		c.fail(document.CodeSyntax, n.at, `a "(" that is not closed`, `close the list with ")"`)
	}
	return top
}

// text reads a quoted string, and returns its end.
func (c *compiler) text(n *node, src string) (end int, ok bool) {
	var b strings.Builder
	for at := n.at + 1; at < len(src) && src[at] != '\n'; at++ {
		switch {
		case src[at] == '"':
			n.text = b.String()
			return at + 1, true
		case src[at] != '\\':
			b.WriteByte(src[at])
		case at+1 < len(src) && (src[at+1] == '"' || src[at+1] == '\\'):
			at++
			b.WriteByte(src[at])
		default:
			c.fail(document.CodeSyntax, at, `a "\" in a string before a character that it cannot escape`,
				`write \\ for one backslash; only \" and \\ are escapes`)
		}
	}
	c.fail(document.CodeSyntax, n.at, "a string that is not closed on its line", "end it with a quote")
	return 0, false
}

// closing returns where the slash is that closes a regex: the first that is not escaped and has a space, a
// parenthesis or the end after it. Others are literal, as in /src/.*/.
func closing(src string, at int, ends func(int) bool) int {
	for ; at < len(src) && src[at] != '\n'; at++ {
		switch {
		case src[at] == '\\':
			if at+1 < len(src) && src[at+1] != '\n' {
				at++
			}
		case src[at] == '/' && ends(at+1):
			return at
		}
	}
	return -1
}
