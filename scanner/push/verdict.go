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
		sum.Policy = union(sum.Policy, v.Policy, func(a, b *verdict.Policy) bool {
			is := a.From == b.From && a.Commit == b.Commit && a.SHA256 == b.SHA256
			for i := 0; is && i < len(b.Excluded); i++ {
				a.Excluded[i].Count += b.Excluded[i].Count
			}
			return is
		})
		sum.Rules = union(sum.Rules, v.Rules, func(a, b *verdict.Rule) bool {
			is := a.ID == b.ID && a.From == b.From
			if is {
				a.Files += b.Files
			}
			return is
		})
		sum.Violations = union(sum.Violations, v.Violations, func(a, b *verdict.Violation) bool {
			return a.RuleID == b.RuleID && a.Fingerprint == b.Fingerprint && a.Commit == b.Commit
		})
		sum.EndingAllowances = union(sum.EndingAllowances, v.EndingAllowances, equal)
		sum.Errors = union(sum.Errors, v.Errors, equal)
		sum.PolicyChanges = append(sum.PolicyChanges, v.PolicyChanges...)
		sum.AllowedViolations = append(sum.AllowedViolations, v.AllowedViolations...)
		addCoverage(&sum.Coverage, &v.Coverage)
	}
	slices.SortStableFunc(sum.Violations, func(a, b verdict.Violation) int { // those of tips first
		return cmp.Compare(min(len(a.Commit), 1), min(len(b.Commit), 1))
	})
	if sum.Decide(); !passed {
		sum.Verdict = verdict.Fail
	}
	return sum
}

// union appends the items of b that no item of a has merged.
func union[T any](a, b []T, merge func(a, b *T) bool) []T {
	for i := range b {
		k := 0
		for k < len(a) && !merge(&a[k], &b[i]) {
			k++
		}
		if k == len(a) {
			a = append(a, b[i])
		}
	}
	return a
}

func equal[T comparable](a, b *T) bool { return *a == *b }

func addCoverage(sum, c *verdict.Coverage) {
	for to, n := range map[*int]int{
		&sum.Files: c.Files, &sum.Governed: c.Governed, &sum.Scanned: c.Scanned, &sum.Deleted: c.Deleted,
		&sum.Commits: c.Commits, &sum.States: c.States,
	} {
		*to += n
	}
	sum.Bytes += c.Bytes
	sum.LeftOut = union(sum.LeftOut, c.LeftOut, equal)
	sum.NotScanned = union(sum.NotScanned, c.NotScanned, equal)
	sum.Unparsed = union(sum.Unparsed, c.Unparsed, equal)
}
