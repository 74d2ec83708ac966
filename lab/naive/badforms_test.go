package naive

import (
	"slices"
	"testing"
)

// badFormItems are items with the new forms that no list of a 0.2 file can have.
func badFormItems() []string {
	var all []string
	for _, condition := range []string{
		"{}", "[]", "~", "{is: c, matches: d}", "{is: c, is: d}", "{foo: c}", "{missing: false}", "{missing: ~}", "{present: 1}",
		"{quantity: true}", "{above: 4Gi, quantity: true}", "{at_least: 1}", "{at_most: 1}", "{any: true}", "{below: x}",
		`{above: "1"}`, "{above: 010}", "{is: yes}", "{is: []}", "{is: {c: d}}", "{matches: 'a*'}", "{matches_not: ''}", "{x-is: c}",
	} {
		all = append(all, "{key: a, where: {b: "+condition+"}}", "{key: a, where: {c: d, b: "+condition+"}}")
	}
	return append(all,
		"{key: a, if: {}}", "{key: a, if: []}", "{key: a, if: b}", "{key: a, if: ~}", "{key: a, if: {b..c: d}}", "{text: a, if: {b: c}}",
		"{regex: a, if: {b: c}}", "{text: a, any: true}", "{regex: a, above: 1}", "{text: a, except: b}", "{key: a, except: b}",
		"{key: a, only: unparsable}", "{except: a}", "{only: unparsable}", "{if: {a: b}}", "{any: true}", "{quantity: true}",
		"{regex: a, except: 'a*'}", "{regex: a, except: '(?s)a'}", `{regex: a, except: '\n'}`, "{regex: a, except: ''}", "{regex: a, except: [b]}",
		`{regex: a, except: '\Aa'}`, "{regex: a, except: '('}", "{regex: a, only: parsable}", "{text: a, only: true}", "{text: a, only: ~}",
		"{key: a, any: true}", "{key: a, is: b, any: false}", "{key: a, is: b, any: ~}", "{key: a, quantity: true}", "{key: a, is: 1, quantity: true}",
		"{key: a, below: 1, at_least: 1}", "{key: a, missing: true}", "{key: a, present: true}", "{key: a, above: 1, is: 2}", "{key: a, is: 1, at_least: 2}",
		"{key: a, above: 1, below: 2}", "{key: a, at_least: 1, at_most: 2}", "{key: a, format: Dockerfile}", "{key: a, format: docker}",
	)
}

// TestBadForms: this program refuses what only one list, or a rule, cannot have, and takes its neighbour that is right.
func TestBadForms(t *testing.T) {
	const forbidden, required = "- ", "+ "
	var wrong, right []string
	both := func(bad, good string) { wrong, right = append(wrong, bad), append(right, good) }
	for _, form := range []string{"at_least: 1", "at_most: 1", "is: b, any: true", "is: b, each: c"} {
		both(forbidden+"{key: a, "+form+"}", required+"{key: a, "+form+"}")
	}
	for _, form := range []string{"below: 1", "above: 1", "is_not: b", "matches_not: b", "if: {b: c}"} {
		both(required+"{key: a, "+form+"}", forbidden+"{key: a, "+form+"}")
	}
	for _, n := range []string{"x", `"5"`, "0x5", "010", "~", "[1]", "!!int 5", "+1", ".5", "1_0", "4Gi", "true", ""} {
		both(forbidden+"{key: a, above: "+n+"}", forbidden+"{key: a, above: -1.5e3}")
		both(required+"{key: a, at_least: "+n+"}", required+"{key: a, at_least: 5}")
	}
	for _, n := range []string{"1K", `""`, "m", "~", "[1]", "!!str 1", `" 1"`, "1GB", "0x5"} {
		both(forbidden+"{key: a, above: "+n+", quantity: true}", forbidden+`{key: a, above: "4Gi", quantity: true}`)
	}
	both(forbidden+`{key: "**", if: {a: b}}`, forbidden+`{key: "**"}`)
	both(forbidden+`{key: [a, "**.**"], if: {a: b}}`, forbidden+`{key: [a, "**.*"], if: {a: b}}`)
	both(forbidden+"{text: a, only: unparsable}\n"+forbidden+"{key: a}", forbidden+"{text: a, only: unparsable}\n"+forbidden+"{key: a}\nunparsable: text")
	both(required+"{key: a, is: b, any: false, each: c}", required+"{key: a, is: b, any: true, each: c, if: {a: {missing: true}}}")
	for _, containing := range []string{
		"[]", "~", "m", "[~]", "[m, m]", "[{text: m, only: unparsable}]", "[{key: a, at_least: 1}]", "[{key: a, is: b, any: true}]",
		"[{key: a, each: b}]", "[{foo: m}]", "[{key: '**', if: {a: b}}]",
	} {
		both(forbidden+"a\ncontaining: "+containing, forbidden+"a\ncontaining: [m, a, {key: a, above: 1, if: {b: c}}]")
	}
	for i, bad := range append(wrong, right...) {
		p, _ := formCase{rule: bad, path: "a.yaml"}.pair()
		if _, mistakes := Load(p.rules()); (len(mistakes) > 0) != (i < len(wrong)) {
			t.Errorf("%s\n%+v", bad, mistakes)
		}
	}
	for name, file := range map[string]ruleText{
		"only path globs": {name: "boundaries.yml", version: "0.2", rules: []ruleYAML{{id: "X", lines: []string{"containing: [m]"},
			lists: []listYAML{{"forbidden_files", []string{`"**/x"`}}}}}},
		"a 0.1 file": {name: "boundaries.yml", rules: []ruleYAML{{id: "X", lines: []string{"containing: [m]"},
			lists: []listYAML{{"files", []string{`"**"`}}, {"forbidden_patterns", []string{"a"}}}}}},
	} {
		if _, mistakes := loadFile(file.name, file.yaml()); len(mistakes) == 0 {
			t.Errorf("containing in %s is accepted", name)
		}
	}
}

// TestFormNames: an item is named by its JSON, in the order of the page, numbers and forms as written.
func TestFormNames(t *testing.T) {
	for item, name := range map[string]string{
		`+ {any: true, is: [x, 1.50], if: {a: {is: y z}, b: w}, where: {c: {missing: true}, d: {above: 1e3}}, key: k, each: [e, "f.*"]}`: `{"each":["e","f.*"],"key":"k",` +
			`"where":{"c":{"missing":true},"d":{"above":1e3}},"if":{"a":{"is":"y z"},"b":"w"},"is":["x",1.50],"any":true}`,
		`- {quantity: true, above: 4Gi, key: k, format: dockerfile}`:      `{"key":"k","above":"4Gi","quantity":true,"format":"dockerfile"}`,
		`- {quantity: true, below: "500m", key: k}`:                       `{"key":"k","below":"500m","quantity":true}`,
		`+ {at_most: 1.0, key: k}`:                                        `{"key":"k","at_most":1.0}`,
		`+ {quantity: true, at_least: 5, key: k}`:                         `{"key":"k","at_least":"5","quantity":true}`,
		`- {only: unparsable, within_lines: 2, except: b, regex: a}`:      `{"regex":"a","except":"b","within_lines":2,"only":"unparsable"}`,
		`- {only: unparsable, words: true, text: a}`:                      `{"text":"a","words":true,"only":"unparsable"}`,
		`- {only: unparsable, text: a}`:                                   `{"text":"a","only":"unparsable"}`,
		`- {key: k, if: {a: {matches: 'x"'}, b: {is_not: [false, "f"]}}}`: `{"key":"k","if":{"a":{"matches":"x\""},"b":{"is_not":[false,"f"]}}}`,
	} {
		p, _ := formCase{rule: item + "\n- {key: other}\n- other\nunparsable: text", path: "a.yaml"}.pair()
		b, mistakes := Load(p.rules())
		if len(mistakes) > 0 {
			t.Errorf("%s\n%+v", item, mistakes)
			continue
		}
		r := b.Enforced()[1]
		if !slices.ContainsFunc(append(r.Absent, r.Required...), func(i Item) bool { return i.Name == name }) {
			t.Errorf("%s\nis not named %s", item, name)
		}
	}
}

// TestContainingBefore: a file that did not contain it before had none, so that every place is introduced.
func TestContainingBefore(t *testing.T) {
	p, _ := formCase{rule: "- a\ncontaining: [m]", path: "x"}.pair()
	b, _ := Load(p.rules())
	// It narrows pattern items only.
	b.Files[1].Rules[0].ForbiddenFiles, b.Files[1].Rules[0].RequiredFiles = []string{"y"}, []string{"z"}
	if o := Judge(b, Scan{Tree: []File{{"y", "a\n", Regular}}}); len(o.Violations) != 2 || o.Violations[1].Kind != "file" {
		t.Errorf("%+v", o)
	}
	b, _ = Load(p.rules())
	state := func(content string) State { return State{Tree: []File{{"x", content, Regular}}, Bundle: b} }
	for before, want := range map[string]string{"a\n": "introduced 0:introduced", "a\nm\n": "pre_existing 0:pre_existing"} {
		c := Change{Base: state(before), Head: state("a\nm m\n"), MergeBases: []State{state(before)}}
		if found := c.Judge().Violations; len(found) != 1 || found[0].Labels != want {
			t.Errorf("%q before: %+v", before, found)
		}
	}
}
