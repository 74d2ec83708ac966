package sigmashake

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// maxNested is how deep parentheses and NOTs may be nested. The deepest of the public packs is 2.
const maxNested = 50

// operators are what may follow a field.
const operators = "CONTAINS, EQUALS, STARTS_WITH, ENDS_WITH, GLOB, REGEX, WORD, LINE_CONTAINS and LINE_REGEX, " +
	"each also after NOT"

// fields are what may come before an operator.
const fields = "command, path, content, tool and input.<key>"

// groups reads conditions separated by OR. With not it reads their negation: NOT is carried down to the tests (De
// Morgan), so that an unusable pattern is on the safe side on either side of a NOT.
func (p *parser) groups(not bool) (callrules.Predicate, bool) {
	var all []callrules.Predicate
	for {
		group, ok := p.group(not)
		if !ok {
			return callrules.Predicate{}, false
		}
		all = append(all, group)
		if !p.peek().is("OR") {
			return callrules.Join(all, not), true
		}
		p.take()
	}
}

// group reads conditions that AND joins, or that are on separate lines without it.
func (p *parser) group(not bool) (callrules.Predicate, bool) {
	var all []callrules.Predicate
	for {
		one, ok := p.one(not)
		if !ok {
			return callrules.Predicate{}, false
		}
		all = append(all, one)
		switch t := p.peek(); {
		case t.is("AND"):
			p.take()
		case !p.continues(t):
			return callrules.Join(all, !not), true
		case !bytes.Contains(p.src.Text[p.tokens[p.next-1].to:t.at], []byte("\n")):
			p.fail(t, document.CodeSyntax, fmt.Sprintf("%s after a condition, on the same line", t.shown()),
				"write AND or OR between them")
			return callrules.Predicate{}, false
		}
	}
}

func (p *parser) continues(t token) bool {
	return t.is("(") || t.kind == word && !t.is("OR") && !isKey(t) && !p.begins()
}

func (p *parser) one(not bool) (callrules.Predicate, bool) {
	if p.nested++; p.nested > maxNested {
		p.fail(p.peek(), document.CodeLimit, fmt.Sprintf("parentheses and NOTs nested more than %d deep", maxNested),
			"split the rule")
		return callrules.Predicate{}, false
	}
	defer func() { p.nested-- }()
	switch t := p.peek(); {
	case t.is("NOT"):
		p.take()
		return p.one(!not)
	case t.is("("):
		p.take()
		c, ok := p.groups(not)
		if ok && !p.peek().is(")") {
			p.fail(t, document.CodeSyntax, "a parenthesis that is not closed", "write ) after its last condition")
			ok = false
		}
		if ok {
			p.take()
		}
		return c, ok
	}
	return p.test(not)
}

func (p *parser) test(not bool) (callrules.Predicate, bool) {
	field := p.peek()
	if field.kind != word || isKey(field) || field.is("AND") || field.is("OR") {
		p.fail(field, document.CodeSyntax, field.shown()+" where a condition should begin",
			"write a field, an operator and a string, such as command CONTAINS \"rm -rf\"")
		return callrules.Predicate{}, false
	}
	p.take()
	if p.peek().is("NOT") {
		p.take()
		not = !not
	}
	op := p.peek()
	if op.kind != word || isKey(op) {
		if fact(field.text) == nil && op.kind == quote {
			p.fail(field, document.CodeKey, field.shown()+" is not a key of a rule", "a rule has "+keys)
		} else {
			p.fail(op, document.CodeSyntax, fmt.Sprintf("%s after %s", op.shown(), field.text),
				"write an operator: "+operators)
		}
		return callrules.Predicate{}, false
	}
	p.take()
	value, ok := p.text(op)
	if !ok {
		return callrules.Predicate{}, false
	}
	about := fact(field.text)
	if about == nil {
		fix := "the fields are " + fields
		if field.text == "input." {
			fix = "write the name of a member of the tool's input after it"
		}
		p.fail(field, document.CodeKey, fmt.Sprintf("%q is not a field", field.text), fix)
		about = &callrules.Fact{}
	}
	t := &callrules.Test{Fact: *about, Not: not, Absent: callrules.AsEmpty}
	t.Shown = field.text + " "
	if not {
		t.Shown += "NOT "
	}
	t.Shown += op.text + " " + string(p.src.Text[value.at:value.to])
	if !p.operate(t, op.text, value.text) {
		p.fail(op, document.CodeKey, fmt.Sprintf("%q is not an operator", op.text), "the operators are "+operators)
	}
	return callrules.Predicate{Test: t}, true
}

// fact is the fact of a field, or nil. A number or a list of the input is text as JSON.stringify writes it. The key
// of input. is one name, even with dots.
func fact(field string) *callrules.Fact {
	switch field {
	case "command":
		return &callrules.Fact{Source: callrules.FromCommand, JSON: true}
	case "path":
		return &callrules.Fact{Source: callrules.FromPath, JSON: true}
	case "content":
		return &callrules.Fact{Source: callrules.FromContent, JSON: true}
	case "tool":
		return &callrules.Fact{Source: callrules.FromTool}
	}
	if key, ok := strings.CutPrefix(field, "input."); ok && key != "" {
		return &callrules.Fact{Source: callrules.FromInput, Path: []string{key}, JSON: true}
	}
	return nil
}

// operate sets the operator of a test, and reports whether it exists.
func (p *parser) operate(t *callrules.Test, op, text string) bool {
	t.Text = text
	switch op {
	case "CONTAINS", "LINE_CONTAINS":
		t.Op = callrules.Contains
	case "EQUALS":
		t.Op = callrules.Equals
	case "STARTS_WITH":
		t.Op = callrules.Begins
	case "ENDS_WITH":
		t.Op = callrules.Ends
	case "GLOB", "WORD", "REGEX", "LINE_REGEX":
		t.Op = callrules.Matches
		c := p.compile(strings.TrimPrefix(op, "LINE_"), text)
		t.Regexp, t.Broken = c.regexp, c.broken
		p.patterned = append(p.patterned, t)
	default:
		return false
	}
	t.ByLine = strings.HasPrefix(op, "LINE_")
	if text == "" && op != "EQUALS" && op != "GLOB" {
		p.note("%s: every string contains the empty one, so this says nothing", t.Shown)
	}
	said := ""
	switch {
	case op == "GLOB":
		said = oddGlob(text)
	case strings.HasSuffix(op, "REGEX") && t.Broken == "":
		said = oddRegex(text)
	}
	if said != "" {
		p.note("%s: %s", t.Shown, said)
	}
	return true
}
