// Package native reads call rules in policyscan's own form: YAML in the style of a bundle, in which every rule is
// evaluated and the strictest effect wins.
//
// The file is read as strictly as a bundle's, see [document.YAML]: a fact, an operator, a capability or a host that
// can never match is an error.
//
// # Limits
//
// A test of a missing fact fails, even with "not: true": a rule about the content of a file ignores a call that
// writes none. Only "exists: false" tests for a missing fact.
package native

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
)

// Read reads a file of rules. The error is a [document.Errors] with all of its mistakes.
func Read(src *document.Source) (*callrules.Set, error) {
	const list = `"rules:" and a list, each rule beginning with "- id:"`
	doc := src.YAML(document.Form{File: list, Keys: map[string]string{
		"rules": list,
		"id":    `"id: TEAM-TOPIC-001", unique in the file`,
		"title": `"title: …", one line about the forbidden thing`,
	}})
	r := &reader{doc: doc, name: src.Name}
	set := &callrules.Set{Name: src.Name, Dialect: "native",
		Strategy: callrules.AllViolations, Default: callrules.Allow}
	if doc.Root != nil {
		m := doc.Mapping(doc.Root, "the file", `"rules:" and a list`,
			document.Level{Required: []string{"rules"}, Optional: []string{"default"}})
		if m.At("default").Value != nil {
			set.Default = r.effect(m.At("default"))
		}
		for _, item := range doc.List(m.At("rules")) {
			set.Rules = append(set.Rules, r.rule(item.Value))
		}
	}
	if err := doc.Errors(); err != nil {
		return nil, err
	}
	for _, n := range doc.Notes() {
		set.Notes = append(set.Notes,
			callrules.Note{Origin: callrules.Origin{File: n.File, Line: n.Line}, Text: n.Text})
	}
	return set, nil
}

type reader struct {
	doc  *document.YAML
	name string

	strict bool // the rule that is read denies or asks
	wide   bool // X/** takes X itself as well in the test that is read, as that is the stricter reading
}

func (r *reader) effect(e document.Entry) callrules.Effect {
	return callrules.Effect(r.doc.Word(e, string(callrules.Deny), string(callrules.Ask), string(callrules.Allow)))
}

func (r *reader) rule(n *yaml.Node) callrules.Rule {
	r.doc.Begin(n)
	m := r.doc.Mapping(n, "the rule", `its keys, the first after "- "`, document.Level{
		Required: []string{"id", "title", "effect", "when"}, Optional: []string{"message", "remediation"},
	})
	out := callrules.Rule{ID: r.doc.ID(m.At("id")), Effect: r.effect(m.At("effect")),
		Origin: callrules.Origin{File: r.name, Line: n.Line}}
	r.strict = out.Effect.Rank() > 0
	out.Reason = r.doc.Line(m.At("title"))
	if text, ok := r.doc.Text(m.At("message")); ok {
		out.Reason = strings.TrimSpace(text)
	}
	if text, ok := r.doc.Text(m.At("remediation")); ok {
		out.Reason = strings.TrimSuffix(out.Reason, ".") + ". To fix it: " + strings.TrimSpace(text)
	}
	if when := m.At("when").Value; when != nil {
		out.When = r.predicate(when, `"when"`)
		out.Unseen = out.When.About(callrules.FromUnseen)
		out.EachCommand = out.Unseen || out.When.About(callrules.FromProgram) ||
			out.When.About(callrules.FromArguments)
	}
	return out
}

// predicate reads "when", or an item of "all" or "any": one of these lists, or a test.
func (r *reader) predicate(n *yaml.Node, what string) callrules.Predicate {
	for _, key := range []string{"all", "any"} {
		if _, has := r.doc.Find(n, key); !has {
			continue
		}
		m := r.doc.Mapping(n, what+` with "`+key+`"`, key+`: and a list of tests`,
			document.Level{Required: []string{key}})
		var list []callrules.Predicate
		for _, item := range r.doc.List(m.At(key)) {
			list = append(list, r.predicate(item.Value, "the item"))
		}
		if key == "all" {
			return callrules.Predicate{All: list}
		}
		return callrules.Predicate{Any: list}
	}
	return r.test(n, what)
}

func (r *reader) test(n *yaml.Node, what string) callrules.Predicate {
	m := r.doc.Mapping(n, what, "{fact: tool, equals: Bash}, or all: or any: and a list of such tests",
		document.Level{Required: []string{"fact"}, Optional: append(operatorNames(), "not")})
	if m == nil {
		return callrules.Predicate{}
	}
	f, known := r.fact(m.At("fact"))
	op, e := r.operator(n, m)
	if !known || op == nil {
		return callrules.Predicate{}
	}
	not := r.doc.True(m.At("not"))
	r.wide = r.strict != not
	if f.list {
		// The test applies to one of the items; with "not", no item may match.
		item := &callrules.Test{Fact: callrules.Fact{Source: callrules.FromItem, JSON: true}, Op: op.op}
		out := &callrules.Test{Fact: f.fact, Op: callrules.Each, Not: not, Each: []callrules.Predicate{{Test: item}}}
		r.operand(item, f, op, e)
		if op.op == callrules.Exists {
			out.Each, out.Not = []callrules.Predicate{{}}, item.Not // any item will do
			if item.Not {
				out.Absent = callrules.Holds
			}
		}
		out.Shown = shown(f, op, e, not)
		return callrules.Predicate{Test: out}
	}
	out := &callrules.Test{Fact: f.fact, Op: op.op, Not: not, Shown: shown(f, op, e, not)}
	r.operand(out, f, op, e)
	return callrules.Predicate{Test: out}
}

func shown(f *fact, op *operator, e document.Entry, not bool) string {
	value := e.Value.Value
	for i, item := range e.Value.Content {
		if i > 0 {
			value += ", "
		}
		value += item.Value
	}
	word := ""
	if not {
		word = "not "
	}
	return fmt.Sprintf("%s%s %s %q", word, f.name, op.name, value)
}

func (r *reader) operator(n *yaml.Node, m document.Entries) (*operator, document.Entry) {
	var op *operator
	for _, o := range operators() {
		switch {
		case m.At(o.name).Key == nil:
		case op != nil:
			r.doc.Fail(document.CodeKey, n, fmt.Sprintf("the test has both %q and %q", op.name, o.name),
				"write a test for each")
			return nil, document.Entry{}
		default:
			op = &o
		}
	}
	switch {
	case op == nil && misspelt(n):
		return nil, document.Entry{} // it is an unknown key, which was said
	case op == nil:
		r.doc.Fail(document.CodeValue, n, "the test has no operator",
			"write one of "+strings.Join(operatorNames(), ", "))
		return nil, document.Entry{}
	case op.op == callrules.Exists && m.At("not").Value != nil:
		r.doc.Fail(document.CodeKey, m.At("not").Value, `"not" next to "exists"`, `write "exists: false"`)
	}
	return op, m.At(op.name)
}

// misspelt reports whether a test has a key that could have been meant for its operator.
func misspelt(n *yaml.Node) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i].Value; key != "fact" && key != "not" && !strings.HasPrefix(key, "x-") {
			return true
		}
	}
	return false
}

func (r *reader) operand(t *callrules.Test, f *fact, op *operator, e document.Entry) {
	switch op.op {
	case callrules.Exists:
		t.Not = !r.doc.True(e)
		return
	case callrules.OneOf:
		for _, item := range r.doc.List(e) {
			if text, ok := r.text(f, op, item); ok {
				t.Values = append(t.Values, call.Text(text))
			}
		}
		return
	}
	text, ok := r.text(f, op, e)
	if !ok {
		return
	}
	t.Text = text
	refuse := func(found, fix string) { r.doc.Fail(document.CodeValue, e.Value, found, fix) }
	switch op.op {
	case callrules.Matches:
		var err error
		if t.Regexp, err = regexp.Compile(text); err != nil {
			refuse("the pattern does not compile: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "),
				"write RE2 syntax, which has no look-around and no back-references")
		}
	case callrules.Globs:
		// A glob is about a path from a root; with a leading slash it is about the root of all.
		mistake := glob.Check(strings.TrimPrefix(text, "/"))
		switch {
		case !f.glob:
			refuse(fmt.Sprintf("a glob on %s, in which * would stop at each /", f.name), "write matches or contains")
		case mistake != nil:
			r.doc.Fail(document.CodeGlob, e.Value, mistake.Found, mistake.Fix)
		default:
			compile := glob.Compile
			if r.wide {
				compile = glob.CompileWide
			}
			t.Globs = compile([]string{text})
		}
	case callrules.Under:
		switch {
		case !f.clean:
			refuse(fmt.Sprintf(`"under" on %s, which may have ".." in it`, f.name), "write fs.path, which is clean")
		case !path.IsAbs(text) || path.Clean(text) != text:
			refuse(fmt.Sprintf("the directory %q", text),
				"write an absolute path without . and .., and without a / at its end")
		}
	}
}

// text reads one operand of a fact, and refuses impossible values.
func (r *reader) text(f *fact, op *operator, e document.Entry) (string, bool) {
	text, ok := r.doc.Text(e)
	switch {
	case !ok:
		return "", false
	case len(f.words) > 0 && (op.op == callrules.Equals || op.op == callrules.OneOf) &&
		!slices.Contains(f.words, text):
		r.doc.Fail(document.CodeValue, e.Value, fmt.Sprintf("%s is never %q", f.name, text),
			"write one of "+strings.Join(f.words, ", "))
		return "", false
	case f.host:
		if found, fix := hostMistake(op, text); found != "" {
			r.doc.Fail(document.CodeValue, e.Value, fmt.Sprintf("%s is %s", f.name, found), fix)
			return "", false
		}
	}
	return text, true
}

// hostMistake describes why a host can never equal the operand, with the fix.
func hostMistake(op *operator, text string) (found, fix string) {
	whole := op.op == callrules.Equals || op.op == callrules.OneOf
	host, ok := call.Host(text)
	switch {
	case op.op == callrules.Matches || text == "*":
	case whole && !ok:
		return fmt.Sprintf("never %q", text), "write the host alone, as in api.example.com"
	case strings.ToLower(text) != text && (!whole || host == strings.ToLower(text)):
		return fmt.Sprintf("in lower case, and %q is not", text), "write " + strings.ToLower(text)
	case whole && host != text:
		return fmt.Sprintf("never %q", text), "write " + host
	case strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }):
		return fmt.Sprintf("in ASCII, and %q is not", text), "write its xn-- form"
	case op.op != callrules.Globs && strings.ContainsAny(text, "[]/@?# "):
		return fmt.Sprintf("a host alone, and %q is in none", text),
			"write a part of a host; an IPv6 address has no brackets"
	}
	return "", ""
}
