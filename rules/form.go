package rules

import (
	"fmt"

	"github.com/policyscan/policyscan/rules/document"
)

// How a rule file is written: its kinds of mapping and their keys, and what messages say of each. A ruleFile reads it.

var (
	fileLevel = document.Level{Name: "the file", Required: []string{"rules"}}
	ruleLevel = document.Level{
		Name:     "a rule",
		Required: []string{"id", "title", "enforcement", "match"},
		Optional: []string{"message", "remediation", "docs_url", "owner", "severity", "tags", "redact", "examples"},
	}
	enforcementLevel = document.Level{Name: `"enforcement"`, Required: []string{"mode"}}
	exampleLevel     = document.Level{Name: "an example", Required: []string{"path", "content", "violates"}}
)

// The keys of "match" that hold patterns.
const (
	boundaryKey  = "forbidden_patterns"
	invariantKey = "required_absent"
)

// matchLevel returns the level "match" of a rule file. A deprecated rule may have
// either pattern key, or both.
func matchLevel(fileName string) document.Level {
	l := document.Level{Name: `"match"`, Required: []string{"files"}, Optional: []string{"exclude"}}
	own, other, of, file := boundaryKey, invariantKey, "invariants", InvariantsFile
	if fileName == InvariantsFile {
		own, other, of, file = invariantKey, boundaryKey, "boundaries", BoundariesFile
	}
	l.Wrong = map[string]document.Wrong{other: {
		For:   own,
		Found: fmt.Sprintf("%q is the key of %s", other, of),
		Fix:   fmt.Sprintf("write %q, or move the rule to %s", own, file),
	}}
	if fileName == DeprecatedFile {
		l.Optional = append(l.Optional, own, other)
	} else {
		l.Required = append(l.Required, own)
	}
	return l
}

// exampleForm shows an example.
const exampleForm = `{path: main.tf, content: "…", violates: true}`

// form says how a rule file is written.
func form(fileName string) document.Form {
	return document.Form{
		File:     `"rules: []" if it has no rule`,
		Keys:     keyForms(fileName),
		Mappings: []string{"examples"},
		Levels:   []document.Level{fileLevel, ruleLevel, enforcementLevel, matchLevel(fileName), exampleLevel},
		Patterns: []string{boundaryKey, invariantKey},
		Verbatim: []string{"files", "exclude", "content"},
	}
}

// keyForms shows how the keys of a rule file are written.
func keyForms(fileName string) map[string]string {
	pattern := boundaryKey
	if fileName == InvariantsFile {
		pattern = invariantKey
	}
	return map[string]string{
		"rules":       `"rules: []" if there is no rule`,
		"id":          `"id: TEAM-TOPIC-001", unique in the bundle`,
		"title":       `"title: …", one line that says what is forbidden`,
		"enforcement": `"enforcement: {mode: fail}"`,
		"mode":        `"mode: fail"`,
		"match":       `"match: {files: […], ` + pattern + `: […]}"`,
		"files":       `files: ["**/*.tf"]`,
		boundaryKey:   boundaryKey + `: ["0.0.0.0/0"]`,
		invariantKey:  invariantKey + `: ["0.0.0.0/0"]`,
		"exclude":     `exclude: ["**/testdata/**"]`,
		"tags":        `tags: [network]`,
		"examples":    "examples: [" + exampleForm + "]",
		"path":        `"path: main.tf"`,
		"content":     `"content: …", the text of the file`,
		"violates":    `"violates: true" or "violates: false"`,
	}
}
