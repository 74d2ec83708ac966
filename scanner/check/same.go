package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// markSame marks the matches of texts and expressions that are one place with a value found by a key pattern of the
// same rule: a match that contains the first character of the value, an opening quote aside, one for each value. Only
// rules with "unparsable: text" have such matches: there, a text or an expression replaces the key pattern in a file
// that cannot be parsed.
func markSame(findings []Finding, b *rules.Bundle) {
	for i := range findings {
		f := &findings[i]
		if f.Ref.Of != rules.ForbiddenPattern || f.Key != nil || !b.Rules[f.Rule].Unparsable {
			continue
		}
		var values []verdict.Place
		for k := range findings {
			if g := &findings[k]; g.Rule == f.Rule && g.Key != nil && g.Ref.Of == rules.ForbiddenPattern {
				values = append(values, g.Match.Evidence.Places...)
			}
		}
		if len(values) == 0 {
			continue
		}
		f.Places = slices.Clone(f.Match.Evidence.Places)
		f.Same = make([]bool, len(f.Places))
		for n := range f.Places {
			p := &f.Places[n]
			isAt := func(value verdict.Place) bool { return containsStart(p, &value, f.Match.Evidence.Encoding) }
			if at := slices.IndexFunc(values, isAt); at >= 0 {
				values = slices.Delete(values, at, at+1)
				f.Same[n], p.SameAsKey = true, true
			}
		}
	}
}

// containsStart reports whether a match in an encoding contains the first character of a value, or the one after it,
// if the first is a quote.
func containsStart(p, value *verdict.Place, encoding string) bool {
	quote := int64(1)
	if strings.HasPrefix(encoding, "utf-16") {
		quote = 2
	} else if strings.HasPrefix(encoding, "utf-32") {
		quote = 4
	}
	return p.Offset <= value.Offset+quote &&
		cmp.Or(cmp.Compare(p.EndLine, value.Line), cmp.Compare(p.EndColumn, value.Column)) > 0
}
