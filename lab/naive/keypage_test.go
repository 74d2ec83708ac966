package naive

import (
	"testing"
)

// A pageFile builds documents for the sentences of the page: a mapping is a list of keys and values.
type pageFile struct{ at int }

type (
	fields []any // key, value, key, value
	tagged struct{ of any }
	open   string // a variable, or another expression
	plain  string // YAML without quotes
	quoted string // HCL in quotes
	labels struct {
		names []string
		body  fields
	}
	hidden struct{ of any } // by a key that is nearer
)

func (p *pageFile) next() int {
	p.at++
	return p.at
}

func (p *pageFile) node(of any) *Node {
	n := &Node{Kind: ScalarNode, At: p.next()}
	switch v := of.(type) {
	case nil:
		n.Kind = NullNode
	case bool:
		text := map[bool]string{true: "true", false: "false"}[v]
		n.Scalar = Scalar{Texts: []string{text}, Exact: Value{booleanKind, text}, Asked: text}
	case string:
		n.Scalar = textScalar(v)
	case quoted:
		n.Scalar = textScalar(string(v))
		n.Scalar.Binary = true
	case plain:
		n.Scalar = plainScalar(string(v))
	case open:
		n.Scalar = Scalar{Texts: []string{string(v)}, Open: true}
	case []any:
		n.Kind = ListNode
		for _, item := range v {
			n.Items = append(n.Items, p.node(item))
		}
	case fields:
		n.Kind = MappingNode
		for i := 0; i < len(v); i += 2 {
			value := v[i+1]
			below, isHidden := value.(hidden)
			if isHidden {
				value = below.of
			}
			key, isText := v[i].(string)
			e := Entry{Key: key, Any: !isText, At: p.next(), Hidden: isHidden}
			e.Value = p.node(value)
			n.Entries = append(n.Entries, e)
		}
	case labels:
		if len(v.names) == 0 {
			return p.node(v.body)
		}
		n.Kind, n.Label = MappingNode, true
		value := p.node(labels{v.names[1:], v.body})
		n.Entries = []Entry{{Key: v.names[0], At: n.At, Value: value}}
	case tagged:
		n = p.node(v.of)
		n.Tagged, n.Scalar.Open, n.Scalar.Exact = true, true, Value{}
	}
	return n
}

// TestKeys has the sentences of the page about keys and presence: how many places an item finds, or finds lacking.
func TestKeys(t *testing.T) {
	type files = []any // of documents
	pod := func(image any) fields { return fields{"spec", fields{"containers", []any{fields{"image", image}}}} }
	db := func(label string, body ...any) labels { return labels{[]string{"aws_db_instance", label}, body} }
	for _, test := range []struct {
		sentence string
		item     string // the first letter says whether it is forbidden or required
		file     files
		want     int
	}{
		{"lists are transparent", "F{key: spec.containers.image, is: x}", files{pod("x")}, 1},
		{"a path that ends at a list means each of its items", "F{key: a, is: x}", files{fields{"a",
			[]any{"x", "y", []any{"x"}}}}, 2},
		{"** is any number, none included", "F{key: '**.a', is: x}", files{fields{"a", "x", "b", fields{"c",
			fields{"a", "x"}}}}, 2},
		{"* is any one", "F{key: '*.a', is: x}", files{fields{"a", "x", "b", fields{"a", "x"}}}, 1},
		{"a segment in quotes is literal", `F{key: '"a.b"."*"', is: x}`, files{fields{"a.b", fields{"*", "x",
			"c", "x"}}}, 1},
		{"labels are segments", "F{key: resource.aws_db_instance.*.public, is: true}", files{fields{
			"resource", db("a", "public", true), "resource", db("b", "public", quoted("1")), "data", db("c",
				"public", true),
		}}, 2},
		{"any of several paths", "F{key: [a, b], is: x}", files{fields{"a", "x", "b", "x", "c", "x"}}, 2},
		{"the same text once unquoted", `F{key: a, is: "22"}`, files{fields{"a", plain("22"), "a", "22"}}, 2},
		{"the same boolean", "F{key: a, is: true}", files{fields{
			"a", true, "a", plain("yes"), "a", "On", "a", "Y", "a", "yEs", "a", quoted("1"), "a", "1", "a", "false",
		}}, 5},
		{"the same number", "F{key: a, is: 22}", files{fields{
			"a", plain("0x16"), "a", "0o26", "a", "026", "a", "0b10110", "a", "2_2", "a", "+22", "a", "22.0",
			"a", "0X16", "a", "23",
		}}, 8},
		{"026 is both", "F{key: a, is: 26}", files{fields{"a", plain("026")}}, 1},
		{"nothing is rounded", "F{key: a, is: 9007199254740993}", files{fields{"a", plain("9007199254740992")}}, 0},
		{"texts are compared exactly", "F{key: a, is: x}", files{fields{"a", "X", "a", " x", "a", "x\n"}}, 0},
		{"a key twice is checked twice", "F{key: a, is: x}", files{fields{"a", "x", "a", "x"}}, 2},
		{"is_not refuses a variable", "F{key: a, is_not: x}", files{fields{"a", open("var.x"), "a", "x", "a",
			"y", "a", nil}}, 3},
		{"is_not refuses what is not certain", "F{key: a, is_not: [true, 22]}", files{fields{
			"a", true, "a", plain("true"), "a", "true", "a", plain("yes"), "a", plain("22"), "a",
			plain("0022"), "a", plain("0x16"),
		}}, 3},
		{"matches_not, all lines", "F{key: a, matches_not: '^x'}", files{fields{"a", "x\nx\n", "a", "x\ny",
			"a", []any{}}}, 2},
		{"matches, one line", "F{key: a, matches: '^y$'}", files{fields{"a", "x\r\ny\n", "a", "xy", "a",
			"x"}}, 1},
		{"matches asks what is not certain, too", "F{key: a, matches: 'y$'}", files{fields{"a", open("var.y"), "a",
			tagged{"y"}, "a", tagged{"x"}}}, 2},
		{"matches_not refuses what is not certain", "F{key: a, matches_not: y}", files{fields{"a", open("var.y"),
			"a", tagged{"y"}, "a", "y"}}, 2},
		{"an expression equals its own text", `F{key: a, is: var.x}`, files{fields{"a", open("var.x")}}, 1},
		{"without a condition any value", "F{key: a}", files{fields{"a", nil, "b", fields{"a", "x"}}}, 1},
		{"nothing for null", `F{key: a, is: "null"}`, files{fields{"a", nil}}, 0},
		{"a key with variables is matched by stars", "F{key: [a, '*'], is: x}", files{fields{nil, "x"}}, 1},
		{"a list with a tag is one value, and looked into", "F{key: a, is_not: x}", files{fields{"a",
			tagged{[]any{"x", "y"}}}}, 2},
		{"a tagged value counts by its text", "F{key: a, is: x}", files{fields{"a", tagged{"x"}}}, 1},
		{"what a merge hides is checked", "F{key: a, is: x}", files{fields{"a", "y", "a", hidden{"x"}}}, 1},
		{"where", "F{key: a, where: {kind: [x, w]}}", files{fields{"kind", "x", "a", "v"}, fields{"kind", "z",
			"a", "v"}, fields{"a", "v"}}, 1},
		{"a tag at where", "F{key: a, where: {kind: x}}", files{fields{"kind", tagged{"z"}, "a", "v"}}, 1},
		{"a variable above the end of where", "F{key: a, where: {b.c: x}}", files{fields{"b", open("var.b"),
			"a", "v"}}, 1},
		{"a List is asked, and its items", "F{key: '**.a'}", files{fields{"kind", "List", "items",
			[]any{fields{"a", "x"}}, "a", "x"}}, 2},
		{"an item without a kind has that of its list", "F{key: '**.a', where: {kind: x}}", files{fields{"kind",
			"xList", "items", []any{fields{"a", "x"}, fields{"kind", "y", "a", "x"}}}}, 1},
		{"any kind with items is a list", "F{key: a}", files{fields{"kind", "x", "items", []any{fields{"a", "x"}}}}, 1},
		{"without a kind it is none", "F{key: a}", files{fields{"items", []any{fields{"a", "x"}}}}, 0},
		{"a list at the top", "F{key: a}", files{[]any{fields{"a", "x"}, fields{"a", "x"}}}, 2},

		{"a required value", "R{key: a, is: x}", files{fields{"a", "x"}}, 0},
		{"exact", "R{key: a, is: true}", files{fields{"a", plain("yes")}}, 1},
		{"0777 is 777", "R{key: a, is: 777}", files{fields{"a", plain("0777")}}, 0},
		{"a quoted is matches only a text", `R{key: a, is: "22"}`, files{fields{"a", plain("22")}}, 1},
		{"whole or not", "R{key: a, is: 22}", files{fields{"a", plain("22.0")}}, 0},
		{"each document", "R{key: a, is: x}", files{fields{"a", "x"}, fields{"b", "x"}}, 1},
		{"a file without documents", "R{key: a}", files{}, 1},
		{"documents that are null are left out", "R{key: a}", files{nil, fields{"a", "x"}}, 0},
		{"each item", "R{key: spec.containers.image}", files{fields{"spec", fields{"containers",
			[]any{fields{"image", "x"}, fields{}}}}}, 1},
		{"an empty list on the way", "R{key: spec.containers.image}", files{fields{"spec",
			fields{"containers", []any{}}}}, 1},
		{"every node at each", "R{each: 'resource.aws_db_instance.*', key: encrypted, is: true}", files{fields{
			"resource", db("a", "encrypted", true), "resource", db("b"), "resource", db("c", "encrypted",
				quoted("true")),
			"resource", labels{[]string{"aws_x", "a"}, fields{}},
		}}, 2},
		{"no node at each", "R{each: a, key: b}", files{fields{"c", "x"}, fields{}}, 0},
		{"a node that is not a mapping", "R{each: a, key: b}", files{fields{"a", []any{"x", fields{"b", "x"},
			nil}}}, 2},
		{"other labels are not on the way", "R{key: resource.aws_db_instance.*.encrypted}", files{fields{
			"resource", db("a", "encrypted", true), "resource", labels{[]string{"aws_x", "a"}, fields{}},
		}}, 0},
		{"each child of a star", "R{key: '*.a'}", files{fields{"b", fields{"a", "x"}, "c", fields{}, "d", "x"}}, 2},
		{"below ** every place that has the next", "R{key: '**.a.b'}", files{fields{"a", fields{"b", "x"},
			"c", fields{"a", fields{}}}}, 1},
		{"and at least one", "R{key: '**.a.b'}", files{fields{"c", "x"}}, 1},
		{"each block before **", "R{key: 'resource.**.a'}", files{fields{"resource", db("x", "a", "v"),
			"resource", db("y")}}, 1},
		{"a tagged place reaches nothing", "R{key: '**.a'}", files{fields{"b", tagged{fields{"a", "x"}}, "a",
			"x"}}, 1},
		{"at least one of several paths", "R{key: [a, b], is: x}", files{fields{"b", "x"}}, 0},
		{"and every value", "R{key: [a, b], is: x}", files{fields{"a", "x", "b", "y"}}, 1},
		{"none of several paths", "R{key: [a, b], is: x}", files{fields{"c", "x"}}, 1},
		{"any but null", "R{key: a}", files{fields{"a", nil}}, 1},
		{"a list is not looked into", "R{key: a}", files{fields{"a", []any{}}}, 0},
		{"an empty list equals nothing", "R{key: a, is: x}", files{fields{"a", []any{}}}, 1},
		{"every item", "R{key: a, is: x}", files{fields{"a", []any{"x", "y"}}}, 1},
		{"required matches, all lines", "R{key: a, matches: '^x'}", files{fields{"a", "x\ny"}}, 1},
		{"the effective value", "R{key: a, is: w}", files{fields{"a", "w", "a", hidden{"x"}}}, 0},
		{"the items of a List take its place", "R{key: a}", files{fields{"kind", "List", "items",
			[]any{fields{"a", "x"}}}}, 0},
		{"and of a kind that ends in List", "R{key: a}", files{fields{"kind", "xList", "items",
			[]any{fields{"a", "x"}, fields{}}}}, 1},
		{"which is asked as well where the item says which", "R{key: a, where: {kind: xList}}", files{fields{"kind",
			"xList", "items", []any{"x"}}}, 1},
		{"another kind is asked as well", "R{key: a}", files{fields{"kind", "x", "items", []any{fields{"a",
			"x"}}}}, 1},
		{"an empty List", "R{key: a}", files{fields{"kind", "List", "items", []any{}}}, 1},
		{"required where", "R{key: a, where: {kind: x}}", files{fields{"kind", "x"}, fields{"kind", "y"}}, 1},
	} {
		list := map[byte]string{'F': "forbidden_patterns", 'R': "required_patterns"}[test.item[0]]
		r := ruleWith("X", "invariant", test.item[1:])
		name := "invariants.yml"
		if list == "forbidden_patterns" {
			name = "boundaries.yml"
		}
		r.lists[1].key = list
		file, mistakes := loadFile(name, ruleText{version: "0.2", rules: []ruleYAML{r}}.yaml())
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", test.item, mistakes)
			continue
		}
		var documents []Document
		var p pageFile
		for _, d := range test.file {
			root := p.node(d)
			documents = append(documents, Document{Root: root, Head: root.At})
		}
		var places []spot
		if list == "forbidden_patterns" {
			places = file.Rules[0].Forbidden[0].Key.forbiddenIn(documents)
		} else {
			places = file.Rules[0].Required[0].Key.requiredIn(documents)
		}
		if len(places) != test.want {
			t.Errorf("%s: %s finds %v, want %d", test.sentence, test.item, places, test.want)
		}
	}
}

// TestKeyNames is about how items with keys are called.
func TestKeyNames(t *testing.T) {
	for _, test := range []struct{ item, want string }{
		{"{key: a.b}", `{"key":"a.b"}`},
		{"{is: True, key: 'a'}", `{"key":"a","is":true}`},
		{"{format: yaml, is: [x, \"22\", 2.2E1, FALSE], key: [a, '**.b']}",
			`{"key":["a","**.b"],"is":["x","22",2.2E1,false],"format":"yaml"}`},
		{"{where: {kind: [b, a], c: 1.50}, matches: '\\.', key: '\"é<\"'}",
			`{"key":"\"é<\"","where":{"kind":["b","a"],"c":1.50},"matches":"\\."}`},
	} {
		if got := itemName(test.item, "forbidden_patterns", true); got != test.want {
			t.Errorf("%s: %s, want %s", test.item, got, test.want)
		}
	}
	const each = `{"each":["a","b"],"key":"c","is":true}`
	if got := itemName("{is: true, key: c, each: [a, b]}", "required_patterns", true); got != each {
		t.Errorf("%s, want %s", got, each)
	}
}
