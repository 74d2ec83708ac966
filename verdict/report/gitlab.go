package report

import (
	"cmp"
	"io"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// gitlabIssue is an entry of the array that is GitLab's Code Quality report (docs.gitlab.com, "Code Quality report
// format"). GitLab shows plain text, keeps one entry for each fingerprint, refuses a BOM, and stops at the first entry
// that lacks a field.
type gitlabIssue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"` // "info", "minor", "major", "critical" or "blocker"
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int64 `json:"begin"` // 1-based
		} `json:"lines"`
	} `json:"location"`
}

// writeGitLab writes a Code Quality report for GitLab: an entry of severity "blocker" for each error, then one for
// each violation. Entries of severity "info" are about allowed violations, and a PASS that did not scan everything;
// except that a change or a list without a covered file is usual.
//
// A rule's severity low, medium, high or critical is "minor", "major", "critical" or "blocker"; a rule without one is
// "major".
func writeGitLab(w io.Writer, v *verdict.Verdict) error {
	return verdict.WriteJSON(w, verdict.Each[gitlabIssue](newView(v).gitlabIssues))
}

func (v *view) gitlabIssues(yield func(gitlabIssue) bool) {
	ended := false
	used := map[string]int{}
	add := func(description, check, fingerprint, severity, file string, line int64) {
		// A rule of the base and one of the head can find the same: GitLab would keep one.
		issue := gitlabIssue{
			Description: description, CheckName: check, Fingerprint: unique(used, fingerprint), Severity: severity,
		}
		issue.Location.Path, issue.Location.Lines.Begin = gitlabPath(file), max(line, 1)
		ended = ended || !yield(issue)
	}
	note := func(text string) {
		add("policyscan: "+full(text), "policyscan", verdict.Fingerprint("", "", text, nil), "info", "", 1)
	}
	for _, e := range v.undecided {
		text := "policyscan could not decide: " + full(flow(e.Message))
		add(text, e.Code, errorFingerprint(&e), "blocker", e.File, e.Line)
	}
	for i := range v.Violations {
		if v.Violations[i].PlaceCount == 0 {
			continue
		}
		f, severity := newFinding(&v.Violations[i]), v.ruleOf[i].rule.Severity
		words := map[string]string{"low": "minor", "high": "critical", "critical": "blocker"}
		severity = cmp.Or(words[severity], "major")
		line := f.at.Line
		if !f.hasLine() {
			line = 1
		}
		add(f.sentence(), f.RuleID, f.Fingerprint, severity, f.File, line)
	}
	if text := v.allowedNote(); text != "" {
		note(text)
	}
	for _, a := range v.newAllowed {
		// With the violation's fingerprint, GitLab would not show it as new when it is no longer allowed.
		add(allowedSentence(a), a.RuleID, verdict.Fingerprint("allowed", a.File, a.Fingerprint, nil), "info", a.File,
			newFinding(&a.Violation).at.Line)
	}
	if v.passes() && (v.Scope.Mode == "full" || v.Scope.Mode == "tracked" || v.Coverage.Governed > 0) {
		for _, but := range v.caveats() {
			note(but)
		}
	}
}

// gitlabPath is the real path, or the verdict's text for it if it is not UTF-8.
func gitlabPath(written string) string {
	if written == "" || written == "." {
		return noFile
	}
	if raw := verdict.RawPath(written); utf8.ValidString(raw) {
		return raw
	}
	return written
}
