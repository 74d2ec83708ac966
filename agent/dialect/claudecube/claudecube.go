// Package claudecube reads rules in the form of claudecube's document: YAML with a version, defaults and a list of
// rules that deny, allow or escalate the uses of some tools.
//
// It lowers a file to a [callrules.Set] of the strategy category-first: rules that deny come first, then rules that
// allow, then rules that escalate. It decides nothing.
//
// The form is defined by the document's Zod schemas. It is read as strictly as a bundle, see [document.YAML], without
// custom keys: a part that could never match is an error, and all errors of a file are reported together. An unknown
// key, which Zod strips, is a note of the set, as other likely mistakes are, or an error where a rule would be looser
// for it. docs/dialects.md lists the differences from the document's program.
package claudecube

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/jsregexp"
	"github.com/policyscan/policyscan/rules/document"
)

// Read reads a file of rules. The error is [document.Errors]: all mistakes of the file, by line and column.
func Read(src *document.Source) (*callrules.Set, error) {
	doc := src.YAML(document.Form{File: `"version:", "defaults:" and "rules:"`, Closed: true, Keys: map[string]string{
		"version":  `version: "1"`,
		"defaults": `"defaults: {unmatched: escalate}"`,
		"rules":    `"rules: []" for an empty list`,
		"action":   "deny, allow or escalate",
		"tool":     `the name of a tool, or several with "|" between them`,
		"pattern":  "what the field is compared with",
	}})
	r := &reader{doc: doc, name: src.Name, set: &callrules.Set{
		Name: src.Name, Dialect: "claudecube", Strategy: callrules.CategoryFirst, Default: callrules.Ask,
		Words: map[callrules.Effect]string{callrules.Ask: "escalate"},
	}}
	if doc.Root != nil {
		r.config(doc.Root)
	}
	if err := doc.Errors(); err != nil {
		return nil, err
	}
	r.suspect()
	return r.set, nil
}

type reader struct {
	doc  *document.YAML
	name string
	set  *callrules.Set
	read []readRule
}

// A readRule is a rule of the file, for the notes.
type readRule struct {
	at       *yaml.Node
	name     string
	effect   callrules.Effect
	stricter bool // see reader.stricter
	tools    []string
	match    []field // nil: every use of the tools
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
	r.set.Notes = append(r.set.Notes,
		callrules.Note{Origin: callrules.Origin{File: r.name, Line: at.Line}, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) config(n *yaml.Node) {
	top := r.doc.Mapping(n, "the file", `"version:", "defaults:" and "rules:"`,
		document.Level{Required: []string{"version", "defaults", "rules"}, Unknown: r.stripped})
	if version, ok := r.doc.StrictText(top.At("version")); ok && version != "1" {
		r.note(top.At("version").Value, "the version is %q; the form that policyscan reads is version \"1\"", version)
	}
	if at := top.At("defaults").Value; at != nil {
		r.defaults(at)
	}
	list := top.At("rules").Value
	if list == nil {
		return
	}
	items, ok := r.doc.Items(top.At("rules"), `"rules"`, `a list, each rule beginning with "- name:"`)
	if len(items) > document.MaxRules {
		r.doc.Fail(document.CodeLimit, list, fmt.Sprintf("%d rules; the limit is %d", len(items), document.MaxRules),
			"write fewer")
		return
	}
	for _, item := range items {
		r.oneRule(item.Value)
	}
	if ok && len(items) == 0 {
		r.note(list, "there are no rules; every call gets the default, %s", r.set.Word(r.set.Default))
	}
}

func (r *reader) defaults(n *yaml.Node) {
	d := r.doc.Mapping(n, `"defaults"`, `"defaults: {unmatched: escalate}"`,
		document.Level{Optional: []string{"unmatched", "max_budget_per_agent", "max_turns_per_agent"},
			Unknown: r.stripped})
	if effect := r.effect(d.At("unmatched")); effect != "" {
		r.set.Default = effect
		if effect == callrules.Allow {
			r.note(d.At("unmatched").Value, "calls that no rule is about are allowed; "+
				"write escalate or deny, in case an agent gets a new tool")
		}
	}
	for _, key := range []string{"max_budget_per_agent", "max_turns_per_agent"} {
		at := d.At(key).Value
		if at == nil {
			continue
		}
		n, ok := r.number(at, key)
		switch {
		case !ok:
		case n <= 0:
			r.doc.Fail(document.CodeValue, at, fmt.Sprintf("%q is %s", key, at.Value), "write a number over 0")
		case key == "max_turns_per_agent" && n != float64(int64(n)):
			r.doc.Fail(document.CodeValue, at, fmt.Sprintf("%q is %s", key, at.Value), "write a whole number")
		default:
			r.note(at, "%q is a placeholder and is not enforced", key)
		}
	}
}

// number reads a decimal number, which YAML 1.1 and 1.2, and JavaScript, read alike.
func (r *reader) number(n *yaml.Node, key string) (float64, bool) {
	x, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || errors.Is(err, strconv.ErrSyntax) {
		r.doc.Fail(document.CodeType, n, fmt.Sprintf("%q is not a decimal number", key), "write one, without quotes")
		return 0, false
	}
	if err != nil || x > 1<<53 {
		r.doc.Fail(document.CodeValue, n,
			fmt.Sprintf("%q is %s", key, document.Quoted(n.Value)), "write a smaller number")
		return 0, false
	}
	return x, true
}

// stripped notes a key that Zod strips.
func (r *reader) stripped(key *yaml.Node, found, fix string) {
	r.note(key, "%s, which is ignored; %s", found, fix)
}

// stricter reports whether more matches of a rule make decisions stricter. An escalation instead of a default deny does
// not.
func (r *reader) stricter(effect callrules.Effect) bool {
	return effect == callrules.Deny || effect == callrules.Ask && r.set.Default != callrules.Deny
}

// effect reads a decision of the document; "" if it is missing or invalid.
func (r *reader) effect(e document.Entry) callrules.Effect {
	return effectOf(r.doc.Word(e, "deny", "allow", "escalate"))
}

func effectOf(word string) callrules.Effect {
	if word == "escalate" {
		return callrules.Ask
	}
	return callrules.Effect(word)
}

// words reads a string with visible text; "" if it is blank or missing.
func (r *reader) words(e document.Entry) string {
	text, ok := r.doc.StrictText(e)
	if ok && strings.TrimSpace(text) == "" {
		r.doc.Fail(document.CodeValue, e.Value, fmt.Sprintf("%q is blank", e.Key.Value), "write a string")
	}
	return text
}

func (r *reader) oneRule(n *yaml.Node) {
	r.doc.BeginNamed(n, "name")
	strip := r.stripped
	action, _ := r.doc.Find(n, "action")
	_, matches := r.doc.Find(n, "match")
	if action.Value != nil && !matches && !r.stricter(effectOf(action.Value.Value)) {
		strip = func(key *yaml.Node, found, fix string) {
			r.doc.Fail(document.CodeKey, key, found+`, which without "match" is met by every use of its tools`, fix)
		}
	}
	keys := r.doc.Mapping(n, "the rule", `its keys, the first after "- "`,
		document.Level{Required: []string{"name", "action", "tool"}, Optional: []string{"match", "reason"},
			Unknown: strip})
	read := readRule{
		at: n, name: r.words(keys.At("name")), effect: r.effect(keys.At("action")), tools: r.tools(keys.At("tool")),
	}
	read.stricter = r.stricter(read.effect)
	tool := &callrules.Test{Fact: callrules.Fact{Source: callrules.FromTool}, Op: callrules.OneOf,
		Shown: "tool: " + strings.Join(read.tools, "|")}
	for _, name := range read.tools {
		tool.Values = append(tool.Values, call.Text(name))
	}
	when := []callrules.Predicate{{Test: tool}}
	if at := keys.At("match").Value; at != nil {
		when = append(when, callrules.Predicate{Any: r.match(at, &read)})
	}
	r.read = append(r.read, read)
	r.set.Rules = append(r.set.Rules, callrules.Rule{
		ID: read.name, Effect: read.effect, Reason: r.words(keys.At("reason")), When: callrules.Predicate{All: when},
		Origin: callrules.Origin{File: r.name, Line: n.Line},
	})
}

// tools splits the names of tools. They are compared exactly, so a name that no tool can have is a mistake.
func (r *reader) tools(e document.Entry) []string {
	text, ok := r.doc.StrictText(e)
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
			found = fmt.Sprintf("the tool %s, with a space: names are compared exactly", document.Quoted(name))
		case strings.ContainsAny(name, `*?+^$()[]{}\`):
			found = fmt.Sprintf("the tool %s: names are compared exactly, not as a glob or a regular expression",
				document.Quoted(name))
		case seen[name]:
			found, fix = fmt.Sprintf("the tool %s occurs twice", document.Quoted(name)), "remove one of them"
		}
		seen[name] = true
		if found != "" {
			r.doc.Fail(document.CodeValue, e.Value, found, fix)
			return nil
		}
	}
	return names
}

func (r *reader) match(n *yaml.Node, rule *readRule) []callrules.Predicate {
	fields, ok := r.doc.Fields(n, `"match"`, `"command:" or another field, with a list of patterns`)
	if ok && len(n.Content) == 0 {
		r.doc.Fail(document.CodeValue, n, `"match" has no field, and would match nothing`,
			`remove "match" to match every use of the tool`)
	}
	var all []callrules.Predicate
	for _, e := range fields {
		f := field{at: e.Key, name: e.Key.Value}
		path := strings.Split(f.name, ".")
		switch {
		case f.at.Tag != "!!str":
			r.doc.Fail(document.CodeType, f.at, "a field whose name is the YAML value "+document.Quoted(f.name),
				"quote it")
		case slices.Contains(path, ""):
			r.doc.Fail(document.CodeValue, f.at,
				fmt.Sprintf("the field %s has an empty part", document.Quoted(f.name)),
				`write names with "." between them, as in "options.path"`)
		default:
			items, ok := r.doc.Items(e, "the field "+document.Quoted(f.name),
				`a list, each item beginning with "- pattern:"`)
			if ok && len(items) == 0 {
				r.doc.Fail(document.CodeValue, e.Value,
					fmt.Sprintf("the field %s has no pattern, and would match nothing", document.Quoted(f.name)),
					"write one, or remove the field")
			}
			for _, item := range items {
				p, predicate := r.pattern(item.Value, &f, path, rule.effect)
				f.patterns = append(f.patterns, p)
				all = append(all, predicate)
			}
		}
		rule.match = append(rule.match, f)
	}
	return all
}

// pattern reads a pattern and lowers it to a test of its field.
func (r *reader) pattern(n *yaml.Node, f *field, path []string,
	effect callrules.Effect) (pattern, callrules.Predicate) {
	p := pattern{at: n, kind: "literal"}
	var none callrules.Predicate
	keys := r.doc.Mapping(n, "the pattern", "pattern and type, each with a colon",
		document.Level{Required: []string{"pattern"}, Optional: []string{"type"}, Unknown: r.stripped})
	if kind := keys.At("type"); kind.Value != nil {
		p.kind = r.doc.Word(kind, "regex", "glob", "literal")
	}
	at := keys.At("pattern").Value
	text, ok := r.doc.StrictText(keys.At("pattern"))
	if !ok {
		return p, none
	}
	p.at, p.text = at, text
	if len(text) > document.MaxPatternBytes {
		r.doc.Fail(document.CodeLimit, at,
			fmt.Sprintf("a pattern of %d bytes; the limit is %d", len(text), document.MaxPatternBytes),
			"write a shorter one")
		return p, none
	}
	// Null, lists and objects have text, and a match that is given up counts, where that makes a decision stricter.
	stricter := r.stricter(effect)
	test := callrules.Test{
		Fact: callrules.Fact{Source: callrules.FromInput, Path: path, Stringified: stricter}, Absent: callrules.Fails,
		Shown: fmt.Sprintf("%s: %s %q", f.name, p.kind, text),
	}
	switch p.kind {
	case "literal":
		test.Op, test.Text = callrules.Equals, text
	case "regex":
		re, wrong := jsregexp.Compile(text)
		if wrong != nil {
			r.doc.Fail(document.CodeValue, at, fmt.Sprintf("the field %s, the pattern %s: %s",
				document.Quoted(f.name), document.Quoted(text), wrong.Found), wrong.Fix)
		}
		re.GivenUp = stricter
		test.Op, test.Regexp = callrules.Matches, re
	case "glob":
		predicate, err := globbed(&test, text, stricter)
		if wrong := (mistake{}); errors.As(err, &wrong) {
			r.doc.Fail(document.CodeGlob, at, fmt.Sprintf("the field %s, the pattern %s: %s", document.Quoted(f.name),
				document.Quoted(text), wrong.found), wrong.fix)
		}
		return p, predicate
	}
	return p, callrules.Predicate{Test: &test}
}
