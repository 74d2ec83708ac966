package rules

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules/document"
)

// compileSchema returns the schemas of the files with fixed names, of other files, and of any file.
func compileSchema(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7) // so that the schema's own $schema must say 2020-12
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for name, where := range map[string]string{BoundariesFile: "#/$defs/boundaries",
		InvariantsFile: "#/$defs/invariants", DeprecatedFile: "#/$defs/deprecated", AllowancesFile: "#/$defs/allowances",
		"other": "#/$defs/other", "any": ""} {
		schemas[name], err = c.Compile("schema.json" + where)
		if err != nil {
			t.Fatal(err)
		}
	}
	return schemas
}

// asJSON reads YAML like an editor's schema check. It returns false for input without a JSON form: invalid YAML, or
// keys that are not strings.
func asJSON(content []byte) (any, bool) {
	var v any
	if err := yaml.Unmarshal(content, &v); err != nil {
		return nil, false
	}
	return jsonValue(v)
}

func jsonValue(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			x, ok := jsonValue(v[k])
			if !ok {
				return nil, false
			}
			v[k] = x
		}
	case map[any]any:
		return nil, false
	case []any:
		for i := range v {
			x, ok := jsonValue(v[i])
			if !ok {
				return nil, false
			}
			v[i] = x
		}
	case time.Time: // a string in editors' YAML
		if day := v.Format(time.DateOnly); v.Format(time.RFC3339) == day+"T00:00:00Z" {
			return day, true
		}
		return v.Format(time.RFC3339), true
	}
	return v, true
}

// ownSchema is the narrowest schema of a file.
func ownSchema(schemas map[string]*jsonschema.Schema, name string) *jsonschema.Schema {
	if schemas[name] == nil {
		name = "other"
	}
	return schemas[name]
}

// refusedBySchema reports whether a file of the bundle fails its own schema.
func refusedBySchema(t testing.TB, schemas map[string]*jsonschema.Schema, files Files) bool {
	t.Helper()
	refused := false
	for name := range files {
		v, ok := asJSON(files[name])
		if !ok || len(files[name]) == 0 || !MayBeRead(name) {
			continue
		}
		own, any := ownSchema(schemas, name).Validate(v), schemas["any"].Validate(v)
		if any != nil && own == nil {
			t.Errorf("%s: refused as any file and not as its own: %v", name, any)
		}
		refused = refused || own != nil
	}
	return refused
}

// TestSchemaAndLoaderAgree: the schema accepts the valid files, refuses most bad ones that a schema can refuse, and
// none that loads.
func TestSchemaAndLoaderAgree(t *testing.T) {
	schemas := compileSchema(t)
	for _, g := range goldens(t, "good") {
		if refusedBySchema(t, schemas, g.files) {
			t.Errorf("%s: %s: refused by the schema", g.file, g.name)
		}
	}
	could, did := 0, 0
	for _, g := range goldens(t, "bad") {
		refused := refusedBySchema(t, schemas, g.files)
		if strings.HasPrefix(g.want, document.CodeKey) || strings.HasPrefix(g.want, document.CodeType) ||
			strings.HasPrefix(g.want, document.CodeValue) {
			could++
			if refused {
				did++
			} else {
				t.Logf("not refused by the schema: %s", g.name)
			}
		}
	}
	if did < could*9/10 {
		t.Errorf("the schema refuses %d of %d", did, could)
	}
}

// TestSchemaRefusesPathsTwice: a list must not repeat a path.
func TestSchemaRefusesPathsTwice(t *testing.T) {
	schemas := compileSchema(t)
	for paths, want := range map[string]bool{"[a, b]": false, "[a, b, a]": true} {
		for _, item := range []string{"{key: " + paths + "}", "{each: " + paths + ", key: c}"} {
			files := Files{InvariantsFile: []byte("bundle: \"0.2\"\nrules:\n  - id: A\n    title: b\n" +
				"    enforcement: {mode: fail}\n    match: {files: [c], required_patterns: [" + item + "]}\n")}
			if refusedBySchema(t, schemas, files) != want {
				t.Errorf("%s: refused: %v", item, !want)
			}
		}
	}
}

// TestSchemaDescribesEachKey: an editor shows a description of each key. A $ref target has none, since
// yaml-language-server would show it instead of the key's.
func TestSchemaDescribesEachKey(t *testing.T) {
	var document map[string]any
	if err := json.Unmarshal(Schema(), &document); err != nil {
		t.Fatal(err)
	}
	defs := document["$defs"].(map[string]any)
	said, keys := map[string]string{}, 0
	var walk func(where string, schema map[string]any)
	walk = func(where string, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			property, place := p.(map[string]any), where+"."+name
			text, _ := property["description"].(string)
			keys++
			if other := said[text]; len(text) < 20 || text[len(text)-1] != '.' || other != "" {
				t.Errorf("%s: the description is %q, and %q has it too", place, text, other)
			}
			said[text] = place
			if ref, ok := property["$ref"].(string); ok {
				def := defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
				if def["description"] != nil || def["title"] != nil {
					t.Errorf("%s hides what %s says", ref, place)
				}
			}
			walk(place, property)
		}
		if items, ok := schema["items"].(map[string]any); ok {
			walk(where+"[]", items)
		}
	}
	for _, name := range []string{"file", "rule", "mapping", "allowances", "allowance"} {
		walk(name, defs[name].(map[string]any))
	}
	if keys != 66 {
		t.Errorf("%d keys were looked at", keys)
	}
}

// TestSchemaRefusesNothingThatLoads changes a valid file at random.
func TestSchemaRefusesNothingThatLoads(t *testing.T) {
	schemas := compileSchema(t)
	var good []Files
	for _, g := range goldens(t, "good") {
		good = append(good, g.files)
	}
	values := []any{nil, "y", []any{"**/*.go"}, "", " ", "x", "fail", "high", 7, 1.5, true, []any{}, []any{"x"},
		[]any{nil}, map[string]any{}, map[string]any{"a": "b"}, "\u00a0", "a\nb", "https://example.com/", "/x", "x/",
		" x", "x ", strings.Repeat("a", 1025), "0.2", 0.2, "any", "ignore", "boundary", "invariant", "deprecated",
		map[string]any{"text": "a b"}, map[string]any{"regex": "a+"}, []any{map[string]any{"text": "a b", "spaces": "any", "within_lines": 3}},
		[]any{map[string]any{"regex": "a", "words": true}},
		map[string]any{"key": "a.b"}, []any{map[string]any{"key": []any{"a", "b.c"}, "is": []any{true, 1.5, "x"}}},
		[]any{map[string]any{"each": "a", "key": "b", "where": map[string]any{"kind": "x"}, "matches": "y"}},
		[]any{map[string]any{"key": "a", "is_not": ""}, "b"}, "text", "a.b",
		[]any{map[string]any{"key": "a", "if": map[string]any{"b": map[string]any{"is": 1}}, "below": 2}}, []any{map[string]any{"regex": "a", "except": "ab"}},
		"never", "2027-03-01", "2027-02-30", 1_000_000_000, 0, "a\\b", `a\\xff`, []any{"a", "b.c"},
		[]any{map[string]any{"rule": "A", "file": "a.tf", "at_most": 1, "owner": "o", "reason": "r"}}}
	keys := []string{"id", "title", "match", "files", "mode", "rules", "forbidden_patterns", "required_absent", "x-",
		"x-y", "X-y", "tags", "severity", "Title", "bundle", "type", "exclude", "text", "regex", "spaces", "words", "case",
		"path_case", "required_patterns", "forbidden_files", "required_files", "key", "each", "where", "if", "is", "is_not",
		"below", "above", "at_least", "quantity", "any", "except", "containing", "only", "unparsable", "missing", "present", "matches", "matches_not", "format", "unparsable", "allowances", "rule", "file", "at_most", "owner", "reason",
		"until", "from", "may_grow"}
	loaded, refused := 0, 0
	try := func(t *rapid.T) {
		files := rapid.SampledFrom(good).Draw(t, "files")
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(files))).Draw(t, "file")
		v, ok := asJSON(files[name])
		if !ok || v == nil {
			return
		}
		mutate(t, v, values, keys)
		content, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		changed := Files{}
		for k := range files {
			changed[k] = files[k]
		}
		changed[name] = content
		v, ok = asJSON(content)
		if !ok {
			t.Fatalf("written as %q", content)
		}
		schemaErr := ownSchema(schemas, name).Validate(v)
		_, loadErr := Load(changed)
		if schemaErr != nil {
			refused++
		}
		if loadErr == nil {
			loaded++
			if schemaErr != nil {
				t.Fatalf("loads, but the schema says: %v\n%s", schemaErr, content)
			}
		}
	}
	tries := 5 // each of 100 times
	if *long {
		tries = 50
	}
	rapid.Check(t, func(t *rapid.T) {
		for range tries {
			try(t)
		}
	})
	if loaded < tries/2 || refused < 4*tries {
		t.Errorf("%d loaded, %d refused: the test tests little", loaded, refused)
	}
}

// mutate changes one value or key somewhere in v.
func mutate(t *rapid.T, v any, values []any, keys []string) {
	var places []func()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range sortedKeys(v) {
				places = append(places,
					func() { delete(v, k) },
					func() { v[k] = rapid.SampledFrom(values).Draw(t, "value") },
					func() { v[rapid.SampledFrom(keys).Draw(t, "key")] = rapid.SampledFrom(values).Draw(t, "value") })
				walk(v[k])
			}
		case []any:
			for i := range v {
				places = append(places, func() { v[i] = rapid.SampledFrom(values).Draw(t, "value") })
				walk(v[i])
			}
		}
	}
	walk(v)
	places[rapid.IntRange(0, len(places)-1).Draw(t, "place")]()
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
