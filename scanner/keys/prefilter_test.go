package keys_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
)

// TestPrefilter: all forbidden items of testdata/rows.txtar at once, in each of its trees. An item with a hit is
// possible; one without is not, unless that takes a look at its where, or at a path in a text.
func TestPrefilter(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/rows.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var trees, texts []string
	var items []*keyitem.Item
	for _, list := range archive.Files {
		for line := range strings.Lines(string(list.Data)) {
			if parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); !strings.HasPrefix(line, "#") {
				trees = append(trees, parts[0])
				if list.Name == "forbidden" {
					texts, items = append(texts, parts[1]), append(items, readItem(t, parts[1]))
				}
			}
		}
	}
	filter := newPrefilter(items)
	hits, possible := 0, 0
	for _, tree := range trees {
		file := file(t, tree)
		all := filter.Possible(file)
		for i := range items {
			is := all[items[i]]
			found := len(keys.Forbidden(items[i], file)) > 0
			isExact := items[i].Where == nil && !strings.Contains(tree, "$text")
			if found && !is || isExact && is && !found {
				t.Errorf("%s in %s: possible %v, found %v", texts[i], tree, is, found)
			}
			if found {
				hits++
			}
			if is {
				possible++
			}
		}
	}
	if all := len(items) * len(trees); hits == 0 || possible < hits || possible > all/2 {
		t.Errorf("%d items and trees, %d possible, %d with hits", all, possible, hits)
	}
}

func newPrefilter(items []*keyitem.Item) *keys.Prefilter {
	p := keys.NewPrefilter()
	for _, item := range items {
		p.Add(item)
	}
	return p
}

// TestPossible: the states of a path may be in two words, and a command is one value.
func TestPossible(t *testing.T) {
	tree := file(t, `{"x": {"y": {"b": 1}}, "run": ["a", "b"]}`)
	run := tree[0].Root.Entries[1].Value
	run.Joined = &keys.Node{Kind: keys.ScalarNode, Scalar: keys.Scalar{Texts: []string{"a b"}}}
	for n := 1; n <= keyitem.MaxSegments; n++ {
		var items []*keyitem.Item
		for _, item := range []string{
			`{"key": "` + strings.Repeat("z.", n-1) + `z"}`, `{"key": "**.b"}`, `{"key": "*.*.b", "is": 1}`, `{"key": "*.b"}`,
			`{"key": "run", "matches": "^a b$"}`, `{"key": "run", "matches": "^a c$"}`,
		} {
			items = append(items, readItem(t, item))
		}
		possible := newPrefilter(items).Possible(tree)
		for i, want := range []bool{false, true, true, false, true, false} {
			if possible[items[i]] != want {
				t.Errorf("behind %d segments: item %d is possible: %v", n, i, !want)
			}
		}
	}
}

// TestUnknownPossible: the filter gives up at a text beyond a limit, and at many ways to the same nodes.
func TestUnknownPossible(t *testing.T) {
	var items []*keyitem.Item
	for i := range 200 {
		items = append(items, readItem(t, fmt.Sprintf(`{"key": "k%d.a"}`, i)))
	}
	filter := newPrefilter(items)
	beyond := file(t, `{"b": 1}`)
	beyond[0].Beyond = map[*keys.Node]string{beyond[0].Root: "too long"}
	if possible := filter.Possible(beyond); possible != nil {
		t.Error("beyond a limit: ", possible)
	}
	shared := &keys.Node{Kind: keys.Mapping, Shared: true}
	for ways, known := range map[int]bool{5000: true, 5001: false} {
		root := &keys.Node{Kind: keys.Mapping}
		for i := range ways {
			name := fmt.Sprint("k", i%len(items))
			root.Entries = append(root.Entries, keys.Entry{Name: name, Named: true, Value: shared})
		}
		if possible := filter.Possible([]keys.Document{{Root: root}}); possible != nil != known {
			t.Errorf("%d ways: %v", ways, possible)
		}
	}
}

// TestPrefilterCost: an if is checked once for each object, whatever its values are, and what many aliases share is not
// walked for each of them.
func TestPrefilterCost(t *testing.T) {
	item := readItem(t, `{"key": "**.a", "is": 1, "if": {"a": 2}}`)
	filter := newPrefilter([]*keyitem.Item{item})
	list := file(t, `{"a": [`+strings.TrimSuffix(strings.Repeat("1,", 2000), ",")+`]}`)
	if n := testing.AllocsPerRun(3, func() { filter.Possible(list) }); n > 5000 || len(filter.Possible(list)) > 0 {
		t.Errorf("%.0f allocations for one object: %v", n, filter.Possible(list))
	}
	shared := list[0].Root
	shared.Shared = true
	root := &keys.Node{Kind: keys.Mapping}
	for i := range 100 {
		root.Entries = append(root.Entries, keys.Entry{Name: fmt.Sprint("k", i), Named: true, Value: shared})
	}
	if possible := filter.Possible([]keys.Document{{Root: root}}); possible != nil {
		t.Error("a hundred aliases of two thousand values were walked: ", possible)
	}
}
