package keys_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
)

// drawTree draws the JSON of a tree, as for readTree.
func drawTree(t *rapid.T, depth int) string {
	kinds := []string{"map"}
	switch {
	case depth == 0:
		kinds = []string{`1`, `2`, `"x"`, `"1"`, `null`, `"$var.x"`, `[]`, `{}`}
	case depth < 4:
		kinds = []string{"map", "map", "map", "list", "tag", "text", "1", "2", `"x"`}
	default:
		kinds = append(kinds, "objects")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "map":
		var all []string
		names := []string{"a", "b", "kind", "a.b", "items", "apiVersion", "a t", "<<b", "~a", "?"}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "names") {
			value := drawTree(t, depth-1)
			if strings.Contains(name, " ") && !strings.HasPrefix(value, `{"`) {
				value = `{"a":` + value + `}`
			}
			all = append(all, fmt.Sprintf("%q:%s", name, value))
		}
		return "{" + strings.Join(all, ",") + "}"
	case "list":
		return "[" + drawTree(t, depth-1) + "," + drawTree(t, depth-1) + "]"
	case "objects":
		kind := rapid.SampledFrom([]string{`"List"`, `{"$tag":"x"}`, `"x"`, `["x","xList"]`}).Draw(t, "kind of list")
		return `{"apiVersion":1,"kind":` + kind + `,"items":{"$tag":[` + drawTree(t, depth-1) + `]}}`
	case "tag":
		return `{"$tag":` + drawTree(t, depth-1) + `}`
	case "text":
		return `{"$text":{"a":` + drawTree(t, depth-1) + `}}`
	default:
		return kind
	}
}

// drawItem draws the JSON of an item, as for readItem.
func drawItem(t *rapid.T, required bool) string {
	path := rapid.SampledFrom([]string{"a", "b", "a.b", "**.a", "a.*", "kind", "a.**.b", "**.a.b", "a.b.a.b"})
	asks := []string{`"is":1`, `"is":["x",2]`, `"matches":"^x"`}
	of := rapid.SampledFrom(append(asks, `"is_not":1`, `"below":2`, `"above":1`, `"missing":true`, `"present":true`))
	all := []string{fmt.Sprintf(`"key":%q`, path.Draw(t, "path"))}
	if required {
		all = append(all, rapid.SampledFrom(append(asks, "", `"at_least":2`)).Draw(t, "asks"))
	} else {
		all = append(all, rapid.SampledFrom(append(asks, "", `"is_not":1`, `"below":1`, `"above":1`)).Draw(t, "asks"))
	}
	each := required && rapid.Bool().Draw(t, "each")
	if each {
		all = append(all, fmt.Sprintf(`"each":%q`, path.Draw(t, "each path")))
	}
	for _, clause := range []string{"where", "if"} {
		if clause == "if" && required && !each || rapid.Bool().Draw(t, clause) {
			continue
		}
		var list []string
		for _, p := range rapid.SliceOfNDistinct(path, 1, 2, rapid.ID[string]).Draw(t, "conditions") {
			list = append(list, fmt.Sprintf("%q:{%s}", p, of.Draw(t, "condition")))
		}
		all = append(all, fmt.Sprintf("%q:{%s}", clause, strings.Join(list, ",")))
	}
	return "{" + strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), ",") + "}"
}

// TestReasons: an item that finds something has no reason, and any other in a file with a document has one. Each reason
// is true: without the condition that it names the value is found, and with that condition alone it is not; a value is
// at the path, and is not as forbidden; where nothing is said to be at a path, there is nothing.
func TestReasons(t *testing.T) {
	named := map[string]int{}
	check := func(rt *rapid.T) {
		required := rapid.Bool().Draw(rt, "required")
		trees := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawTree(t, 4) }), 1, 3).Draw(rt, "trees")
		text := drawItem(rt, required)
		item, documents := readItem(t, text), file(t, trees...)
		for i := range documents {
			shift(&documents[i], i*1000)
		}
		find := keys.Forbidden
		if required {
			find = keys.Required
		}
		hits := find(item, documents)
		asked, why := keys.Explain(item, documents, required)
		fail := func(format string, args ...any) {
			rt.Fatalf("%s in %s: %s\n%v", text, trees, fmt.Sprintf(format, args...), why)
		}
		switch {
		case len(hits) > 0 && len(why) > 0:
			fail("it finds %v, and has reasons", hits)
		case len(hits) > 0:
			return
		case len(why) == 0 && (!required || asked == 0):
			fail("no reason")
		}
		is := func(change func(*keyitem.Item), at keys.Span) bool { // whether a changed item finds the place
			other := *item
			change(&other)
			return slices.ContainsFunc(keys.Forbidden(&other, documents), func(h keys.Hit) bool { return h.At == at })
		}
		for _, reason := range why {
			at, placed := reason[0].(keys.Span)
			k := slices.IndexFunc(reason, func(part any) bool { _, is := part.(keys.Failing); return is })
			switch {
			case k >= 0:
				failing := reason[k].(keys.Failing)
				named[failing.Clause]++
				other := *item
				if failing.Clause == "where" {
					other.Where = item.Where[failing.Index : failing.Index+1]
				} else {
					other.If = item.If[failing.Index : failing.Index+1]
				}
				_, alone := keys.Explain(&other, documents, required)
				if len(alone) > 0 && !fails(alone, at, failing.Clause) || failing.Clause == "if" && !required &&
					slices.ContainsFunc(keys.Forbidden(&other, documents), func(h keys.Hit) bool { return h.At == at }) {
					fail("the condition alone does not fail at %v", at)
				}
				if failing.Clause == "if" && !required && !is(func(i *keyitem.Item) { i.If = nil }, at) {
					fail("without its if, the item does not find %v", at)
				}
			case placed:
				named["value"]++
				if n := reason[2].(*keys.Node); n.Kind != keys.List && !is(func(i *keyitem.Item) {
					i.Condition, i.If = readItem(t, `{"key":"a","is_not":"nothing"}`).Condition, nil
				}, at) {
					fail("nothing is at %v", at)
				}
				if is(func(i *keyitem.Item) { i.If = nil }, at) {
					fail("%v is as forbidden", at)
				}
			case !required && !strings.HasPrefix(reason[0].(string), "and ") && reason[0] != "the file has no document":
				named["path"]++
				other := *item
				if other.Condition = readItem(t, `{"key":"a","is_not":"nothing"}`).Condition; len(
					keys.Forbidden(&other, documents)) > 0 {
					fail("something is at the path")
				}
			}
		}
	}
	kinds := []string{"where", "if", "value", "path"}
	isMissing := func(what string) bool { return named[what] == 0 }
	for try := 0; try < 20 && slices.ContainsFunc(kinds, isMissing); try++ { // by turns of 100 items
		rapid.Check(t, check)
	}
	for _, what := range kinds {
		if named[what] == 0 {
			t.Errorf("no reason is about %s", what)
		}
	}
}

// fails reports whether a reason says that a condition fails at a place; true if it may be one of those not named.
func fails(why []keys.Sentence, at keys.Span, clause string) bool {
	more := false
	for _, reason := range why {
		if len(reason) > 2 && reason[0] == at && slices.ContainsFunc(reason, func(part any) bool {
			f, is := part.(keys.Failing)
			return is && f.Clause == clause
		}) {
			return true
		}
		text, _ := reason[0].(string)
		more = more || strings.HasPrefix(text, "and ")
	}
	return more
}

// shift moves a document, so that no two have the same places.
func shift(d *keys.Document, by int) {
	moved := map[*keys.Node]bool{}
	move := func(at *keys.Span) { at.Start, at.End = at.Start+by, at.End+by }
	var all func(n *keys.Node)
	all = func(n *keys.Node) {
		if n == nil || moved[n] {
			return
		}
		moved[n] = true
		move(&n.At)
		all(n.Inside)
		for _, item := range n.Items {
			all(item)
		}
		for i := range n.Entries {
			move(&n.Entries[i].At)
			all(n.Entries[i].Value)
		}
	}
	all(d.Root)
	move(&d.Head)
}

// TestDottedKeys: of a path that reaches nothing, the longest key that is segments of it joined by dots.
func TestDottedKeys(t *testing.T) {
	for _, row := range []struct{ tree, item, meant string }{
		{`{"a.b":1}`, `{"key":"a.b"}`, `"a.b"`},
		{`{"a.b":{"c":1},"a.b.c":1}`, `{"key":"x.a.b.c.d"}`, `x."a.b.c".d`},
		{`{"x":[{"y":{"a.b":1}}]}`, `{"key":"**.a.b","is":1}`, `**."a.b"`},
		{`{"x":{"$text":{"a.b":1}}}`, `{"key":"x.a.b"}`, `x."a.b"`},
		{`{"b.c.d":1}`, `{"key":"a.\"b.c\".d"}`, `a."b.c.d"`},
		{`{"a.b":1,"a":{"b":2}}`, `{"key":"a.b"}`, ``},
		{`{"a.b":1}`, `{"key":"a.*.b"}`, ``},
		{`{"a.b":1}`, `{"key":["c","a.b"]}`, `"a.b"`},
		{`{"a.b":1}`, `{"key":"c","where":{"a.b":1}}`, `"a.b"`},
		{`{"e":[{"a.b":1}]}`, `{"each":"e","key":"a.b"}`, `"a.b"`},
		{`{"e":[{"a":{"b":1},"a.b":1}]}`, `{"each":"e","key":"a.b"}`, ``},
		{`{"a.b":1}`, `{"each":"a.b","key":"c"}`, `"a.b"`},
		{`{"c":[{"d":1,"a.b":1}]}`, `{"key":"c.d","if":{"a.b":1}}`, `"a.b"`},
		{`{"c":[{"d":1,"a":{"b":2},"a.b":1}]}`, `{"key":"c.d","if":{"a.b":1}}`, ``},
	} {
		documents := file(t, row.tree)
		got := ""
		for _, is := range keys.DottedKeys(readItem(t, row.item), documents, keys.DottedNames(documents)) {
			got = strings.TrimSpace(is[1].(string)[strings.LastIndex(is[1].(string), ":")+1:])
		}
		if got != row.meant {
			t.Errorf("%s in %s: %s, want %s", row.item, row.tree, got, row.meant)
		}
	}
}
