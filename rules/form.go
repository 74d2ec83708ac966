package rules

import (
	"fmt"
	"path"

	"github.com/policyscan/policyscan/rules/document"
)

// The form of a rule file: its kinds of mapping, their keys, and their names in messages.

type shape struct {
	name  string // of the file
	is02  bool   // it has bundle: "0.2", or means to
	holds Type   // the type of the rules; deprecated and allowances for those files, "" if unknown
}

// deprecated is the kind of a file of deprecated rules, which may be of either type. A file of allowances holds no
// rules.
const (
	deprecated Type = "deprecated"
	allowances Type = "allowances"
)

func shapeOf(name string) shape {
	return shape{name: name, holds: map[string]Type{
		BoundariesFile: Boundary, InvariantsFile: Invariant, DeprecatedFile: deprecated, AllowancesFile: allowances,
	}[name]}
}

func (s shape) isNamed() bool { return shapeOf(s.name).holds != "" }

var (
	enforcementLevel = document.Level{Name: `"enforcement"`, Required: []string{"mode"}}
	exampleLevel     = document.Level{Name: "an example", Required: []string{"path", "content", "violates"}}
)

func (s shape) rule() document.Level {
	l := document.Level{
		Name:     "a rule",
		Required: []string{"id", "title", "enforcement", "match"},
		Optional: []string{"message", "remediation", "docs_url", "owner", "severity", "tags", "redact", "examples"},
	}
	l.Wrong = map[string]document.Wrong{versionKey: {
		Found: `"bundle" in a rule, where it changes nothing`, Fix: writeVersion,
	}}
	if s.is02 {
		l.Required, l.Optional = []string{"id", "title", "match"}, append(l.Optional, neverKey, "enforcement")
	}
	return l
}

// neverKey is the key of a rule that forbids allowances for it. Its only value is never.
const neverKey = "allowances"

// The keys of "match" that hold patterns.
const (
	boundaryKey  = "forbidden_patterns"
	invariantKey = "required_absent"
	requiredKey  = "required_patterns"
)

// The keys of "match" that hold globs of forbidden or required files.
const (
	forbiddenFilesKey = "forbidden_files"
	requiredFilesKey  = "required_files"
)

// containingKey is the key of "match" with the patterns that a file has one of, or the rule's are not asked of it.
const containingKey = "containing"

// bundlesKey is the key of the boundaries' file that names directories with a bundle.
const bundlesKey = "bundles"

const writeVersion = `write bundle: "0.2" as the first line of the file`

func (s shape) level() document.Level {
	l := document.Level{Name: "the file", Required: []string{"rules"}}
	if !s.is02 {
		return l
	}
	l.Required, l.Optional = []string{versionKey, "rules"}, []string{"exclude"}
	l.Wrong = map[string]document.Wrong{"allowances": {
		Found: `"allowances" in a file of rules`, Fix: "move them to " + AllowancesFile,
	}}
	if s.name == BoundariesFile {
		l.Optional = append(l.Optional, "owner", bundlesKey)
	} else {
		l.Wrong[bundlesKey] = document.Wrong{
			Found: `"bundles" in ` + path.Base(s.name), Fix: "move it to " + BoundariesFile,
		}
	}
	if !s.isNamed() {
		l.Required = []string{versionKey, "type", "rules"}
		return l
	}
	l.Wrong["type"] = document.Wrong{
		Found: fmt.Sprintf("unknown key \"type\" in the file: its name, %s, says that its rules are %s",
			path.Base(s.name), plurals[s.holds]),
		Fix: "remove it, or give the file another name",
	}
	return l
}

var plurals = map[Type]string{Boundary: "boundaries", Invariant: "invariants", deprecated: "deprecated"}

// match returns the level "match" of a rule file. A deprecated rule may have either pattern key, or both.
func (s shape) match() document.Level {
	l := document.Level{Name: `"match"`, Required: []string{"files"}, Optional: []string{"exclude"}}
	own, other, of, file := boundaryKey, invariantKey, "invariants", InvariantsFile
	if s.holds == Invariant {
		own, other, of, file = invariantKey, boundaryKey, "boundaries", BoundariesFile
	}
	move := "move the rule to " + file
	l.Wrong = map[string]document.Wrong{other: {
		For:   own,
		Found: fmt.Sprintf("%q is the key of %s", other, of),
		Fix:   fmt.Sprintf("write %q, or %s", own, move),
	}}
	if !s.is02 {
		if s.holds == deprecated {
			l.Optional = append(l.Optional, own, other)
		} else {
			l.Required = append(l.Required, own)
		}
		return l
	}
	l.Required, l.Optional = nil, nil // which keys are required depends on the others
	for _, k := range []struct {
		key     string
		not     Type   // the rule type that does not have the key
		instead string // the key that it counts as for that type
	}{
		{key: "files"}, {key: "exclude"}, {key: "path_case"}, {key: containingKey},
		{boundaryKey, Invariant, invariantKey}, {invariantKey, Boundary, boundaryKey},
		{requiredKey, Boundary, boundaryKey},
		{key: forbiddenFilesKey}, {requiredFilesKey, Boundary, forbiddenFilesKey}, {key: "unparsable"},
	} {
		switch {
		case k.not == "" || k.not != s.holds:
			l.Optional = append(l.Optional, k.key)
		case k.key != other:
			found := fmt.Sprintf("%q is a key of %s", k.key, of)
			l.Wrong[k.key] = document.Wrong{For: k.instead, Found: found, Fix: move}
		}
	}
	return l
}

const exampleForm = `{path: main.tf, content: "…", violates: true}`

func (s shape) form() document.Form {
	if s.holds == allowances {
		return allowancesForm()
	}
	f := document.Form{
		File:     `"rules: []" if it has no rule`,
		Keys:     s.keyForms(),
		Mappings: []string{"examples"},
		Levels:   []document.Level{s.level(), s.rule(), enforcementLevel, s.match(), exampleLevel},
		Patterns: []string{boundaryKey, invariantKey},
		Verbatim: []string{"files", "exclude", bundlesKey, "content"},
	}
	if s.is02 {
		f.Levels = append(f.Levels, itemLevel(true))
		f.Patterns = append(f.Patterns, requiredKey, containingKey, "text", "regex", "except")
		f.Verbatim = append(f.Verbatim, forbiddenFilesKey, requiredFilesKey, "key", "each", "matches", "matches_not")
	}
	return f
}

func (s shape) keyForms() map[string]string {
	pattern := boundaryKey
	if s.holds == Invariant {
		pattern = invariantKey
	}
	return map[string]string{
		versionKey:        `bundle: "0.2"`,
		"type":            `"type: boundary", "type: invariant" or "type: deprecated", for the rules of the file`,
		bundlesKey:        `bundles: ["services/*"]`,
		"rules":           `"rules: []" if there is no rule`,
		"id":              `"id: TEAM-TOPIC-001", unique in the bundle`,
		"title":           `"title: …", one line about what is forbidden`,
		"enforcement":     `"enforcement: {mode: fail}"`,
		"mode":            `"mode: fail"`,
		"match":           `"match: {files: […], ` + pattern + `: […]}"`,
		"files":           `files: ["**/*.tf"]`,
		boundaryKey:       boundaryKey + `: ["0.0.0.0/0"]`,
		invariantKey:      invariantKey + `: ["0.0.0.0/0"]`,
		requiredKey:       requiredKey + `: ["SPDX-License-Identifier"]`,
		forbiddenFilesKey: forbiddenFilesKey + `: ["**/*.pem"]`,
		requiredFilesKey:  requiredFilesKey + `: ["LICENSE"]`,
		containingKey:     `containing: [{key: kind, is: Deployment}]`,
		"path_case":       `"path_case: ignore"`,
		"exclude":         `exclude: ["**/testdata/**"]`,
		"text":            `text: 'acl = "public-read"'`,
		"regex":           `regex: 'image:\s*\S+:latest\b'`,
		"only":            `"only: unparsable"`,
		"except":          `except: ':latest@sha256:[0-9a-f]{64}'`,
		"key":             `key: "spec.containers.image"`,
		"each":            `each: "resource.aws_db_instance.*"`,
		"is":              `is: true`,
		"is_not":          `is_not: true`,
		"matches":         `matches: '^arn:'`,
		"matches_not":     `matches_not: '^registry\.example\.com/'`,
		"where":           `where: {kind: [Deployment, StatefulSet]}`,
		"if":              `if: {Type: "AWS::RDS::DBInstance"}`,
		"below":           `below: 2`,
		"above":           `above: 10`,
		"at_least":        `at_least: 2`,
		"at_most":         `at_most: 10`,
		"quantity":        `"quantity: true"`,
		"any":             `"any: true"`,
		"format":          `"format: yaml", "format: json", "format: hcl", "format: toml" or "format: dockerfile"`,
		"unparsable":      `"unparsable: text"`,
		neverKey:          `"allowances: never"`,
		"tags":            `tags: [network]`,
		"examples":        "examples: [" + exampleForm + "]",
		"path":            `"path: main.tf"`,
		"content":         `"content: …", the text of the file`,
		"violates":        `"violates: true" or "violates: false"`,
	}
}
