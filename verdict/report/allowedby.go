package report

import (
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// What allowances let be, in the words of all reports.

// allowedFirst returns the violations that are allowed, introduced ones first.
func allowedFirst(v *verdict.Verdict) []*verdict.AllowedViolation {
	all := make([]*verdict.AllowedViolation, len(v.AllowedViolations))
	for i := range v.AllowedViolations {
		all[i] = &v.AllowedViolations[i]
	}
	slices.SortStableFunc(all, func(a, b *verdict.AllowedViolation) int {
		return newFirst(&a.Violation) - newFirst(&b.Violation)
	})
	return all
}

// allowedNew returns the violations that are allowed and introduced.
func allowedNew(v *verdict.Verdict) []*verdict.AllowedViolation {
	all := allowedFirst(v)
	n := slices.IndexFunc(all, func(a *verdict.AllowedViolation) bool { return a.Status != introduced })
	if n < 0 {
		n = len(all)
	}
	return all[:n]
}

// allowedCounts says how many violations are allowed, and how many of these are new; "" if there are none.
func allowedCounts(v *verdict.Verdict) string {
	n := len(v.AllowedViolations)
	if n == 0 {
		return ""
	}
	files := map[string]bool{}
	for i := range v.AllowedViolations {
		files[v.AllowedViolations[i].File] = true
	}
	s := count(n, "violation") + " in " + count(len(files), "file")
	if hasStatus(v) {
		s += ", " + newWords(len(allowedNew(v)))
	}
	return s
}

// allowedNote is [allowedCounts] as a clause, with what a reader has to know of it; "" if nothing is allowed.
func allowedNote(v *verdict.Verdict) string {
	counts := allowedCounts(v)
	switch {
	case counts == "":
		return ""
	case !hasStatus(v):
		return "allowed by allowances.yml: " + counts + "; " + noBefore
	}
	return "allowed by allowances.yml: " + counts
}

// newSuffix is how many violations are new, to be said after how many there are; "" where nothing tells.
func newSuffix(v *verdict.Verdict) string {
	fresh, known := 0, false
	for i := range v.Violations {
		known = known || v.Violations[i].Status != ""
		fresh += 1 - newFirst(&v.Violations[i])
	}
	if !known {
		return ""
	}
	return ", " + newWords(fresh)
}

// allowedSuffix is how many violations are allowed, to be said after there is none that is not; "" if none is.
func allowedSuffix(v *verdict.Verdict) string {
	n := len(v.AllowedViolations)
	switch {
	case n == 0:
		return ""
	case hasStatus(v):
		return fmt.Sprintf("; %d allowed, %s", n, newWords(len(allowedNew(v))))
	}
	return fmt.Sprintf("; %d allowed", n)
}

// noBefore is what a report of a scan says that has nothing to compare with.
const noBefore = "this scan has no before, so it cannot tell which are new; a scan with --diff-base can"

// allowanceWords is what an allowance says, safe to print.
func allowanceWords(a *verdict.Allowance) string {
	s := fmt.Sprintf("at most %d, owner %s, reason %s", a.AtMost, flow(clip(a.Owner, 200)), flow(clip(a.Reason, 500)))
	if a.Until != "" {
		s += ", until " + verdict.Visible(a.Until)
	}
	return s
}

// allowedSentence says what is new but allowed, by which rule and which allowance, safe to print.
func allowedSentence(a *verdict.AllowedViolation) string {
	return "New but allowed (" + verdict.Visible(clip(a.RuleID, 200)) + "; " + allowanceWords(&a.Allowance) +
		"): " + full(clip(flow(a.Reason), 1000))
}

// mostEndings is how many allowances that end soon a report has. verdict.json has all.
const mostEndings = 20

// endings says which allowances end soon, a line for each and one for the rest. Each is safe to print.
func endings(v *verdict.Verdict) []string {
	var lines []string
	for i := range v.EndingAllowances {
		if i == mostEndings {
			lines = append(lines, "and "+count(len(v.EndingAllowances)-i, "more allowance")+"; verdict.json has all")
			break
		}
		e := &v.EndingAllowances[i]
		lines = append(lines, fmt.Sprintf("%s: %s in %s (at most %d, owner %s)", verdict.Visible(e.Allowance.Until),
			verdict.Visible(clip(e.RuleID, 200)), verdict.Visible(clip(e.File, 300)), e.Allowance.AtMost,
			flow(clip(e.Allowance.Owner, 200))))
	}
	return lines
}

// endingsNote says how many allowances end soon.
func endingsNote(v *verdict.Verdict) string {
	n := len(v.EndingAllowances)
	verb := "end"
	if n == 1 {
		verb = "ends"
	}
	return fmt.Sprintf("%s %s within %d days of %s", count(n, "allowance"), verb, verdict.EndingDays,
		verdict.Visible(v.AsOf))
}
