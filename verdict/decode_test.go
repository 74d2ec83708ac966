package verdict

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
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
	// A PASS of an incomplete scan is valid, if that is allowed.
	for reason, allowed := range map[string]string{"lfs-pointer": "lfs-pointer", "symlink": "symlink=a"} {
		v := passing(t)
		v.Coverage.Scanned, v.Coverage.NotScanned, v.Allowed = 1, []Omission{{"a", reason}}, []string{allowed}
		v.Decide()
		text, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all[reason] = text
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
	change := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(good) }
	const one, two = `"scanned": 1`, `"scanned": 2`
	skip := func(reason string) string {
		return "\"not_scanned\": [\n      {\n        \"file\": \"a\",\n        \"reason\": \"" + reason +
			"\"\n      }\n    ]"
	}
	allow := func(reasons string) string { return "\"allowed\": [\n    " + reasons + "\n  ]" }
	for name, c := range map[string]struct{ text, want string }{
		"empty":      {"", "not a verdict"},
		"another":    {"[]", "not a verdict"},
		"cut":        {good[:len(good)/2], "not a verdict"},
		"two":        {good + good, "not a verdict"},
		"new":        {change(`"schema_version": "2"`, `"schema_version": "3"`), `schema_version is "3"`},
		"old":        {change(`"schema_version": "2"`, `"schema_version": "1"`), `schema_version is "1"`},
		"fail":       {change(`"PASS"`, `"FAIL"`), "says FAIL"},
		"incomplete": {change(`"complete": true`, `"complete": false`), "does not follow"},
		"error": {change(`"errors": []`, `"errors": [{"code": "E_READ", "file": "", "message": "x"}]`),
			"1 errors"},
		"no rules": {good[:strings.Index(good, `"rules"`)] + `"rules": [],` + good[strings.Index(good, `"scope"`):],
			"0 rules"},
		"wrong type":  {change(`"files": 5`, `"files": "5"`), "not a verdict"},
		"twice":       {change(`"errors": []`, `"errors": [], "VIOLATIONS": []`), "not as policyscan writes it"},
		"unscanned":   {change(two, one), "coverage"},
		"less than 0": {change(`"governed": 2`, `"governed": -2`, two, `"scanned": -2`), "coverage"},
		"not allowed": {change(two, one, `"not_scanned": []`, skip("limit")), "coverage"},
		"another is allowed": {change(`"allowed": []`, allow(`"submodule"`), two, one,
			`"not_scanned": []`, skip("lfs-pointer")), "coverage"},
		"some are allowed": {change(`"allowed": []`, allow("\"lfs-pointer=a\",\n    \"symlink=a\""), two, one,
			`"not_scanned": []`, skip("lfs-pointer")), "coverage"},
		"no such file": {change(`"files": 5`, `"files": 1`), "coverage"},
		"partial":      {change(`"partial": false`, `"partial": true`), "coverage"},
		"a violation":  {change(`"violations": []`, `"violations": [{}]`), "1 violations"},
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
			if length("violations")+length("errors") > 0 || !complete || length("rules") == 0 ||
				(len(notScanned) > 0 || partial) && !allowed ||
				coverage["governed"] != coverage["scanned"].(float64)+float64(len(notScanned)) {
				t.Fatalf("PASS:\n%s", text)
			}
		default:
			t.Fatalf("the verdict is %v", doc["verdict"])
		}
	})
}

// TestFault_071_OneDocument: readers that use the first of two keys, or stop at the first document, read the same as
// others: there is one object, one line feed after it, and no key twice.
func TestFault_071_OneDocument(t *testing.T) {
	v := New("1.0")
	v.Rules = []Rule{{ID: "A-1", Title: "a"}, {ID: "A-2", Title: "b"}}
	v.Errors = []Error{{Code: code.Read, File: "x", Message: "}{"}}
	v.Decide()
	text, err := v.Encode()
	if err != nil || !bytes.HasSuffix(text, []byte("}\n")) {
		t.Fatal(err)
	}
	d := jsontext.NewDecoder(bytes.NewReader(text)) // it refuses a key that is there twice
	if _, err := d.ReadValue(); err != nil || d.InputOffset() != int64(len(text))-1 {
		t.Errorf("%v at %d of %d bytes", err, d.InputOffset(), len(text))
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
