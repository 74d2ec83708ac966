package rules

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/verdict"
)

type ruleFile struct {
	*loader
	shape
	doc               *document.YAML
	ruleKeys, matches document.Level

	otherVersion bool     // it has a version other than 0.2
	unversioned  string   // why it is read as 0.2 without having a version; "" if it is not
	exclude      []string // of the whole file
	excludeAt    []document.Place
	owner        string // of the bundle's rules that have none
	rules        []Rule
	each         map[*keyitem.Item][]document.Place // the positions of the "each" paths of its items
	slow         []string                           // the slow regexes of the current rule
	only         []document.Entry                   // the keys "only" of its items
	items        int                                // length of the list of rules, or -1 if unknown
}

// parse parses a rule file as YAML and determines its version, but reads no rules.
func (l *loader) parse(name string, content []byte) *ruleFile {
	f := &ruleFile{loader: l, shape: shapeOf(name), items: -1, each: map[*keyitem.Item][]document.Place{}}
	f.doc = l.batch.YAML(&document.Source{Name: name, Text: content}, f.form())
	if f.is02 = means02(f.doc, content); f.is02 {
		f.doc.Reform(f.form())
	} else if why := f.needs02(); why != "" {
		f.read02(why)
	}
	return f
}

// list reads the file's rules or allowances. They count only if the whole bundle has no errors.
func (f *ruleFile) list() {
	if f.holds == allowances {
		f.listAllowances()
		return
	}
	level := f.level()
	if f.unversioned != "" {
		level.Required = slices.DeleteFunc(level.Required, func(key string) bool { return key == versionKey })
		f.doc.Fail(document.CodeValue, f.doc.Root, f.unversioned, writeVersion)
	}
	top, list, ok := f.top(level, "rules", `"rules:" and the list of rules below it`,
		`a list, each rule beginning with "- id:"`, `write "rules: []" if there is no rule`)
	if f.is02 && top != nil {
		f.head(top)
	}
	f.ruleKeys, f.matches = f.shape.rule(), f.match()
	if !ok {
		return
	}
	f.rules = make([]Rule, 0, min(len(list), document.MaxRules))
	for i, item := range list {
		if f.count++; f.count == document.MaxRules+1 {
			f.doc.Fail(document.CodeLimit, item.Value,
				fmt.Sprintf("more than %d rules in the bundle", document.MaxRules), "write fewer")
		}
		if f.count > document.MaxRules || f.doc.Full() {
			break
		}
		f.doc.Begin(item.Value)
		f.rules = append(f.rules, f.rule(item))
		f.doc.End(list[i:])
	}
	f.items = len(list)
}

// top reads the keys of the file, nil if it is not a mapping, and the list at key; false if it is missing. whole and
// form show how they are written; empty is the fix for an empty list.
func (f *ruleFile) top(l document.Level, key, whole, form, empty string) (document.Entries, []document.Entry, bool) {
	root := f.doc.Root
	if root == nil {
		return nil, nil, false
	}
	if !document.IsMapping(root) {
		f.doc.Misplaced(root, "the file", whole)
		return nil, nil, false
	}
	top := f.doc.Mapping(root, "the file", "", l)
	if e := top.At(versionKey); e.Key != nil {
		f.checkVersion(e)
	}
	e := top.At(key)
	switch {
	case e.Key == nil:
		return top, nil, false
	case f.doc.Empty(e.Value):
		f.doc.Fail(document.CodeValue, e.Key, fmt.Sprintf("%q is empty", key), empty)
		return top, nil, false
	}
	list, ok := f.doc.Items(e, fmt.Sprintf("%q", key), form)
	return top, list, ok
}

func (f *ruleFile) head(top document.Entries) {
	f.exclude, f.excludeAt = f.globs(top.At("exclude"), nil)
	f.owner = f.ownerAt(top.At("owner"))
	if f.name == BoundariesFile {
		f.bundles, _ = f.globs(top.At(bundlesKey), nil)
	}
	if e := top.At("type"); e.Key != nil {
		f.holds = Type(f.doc.Word(e, string(Boundary), string(Invariant), string(deprecated)))
		f.doc.Reform(f.form())
	}
}

func (f *ruleFile) rule(item document.Entry) Rule {
	n := item.Value
	spot := f.doc.Spot(n)
	r := Rule{
		File: f.name, Line: spot.Line, Type: Boundary, FileExclude: f.exclude, at: spot, in02: f.is02,
	}
	if f.holds == Invariant {
		r.Type = Invariant
	}
	r.places[FileExcludeGlob], r.each = f.excludeAt, f.each
	m := f.doc.Mapping(n, "the rule", `its keys, the first after "- "`, f.ruleKeys)
	if m == nil {
		return r
	}
	r.ID = f.doc.ID(m.At("id"))
	r.Title = f.doc.Line(m.At("title"))
	r.Message, _ = f.doc.Text(m.At("message"))
	r.Remediation, _ = f.doc.Text(m.At("remediation"))
	r.DocsURL = f.docsURL(m.At("docs_url"))
	r.Owner = f.ownerAt(m.At("owner"))
	r.Severity = f.severity(m.At("severity"))
	r.Redact = f.doc.True(m.At("redact"))
	r.Tags = f.tags(m.At("tags"))
	r.NeverAllowed = f.doc.Only(m.At(neverKey), "never")
	f.enforcement(m.At("enforcement"))
	f.slow, f.only = nil, nil
	f.selects(&r, m.At("match"))
	r.slow = f.slow
	r.Examples = f.examples(m.At("examples"))
	return r
}

func (f *ruleFile) ownerAt(e document.Entry) string {
	owner := f.doc.Line(e)
	if f.is02 && owner != verdict.CodeOwners && strings.EqualFold(owner, verdict.CodeOwners) {
		f.doc.Fail(document.CodeValue, e.Value, `"owner" is `+document.Quoted(owner),
			"write "+verdict.CodeOwners+" for the owners of each file, or a name")
	}
	return owner
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
	m := f.doc.Mapping(e.Value, `"enforcement"`, f.doc.KeyForm("enforcement"), enforcementLevel)
	mode, ok := f.doc.Text(m.At("mode"))
	if ok && mode != "fail" {
		f.doc.Fail(document.CodeValue, m.At("mode").Value, "unknown mode "+document.Quoted(mode),
			`write "fail": there is no other mode`)
	}
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
		x.Path, ok = f.doc.Text(m.At("path"))
		if ok && (!fs.ValidPath(x.Path) || x.Path == "." || strings.Contains(x.Path, "\x00")) {
			f.doc.Fail(document.CodeValue, m.At("path").Value, "not a path within the tree: "+document.Quoted(x.Path),
				`write a path from the root of the tree, such as "modules/main.tf"`)
		}
		x.Content, _ = f.doc.Text(m.At("content"))
		x.Violates = f.doc.True(m.At("violates"))
		examples = append(examples, x)
	}
	return examples
}
