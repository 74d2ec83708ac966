package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/keyitem"
)

// keyBundle is a bundle with an invariant with these items, each a line of YAML.
func keyBundle(forbidden, required []string) Files {
	text := "bundle: \"0.2\"\nrules:\n  - id: K\n    title: t\n    enforcement: {mode: fail}\n    match:\n      files: [\"**\"]\n"
	list := func(key string, items []string) {
		if len(items) == 0 {
			return
		}
		text += "      " + key + ":\n"
		for _, item := range items {
			text += "        - " + item + "\n"
		}
	}
	list("required_absent", forbidden)
	list("required_patterns", required)
	return Files{BoundariesFile: []byte("bundle: \"0.2\"\nrules: []\n"), InvariantsFile: []byte(text)}
}

func loadKeys(t testing.TB, forbidden, required []string) *Rule {
	t.Helper()
	b, err := Load(keyBundle(forbidden, required))
	if err != nil {
		t.Fatal(err)
	}
	return &b.Rules[0]
}

// TestKeyItems: key patterns and their names.
func TestKeyItems(t *testing.T) {
	r := loadKeys(t, []string{
		`{key: spec.hostNetwork, is: true}`,
		`{is: [True, FALSE, 1E+9, 1.0, x, "y", '', "22"], key: [a, '"b.c".d']}`,
		`{format: hcl, is_not: 5, where: {b: [x, 1.50], a: TRUE}, key: a, x-note: mine}`,
		`{key: "**.image", matches: '^a"\\\.b'}`,
		`{matches_not: é/ü, key: ["**"]}`,
		`{key: "a.**.**.b"}`,
	}, []string{
		`{key: e, is: true, each: resource.a.*}`,
		`{key: e, each: [a, b], matches: c, format: toml}`,
		`{key: spec.hostNetwork, is: false}`,
	})
	want := []string{
		`{"key":"spec.hostNetwork","is":true}`,
		`{"key":["a","\"b.c\".d"],"is":[true,false,1E+9,1.0,"x","y","","22"]}`,
		`{"key":"a","where":{"b":["x",1.50],"a":true},"is_not":5,"format":"hcl"}`,
		`{"key":"**.image","matches":"^a\"\\\\\\.b"}`,
		`{"key":["**"],"matches_not":"é/ü"}`,
		`{"key":"a.**.**.b"}`,
		`{"each":"resource.a.*","key":"e","is":true}`,
		`{"each":["a","b"],"key":"e","matches":"c","format":"toml"}`,
		`{"key":"spec.hostNetwork","is":false}`,
	}
	all := slices.Concat(r.Patterns, r.Required)
	if diff := cmp.Diff(want, Names(all)); diff != "" {
		t.Error(diff)
	}
	for _, item := range all {
		if item.Kind != Key || item.Key == nil || item.Text != "" || item.IsPlain() || !json.Valid([]byte(item.Name)) {
			t.Errorf("%+v", item)
		}
	}
	values := all[1].Key.Values
	if all[1].Key.Asks != keyitem.Is || len(values) != 8 || values[1].Kind != keyitem.BoolValue || values[1].Text != "false" ||
		values[2].Kind != keyitem.NumberValue || values[4].Quoted || !values[5].Quoted || values[7].Kind != keyitem.TextValue {
		t.Errorf("%+v", all[1].Key)
	}
	if k := all[2].Key; k.Asks != keyitem.IsNot || k.Format != "hcl" || len(k.Where) != 2 || k.Where[1].Path.String() != "a" ||
		len(k.Where[0].Values) != 2 || k.Where[1].Values[0].Text != "true" {
		t.Errorf("%+v", k)
	}
	if k := all[3].Key; k.Asks != keyitem.Matches || k.Match.String() != `^a"\\\.b` {
		t.Errorf("%+v", k)
	}
	if k := all[7].Key; len(k.Each) != 2 || k.Asks != keyitem.Matches {
		t.Errorf("%+v", k)
	}
	if k := all[5].Key; k.Asks != keyitem.Exists || len(k.Paths[0]) != 3 {
		t.Errorf("%+v", k)
	}
}

// TestSameItems: an item equals itself when read again, and differs from others.
func TestSameItems(t *testing.T) {
	items := []string{`{key: a, is: true}`, `{key: a, is: "true"}`, `{key: [a], is: true}`, `{key: a}`, `{regex: a}`, `"a"`}
	a, b := loadKeys(t, items, nil), loadKeys(t, items, nil)
	for i := range items {
		for k := range items {
			if same := a.Patterns[i].Means(b.Patterns[k]); same != (i == k) {
				t.Errorf("%s and %s: %v", items[i], items[k], same)
			}
		}
	}
	if !a.Same(*b) || a.Same(*loadKeys(t, items[1:], nil)) {
		t.Error("rules with keys are compared wrongly")
	}
}

// TestUnparsable: unparsable sets how a file that cannot be parsed is treated, and counts when rules are compared.
func TestUnparsable(t *testing.T) {
	files := keyBundle([]string{"a", "{key: a}"}, nil)
	with := Files{BoundariesFile: files[BoundariesFile]}
	with[InvariantsFile] = append(slices.Clone(files[InvariantsFile]), "      unparsable: text\n"...)
	a, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Load(with)
	if err != nil {
		t.Fatal(err)
	}
	if a.Rules[0].Unparsable || !b.Rules[0].Unparsable || a.Rules[0].Same(b.Rules[0]) {
		t.Errorf("%v, %v", a.Rules[0].Unparsable, b.Rules[0].Unparsable)
	}
}

// TestMisspeltKey: an item with only a misspelt "key" is not read as a string with a colon, which would find nothing.
func TestMisspeltKey(t *testing.T) {
	for item, want := range map[string]string{
		"{kye: a.b}":   `unknown key "kye" in a pattern; write "key"`,
		"kye: a.b":     `unknown key "kye" in a pattern; write "key"`,
		"{paths: a.b}": `a mapping in "required_absent", where a string belongs; if it is one string, quote it`,
	} {
		_, err := Load(keyBundle([]string{item}, nil))
		var all document.Errors
		if !errors.As(err, &all) || len(all) != 1 || all[0].Found+"; "+all[0].Fix != want {
			t.Errorf("%s: %v; want %s", item, err, want)
		}
	}
}

// TestKeyNotes: likely mistakes in a key pattern.
func TestKeyNotes(t *testing.T) {
	for item, want := range map[string]string{
		`{key: metadata.labels.app.kubernetes.io/name}`: `the path has kubernetes.io/name, which may be part of one key: ` +
			`a key with dots needs quotes, such as metadata.labels."app.kubernetes.io/name"`,
		`{key: a, where: {containers.0.b: x}}`: `the segment 0 of the path is a key: lists have no index, and a path that ` +
			`comes to a list means each of its items`,
		`{key: a, is: "p–q"}`: `the value "p–q" has a dash '–' (U+2013) as character 2, which looks like '-' and does not match ` +
			`it; write '-'`,
		`{key: spec.hоst}`: `the segment "hоst" of the path has a Cyrillic 'о' (U+043E) as character 2, which looks like 'o' ` +
			`and does not match it; write 'o'`,
		`{key: [resource.aws_x.*.e, b]}`: `the key is required of every file that the rule selects, even of one without such ` +
			`a block; to check only the blocks, write each: "resource.aws_x.*" and key: "e"`,
		`{key: provider.aws.region}`: `the key is required of every file that the rule selects, even of one without such ` +
			`a block; to check only the blocks, write each: "provider.aws" and key: "region"`,
		`{each: resource.aws_x.*, key: e}`:  "",
		`{key: resource.aws_x.*}`:           "",
		`{key: resource.**.e}`:              "",
		`{key: a.b.c, is: [1, true, "on"]}`: "",
		"key: a\n          is: b # c":       `the text ends before "# c", which is a comment; quote the text`,
		`{key: a, is: [b c, d]}`:            "",
	} {
		b, err := Load(keyBundle(nil, []string{item}))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, n := range Notes(b) {
			got += n.Text
			if n.Line != 9 && n.Line != 10 || n.Rule != "K" {
				t.Errorf("%s: a note at %d:%d of %q", item, n.Line, n.Column, n.Rule)
			}
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", item, got, want)
		}
	}
}

// TestLimitOfMatches: regexes in key patterns count like all others.
func TestLimitOfMatches(t *testing.T) {
	var items []string
	for i := range 140 {
		items = append(items, fmt.Sprintf("{key: a, matches: 'x%d%s'}", i, strings.Repeat("y", 8000)))
	}
	_, err := Load(keyBundle(items, nil))
	if err == nil || !strings.Contains(err.Error(), "the expressions of the bundle are longer than") {
		t.Errorf("%.200v", err)
	}
}

// TestManyPaths: a list with a hundred thousand paths or values is read in one pass, and exceeds the limit of a
// pattern.
func TestManyPaths(t *testing.T) {
	for _, key := range []string{"key", "is"} {
		var list []string
		for i := range 100_000 {
			list = append(list, fmt.Sprintf("p%d", i))
		}
		item := "{" + key + ": [" + strings.Join(list, ",") + "]"
		if key == "is" {
			item += ", key: a"
		}
		_, err := Load(keyBundle([]string{item + "}"}, nil))
		var all document.Errors
		if !errors.As(err, &all) || len(all) != 1 || all[0].Code != document.CodeLimit || all[0].Line != 9 {
			t.Errorf("%s: %.300v", key, err)
		}
	}
}

// TestKeyNames: the name of an item is its JSON with sorted keys, however it was written.
func TestKeyNames(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[a-z"\\é/<>&{}:, ]{0,6}`), rapid.Just("true"), rapid.Just("22"))
	paths := rapid.SampledFrom([]string{`"a"`, `"a.*.b"`, `["a","\"x.y\".z"]`, `["**.b"]`})
	value := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
		case 1:
			return rapid.StringMatching(`-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number")
		}
		return jsonText(text.Draw(t, "text"))
	})
	values := rapid.Custom(func(t *rapid.T) string {
		all := rapid.SliceOfNDistinct(value, 1, 3, func(v string) string { return v }).Draw(t, "values")
		if len(all) == 1 && rapid.Bool().Draw(t, "one") {
			return all[0]
		}
		return "[" + strings.Join(all, ",") + "]"
	})
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		add := func(key, text string) { parts = append(parts, jsonText(key)+":"+text) }
		required := rapid.Bool().Draw(t, "required")
		if required && rapid.Bool().Draw(t, "each") {
			add("each", paths.Draw(t, "each"))
		}
		add("key", paths.Draw(t, "key"))
		if rapid.Bool().Draw(t, "where") {
			add("where", `{"z":`+values.Draw(t, "z")+`,"a.b":`+values.Draw(t, "a.b")+"}")
		}
		switch condition := rapid.SampledFrom([]string{"", "is", "is_not", "matches", "matches_not"}).Draw(t, "condition"); {
		case condition == "", required && strings.HasSuffix(condition, "_not"):
		case strings.HasPrefix(condition, "is"):
			add(condition, values.Draw(t, condition))
		default:
			add(condition, jsonText("x"+rapid.StringMatching(`[a-z"/]{0,4}`).Draw(t, condition)))
		}
		if rapid.Bool().Draw(t, "format") {
			add("format", rapid.SampledFrom([]string{`"yaml"`, `"json"`, `"hcl"`, `"toml"`}).Draw(t, "format"))
		}
		want := "{" + strings.Join(parts, ",") + "}"
		written := "{" + strings.Join(rapid.Permutation(parts).Draw(t, "parts"), ", ") + "}"
		lists := [][]string{nil, nil}
		if lists[0] = []string{written}; required {
			lists[0], lists[1] = nil, lists[0]
		}
		b, err := Load(keyBundle(lists[0], lists[1]))
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if got := slices.Concat(b.Rules[0].Patterns, b.Rules[0].Required)[0].Name; got != want {
			t.Errorf("%s\n got %s\nwant %s", written, got, want)
		}
	})
}

// jsonText is a minimally escaped JSON string.
func jsonText(text string) string {
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// naivePath matches the paths that RULES-0.2 allows.
var naivePath = sync.OnceValue(func() *regexp.Regexp {
	const none = `\s\p{Z}\p{Cc}"'\\,\[\](){}<>.*`
	const segment = `(?:\*|\*\*|[^` + none + `/$][^` + none + `]*|"(?:[^"\\]|\\["\\])*")`
	return regexp.MustCompile(`^(?s:` + segment + `(?:\.` + segment + `)*)$`)
})

// asText returns a string, also an unquoted one that YAML would read as another type.
func asText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool, int, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// naiveKey returns the name of a key pattern according to RULES-0.2, and shares no code with the loader; false if it
// is refused. Strings are quoted; numbers and booleans are not.
func naiveKey(m map[string]any, required bool) (string, bool) {
	name, conditions := "", 0
	good := true
	list := func(v any, each func(v any) (string, bool)) string {
		all, isList := v.([]any)
		if !isList {
			all = []any{v}
		}
		good = good && len(all) > 0
		seen, text := map[string]bool{}, ""
		for _, v := range all {
			shown, ok := each(v)
			good = good && ok && !seen[shown]
			seen[shown] = true
			text += "," + shown
		}
		text = strings.TrimPrefix(text, ",")
		if isList {
			text = "[" + text + "]"
		}
		return text
	}
	path := func(v any) (string, bool) {
		text, ok := asText(v)
		return jsonText(text), ok && naivePath().MatchString(text) && strings.TrimSpace(text) != ""
	}
	value := func(v any) (string, bool) {
		switch v := v.(type) {
		case string:
			return jsonText(v), true
		case bool, int, float64:
			return fmt.Sprint(v), true
		}
		return "", false
	}
	for _, key := range []string{"each", "key", "where", "is", "is_not", "matches", "matches_not", "format"} {
		v, ok := m[key]
		if !ok {
			good = good && key != "key"
			continue
		}
		text := ""
		switch key {
		case "each", "key":
			good = good && (required || key == "key")
			text = list(v, path)
		case "where":
			conditions, ok := v.(map[string]any)
			good = good && ok && len(conditions) > 0
			for _, k := range slices.Sorted(maps.Keys(conditions)) {
				shown, ok := path(k)
				good = good && ok
				text += "," + shown + ":" + list(conditions[k], value)
			}
			text = "{" + strings.TrimPrefix(text, ",") + "}"
		case "is", "is_not":
			conditions++
			text = list(v, value)
		case "matches", "matches_not":
			conditions++
			expression, ok := asText(v)
			good = good && ok && strings.TrimSpace(expression) != "" && naiveCompiles(expression)
			text = jsonText(expression)
		case "format":
			format, ok := asText(v)
			good = good && ok && slices.Contains([]string{"yaml", "json", "hcl", "toml"}, format)
			text = jsonText(format)
		}
		good = good && !(required && strings.HasSuffix(key, "_not"))
		name += "," + jsonText(key) + ":" + text
	}
	for key := range m {
		good = good && !slices.Contains([]string{"text", "regex", "within_lines", "spaces", "words", "case", "other"}, key)
	}
	return "{" + strings.TrimPrefix(name, ",") + "}", good && conditions <= 1
}

// TestKeysAsTheNaiveReader: the loader and the naive reader agree on any key pattern.
func TestKeysAsTheNaiveReader(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringMatching(`[aB*."$/]{1,5}`), rapid.StringMatching(`[a-c]{1,2}(\.([a-c]|\*|\*\*|"[a.\\]"))?`),
		rapid.SampledFrom([]string{"yaml", "hcl", "toml", "", " ", "a b", "a[0]", "true", "[a", "a\n", "a\u2028b", "x{", "a,b", "é.ü"}),
	)
	value := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.SampledFrom([]any{true, false, 7, -1, 1.5, nil}),
	)
	more := rapid.OneOf(value, value, value, rapid.Map(rapid.SliceOfN(value, 0, 3), func(v []any) any { return v }),
		rapid.Just[any](map[string]any{"a": "b"}), rapid.Just[any]([]any{[]any{"a"}}))
	loaded, refused := 0, 0
	try := func(t *rapid.T) {
		m := map[string]any{"key": rapid.StringMatching(`[a-c](\.[a-c*])?`).Draw(t, "key")}
		for _, key := range []string{"each", "key", "where", "is", "is_not", "matches", "matches_not", "format", "case", "other", "text"} {
			switch n := rapid.IntRange(0, 15).Draw(t, key); {
			case n == 0 && key == "where" || n == 1 && key == "where":
				m[key] = map[string]any{text.Draw(t, "path"): more.Draw(t, "value"), "z": "y"}
			case n == 0 || n < 3 && strings.Contains("each is matches", key):
				m[key] = more.Draw(t, "value of "+key)
			case n == 3 && key == "format":
				m[key] = "json"
			}
		}
		if rapid.IntRange(0, 30).Draw(t, "no key") == 0 {
			delete(m, "key")
			delete(m, "text")
		}
		item, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		required := rapid.Bool().Draw(t, "required")
		lists := [][]string{{string(item)}, nil}
		if required {
			lists[0], lists[1] = nil, lists[0]
		}
		want, ok := naiveKey(m, required)
		b, err := Load(keyBundle(lists[0], lists[1]))
		switch {
		case ok != (err == nil):
			t.Fatalf("%s: the naive reader says %v, the loader %v", item, ok, err)
		case ok:
			loaded++
			if got := slices.Concat(b.Rules[0].Patterns, b.Rules[0].Required)[0].Name; got != want {
				t.Fatalf("%s: the naive reader names it %s, the loader %s", item, want, got)
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
