package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A view is a verdict as all reports show it: what several of them say is derived here, once. Its texts are safe to
// print, but those of the verdict itself.
type view struct {
	*verdict.Verdict
	ruleOf     []int                       // of each violation, the index in Rules; -1: of none
	groups     []*ruleGroup                // rules with violations, those with new ones first
	passed     []*verdict.Rule             // the others
	undecided  []verdict.Error             // no report of a FAIL looks clean: that there is no rule is one, too
	newAllowed []*verdict.AllowedViolation // new, but an allowance permits them
	unused     []*verdict.Rule             // select no file
	files      int                         // with violations
	comparable bool                        // to something before: new violations are told from existing ones
}

func newView(v *verdict.Verdict) *view {
	w := &view{Verdict: v, ruleOf: ruleIndexes(v), undecided: v.Errors}
	w.groups, w.passed = ruleGroups(v, w.ruleOf)
	if len(v.Errors) == 0 && len(v.Violations) == 0 && v.Verdict != verdict.Pass {
		w.undecided = []verdict.Error{{Code: code.NoRules, Message: "no rule was enforced, so there is no PASS"}}
	}
	for i := range v.AllowedViolations {
		if a := &v.AllowedViolations[i]; a.Status == verdict.Introduced {
			w.newAllowed = append(w.newAllowed, a)
		}
	}
	for i := range v.Rules {
		if r := &v.Rules[i]; r.Files == 0 {
			w.unused = append(w.unused, r)
		}
	}
	files := map[string]bool{}
	for i := range v.Violations {
		if file := v.Violations[i].File; file != "" { // else it is about the tree
			files[file] = true
		}
	}
	w.files = len(files)
	w.comparable = v.Scope.Mode == "diff" || v.Scope.Mode == "staged"
	return w
}

func (v *view) passes() bool { return v.Verdict.Verdict == verdict.Pass }

// rule is that of a violation; nil if the verdict does not list it.
func (v *view) rule(violation int) *verdict.Rule {
	if i := v.ruleOf[violation]; i >= 0 {
		return &v.Rules[i]
	}
	return nil
}

// counts says how many violations of how many rules there are in how many files, and how many are new. words is [count]
// or [some].
func (v *view) counts(words func(n int, thing string) string) string {
	ids := map[string]bool{}
	for _, g := range v.groups {
		ids[g.rule.ID] = true
	}
	s := words(len(v.Violations), "violation") + " of " + words(len(ids), "rule")
	if v.files > 0 {
		s += " in " + words(v.files, "file")
	}
	return s + v.newSuffix()
}

// newSuffix is how many violations are new, to be said after how many there are; "" where nothing tells.
func (v *view) newSuffix() string {
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

// summaryLine is the outcome and what it rests on, in one line.
func (v *view) summaryLine() string {
	found := "no violation"
	if n := len(v.Violations); n > 0 {
		found = count(n, "violation") + v.newSuffix()
	}
	found += v.allowedSuffix()
	if n := len(v.undecided); n > 0 {
		found += ", could not decide (" + count(n, "error") + ")"
	}
	c := &v.Coverage
	return fmt.Sprintf("%s: %s; %s, %d covered, %d scanned, %s", v.Verdict.Verdict, found, count(c.Files, "file"),
		c.Governed, c.Scanned, count(len(v.Rules), "rule"))
}

// coversNothing reports whether no rule had anything to look at: none covers a file, nor is any about paths.
func (v *view) coversNothing() bool { return len(v.unused) == len(v.Rules) && v.Coverage.Governed == 0 }

// onlyPaths reports whether rules had files to look at, and of these no more than the paths.
func (v *view) onlyPaths() bool {
	return v.Coverage.Governed == 0 && v.Coverage.Files > 0 && !v.coversNothing()
}

// ofWholeTree reports whether the run was about a tree and not about a choice of its files, of which it is usual that
// no rule selects any.
func (v *view) ofWholeTree() bool { return v.Scope.Mode == "full" || v.Scope.Mode == "tracked" }

// ofCommit reports whether the run was about all files of a commit that was named (--rev), if the commit is known.
func (v *view) ofCommit() bool {
	return v.Scope.Mode == "full" && v.Scope.Strategy == "rev" && v.Scope.HeadCommit != ""
}

// caveats says what limits the outcome: that nothing was looked at, or not all. A PASS without a but has none.
func (v *view) caveats() []string {
	var all []string
	switch c := &v.Coverage; {
	case c.Files == 0:
		all = append(all, "there was nothing to scan")
	case v.coversNothing():
		all = append(all, fmt.Sprintf("no rule selects any of the files (%d)", c.Files))
	case c.Governed > 0 && c.Scanned == 0:
		all = append(all, "no covered file was scanned")
	}
	if n := len(v.Coverage.NotScanned); n > 0 {
		but := count(n, "covered file") + " not scanned"
		if v.passes() {
			but += ", as --allow " + verdict.Visible(strings.Join(v.Allowed, ",")) + " accepts"
		}
		all = append(all, but)
	}
	all = with(with(all, v.unparsedNote()), v.requiredNote())
	if v.Partial {
		why, _ := v.partialNote()
		all = append(all, why)
	}
	return all
}

// partialNote says why a run was partial, as far as its verdict shows that, and what follows. Only one of bundles with
// dates can be of a day that had passed.
func (v *view) partialNote() (why, so string) {
	why, so = "the run was narrowed by --rule or --exclude", "its verdict is not about the whole tree"
	if v.AsOf == "" {
		return why, so
	}
	return why + ", or its day (--as-of " + v.AsOf + ") had passed", so + " as of today"
}

// unparsedNote says of how many files rules had the text alone checked; "" if of none.
func (v *view) unparsedNote() string {
	switch n := len(v.Coverage.Unparsed); n {
	case 0:
		return ""
	case 1:
		return "1 file cannot be parsed: only its text was checked"
	default:
		return count(n, "file") + " cannot be parsed: only their text was checked"
	}
}

// unparsed are these files.
func (v *view) unparsed() []verdict.Omission {
	var all []verdict.Omission
	for _, file := range v.Coverage.Unparsed {
		all = append(all, verdict.Omission{File: file, Reason: "unparsable"})
	}
	return all
}

// requiredNote says which required files the run did not look for; "" if there are none.
func (v *view) requiredNote() string {
	const most = 5
	var globs []string
	for _, o := range v.Coverage.LeftOut {
		if o.Reason == verdict.LeftRequiredFile {
			globs = append(globs, `"`+clip(verdict.Visible(o.File), 200)+`"`)
		}
	}
	n := len(globs)
	if n == 0 {
		return ""
	}
	if n > most {
		globs = append(globs[:most], ellipsis)
	}
	return fmt.Sprintf("%s not looked for, because this scope does not have the whole tree: %s",
		count(n, "required file"), strings.Join(globs, ", "))
}

// behindNote says that the base of a change has commits that the head does not contain; "" if it has none.
func (v *view) behindNote() string {
	n, verb := v.Scope.Behind, "are"
	switch {
	case v.Scope.Mode != "diff" || n == 0:
		return ""
	case n < 0:
		return "this clone does not show whether the head contains all commits of " + v.Scope.Base
	case n == 1:
		verb = "is"
	}
	return fmt.Sprintf("%s of %s %s not in the head: what both do together was not checked", count(n, "commit"),
		v.Scope.Base, verb)
}

// scopeWords is the scope in words, without what it was compared with; "" for a mode that no scan has.
func (v *view) scopeWords() string {
	switch s := &v.Scope; s.Mode {
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

// compared says in words what a change was judged against; "" if there was none.
func (v *view) compared() string {
	s := &v.Scope
	base, head, how := verdict.Visible(s.Base), abbreviated(s.HeadCommit), "; chosen as "+s.Strategy
	switch {
	case s.Mode == "staged" && s.Strategy != "" && s.BaseCommit == "":
		how = " staged for the first commit"
	case s.Mode == "staged" && s.Strategy != "":
		how = fmt.Sprintf(" staged since %s (%s)", base, abbreviated(s.BaseCommit))
	case s.Mode == "diff" && s.HeadCommit != "":
		var bases []string
		for _, h := range s.MergeBases {
			bases = append(bases, abbreviated(h))
		}
		if s.Strategy == "merge-base" {
			how = ""
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
	how = fmt.Sprintf("%s%s, %d covered", count(v.Coverage.Files, "file"), how, v.Coverage.Governed)
	if v.Coverage.Deleted > 0 {
		how += fmt.Sprintf(", %d deleted", v.Coverage.Deleted)
	}
	return how
}

func abbreviated(hash string) string { return hash[:min(len(hash), 7)] }

// label says in words whether something is new; "" where there was nothing to compare with.
func label(status string) string {
	switch status {
	case verdict.Introduced:
		return "new"
	case verdict.PreExisting:
		return "was there before"
	}
	return ""
}

// newFirst is 0 of a new violation, 1 of others.
func newFirst(v *verdict.Violation) int {
	if v.Status == verdict.Introduced {
		return 0
	}
	return 1
}

// sortNewFirst puts the new ones first, and leaves the order within both.
func sortNewFirst(all []*verdict.Violation) {
	slices.SortStableFunc(all, func(a, b *verdict.Violation) int { return newFirst(a) - newFirst(b) })
}

// newWords is how many of several are new.
func newWords(n int) string {
	if n == 0 {
		return "none new"
	}
	return strconv.Itoa(n) + " new"
}
