package keys_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
)

// shownHits are the places of hits in the text of a document: what is there, where there is nothing missing, and what
// lacks something otherwise.
func shownHits(text string, hits []keys.Hit) string {
	var all []string
	for _, h := range hits {
		place := fmt.Sprint(h.At)
		if h.At.End <= len(text) {
			place = strings.ReplaceAll(text[h.At.Start:h.At.End], `"`, "")
		}
		if h.Why == keys.Missing || h.Why == keys.PerhapsMissing {
			place = "-" + place
		}
		if h.Why == keys.PerhapsMissing || h.Why == keys.Uncertain {
			place = "?" + place
		}
		all = append(all, place)
	}
	return strings.Join(all, " ")
}

func TestForbidden(t *testing.T) {
	for _, row := range []struct{ tree, item, want string }{
		// The key alone.
		{`{"a": 1, "b": 2}`, `{"key": "b"}`, "b"},
		{`{"a": null}`, `{"key": "a"}`, "a"},
		{`{"a": [1, 2]}`, `{"key": "a"}`, "a"},
		{`{"a": [{"b": 1}, {"b": []}, {"c": 1}]}`, `{"key": "a.b"}`, "b b"},
		{`{"a": 1, "a": 2}`, `{"key": "a"}`, "a a"},
		{`{"a": 1}`, `{"key": "a.b"}`, ""},
		{`{"a": {"b": {"c": 1}}}`, `{"key": "a.**"}`, "a b c"},
		{`{"a": {"b": 1}}`, `{"key": "*"}`, "a"},
		{`{"a.b": 1}`, `{"key": "a.b"}`, ""},
		{`{"a.b": 1}`, `{"key": "\"a.b\""}`, "a.b"},
		{`{"?": {"a": 1}}`, `{"key": "?.a"}`, ""},
		{`{"?": {"a": 1}}`, `{"key": "*.a"}`, "a"},
		{`{"?": {"a": 1}}`, `{"key": "**.a"}`, "a"},

		// Lists are transparent, at any depth.
		{`{"a": [[{"b": true}], {"b": [[true, false]]}]}`, `{"key": "a.b", "is": true}`, "true true"},
		{`[{"a": 1}, [{"a": 1}], 5]`, `{"key": "a"}`, "a a"},

		// Values: broad.
		{`{"a": ["true", true, "Yes", "yES", "y", "1", 1, "ON"]}`, `{"key": "a", "is": true}`, "true true Yes y ON"},
		{`{"a": [22, "22", "0x16", "026", 22.0, "2_2", "+22", 2.2e1, 26, "22 "]}`, `{"key": "a", "is": 22}`,
			"22 22 0x16 026 22.0 2_2 +22 2.2e1"},
		{`{"a": ["026", 26]}`, `{"key": "a", "is": 26}`, "026 26"},
		{`{"a": ["22", 22, "22.0", 22.0]}`, `{"key": "a", "is": "22"}`, "22 22"},
		{`{"a": ["x", "X", "x\n", ""]}`, `{"key": "a", "is": ["x", ""]}`, "x "},
		{`{"a": [{"$tag": "x"}, "$var.x"]}`, `{"key": "a", "is": ["x", "$var.x"]}`, "{$tag: x} $var.x"},
		{`{"a": [null, {}, [], {"b": 1}]}`, `{"key": "a", "is": ["", "null", "{}", "[]"]}`, ""},

		// is_not refuses all that is not certainly one of those.
		{`{"a": [true, "true", "yes", "$var.x", {"$tag": true}, null, {}, []]}`, `{"key": "a", "is_not": true}`,
			"true yes $var.x {$tag: true} null {} []"},
		{`{"a": 5}`, `{"key": "a", "is_not": [1, 5.0]}`, ""},
		{`{"a": "5"}`, `{"key": "a", "is_not": [1, 5]}`, "5"},
		{`{"b": 5}`, `{"key": "a", "is_not": 5}`, ""},

		// matches: any line; matches_not: all lines.
		{`{"a": ["xb", "a\nb\n", "$var.b", 3, true, null, "c"]}`, `{"key": "a", "matches": "^b$|^3|ue"}`,
			`a\nb\n 3 true`},
		{`{"a": ["$var.b", {"$tag": "b"}, {"$tag": {"b": "b"}}]}`, `{"key": "a", "matches": "b$"}`, "$var.b {$tag: b}"},
		{`{"a": ["$var.b", {"$tag": "b"}]}`, `{"key": "a", "matches_not": "b$"}`, "$var.b {$tag: b}"},
		{`{"a": ["x$or b", "b$or x", "x$or y"]}`, `{"key": "a", "matches": "b"}`, "x$or b b$or x"},
		{`{"a": ["b$or b"]}`, `{"key": "a", "matches_not": "b"}`, "b$or b"},
		{`{"a": ["b", "b\nb\r\nb\rb\n", "b\n\nb", "b\n\n", "", "$var.b", null, {}, [], 3]}`,
			`{"key": "a", "matches_not": "^(b|3)$"}`, `b\n\nb b\n\n  $var.b null {} []`},

		// What is hidden or has a tag is looked at, too.
		{`{"a": 1, "<<a": 2}`, `{"key": "a", "is": [1, 2]}`, "1 2"},
		{`{"a": {"$tag": {"b": 1}}}`, `{"key": "a.b", "is": 1}`, "1"},
		{`{"a": {"$tag": [1, 2]}}`, `{"key": "a", "is": 1}`, "1"},
		{`{"a": {"$tag": [1, 2]}}`, `{"key": "a", "is_not": [1, 2]}`, "{$tag: [1, 2]}"},
		{`{"a": {"$tag": {"b": 1}}}`, `{"key": "a", "is_not": 1}`, "{$tag: {b: 1}}"},

		// Blocks: the type and each label are segments.
		{`{"resource aws_x main": {"acl": "p", "log": {"acl": "p"}}}`, `{"key": "resource.aws_x.*.acl", "is": "p"}`,
			"p"},
		{`{"resource aws_x main": {"acl": "p"}}`, `{"key": "resource.*.acl", "is": "p"}`, ""},
		{`{"resource aws_x main": {"acl": "p"}}`, `{"key": "resource.aws_x"}`, "resource aws_x main"},
		{`{"resource aws_x main": {"acl": "p"}}`, `{"key": "resource.**"}`, "resource aws_x main acl"},
		{`{"resource aws_x main": {}, "resource aws_y main": {}}`, `{"key": "**.aws_y.*"}`, "resource aws_y main"},
		{`{"resource aws_x main": {"acl": "p"}}`, `{"key": "resource.aws_x", "is_not": "p"}`, "resource aws_x main"},

		// Several paths, and one place by several ways.
		{`{"a": {"b": 1}, "c": 1}`, `{"key": ["c", "a.b", "**.b"], "is": 1}`, "1 1"},
		{`{"a": {"a": {"a": 1}}}`, `{"key": "**.a.**.a", "is": 1}`, "1"},
		{`{"&x": {"b": 1}, "y": {"$like": "x"}}`, `{"key": "*.b", "is": 1}`, "1"},
		{`{"&x": 1, "y": {"$like": "x"}}`, `{"key": "*"}`, "&x y"},
		{`{"&x": [{"b": 1}], "y": {"x": {"$like": "x"}}}`, `{"key": "**.b"}`, "b"},

		// where.
		{`{"kind": "Pod", "a": 1}`, `{"key": "a", "where": {"kind": ["Job", "Pod"]}}`, "a"},
		{`{"kind": "Pod", "a": 1}`, `{"key": "a", "where": {"kind": "Job"}}`, ""},
		{`{"kind": "Pod", "v": "yes", "a": 1}`, `{"key": "a", "where": {"kind": "Pod", "v": true}}`, "a"},
		{`{"kind": "Pod", "v": "yes", "a": 1}`, `{"key": "a", "where": {"kind": "Pod", "v": false}}`, ""},
		{`{"kind": ["Pod", "Job"], "a": 1}`, `{"key": "a", "where": {"kind": "Job"}}`, "a"},
		{`{"kind": "$var.kind", "a": 1}`, `{"key": "a", "where": {"kind": "Job"}}`, "a"},
		{`{"m": "$var.m", "a": 1}`, `{"key": "a", "where": {"m.kind": "Job"}}`, "a"},
		{`{"m": "$var.m", "a": 1}`, `{"key": "a", "where": {"n.kind": "Job"}}`, ""},
		{`{"m": {"$tag": {}}, "a": 1}`, `{"key": "a", "where": {"m.kind": "Job"}}`, "a"},
		{`{"m": {"$tag": [5]}, "a": 1}`, `{"key": "a", "where": {"m": "Job"}}`, "a"},
		{`{"m": null, "a": 1}`, `{"key": "a", "where": {"m": "Job"}}`, ""},
		{`{"kind": "Pod", "<<kind": "Job", "a": 1}`, `{"key": "a", "where": {"kind": "Job"}}`, "a"},

		// Each item of a list at the top, and of a List, is a document.
		{`[{"kind": "Pod", "a": 1}, {"kind": "Job", "a": 2}]`, `{"key": "a", "is": [1, 2], "where": {"kind": "Job"}}`,
			"2"},
		{`{"kind": "List", "items": [{"kind": "Pod", "a": 1}, {"kind": "Job", "a": 2}]}`,
			`{"key": "a", "is": [1, 2], "where": {"kind": "Job"}}`, "2"},
		{`{"kind": "List", "items": [{"kind": "Pod", "a": 1}]}`,
			`{"key": "items.a", "is": 1, "where": {"kind": "List"}}`, "1"},
		{`{"kind": "List", "items": [{"kind": "List", "items": [{"kind": "Job", "a": 1}]}]}`,
			`{"key": "**.a", "where": {"kind": "Job"}}`, "a"},
		{`{"kind": "PodList", "items": [{"kind": "Job", "a": 1}]}`, `{"key": "a", "where": {"kind": "Job"}}`, "a"},
		{`{"kind": "PodList", "items": [{"kind": "Job", "a": 1}]}`, `{"key": "a", "where": {"kind": "Pod"}}`, ""},
		{`{"kind": "PodList", "items": [{"a": 1}, {"kind": null, "a": 2}]}`, `{"key": "a", "where": {"kind": "Pod"}}`,
			"a a"},
		{`{"kind": "PodList", "items": [{"a": 1}]}`, `{"key": "a", "where": {"kind": "Job"}}`, ""},
		{`{"kind": "PodList", "items": [{"a": 1}]}`, `{"key": "kind", "is": "Pod"}`, "PodList"},
		{`{"kind": "PodList", "items": [{"a": 1}]}`, `{"key": "items.a", "where": {"kind": "PodList"}}`, "a"},
		{`{"kind": "ConfigMap", "items": [{"kind": "Job", "a": 1}]}`, `{"key": "a", "where": {"kind": "Job"}}`, "a"},
		{`{"kind": "A", "kind": "B", "items": [{"a": 1}]}`, `{"key": "a", "where": {"kind": "C"}}`, "a"},
		{`{"kind": ["PodList"], "items": [{"a": 1}]}`, `{"key": "a"}`, ""},
		{`{"kind": "", "items": [{"a": 1}]}`, `{"key": "a"}`, ""},
		{`{"items": [{"a": 1}]}`, `{"key": "a"}`, ""},
		{`{"kind": {"$tag": "List"}, "items": [{"a": 1}]}`, `{"key": "a"}`, "a"},
		{`{"$tag": [{"kind": "Pod", "a": 1}]}`, `{"key": "a", "where": {"kind": "Job"}}`, "a"},
		{`{"kind": "List", "items": {"$tag": [{"kind": "Pod", "a": 1}]}}`, `{"key": "a", "where": {"kind": "Job"}}`,
			"a"},
		{`{"kind": "List", "items": [{"kind": "Pod", "a": 1}]}`, `{"key": "a", "where": {"kind": "List"}}`, ""},

		// A path of nothing but ** reaches the document, to which no key leads.
		{`5`, `{"key": "**", "is": 5}`, "5"},
		{`{"a": 5}`, `{"key": "**"}`, "{a: 5} a"},
		{`null`, `{"key": "**"}`, ""},
	} {
		hits := keys.Forbidden(readItem(t, row.item), file(t, row.tree))
		if got := shownHits(row.tree, hits); got != row.want {
			t.Errorf("%s in %s:\n got %s\nwant %s", row.item, row.tree, got, row.want)
		}
	}
}

func TestRequired(t *testing.T) {
	for _, row := range []struct{ tree, item, want string }{
		// The key alone: any value but null, a list not looked into.
		{`{"a": 1}`, `{"key": "a"}`, ""},
		{`{"a": [null]}`, `{"key": "a"}`, ""},
		{`{"a": []}`, `{"key": "a"}`, ""},
		{`{"a": {}}`, `{"key": "a"}`, ""},
		{`{"a": null}`, `{"key": "a"}`, "a"},
		{`{"a": "$var.x"}`, `{"key": "a"}`, ""},
		{`{"a": {"$tag": {}}}`, `{"key": "a"}`, ""},
		{`{"b": 1}`, `{"key": "a"}`, "-{b: 1}"},
		{`5`, `{"key": "a"}`, "-5"},

		// Values: exact.
		{`{"a": 22.0}`, `{"key": "a", "is": 22}`, ""},
		{`{"a": "22"}`, `{"key": "a", "is": 22}`, "22"},
		{`{"a": 22}`, `{"key": "a", "is": "22"}`, "22"},
		{`{"a": "yes"}`, `{"key": "a", "is": true}`, "yes"},
		{`{"a": 1e999999999}`, `{"key": "a", "is": [1, 10e999999998]}`, ""},
		{`{"a": "$var.x"}`, `{"key": "a", "is": "$var.x"}`, "?$var.x"},
		{`{"a": {"$tag": "x"}}`, `{"key": "a", "is": "x"}`, "?{$tag: x}"},
		{`{"a": [1, 2, 1]}`, `{"key": "a", "is": 1}`, "2"},
		{`{"a": [1, [], {}, null, {"b": 1}, {"$tag": [1]}]}`, `{"key": "a", "is": 1}`, "[] {} null {b: 1} ?{$tag: [1]}"},
		{`{"a": 1, "a": 2}`, `{"key": "a", "is": 1}`, "2"},
		{`{"a": 1, "<<a": 2}`, `{"key": "a", "is": 1}`, ""},
		{`{"<<a": 1}`, `{"key": "a", "is": 1}`, "-{<<a: 1}"},

		// matches: all lines.
		{`{"a": ["b", "b\nb\n", "b\nc", "", "$var.b", 3]}`, `{"key": "a", "matches": "^(b|3)$"}`, `b\nc  ?$var.b`},

		// On the way each list item must reach a value, and each child for which a * stands.
		{`{"a": [{"b": 1}, {"c": 1}, 5, [{"b": 1}], []]}`, `{"key": "a.b", "is": 1}`, "-{c: 1} -5 -[]"},
		{`{"a": []}`, `{"key": "a.b"}`, "-a"},
		{`{"a": {}}`, `{"key": "a.b"}`, "-a"},
		{`{"a": null}`, `{"key": "a.b"}`, "-a"},
		{`{"a": {"x": {"b": 1}, "y": {}, "z": 5}}`, `{"key": "a.*.b"}`, "-y -z"},
		{`{"a": {}}`, `{"key": "a.*.b"}`, "-a"},
		{`{"a": {"$tag": {"b": 1}}}`, `{"key": "a.b"}`, "?-a"},
		{`{"a": {"$tag": [{"b": 1}]}}`, `{"key": "a.b"}`, "?-a"},
		{`{"a": {"b": 1}, "a": {}}`, `{"key": "a.b"}`, "-a"},
		{`{"&x": {}, "y": {"$like": "x"}, "z": {"b": 1}}`, `{"key": "*.b"}`, "-&x -y"},

		// Blocks: type and labels choose them.
		{`{"resource aws_x main": {"e": true}, "resource aws_y main": {}}`, `{"key": "resource.aws_x.*.e", "is": true}`,
			""},
		{`{"resource aws_x a": {"e": true}, "resource aws_x b": {}}`, `{"key": "resource.aws_x.*.e", "is": true}`,
			"-resource aws_x b"},
		{`{"resource aws_x a": {"e": true}, "resource aws_x b": {}}`, `{"key": "resource.aws_x.a.e", "is": true}`, ""},
		{`{"resource aws_y a": {"e": true}}`, `{"key": "resource.aws_x.*.e"}`, "-{resource aws_y a: {e: true}}"},
		{`{"resource aws_x a": {}}`, `{"key": "resource.aws_x"}`, ""},
		{`{"resource aws_x a": {"e": 1}, "resource aws_y a": {}}`, `{"key": "resource.**.e"}`, "-resource aws_y a"},
		{`{"resource aws_x a": {}}`, `{"key": "resource.aws_y"}`, "-{resource aws_x a: {}}"},
		{`{"resource aws_x a": {"v": {"e": 1}, "v": {}}}`, `{"key": "resource.aws_x.a.v.e"}`, "-v"},

		// **: each place that has the next segment must reach the rest, and there must be one.
		{`{"a": {"c": {"i": 1}}, "b": [{"c": {"i": 1}}, {"d": 1}]}`, `{"key": "**.c.i"}`, ""},
		{`{"a": {"c": {"i": 1}}, "b": [{"c": {}}, {"d": 1}]}`, `{"key": "**.c.i"}`, "-c"},
		{`{"a": {"d": 1}}`, `{"key": "a.**.c"}`, "-a"},
		{`{"a": {"d": 1}}`, `{"key": "**.c"}`, "-{a: {d: 1}}"},
		{`{"c": {"c": {"i": 1}, "i": 1}}`, `{"key": "**.c.i"}`, ""},
		{`{"c": {"c": {"i": 1}}}`, `{"key": "**.c.i"}`, "-c"},
		{`{"a": {"$tag": {"c": 1}}, "c": 1}`, `{"key": "**.c"}`, "?-a"},
		{`{"a": {"$tag": [{"c": 1}]}, "c": 1}`, `{"key": "**.c"}`, "?-{c: 1}"},
		{`{"a": {"$tag": {"d": 1}}, "c": 1}`, `{"key": "**.c"}`, ""},
		{`{"a": {"c": {"x": {"i": 1}}}, "c": {"y": 1}}`, `{"key": "**.c.**.i"}`, "-c"},
		{`{"resource aws_x a": {"v": {"e": 1}}, "resource aws_x b": {"v": {}}}`, `{"key": "resource.aws_x.*.**.e"}`,
			"-resource aws_x b"},
		{`{"resource aws_x a": {"e": 1}, "resource aws_y b": {}}`, `{"key": "**.aws_x.*.e"}`, ""},
		{`{"resource aws_x a": {"e": 1}, "resource aws_x b": {}}`, `{"key": "**.aws_x.a.e"}`, ""},
		{`{"resource aws_x a": {"e": 1}, "resource aws_x b": {}}`, `{"key": "**.aws_x.*.e"}`, "-resource aws_x b"},
		{`{"l": [{"x": {"i": 1}}, {"x": {}}]}`, `{"key": "l.**.i"}`, "-{x: {}}"},
		{`{"a": {"b": 1, "c": 1}}`, `{"key": "a.**", "is": 1}`, "{b: 1, c: 1}"},
		{`{"a": {"b": 1, "c": null}}`, `{"key": "a.**"}`, "c"},
		{`{"a": 1}`, `{"key": "a.**", "is": 1}`, ""},

		// Several paths: at least one must be reached, and all that they reach must be equal.
		{`{"a": 1}`, `{"key": ["a", "b"], "is": 1}`, ""},
		{`{"b": 1}`, `{"key": ["a", "b"], "is": 1}`, ""},
		{`{"a": 1, "b": 2}`, `{"key": ["a", "b"], "is": 1}`, "2"},
		{`{"c": 1}`, `{"key": ["a.x", "b"], "is": 1}`, "-{c: 1}"},
		{`{"a": {}, "b": {}}`, `{"key": ["b.x", "a.x"], "is": 1}`, "-b"},
		{`{"a": [{"x": 1}, {}], "b": 1}`, `{"key": ["a.x", "b"], "is": 1}`, ""},
		{`{"a": [{"x": 2}, {}]}`, `{"key": ["a.x", "b"], "is": 1}`, "2 -{}"},

		// each.
		{`{"a": {"x": {"e": true}, "y": {"e": false}, "z": {}}}`, `{"each": "a.*", "key": "e", "is": true}`,
			"false -z"},
		{`{"a": [{"e": 1}, {}, 5, null, [], [{}]]}`, `{"each": "a", "key": "e"}`, "-{} -5 -null -{}"},
		{`{"b": 1}`, `{"each": "a", "key": "e"}`, ""},
		{`{"a": null}`, `{"each": "a", "key": "e"}`, "-a"},
		{`{"a": []}`, `{"each": "a", "key": "e"}`, ""},
		{`{"a": {"$tag": {"e": 1}}}`, `{"each": "a", "key": "e"}`, "?-a"},
		{`{"a": {"$tag": [{"e": 1}]}}`, `{"each": "a", "key": "e"}`, "?-a"},
		{`{"a": {"$tag": {"b": {"e": 1}}}}`, `{"each": "a.b", "key": "e"}`, "?-b"},
		{`{"<<a": {}}`, `{"each": "a", "key": "e"}`, ""},
		{`{"&x": {"b": {"e": 2}}, "y": {"$tag": [{"$like": "x"}]}, "z": {"$like": "x"}}`,
			`{"each": "**.b", "key": "e", "is": 1}`, "?-b 2"},
		{`{"y": {"$tag": [{"&x": {"b": {"e": 2}}}]}, "z": {"$like": "x"}}`,
			`{"each": "**.b", "key": "e", "is": 1}`, "?-b 2"},
		{`{"resource aws_x a": {"e": 1}, "resource aws_x b": {}, "resource aws_y c": {}}`,
			`{"each": "resource.aws_x.*", "key": "e"}`,
			"-resource aws_x b"},
		{`{"a": {"c": [{"n": {"e": 1}}, {"n": {}}]}}`, `{"each": "**.c", "key": "n.e"}`, "-n"},
		{`{"a": {"e": 1, "b": {}}}`, `{"each": ["a", "**"], "key": "**.e"}`, "-e -b"},
		{`{"&x": {}, "y": {"$like": "x"}}`, `{"each": "*", "key": "e"}`, "-&x -y"},
		{`{"a": {"p": 1}, "b": {"q": 1}, "c": {}}`, `{"each": "*", "key": ["p", "q"]}`, "-c"},
		{`{"a": {"x": {}, "q": 1}, "b": {"x": {}}}`, `{"each": "*", "key": ["x.p", "q"]}`, "-x"},

		// where.
		{`{"kind": "Pod"}`, `{"key": "a", "where": {"kind": "Job"}}`, ""},
		{`{"kind": "Job"}`, `{"key": "a", "where": {"kind": "Job"}}`, "-{kind: Job}"},

		// Documents.
		{`null`, `{"key": "a"}`, "-null"},
		{`null`, `{"each": "a", "key": "b"}`, ""},
		{`null`, `{"key": "a", "where": {"kind": "Job"}}`, ""},
		{`[]`, `{"key": "a"}`, "-[]"},
		{`[null, {"a": 1}]`, `{"key": "a"}`, ""},
		{`[{"a": 1}, {"b": 1}, [{}]]`, `{"key": "a"}`, "-{b: 1} -{}"},
		{`{"$tag": [{"a": 1}]}`, `{"key": "a"}`, "?-{$tag: [{a: 1}]} ?-{a: 1}"},
		{`{"apiVersion": 1, "kind": "List", "items": [{"a": 1}, {"b": 1}]}`, `{"key": "a"}`, "-{b: 1}"},
		{`{"apiVersion": null, "kind": "List", "items": [{"a": 1}]}`, `{"key": "items"}`, ""},
		{`{"kind": "List", "items": [{"a": 1}]}`, `{"key": "items"}`, ""},
		{`{"kind": "List", "items": []}`, `{"key": "a"}`, "-{kind: List, items: []}"},
		{`{"apiVersion": 1, "kind": "List", "items": [{"apiVersion": 1, "kind": "List", "items": [{"b": 1}]}]}`,
			`{"key": "a"}`, "-{b: 1}"},
		{`{"kind": "List"}`, `{"key": "a"}`, "-{kind: List}"},
		{`{"apiVersion": 1, "kind": "List", "items": {"$tag": [{"a": 1}]}}`, `{"key": "a"}`, "?-{a: 1}"},
		{`{"kind": "List", "items": {"$tag": [{"kind": "Job", "a": 1}]}}`, `{"key": "a", "where": {"kind": "Pod"}}`,
			"?-{kind: Job, a: 1}"},
		{`{"kind": "List", "items": {"$tag": [{"c": {"a": 1}}]}}`, `{"each": "c", "key": "a"}`, "?-c"},
		{`{"$tag": {"kind": "List", "items": [{"c": {"a": 1}}]}}`, `{"each": "c", "key": "a"}`, "?-c"},
		{`{"$tag": [{"kind": "Job", "a": 1}]}`, `{"key": "a", "where": {"kind": "Pod"}}`,
			"?-{$tag: [{kind: Job, a: 1}]} ?-{kind: Job, a: 1}"},
		{`{"apiVersion": 1, "kind": {"$tag": "List"}, "items": [{"a": 1}]}`, `{"key": "a"}`,
			"-{apiVersion: 1, kind: {$tag: List}, items: [{a: 1}]}"},
		{`{"apiVersion": 1, "kind": "PodList", "items": [{"a": 1}, {"b": 1}]}`, `{"key": "a"}`, "-{b: 1}"},
		{`{"kind": "PodList", "items": []}`, `{"key": "a"}`, "-{kind: PodList, items: []}"},
		{`{"kind": "PodList", "items": [{"kind": "Job"}, {}]}`, `{"key": "a", "where": {"kind": "Job"}}`,
			"-{kind: Job}"},
		{`{"kind": "PodList", "items": [{"kind": "Job"}, {}]}`, `{"key": "a", "where": {"kind": "Pod"}}`, "-{}"},
		{`{"kind": "AllowList", "items": [5]}`, `{"key": "a", "where": {"kind": "AllowList"}}`,
			"-{kind: AllowList, items: [5]}"},
		{`{"kind": "AllowList", "c": {}, "items": [{"c": {}}]}`, `{"each": "c", "key": "e"}`, "-c -c"},
		{`{"apiVersion": 1, "kind": "List", "c": {}, "items": [{"c": {}}]}`, `{"each": "c", "key": "e"}`, "-c"},
		{`{"apiVersion": 1, "kind": "Pod", "a": 1, "items": [{"a": 1}, {"b": 1}]}`, `{"key": "a"}`, "-{b: 1}"},
		{`{"kind": "Pod", "items": [{"a": 1}]}`, `{"key": "a"}`, "-{kind: Pod, items: [{a: 1}]}"},
		{`{"apiVersion": 1, "kind": "PodList", "items": [{}]}`, `{"key": "kind"}`, "-{}"},

		// What may never exist: checked, but not enough.
		{`{"~a": {"b": 1}}`, `{"key": "a.b"}`, "?-{~a: {b: 1}}"},
		{`{"~a": {"b": 1}}`, `{"key": "a"}`, "?-{~a: {b: 1}}"},
		{`{"~a": {"b": 1}}`, `{"key": "**.b"}`, "-{~a: {b: 1}}"},
		{`{"~a": {"c": 1}}`, `{"key": "a.b"}`, "-~a"},
		{`{"~a": {"b": 1}, "a": {"b": 1}}`, `{"key": "a.b"}`, ""},
		{`{"~a": {"b": 2}, "a": {"b": 1}}`, `{"key": "a.b", "is": 1}`, "2"},
		{`{"~a": {}, "a": {"b": 1}}`, `{"key": "a.b"}`, "-~a"},
		{`{"~a": {"b": 1}, "a": {"b": 1}}`, `{"key": "**.b"}`, ""},
		{`{"~a": {"b": 1}, "a": {}}`, `{"each": "a", "key": "b"}`, "-a"},
		{`{"kind": "List", "kind": "Pod", "items": [{"b": 1}]}`, `{"key": "b"}`,
			"-{kind: List, kind: Pod, items: [{b: 1}]}"},
	} {
		hits := keys.Required(readItem(t, row.item), file(t, row.tree))
		if got := shownHits(row.tree, hits); got != row.want {
			t.Errorf("%s in %s:\n got %s\nwant %s", row.item, row.tree, got, row.want)
		}
	}
}

// TestPlain: what another version of YAML reads as something else is not certainly the value, and a required item asks
// for the value by YAML 1.2 alone.
func TestPlain(t *testing.T) {
	for _, row := range []struct {
		text         string
		exact        keys.ExactType
		value        string
		plain, quote bool // whether is_not refuses it without quotes, and with them or in another format
	}{
		{"22", keys.ExactNumber, `22`, false, false},
		{"0022", keys.ExactNumber, `22`, true, false},
		{"yes", keys.ExactText, `"yes"`, true, false},
		{"Always", keys.ExactText, `"Always"`, false, false},
		{"Always", keys.ExactText, `"Never"`, true, true},
	} {
		for _, plain := range []bool{true, false} {
			value := &keys.Node{Kind: keys.ScalarNode, Scalar: keys.Scalar{
				Texts: []string{row.text}, Certain: true, Plain: plain,
				Exact: keys.Exact{Type: row.exact, Text: row.text},
			}}
			documents := []keys.Document{{Root: &keys.Node{Kind: keys.Mapping, Entries: []keys.Entry{
				{Name: "a", Named: true, Value: value},
			}}}}
			want := row.quote
			if plain {
				want = row.plain
			}
			hits := keys.Forbidden(readItem(t, `{"key": "a", "is_not": `+row.value+`}`), documents)
			if refused := len(hits) > 0; refused != want {
				t.Errorf("is_not %s, %s, plain %v: refused %v", row.value, row.text, plain, refused)
			}
			required := keys.Required(readItem(t, `{"key": "a", "is": `+row.value+`}`), documents)
			if accepted := len(required) == 0; accepted == row.quote {
				t.Errorf("is %s, %s, plain %v: accepted %v", row.value, row.text, plain, accepted)
			}
		}
	}
}

// TestDocuments: each document of a file is asked by itself.
func TestDocuments(t *testing.T) {
	item := readItem(t, `{"key": "a"}`)
	if hits := keys.Required(item, file(t, `{"a": 1}`, `{"b": 1}`)); len(hits) != 1 {
		t.Errorf("of two documents one lacks the key: %v", hits)
	}
	if hits := keys.Required(item, file(t, `null`, `{"a": 1}`)); len(hits) != 0 {
		t.Errorf("of two documents one is empty: %v", hits)
	}
	if hits := keys.Required(item, nil); len(hits) != 1 || hits[0] != (keys.Hit{Why: keys.Missing, Top: true}) {
		t.Errorf("no document: %v", hits)
	}
	if hits := keys.Forbidden(item, nil); len(hits) != 0 {
		t.Errorf("no document: %v", hits)
	}
}

// TestPathOfHit: a hit says which path it is of.
func TestPathOfHit(t *testing.T) {
	hits := keys.Forbidden(readItem(t, `{"key": ["b", "a", "*"]}`), file(t, `{"a": 1, "b": 1, "c": 1}`))
	if got := fmt.Sprint(hits); len(hits) != 3 || hits[0].Path != 1 || hits[1].Path != 0 || hits[2].Path != 2 {
		t.Error(got)
	}
}

// TestCost: a node to which many ways lead is looked at once, and so is each of many nodes within each other. Without
// that, none of these would ever end.
func TestCost(t *testing.T) {
	bomb := readTree(t, `{"b": 1, "c": 2}`)
	for range 60 {
		bomb.Shared = true
		bomb = &keys.Node{Kind: keys.Mapping, Entries: []keys.Entry{
			{Name: "a", Named: true, Value: bomb}, {Name: "b", Named: true, Value: bomb},
		}}
		bomb = &keys.Node{Kind: keys.List, Items: []*keys.Node{bomb, bomb}}
		bomb.Items[0].Shared = true
	}
	chain := readTree(t, strings.Repeat(`{"a": `, 900)+`{"kind": "Pod"}`+strings.Repeat(`, "kind": "List"}`, 900))
	lists := readTree(t, strings.Repeat(`{"kind": "List", "items": [`, 900)+`{"a": 1}`+strings.Repeat(`]}`, 900))
	stars := "**" + strings.Repeat(".a.**", 25)
	for _, root := range []*keys.Node{bomb, chain, lists} {
		file := []keys.Document{{Root: root}}
		for _, item := range []string{
			`{"key": "**.c", "is": 2}`, `{"key": "**"}`, `{"key": "` + stars + `.b"}`, `{"key": "` + stars +
				`", "is_not": 1}`,
			`{"key": "a", "where": {"` + stars + `.x": "x"}}`,
		} {
			keys.Forbidden(readItem(t, item), file)
		}
		for _, item := range []string{
			`{"key": "**.c", "is": 2}`, `{"key": "` + stars + `.b"}`, `{"each": "**", "key": "` + stars + `.b"}`,
			`{"each": "` + stars + `", "key": ["**.a.b", "` + stars + `.c"], "is": 1}`,
			`{"key": "*.*.*.*.*.*.*.*.*.*"}`,
		} {
			keys.Required(readItem(t, item), file)
		}
	}
}

// TestCostOfLists: what is in lists of Kubernetes that are in each other is not looked at again for each of them.
func TestCostOfLists(t *testing.T) {
	const depth, width = 8000, 100
	root := &keys.Node{Kind: keys.Mapping}
	for range depth {
		kind := &keys.Node{Kind: keys.ScalarNode, Scalar: keys.Scalar{
			Texts: []string{"x"}, Certain: true, Exact: keys.Exact{Type: keys.ExactText, Text: "x"}}}
		items := &keys.Node{Kind: keys.List, Items: []*keys.Node{root}}
		for range width {
			items.Items = append(items.Items, &keys.Node{Kind: keys.Mapping})
		}
		root = &keys.Node{Kind: keys.Mapping, Entries: []keys.Entry{
			{Name: "kind", Named: true, Value: kind}, {Name: "items", Named: true, Value: items},
		}}
	}
	lists := []keys.Document{{Root: root}}
	for text, hits := range map[string]func(*keyitem.Item, []keys.Document) []keys.Hit{
		`{"key":"**.a","is":1}`:                                             keys.Forbidden,
		`{"key":"**.kind","where":{"**.kind":"y"}}`:                         keys.Forbidden,
		`{"key":"**.a","where":{"**.kind":"y"}}`:                            keys.Required,
		`{"each":"**.b","key":"**.a","is":1,"where":{"**.items.kind":"x"}}`: keys.Required,
	} {
		if got := hits(readItem(t, text), lists); len(got) > 0 {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got := keys.Required(readItem(t, `{"key":"**.a"}`), lists); len(got) != 1 { // all places are 0
		t.Errorf("required: %v", got)
	}
}

// TestReach: how many places an item is checked at, why at none, and what shows that a required item is alive.
func TestReach(t *testing.T) {
	for _, row := range []struct{ tree, item, forbidden, required, alive string }{
		{`{"a": [1, {"b": 2}]}`, `{"key": "a"}`, "1", "1", "[] true"},
		{`{"a": [1, {"b": 2}]}`, `{"key": "a", "is": 2}`, "2", "1", "[] false"},
		{`{"kind": "List", "items": 5, "a": 1}`, `{"key": "a"}`, "1", "1", "[] true"},
		{`{"a": 1}`, `{"key": "b"}`, "no key is at this path", "1", "[] false"},
		{`{"a": 1}`, `{"key": ["b", "c"], "is": 1}`, "no value is at any of these paths", "1", "[] false"},
		{`{"a": 1, "kind": "A"}`, `{"key": "a", "where": {"kind": "B"}}`, "not asked: no document meets its where",
			"not asked: no document meets its where", "[] false"},
		{`{"a": [{"b": 1}, {}], "c": 5}`, `{"each": ["a", "c", "d"], "key": "b"}`, "", "3", "[true true false] true"},
		{`{"a": {"$tag": {"b": 1}}}`, `{"each": "a", "key": "b"}`, "", "1", "[true] false"},
		{`{"a": 1}`, `{"each": "b", "key": "c"}`, "", "not asked: nothing is at this path of each", "[false] false"},
		{`{"x y": {"a": 1}}`, `{"each": "x.**", "key": "a"}`, "", "3", "[true] true"},
	} {
		item, text := readItem(t, row.item), file(t, row.tree)
		show := func(r keys.Reach, required bool) string {
			if why := r.Nothing(item, required); why != "" {
				return why
			}
			return fmt.Sprint(r.Places)
		}
		if got := show(keys.ForbiddenReach(item, text), false); row.forbidden != "" && got != row.forbidden {
			t.Errorf("%s in %s: forbidden: %s, want %s", row.item, row.tree, got, row.forbidden)
		}
		signs := keys.SignsOf(item, text)
		got, alive := show(keys.RequiredReach(item, text), true), fmt.Sprint(signs.Each, signs.Met)
		if got != row.required || alive != row.alive {
			t.Errorf("%s in %s: required: %s, %s; want %s, %s", row.item, row.tree, got, alive, row.required, row.alive)
		}
	}
}
