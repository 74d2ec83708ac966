package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A level is a kind of mapping in a rule file, and its keys.
type level struct {
	name     string // as messages call it
	required []string
	optional []string
}

var (
	fileLevel = level{"the file", []string{"rules"}, nil}
	ruleLevel = level{"a rule", []string{"id", "title", "enforcement", "match"},
		[]string{"message", "remediation", "docs_url", "owner", "severity", "tags", "redact", "examples"}}
	enforcementLevel = level{`"enforcement"`, []string{"mode"}, nil}
	exampleLevel     = level{"an example", []string{"path", "content", "violates"}, nil}
)

// The keys of "match" that hold patterns.
const (
	boundaryKey  = "forbidden_patterns"
	invariantKey = "required_absent"
)

// matchLevel returns the level "match" of a rule file. A deprecated rule may have
// either pattern key, or both.
func matchLevel(fileName string) level {
	l := level{`"match"`, []string{"files"}, []string{"exclude"}}
	switch fileName {
	case BoundariesFile:
		l.required = append(l.required, boundaryKey)
	case InvariantsFile:
		l.required = append(l.required, invariantKey)
	default:
		l.optional = append(l.optional, boundaryKey, invariantKey)
	}
	return l
}

func (l level) keys() []string { return append(slices.Clone(l.required), l.optional...) }

// isRequired reports whether a key must be there: in a bundle, wherever it may be.
func (f *file) isRequired(e entry) bool {
	if e.required || f.dialect != nil {
		return e.required
	}
	for _, l := range []level{fileLevel, ruleLevel, enforcementLevel, matchLevel(BoundariesFile), matchLevel(InvariantsFile), exampleLevel} {
		if slices.Contains(l.required, e.key.Value) {
			return true
		}
	}
	return false
}

// An entry is a key of a mapping and its value.
type entry struct {
	key, value *yaml.Node
	isItem     bool // value is an item of the key's list
	required   bool // the key must be there
}

// mapping reads the keys of n. What is unknown, missing or not a mapping is reported;
// the rest is returned. what names n in messages, form shows how it is written.
func (f *file) mapping(n *yaml.Node, what string, l level, form string) (map[string]entry, bool) {
	if f.bad[n] {
		return nil, false
	}
	if n.Kind != yaml.MappingNode {
		f.misplaced(n, what, form)
		return nil, false
	}
	entries := map[string]entry{}
	keys := l.keys()
	for i := 0; i < len(n.Content) && !f.full; i += 2 {
		key := n.Content[i]
		switch {
		case f.bad[key] || f.isOwn(key.Value):
		case slices.Contains(keys, key.Value):
			entries[key.Value] = entry{key: key, value: n.Content[i+1], required: slices.Contains(l.required, key.Value)}
		default:
			found, fix := f.unknownKey(key.Value, l)
			f.fail(CodeKey, f.place(key), found, fix)
		}
	}
	for _, key := range l.required {
		if _, ok := entries[key]; !ok && !f.full && !f.hasKey(n, key) {
			f.fail(CodeValue, f.place(n), fmt.Sprintf("%s has no %q", what, key), "write "+f.form(key))
		}
	}
	return entries, true
}

// misplaced reports a value that is of another kind than it must be.
func (f *file) misplaced(n *yaml.Node, what, form string) {
	code, found := CodeType, what+" is "+kindName(n)
	if isNull(n) {
		code, found = CodeValue, what+" is empty"
	}
	f.fail(code, f.place(n), found, "write "+form)
}

// isOwn reports whether a key is one of the writer's own, which nobody reads.
func (f *file) isOwn(key string) bool {
	return strings.HasPrefix(key, "x-") && (f.dialect == nil || !f.dialect.Closed)
}

// hasKey reports whether n has a key, even if it was refused or misspelt: its absence would
// be the same mistake a second time.
func (f *file) hasKey(n *yaml.Node, key string) bool {
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i].Value
		if f.isOwn(k) {
			continue
		}
		if k == key || Nearest(k, []string{key}) != "" {
			return true
		}
		if (k == boundaryKey || k == invariantKey) && (key == boundaryKey || key == invariantKey) {
			return true // the key of the other type
		}
	}
	return false
}

// exampleForm shows an example.
const exampleForm = `{path: main.tf, content: "…", violates: true}`

// form shows how a key is written.
func (f *file) form(key string) string {
	if f.dialect != nil {
		return cmp.Or(f.dialect.Keys[key], fmt.Sprintf("%q", key+": …"))
	}
	switch key {
	case "rules":
		return `"rules: []" if there is no rule`
	case "id":
		return `"id: TEAM-TOPIC-001", unique in the bundle`
	case "title":
		return `"title: …", one line that says what is forbidden`
	case "enforcement":
		return `"enforcement: {mode: fail}"`
	case "mode":
		return `"mode: fail"`
	case "match":
		pattern := boundaryKey
		if f.name == InvariantsFile {
			pattern = invariantKey
		}
		return `"match: {files: […], ` + pattern + `: […]}"`
	case "files":
		return `files: ["**/*.tf"]`
	case boundaryKey, invariantKey:
		return key + `: ["0.0.0.0/0"]`
	case "exclude":
		return `exclude: ["**/testdata/**"]`
	case "tags":
		return `tags: [network]`
	case "examples":
		return "examples: [" + exampleForm + "]"
	case "path":
		return `"path: main.tf"`
	case "content":
		return `"content: …", the text of the file`
	case "violates":
		return `"violates: true" or "violates: false"`
	}
	return fmt.Sprintf("%q", key+": …")
}

// maxKeyBytes is the length above which an unknown key is not compared with the known ones.
const maxKeyBytes = 64

// unknownKey explains a key that does not belong where it is.
func (f *file) unknownKey(key string, l level) (found, fix string) {
	found = fmt.Sprintf("unknown key %s in %s", Quoted(key), l.name)
	own := `; your own keys must begin with "x-"`
	if f.dialect != nil && f.dialect.Closed {
		own = ""
	}
	if len(key) > maxKeyBytes {
		return found, cmp.Or(strings.TrimPrefix(own, "; "), "remove it")
	}
	if l.name == `"match"` {
		if key == invariantKey {
			return fmt.Sprintf("%q is the key of invariants", key), fmt.Sprintf("write %q, or move the rule to %s", boundaryKey, InvariantsFile)
		}
		if key == boundaryKey {
			return fmt.Sprintf("%q is the key of boundaries", key), fmt.Sprintf("write %q, or move the rule to %s", invariantKey, BoundariesFile)
		}
	}
	if near := Nearest(key, l.keys()); near != "" {
		return found, fmt.Sprintf("write %q", near)
	}
	for _, other := range []level{fileLevel, ruleLevel, enforcementLevel, matchLevel(f.name), exampleLevel} {
		if near := Nearest(key, other.keys()); near != "" && other.name != l.name && f.dialect == nil {
			return found, fmt.Sprintf("%q belongs in %s", near, other.name)
		}
	}
	if keys := l.keys(); len(keys) > 1 {
		return found, "the keys are " + strings.Join(keys, ", ") + own
	}
	return found, "the key is " + l.required[0] + own
}

// Nearest returns the word that key was most likely meant to be: equal but for case and
// separators, or at most a third of its letters away. It returns "" if there is none, or if key is very long.
func Nearest(key string, words []string) string {
	if len(key) > maxKeyBytes {
		return ""
	}
	plain := normalKey(key)
	best, least := "", 0
	for _, word := range words {
		if normalKey(word) == plain {
			return word
		}
		d := distance(plain, normalKey(word))
		if d <= max(1, len(word)/3) && (best == "" || d < least) {
			best, least = word, d
		}
	}
	return best
}

func normalKey(key string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "", ":", "").Replace(strings.ToLower(key))
}

// distance counts the letters to insert, delete, replace or swap to turn a into b.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}

// isNull reports whether n is the absence of a value: nothing, "~" or an unquoted null.
func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Style == 0
}

// kindName says what n is, with its article.
func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	return "a string"
}
