package check

import (
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/match"
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
		var values []match.Span
		for k := range findings {
			if g := &findings[k]; g.Rule == f.Rule && g.Key != nil && g.Ref.Of == rules.ForbiddenPattern {
				values = append(values, g.Match.Spans()...)
			}
		}
		if len(values) == 0 {
			continue
		}
		found := f.Match.Spans()
		f.Same, f.Places = make([]bool, len(found)), slices.Clone(f.Match.Evidence.Places)
		for n, m := range found {
			hasStart := func(v match.Span) bool { return m.Start <= v.Start+m.Unit && m.End > v.Start }
			at := slices.IndexFunc(values, hasStart)
			if at < 0 {
				continue
			}
			values = slices.Delete(values, at, at+1)
			if f.Same[n] = true; n < len(f.Places) {
				f.Places[n].SameAsKey = true
			}
		}
	}
}

// sharesPlaces reports whether [markSame] has something to compare: it needs more than a stored result has.
func (c *Checker) sharesPlaces(r *Result) bool {
	return len(r.finds) > 0 && len(r.keys.finds) > 0 &&
		slices.ContainsFunc(r.Plan.Rules, func(rule int) bool { return c.Bundle.Rules[rule].Unparsable })
}
