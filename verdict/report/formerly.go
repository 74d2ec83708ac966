package report

import (
	"github.com/policyscan/policyscan/verdict"
)

// Names that formats use which do not print a [view] yet.

const (
	introduced  = verdict.Introduced
	preExisting = verdict.PreExisting
)

type pointer struct {
	verdict.Evidence
	index int
	exact bool
}

func pointed(v *verdict.Violation) pointer {
	f := newFinding(v)
	return pointer{f.at, f.index, f.exact}
}

func statusWords(status string) string                            { return label(status) }
func hasStatus(v *verdict.Verdict) bool                           { return newView(v).comparable }
func placeOf(v *verdict.Violation) string                         { return newFinding(v).place() }
func fileOf(v *verdict.Violation) string                          { return newFinding(v).path() }
func foundOf(v *verdict.Violation, p string) (name, value string) { return newFinding(v).found(p) }
func foundLine(v *verdict.Violation) string                       { return newFinding(v).foundLine() }
func foundSentence(v *verdict.Violation) string                   { return newFinding(v).foundSentence() }
func sentenceOf(v *verdict.Violation) string                      { return newFinding(v).sentence() }
func alsoAt(v *verdict.Violation, most int) []string              { return newFinding(v).also(most) }
func lastLineOf(e *verdict.Evidence) int64                        { return lastLine(e) }
func inAnotherEncoding(e *verdict.Evidence) bool                  { return e.Encoding != "utf-8" && e.Encoding != "" }
func quotedPattern(e *verdict.Evidence) string {
	n := named(e)
	return n.quote(cut(verdict.Visible(e.Pattern), 1000))
}
func hidesPattern(e *verdict.Evidence) bool {
	n := named(e)
	return !hasPlace(e) || n.isMapping()
}
func caveats(v *verdict.Verdict) []string                       { return newView(v).caveats() }
func partialNote(v *verdict.Verdict) (why, so string)           { return newView(v).partialNote() }
func unparsedNote(v *verdict.Verdict) string                    { return newView(v).unparsedNote() }
func notJudgedNote(v *verdict.Verdict) string                   { return newView(v).requiredNote() }
func behindNote(v *verdict.Verdict) string                      { return newView(v).behindNote() }
func allowedNote(v *verdict.Verdict) string                     { return newView(v).allowedNote() }
func allowedSuffix(v *verdict.Verdict) string                   { return newView(v).allowedSuffix() }
func newSuffix(v *verdict.Verdict) string                       { return newView(v).newSuffix() }
func endings(v *verdict.Verdict) []string                       { return newView(v).endings() }
func endingsNote(v *verdict.Verdict) string                     { return newView(v).endingsNote() }
func policyChanges(v *verdict.Verdict) []string                 { return newView(v).policyChanges() }
func compared(v *verdict.Verdict) string                        { return newView(v).compared() }
func coversNothing(v *verdict.Verdict) bool                     { return newView(v).coversNothing() }
func onlyPaths(v *verdict.Verdict) bool                         { return newView(v).onlyPaths() }
func ofWholeTree(v *verdict.Verdict) bool                       { return newView(v).ofWholeTree() }
func ofCommit(s *verdict.Scope) bool                            { return newView(&verdict.Verdict{Scope: *s}).ofCommit() }
func scopeWords(s *verdict.Scope) string                        { return newView(&verdict.Verdict{Scope: *s}).scopeWords() }
func undecidedOf(v *verdict.Verdict) []verdict.Error            { return newView(v).undecided }
func allowedNew(v *verdict.Verdict) []*verdict.AllowedViolation { return newView(v).newAllowed }
func unparsed(c *verdict.Coverage) []verdict.Omission {
	return newView(&verdict.Verdict{Coverage: *c}).unparsed()
}
func countNew(all []*verdict.Violation) (n int) {
	for _, x := range all {
		n += 1 - newFirst(x)
	}
	return n
}
func rulesOf(v *verdict.Verdict) (all []*verdict.Rule) {
	w := newView(v)
	for i := range v.Violations {
		all = append(all, w.rule(i))
	}
	return all
}
func canBeOf(v *verdict.Violation, r *verdict.Rule) bool { return fitsRule(v, r) }

func inFiles(v *verdict.Verdict, words func(n int, thing string) string) string {
	if w := newView(v); w.files > 0 {
		return " in " + words(w.files, "file")
	}
	return ""
}
