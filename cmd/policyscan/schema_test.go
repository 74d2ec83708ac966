package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/policyscan/policyscan/verdict"
)

// A verdictFile is a verdict that was read back, and its bytes.
type verdictFile struct {
	verdict.Verdict
	text []byte
}

// readVerdict reads a verdict strictly: one object and a line feed with nothing after it, no unknown key, and valid by
// the schema.
func readVerdict(text []byte) (*verdictFile, error) {
	schema, err := verdictSchema()
	if err != nil {
		return nil, err
	}
	v := &verdictFile{text: text}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v.Verdict); err != nil {
		return nil, fmt.Errorf("the verdict is not the document: %w\n%s", err, text)
	}
	if rest := text[dec.InputOffset():]; string(rest) != "\n" {
		return nil, fmt.Errorf("after the verdict there is %q", rest)
	}
	again, err := v.Encode()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, text) {
		return nil, fmt.Errorf("the verdict is not canonical; it would be\n%s", again)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return v, schema.Validate(doc)
}

var verdictSchema = sync.OnceValues(func() (*jsonschema.Schema, error) { return compileSchema(verdict.Schema()) })

func compileSchema(text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
}

// printed is the schema as the command prints it.
func printed(t *testing.T, document string) *jsonschema.Schema {
	t.Helper()
	text, err := exec.Command("policyscan", "schema", document).Output()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := compileSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func writeFile(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

var explanationSchema = sync.OnceValues(func() (*jsonschema.Schema,
	error) {
	return compileSchema([]byte(explainSchema))
})

// checkExplanation compares what policyscan explain --json has just printed with its schema.
func checkExplanation(ts *testscript.TestScript) {
	schema, err := explanationSchema()
	ts.Check(err)
	text := ts.ReadFile("stdout")
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	ts.Check(err)
	if err := schema.Validate(doc); err != nil {
		ts.Fatalf("%v\n%s", err, text)
	}
}

// TestExplainSchema: it is printed, its shared parts equal those of the verdict's schema, and it is strict.
func TestExplainSchema(t *testing.T) {
	schema := printed(t, "explain")
	var explain, document struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := errors.Join(json.Unmarshal([]byte(explainSchema), &explain),
		json.Unmarshal(verdict.Schema(), &document)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"path", "violation", "evidence", "place", "allowed_violation", "allowance",
		"error"} {
		if d := cmp.Diff(document.Defs[name], explain.Defs[name]); explain.Defs[name] == nil || d != "" {
			t.Errorf("%s: -verdict +explain: %s", name, d)
		}
	}
	archive, err := txtar.ParseFile("testdata/script/explain.txtar")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "main.json" })
	golden := string(archive.Files[i].Data)
	for _, edit := range [][2]string{
		{"", ""}, {`"kind": "file"`, `"kind": "dir"`}, {`"result": "violated"`, `"result": "PASS"`},
		{`"bytes": 57`, `"bytes": "57"`},
		{`"items": [`, `"item": [`}, {`"errors": []`, `"errors": null`}, {`"form": "parsed"`, `"form": "read"`},
		{`"mark": ""`, `"mark": "utf-7"`},
	} {
		text := strings.Replace(golden, edit[0], edit[1], 1)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); (err == nil) != (edit[0] == "") || edit[0] != "" && text == golden {
			t.Errorf("%q for %q: %v", edit[1], edit[0], err)
		}
	}
}

// TestDiffSchema: its shared parts equal those of the verdict's schema, and it is strict.
func TestDiffSchema(t *testing.T) {
	schema := printed(t, "diff")
	var diff, document struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := errors.Join(json.Unmarshal(verdict.DiffSchema(), &diff),
		json.Unmarshal(verdict.Schema(), &document)); err != nil {
		t.Fatal(err)
	}
	for name, def := range diff.Defs {
		if d := cmp.Diff(document.Defs[name], def); d != "" {
			t.Errorf("%s: -verdict +diff: %s", name, d)
		}
	}
	archive, err := txtar.ParseFile("testdata/script/policydiff.txtar")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want.json" })
	golden := string(archive.Files[i].Data)
	for _, edit := range [][2]string{
		{"", ""}, {`"schema_version": "1"`, `"schema_version": "2"`}, {`"effect": "both"`, `"effect": "better"`},
		{`"refused_by": []`, `"refused_by": null`}, {`"witness": []`, `"witness": [{}]`},
		{`"changes": [`, `"change": [`}, {`"tree": [],`, ``},
	} {
		text := strings.Replace(golden, edit[0], edit[1], 1)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); (err == nil) != (edit[0] == "") || edit[0] != "" && text == golden {
			t.Errorf("%q for %q: %v", edit[1], edit[0], err)
		}
	}
}

var verdictFlag = flag.String("verdict", "", "a verdict that TestVerdictFile checks")

// TestVerdictFile checks a verdict that was written before, for CI.
func TestVerdictFile(t *testing.T) {
	if *verdictFlag == "" {
		t.Skip("no -verdict is given")
	}
	text, err := os.ReadFile(*verdictFlag)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readVerdict(text); err != nil {
		t.Error(err)
	}
}
