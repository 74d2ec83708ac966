package push

import (
	"cmp"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// together returns the verdict of all parts of a push. A violation of one of several parts has the name of its ref as a
// note.
func together(all []*verdict.Verdict, parts []part) *verdict.Verdict {
	if len(all) == 1 {
		return all[0]
	}
	sum := verdict.New(all[0].Tool.Version)
	sum.Scope, sum.Allowed = Scope(), all[0].Allowed
	type found struct{ rule, fingerprint, commit string }
	known := map[found]bool{}
	for i, v := range all {
		sum.Partial, sum.AsOf = sum.Partial || v.Partial, max(sum.AsOf, v.AsOf)
		addPolicies(sum, v)
		addRules(sum, v)
		addCoverage(&sum.Coverage, &v.Coverage)
		sum.PolicyChanges = append(sum.PolicyChanges, v.PolicyChanges...)
		for _, one := range v.Violations {
			id := found{one.RuleID, one.Fingerprint, one.Commit}
			if known[id] { // the same commit is the tip of two branches
				continue
			}
			known[id] = true
			if one.Commit == "" {
				one.Note = joined(one.Note, "in "+parts[i].ref)
			}
			sum.Violations = append(sum.Violations, one)
		}
		sum.AllowedViolations = append(sum.AllowedViolations, v.AllowedViolations...)
		for _, e := range v.EndingAllowances {
			if !slices.Contains(sum.EndingAllowances, e) {
				sum.EndingAllowances = append(sum.EndingAllowances, e)
			}
		}
		for _, e := range v.Errors {
			if !slices.Contains(sum.Errors, e) {
				sum.Errors = append(sum.Errors, e)
			}
		}
	}
	slices.SortStableFunc(sum.Violations, func(a, b verdict.Violation) int { // those of tips first
		return cmp.Compare(min(len(a.Commit), 1), min(len(b.Commit), 1))
	})
	slices.SortStableFunc(sum.Errors, func(a, b verdict.Error) int { return cmp.Compare(a.File, b.File) })
	if sum.Decide(); slices.ContainsFunc(all, func(v *verdict.Verdict) bool { return v.Verdict != verdict.Pass }) {
		sum.Verdict = verdict.Fail
	}
	return sum
}

func joined(note, more string) string {
	if note == "" {
		return more
	}
	return note + "; " + more
}

func addPolicies(sum, v *verdict.Verdict) {
	for _, p := range v.Policy {
		i := slices.IndexFunc(sum.Policy, func(q verdict.Policy) bool {
			return p.From == q.From && p.Commit == q.Commit && p.SHA256 == q.SHA256
		})
		if i < 0 {
			sum.Policy = append(sum.Policy, p)
			continue
		}
		for k := range p.Excluded { // of the same bundle
			sum.Policy[i].Excluded[k].Count += p.Excluded[k].Count
		}
	}
}

func addRules(sum, v *verdict.Verdict) {
	for _, r := range v.Rules {
		i := slices.IndexFunc(sum.Rules, func(q verdict.Rule) bool { return r.ID == q.ID && r.From == q.From })
		if i < 0 {
			sum.Rules = append(sum.Rules, r)
		} else {
			sum.Rules[i].Files += r.Files
		}
	}
}

func addCoverage(sum, c *verdict.Coverage) {
	sum.Files += c.Files
	sum.Governed += c.Governed
	sum.Scanned += c.Scanned
	sum.Bytes += c.Bytes
	sum.Deleted += c.Deleted
	sum.Commits += c.Commits
	sum.States += c.States
	sum.LeftOut = omissions(sum.LeftOut, c.LeftOut)
	sum.NotScanned = omissions(sum.NotScanned, c.NotScanned)
	sum.Unparsed = append(sum.Unparsed, c.Unparsed...)
	slices.Sort(sum.Unparsed)
	sum.Unparsed = slices.Compact(sum.Unparsed)
}

// omissions returns two lists as one, by path.
func omissions(a, b []verdict.Omission) []verdict.Omission {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b verdict.Omission) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Reason, b.Reason))
	})
	return slices.Compact(all)
}
