package report

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// ruleIndexes returns, for each violation, the index in v.Rules of the rule that it is
// of, or -1 if there is none.
//
// A change is judged by the rules of its base and of its head, so that two rules can have
// one id. Which of them a violation is of follows from its texts, and for two rules that
// differ in nothing that a violation shows from the order of the violations: that of the
// rules, then of the paths.
func ruleIndexes(v *verdict.Verdict) []int {
	byID := map[string][]int{}
	for i := range v.Rules {
		byID[v.Rules[i].ID] = append(byID[v.Rules[i].ID], i)
	}
	type occurrence struct {
		rule                int
		file, kind, pattern string
	}
	taken := map[occurrence]bool{}
	last := map[int]string{} // the path of each rule's last violation
	indexes := make([]int, len(v.Violations))
	at := 0
	for i := range v.Violations {
		found := &v.Violations[i]
		file := verdict.RawPath(found.File)
		fits := -1
		for _, r := range byID[found.RuleID] {
			if !canBeOf(found, &v.Rules[r]) {
				continue
			}
			if fits < 0 {
				fits = r
			}
			if r >= at && last[r] <= file && !taken[occurrence{r, file, found.Evidence.Kind, found.Evidence.Pattern}] {
				fits, at = r, r
				break
			}
		}
		taken[occurrence{fits, file, found.Evidence.Kind, found.Evidence.Pattern}] = true
		last[fits] = file
		indexes[i] = fits
	}
	return indexes
}

// rulesOf returns, for each violation, the rule that it is of, or nil.
func rulesOf(v *verdict.Verdict) []*verdict.Rule {
	rules := make([]*verdict.Rule, len(v.Violations))
	for i, r := range ruleIndexes(v) {
		if r >= 0 {
			rules[i] = &v.Rules[r]
		}
	}
	return rules
}

// canBeOf reports whether a violation can be of a rule, as far as its texts tell.
func canBeOf(v *verdict.Violation, r *verdict.Rule) bool {
	return v.RuleID == r.ID && v.RuleType == r.Type && v.Title == r.Title &&
		(v.Reason == r.Message || r.Message == "" && strings.HasPrefix(v.Reason, r.Title))
}

// undecidedOf returns the errors, and for a FAIL that has nothing to show for itself the
// one that there is no rule: no report of a FAIL looks clean.
func undecidedOf(v *verdict.Verdict) []verdict.Error {
	if len(v.Errors) == 0 && len(v.Violations) == 0 && v.Verdict != verdict.Pass {
		return []verdict.Error{{Code: code.NoRules, Message: "no rule was enforced, so there is no PASS"}}
	}
	return v.Errors
}

// sentenceOf says in one line, safe to print, what was found: the reason, the pattern where
// the reason does not have it, and how often it is there.
func sentenceOf(v *verdict.Violation) string {
	e := &v.Evidence
	s := full(clip(flow(v.Reason), 1000))
	if !strings.Contains(v.Reason, e.Pattern) && !strings.Contains(v.Reason, strconv.Quote(e.Pattern)) {
		s += " " + foundSentence(v)
	}
	if s == "" { // no bundle has a rule without a title
		s = "The file contains what must not appear."
	}
	s += elsewhere(v)
	if v.Note != "" {
		s += " " + full(clip(flow(v.Note), 500))
	}
	return s
}

// elsewhere says in sentences, each after a space, whether a violation is new, and where else it is.
func elsewhere(v *verdict.Violation) string {
	s := ""
	switch v.Status {
	case introduced:
		s = " This is new."
	case preExisting:
		s = " This was there before."
	}
	if n := v.Evidence.Occurrences; n > 1 && len(v.Evidence.Places) == 0 {
		return s + fmt.Sprintf(" This is the first of %d occurrences in the file.", n)
	}
	for _, clause := range alsoAt(v, mostLines) {
		s += " " + full(sentence(clause))
	}
	return s
}

// nothingCovered is what a PASS says that looked at nothing.
const nothingCovered = "No file is covered by a rule: no rule selects any file of this tree, so nothing was checked."

// ofWholeTree reports whether the run was about a tree and not about a choice of its files,
// of which it is usual that no rule selects any.
func ofWholeTree(v *verdict.Verdict) bool {
	return v.Scope.Mode == "full" || v.Scope.Mode == "tracked"
}

// errorFingerprint identifies an error in reports, as [verdict.Fingerprint] does a violation.
func errorFingerprint(e *verdict.Error) string {
	return verdict.Fingerprint(e.Code, e.File, e.Message, nil)
}

// followed reports whether an address may be a link: https, a host and nobody's name
// before it, and of the characters of RFC 3986 those that mean nothing in Markdown and
// HTML and look like themselves. Anything else is shown, for a person to judge.
func followed(address string) bool {
	const marks = "-._~:/?#@!&'()*+,;=%"
	for _, r := range address {
		if !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune(marks, r)) {
			return false
		}
	}
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && len(address) <= 1000
}

// ofCommit reports whether the run was about all files of a commit that a person named (--rev), if the commit is known.
func ofCommit(s *verdict.Scope) bool {
	return s.Mode == "full" && s.Strategy == "rev" && s.HeadCommit != ""
}

// scopeWords is the scope in words, but for what it was compared with; "" for a mode that no
// scan has.
func scopeWords(s *verdict.Scope) string {
	switch s.Mode {
	case "full":
		switch {
		case s.Strategy == "rev":
			return "every file of the commit"
		case s.HeadCommit != "":
			return "every file of the head"
		}
		return "every file of the folder"
	case "tracked":
		return "the files that git's index names"
	case "diff":
		return "the files that the head changes"
	case "staged":
		return "the files that the next commit changes"
	case "files":
		return "the files of a list"
	case "stdin":
		return "one file, from standard input"
	}
	return ""
}
