package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/policyscan/policyscan/verdict/code"
)

// The documents of report/testdata, which the tests of the reports write with -update.
var documents = []string{"pass", "fail", "incomplete", "hostile", "change"}

func document(t testing.TB, name string) []byte {
	t.Helper()
	return archived(t, filepath.Join("report", "testdata", name+".txtar"), "verdict.json")
}

// archived is a file of an archive.
func archived(t testing.TB, archive, name string) []byte {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	t.Fatalf("%s has no %s", archive, name)
	return nil
}

// passing returns a verdict that says PASS.
func passing(t testing.TB) *Verdict {
	t.Helper()
	v, err := Decode(document(t, "pass"))
	if err != nil || v.Verdict != Pass {
		t.Fatalf("%v: %+v", err, v)
	}
	return v
}

func TestDecodeIsTheWayBack(t *testing.T) {
	all := map[string][]byte{}
	for _, name := range documents {
		all[name] = document(t, name)
	}
	// A PASS without a complete scan is valid, if that is allowed.
	gap, nothing := passing(t), passing(t)
	gap.Coverage.Scanned, gap.Coverage.NotScanned, gap.Allowed = 1, []Omission{{"a.bin", "lfs-pointer"}}, []string{"lfs-pointer"}
	nothing.Coverage = Coverage{Files: 5}
	link := passing(t)
	link.Coverage.Scanned, link.Coverage.NotScanned, link.Allowed = 1, []Omission{{"a", "symlink"}}, []string{"symlink=a"}
	for name, v := range map[string]*Verdict{"gap": gap, "nothing governed": nothing, "link": link} {
		v.Decide()
		text, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all[name] = text
	}
	for name, want := range all {
		v, err := Decode(want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := v.Encode()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v; it came back as\n%s", name, err, got)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(document(t, "pass"))
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", "not a verdict"},
		"another":            {"[]", "not a verdict"},
		"cut":                {good[:len(good)/2], "not a verdict"},
		"two":                {good + good, "not a verdict"},
		"new":                {strings.Replace(good, `"schema_version": "2"`, `"schema_version": "3"`, 1), `schema_version is "3"`},
		"old":                {strings.Replace(good, `"schema_version": "2"`, `"schema_version": "1"`, 1), `schema_version is "1"`},
		"fail":               {strings.Replace(good, `"PASS"`, `"FAIL"`, 1), "says FAIL"},
		"incomplete":         {strings.Replace(good, `"complete": true`, `"complete": false`, 1), "does not follow"},
		"error":              {strings.Replace(good, `"errors": []`, `"errors": [{"code": "E_READ", "file": "", "message": "x"}]`, 1), "1 errors"},
		"no rules":           {good[:strings.Index(good, `"rules"`)] + `"rules": [],` + good[strings.Index(good, `"scope"`):], "0 rules"},
		"wrong type":         {strings.Replace(good, `"files": 5`, `"files": "5"`, 1), "not a verdict"},
		"twice":              {strings.Replace(good, `"errors": []`, `"errors": [], "VIOLATIONS": []`, 1), "not as policyscan writes it"},
		"unscanned":          {strings.Replace(good, `"scanned": 2`, `"scanned": 1`, 1), "coverage"},
		"less than 0":        {strings.NewReplacer(`"governed": 2`, `"governed": -2`, `"scanned": 2`, `"scanned": -2`).Replace(good), "coverage"},
		"not allowed":        {strings.NewReplacer(`"scanned": 2`, `"scanned": 1`, `"not_scanned": []`, "\"not_scanned\": [\n      {\n        \"file\": \"a\",\n        \"reason\": \"limit\"\n      }\n    ]").Replace(good), "coverage"},
		"another is allowed": {strings.NewReplacer(`"allowed": []`, "\"allowed\": [\n    \"submodule\"\n  ]", `"scanned": 2`, `"scanned": 1`, `"not_scanned": []`, "\"not_scanned\": [\n      {\n        \"file\": \"a\",\n        \"reason\": \"lfs-pointer\"\n      }\n    ]").Replace(good), "coverage"},
		"some are allowed":   {strings.NewReplacer(`"allowed": []`, "\"allowed\": [\n    \"lfs-pointer=a\",\n    \"symlink=a\"\n  ]", `"scanned": 2`, `"scanned": 1`, `"not_scanned": []`, "\"not_scanned\": [\n      {\n        \"file\": \"a\",\n        \"reason\": \"lfs-pointer\"\n      }\n    ]").Replace(good), "coverage"},
		"no such file":       {strings.Replace(good, `"files": 5`, `"files": 1`, 1), "coverage"},
		"partial":            {strings.Replace(good, `"partial": false`, `"partial": true`, 1), "coverage"},
		"a violation":        {strings.Replace(good, `"violations": []`, `"violations": [{}]`, 1), "1 violations"},
	} {
		if c.text == good {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := Decode([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// FuzzDecode: only a document that the program writes is accepted, and says PASS only if nothing in it contradicts
// that: checked by another reader, without types of this package.
func FuzzDecode(f *testing.F) {
	for _, name := range documents {
		f.Add(document(f, name))
	}
	f.Add([]byte(`{"schema_version": "1", "verdict": "PASS"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Decode(text)
		if err != nil {
			return
		}
		if again, err := v.Encode(); err != nil || !bytes.Equal(again, text) {
			t.Fatalf("%v: encoded again it is\n%s\nnot\n%s", err, again, text)
		}
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		length := func(name string) int { list, _ := doc[name].([]any); return len(list) }
		complete, _ := doc["complete"].(bool)
		allowed := length("allowed") > 0
		switch doc["verdict"] {
		case "FAIL":
			if length("violations")+length("errors") == 0 && complete && length("rules") > 0 {
				t.Fatalf("FAIL for nothing:\n%s", text)
			}
		case "PASS":
			coverage, _ := doc["coverage"].(map[string]any)
			notScanned, _ := coverage["not_scanned"].([]any)
			partial, _ := doc["partial"].(bool)
			if length("violations")+length("errors") > 0 || !complete || length("rules") == 0 || (len(notScanned) > 0 || partial) && !allowed ||
				coverage["governed"] != coverage["scanned"].(float64)+float64(len(notScanned)) {
				t.Fatalf("PASS:\n%s", text)
			}
		default:
			t.Fatalf("the verdict is %v", doc["verdict"])
		}
	})
}

// A consumer that uses the first of two keys, or stops at the first document, reads the same as any other: there is
// one object, one line feed after it, and no key twice.
func TestFault_071_OneDocument(t *testing.T) {
	v := New("1.0")
	v.Rules = []Rule{{ID: "A-1", Title: "a"}, {ID: "A-2", Title: "b"}}
	v.Errors = []Error{{Code: code.Read, File: "x", Message: "}{"}}
	v.Decide()
	text, err := v.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(text, []byte("}\n")) || bytes.HasSuffix(text, []byte("}\n\n")) {
		t.Errorf("it ends in %q", text[len(text)-3:])
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	type level struct {
		object bool
		keys   map[string]bool
		isKey  bool
	}
	var stack []*level
	documents := 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if len(stack) == 0 {
				documents++
			} else {
				stack[len(stack)-1].isKey = true
			}
			stack = append(stack, &level{token == json.Delim('{'), map[string]bool{}, true})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
			continue
		}
		top := stack[len(stack)-1]
		if top.object && top.isKey {
			key, _ := token.(string)
			if top.keys[key] {
				t.Errorf("the key %q is there twice", key)
			}
			top.keys[key] = true
			top.isKey = false
			continue
		}
		top.isKey = true
	}
	if documents != 1 {
		t.Errorf("%d documents", documents)
	}
}

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("verdict.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("verdict.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}
