package summary

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/policyscan/policyscan/verdict"
)

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of fleet.json.
func Schema() []byte { return []byte(schema) }

// Encode returns the document's canonical bytes: one JSON object, keys in the order of [Fleet], as in [verdict.JSON].
// Equal fleets have equal bytes.
func (f *Fleet) Encode() ([]byte, error) { return verdict.JSON(f) }

// Decode reads the bytes of [Fleet.Encode]. It refuses a document whose outcome or totals contradict its contents. A
// consistent edit is not noticed: the document has no signature.
func Decode(text []byte) (*Fleet, error) {
	f := &Fleet{}
	err := json.Unmarshal(text, f)
	switch {
	case f.SchemaVersion != SchemaVersion && (err == nil || f.SchemaVersion != ""): // first: types may differ
		return nil, fmt.Errorf("its schema_version is %q; this policyscan reads %q", f.SchemaVersion, SchemaVersion)
	case err != nil:
		return nil, fmt.Errorf("it is not a fleet.json: %w", err)
	case !verdict.IsJSON(text, f):
		return nil, errors.New("it is not as policyscan writes it: something was added, removed or reformatted")
	}
	return f, f.consistent(false)
}

// consistent returns an error if the document contradicts itself. A part never says PASS.
func (f *Fleet) consistent(part bool) error {
	again := &Fleet{Errors: f.Errors, List: f.List}
	for i := range f.Repositories {
		r := &f.Repositories[i]
		if i > 0 && f.Repositories[i-1].Name >= r.Name {
			return fmt.Errorf("its repositories are not in order at %q", verdict.Visible(r.Name))
		}
		sum := 0
		for _, c := range r.Rules {
			sum += c.Violations
		}
		if sum != r.Violations || r.Complete != (r.ErrorCount == 0) || len(r.Errors) != min(r.ErrorCount, MaxErrors) ||
			r.Verdict == verdict.Pass && (r.Violations > 0 || !r.Complete || r.SHA256 == "") {
			return fmt.Errorf("what it says of the repository %q contradicts itself", verdict.Visible(r.Name))
		}
		again.Add(*r, nil)
	}
	again.Decide()
	if again.Totals != f.Totals || !part && again.Verdict != f.Verdict || again.Complete != f.Complete {
		return fmt.Errorf("it says %s, which does not follow from its repositories, or its totals do not", f.Verdict)
	}
	broken := again.Rules
	for i := range f.Rules {
		r := &f.Rules[i]
		if i > 0 && f.Rules[i-1].ID >= r.ID {
			return fmt.Errorf("its rules are not in order at %q", verdict.Visible(r.ID))
		}
		var want Rule
		if len(broken) > 0 && broken[0].ID == r.ID {
			want, broken = broken[0], broken[1:]
		}
		if r.Repositories != want.Repositories || r.Violations != want.Violations || r.Enforced < r.Repositories ||
			r.Enforced > f.Totals.Repositories {
			return fmt.Errorf("what it says of the rule %q does not follow from its repositories",
				verdict.Visible(r.ID))
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("the rule %q, which its repositories violate, is not in it", verdict.Visible(broken[0].ID))
	}
	return nil
}
