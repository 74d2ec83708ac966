package clash

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/rules/document"
)

type form uint8

const (
	anything  form = iota // *, or nothing written
	literal               // "text"
	regular               // /regex/
	subpath               // (subpath PATH)
	either                // (or ...)
	otherwise             // (not ...)
)

type pattern struct {
	form  form
	at    int
	shown string // in the words of the file
	// of literal and subpath, in the form of the fact: an absolute and clean path, a host from call.Host
	text     string
	regexp   *regexp.Regexp // of regular
	members  []pattern      // of either, at least one; of otherwise, one
	path     bool           // it is about a path
	worktree bool           // of subpath: it says :worktree
}

// each visits a pattern and those in it, with whether they are within an odd number of (not ...).
func (p *pattern) each(negated bool, visit func(p *pattern, negated bool)) {
	visit(p, negated)
	for i := range p.members {
		p.members[i].each(negated != (p.form == otherwise), visit)
	}
}

// pattern reads an operand of a domain.
func (c *compiler) pattern(n *node, domain string) pattern {
	p := pattern{at: n.at, shown: n.String(), path: domain == "fs" || domain == "url"}
	switch {
	case n.is("*"):
	case n.kind == word:
		c.fail(document.CodeType, n.at, fmt.Sprintf("the word %s where a pattern belongs", n.text),
			fmt.Sprintf("write a string in quotes, as in %q", n.text))
	case n.kind == text:
		p.form, p.text = literal, n.text
		switch domain {
		case "fs":
			p.text = c.path(n.at, n.text)
		case "net":
			p.text = c.host(n)
		case "url":
			p.text = c.urlPath(n.at, n.text)
		}
	case n.kind == regex:
		p.form = regular
		p.regexp = c.regexp(n, domain)
	case n.head() == "or":
		p.form = either
		if len(n.items) < 2 {
			c.fail(document.CodeValue, n.at, "an (or) of nothing", "write what it may be")
		}
		for _, m := range n.items[1:] {
			p.members = append(p.members, c.pattern(m, domain))
		}
	case n.head() == "not":
		p.form = otherwise
		if len(n.items) != 2 {
			c.fail(document.CodeValue, n.at, "a not that is not (not PATTERN)",
				"write one pattern; join several with (not (or ...))")
			return p
		}
		p.members = []pattern{c.pattern(n.items[1], domain)}
		if p.members[0].all() {
			c.fail(document.CodeValue, n.at, fmt.Sprintf("%s matches nothing", p.shown),
				"remove the rule, or exclude less")
		}
	case n.head() == "subpath" && p.path:
		p.form = subpath
		c.subpath(&p, n, domain)
	case p.path:
		c.unknown(n, "a path", `"/a/path", /regex/, (subpath ...), (or ...), (not ...), *`)
	default:
		c.unknown(n, "a pattern", `"text", /regex/, (or ...), (not ...), *`)
	}
	return p
}

// all reports whether the form of the pattern shows that it matches every string.
func (p *pattern) all() bool {
	switch p.form {
	case anything:
		return true
	case either:
		return slices.ContainsFunc(p.members, func(m pattern) bool { return m.all() })
	}
	return false
}

// urlPath returns the path of a URL in the form of those of calls.
func (c *compiler) urlPath(at int, name string) string {
	if clean, _ := call.Resolve("/", name); name != "/" && name != clean && name != clean+"/" || name[0] != '/' ||
		strings.ContainsAny(name, "%;?#\\") {
		c.fail(document.CodeValue, at, fmt.Sprintf("%q is not the path of a URL that can be determined", name),
			`write it as in "/owner/repo", without %, .., ? and #`)
	}
	return name
}

// host returns the form of a host that those of calls have.
func (c *compiler) host(n *node) string {
	fix := `write the host alone, as in "github.com"`
	host, ok := call.Host(n.text)
	switch {
	case n.text == "*":
		c.note(n.at, `the text "*" is only the host of a web search; write (net) or (net *) for any host`)
		return n.text
	case n.text == "":
		c.fail(document.CodeValue, n.at, "a host that is empty", fix)
	case strings.Contains(n.text, "*"):
		c.fail(document.CodeValue, n.at,
			fmt.Sprintf("a * in the string %q is a literal *, and no host has one", n.text),
			`write a regex, as in /\.example\.com$/`)
	case !ok:
		c.fail(document.CodeValue, n.at, fmt.Sprintf("%q is not a host, and would match none", n.text), fix)
	case strings.ContainsFunc(n.text, func(r rune) bool { return r >= 0x80 }):
		c.fail(document.CodeValue, n.at, fmt.Sprintf("the host %q is not ASCII", n.text),
			fmt.Sprintf("write %q", host))
	}
	return host
}

func (c *compiler) subpath(p *pattern, n *node, domain string) {
	rest := n.items[1:]
	if len(rest) > 0 && rest[0].is(":worktree") && domain == "fs" {
		p.worktree = true
		rest = rest[1:]
	}
	if len(rest) != 1 {
		c.fail(document.CodeValue, n.at, "a subpath that is not (subpath PATH)",
			`write one path, as in (subpath (join (env HOME) "/src"))`)
		return
	}
	switch name, ok := c.expression(rest[0]); {
	case ok && domain == "url":
		p.text = c.urlPath(rest[0].at, name)
	case ok:
		p.text = c.path(rest[0].at, name)
	}
}

func (c *compiler) expression(n *node) (string, bool) {
	switch {
	case n.kind == text:
		return n.text, true
	case n.head() == "env":
		if len(n.items) != 2 || n.items[1].kind != word && n.items[1].kind != text || !named(n.items[1].text) {
			c.fail(document.CodeValue, n.at, "an env that is not (env NAME)",
				"write one name, of letters, digits and _")
			return "", false
		}
		name := n.items[1].text
		value, ok := c.define[name]
		if !ok && name == "CWD" { // an earlier name, which clash rewrites
			name = "PWD"
			value, ok = c.define[name]
		}
		if !ok {
			c.fail(document.CodeValue, n.at, fmt.Sprintf("(env %s) is not defined", name),
				fmt.Sprintf("give --define %s=VALUE; variables of the environment are not read, "+
					"so that the same rules mean the same everywhere", name))
		} else if value == "" {
			c.fail(document.CodeValue, n.at, fmt.Sprintf("(env %s) is defined as empty", name),
				fmt.Sprintf("give --define %s=VALUE", name))
		}
		return value, value != ""
	case n.head() == "join":
		if len(n.items) < 3 {
			c.fail(document.CodeValue, n.at, "a join of fewer than two parts", `write (join (env HOME) "/src")`)
			return "", false
		}
		joined, all := "", true
		for _, part := range n.items[1:] {
			s, ok := c.expression(part)
			joined, all = joined+s, all && ok
		}
		return joined, all
	}
	c.unknown(n, "a path", `"/a/path", (env NAME), (join ...)`)
	return "", false
}

func named(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// path returns the clean and absolute form of a path of a rule, to which those of calls are compared.
func (c *compiler) path(at int, name string) string {
	if name == "" {
		c.fail(document.CodeValue, at, "a path that is empty", `write the path; "/" is all of them`)
		return ""
	}
	if strings.HasPrefix(name, "~") {
		c.fail(document.CodeValue, at, fmt.Sprintf("a ~ in the path %q is literal", name),
			"write (join (env HOME) ...) in a (subpath ...), or the whole path; ./~ is a file")
		return ""
	}
	pwd := c.define["PWD"]
	clean, absolute := call.Resolve("", name)
	if absolute {
		return clean
	}
	if _, ok := call.Resolve("", pwd); pwd != "" && !ok {
		c.fail(document.CodeValue, at, fmt.Sprintf("the path %q is relative, and so is PWD, %q", name, pwd),
			"give --define PWD=DIR with an absolute directory")
		return ""
	}
	if clean, absolute = call.Resolve(pwd, name); !absolute {
		c.fail(document.CodeValue, at,
			fmt.Sprintf("the path %q is relative, and the paths of calls are absolute: it would match none", name),
			"give --define PWD=DIR to resolve it there, or write it whole")
	}
	return clean
}
