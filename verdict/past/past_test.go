package past

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/policyscan/policyscan/verdict"
)

// TestSchema: a document with every field, and an empty one, are valid; one with another field is not.
func TestSchema(t *testing.T) {
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("schema.json", text); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(document any) error {
		text, err := verdict.JSON(document)
		if err != nil {
			t.Fatal(err)
		}
		document, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(document)
	}
	empty := New("1")
	empty.Mode = Audit
	if empty.Decide(); empty.Verdict != verdict.Fail {
		t.Error("a history of no repository passes")
	}
	e := []verdict.Error{{Code: "E_READ", File: "f", Message: "m", Line: 1, Column: 2, UTF16Column: 3}}
	full := New("1")
	full.Mode, full.Since, full.Policy, full.Allowed = Preview, "2026-01-02", []Policy{{From: "disk", SHA256: "x"}}, []string{"empty"}
	full.Rules = []Rule{{ID: "A", Refused: 1, Dirs: []Tally{{"a/", 1}}, Months: []Tally{{"2026-01", 1}}, Examples: []Example{{File: "a"}}}}
	full.Refused = []Change{{Commit: "1234567", Rules: []Refusal{{RuleID: "A"}}, Errors: e}}
	full.Undecided, full.Errors = full.Refused, e
	full.Repositories = []Repository{{Name: "r", Counts: Counts{Changes: 3, Refused: 1}, Errors: e}, {}}
	full.Decide()
	if full.Rules[0].Share != 33.3 || full.Complete || len(full.Failures()) != 3 {
		t.Errorf("%+v", full)
	}
	for _, h := range []*History{empty, full} {
		if err := valid(h); err != nil {
			t.Error(err)
		}
	}
	if valid(struct {
		*History
		More int `json:"more"`
	}{full, 1}) == nil {
		t.Error("the schema allows any field")
	}
}
