package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/rules/glob"
)

// parse reads the rules of a file. It also returns how many items the list of rules has, or -1 if
// that is not known. What it returns is of use only if the whole bundle has no errors.
func (f *file) parse(content []byte) (rules []Rule, items int) {
	root := f.document(content)
	if root == nil {
		return nil, -1
	}
	if isNull(root) || root.Kind == yaml.MappingNode && len(root.Content) == 0 {
		f.fail(CodeEmpty, place{}, "the file is empty", `write "rules: []" if it has no rule`)
		return nil, -1
	}
	if !f.checkTree(root, 0) {
		return nil, -1
	}
	f.fromTree = len(f.errs)
	if root.Kind != yaml.MappingNode {
		f.fail(CodeType, f.place(root), "the file is "+kindName(root), `write "rules:" and the list of rules beneath it`)
		return nil, -1
	}
	entries, ok := f.mapping(root, "the file", fileLevel, f.form("rules"))
	if !ok || entries["rules"].value == nil {
		return nil, -1
	}
	list := entries["rules"].value
	switch {
	case f.bad[list]:
		return nil, -1
	case isNull(list):
		f.fail(CodeValue, f.place(entries["rules"].key), `"rules" is empty`, `write "rules: []" if there is no rule`)
		return nil, -1
	case list.Kind != yaml.SequenceNode:
		f.fail(CodeType, f.place(list), `"rules" is `+kindName(list), `write a list, each rule beginning with "- id:"`)
		return nil, -1
	}
	for i, item := range list.Content {
		if f.loader.rules++; f.loader.rules == MaxRules+1 {
			f.fail(CodeLimit, f.place(item), fmt.Sprintf("more than %d rules in the bundle", MaxRules), "write fewer")
		}
		if f.loader.rules > MaxRules || f.full {
			break
		}
		rules = append(rules, f.ruleOf(item))
		end := len(f.lines) + 1
		if i+1 < len(list.Content) {
			end = list.Content[i+1].Line
		}
		f.attribute(item.Line, end)
		f.rule = ""
	}
	return rules, len(list.Content)
}

// attribute names the rule in the errors of its lines that were found before it was read.
func (f *file) attribute(from, to int) {
	if f.rule == "" {
		return
	}
	for _, e := range f.errs[:f.fromTree] {
		if from <= e.Line && e.Line < to {
			e.Rule = f.rule
		}
	}
}

// ruleOf reads one rule.
func (f *file) ruleOf(n *yaml.Node) Rule {
	at := f.place(n)
	r := Rule{File: f.name, Line: at.line, Type: Boundary, at: f.spot(at)}
	if f.name == InvariantsFile {
		r.Type = Invariant
	}
	if n.Kind == yaml.MappingNode {
		f.rule = f.peekID(n)
	}
	entries, ok := f.mapping(n, "the rule", ruleLevel, `its keys, the first after "- "`)
	if !ok {
		return r
	}
	r.ID = f.id(entries["id"])
	r.Title = f.oneLine(entries["title"])
	r.Message = f.words(entries["message"])
	r.Remediation = f.words(entries["remediation"])
	r.DocsURL = f.docsURL(entries["docs_url"])
	r.Owner = f.oneLine(entries["owner"])
	r.Severity = f.severity(entries["severity"])
	r.Redact = f.boolean(entries["redact"])
	r.Tags = f.tags(entries["tags"])
	f.enforcement(entries["enforcement"])
	f.match(&r, entries["match"])
	r.Examples = f.examples(entries["examples"])
	return r
}

// peekID returns the id of a rule if it is valid, so that the messages before it in
// the file can name it as well.
func (f *file) peekID(n *yaml.Node) string {
	id := f.peek(n, "id")
	if idMistake(id) != "" {
		return ""
	}
	return id
}

// peek returns the text of a key before its mapping is read; "" if it is not one, or missing.
func (f *file) peek(n *yaml.Node, key string) string {
	for i := 0; i < len(n.Content); i += 2 {
		if value := n.Content[i+1]; n.Content[i].Value == key && value.Kind == yaml.ScalarNode && !isNull(value) && !f.bad[value] {
			return value.Value
		}
	}
	return ""
}

// idMistake says what is wrong with an id. An id is one word: it is shown in lists, typed
// after --rule and compared by people.
func idMistake(id string) string {
	if len(id) > maxIDBytes {
		return fmt.Sprintf("longer than %d bytes", maxIDBytes)
	}
	for _, r := range id {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return fmt.Sprintf("not one word: it has the character U+%04X", r)
		}
	}
	return ""
}

func (f *file) id(e entry) string {
	id, ok := f.scalar(e)
	if !ok {
		return ""
	}
	at := f.place(e.value)
	if what := idMistake(id); what != "" {
		f.fail(CodeValue, at, "the id is "+what, `write one word, such as "TF-NET-001"`)
		return ""
	}
	if first, twice := f.ids[id]; twice {
		f.fail(CodeDuplicate, at, fmt.Sprintf("duplicate id, first at %s", first), "give each rule its own id, deprecated rules included")
		return ""
	}
	f.ids[id] = fmt.Sprintf("%s:%d", f.name, at.line)
	return id
}

func (f *file) docsURL(e entry) string {
	url, ok := f.scalar(e)
	if !ok {
		return ""
	}
	host, isHTTP := strings.CutPrefix(url, "https://")
	if !isHTTP {
		host, isHTTP = strings.CutPrefix(url, "http://")
	}
	blank := strings.ContainsFunc(url, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) })
	if !isHTTP || host == "" || host[0] == '/' || blank {
		f.fail(CodeValue, f.place(e.value), fmt.Sprintf(`"docs_url" is %s`, Quoted(url)), `write an address that begins with "https://"`)
		return ""
	}
	return url
}

func (f *file) severity(e entry) string {
	severity, ok := f.scalar(e)
	if !ok {
		return ""
	}
	words := []string{"low", "medium", "high", "critical"}
	if !slices.Contains(words, severity) {
		f.fail(CodeValue, f.place(e.value), "unknown severity "+Quoted(severity), "use low, medium, high or critical")
		return ""
	}
	return severity
}

func (f *file) tags(e entry) []string {
	var tags []string
	for _, item := range f.list(e) {
		if tag := f.oneLine(e.item(item)); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

func (f *file) enforcement(e entry) {
	if e.value == nil {
		return
	}
	entries, ok := f.mapping(e.value, `"enforcement"`, enforcementLevel, f.form("enforcement"))
	if !ok {
		return
	}
	mode, ok := f.scalar(entries["mode"])
	if ok && mode != "fail" {
		f.fail(CodeValue, f.place(entries["mode"].value), "unknown mode "+Quoted(mode), `write "fail": there is no other mode`)
	}
}

func (f *file) match(r *Rule, e entry) {
	if e.value == nil {
		return
	}
	entries, ok := f.mapping(e.value, `"match"`, matchLevel(f.name), f.form("match"))
	if !ok {
		return
	}
	r.Files, r.filesAt = f.globs(entries["files"])
	r.Exclude, r.excludeAt = f.globs(entries["exclude"])
	keys := []string{boundaryKey, invariantKey}
	for _, key := range keys {
		if entries[key].value != nil {
			patterns, at := f.patterns(entries[key])
			r.Patterns = append(r.Patterns, patterns...)
			r.patternsAt = append(r.patternsAt, at...)
		}
	}
	if f.name != DeprecatedFile {
		return
	}
	// A deprecated rule is of the type that its key says; with both keys, of the first.
	if entries[boundaryKey].value == nil && entries[invariantKey].value != nil {
		r.Type = Invariant
	}
	if !f.hasKey(e.value, boundaryKey) { // nor the other
		f.fail(CodeValue, f.place(e.value), fmt.Sprintf(`"match" has neither %q nor %q`, boundaryKey, invariantKey), "write "+f.form(boundaryKey))
	}
}

// globs reads a list of globs.
func (f *file) globs(e entry) (globs []string, at []place) {
	seen := map[string]bool{}
	for _, item := range f.list(e) {
		text, ok := f.scalar(e.item(item))
		if f.full {
			break
		}
		if !ok {
			continue
		}
		here := f.place(item)
		if seen[text] {
			f.fail(CodeDuplicate, here, "the glob "+Quoted(text)+" is listed twice", "remove one of them")
			continue
		}
		seen[text] = true
		if mistake := f.globMistake(text); mistake != nil {
			f.fail(mistake.Code, here, mistake.Found, mistake.Fix)
			continue
		}
		globs, at = append(globs, text), append(at, here)
	}
	return globs, at
}

// globMistake checks each distinct glob once: a bundle may well have one
// in all of its rules.
func (l *loader) globMistake(text string) *Error {
	if mistake, known := l.globs[text]; known {
		return mistake
	}
	var found *Error
	var mistake *glob.Mistake
	if err := glob.Check(text); errors.As(err, &mistake) {
		found = &Error{Code: CodeGlob, Found: mistake.Found, Fix: mistake.Fix}
	} else if l.expansions += glob.Expansions(text); l.expansions > maxExpansions {
		found = &Error{Code: CodeLimit, Found: fmt.Sprintf("more than %d different globs in the bundle, with braces expanded", maxExpansions), Fix: "write fewer"}
	}
	l.globs[text] = found
	return found
}

// patterns reads a list of patterns. They are taken as they stand.
func (f *file) patterns(e entry) (patterns []string, at []place) {
	seen := map[string]bool{}
	for _, item := range f.list(e) {
		text, ok := f.scalar(e.item(item))
		if f.full {
			break
		}
		if !ok {
			continue
		}
		here := f.place(item)
		switch {
		case len(text) > MaxPatternBytes:
			f.fail(CodeLimit, here, fmt.Sprintf("a pattern of %d bytes; the limit is %d", len(text), MaxPatternBytes), "write only the part that identifies it")
		case seen[text]:
			f.fail(CodeDuplicate, here, "the pattern "+Quoted(text)+" is listed twice", "remove one of them")
		default:
			patterns, at = append(patterns, text), append(at, here)
		}
		seen[text] = true
	}
	return patterns, at
}

func (f *file) examples(e entry) []Example {
	var examples []Example
	for _, item := range f.list(e) {
		entries, ok := f.mapping(item, "the example", exampleLevel, exampleForm)
		if !ok {
			continue
		}
		x := Example{at: f.spot(f.place(item))}
		x.Path, ok = f.scalar(entries["path"])
		if ok && (!fs.ValidPath(x.Path) || x.Path == "." || strings.Contains(x.Path, "\x00")) {
			f.fail(CodeValue, f.place(entries["path"].value), "not a path within the tree: "+Quoted(x.Path), `write a path from the root of the tree, such as "modules/main.tf"`)
		}
		x.Content, _ = f.scalar(entries["content"])
		x.Violates = f.boolean(entries["violates"])
		examples = append(examples, x)
	}
	return examples
}
