package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules/regex"
)

// naiveItem reads an item of a 0.2 file according to RULES-0.2, and shares no code with the loader; false if it is
// refused. compiles decides which regexes are refused.
func naiveItem(v any, compiles func(string) bool) (Item, bool) {
	if text, ok := v.(string); ok {
		if hasEscapedDot(text) { // the only regex-like text that the test writes
			return Item{}, false
		}
		v = map[string]any{"text": text}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return Item{}, false
	}
	for _, key := range []string{"text", "regex"} {
		switch m[key].(type) {
		case bool, int: // unquoted, but a string here
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
		case key == "case" && isText && value == "ignore", key == "within_lines" && value == 7:
		default:
			return Item{}, false
		}
	}
	item := Item{Text: text + expression}
	if strings.TrimSpace(item.Text) == "" || isText && len(text) > 64<<10 {
		return Item{}, false
	}
	order := []string{"text", "regex", "within_lines", "spaces", "words", "case"}
	name := ""
	for _, key := range order {
		if value, ok := m[key]; ok {
			shown := fmt.Append(nil, value)
			if s, ok := value.(string); ok {
				shown, _ = jsontext.AppendQuote(nil, s)
			}
			name += `,"` + key + `":` + string(shown)
		}
	}
	item.WithinLines, _ = m["within_lines"].(int)
	item.Name = "{" + name[1:] + "}"
	if isRegex {
		item.Kind = Regex
		return item, compiles(expression)
	}
	if len(m) == 1 {
		item.Name = text
		if text[0] == '{' {
			item.Name = name[len(`,"text":`):]
		}
	}
	if _, item.Spaces = m["spaces"]; item.Spaces && !regexp.MustCompile(`(?s)^[^ \t].*[ \t].*[^ \t]$`).MatchString(text) {
		return Item{}, false
	}
	if _, item.Words = m["words"]; item.Words && !regexp.MustCompile(`(?s)^\w|\w$`).MatchString(text) {
		return Item{}, false
	}
	if _, item.IgnoreCase = m["case"]; item.IgnoreCase && !regexp.MustCompile("[A-Za-z]").MatchString(text) {
		return Item{}, false
	}
	return item, true
}

// naiveCompiles knows only the refused regexes that are drawn here.
func naiveCompiles(expression string) bool {
	if strings.ContainsAny(expression, "\t\n") {
		return false
	}
	if _, err := syntax.Parse(expression, syntax.Perl); err != nil {
		return false
	}
	if regexp.MustCompile("^(?:" + expression + ")$").MatchString("") {
		return false
	}
	return !strings.Contains(expression, "$") || matchesSome(regexp.MustCompile(expression), "", len(expression))
}

// matchesSome reports whether a regex matches a string that begins with text and has at most n more characters.
func matchesSome(x *regexp.Regexp, text string, n int) bool {
	if x.MatchString(text) {
		return true
	}
	for _, c := range `aB."/` {
		if n > 0 && matchesSome(x, text+string(c), n-1) {
			return true
		}
	}
	return false
}

// hasEscapedDot reports whether a string has \. between letters, digits or brackets.
func hasEscapedDot(text string) bool {
	const word = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for i := 1; i+2 < len(text); i++ {
		if text[i:i+2] == `\.` && strings.ContainsRune(word+")]", rune(text[i-1])) &&
			strings.ContainsRune(word+"([", rune(text[i+2])) {
			return true
		}
	}
	return false
}

// TestItemsAsTheNaiveReader: the loader and the naive reader agree on any item.
func TestItemsAsTheNaiveReader(t *testing.T) {
	text := rapid.StringMatching(`[aB {"<&\\\t.(1_-]{0,6}`)
	value := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.SampledFrom([]any{"any", "ignore", true, false, "x", 7, []any{"a"}, map[string]any{"a": "b"}}),
	)
	good := map[string]any{"within_lines": 7, "spaces": "any", "words": true, "case": "ignore"}
	loaded, refused := 0, 0
	try := func(t *rapid.T) {
		var v any = text.Draw(t, "string")
		if rapid.IntRange(0, 4).Draw(t, "kind") > 0 {
			m := map[string]any{}
			for _, key := range []string{"text", "regex", "within_lines", "spaces", "words", "case", "other"} {
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
		want, ok := naiveItem(v, naiveCompiles)
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

// FuzzItem: the loader and the naive reader agree on any string with any options.
func FuzzItem(f *testing.F) {
	f.Add("a", false, false, false, false)
	f.Add("{a b", false, true, true, true)
	f.Add("a b", false, true, false, false)
	f.Add("{", false, false, false, false)
	f.Add("a\u2028<&>\x7f\"\\\x01\n", false, false, true, false)
	f.Add(" a", false, true, false, false)
	f.Add("é", false, false, false, true)
	f.Add(`image:\s*\S+:latest\b`, true, false, false, false)
	f.Add("a", true, false, false, true)
	f.Add("a*", true, false, false, false)
	f.Fuzz(func(t *testing.T, text string, isRegex, spaces, words, ignoreCase bool) {
		if !utf8.ValidString(text) {
			return
		}
		quoted := `"`
		for _, r := range text {
			quoted += fmt.Sprintf(`\U%08x`, r)
		}
		quoted += `"`
		key := "text"
		if isRegex {
			key = "regex"
		}
		m := map[string]any{key: text}
		item := "{" + key + ": " + quoted
		for _, option := range []struct {
			is    bool
			key   string
			value any
		}{{spaces, "spaces", "any"}, {words, "words", true}, {ignoreCase, "case", "ignore"}} {
			if option.is {
				m[option.key] = option.value
				item += fmt.Sprintf(", %s: %v", option.key, option.value)
			}
		}
		items := []string{item + "}"}
		if len(m) == 1 && !isRegex {
			items = append(items, quoted) // equivalent
		}
		want, ok := naiveItem(m, func(s string) bool { _, err := regex.Compile(s); return err == nil })
		for _, item := range items {
			b, err := Load(Files{BoundariesFile: []byte("bundle: \"0.2\"\nrules:\n  - {id: A, title: t, enforcement: " +
				"{mode: fail}, match: {files: ['**'], forbidden_patterns: [" + item + "]}}\n")})
			if ok != (err == nil) {
				t.Fatalf("%s: the naive reader says %v, the loader %v", item, ok, err)
			}
			if ok && b.Rules[0].Patterns[0] != want {
				t.Fatalf("%s: the naive reader has %+v, the loader %+v", item, want, b.Rules[0].Patterns[0])
			}
		}
	})
}
