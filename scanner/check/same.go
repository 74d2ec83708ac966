package check

import (
	"slices"

	"github.com/policyscan/policyscan/rules"
)

// markSame finds the occurrences of texts and expressions that are one place with a value that a key pattern of the
// same rule finds: those in its line, one for each value. Only rules with "unparsable: text" have them: there, a text
// or an expression is what is left of the key pattern in a file that cannot be parsed.
func markSame(findings []Finding, b *rules.Bundle) {
	for i := range findings {
		f := &findings[i]
		if f.Ref.Of != rules.ForbiddenPattern || f.Key != nil || !b.Rules[f.Rule].Unparsable {
			continue
		}
		values := map[int64]int{} // by line
		for k := range findings {
			if g := &findings[k]; g.Rule == f.Rule && g.Key != nil && g.Ref.Of == rules.ForbiddenPattern {
				for _, p := range g.Match.Evidence.Places {
					values[p.Line]++
				}
			}
		}
		if len(values) == 0 {
			continue
		}
		f.Places = slices.Clone(f.Match.Evidence.Places)
		f.Same = make([]bool, len(f.Places))
		for n := range f.Places {
			p := &f.Places[n]
			last := p.EndLine
			if p.EndColumn == 1 && last > p.Line { // it ends with a line end
				last--
			}
			for line := p.Line; line <= last && !p.SameAsKey; line++ {
				if values[line] > 0 {
					values[line]--
					f.Same[n], p.SameAsKey = true, true
				}
			}
		}
	}
}
