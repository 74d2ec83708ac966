package push

import (
	"cmp"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// together returns the verdict of all parts of a push. A violation of one of several parts has the name of its ref as a
// note, and one that two of them have comes once.
func together(all []*verdict.Verdict, parts []part) *verdict.Verdict {
	if len(all) == 1 {
		return all[0]
	}
	sum := verdict.New(all[0].Tool.Version)
	sum.Scope, sum.Allowed = Scope(), all[0].Allowed
	passed := true
	for i, v := range all {
		for k := range v.Violations {
			if one := &v.Violations[k]; one.Commit == "" && one.Note == "" {
				one.Note = "in " + parts[i].ref
			}
		}
		passed = passed && v.Verdict == verdict.Pass
		sum.Partial, sum.AsOf = sum.Partial || v.Partial, max(sum.AsOf, v.AsOf)
		sum.Policy, sum.Rules = append(sum.Policy, v.Policy...), append(sum.Rules, v.Rules...)
		sum.Violations = append(sum.Violations, v.Violations...)
		sum.EndingAllowances = append(sum.EndingAllowances, v.EndingAllowances...)
		sum.Errors = append(sum.Errors, v.Errors...)
		sum.PolicyChanges = append(sum.PolicyChanges, v.PolicyChanges...)
		sum.AllowedViolations = append(sum.AllowedViolations, v.AllowedViolations...)
		sum.Coverage.Add(&v.Coverage)
		sum.Coverage.LeftOut = append(sum.Coverage.LeftOut, v.Coverage.LeftOut...)
	}
	sum.Policy = unique(sum.Policy, func(p *verdict.Policy) any {
		return [3]string{p.From, p.Commit, p.SHA256}
	}, func(first, p *verdict.Policy) {
		for i := range p.Excluded {
			first.Excluded[i].Count += p.Excluded[i].Count
		}
	})
	sum.Rules = unique(sum.Rules, func(r *verdict.Rule) any { return [2]string{r.ID, r.From} },
		func(first, r *verdict.Rule) { first.Files += r.Files })
	sum.Violations = unique(sum.Violations, func(v *verdict.Violation) any {
		return [3]string{v.RuleID, v.Fingerprint, v.Commit}
	}, nil)
	sum.EndingAllowances = unique(sum.EndingAllowances, itself, nil)
	sum.Errors = unique(sum.Errors, itself, nil)
	sum.Coverage.LeftOut = unique(sum.Coverage.LeftOut, itself, nil)
	sum.Coverage.NotScanned = unique(sum.Coverage.NotScanned, itself, nil)
	sum.Coverage.Unparsed = unique(sum.Coverage.Unparsed, itself, nil)
	slices.SortStableFunc(sum.Violations, func(a, b verdict.Violation) int { // those of tips first
		return cmp.Compare(min(len(a.Commit), 1), min(len(b.Commit), 1))
	})
	if sum.Decide(); !passed {
		sum.Verdict = verdict.Fail
	}
	return sum
}

// unique removes each item with the key of an earlier one, with which it is merged.
func unique[T any](all []T, key func(*T) any, merge func(first, later *T)) []T {
	kept, at := all[:0], map[any]int{}
	for i := range all {
		first, is := at[key(&all[i])]
		switch {
		case !is:
			at[key(&all[i])] = len(kept)
			kept = append(kept, all[i])
		case merge != nil:
			merge(&kept[first], &all[i])
		}
	}
	return kept
}

func itself[T any](one *T) any { return *one }
