package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
)

// A ruleFile is one of a bundle's files while it is read.
type ruleFile struct {
	*loader
	doc   *document.YAML
	name  string // within the bundle
	form  document.Form
	match document.Level
}

// ruleFile reads the rules of a file. It also returns how many items the list of rules has, or -1 if
// that is not known. What it returns is of use only if the whole bundle has no errors.
func (l *loader) ruleFile(name string, content []byte) (rules []Rule, items int) {
	f := &ruleFile{loader: l, name: name, form: form(name), match: matchLevel(name)}
	f.doc = l.YAML(&document.Source{Name: name, Text: content}, f.form)
	rules, items = f.list()
	l.Add(f.doc)
	return rules, items
}

func (f *ruleFile) list() (rules []Rule, items int) {
	root := f.doc.Root
	if root == nil {
		return nil, -1
	}
	if !document.IsMapping(root) {
		f.doc.Misplaced(root, "the file", `"rules:" and the list of rules beneath it`)
		return nil, -1
	}
	top := f.doc.Mapping(root, "the file", "", fileLevel)
	entry, ok := top["rules"]
	switch {
	case !ok:
		return nil, -1
	case f.doc.Empty(entry.Value):
		f.doc.Fail(document.CodeValue, entry.Key, `"rules" is empty`, `write "rules: []" if there is no rule`)
		return nil, -1
	}
	list, ok := f.doc.Items(entry, `"rules"`, `a list, each rule beginning with "- id:"`)
	if !ok {
		return nil, -1
	}
	for i, item := range list {
		if f.rules++; f.rules == document.MaxRules+1 {
			f.doc.Fail(document.CodeLimit, item.Value,
				fmt.Sprintf("more than %d rules in the bundle", document.MaxRules), "write fewer")
		}
		if f.rules > document.MaxRules || f.doc.Full() {
			break
		}
		f.doc.Begin(item.Value)
		rules = append(rules, f.rule(item))
		f.doc.End(list[i:])
	}
	return rules, len(list)
}

// rule reads one rule.
func (f *ruleFile) rule(item document.Entry) Rule {
	n := item.Value
	spot := f.doc.Spot(n)
	r := Rule{File: f.name, Line: spot.Line, Type: Boundary, at: spot}
	if f.name == InvariantsFile {
		r.Type = Invariant
	}
	m := f.doc.Mapping(n, "the rule", `its keys, the first after "- "`, ruleLevel)
	if m == nil {
		return r
	}
	r.ID = f.doc.ID(m["id"])
	r.Title = f.doc.Line(m["title"])
	r.Message, _ = f.doc.Text(m["message"])
	r.Remediation, _ = f.doc.Text(m["remediation"])
	r.DocsURL = f.docsURL(m["docs_url"])
	r.Owner = f.doc.Line(m["owner"])
	r.Severity = f.severity(m["severity"])
	r.Redact = f.doc.True(m["redact"])
	r.Tags = f.tags(m["tags"])
	f.enforcement(m["enforcement"])
	f.selects(&r, m["match"])
	r.Examples = f.examples(m["examples"])
	return r
}

func (f *ruleFile) docsURL(e document.Entry) string {
	url, ok := f.doc.Text(e)
	if !ok {
		return ""
	}
	host, isHTTP := strings.CutPrefix(url, "https://")
	if !isHTTP {
		host, isHTTP = strings.CutPrefix(url, "http://")
	}
	blank := strings.ContainsFunc(url, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) })
	if !isHTTP || host == "" || host[0] == '/' || blank {
		f.doc.Fail(document.CodeValue, e.Value, fmt.Sprintf(`"docs_url" is %s`, document.Quoted(url)),
			`write an address that begins with "https://"`)
		return ""
	}
	return url
}

func (f *ruleFile) severity(e document.Entry) string {
	severity, ok := f.doc.Text(e)
	if !ok {
		return ""
	}
	words := []string{"low", "medium", "high", "critical"}
	if !slices.Contains(words, severity) {
		f.doc.Fail(document.CodeValue, e.Value, "unknown severity "+document.Quoted(severity),
			"use low, medium, high or critical")
		return ""
	}
	return severity
}

func (f *ruleFile) tags(e document.Entry) []string {
	var tags []string
	for _, item := range f.doc.List(e) {
		if tag := f.doc.Line(item); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

func (f *ruleFile) enforcement(e document.Entry) {
	if e.Value == nil {
		return
	}
	m := f.doc.Mapping(e.Value, `"enforcement"`, f.form.Keys["enforcement"], enforcementLevel)
	mode, ok := f.doc.Text(m["mode"])
	if ok && mode != "fail" {
		f.doc.Fail(document.CodeValue, m["mode"].Value, "unknown mode "+document.Quoted(mode),
			`write "fail": there is no other mode`)
	}
}

// selects reads what a rule is about: its globs and its patterns.
func (f *ruleFile) selects(r *Rule, e document.Entry) {
	if e.Value == nil {
		return
	}
	m := f.doc.Mapping(e.Value, `"match"`, f.form.Keys["match"], f.match)
	if m == nil {
		return
	}
	r.Files, r.filesAt = f.globs(m["files"])
	r.Exclude, r.excludeAt = f.globs(m["exclude"])
	for _, key := range []string{boundaryKey, invariantKey} {
		if e, ok := m[key]; ok {
			e.Required = true // of a deprecated rule, too: one that is there must say something
			patterns, at := f.patterns(e)
			r.Patterns = append(r.Patterns, patterns...)
			r.patternsAt = append(r.patternsAt, at...)
		}
	}
	if f.name != DeprecatedFile {
		return
	}
	// A deprecated rule is of the type that its key says; with both keys, of the first.
	if m[boundaryKey].Value == nil && m[invariantKey].Value != nil {
		r.Type = Invariant
	}
	if !f.doc.Has(e.Value, f.match, boundaryKey) { // nor the other
		f.doc.Fail(document.CodeValue, e.Value,
			fmt.Sprintf(`"match" has neither %q nor %q`, boundaryKey, invariantKey),
			"write "+f.form.Keys[boundaryKey])
	}
}

// texts reads a list of texts, each with its item. It ends where there are so many mistakes that no more are looked
// for.
func (f *ruleFile) texts(e document.Entry) iter.Seq2[document.Entry, string] {
	return func(yield func(document.Entry, string) bool) {
		for _, item := range f.doc.List(e) {
			text, ok := f.doc.Text(item)
			if f.doc.Full() || ok && !yield(item, text) {
				return
			}
		}
	}
}

// globs reads a list of globs.
func (f *ruleFile) globs(e document.Entry) (globs []string, at []document.Place) {
	seen := map[string]bool{}
	for item, text := range f.texts(e) {
		if seen[text] {
			f.doc.Fail(document.CodeDuplicate, item.Value, "the glob "+document.Quoted(text)+" is listed twice",
				"remove one of them")
			continue
		}
		seen[text] = true
		if mistake := f.globMistake(text); mistake != nil {
			f.doc.Fail(mistake.Code, item.Value, mistake.Found, mistake.Fix)
			continue
		}
		globs, at = append(globs, text), append(at, f.doc.Place(item.Value))
	}
	return globs, at
}

// globMistake checks each distinct glob once: a bundle may well have one
// in all of its rules.
func (l *loader) globMistake(text string) *document.Error {
	if mistake, known := l.globs[text]; known {
		return mistake
	}
	var found *document.Error
	var mistake *glob.Mistake
	if err := glob.Check(text); errors.As(err, &mistake) {
		found = &document.Error{Code: document.CodeGlob, Found: mistake.Found, Fix: mistake.Fix}
	} else if l.expansions += glob.Expansions(text); l.expansions > maxExpansions {
		found = &document.Error{
			Code: document.CodeLimit, Fix: "write fewer",
			Found: fmt.Sprintf("more than %d different globs in the bundle, with braces expanded", maxExpansions),
		}
	}
	l.globs[text] = found
	return found
}

// patterns reads a list of patterns. They are taken as they are.
func (f *ruleFile) patterns(e document.Entry) (patterns []string, at []document.Place) {
	seen := map[string]bool{}
	for item, text := range f.texts(e) {
		switch {
		case len(text) > document.MaxPatternBytes:
			f.doc.Fail(document.CodeLimit, item.Value,
				fmt.Sprintf("a pattern of %d bytes; the limit is %d", len(text), document.MaxPatternBytes),
				"write only the part that identifies it")
		case seen[text]:
			f.doc.Fail(document.CodeDuplicate, item.Value, "the pattern "+document.Quoted(text)+" is listed twice",
				"remove one of them")
		default:
			patterns, at = append(patterns, text), append(at, f.doc.Place(item.Value))
		}
		seen[text] = true
	}
	return patterns, at
}

func (f *ruleFile) examples(e document.Entry) []Example {
	var examples []Example
	for _, item := range f.doc.List(e) {
		m := f.doc.Mapping(item.Value, "the example", exampleForm, exampleLevel)
		if m == nil {
			continue
		}
		x := Example{at: f.doc.Spot(item.Value)}
		var ok bool
		x.Path, ok = f.doc.Text(m["path"])
		if ok && (!fs.ValidPath(x.Path) || x.Path == "." || strings.Contains(x.Path, "\x00")) {
			f.doc.Fail(document.CodeValue, m["path"].Value, "not a path within the tree: "+document.Quoted(x.Path),
				`write a path from the root of the tree, such as "modules/main.tf"`)
		}
		x.Content, _ = f.doc.Text(m["content"])
		x.Violates = f.doc.True(m["violates"])
		examples = append(examples, x)
	}
	return examples
}
