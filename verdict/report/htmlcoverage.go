package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// headline says what came of the run, how much it looked at, and what limits that.
func (p *htmlPage) headline(v *verdict.Verdict) {
	c := &v.Coverage
	looked := fmt.Sprintf("%s of %s checked against %s, each in full", grouped(int64(c.Scanned)),
		some(c.Governed, "covered file"), some(len(v.Rules), "rule"))
	found := "no violation"
	if n := len(v.Violations); n > 0 {
		found = fmt.Sprintf("%s of %s%s", some(n, "violation"), some(len(p.RuleBars), "rule"), inFiles(v, some)) +
			newSuffix(v)
	}
	switch {
	case !v.Complete && len(v.Violations) > 0:
		p.Tone, p.Headline = "undecided", found+", and not all could be decided"
	case !v.Complete:
		p.Tone, p.Headline = "undecided", "could not decide"
	case v.Verdict != verdict.Pass && len(v.Violations) == 0:
		p.Tone, p.Headline = "fail", "no rule was enforced"
	case v.Verdict != verdict.Pass:
		p.Tone, p.Headline = "fail", found
	case c.Scanned == 0 && !onlyPaths(v):
		p.Tone, p.Headline = "hollow", "nothing was scanned"
	default:
		p.Tone, p.Headline = "pass", found+allowedSuffix(v)
	}
	p.Title = p.Outcome + ": " + p.Headline + " (policyscan)"
	if p.Tone == "undecided" {
		p.Title = "INCOMPLETE " + p.Title
	}

	p.Figures = []htmlFigure{
		{"violations", grouped(int64(len(v.Violations)))},
		{"rules", grouped(int64(len(v.Rules)))},
		{"files in the tree", grouped(int64(c.Files))},
		{"covered", grouped(int64(c.Governed))},
		{"scanned", grouped(int64(c.Scanned))},
		{"bytes read", grouped(c.Bytes)},
	}
	if p.Allowed > 0 {
		p.Figures = slices.Insert(p.Figures, 1, htmlFigure{"allowed", grouped(int64(p.Allowed))})
	}
	if n := len(v.Errors); n > 0 {
		p.Figures = append([]htmlFigure{{"not decided", grouped(int64(n))}}, p.Figures...)
	}

	note := func(s string) { p.Notes = append(p.Notes, s) }
	switch {
	case c.Files > 0 && coversNothing(v):
		note("No file is covered by a rule: no rule selects any file of this tree.")
	case c.Files == 0 && v.Verdict == verdict.Pass:
		note("There was nothing to scan.")
	case c.Governed > 0:
		note(looked + ".")
	case onlyPaths(v):
		note("Rules checked the paths of " + some(c.Files, "file") + "; none of the files is covered by a rule.")
	}
	p.Judged = judged(v)
	unused := 0
	for i := range v.Rules {
		if v.Rules[i].Files == 0 {
			unused++
		}
	}
	if unused > 0 && !coversNothing(v) {
		note(fmt.Sprintf("%s of %s %s no file.", grouped(int64(unused)), some(len(v.Rules), "rule"), selects(unused)))
	}
	if n := len(v.PolicyChanges); n > 0 {
		note("The change alters the policy itself, in " + some(n, "place") + ": see below.")
	}
	if text := behindNote(v); text != "" {
		note(full(verdict.Visible(sentence(text))))
	}
	if text := notJudgedNote(v); text != "" {
		note(full(text))
	}
	if v.Partial {
		why, so := partialNote(v)
		note(full(verdict.Visible(sentence(why + ": " + so))))
	}
	if len(v.Allowed) > 0 {
		note("Explicitly allowed with --allow: " + verdict.Visible(strings.Join(v.Allowed, ", ")) + ".")
	}
}

// judged says in one sentence which files were checked with which bundles.
func judged(v *verdict.Verdict) string {
	what := verdict.Visible(compared(v))
	if what == "" {
		what = scopeWords(&v.Scope)
	}
	var by []string
	for i := range v.Policy {
		b := &v.Policy[i]
		by = append(by, fmt.Sprintf("%s (%s)", verdict.Visible(abbreviated(b.SHA256)), verdict.Visible(b.From)))
	}
	switch {
	case what == "" && len(by) == 0:
		return ""
	case len(by) == 0:
		return "Checked: " + what + ", with no bundle: none could be loaded."
	}
	return "Checked: " + what + ", with the bundle " + strings.Join(by, " and the bundle ") + "."
}

// coverage says what was checked, with which bundles, and what was not.
func (p *htmlPage) coverage(v *verdict.Verdict) {
	s := &v.Scope
	fact := func(name string, code bool, values ...string) {
		var all []string
		for _, value := range values {
			if value != "" {
				all = append(all, verdict.Visible(value))
			}
		}
		if len(all) > 0 {
			p.Scope = append(p.Scope, htmlFact{name, all, code})
		}
	}
	scope := s.Mode
	if words := scopeWords(s); words != "" {
		scope += ": " + words
	}
	fact("Scope", false, scope)
	fact("Base", true, s.Base)
	fact("Base commit", true, s.BaseCommit)
	name := "Merge base"
	if len(s.MergeBases) > 1 {
		name += "s"
	}
	fact(name, true, s.MergeBases...)
	fact("Head commit", true, s.HeadCommit)
	fact("Found by", true, s.Strategy)
	c := &v.Coverage
	fact("Files", false,
		fmt.Sprintf("%s in the tree, %s covered, %s scanned", grouped(int64(c.Files)),
			grouped(int64(c.Governed)), grouped(int64(c.Scanned))))
	fact("Bytes", false, grouped(c.Bytes)+" read")
	if c.Deleted > 0 {
		fact("Deleted", false, some(c.Deleted, "file"))
	}
	fact("Accepted", true, v.Allowed...)

	for i := range v.Policy {
		b := &v.Policy[i]
		p.Policy = append(p.Policy, htmlPolicy{
			From: verdict.Visible(b.From), About: bundleInWords(b.From), Commit: verdict.Visible(b.Commit),
			SHA256: verdict.Visible(b.SHA256),
			Counts: fmt.Sprintf("boundaries: %d, invariants: %d, deprecated: %d (counted, never enforced)",
				b.Boundaries, b.Invariants, b.Deprecated),
		})
	}
	p.Changes = policyChanges(v)
	for _, o := range c.LeftOut {
		p.LeftOut = append(p.LeftOut,
			htmlOmission{verdict.Visible(o.File), verdict.Visible(o.Reason), omissionInWords(o.Reason)})
	}
	for _, o := range unparsed(c) {
		p.Unparsed = append(p.Unparsed, htmlOmission{verdict.Visible(o.File), o.Reason, omissionInWords(o.Reason)})
	}
	for _, o := range c.NotScanned {
		p.NotScanned = append(p.NotScanned,
			htmlOmission{verdict.Visible(o.File), verdict.Visible(o.Reason), omissionInWords(o.Reason)})
	}
}

func bundleInWords(from string) string {
	switch from {
	case "disk":
		return "a folder, as it was"
	case "builtin":
		return "the built-in starter bundle"
	case "base":
		return "from the base"
	case "head":
		return "from the head"
	case "index":
		return "from the next commit"
	case "bootstrap":
		return "the change adds the first bundle"
	case "commit":
		return "from a commit, with --policy-ref"
	}
	return ""
}

// omissionInWords explains a reason of docs/verdict.md.
func omissionInWords(reason string) string {
	switch reason {
	case "git":
		return "git's own folder"
	case "rules":
		return "a rule file in use"
	case "output":
		return "written by this run"
	case verdict.LeftRequiredFile:
		return "a required file that was not looked for: this scope does not have the whole tree"
	case "special-file":
		return "a FIFO, socket or device"
	case "symlink":
		return "a link to what the rules treat differently; its target string was checked"
	case "lfs-pointer":
		return "a Git LFS pointer; its own text was checked"
	case "encoding":
		return "git checks it out in an unknown encoding; its blob was checked"
	case "encrypted":
		return "git-crypt has encrypted it; its own bytes were checked"
	case "submodule":
		return "its files are not here"
	case "unreadable":
		return "it could not be read"
	case "changed":
		return "it changed while it was read"
	case "limit":
		return "over a limit: the error says which"
	case "unparsable":
		return "it cannot be parsed; its text was checked"
	case "unknown-format":
		return "its name does not say its format; its text was checked"
	case "internal":
		return "a bug in policyscan"
	case "not-reached":
		return "the run ended before"
	case "case-collision":
		return "another tracked file is in its place on disk"
	case "absent":
		return "git tracks it, and it is not on disk"
	}
	return ""
}
