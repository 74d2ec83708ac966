package keys_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/keys"
)

// A second implementation of what an item with a key means, read from the page that specifies it: it follows each way
// by itself, remembers nothing and knows the few values of its trees from a table.

// A meaning is how a text of the random trees may be read, and what it is for a required item.
type meaning struct {
	text  string
	exact keys.ExactType
	could []string // values of an item, as JSON
	is    []string
}

func meanings() []meaning {
	return []meaning{
		{"true", keys.ExactBool, []string{`true`, `"true"`}, []string{`true`}},
		{"true", keys.ExactText, []string{`true`, `"true"`}, []string{`"true"`}},
		{"Yes", keys.ExactText, []string{`true`}, nil},
		{"22", keys.ExactNumber, []string{`22`, `"22"`}, []string{`22`}},
		{"22.0", keys.ExactNumber, []string{`22`}, []string{`22`}},
		{"0022", keys.ExactNumber, []string{`22`}, []string{`22`}}, // 18 for YAML 1.1, where it has no quotes
		{"0x16", keys.ExactText, []string{`22`}, nil},
		{"x", keys.ExactText, []string{`"x"`}, []string{`"x"`}},
		{"x\ny", keys.ExactText, nil, nil},
		{"List", keys.ExactText, nil, nil},
		{"xList", keys.ExactText, nil, nil},
		{"", keys.ExactText, nil, nil},
		{"$var", keys.NoType, nil, nil}, // has variables
	}
}

// xs matches lines that are "x".
var xs = sync.OnceValue(func() *regex.Expr {
	expr, err := regex.Compile("^x$")
	if err != nil {
		panic(err)
	}
	return expr
})

// matchesX says of each text whether ^x$ matches one of its lines, and all.
func matchesX(text string) (one, all bool) { return text == "x" || text == "x\ny", text == "x" }

// A place is a node that a path reaches, with what the page asks about the way there.
type place struct {
	node   *keys.Node
	from   keys.Span  // what introduces it
	tagged bool       // in a tagged value
	open   bool       // it may be of any kind
	unsure bool       // it may not exist, where the place that a path began at does
	part   bool       // it is an item of a list that is one value, and no value itself
	given  *keys.Node // nil, or the kinds that the lists around it say
}

// A follower follows a path.
type follower struct {
	hidden, tagged, whole bool
	values                []place       // at the end
	entries               []*keys.Entry // the last of the way
	touched               []*keys.Node  // all on the way and at the end
}

func (f *follower) follow(p place, path keyitem.Path) {
	n := p.node
	f.touched = append(f.touched, n)
	if len(path) == 0 && !p.part && (n.Kind != keys.List || len(n.Items) == 0 || n.Tagged) {
		f.values = append(f.values, p)
	}
	if len(path) > 0 && path[0].Kind == keyitem.Deep {
		f.follow(p, path[1:])
	}
	if n.Tagged && !f.tagged {
		return
	}
	inside := p.tagged || n.Tagged
	for _, item := range n.Items {
		f.follow(place{node: item, from: item.At, tagged: inside, part: p.part || n.Tagged && f.whole}, path)
	}
	for i := range n.Entries {
		e := &n.Entries[i]
		if len(path) == 0 || e.Hidden && !f.hidden || path[0].Kind == keyitem.Name && (!e.Named || e.Name != path[0].Name) {
			continue
		}
		rest := path[1:]
		if path[0].Kind == keyitem.Deep {
			rest = path
		}
		if len(rest) == 0 || len(rest) == 1 && rest[0].Kind == keyitem.Deep {
			f.entries = append(f.entries, e)
		}
		f.follow(place{node: e.Value, from: e.At, tagged: inside}, rest)
	}
}

type naiveItem struct {
	*keyitem.Item
	values []string // as JSON
}

func named(list []string, values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(list, v) })
}

func meaningOf(n *keys.Node) (meaning, bool) {
	for _, m := range meanings() {
		if n.Kind == keys.ScalarNode && m.text == n.Scalar.Texts[0] && (m.exact == n.Scalar.Exact.Type || n.Scalar.Variable) {
			return m, true
		}
	}
	return meaning{}, false
}

func (i naiveItem) forbids(n *keys.Node) bool {
	m, scalar := meaningOf(n)
	one, all := matchesX(m.text)
	certain := scalar && !n.Scalar.Variable
	switch i.Asks {
	case keyitem.Is:
		return scalar && named(m.could, i.values)
	case keyitem.IsNot:
		return !certain || !named(m.is, i.values) || n.Scalar.Plain && m.text == "0022"
	case keyitem.Matches:
		return scalar && one
	case keyitem.MatchesNot:
		return !certain || !all
	}
	panic("no condition")
}

func (i naiveItem) wants(n *keys.Node) bool {
	m, scalar := meaningOf(n)
	_, all := matchesX(m.text)
	if i.Asks == keyitem.Is {
		return scalar && !n.Scalar.Variable && named(m.is, i.values)
	}
	return scalar && !n.Scalar.Variable && all
}

// concerned reports whether the document at a place meets each condition of "where", with the one value "x" or "List".
func (i naiveItem) concerned(p place) bool {
	for _, where := range i.Where {
		met := p.open
		f := &follower{hidden: true, tagged: true}
		f.follow(p, where.Path)
		for _, n := range f.touched {
			met = met || n.Tagged || n.Kind == keys.ScalarNode && n.Scalar.Variable
		}
		for _, v := range f.values {
			met = met || v.node.Kind == keys.ScalarNode && v.node.Scalar.Texts[0] == where.Values[0].Text
		}
		if !met {
			return false
		}
	}
	return true
}

// naiveDocuments are the documents of a file for forbidden or for required items; narrow says that the item has "where"
// or "each".
func naiveDocuments(p place, forbidden, narrow, kubernetes bool) []place {
	n := p.node
	var all []place
	items := func(list *keys.Node, anything bool, given *keys.Node) {
		for _, item := range list.Items {
			inner := place{node: item, from: item.At, tagged: p.tagged || n.Tagged || list.Tagged, given: given}
			inner.open = p.open || inner.tagged || anything
			all = append(all, naiveDocuments(inner, forbidden, narrow, kubernetes)...)
		}
	}
	switch {
	case n.Kind == keys.Null:
		return nil
	case n.Kind == keys.List:
		if n.Tagged {
			all = append(all, p)
		}
		items(n, false, p.given)
		return all
	}
	seen := func(e keys.Entry, name string) bool { return e.Named && e.Name == name && (forbidden || !e.Hidden) }
	var kinds []*keys.Node
	var lists []*keys.Node
	onlyLists, onlyList, versioned := !n.Tagged, true, false
	for _, e := range n.Entries {
		v := e.Value
		switch {
		case seen(e, "apiVersion"):
			versioned = versioned || v.Kind != keys.Null
		case seen(e, "kind"):
			text := ""
			if v.Kind == keys.ScalarNode && v.Scalar.Exact.Type == keys.ExactText {
				text = v.Scalar.Texts[0]
			}
			onlyLists, onlyList = onlyLists && strings.HasSuffix(text, "List"), onlyList && text == "List"
			if v.Kind == keys.ScalarNode && v.Scalar.Texts[0] != "" {
				kinds = append(kinds, v)
			}
		case seen(e, "items") && v.Kind == keys.List:
			lists = append(lists, v)
		case seen(e, "items"):
			onlyLists = false
		}
	}
	isList := kubernetes && len(kinds) > 0 && len(lists) > 0 && (versioned || forbidden || narrow)
	if !isList || forbidden || !versioned || !onlyLists || narrow && !onlyList {
		all = append(all, p.withKind())
	}
	if !isList {
		return all
	}
	given := &keys.Node{Kind: keys.List}
	for _, kind := range kinds {
		of := &keys.Node{Kind: keys.ScalarNode, At: kind.At, Scalar: kind.Scalar}
		text := strings.TrimSuffix(kind.Scalar.Texts[0], "List")
		if of.Scalar.Texts, of.Scalar.Exact.Text = []string{text}, text; text != "" {
			given.Items = append(given.Items, of)
		}
	}
	for _, list := range lists {
		items(list, len(given.Items) > 1, given)
	}
	return all
}

// withKind is a document with the kind that the list around it gives to what has none.
func (p place) withKind() place {
	if p.given == nil || len(p.given.Items) == 0 || p.node.Kind != keys.Mapping {
		return p
	}
	for _, e := range p.node.Entries {
		if e.Named && e.Name == "kind" && e.Value.Kind == keys.ScalarNode && e.Value.Scalar.Texts[0] != "" {
			return p
		}
	}
	with := *p.node
	kind := keys.Entry{Name: "kind", Named: true, Hidden: true, At: p.given.Items[0].At, Value: p.given}
	with.Entries = append(slices.Clone(with.Entries), kind)
	p.node = &with
	return p
}

// forbidden returns the places of what the item forbids, and how much it asks.
func (i naiveItem) forbidden(file []keys.Document) ([]int, keys.Reach) {
	var at, asked []int
	where := false
	for _, d := range file {
		for _, p := range naiveDocuments(place{node: d.Root, from: d.Head}, true, false, d.Kubernetes) {
			if !i.concerned(p) {
				continue
			}
			where = true
			for _, path := range i.Paths {
				f := &follower{hidden: true, tagged: true}
				f.follow(p, path)
				if i.Asks == keyitem.Exists {
					for _, e := range f.entries {
						at = append(at, e.At.Start)
					}
					if len(path) == 1 && path[0].Kind == keyitem.Deep {
						at = append(at, p.node.At.Start)
					}
					asked = append(asked, at...)
					continue
				}
				for _, v := range f.values {
					asked = append(asked, v.node.At.Start)
					if i.forbids(v.node) {
						at = append(at, v.node.At.Start)
					}
				}
			}
		}
	}
	return once(at), keys.Reach{Where: where, Places: len(once(asked))}
}

// lacking returns what introduces each parent of a missing node.
func lacking(p place, path keyitem.Path) []keys.Span {
	n := p.node
	if len(path) == 0 {
		return nil
	}
	var all []keys.Span
	switch {
	case n.Kind == keys.List && len(n.Items) > 0 && !n.Tagged:
		for _, item := range n.Items {
			all = append(all, lacking(place{node: item, from: item.At}, path)...)
		}
		return all
	case path[0].Kind == keyitem.Deep:
		sure := false
		for _, next := range below(p, path[1:]) {
			sure = sure || !next.unsure
			if next.tagged {
				all = append(all, next.from)
			} else {
				all = append(all, lacking(next, path[1:])...)
			}
		}
		if !sure && len(all) == 0 {
			return []keys.Span{p.from}
		}
		return all
	case n.Kind != keys.Mapping || n.Tagged:
		return []keys.Span{p.from}
	}
	sure := false
	for i := range n.Entries {
		if e := &n.Entries[i]; chosen(e, path) {
			sure = sure || !e.Unsure
			all = append(all, lacking(place{node: e.Value, from: e.At}, path[1:])...)
		}
	}
	if !sure && len(all) == 0 {
		return []keys.Span{p.from}
	}
	return all
}

// below returns the places at and below one that have the next segment of a path; without one, all.
func below(p place, path keyitem.Path) []place {
	n := p.node
	var all []place
	if len(path) == 0 && (n.Kind != keys.List || len(n.Items) == 0) {
		all = append(all, p)
	}
	has := false
	for i := range n.Entries {
		has = has || len(path) > 0 && chosen(&n.Entries[i], path)
	}
	if has {
		all = append(all, place{node: n, from: p.from, tagged: p.tagged || n.Tagged, unsure: p.unsure})
	}
	for _, item := range n.Items {
		all = append(all, below(place{node: item, from: item.At, tagged: p.tagged || n.Tagged, unsure: p.unsure}, path)...)
	}
	for _, e := range n.Entries {
		if !e.Hidden {
			inner := place{node: e.Value, from: e.At, tagged: p.tagged || n.Tagged, unsure: p.unsure || e.Unsure}
			all = append(all, below(inner, path)...)
		}
	}
	return all
}

// chosen reports whether an entry is on the way of a path that begins at its mapping: type and labels choose blocks.
func chosen(e *keys.Entry, path keyitem.Path) bool {
	switch {
	case len(path) == 0 || path[0].Kind == keyitem.Deep:
		return true
	case e.Hidden, path[0].Kind == keyitem.Name && (!e.Named || e.Name != path[0].Name):
		return false
	}
	return !e.Value.Header || chosen(&e.Value.Entries[0], path[1:])
}

func (i naiveItem) required(file []keys.Document) []int {
	var documents []place
	for _, d := range file {
		narrow := len(i.Where) > 0 || len(i.Each) > 0
		documents = append(documents, naiveDocuments(place{node: d.Root, from: d.Head}, false, narrow, d.Kubernetes)...)
	}
	if len(documents) == 0 && len(i.Where) == 0 && len(i.Each) == 0 {
		return []int{file[0].Head.Start}
	}
	parents, at, _, _ := i.asked(documents)
	for _, p := range parents {
		at = append(at, i.lacks(place{node: p.node, from: p.from})...)
	}
	return once(at)
}

// asked returns what in documents must have the key, the places of nodes that cannot have it, for each path to such
// nodes whether there is one, and how much that is.
func (i naiveItem) asked(documents []place) (parents []place, at []int, each []bool, much keys.Reach) {
	each = make([]bool, len(i.Each))
	var nodes []int
	for _, d := range documents {
		if !i.concerned(d) {
			continue
		}
		much.Where = true
		if len(i.Each) == 0 {
			if d.tagged {
				at = append(at, d.from.Start)
			} else {
				parents = append(parents, d)
			}
			nodes = append(nodes, d.node.At.Start)
		}
		for k, path := range i.Each {
			f := &follower{tagged: true, whole: true}
			f.follow(d, path)
			for _, v := range f.values {
				switch {
				case v.node.Kind == keys.List && !v.node.Tagged: // an empty one: no node
					continue
				case v.node.Kind != keys.Mapping, v.node.Tagged, v.tagged:
					at = append(at, v.from.Start)
				default:
					parents = append(parents, v)
				}
				each[k] = true
				nodes = append(nodes, v.node.At.Start)
			}
		}
	}
	much.Places = len(once(nodes))
	return parents, at, each, much
}

// signs are those of life that a file shows of a required item, and how much of the file it asks.
func (i naiveItem) signs(file []keys.Document) (keys.Signs, keys.Reach) {
	var documents []place
	for _, d := range file {
		narrow := len(i.Where) > 0 || len(i.Each) > 0
		documents = append(documents, naiveDocuments(place{node: d.Root, from: d.Head}, false, narrow, d.Kubernetes)...)
	}
	parents, _, each, much := i.asked(documents)
	return keys.Signs{Each: each, Met: slices.ContainsFunc(parents, func(p place) bool {
		return len(i.lacks(place{node: p.node, from: p.from})) == 0
	})}, much
}

// lacks returns the places where a node lacks the key or has another value.
func (i naiveItem) lacks(p place) []int {
	var at []int
	var first []keys.Span
	reached := false
	for k, path := range i.Paths {
		missing := lacking(p, path)
		if k == 0 {
			first = missing
		}
		reached = reached || len(missing) == 0
		f := &follower{}
		f.follow(p, path)
		if i.Asks == keyitem.Exists {
			for _, e := range f.entries {
				if e.Value.Kind == keys.Null {
					at = append(at, e.At.Start)
				}
			}
			continue
		}
		for _, v := range f.values {
			if !i.wants(v.node) {
				at = append(at, v.node.At.Start)
			}
		}
	}
	if !reached {
		for _, span := range first {
			at = append(at, span.Start)
		}
	}
	return at
}

func once(at []int) []int {
	sort.Ints(at)
	return slices.Compact(at)
}

// A forest draws trees. Each node and key has a place that no other has.
type forest struct {
	t     *rapid.T
	place int
	nodes []*keys.Node // that an alias can lead to
}

func (f *forest) span() keys.Span {
	f.place += 2
	return keys.Span{Start: f.place, End: f.place + 1}
}

func (f *forest) choose(label string, n int) int { return rapid.IntRange(0, n-1).Draw(f.t, label) }

func (f *forest) node(depth int) *keys.Node {
	n := &keys.Node{At: f.span()}
	kind := f.choose("kind", 12)
	if depth == 0 && kind > 4 {
		kind -= 5
	}
	switch {
	case kind == 0:
		n.Kind = keys.Null
	case kind <= 4:
		all := meanings()
		m := all[f.choose("text", len(all))]
		variable := m.exact == keys.NoType || f.choose("variable", 15) == 0
		n.Kind = keys.ScalarNode
		n.Scalar = keys.Scalar{Texts: []string{m.text}, Certain: !variable, Variable: variable, Plain: f.choose("plain", 2) == 0}
		if !variable {
			n.Scalar.Exact = keys.Exact{Type: m.exact, Text: m.text}
		}
	case kind == 5 && len(f.nodes) > 0:
		n = f.nodes[f.choose("alias", len(f.nodes))]
		n.Shared = true
		return n
	case kind <= 7:
		n.Kind = keys.List
		for range f.choose("items", 4) {
			n.Items = append(n.Items, f.node(depth-1))
		}
		n.Tagged = f.choose("tagged list", 10) == 0
	default:
		n.Kind = keys.Mapping
		for range f.choose("entries", 4) {
			n.Entries = append(n.Entries, f.entry(depth-1))
		}
		n.Tagged = f.choose("tagged mapping", 10) == 0
	}
	f.nodes = append(f.nodes, n)
	return n
}

func names() []string { return []string{"a", "b", "c", "a", "b", "kind", "items", "apiVersion"} }

func (f *forest) name() string { return names()[f.choose("name", len(names()))] }

func (f *forest) entry(depth int) keys.Entry {
	at := f.span()
	switch f.choose("entry", 12) {
	case 0:
		return keys.Entry{At: at, Value: f.node(depth)}
	case 1:
		return keys.Entry{Name: f.name(), Named: true, Hidden: true, At: at, Value: f.node(depth)}
	case 2, 3:
		var labels []string
		for range f.choose("labels", 3) {
			labels = append(labels, f.name())
		}
		body := &keys.Node{Kind: keys.Mapping, At: f.span()}
		for range f.choose("entries", 3) {
			body.Entries = append(body.Entries, f.entry(max(depth-1, 0)))
		}
		return keys.Block(f.name(), labels, at, body)
	case 4:
		list := &keys.Node{Kind: keys.ScalarNode, At: f.span(), Scalar: keys.Scalar{
			Texts: []string{"List"}, Certain: true, Exact: keys.Exact{Type: keys.ExactText, Text: "List"},
		}}
		if f.choose("which", 2) == 0 {
			list.Scalar.Texts, list.Scalar.Exact.Text = []string{"xList"}, "xList"
		}
		return keys.Entry{Name: "kind", Named: true, At: at, Value: list}
	}
	unsure := f.choose("unsure", 12) == 0
	return keys.Entry{Name: f.name(), Named: true, At: at, Value: f.node(depth), Unsure: unsure}
}

func (f *forest) path(label string) keyitem.Path {
	var path keyitem.Path
	for range 1 + f.choose(label, 4) {
		s := keyitem.Segment{}
		switch f.choose("segment", 6) {
		case 0:
			s.Kind = keyitem.Any
		case 1:
			if len(path) > 0 && path[len(path)-1].Kind == keyitem.Deep {
				continue
			}
			s.Kind = keyitem.Deep
		default:
			s.Name = f.name()
		}
		path = append(path, s)
	}
	return path
}

func (f *forest) paths(label string, n int) []keyitem.Path {
	var all []keyitem.Path
	for range n {
		all = append(all, f.path(label))
	}
	return all
}

func (f *forest) item(required bool) naiveItem {
	i := naiveItem{Item: &keyitem.Item{Paths: f.paths("key", 1+f.choose("paths", 2))}}
	asks := []keyitem.Asks{keyitem.Exists, keyitem.Is, keyitem.Matches, keyitem.IsNot, keyitem.MatchesNot}
	if required {
		asks = asks[:3]
		i.Each = f.paths("each", f.choose("each", 3))
	}
	i.Asks, i.Match = asks[f.choose("asks", len(asks))], xs()
	if i.Asks == keyitem.Is || i.Asks == keyitem.IsNot {
		all := []string{`true`, `22`, `"22"`, `"x"`, `"true"`}
		for range 1 + f.choose("values", 2) {
			text := all[f.choose("value", len(all))]
			i.values = append(i.values, text)
			bare := strings.Trim(text, `"`)
			value, err := keyitem.ParseValue(bare, bare != text)
			if err != nil {
				f.t.Fatal(err)
			}
			i.Item.Values = append(i.Item.Values, value)
		}
	}
	if f.choose("where", 3) == 0 {
		i.Where = []keyitem.Where{{
			Path: f.path("where"), Values: []keyitem.Value{{Text: []string{"x", "List"}[f.choose("is", 2)], Quoted: true}},
		}}
	}
	return i
}

// TestNaive: the walk finds what the second implementation finds, in random trees.
func TestNaive(t *testing.T) {
	found, sound := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		more, none := compareWithNaive(t)
		found, sound = found+more, sound+none
	})
	if found < 500 || sound < 500 {
		t.Errorf("%d items found something and %d nothing: the test tests little", found, sound)
	}
}

// FuzzNaive is TestNaive for go test -fuzz.
func FuzzNaive(f *testing.F) { f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { compareWithNaive(t) })) }

// compareWithNaive draws a file and items, and returns how many of them found something, and how many nothing.
func compareWithNaive(t *rapid.T) (found, sound int) {
	f := &forest{t: t}
	var file []keys.Document
	for range 1 + f.choose("documents", 2) {
		head := f.span()
		file = append(file, keys.Document{Root: f.node(4), Head: head, Kubernetes: f.choose("format", 4) > 0})
	}
	for k := range 40 {
		required := k%2 == 1
		i := f.item(required)
		var want []int
		var much keys.Reach
		var hits []keys.Hit
		reach := keys.ForbiddenReach
		if !required {
			want, much = i.forbidden(file)
			hits = keys.Forbidden(i.Item, file)
		} else {
			reach = keys.RequiredReach
			want, hits = i.required(file), keys.Required(i.Item, file)
			var naive keys.Signs
			naive, much = i.signs(file)
			signs := keys.SignsOf(i.Item, file)
			if naive.Met != signs.Met || !slices.Equal(naive.Each, signs.Each) {
				t.Fatalf("%+v of %s\n got %+v\nwant %+v", i.Item, drawnFile(file), signs, naive)
			}
		}
		if r := reach(i.Item, file); r != much {
			t.Fatalf("required %v: %+v of %s\n asks %+v\nwant %+v", required, i.Item, drawnFile(file), r, much)
		}
		var got []int
		for _, h := range hits {
			got = append(got, h.At.Start)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("required %v: %+v of %s\n got %v\nwant %v", required, i.Item, drawnFile(file), got, want)
		}
		if len(got) > 0 {
			found++
		} else {
			sound++
		}
	}
	return found, sound
}

// drawnFile shows the trees of a file.
func drawnFile(file []keys.Document) string {
	text := ""
	for _, d := range file {
		text += fmt.Sprintf("\n%d %s", d.Head.Start, drawn(d.Root))
	}
	return text
}

func drawn(n *keys.Node) string {
	text := fmt.Sprintf("%d", n.At.Start)
	if n.Tagged {
		text += "!"
	}
	if n.Shared {
		text += "&"
	}
	switch n.Kind {
	case keys.ScalarNode:
		return fmt.Sprintf("%s=%q(%v)", text, n.Scalar.Texts[0], n.Scalar.Exact.Type)
	case keys.List:
		text += "["
		for _, item := range n.Items {
			text += drawn(item) + " "
		}
		return text + "]"
	case keys.Mapping:
		text += "{"
		for _, e := range n.Entries {
			text += fmt.Sprintf("%d", e.At.Start)
			if e.Hidden {
				text += "~"
			}
			text += e.Name + ": " + drawn(e.Value) + " "
		}
		return text + "}"
	}
	return text + "=null"
}
