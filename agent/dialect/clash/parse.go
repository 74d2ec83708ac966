package clash

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// A rule is one rule of a policy. first is the main operand of its domain: the program, the path, the host or the
// tool; args are the arguments of exec, or the path of net's URL; has is for exec only, ops for fs.
type rule struct {
	of     *compiler
	at     int
	id     string
	effect callrules.Effect
	domain string // exec, fs, net, tool
	score  [2]int

	first pattern
	args  []pattern
	has   []pattern
	ops   []string // nil for any

	sandbox   string // the policy's name, or the key of inline, or ""
	sandboxAt int
	inline    []*rule // nil if the sandbox is named
}

// unknown refuses a node that is not one of the forms allowed in its place.
func (c *compiler) unknown(n *node, what, forms string) {
	found := n.kind.String()
	switch {
	case n.kind == word:
		found = fmt.Sprintf("the word %s", n.text)
	case n.kind == list && n.head() != "":
		found = fmt.Sprintf("(%s ...)", n.head())
	case n.kind == list && len(n.items) == 0:
		found = "an empty list"
	}
	c.fail(document.CodeKey, n.at, fmt.Sprintf("%s is not %s", found, what), "write one of "+forms)
}

func (c *compiler) readVersion(n *node) {
	if c.version != nil {
		c.fail(document.CodeDuplicate, n.at,
			fmt.Sprintf("a second version; the first is in line %d", c.line(c.version.at)), "remove one")
		return
	}
	c.version = n
	if len(n.items) != 2 || n.items[1].kind != word {
		c.fail(document.CodeValue, n.at, "a version that is not (version NUMBER)", "write (version 1)")
		return
	}
	if v, err := strconv.ParseUint(n.items[1].text, 10, 32); err != nil || v != 1 {
		c.fail(document.CodeValue, n.items[1].at, fmt.Sprintf("version %s of the language", n.items[1].text),
			"write (version 1), the only one that policyscan reads")
	}
}

func (c *compiler) readDefault(n *node) {
	if c.declared != nil {
		c.fail(document.CodeDuplicate, n.at,
			fmt.Sprintf("a second default; the first is in line %d", c.line(c.declared.at)), "remove one")
		return
	}
	if len(n.items) != 3 {
		c.fail(document.CodeValue, n.at, "a default that is not (default EFFECT NAME)", `write (default deny "main")`)
		return
	}
	c.declared = n
	if e, ok := c.effectOf(n.items[1]); ok {
		c.effect = e
	}
	c.active, _ = c.name(n.items[2], "policy")
}

func (c *compiler) effectOf(n *node) (callrules.Effect, bool) {
	for _, e := range []callrules.Effect{callrules.Allow, callrules.Deny, callrules.Ask} {
		if n.is(string(e)) {
			return e, true
		}
	}
	c.unknown(n, "an effect", "allow, deny, ask")
	return "", false
}

func (c *compiler) name(n *node, of string) (string, bool) {
	switch {
	case n.kind == word:
		c.fail(document.CodeType, n.at, fmt.Sprintf("the name of a %s without quotes: %s", of, n.text),
			fmt.Sprintf("write %q", n.text))
	case n.kind != text:
		c.fail(document.CodeType, n.at, fmt.Sprintf("%s where the name of a %s belongs", n.kind, of),
			"write the name in quotes")
	case strings.TrimSpace(n.text) == "":
		c.fail(document.CodeValue, n.at, fmt.Sprintf("the name of a %s is empty", of), "name it")
	default:
		return n.text, true
	}
	return "", false
}

func (c *compiler) readPolicy(n *node) {
	if len(n.items) < 2 {
		c.nameless = true
		c.fail(document.CodeValue, n.at, "a policy without a name", `write (policy "main" ...)`)
		return
	}
	p := &policy{at: n.at}
	name, ok := c.name(n.items[1], "policy")
	c.nameless = c.nameless || !ok
	if first := c.policies[name]; ok && first != nil {
		c.fail(document.CodeDuplicate, n.items[1].at,
			fmt.Sprintf("a second policy %q; the first is in line %d", name, c.line(first.at)),
			"join them, or rename one")
		ok = false
	}
	if ok {
		p.name = name
		c.policies[name], c.names = p, append(c.names, name)
	}
	for _, child := range n.items[2:] {
		switch child.head() {
		case "include":
			if len(child.items) != 2 {
				c.fail(document.CodeValue, child.at,
					"an include that is not (include NAME)", "write one name in quotes")
			} else if name, ok := c.name(child.items[1], "policy"); ok {
				p.items = append(p.items, item{include: name, at: child.at})
			}
		case "allow", "deny", "ask":
			if r := c.readRule(child, false); r != nil {
				p.items = append(p.items, item{rule: r, at: child.at})
			}
		default:
			c.unknown(child, "a rule or an include", "(allow ...), (deny ...), (ask ...), (include NAME)")
		}
	}
}

// readRule reads (EFFECT (DOMAIN ...) :sandbox ...). Sandboxes are not nested.
func (c *compiler) readRule(n *node, within bool) *rule {
	r := &rule{of: c, at: n.at, id: n.String()}
	before := len(c.errs)
	r.effect, _ = c.effectOf(n.items[0])
	if len(n.items) < 2 {
		c.fail(document.CodeValue, n.at, fmt.Sprintf("a rule that says %s of nothing", r.effect),
			`write what it is about, as in (allow (exec "git" *))`)
		return nil
	}
	m := n.items[1]
	switch r.domain = m.head(); r.domain {
	case "exec":
		c.readExec(r, m)
	case "fs":
		c.readFS(r, m, within)
	case "net":
		c.readNet(r, m)
	case "tool":
		c.readTool(r, m)
	default:
		r.domain = ""
		c.unknown(m, "what a rule can be about", "(exec ...), (fs ...), (net ...), (tool ...)")
	}
	if rest := n.items[2:]; len(rest) > 0 {
		c.readSandbox(r, rest, within)
	}
	if len(c.errs) > before {
		return nil
	}
	r.score = r.specificity()
	return r
}

func (c *compiler) readSandbox(r *rule, rest []*node, within bool) {
	at := rest[0]
	switch {
	case !at.is(":sandbox"):
		c.unknown(at, "what may follow a rule's matcher", ":sandbox NAME, :sandbox RULE ...")
		return
	case within:
		c.fail(document.CodeKey, at.at, "a :sandbox in a sandbox", "remove it")
		return
	case r.domain != "exec" && r.domain != "":
		c.fail(document.CodeKey, at.at, fmt.Sprintf("a :sandbox of a rule about %s", r.domain),
			"remove it: a sandbox is for the commands of (exec ...)")
		return
	case len(rest) == 1:
		c.fail(document.CodeValue, at.at, "a :sandbox without a policy",
			`name one, as in :sandbox "build", or write its rules`)
		return
	}
	r.sandboxAt = at.at
	if rest[1].kind != list {
		r.sandbox, _ = c.name(rest[1], "sandbox")
		if len(rest) > 2 {
			c.fail(document.CodeKey, rest[2].at, "something after the name of a sandbox", "remove it")
		}
		return
	}
	line := c.line(at.at)
	r.sandbox, r.inline = fmt.Sprintf("inline of %d:%d", line, at.at-c.lines[line-1]+1), []*rule{}
	for _, child := range rest[1:] {
		switch child.head() {
		case "allow", "deny", "ask":
			if s := c.readRule(child, true); s != nil {
				r.inline = append(r.inline, s)
			}
		default:
			c.unknown(child, "a rule of a sandbox", "(allow ...), (deny ...), (ask ...)")
		}
	}
}

// readExec reads (exec BIN ARG ... :has PATTERN ...).
func (c *compiler) readExec(r *rule, m *node) {
	inHas := false
	for i, n := range m.items[1:] {
		if n.is(":has") && !inHas {
			inHas = true
			if i == len(m.items)-2 {
				c.fail(document.CodeValue, n.at, "a :has with nothing after it",
					"write what the arguments must have, or remove it")
			}
			continue
		}
		p := c.pattern(n, r.domain)
		switch {
		case inHas && p.form == anything && n.is("*"):
			c.note(n.at, "a * after :has requires nothing; remove it")
		case inHas:
			r.has = append(r.has, p)
		case i == 0:
			r.first = p
		default:
			r.args = append(r.args, p)
		}
	}
}

// readFS reads (fs OP PATH).
func (c *compiler) readFS(r *rule, m *node, within bool) {
	rest := m.items[1:]
	if len(rest) > 0 && c.readOps(r, rest[0], within) {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		r.first = c.pattern(rest[0], r.domain)
		rest = rest[1:]
	}
	if len(rest) > 0 {
		c.fail(document.CodeKey, rest[0].at, "something after the path of (fs ...)",
			"write one operation and one path; join several with (or ...)")
	}
	r.first.each(false, func(p *pattern, negated bool) {
		if p.worktree && p.text != "" && !within {
			c.addGitDirs(p, (r.effect != callrules.Allow) != negated)
		}
	})
}

// addGitDirs adds the git directories of the worktree that a (subpath :worktree ...) is in. stricter is whether the
// rule is the stricter for them. If they cannot be determined, such a rule is refused, and another goes without them.
func (c *compiler) addGitDirs(p *pattern, stricter bool) {
	dirs, err := gitDirs(p.text)
	switch {
	case err != nil && stricter:
		c.fail(document.CodeValue, p.at, fmt.Sprintf(":worktree in a rule that would be weaker without: %v", err),
			"repair the worktree (git worktree repair), or remove :worktree and name git's directories")
	case err != nil:
		c.note(p.at, ":worktree adds nothing: %v", err)
	case dirs != nil:
		plain := *p
		plain.worktree = false
		p.form, p.worktree, p.members = either, false, []pattern{plain}
		for _, dir := range dirs {
			p.members = append(p.members, pattern{form: subpath, text: dir, path: true, at: p.at,
				shown: fmt.Sprintf("(subpath %q)", dir)})
		}
	}
}

// readOps reads the operations of (fs ...), and reports whether the node is about them: a path may be alone.
func (c *compiler) readOps(r *rule, n *node, within bool) bool {
	known := []string{"read", "write", "create", "delete"}
	switch {
	case n.is("*"):
		return true
	case n.kind == word:
		if !slices.Contains(known, n.text) {
			c.unknown(n, "an operation", strings.Join(known, ", ")+", *, (or ...)")
		}
		r.ops = []string{n.text}
	case n.head() == "or" && len(n.items) > 1 && n.items[1].kind == word:
		for _, o := range n.items[1:] {
			switch {
			case o.kind != word || !slices.Contains(known, o.text):
				c.unknown(o, "an operation", strings.Join(known, ", "))
			case slices.Contains(r.ops, o.text):
				c.fail(document.CodeDuplicate, o.at, fmt.Sprintf("the operation %s twice", o.text), "remove one")
			}
			r.ops = append(r.ops, o.text)
		}
	default:
		return false
	}
	if !within && !slices.Contains(r.ops, "read") && !slices.Contains(r.ops, "write") {
		c.note(n.at, "no call of a tool is a create or a delete: they are reads and writes, so this rule never matches")
	}
	return true
}

// readNet reads (net HOST PATH).
func (c *compiler) readNet(r *rule, m *node) {
	rest := m.items[1:]
	if len(rest) > 0 {
		r.first = c.pattern(rest[0], r.domain)
	}
	if len(rest) > 1 {
		r.args = []pattern{c.pattern(rest[1], "url")}
	}
	if len(rest) > 2 {
		c.fail(document.CodeKey, rest[2].at, "something after the host and the path of (net ...)",
			"join several with (or ...)")
	}
}

// readTool reads (tool NAME).
func (c *compiler) readTool(r *rule, m *node) {
	rest := m.items[1:]
	if len(rest) > 0 {
		r.first = c.pattern(rest[0], r.domain)
	}
	if len(rest) > 1 {
		c.fail(document.CodeKey, rest[1].at, "something after the name of (tool ...)", "join several with (or ...)")
	}
	if r.effect == callrules.Allow && r.first.all() {
		c.note(m.at, "this allows every tool that is not exec, fs or net, as NotebookEdit, PowerShell and an MCP "+
			"server's, which may write files or run commands; name the tools that you mean")
	}
}
