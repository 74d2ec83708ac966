package naive

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A loader reads one file and notes its mistakes.
type loader struct {
	file     RuleFile
	mistakes []Mistake
}

func (l *loader) wrong(line int, format string, args ...any) {
	l.mistakes = append(l.mistakes, Mistake{l.file.Name, line, fmt.Sprintf(format, args...)})
}

// loadFile reads a rule file.
func loadFile(name, content string) (RuleFile, []Mistake) {
	l := loader{file: RuleFile{Name: name, Version: "0.1"}}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(content), &doc); err != nil || len(doc.Content) != 1 {
		l.wrong(0, "not one document of YAML: %v", err)
		return l.file, l.mistakes
	}
	top := l.mapping(doc.Content[0])
	switch name {
	case "boundaries.yml":
		l.file.Type = "boundary"
	case "invariants.yml":
		l.file.Type = "invariant"
	case "deprecated.yml":
		l.file.Type = "deprecated"
	}
	if version := top["bundle"]; version != nil {
		if l.file.Version = l.text(version); l.file.Version != "0.2" {
			l.wrong(version.Line, "an unknown version")
		}
	}
	known := []string{"bundle", "rules"}
	if l.file.Version == "0.2" {
		known = append(known, "exclude")
		if name == "boundaries.yml" {
			known = append(known, "bundles")
		}
		if !standard(name) {
			known = append(known, "type")
			l.fileType(top["type"])
		}
	}
	l.known(doc.Content[0], known...)
	if exclude := top["exclude"]; exclude != nil && l.file.Version == "0.2" {
		l.file.Exclude = l.globs(exclude)
	}
	if bundles := top["bundles"]; bundles != nil && l.file.Version == "0.2" && name == "boundaries.yml" {
		l.file.Bundles = l.globs(bundles)
	}
	rules := top["rules"]
	if rules == nil || rules.Kind != yaml.SequenceNode {
		l.wrong(1, "no list of rules")
		return l.file, l.mistakes
	}
	for _, rule := range rules.Content {
		l.file.Rules = append(l.file.Rules, l.rule(rule))
	}
	return l.file, l.mistakes
}

func (l *loader) fileType(node *yaml.Node) {
	if node == nil {
		l.wrong(0, "it does not say its type")
		return
	}
	l.file.Type = l.text(node)
	if !slices.Contains([]string{"boundary", "invariant", "deprecated"}, l.file.Type) {
		l.wrong(node.Line, "unknown type")
	}
}

// mapping returns the values of a mapping; a key twice is a mistake.
func (l *loader) mapping(node *yaml.Node) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	if node.Kind != yaml.MappingNode {
		l.wrong(node.Line, "not a mapping")
		return values
	}
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i].Value
		if values[key] != nil {
			l.wrong(node.Content[i].Line, "%s twice", key)
		}
		values[key] = node.Content[i+1]
	}
	return values
}

// known notes each key of a mapping that is not one of these.
func (l *loader) known(node *yaml.Node, keys ...string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i].Value; !slices.Contains(keys, key) && !strings.HasPrefix(key, "x-") {
			l.wrong(node.Content[i].Line, "unknown key %q", key)
		}
	}
}

// text returns a text that is not blank.
func (l *loader) text(node *yaml.Node) string {
	if node == nil || node.Kind != yaml.ScalarNode || node.Tag == "!!null" || strings.TrimSpace(node.Value) == "" {
		line := 0
		if node != nil {
			line = node.Line
		}
		l.wrong(line, "not a text, or a blank one")
		return ""
	}
	return node.Value
}

// list returns the items of a list that is not empty.
func (l *loader) list(node *yaml.Node) []*yaml.Node {
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		l.wrong(node.Line, "not a list, or an empty one")
		return nil
	}
	return node.Content
}

// texts returns the items of a list of different texts.
func (l *loader) texts(node *yaml.Node) []string {
	var all []string
	for _, item := range l.list(node) {
		text := l.text(item)
		if slices.Contains(all, text) {
			l.wrong(item.Line, "%q twice", text)
		}
		all = append(all, text)
	}
	return all
}

// globs reads a list of globs. In a 0.2 file one says where it begins, and a leading slash is the root.
func (l *loader) globs(node *yaml.Node) []string {
	all := l.texts(node)
	if l.file.Version != "0.2" {
		return all
	}
	for i, glob := range all {
		if !strings.Contains(glob, "/") && glob != "**" {
			l.wrong(l.list(node)[i].Line, "%q without a slash", glob)
		}
		all[i] = strings.TrimPrefix(glob, "/")
	}
	return all
}

const withoutUnparsable = "only without unparsable: text"

// rule reads one rule.
func (l *loader) rule(node *yaml.Node) Rule {
	values := l.mapping(node)
	known := []string{
		"id", "title", "enforcement", "match", "message", "remediation", "docs_url", "owner", "severity", "tags",
		"redact", "examples",
	}
	if l.file.Version == "0.2" {
		known = append(known, "allowances")
	}
	l.known(node, known...)
	r := Rule{FileExclude: l.file.Exclude}
	if never := values["allowances"]; never != nil && l.file.Version == "0.2" {
		r.NeverAllowed = true
		if l.text(never) != "never" {
			l.wrong(never.Line, "allowances is never, or is missing")
		}
	}
	if r.ID = l.text(values["id"]); values["match"] == nil {
		l.wrong(node.Line, "no match")
		return r
	}
	match := values["match"]
	values = l.mapping(match)
	l.known(match, l.matchKeys()...)
	globs := func(key string) []string {
		if values[key] == nil {
			return nil
		}
		return l.globs(values[key])
	}
	r.Files, r.Exclude = globs("files"), globs("exclude")
	r.ForbiddenFiles, r.RequiredFiles = globs("forbidden_files"), globs("required_files")
	seen := map[string]string{}
	var only []int // the lines of items that only files without a reading are checked for
	items := func(key string) []Item {
		if values[key] == nil {
			return nil
		}
		seen := seen
		if key == "containing" {
			seen = map[string]string{}
		}
		var items []Item
		for _, node := range l.list(values[key]) {
			item := l.item(node, key)
			switch seen[item.Name] {
			case "":
			case key:
				l.wrong(node.Line, "the item %s twice", item.Name)
			default:
				l.wrong(0, "the item %s in two lists", item.Name)
			}
			seen[item.Name] = key
			if items = append(items, item); item.OnlyUnparsable {
				only = append(only, node.Line)
			}
		}
		return items
	}
	r.Forbidden, r.Absent = items("forbidden_patterns"), items("required_absent")
	r.Required = items("required_patterns")
	all := slices.Concat(r.Forbidden, r.Absent, r.Required)
	if r.Containing = items("containing"); r.Containing != nil && all == nil {
		l.wrong(values["containing"].Line, "containing without a pattern item")
	}
	if pathCase := values["path_case"]; pathCase != nil {
		r.IgnorePathCase = true
		if l.text(pathCase) != "ignore" {
			l.wrong(pathCase.Line, "path_case is ignore, or is missing")
		}
		if r.Files == nil && r.ForbiddenFiles == nil {
			l.wrong(pathCase.Line, "path_case without files or forbidden_files")
		}
		for _, key := range []string{"files", "forbidden_files"} {
			if values[key] == nil {
				continue
			}
			for _, glob := range values[key].Content {
				if mixedRange(glob.Value) {
					l.wrong(glob.Line, "a range of letters and others")
				}
			}
		}
	}
	l.whole(values)
	if slices.ContainsFunc(r.Containing, func(i Item) bool { return i.OnlyUnparsable }) {
		l.wrong(values["containing"].Line, "only in containing")
	} else if values["unparsable"] == nil {
		for _, line := range only {
			l.wrong(line, withoutUnparsable)
		}
	}
	if unparsable := values["unparsable"]; unparsable != nil && l.file.Version == "0.2" {
		r.UnparsableText = true
		if l.text(unparsable) != "text" {
			l.wrong(unparsable.Line, "unparsable is text, or is missing")
		}
		isKey := func(i Item) bool { return i.Key != nil }
		keys := len(slices.DeleteFunc(slices.Clone(all), func(i Item) bool { return !isKey(i) }))
		if keys == 0 || keys == len(all) {
			l.wrong(unparsable.Line, "unparsable without a key item, or without another one")
		}
	}
	return r
}

// matchKeys are the keys that a match may have in this file.
func (l *loader) matchKeys() []string {
	keys := []string{"files", "exclude"}
	boundary, invariant := l.file.Type != "invariant", l.file.Type != "boundary"
	if boundary {
		keys = append(keys, "forbidden_patterns")
	}
	if invariant {
		keys = append(keys, "required_absent")
	}
	if l.file.Version != "0.2" {
		return keys
	}
	if invariant {
		keys = append(keys, "required_patterns", "required_files")
	}
	return append(keys, "forbidden_files", "path_case", "unparsable", "containing")
}

// whole notes what a rule lacks.
func (l *loader) whole(values map[string]*yaml.Node) {
	has := func(key string) bool { return values[key] != nil }
	items := has("forbidden_patterns") || has("required_absent") || has("required_patterns")
	paths := has("forbidden_files") || has("required_files")
	switch {
	case !items && !paths:
		l.wrong(0, "nothing to look for")
	case items && !has("files"):
		l.wrong(0, "items without files")
	case !items && has("files"):
		l.wrong(0, "files without items")
	}
}
