package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A view is a verdict and the facts that several formats show. Its own texts are safe to print.
type view struct {
	*verdict.Verdict
	byRule     []*ruleGroup                // all rules, in the verdict's order
	groups     []*ruleGroup                // rules with places to fix, in the order in which a person reads them
	ruleOf     []*ruleGroup                // of each violation
	sections   []*section                  // as arranged
	narrowed   string                      // says which of the places the sections have; "": all
	undecided  []verdict.Error             // the errors; also one that there is no rule, so that no FAIL looks clean
	newAllowed []*verdict.AllowedViolation // new, but an allowance permits them
	unused     []string                    // the ids of rules that select no file, safe to print
	numbers    placeCounts                 // of all rules
	comparable bool                        // there is a baseline
}

func newView(v *verdict.Verdict) *view {
	w := &view{Verdict: v, undecided: v.Errors}
	w.groupByRule()
	if len(v.Errors) == 0 && len(v.Violations) == 0 && v.Verdict != verdict.Pass {
		w.undecided = []verdict.Error{{Code: code.NoRules, Message: "no rule was enforced, so there is no PASS"}}
	}
	for i := range v.AllowedViolations {
		if a := &v.AllowedViolations[i]; a.Status == verdict.Introduced {
			w.newAllowed = append(w.newAllowed, a)
		}
	}
	for i := range v.Rules {
		if r := &v.Rules[i]; w.selectsNothing(r) {
			w.unused = append(w.unused, verdict.Visible(r.ID))
		}
	}
	w.numbers.files = fileCount(w.groups)
	w.sections = []*section{{groups: w.groups, numbers: w.numbers}}
	w.comparable = v.Scope.Mode == "diff" || v.Scope.Mode == "staged"
	return w
}

func fileCount(groups []*ruleGroup) int {
	files := map[string]bool{}
	for _, g := range groups {
		for _, f := range g.files {
			files[f.path] = true
		}
	}
	delete(files, "") // the tree
	return len(files)
}

func (v *view) passes() bool { return v.Verdict.Verdict == verdict.Pass }

// onlyPartial reports whether the run is undecided only because it was narrowed.
func (v *view) onlyPartial() bool { return len(v.Errors) > 0 && len(v.failures()) == 0 }

// failures are the errors other than that the run was narrowed, which a note says.
func (v *view) failures() []verdict.Error {
	return slices.DeleteFunc(slices.Clone(v.Errors), func(e verdict.Error) bool { return e.Code == code.Partial })
}

// result is the number of places to fix, of new and allowed ones, and whether the run is complete.
func (v *view) result() string {
	var parts []string
	if len(v.Violations) > 0 {
		ids := map[string]bool{} // base and head may have a rule of the same id
		for _, g := range v.groups {
			if g.numbers.places > 0 {
				ids[g.rule.ID] = true
			}
		}
		s := v.numbers.words(verb(v.numbers.places, " breaks ", " break ") + count(len(ids), "rule"))
		s = cmp.Or(s, count(len(v.Violations), "violation")) // a run's violations have places
		if v.onlyPartial() {
			s += ", in a partial run"
		}
		parts = append(parts, s)
	}
	switch {
	case v.onlyPartial() && len(v.Violations) == 0:
		parts = append(parts, "no violation in a partial run")
	case v.onlyPartial():
	case !v.Complete:
		parts = append(parts, "could not decide ("+count(len(v.failures()), "error")+")")
	case len(v.undecided) > 0:
		parts = append(parts, "no rule was enforced")
	case len(v.Violations) == 0:
		parts = append(parts, "no violation")
	}
	return strings.Join(parts, "; ") + v.allowedSuffix()
}

// looked is what was checked, after a semicolon; "" if the run failed before its scan.
func (v *view) looked() string {
	c := &v.Coverage
	if v.neverScanned() {
		return ""
	}
	checked, scanned := " checked", ""
	if c.Scanned < c.Governed {
		checked, scanned = "", ", "+number(c.Scanned)+" of these scanned"
	}
	if v.Scope.EachCommit {
		scanned += fmt.Sprintf(", %s checked (%s only there)", count(c.Commits, "commit"),
			count(c.States, "covered file"))
	}
	return fmt.Sprintf("; %s%s, %s covered by a rule%s, %s", count(c.Files, "file"), checked, number(c.Governed),
		scanned, count(v.ruleCount(), "rule"))
}

// neverScanned reports whether the run failed before its scan.
func (v *view) neverScanned() bool {
	return len(v.failures()) > 0 && len(v.Rules) == 0 && v.Coverage.Files == 0
}

// ruleCount is the number of rules; base and head may have versions of one.
func (v *view) ruleCount() int {
	ids := map[string]bool{}
	for i := range v.Rules {
		ids[v.Rules[i].ID] = true
	}
	return len(ids)
}

func (v *view) summaryLine() string {
	return string(v.Verdict.Verdict) + ": " + v.result() + v.looked()
}

// headline is the outcome, with the caveats of a PASS.
func (v *view) headline() string {
	if but := v.caveats(); v.passes() && len(but) > 0 {
		return "PASS, but " + strings.Join(but, "; ") + v.allowedSuffix()
	}
	return string(v.Verdict.Verdict) + ": " + v.result()
}

// selectsNothing reports whether a rule checked neither a file nor a path.
func (v *view) selectsNothing(r *verdict.Rule) bool {
	return r.Files == 0 && !(r.ChecksPaths && v.Coverage.Files > 0)
}

// coversNothing reports whether no rule covers a file or checks paths.
func (v *view) coversNothing() bool { return len(v.unused) == len(v.Rules) && v.Coverage.Governed == 0 }

// onlyPaths reports whether rules only checked paths.
func (v *view) onlyPaths() bool {
	return v.Coverage.Governed == 0 && v.Coverage.Files > 0 && !v.coversNothing()
}

// scannedNothing reports whether no covered file was scanned.
func (v *view) scannedNothing() bool { return v.Coverage.Scanned == 0 && !v.onlyPaths() }

// ofCommit reports whether the run had all files of a known commit (--rev).
func (v *view) ofCommit() bool {
	return v.Scope.Mode == "full" && v.Scope.Strategy == "rev" && v.Scope.HeadCommit != ""
}

// notes are remarks that do not limit the outcome.
func (v *view) notes() []string {
	all := with(with(nil, v.behindNote()), v.narrowed)
	// A glob may be a mistake; but a change or a list need not have a covered file.
	if n := len(v.unused); n > 0 && v.Scope.Mode == "full" && !v.coversNothing() {
		all = append(all, fmt.Sprintf("%s of %s %s no file: %s", number(n), count(len(v.Rules), "rule"),
			verb(n, "selects", "select"), firstOf(v.unused, 5)))
	}
	return all
}

// limits are the limits of the outcome, except the files that were not scanned.
func (v *view) limits() []string {
	var all []string
	switch c := &v.Coverage; {
	case c.Files+c.States == 0 && v.passes():
		all = append(all, "there was nothing to scan")
	case c.Files > 0 && v.coversNothing():
		all = append(all, "no file is covered by a rule: nothing was checked")
	case c.Governed > 0 && c.Scanned == 0:
		all = append(all, "no covered file was scanned")
	}
	all = with(all, v.requiredNote())
	if v.Partial { // only bundles with dates have a day
		why, so := "the run was narrowed by --rule or --exclude", "its verdict is not about the whole tree"
		if v.AsOf != "" {
			why, so = why+", or its day (--as-of "+verdict.Visible(v.AsOf)+") had passed", so+" as of today"
		}
		all = append(all, why+"; "+so)
	}
	return all
}

// caveats are all limits of the outcome. A plain PASS has none.
func (v *view) caveats() []string {
	all := v.limits()
	if n := len(v.Coverage.NotScanned); n > 0 {
		but := count(n, "covered file") + " not scanned"
		if v.passes() {
			but += ", as --allow " + verdict.Visible(strings.Join(v.Allowed, ",")) + " accepts"
		}
		all = append(all, but)
	}
	if n := len(v.Coverage.Unparsed); n > 0 {
		all = append(all, count(n, "file")+onlyText(n))
	}
	return all
}

// onlyText says of n files that they cannot be parsed.
func onlyText(n int) string {
	return " cannot be parsed: only " + verb(n, "its", "their") + " text was checked"
}

// requiredNote names the required files that were not looked for; "" without one.
func (v *view) requiredNote() string {
	var globs []string
	for _, o := range v.Coverage.LeftOut {
		if o.Reason == verdict.LeftRequiredFile {
			globs = append(globs, `"`+clip(verdict.Visible(o.File), 200)+`"`)
		}
	}
	if len(globs) == 0 {
		return ""
	}
	return fmt.Sprintf("%s not looked for, because this scope does not have the whole tree: %s",
		count(len(globs), "required file"), firstOf(globs, 5))
}

// behindNote says that the base of a change has commits that the head does not contain; "" otherwise.
func (v *view) behindNote() string {
	n := v.Scope.Behind
	switch {
	case v.Scope.Mode != "diff" || n == 0:
		return ""
	case n < 0:
		return "this clone does not show whether the head contains all commits of " + v.Scope.Base
	}
	return fmt.Sprintf("%s of %s %s not in the head: what both do together was not checked", count(n, "commit"),
		v.Scope.Base, verb(n, "is", "are"))
}

// scopeLine is the mode, and the scope in words.
func (v *view) scopeLine() string {
	s := verdict.Visible(v.Scope.Mode)
	if words := cmp.Or(v.scope(), v.modeWords()); words != "" {
		s += ": " + words
	}
	if v.Scope.Mode == "diff" && v.Scope.HeadCommit != "" {
		s += ", head " + verdict.Visible(abbreviated(v.Scope.HeadCommit))
	}
	return s
}

// scope names the base of a change, or the scanned commit, in words; "" for other runs.
func (v *view) scope() string {
	s := &v.Scope
	base, head, how := verdict.Visible(s.Base), abbreviated(s.HeadCommit), "; chosen as "+s.Strategy
	switch {
	case s.Mode == "staged" && s.Strategy != "" && s.BaseCommit == "":
		how = " staged for the first commit"
	case s.Mode == "staged" && s.Strategy != "":
		how = fmt.Sprintf(" staged since %s (%s)", base, abbreviated(s.BaseCommit))
	case s.Mode == "diff" && (s.HeadCommit != "" || s.Strategy == verdict.Uncommitted && s.BaseCommit != ""):
		var bases []string
		for _, h := range s.MergeBases {
			bases = append(bases, abbreviated(h))
		}
		switch s.Strategy {
		case "merge-base":
			how = ""
		case verdict.Uncommitted:
			how = "; as on disk, without untracked files"
		}
		how = fmt.Sprintf(" changed since %s (%s %s%s)", base, noun(max(len(bases), 1), "merge base"),
			strings.Join(bases, ", "), how)
	case v.ofCommit():
		how = " of the commit " + head
	case s.Mode == "full" && s.HeadCommit != "":
		how = " of the whole head (" + head + how + ")"
	default:
		return ""
	}
	how = fmt.Sprintf("%s%s, %s covered", count(v.Coverage.Files, "file"), how, number(v.Coverage.Governed))
	if v.Coverage.Deleted > 0 {
		how += ", " + number(v.Coverage.Deleted) + " deleted"
	}
	return verdict.Visible(how)
}

func abbreviated(hash string) string { return hash[:min(len(hash), 7)] }

// label is a status in words; "" without a baseline.
func label(status string) string {
	switch status {
	case verdict.Introduced:
		return "new"
	case verdict.PreExisting:
		return "was there before"
	}
	return ""
}

// placeLabel marks a new place; other ones need no mark beside it.
func placeLabel(status string) string {
	if status == verdict.Introduced {
		return label(status)
	}
	return ""
}

// newFirst is 0 for a new violation and 1 for others.
func newFirst(v *verdict.Violation) int {
	if v.Status == verdict.Introduced {
		return 0
	}
	return 1
}

func newWords(n int) string {
	if n == 0 {
		return "none new"
	}
	return number(n) + " new"
}

// modeWords describes the files of a mode; "" for an unknown one.
func (v *view) modeWords() string {
	if v.Scope.Mode == "full" && v.Scope.Strategy != "" {
		return "every file of the commit"
	}
	return map[string]string{
		"full":    "every file of the directory",
		"tracked": "the files that git's index names",
		"diff":    "the files that the head changes",
		"staged":  "the files that the next commit changes",
		"files":   "the files that were named",
		"stdin":   "one file, from standard input",
	}[v.Scope.Mode]
}

// reasonWords explains a reason for an omitted file (see docs/verdict.md); "" if it needs no explanation.
func reasonWords(reason string) string {
	return map[string]string{
		"git":                    "git's own directory",
		"rules":                  "a rule file in use",
		"output":                 "written by this run",
		"earlier-output":         "written by another run, and not tracked by git",
		verdict.LeftRequiredFile: "not looked for: this scope does not have the whole tree",
		"special-file":           "a FIFO, socket or device",
		"symlink":                "its target is not covered by the same rules; the target string was checked",
		"lfs-pointer":            "a Git LFS pointer; its own text was checked",
		"encoding":               "git checks it out in an unknown encoding; its blob was checked",
		"encrypted":              "encrypted with git-crypt; its own bytes were checked",
		"submodule":              "its files are not in this clone",
		"unreadable":             "it could not be read",
		"changed":                "it changed while it was read",
		"limit":                  "longer than --max-file-bytes, or over a parser limit",
		"unparsable":             "it cannot be parsed; its text was checked",
		"unknown-format":         "its name does not say its format; its text was checked",
		"internal":               "a bug in policyscan",
		"not-reached":            "the run ended before",
		"case-collision":         "another tracked file replaces it on disk",
		"absent":                 "git tracks it, but it is not on disk",
	}[reason]
}

// nextStep is the advice for an error whose message has none.
func nextStep(e *verdict.Error) string {
	if strings.Contains(e.Message, "; ") {
		return ""
	}
	return map[string]string{
		code.Read: "fix permissions or disk", code.FilesFrom: "fix the list", code.Output: "fix where the output goes",
	}[e.Code]
}

// unparsed are the files whose text only was checked.
func (v *view) unparsed() []verdict.Omission {
	var all []verdict.Omission
	for _, file := range v.Coverage.Unparsed {
		all = append(all, verdict.Omission{File: file, Reason: "unparsable"})
	}
	return all
}

func (v *view) bundle(i int) string {
	b := &v.Policy[i]
	s := count(b.Boundaries, "boundary rule") + ", " + count(b.Invariants, "invariant rule")
	if b.Deprecated > 0 {
		s += fmt.Sprintf(", %d deprecated and not enforced", b.Deprecated)
	}
	if b.Directory != "" {
		s += ", for " + verdict.Visible(b.Directory)
	}
	return s + verdict.Visible(", from "+b.From+" (sha256 "+b.SHA256[:min(len(b.SHA256), 12)]+")")
}
