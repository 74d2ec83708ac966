package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Decode reads the bytes of [Verdict.Encode]. It refuses a document whose outcome contradicts its contents. A
// consistent edit is not noticed: a verdict has no signature.
func Decode(text []byte) (*Verdict, error) {
	v, err := DecodeAny(text)
	if err != nil {
		return nil, err
	}
	if !IsJSON(text, v) {
		return nil, errors.New("it is not as policyscan writes it: something was added, removed or reformatted")
	}
	if v.Verdict == Pass && !v.covered() {
		return nil, errors.New("it says PASS, which does not follow from its coverage")
	}
	return v, nil
}

// DecodeAny is [Decode] for a document of any version of the program with this [SchemaVersion].
func DecodeAny(text []byte) (*Verdict, error) {
	v, err := Parse(text)
	if err != nil {
		return nil, err
	}
	decided := *v
	decided.Decide()
	if decided.Verdict != v.Verdict || decided.Complete != v.Complete {
		return nil, fmt.Errorf("it says %s, which does not follow from "+
			"the %d violations, %d errors and %d rules in it", v.Verdict,
			len(v.Violations), len(v.Errors), len(v.Rules))
	}
	return v, nil
}

// covered reports whether every covered file was scanned, or skipped for an allowed reason.
func (v *Verdict) covered() bool {
	c := &v.Coverage
	return c.Scanned >= 0 && c.Governed == c.Scanned+len(c.NotScanned) && c.Governed <= c.Files &&
		(!v.Partial || slices.Contains(v.Allowed, "partial")) &&
		!slices.ContainsFunc(c.NotScanned, func(o Omission) bool { return !v.allows(o.Reason) })
}

// allows reports whether a reason is allowed. "symlink=GLOB" allows some links; the glob is not matched here.
func (v *Verdict) allows(reason string) bool {
	return slices.ContainsFunc(v.Allowed, func(a string) bool {
		return a == reason || reason == "symlink" && strings.HasPrefix(a, "symlink=")
	})
}

// Parse reads a document without checking that it is as [Verdict.Encode] writes it, and that it is consistent.
func Parse(text []byte) (*Verdict, error) {
	v := &Verdict{}
	err := json.Unmarshal(text, v)
	switch {
	case v.SchemaVersion != SchemaVersion && (err == nil || v.SchemaVersion != ""): // first: types may differ
		return nil, fmt.Errorf("its schema_version is %q; this policyscan reads %q", v.SchemaVersion, SchemaVersion)
	case err != nil:
		return nil, fmt.Errorf("it is not a verdict: %w", err)
	}
	return v, nil
}
