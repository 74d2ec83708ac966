package document

import (
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
