// Package claudecube reads rules in the form of claudecube's document: YAML with a version, defaults and
// a list of rules that deny, allow or escalate the uses of some tools.
//
// What it reads is lowered to a [call.Set] of the strategy category-first, which asks the rules that deny
// before those that allow, and those before the ones that escalate. Nothing is decided here.
//
// The form is that of the document's Zod schemas, read strictly: a key that is unknown, or there twice,
// anchors, tags, a second document and whatever could never match are errors, all of a file at
// once. What loads and is often a slip is a note of the set. Where the document's program and
// this package differ is in docs/dialects.md.
package claudecube

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/call"
	"github.com/policyscan/policyscan/rules/call/jsregexp"
)

// Read reads a file of rules. The error is rules.Errors: all mistakes of the file, by line and column.
func Read(src *rules.Source) (*call.Set, error) {
	r := &reader{file: file{src: src}, set: &call.Set{
		Name: src.Name, Dialect: "claudecube", Strategy: call.CategoryFirst, Default: call.Ask,
		Words: map[call.Effect]string{call.Ask: "escalate"},
	}}
	if root := r.document(); root != nil {
		r.config(root)
	}
	if len(r.errs) > 0 {
		slices.SortStableFunc(r.errs, func(a, b *rules.Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, r.errs
	}
	r.suspect()
	return r.set, nil
}

// A reader makes a set of a file.
type reader struct {
	file
	set  *call.Set
	read []readRule
}

// A readRule is a rule as the file has it, of which the notes are made.
type readRule struct {
	at     *yaml.Node
	name   string
	effect call.Effect
	tools  []string
	match  []field // nil: every use of the tools
}

type field struct {
	at       *yaml.Node
	name     string
	patterns []pattern
}

type pattern struct {
	at         *yaml.Node
	text, kind string
}

func (r *reader) note(at *yaml.Node, format string, args ...any) {
	r.set.Notes = append(r.set.Notes, call.Note{Origin: call.Origin{File: r.src.Name, Line: at.Line}, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) config(n *yaml.Node) {
	top := r.mapping(n, "the file", "version", "defaults", "rules")
	if top == nil {
		return
	}
	if version, ok := r.text(r.need(n, top, "version", `write version: "1"`), `"version"`); ok && version != "1" {
		r.note(top["version"], "the version is %q; the form that is read is that of version \"1\"", version)
	}
	if d := r.need(n, top, "defaults", `write "defaults: {unmatched: escalate}"`); d != nil {
		r.defaults(d)
	}
	list := r.need(n, top, "rules", `write "rules: []" if there is none`)
	if list == nil {
		return
	}
	if list.Kind != yaml.SequenceNode {
		r.fail(rules.CodeType, list, `"rules" is `+kindName(list), `write a list, each rule beginning with "- name:"`)
		return
	}
	if len(list.Content) > rules.MaxRules {
		r.fail(rules.CodeLimit, list, fmt.Sprintf("%d rules; the limit is %d", len(list.Content), rules.MaxRules), "write fewer")
		return
	}
	for _, item := range list.Content {
		r.oneRule(item)
		r.rule = ""
	}
	if len(list.Content) == 0 {
		r.note(list, "there are no rules; every call gets the default, %s", r.set.Word(r.set.Default))
	}
}

func (r *reader) defaults(n *yaml.Node) {
	d := r.mapping(n, `"defaults"`, "unmatched", "max_budget_per_agent", "max_turns_per_agent")
	if at := d["unmatched"]; at != nil {
		if effect, ok := r.effect(at, `"unmatched"`); ok {
			r.set.Default = effect
			if effect == call.Allow {
				r.note(at, "what no rule is about is allowed; write escalate, or deny, for an agent that meets a new tool")
			}
		}
	}
	for _, key := range []string{"max_budget_per_agent", "max_turns_per_agent"} {
		at := d[key]
		if at == nil {
			continue
		}
		n, ok := r.number(at, key)
		switch {
		case !ok:
		case n <= 0:
			r.fail(rules.CodeValue, at, fmt.Sprintf("%q is %s", key, at.Value), "write a number over 0")
		case key == "max_turns_per_agent" && n != float64(int64(n)):
			r.fail(rules.CodeValue, at, fmt.Sprintf("%q is %s", key, at.Value), "write a whole number")
		default:
			r.note(at, "%q is a placeholder, which nothing enforces", key)
		}
	}
}

// decimals are the numbers that YAML 1.1 and 1.2, and JavaScript, read alike.
var decimals = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

func (r *reader) number(n *yaml.Node, key string) (float64, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || !decimals.MatchString(n.Value) {
		r.fail(rules.CodeType, n, fmt.Sprintf("%q is %s", key, kindName(n)), "write a decimal number, without quotes")
		return 0, false
	}
	x, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || x > 1<<53 {
		r.fail(rules.CodeValue, n, fmt.Sprintf("%q is %s", key, quoted(n.Value)), "write a smaller number")
		return 0, false
	}
	return x, true
}

// effect reads one of the words of the document.
func (r *reader) effect(n *yaml.Node, what string) (call.Effect, bool) {
	word, ok := r.text(n, what)
	if !ok {
		return "", false
	}
	switch word {
	case "deny":
		return call.Deny, true
	case "allow":
		return call.Allow, true
	case "escalate":
		return call.Ask, true
	}
	r.fail(rules.CodeValue, n, fmt.Sprintf("%s is %s", what, quoted(word)), "write deny, allow or escalate")
	return "", false
}

func (r *reader) oneRule(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 { // so that each of its mistakes can name it
			if v := n.Content[i+1]; n.Content[i].Value == "name" && v.Kind == yaml.ScalarNode && v.Tag == "!!str" && !r.bad[v] {
				r.rule = v.Value
			}
		}
	}
	keys := r.mapping(n, "the rule", "name", "action", "tool", "match", "reason")
	if keys == nil {
		return
	}
	read := readRule{at: n}
	rule := call.Rule{Origin: call.Origin{File: r.src.Name, Line: n.Line}}
	if at := r.need(n, keys, "name", "name the rule"); at != nil {
		read.name, _ = r.words(at, `"name"`)
	}
	if at := r.need(n, keys, "action", "write deny, allow or escalate"); at != nil {
		read.effect, _ = r.effect(at, `"action"`)
	}
	rule.ID, rule.Effect = read.name, read.effect
	if at := r.need(n, keys, "tool", `write the name of a tool, or several with "|" between them`); at != nil {
		read.tools = r.tools(at)
	}
	if at := keys["reason"]; at != nil {
		rule.Reason, _ = r.words(at, `"reason"`)
	}
	when := []call.Predicate{toolIs(read.tools)}
	if at := keys["match"]; at != nil {
		fields := r.match(at, &read)
		when = append(when, call.Predicate{Any: fields})
	}
	rule.When = call.Predicate{All: when}
	r.read = append(r.read, read)
	r.set.Rules = append(r.set.Rules, rule)
}

func toolIs(names []string) call.Predicate {
	t := &call.Test{Fact: call.Fact{Source: call.FromTool}, Op: call.OneOf, Shown: "tool: " + strings.Join(names, "|")}
	for _, name := range names {
		t.Values = append(t.Values, call.Text(name))
	}
	return call.Predicate{Test: t}
}

// tools splits the names of tools. They are compared exactly, so a name that no tool can have is a mistake.
func (r *reader) tools(n *yaml.Node) []string {
	text, ok := r.text(n, `"tool"`)
	if !ok {
		return nil
	}
	names := strings.Split(text, "|")
	seen := map[string]bool{}
	for _, name := range names {
		found, fix := "", `write the exact names, as in "Write|Edit"`
		switch {
		case name == "" && text == "":
			found = `"tool" is empty`
		case name == "":
			found = "no name on one side of a \"|\""
		case strings.ContainsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsGraphic(c) }):
			found = fmt.Sprintf("the tool %s, with a blank: names are compared exactly", quoted(name))
		case strings.ContainsAny(name, `*?+^$()[]{}\`):
			found = fmt.Sprintf("the tool %s: names are compared exactly, not as a glob or a regular expression", quoted(name))
		case seen[name]:
			found, fix = fmt.Sprintf("the tool %s is there twice", quoted(name)), "leave one of them out"
		}
		seen[name] = true
		if found != "" {
			r.fail(rules.CodeValue, n, found, fix)
			return nil
		}
	}
	return names
}

func (r *reader) match(n *yaml.Node, rule *readRule) []call.Predicate {
	if n.Kind != yaml.MappingNode {
		r.fail(rules.CodeType, n, `"match" is `+kindName(n), `write "command:" or another field, and a list of patterns beneath it`)
		return nil
	}
	if len(n.Content) == 0 {
		r.fail(rules.CodeValue, n, `"match" has no field, and would match nothing`, `leave "match" out to match every use of the tool`)
	}
	var all []call.Predicate
	for i := 0; i < len(n.Content); i += 2 {
		key, list := n.Content[i], n.Content[i+1]
		if r.bad[key] || r.bad[list] {
			continue
		}
		f := field{at: key, name: key.Value}
		path := strings.Split(f.name, ".")
		switch {
		case key.Tag != "!!str":
			r.fail(rules.CodeType, key, "a field whose name is "+kindName(key), "quote it")
		case slices.Contains(path, ""):
			r.fail(rules.CodeValue, key, fmt.Sprintf("the field %s has an empty part", quoted(f.name)), `write names with "." between them, as in "options.path"`)
		case list.Kind != yaml.SequenceNode:
			r.fail(rules.CodeType, list, fmt.Sprintf("the field %s is %s", quoted(f.name), kindName(list)), `write a list, each item beginning with "- pattern:"`)
		case len(list.Content) == 0:
			r.fail(rules.CodeValue, list, fmt.Sprintf("the field %s has no pattern, and would match nothing", quoted(f.name)), "write one, or leave the field out")
		default:
			for _, item := range list.Content {
				p, predicate := r.pattern(item, &f, path, rule.effect)
				f.patterns = append(f.patterns, p)
				all = append(all, predicate)
			}
		}
		rule.match = append(rule.match, f)
	}
	return all
}

// pattern reads a pattern and lowers it to a test of its field.
func (r *reader) pattern(n *yaml.Node, f *field, path []string, effect call.Effect) (pattern, call.Predicate) {
	p := pattern{at: n, kind: "literal"}
	var none call.Predicate
	keys := r.mapping(n, "the pattern", "pattern", "type")
	if keys == nil {
		return p, none
	}
	at := r.need(n, keys, "pattern", "write what the field is compared with")
	ok := true
	if kind := keys["type"]; kind != nil {
		if p.kind, ok = r.text(kind, `"type"`); ok && !slices.Contains([]string{"regex", "glob", "literal"}, p.kind) {
			r.fail(rules.CodeValue, kind, `"type" is `+quoted(p.kind), "write regex, glob or literal")
			ok = false
		}
	}
	if at == nil {
		return p, none
	}
	text, isText := r.text(at, `"pattern"`)
	if !ok || !isText {
		return p, none
	}
	p.at, p.text = at, text
	if len(text) > rules.MaxPatternBytes {
		r.fail(rules.CodeLimit, at, fmt.Sprintf("a pattern of %d bytes; the limit is %d", len(text), rules.MaxPatternBytes), "write the part that tells")
		return p, none
	}
	test := call.Test{
		Fact: call.Fact{Source: call.FromInput, Path: path}, Absent: call.Fails,
		Shown: fmt.Sprintf("%s: %s %q", f.name, p.kind, text),
	}
	switch p.kind {
	case "literal":
		test.Op, test.Text = call.Equals, text
	case "regex":
		re, err := jsregexp.Compile(text)
		if err != nil {
			found, fix := err.Error(), "write it otherwise"
			if why := new(jsregexp.Error); errors.As(err, &why) {
				found, fix = why.Found, why.Fix
			}
			r.fail(rules.CodeValue, at, fmt.Sprintf("the field %s, the pattern %s: %s", quoted(f.name), quoted(text), found), fix)
		}
		test.Op, test.Regexp = call.Matches, re
	case "glob":
		if found, fix := globMistake(text); found != "" {
			r.fail(rules.CodeGlob, at, fmt.Sprintf("the field %s, the pattern %s: %s", quoted(f.name), quoted(text), found), fix)
			return p, none
		}
		return p, globbed(&test, text, effect)
	}
	return p, call.Predicate{Test: &test}
}
