package keys_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
	"github.com/rogpeppe/go-internal/txtar"
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

// TestRows: what forbidden and required items find in the trees of testdata/rows.txtar.
func TestRows(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/rows.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range archive.Files {
		find := map[string]func(*keyitem.Item, []keys.Document) []keys.Hit{
			"forbidden": keys.Forbidden, "required": keys.Required,
		}[list.Name]
		for line := range strings.Lines(string(list.Data)) {
			parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if strings.HasPrefix(line, "#") {
				continue
			}
			tree, item, want := parts[0], parts[1], parts[2]
			if want == "nothing" {
				want = ""
			}
			if got := shownHits(tree, find(readItem(t, item), file(t, tree))); got != want {
				t.Errorf("%s: %s in %s:\n got %s\nwant %s", list.Name, item, tree, got, want)
			}
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
			keys.Explain(readItem(t, item), file, false)
		}
		for _, item := range []string{
			`{"key": "**.c", "is": 2}`, `{"key": "` + stars + `.b"}`, `{"each": "**", "key": "` + stars + `.b"}`,
			`{"each": "` + stars + `", "key": ["**.a.b", "` + stars + `.c"], "is": 1}`,
			`{"key": "*.*.*.*.*.*.*.*.*.*"}`,
		} {
			keys.Required(readItem(t, item), file)
			keys.Explain(readItem(t, item), file, true)
			keys.DottedKeys(readItem(t, item), file, map[string]keys.Span{"a.a": {}, "a.b": {}})
		}
		keys.DottedNames(file)
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
		keys.Explain(readItem(t, text), lists, strings.Contains(text, "each"))
	}
	if got := keys.Required(readItem(t, `{"key":"**.a"}`), lists); len(got) != 1 { // all places are 0
		t.Errorf("required: %v", got)
	}
}

// TestReach: how many places an item is checked at, and what shows that a required item is alive.
func TestReach(t *testing.T) {
	for _, row := range []struct{ tree, item, forbidden, required, alive string }{
		{`{"a": [1, {"b": 2}]}`, `{"key": "a"}`, "1", "1", "[] true"},
		{`{"a": [1, {"b": 2}]}`, `{"key": "a", "is": 2}`, "2", "1", "[] false"},
		{`{"kind": "List", "items": 5, "a": 1}`, `{"key": "a"}`, "1", "1", "[] true"},
		{`{"a": 1}`, `{"key": "b"}`, "0", "1", "[] false"},
		{`{"a": 1}`, `{"key": ["b", "c"], "is": 1}`, "0", "1", "[] false"},
		{`{"a": 1, "kind": "A"}`, `{"key": "a", "where": {"kind": "B"}}`, "0",
			"0", "[] false"},
		{`{"a": [{"b": 1}, {}], "c": 5}`, `{"each": ["a", "c", "d"], "key": "b"}`, "", "3", "[true true false] true"},
		{`{"a": {"$tag": {"b": 1}}}`, `{"each": "a", "key": "b"}`, "", "1", "[true] false"},
		{`{"a": 1}`, `{"each": "b", "key": "c"}`, "", "0", "[false] false"},
		{`{"x y": {"a": 1}}`, `{"each": "x.**", "key": "a"}`, "", "3", "[true] true"},
	} {
		item, text := readItem(t, row.item), file(t, row.tree)
		show := func(required bool) string {
			asked, _ := keys.Explain(item, text, required)
			return fmt.Sprint(asked)
		}
		if got := show(false); row.forbidden != "" && got != row.forbidden {
			t.Errorf("%s in %s: forbidden: %s, want %s", row.item, row.tree, got, row.forbidden)
		}
		signs := keys.SignsOf(item, text)
		got, alive := show(true), fmt.Sprint(signs.Each, signs.Met)
		if got != row.required || alive != row.alive {
			t.Errorf("%s in %s: required: %s, %s; want %s, %s", row.item, row.tree, got, alive, row.required, row.alive)
		}
	}
}
