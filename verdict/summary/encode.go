package summary

import (
	_ "embed"

	"github.com/policyscan/policyscan/verdict"
)

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of fleet.json.
func Schema() []byte { return []byte(schema) }

// Encode returns the document's canonical bytes: one JSON object, keys in the order of [Fleet], as in [verdict.JSON].
// Equal fleets have equal bytes.
func (f *Fleet) Encode() ([]byte, error) { return verdict.JSON(f) }

// consistent reports whether a part's fleet follows from its repositories. A part never says PASS.
func (f *Fleet) consistent() bool {
	again := &Fleet{Errors: f.Errors, List: f.List}
	for i := range f.Repositories {
		r := &f.Repositories[i]
		sum := 0
		for _, c := range r.Rules {
			sum += c.Places
		}
		if i > 0 && f.Repositories[i-1].Name >= r.Name || sum != r.Places ||
			r.Complete != (r.ErrorCount == 0) || len(r.Errors) != min(r.ErrorCount, MaxErrors) ||
			r.Verdict == verdict.Pass && (r.Places > 0 || !r.Complete || r.SHA256 == "") {
			return false
		}
		again.Add(*r, nil)
	}
	again.Decide()
	if again.Totals != f.Totals || again.Complete != f.Complete {
		return false
	}
	broken := again.Rules
	for i := range f.Rules {
		r := &f.Rules[i]
		var want Rule
		if len(broken) > 0 && broken[0].ID == r.ID {
			want, broken = broken[0], broken[1:]
		}
		if i > 0 && f.Rules[i-1].ID >= r.ID || r.Repositories != want.Repositories ||
			r.Places != want.Places || r.Enforced < r.Repositories || r.Enforced > f.Totals.Repositories {
			return false
		}
	}
	return len(broken) == 0
}
