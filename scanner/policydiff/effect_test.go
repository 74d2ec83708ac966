package policydiff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/verdict"
)

// bundleOf returns a bundle with a rule R for each mapping, as it stands in a rule file after the id.
func bundleOf(t testing.TB, kind rules.Type, list ...string) *rules.Bundle {
	t.Helper()
	b, err := bundleFrom(kind, list...)
	if err != nil {
		t.Fatalf("%v\n%s", err, list)
	}
	return b
}

func bundleFrom(kind rules.Type, list ...string) (*rules.Bundle, error) {
	text := map[rules.Type]string{}
	for _, k := range []rules.Type{rules.Boundary, rules.Invariant} {
		text[k] = "bundle: \"0.2\"\nrules:"
		if k != kind || len(list) == 0 {
			text[k] += " []"
		}
	}
	for i, r := range list {
		text[kind] += fmt.Sprintf("\n  - {id: R%d, title: t, %s}", i+1, r)
	}
	for k := range text {
		if k != kind {
			text[k] = "bundle: \"0.2\"\nrules: []"
		}
	}
	return rules.Load(rules.Files{
		rules.BoundariesFile: []byte(text[rules.Boundary] + "\n"),
		rules.InvariantsFile: []byte(text[rules.Invariant] + "\n"),
	})
}

// A door is the engine's door for a bundle: one file, or a tree.
type door struct {
	*rules.Bundle
	*check.ContentChecker
}

func doorOf(b *rules.Bundle) door { return door{b, check.NewContentChecker(b)} }

func (d door) refuses(t testing.TB, w verdict.Witness) bool {
	t.Helper()
	file := func(name, content string) bool {
		found, err := d.Check(context.Background(), verdict.RawPath(name), []byte(content))
		var undecided *check.UndecidedError
		if err != nil && !errors.As(err, &undecided) {
			t.Fatal(err)
		}
		return len(found) > 0 || err != nil
	}
	if w.File != "" {
		return file(w.File, w.Content)
	}
	missing := false
	for i := range d.Rules {
		for k := range d.Rules[i].RequiredFiles {
			missing = missing || !slices.ContainsFunc(w.Tree, func(name string) bool {
				return slices.Contains(d.Requiring(verdict.RawPath(name), nil), rules.GlobOf{Rule: i, Glob: k})
			})
		}
	}
	return missing || slices.ContainsFunc(w.Tree, func(name string) bool { return file(name, "x\n") })
}

// confirm checks the witnesses of a change.
func confirm(t testing.TB, c verdict.PolicyChange, before, after *rules.Bundle) {
	t.Helper()
	own := func(b *rules.Bundle) door {
		return doorOf(b.Only(func(r *rules.Rule) bool { return r.ID == c.RuleID }))
	}
	for _, w := range c.Witness {
		refusing, passing := before, after
		if w.Effect == verdict.Stronger {
			refusing, passing = after, before
		}
		if !own(refusing).refuses(t, w) || own(passing).refuses(t, w) ||
			doorOf(passing).refuses(t, w) != (len(w.RefusedBy) > 0) {
			t.Errorf("%s: the engine does not confirm %+v", c.RuleID, w)
		}
	}
}

// TestEffects: each way to weaken a rule is found, or at least not called the same; and its reverse is stronger.
func TestEffects(t *testing.T) {
	const (
		tf  = `files: ["**/*.tf"]`
		yml = `files: ["**/*.yml"]`
		any = `files: ["**/*"]`
	)
	key := func(item string) string { return yml + `, forbidden_patterns: [` + item + `]` }
	needs := func(item string) string { return yml + `, required_patterns: [` + item + `]` }
	for _, c := range []struct {
		kind            rules.Type
		before, after   string // of match; or, with a colon after the word match, of the whole rule
		effect, reverse verdict.Effect
	}{
		{"boundary", tf + `, forbidden_patterns: [a, "::/0"]`, tf + `, forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", tf + `, forbidden_patterns: [a]`, tf + `, forbidden_patterns: [b]`, "both", "both"},
		{"boundary", tf + `, forbidden_patterns: [a]`, tf + `, forbidden_patterns: [{text: a}]`, "", ""},
		{"boundary", tf + `, forbidden_patterns: [a, b]`, tf + `, forbidden_patterns: [b, a]`, "same", "same"},
		{"boundary", tf + `, forbidden_patterns: ["a"]`, tf + `, forbidden_patterns: ["ab"]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [{text: ab, case: ignore}]`, tf + `, forbidden_patterns: [ab]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [ab]`, tf + `, forbidden_patterns: [{text: ab, words: true}]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [{text: "a = b", spaces: any}]`, tf + `, forbidden_patterns: ["a = b"]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [ab]`, tf + `, forbidden_patterns: [{text: ab, within_lines: 3}]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [{text: ab, within_lines: 5}]`, tf + `, forbidden_patterns: [{text: ab, within_lines: 3}]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [{regex: 'a\d{2,}'}]`, tf + `, forbidden_patterns: [{regex: 'a\d{3,}'}]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [{regex: '\b(foo|bar)\b'}]`, tf + `, forbidden_patterns: [{regex: '\bfoo\b'}]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [{regex: '(?i)secret'}]`, tf + `, forbidden_patterns: [{regex: 'secret'}]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [{regex: ':latest\b'}]`,
			tf + `, forbidden_patterns: [{regex: ':latest\b', except: ':latest@sha256:[0-9a-f]{64}'}]`, "weaker", "unknown"},
		{"boundary", tf + `, forbidden_patterns: [a]`, `files: ["/*.tf"], forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", tf + `, forbidden_patterns: [a]`, `files: ["**/main.tf"], forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", tf + `, forbidden_patterns: [a]`, `files: ["modules/**/*.tf"], forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", tf + `, forbidden_patterns: [a]`, tf + `, exclude: ["legacy/**"], forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", tf + `, forbidden_patterns: [a]`, tf + `, exclude: ["**/*_test.tf"], forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", tf + `, exclude: ["x/*.tf"], forbidden_patterns: [a]`, tf + `, exclude: ["x/**"], forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", `files: ["a/**/*.{tf,yml}"], forbidden_patterns: [a]`, `files: ["a/**/*.yml"], forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", tf + `, path_case: ignore, forbidden_patterns: [a]`, tf + `, forbidden_patterns: [a]`, "weaker", "stronger"},
		{"boundary", `files: ["**/[!a].tf"], forbidden_patterns: [a]`, `files: ["**/[!a].tf"], path_case: ignore, forbidden_patterns: [a]`, "unknown", "weaker"},
		{"boundary", `forbidden_files: ["**/*.pem", "**/id_rsa"]`, `forbidden_files: ["**/*.pem"]`, "weaker", "stronger"},
		{"boundary", `forbidden_files: ["**/*.pem"]`, `forbidden_files: ["**/*.pem"], exclude: ["t/**"]`, "weaker", "stronger"},
		{"boundary", `files: ["**/*"], forbidden_patterns: [a], containing: [b]`, any + `, forbidden_patterns: [a], containing: [b, c]`, "stronger", "weaker"},
		{"boundary", any + `, forbidden_patterns: [a]`, any + `, forbidden_patterns: [a], containing: [b]`, "weaker", "stronger"},
		{"boundary", key(`{key: spec.hostNetwork, is: true}`), key(`{key: spec.hostNetwork, is: "yes it is"}`), "both", "both"},
		{"boundary", key(`{key: spec.a, is: [x, z]}`), key(`{key: spec.a, is: x}`), "weaker", "unknown"},
		{"boundary", key(`{key: spec.a, is_not: [x]}`), key(`{key: spec.a, is_not: [x, z]}`), "weaker", "unknown"},
		{"boundary", key(`{key: spec.a}`), key(`{key: spec.a, is: x}`), "weaker", "unknown"},
		{"boundary", key(`{key: "**.a", is: x}`), key(`{key: a, is: x}`), "weaker", "unknown"},
		{"boundary", key(`{key: "**.a", is: x}`), key(`{key: "**.b.a", is: x}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, is: x}`), key(`{key: a.b, is: x, where: {kind: Deployment}}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, is: x, where: {kind: [Deployment, Job]}}`), key(`{key: a.b, is: x, where: {kind: Deployment}}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, is: x}`), key(`{key: a.b, is: x, if: {c: d}}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, is: x, if: {c: {is_not: d}}}`), key(`{key: a.b, is: x, if: {c: {is_not: [d, e]}}}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, is: x, if: {c: {missing: true}}}`), key(`{key: a.b, is: x, if: {c: {present: true}}}`), "both", "both"},
		{"boundary", key(`{key: a.b, above: 3}`), key(`{key: a.b, above: 5}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, below: 5}`), key(`{key: a.b, below: 3}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, above: 4Gi, quantity: true}`), key(`{key: a.b, above: 8Gi, quantity: true}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, matches: '^(x|y)$'}`), key(`{key: a.b, matches: '^x$'}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, matches_not: '^ok'}`), key(`{key: a.b, matches_not: '^(ok|fine)'}`), "weaker", "unknown"},
		{"boundary", key(`{key: a.b, is: x}, "t: x"`) + `, unparsable: text`, key(`{key: a.b, is: x}, {text: "t: x", only: unparsable}`) + `, unparsable: text`, "weaker", "unknown"},
		{"boundary", key(`{key: a.b, is: x}, t`), key(`{key: a.b, is: x}, t`) + `, unparsable: text`, "weaker", "stronger"},
		{"boundary", key(`{key: a.b, is: x}, t`), key(`t`), "weaker", "stronger"},
		{"boundary", `files: ["**/*.tf"], forbidden_patterns: [{key: resource.aws_db_instance.*.public, is: true}]`,
			`files: ["**/*.tf"], forbidden_patterns: [{key: resource.aws_db_instance.x.public, is: true}]`, "weaker", "unknown"},
		{"boundary", `files: ["**/*.toml"], forbidden_patterns: [{key: a.b, is: [1, 2]}]`, `files: ["**/*.toml"], forbidden_patterns: [{key: a.b, is: 1}]`, "weaker", "unknown"},
		{"boundary", `files: ["**/Dockerfile"], forbidden_patterns: [{key: stages.from.tag, is: [latest, x]}]`,
			`files: ["**/Dockerfile"], forbidden_patterns: [{key: stages.from.tag, is: x}]`, "unknown", "unknown"},
		{"boundary", `files: ["**/*.conf"], forbidden_patterns: [{key: a.b, is: [1, 2], format: yaml}]`, `files: ["**/*.conf"], forbidden_patterns: [{key: a.b, is: 1, format: yaml}]`, "weaker", "unknown"},
		{"invariant", tf + `, required_patterns: [a, b]`, tf + `, required_patterns: [a]`, "weaker", "stronger"},
		{"invariant", needs(`{key: a.b, is: x}`), needs(`{key: a.b}`), "weaker", "unknown"},
		{"invariant", needs(`{key: a.b, is: x}`), needs(`{key: a.b, is: [x, z]}`), "weaker", "unknown"},
		{"invariant", needs(`{key: a.b, is: x}, {key: a.c, is: z}`), needs(`{key: a.b, is: x}`), "weaker", "stronger"},
		{"invariant", needs(`{key: a.b, at_least: 3}`), needs(`{key: a.b, at_least: 2}`), "weaker", "unknown"},
		{"invariant", needs(`{key: a.b, at_most: 3}`), needs(`{key: a.b, at_most: 4}`), "weaker", "unknown"},
		{"invariant", needs(`{each: "**.containers", key: a, is: x}`), needs(`{each: "spec.containers", key: a, is: x}`), "weaker", "unknown"},
		{"invariant", needs(`{each: "r.*", key: a, is: x}`), needs(`{each: "r.*", if: {t: db}, key: a, is: x}`), "weaker", "unknown"},
		{"invariant", needs(`{each: "r.*", if: {t: [db, s3]}, key: a, is: x}`), needs(`{each: "r.*", if: {t: db}, key: a, is: x}`), "weaker", "unknown"},
		{"invariant", `required_files: [/LICENSE, /README.md]`, `required_files: [/README.md]`, "weaker", "stronger"},
		{"invariant", `required_files: [/LICENSE]`, `required_files: ["/LICENSE*"]`, "weaker", "stronger"},
		{"invariant", `required_files: ["**/README.md"], exclude: ["t/**"]`, `required_files: ["**/README.md"]`, "weaker", "stronger"},
		{"boundary", "match: {" + tf + `, forbidden_patterns: [a]}, allowances: never`, "match: {" + tf + `, forbidden_patterns: [a]}`, "weaker", "stronger"},
		{"boundary", "match: {" + tf + `, forbidden_patterns: [a]}, severity: high`, "match: {" + tf + `, forbidden_patterns: [a]}, severity: low, owner: o, message: m`, "same", "same"},
	} {
		load := func(match string) *rules.Bundle {
			if !strings.HasPrefix(match, "match:") {
				match = "match: {" + match + "}"
			}
			return bundleOf(t, c.kind, match)
		}
		before, after := load(c.before), load(c.after)
		for i, want := range []verdict.Effect{c.effect, c.reverse} {
			if i == 1 {
				before, after = after, before
			}
			var got verdict.Effect
			var witness []verdict.Witness
			for _, change := range Rules([]*rules.Bundle{before}, []*rules.Bundle{after}) {
				confirm(t, change, before, after)
				got, witness = change.Effect, change.Witness
			}
			if got != want {
				t.Errorf("reverse %v: %s\n-> %s\n%q %+v, want %q", i == 1, c.before, c.after, got, witness, want)
			}
		}
	}
}
