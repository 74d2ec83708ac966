package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// innerLevel and ruleLevel are the mappings of the test files.
func innerLevel() Level { return Level{Name: "an inner", Required: []string{"depth"}} }

func ruleLevel() Level {
	return Level{
		Name:     "a rule",
		Required: []string{"id", "title"},
		Optional: []string{"text", "exact", "word", "flag", "list", "items", "fields", "inner"},
		Wrong:    map[string]Wrong{"name": {For: "title", Found: `"name" is of others`, Fix: `write "title"`}},
	}
}

func testForm() Form {
	return Form{
		File:     `"rules:" and a list`,
		Keys:     map[string]string{"title": `"title: …", a line`},
		Mappings: []string{"inner"},
		Levels:   []Level{ruleLevel(), innerLevel()},
		Patterns: []string{"text"},
		Verbatim: []string{"list"},
	}
}

// readRules reads a file like a dialect, and returns the values in order.
func readRules(d *YAML) []string {
	if d.Root == nil {
		return nil
	}
	var got []string
	say := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	top := d.Mapping(d.Root, "the file", `"rules:" and a list`, Level{Required: []string{"rules"}})
	list := d.List(top.At("rules"))
	for i, item := range list {
		d.Begin(item.Value)
		m := d.Mapping(item.Value, "the rule", `its keys, the first after "- "`, ruleLevel())
		say("id=%s title=%s", d.ID(m.At("id")), d.Line(m.At("title")))
		if text, ok := d.Text(m.At("text")); ok {
			say("text=%s", text)
		}
		if text, ok := d.StrictText(m.At("exact")); ok {
			say("exact=%s", text)
		}
		if word := d.Word(m.At("word"), "low", "mid", "high"); word != "" {
			say("word=%s", word)
		}
		if d.True(m.At("flag")) {
			say("flag")
		}
		for _, e := range d.List(m.At("list")) {
			if text, ok := d.Text(e); ok {
				say("list=%s", text)
			}
		}
		if e := m.At("items"); e.Key != nil {
			if all, ok := d.Items(e, `"items"`, "a list"); ok {
				say("items=%d", len(all))
			}
		}
		if e := m.At("fields"); e.Key != nil {
			all, _ := d.Fields(e.Value, `"fields"`, "any key, and a value")
			for _, f := range all {
				say("%s=%s", f.Key.Value, f.Value.Value)
			}
		}
		if e := m.At("inner"); e.Key != nil && d.Empty(e.Value) {
			say("inner is empty")
		} else if e.Key != nil && IsMapping(e.Value) {
			inner := d.Mapping(e.Value, "the inner", "{depth: 1}", innerLevel())
			say("depth=%s", d.Line(inner.At("depth")))
		} else if e.Key != nil {
			d.Misplaced(e.Value, "the inner", "{depth: 1}")
		}
		d.End(list[i:])
	}
	return got
}

// TestValues: each reader of a value, and its errors. The keys of the rule begin in column 10.
func TestValues(t *testing.T) {
	const ok = "id=A title=t"
	for _, c := range []struct {
		rule string
		got  string // values, separated by spaces
		errs string // one per line, without the file
	}{
		{"id: A, title: t", ok, ""},
		{"id: A, title: t, text: 0777, exact: x, word: mid, flag: true, list: [a, 1], items: [], fields: {a: b, c: d}",
			ok + " text=0777 exact=x word=mid flag list=a list=1 items=0 a=b c=d", ""},
		{"id: A, title: t, inner: {depth: 1}, x-mine: {y: z}", ok + " depth=1", ""},
		{"id: A, title: t, inner: ~", ok + " inner is empty", ""},
		{"id: A, title: t, flag: False", ok, ""},

		{"id: A", "id=A title=", `1:9: rule "A": the rule has no "title"; write "title: …", a line`},
		{"title: t", "id= title=t", `1:9: the rule has no "id"; write "id: …"`},
		{"id: A, tilte: t", "id=A title=", `1:17: rule "A": unknown key "tilte" in a rule; write "title"`},
		{"id: A, name: t", "id=A title=", `1:17: rule "A": "name" is of others; write "title"`},
		{"id: A, title: t, depth: 1", ok, `1:27: rule "A": unknown key "depth" in a rule; "depth" belongs in an inner`},
		{"id: A, title: t, zzzzzz: 1", ok, `1:27: rule "A": unknown key "zzzzzz" in a rule; ` +
			`the keys are id, title, text, ` +
			`exact, word, flag, list, items, fields, inner; your own keys must begin with "x-"`},
		{"id: A, title: t, inner: {depht: 1}", ok + " depth=",
			`1:35: rule "A": unknown key "depht" in an inner; write "depth"`},
		{"id: A, title: t, inner: [1]", ok, `1:34: rule "A": the inner is a list; write {depth: 1}`},
		{"id: a b, title: t", "id= title=t",
			`1:14: the id is not one word: it has the character U+0020; write one word, such as "TF-NET-001"`},
		{`id: A, title: "t\n"`, "id=A title=",
			`1:24: rule "A": "title" has a line break or another control character; write it on one line`},
		{"id: A, title: ", "id=A title=", `1:24: rule "A": "title" has no value; write "title: …", a line`},
		{"id: A, title: t, text: ''", ok, `1:33: rule "A": an empty string in "text"; write one, or remove the key`},
		{"id: A, title: t, text: ~", ok, `1:33: rule "A": ~ in "text" is not a value; write one, or remove the key`},
		{"id: A, title: t, text: [a]", ok, `1:33: rule "A": a list in "text", where a string belongs; write one string`},
		{"id: A, title: t, exact: 1", ok, `1:34: rule "A": "exact" is the YAML value "1"; quote it to make it text`},
		{"id: A, title: t, word: none", ok, `1:33: rule "A": the word "none"; write low, mid or high`},
		{"id: A, title: t, flag: 'true'", ok, `1:33: rule "A": "flag" is "true"; write true or false, unquoted`},
		{"id: A, title: t, list: a", ok, `1:33: rule "A": "list" is a string where a list belongs; write list: ['a']`},
		{"id: A, title: t, list: []", ok, `1:33: rule "A": "list" is an empty list; write "list: …", or remove the key`},
		{"id: A, title: t, list: [a, ~]", ok + " list=a",
			`1:37: rule "A": ~ in "list" is not a value; quote it if it is text: '~'`},
		{"id: A, title: t, items: a", ok, `1:34: rule "A": "items" is a string; write a list`},
		{"id: A, title: t, fields: ~", ok, `1:35: rule "A": "fields" is empty; write any key, and a value`},
		// A value refused before the walk has its rule's name, and is not reported again.
		{"id: A, title: t, text: !x y", ok, `1:33: rule "A": the tag "!x"; remove it, or quote it if it is text`},
		{"id: A, title: t, list: [&a b]", ok, `1:34: rule "A": the anchor "&a"; remove it, or quote it if it is text`},
		{"id: A, title: t, title: u", ok, `1:27: rule "A": duplicate key "title", first on line 1; remove one of them`},
	} {
		text := "rules: [{" + c.rule + "}]\n"
		d := (&Source{Name: "f", Text: []byte(text)}).YAML(testForm())
		if got := strings.Join(readRules(d), " "); got != c.got {
			t.Errorf("%s: got %q, want %q", c.rule, got, c.got)
		}
		said := ""
		if err := d.Errors(); err != nil {
			said = strings.ReplaceAll(err.Error(), "f:", "")
		}
		if said != c.errs {
			t.Errorf("%s:\n got %s\nwant %s", c.rule, said, c.errs)
		}
	}
}

// TestClosed: a closed form allows no own keys.
func TestClosed(t *testing.T) {
	form := testForm()
	form.Closed = true
	d := (&Source{Name: "f", Text: []byte("rules: [{id: A, title: t}]\nx-a: b\n")}).YAML(form)
	readRules(d)
	if err := d.Errors(); err == nil || err.Error() != `f:2:1: unknown key "x-a" in the file; the key is rules` {
		t.Error(err)
	}
}

// TestBatch: ids are unique in a batch, errors are in the order of the files, and reading stops after 10,000 of them
// in all files.
func TestBatch(t *testing.T) {
	var b Batch
	read := func(name, text string) *YAML {
		d := b.YAML(&Source{Name: name, Text: []byte(text)}, testForm())
		readRules(d)
		b.Add(d)
		return d
	}
	read("one", "rules: [{id: A, title: t, flag: 1}, {id: B, title: 0777}]\n")
	read("two", "rules: [{id: A, title: t}]\n")
	want := "one:1:33: rule \"A\": \"flag\" is \"1\"; write true or false, unquoted\n" +
		"two:1:14: rule \"A\": duplicate id, first at one:1; give each rule its own id, deprecated rules included"
	if got := b.Errors.Error(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(b.Notes) != 1 || !strings.HasPrefix(b.Notes[0].String(), `one:1:52: rule "B": 0777 is read as this text`) {
		t.Errorf("%v", b.Notes)
	}
	many := "rules: [{id: C, title: t, list: [" + strings.Repeat("'', ", MaxErrors) + "a]}]\n"
	d := read("many", many)
	told := slices.ContainsFunc(b.Errors, func(e *Error) bool { return e.Code == CodeLimit })
	if !d.Full() || !told || len(b.Errors) != MaxErrors+1 {
		t.Errorf("%d errors, full: %v", len(b.Errors), d.Full())
	}
	if read("after", "rules: 1\n"); len(b.Errors) != MaxErrors+1 {
		t.Errorf("%d errors", len(b.Errors))
	}
}

// TestNotesOfText: strings where each byte counts, and YAML's reading of them.
func TestNotesOfText(t *testing.T) {
	for text, want := range map[string][]string{
		"text: |\n      a\n":       {"the pattern \"a\\n\" ends in a line break"},
		"text: |-\n      a\n":      nil,
		"text: a #b\n":             {`the text ends before "#b"`},
		"list: [a\n     b]\n":      {"an unquoted string over several lines"},
		"title2: x\n":              nil,
		"exact: a #b\n":            nil,
		"text: 12:30\n":            {"12:30 is read as this text"},
		"list: [yes, no, 'on']\n":  {"yes is read as this text", "no is read as this text"},
		"list: ['a #b', \"c\nd\"]": nil,
	} {
		d := (&Source{Name: "f", Text: []byte("rules:\n  - id: A\n    title: t\n    " + text)}).YAML(testForm())
		readRules(d)
		notes := d.Notes()
		if len(notes) != len(want) {
			t.Errorf("%q: %v", text, notes)
			continue
		}
		for i, n := range notes {
			if !strings.HasPrefix(n.Text, want[i]) || n.Rule != "A" {
				t.Errorf("%q: %v", text, n)
			}
		}
	}
}

// TestSpot: an error about a loaded value has its position, with the original line.
func TestSpot(t *testing.T) {
	d := (&Source{Name: "f", Text: []byte("# é\nrules: [日, 本]\n")}).YAML(testForm())
	top := d.Mapping(d.Root, "the file", "", Level{Required: []string{"rules"}})
	item := d.List(top.At("rules"))[1]
	if at := d.Place(item.Value); at != (Place{2, 14}) {
		t.Errorf("%+v", at)
	}
	e := d.Spot(item.Value).Error(Error{File: "f", Found: "found"})
	if line, caret := e.Source(); e.Error() != "f:2:14: found" || line != "rules: [日, 本]" || caret != 13 {
		t.Errorf("%v: %q, %d", e, line, caret)
	}
}

// TestBeginNamed: a name may have several words, and occur twice.
func TestBeginNamed(t *testing.T) {
	d := (&Source{Name: "f", Text: []byte("rules: [{name: a b, x: y}, {name: [c], x: y}]\n")}).YAML(Form{})
	top := d.Mapping(d.Root, "the file", "", Level{Required: []string{"rules"}})
	for _, item := range d.List(top.At("rules")) {
		d.BeginNamed(item.Value, "name")
		d.Mapping(item.Value, "the rule", "", Level{Required: []string{"name"}})
	}
	want := "f:1:21: rule \"a b\": unknown key \"x\" in the rule; the key is name; " +
		"your own keys must begin with \"x-\"\n" +
		"f:1:40: unknown key \"x\" in the rule; the key is name; your own keys must begin with \"x-\""
	if err := d.Errors(); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestSourceErrors: errors of files that are not YAML have a position and its line, too.
func TestSourceErrors(t *testing.T) {
	s := &Source{Name: "f", Text: []byte("ab\r\n日本\n")}
	for offset, want := range map[int]string{0: "f:1:1|ab|0", 1: "f:1:2|ab|1", 4: "f:2:1|日本|0", 7: "f:2:4|日本|3",
		99: "f:3:1||0"} {
		e := s.Error(CodeValue, offset, "found", "")
		if line, caret := e.Source(); fmt.Sprintf("%s|%s|%d", e.Place(), line, caret) != want {
			t.Errorf("%d: %s %q %d, want %s", offset, e.Place(), line, caret, want)
		}
	}
	if e := s.ErrorAt(CodeValue, 0, 0, "found", "fix"); e.Error() != "f: found; fix" {
		t.Error(e)
	}
	if e := s.ErrorAt(CodeValue, 2, 0, "found", "fix"); e.Error() != "f:2: found; fix" {
		t.Error(e)
	}
	for text, want := range map[string]string{
		"a":         "",
		"a\xff":     "f:1:2: a byte that is not UTF-8",
		"a\nb\x00":  "f:2:2: the control character U+0000",
		"\xff\xfea": "f: the text is UTF-16 or UTF-32",
	} {
		e := (&Source{Name: "f", Text: []byte(text)}).Check()
		if (e == nil) != (want == "") || e != nil && !strings.HasPrefix(e.Error(), want) {
			t.Errorf("%q: %v", text, e)
		}
	}
}

// TestNothingToRead: a file without content counts as empty, however YAML reads it.
func TestNothingToRead(t *testing.T) {
	for _, text := range []string{"", "\n", "# a\n", "~\n", "null", "{}", "---\n", "\uFEFF"} {
		d := (&Source{Name: "f", Text: []byte(text)}).YAML(testForm())
		var errs Errors
		if !errors.As(d.Errors(), &errs) || len(errs) != 1 || d.Root != nil || errs[0].Code != CodeEmpty ||
			!slices.Equal(strings.Split(errs[0].Error(), "; "),
				[]string{"f: the file is empty", `write "rules:" and a list`}) {
			t.Errorf("%q: %v", text, errs)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{
		"id", "title", "enforcement", "match", "message", "remediation", "docs_url", "owner", "severity", "tags",
		"redact", "examples",
	}
	for key, want := range map[string]string{"titel": "title", "Title": "title", "tittle": "title", "desc": "",
		"docsUrl": "docs_url", "docs-url": "docs_url", "remedation": "remediation", "remidiashion": "remediation",
		"enforsment": "enforcement", "example": "examples", "i": "id", "": "", "xyz": ""} {
		if got := Nearest(key, words); got != want {
			t.Errorf("Nearest(%q) = %q; want %q", key, got, want)
		}
	}
	// The nearest word; the first of equally near ones.
	for _, words := range [][]string{{"excluding", "exclude"}, {"exclude", "excluding"}, {"exclude", "excludex"}} {
		if got := Nearest("excludes", words); got != "exclude" {
			t.Errorf("of %q: %q", words, got)
		}
	}
	for _, c := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ba", 1}, {"abc", "abd", 1}, {"title", "titel", 1}, {"kitten",
		"sitting", 3}, {"abcd", "badc", 2}} {
		if got := distance(c.a, c.b); got != c.n {
			t.Errorf("distance(%q, %q) = %d; want %d", c.a, c.b, got, c.n)
		}
	}
}
