package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naiveItem reads an item of a 0.2 file as RULES-0.2 has it, and shares no code with the loader: false if it is
// refused. It does not know every expression that is refused, only those that are drawn here.
func naiveItem(v any) (Item, bool) {
	if text, ok := v.(string); ok {
		v = map[string]any{"text": text}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return Item{}, false
	}
	for _, key := range []string{"text", "regex"} {
		switch m[key].(type) {
		case bool, int: // without quotes, and a text all the same
			m = maps.Clone(m)
			m[key] = fmt.Sprint(m[key])
		}
	}
	text, isText := m["text"].(string)
	expression, isRegex := m["regex"].(string)
	if isText == isRegex {
		return Item{}, false
	}
	for key, value := range m {
		switch {
		case key == "text" && isText, key == "regex" && isRegex:
		case key == "spaces" && isText && value == "any", key == "words" && isText && value == true:
		case key == "case" && isText && value == "ignore":
		default:
			return Item{}, false
		}
	}
	item := Item{Text: text + expression}
	if strings.TrimSpace(item.Text) == "" {
		return Item{}, false
	}
	order := []string{"text", "regex", "spaces", "words", "case"}
	name := ""
	for _, key := range order {
		if value, ok := m[key]; ok {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if err := e.Encode(value); err != nil {
				return Item{}, false
			}
			name += `,"` + key + `":` + strings.TrimSpace(b.String())
		}
	}
	item.Name = "{" + name[1:] + "}"
	if isRegex {
		item.Kind = Regex
		if regexp.MustCompile(`[\x00-\x1f]`).MatchString(expression) {
			return Item{}, false
		}
		if _, err := syntax.Parse(expression, syntax.Perl); err != nil {
			return Item{}, false
		}
		return item, !regexp.MustCompile("^(?:" + expression + ")$").MatchString("")
	}
	if len(m) == 1 {
		item.Name = text
		if text[0] == '{' {
			item.Name = strings.TrimSuffix(name[len(`,"text":`):], "\n")
		}
	}
	if _, item.Spaces = m["spaces"]; item.Spaces && !regexp.MustCompile(`(?s)^[^ \t].*[ \t].*[^ \t]$`).MatchString(text) {
		return Item{}, false
	}
	if _, item.Words = m["words"]; item.Words && !regexp.MustCompile(`(?s)^\w|\w$`).MatchString(text) {
		return Item{}, false
	}
	if _, item.IgnoreCase = m["case"]; item.IgnoreCase && strings.ToUpper(text) == strings.ToLower(text) {
		return Item{}, false
	}
	return item, true
}

// TestItemsAsTheNaiveReader: of any item the loader makes what the naive reader makes of it, or refuses it, too.
func TestItemsAsTheNaiveReader(t *testing.T) {
	text := rapid.StringMatching(`[aB {"<&\\\t.(1_-]{0,6}`)
	value := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.SampledFrom([]any{"any", "ignore", true, false, "x", 7, []any{"a"}, map[string]any{"a": "b"}}),
	)
	good := map[string]any{"spaces": "any", "words": true, "case": "ignore"}
	loaded, refused := 0, 0
	try := func(t *rapid.T) {
		var v any = text.Draw(t, "string")
		if rapid.IntRange(0, 4).Draw(t, "kind") > 0 {
			m := map[string]any{}
			for _, key := range []string{"text", "regex", "spaces", "words", "case", "key", "other"} {
				switch n := rapid.IntRange(0, 11).Draw(t, key); {
				case key == "text" && n < 9, key == "regex" && n > 8:
					m[key] = text.Draw(t, "a "+key)
				case n == 0:
					m[key] = value.Draw(t, "value of "+key)
				case n < 4 && good[key] != nil:
					m[key] = good[key]
				}
			}
			v = m
		}
		list, err := json.Marshal(map[string]any{"bundle": "0.2", "rules": []any{map[string]any{
			"id": "A", "title": "t", "enforcement": map[string]any{"mode": "fail"},
			"match": map[string]any{"files": []any{"**"}, "forbidden_patterns": []any{v}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		want, ok := naiveItem(v)
		b, err := Load(Files{BoundariesFile: list})
		switch {
		case ok != (err == nil):
			t.Fatalf("%s: the naive reader says %v, the loader %v", list, ok, err)
		case ok:
			loaded++
			if diff := cmp.Diff([]Item{want}, b.Rules[0].Patterns); diff != "" {
				t.Fatalf("%s (-naive +loader):\n%s", list, diff)
			}
		default:
			refused++
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			try(t)
		}
	})
	if loaded < 200 || refused < 200 {
		t.Errorf("%d loaded, %d refused: the test tests little", loaded, refused)
	}
}
