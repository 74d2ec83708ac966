package verdict

import (
	"encoding/json"
	"fmt"
)

// Decode reads a document that [Verdict.Encode] wrote, of this version's shape. One whose
// outcome does not follow from what it holds is refused: it was changed by hand, or cut.
func Decode(text []byte) (*Verdict, error) {
	var shape struct {
		SchemaVersion string `json:"schema_version"`
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, fmt.Errorf("it is no verdict: %w", err)
	}
	if shape.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("its schema_version is %q; this policyscan reads %q", shape.SchemaVersion, SchemaVersion)
	}
	v := &Verdict{}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("it is no verdict: %w", err)
	}
	decided := *v
	decided.Decide()
	if decided.Verdict != v.Verdict || decided.Complete != v.Complete {
		return nil, fmt.Errorf("it says %s, which does not follow from the %d violations, %d errors and %d rules in it", v.Verdict, len(v.Violations), len(v.Errors), len(v.Rules))
	}
	return v, nil
}
