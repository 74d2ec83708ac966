package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/keyitem"
)

// keyBundle is a bundle with an invariant with these items, each a line of YAML.
func keyBundle(forbidden, required []string) Files {
	text := "bundle: \"0.2\"\nrules:\n  - id: K\n    title: t\n    enforcement: {mode: fail}\n    match:\n      files: [\"**\"]\n"
	list := func(key string, items []string) {
		if len(items) == 0 {
			return
		}
		text += "      " + key + ":\n"
		for _, item := range items {
			text += "        - " + item + "\n"
		}
	}
	list("required_absent", forbidden)
	list("required_patterns", required)
	return Files{BoundariesFile: []byte("bundle: \"0.2\"\nrules: []\n"), InvariantsFile: []byte(text)}
}

func loadKeys(t testing.TB, forbidden, required []string) *Rule {
	t.Helper()
	b, err := Load(keyBundle(forbidden, required))
	if err != nil {
		t.Fatal(err)
	}
	return &b.Rules[0]
}

// TestKeyItems: key patterns and their names.
func TestKeyItems(t *testing.T) {
	r := loadKeys(t, []string{
		`{key: spec.hostNetwork, is: true}`,
		`{is: [True, FALSE, 1E+9, 1.0, x, "y", '', "22"], key: [a, '"b.c".d']}`,
		`{format: hcl, is_not: 5, where: {b: [x, 1.50], a: TRUE}, key: a, x-note: mine}`,
		`{key: "**.image", matches: '^a"\\\.b'}`,
		`{matches_not: é/ü, key: ["**"]}`,
		`{key: "a.**.**.b"}`,
	}, []string{
		`{key: e, is: true, each: resource.a.*}`,
		`{key: e, each: [a, b], matches: c, format: toml}`,
		`{key: spec.hostNetwork, is: false}`,
		`{quantity: true, at_least: .5Gi, if: {d: {above: 1.50}, c: 1, e: {missing: TRUE}}, each: b, key: a, any: true}`,
	})
	want := []string{
		`{"key":"spec.hostNetwork","is":true}`,
		`{"key":["a","\"b.c\".d"],"is":[true,false,1E+9,1.0,"x","y","","22"]}`,
		`{"key":"a","where":{"b":["x",1.50],"a":true},"is_not":5,"format":"hcl"}`,
		`{"key":"**.image","matches":"^a\"\\\\\\.b"}`,
		`{"key":["**"],"matches_not":"é/ü"}`,
		`{"key":"a.**.**.b"}`,
		`{"each":"resource.a.*","key":"e","is":true}`,
		`{"each":["a","b"],"key":"e","matches":"c","format":"toml"}`,
		`{"key":"spec.hostNetwork","is":false}`,
		`{"each":"b","key":"a","if":{"d":{"above":1.50},"c":1,"e":{"missing":true}},"at_least":".5Gi","quantity":true,"any":true}`,
	}
	all := slices.Concat(r.Patterns, r.Required)
	if diff := cmp.Diff(want, Names(all)); diff != "" {
		t.Error(diff)
	}
	for _, item := range all {
		if item.Kind != Key || item.Key == nil || item.Text != "" || item.IsPlain() || !json.Valid([]byte(item.Name)) {
			t.Errorf("%+v", item)
		}
	}
	values := all[1].Key.Values
	if all[1].Key.Asks != keyitem.Is || len(values) != 8 || values[1].Kind != keyitem.BoolValue || values[1].Text != "false" ||
		values[2].Kind != keyitem.NumberValue || values[4].Quoted || !values[5].Quoted || values[7].Kind != keyitem.TextValue {
		t.Errorf("%+v", all[1].Key)
	}
	if k := all[2].Key; k.Asks != keyitem.IsNot || k.Format != "hcl" || len(k.Where) != 2 || k.Where[1].Path.String() != "a" ||
		len(k.Where[0].Values) != 2 || k.Where[1].Values[0].Text != "true" {
		t.Errorf("%+v", k)
	}
	if k := all[3].Key; k.Asks != keyitem.Matches || k.Match.String() != `^a"\\\.b` {
		t.Errorf("%+v", k)
	}
	if k := all[7].Key; len(k.Each) != 2 || k.Asks != keyitem.Matches {
		t.Errorf("%+v", k)
	}
	if k := all[5].Key; k.Asks != keyitem.Exists || len(k.Paths[0]) != 3 {
		t.Errorf("%+v", k)
	}
}

// TestSameItems: an item equals itself when read again, and differs from others.
func TestSameItems(t *testing.T) {
	items := []string{`{key: a, is: true}`, `{key: a, is: "true"}`, `{key: [a], is: true}`, `{key: a}`, `{regex: a}`, `"a"`}
	a, b := loadKeys(t, items, nil), loadKeys(t, items, nil)
	for i := range items {
		for k := range items {
			if same := a.Patterns[i].Means(b.Patterns[k]); same != (i == k) {
				t.Errorf("%s and %s: %v", items[i], items[k], same)
			}
		}
	}
	if !a.Same(*b) || a.Same(*loadKeys(t, items[1:], nil)) {
		t.Error("rules with keys are compared wrongly")
	}
}

// TestUnparsable: unparsable sets how a file that cannot be parsed is treated, and counts when rules are compared.
func TestUnparsable(t *testing.T) {
	files := keyBundle([]string{"a", "{key: a}"}, nil)
	with := Files{BoundariesFile: files[BoundariesFile]}
	with[InvariantsFile] = append(slices.Clone(files[InvariantsFile]), "      unparsable: text\n"...)
	a, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Load(with)
	if err != nil {
		t.Fatal(err)
	}
	if a.Rules[0].Unparsable || !b.Rules[0].Unparsable || a.Rules[0].Same(b.Rules[0]) {
		t.Errorf("%v, %v", a.Rules[0].Unparsable, b.Rules[0].Unparsable)
	}
}

// TestManyPaths: a list with 15,000 paths or values is read in one pass, and exceeds the limit of a
// pattern.
func TestManyPaths(t *testing.T) {
	for _, key := range []string{"key", "is"} {
		var list []string
		for i := range 15_000 {
			list = append(list, fmt.Sprintf("p%d", i))
		}
		item := "{" + key + ": [" + strings.Join(list, ",") + "]"
		if key == "is" {
			item += ", key: a"
		}
		_, err := Load(keyBundle([]string{item + "}"}, nil))
		var all document.Errors
		if !errors.As(err, &all) || len(all) != 1 || all[0].Code != document.CodeLimit || all[0].Line != 9 {
			t.Errorf("%s: %.300v", key, err)
		}
	}
}
