package scanner

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A collector gathers what the workers find, count and cannot decide. All is put in order at the end, so that the
// order of the workers' work does not show.
type collector struct {
	*scan
	allowed []string
	engines *engines
	keys    *keyJudge

	required *requiredFiles // nil: none is looked for
	witness  *witness       // nil: the whole tree is scanned
	pulse    *pulse         // nil: no one asks
	past     *past          // nil: nothing is compared
	allower  *allower       // nil: nothing is allowed

	mu       sync.Mutex // of what follows
	over     bool       // the verdict was written; what comes now comes too late
	tallies  []*tally
	coverage verdict.Coverage
	errors   []verdict.Error
}

func newCollector(s *scan) *collector {
	p := &collector{scan: s, engines: newEngines(s.Bundle), errors: slices.Clone(s.Errors)}
	p.keys = &keyJudge{bundle: s.Bundle, budget: newBudget()}
	p.required = newRequiredFiles(s)
	p.past = newPast(p)
	p.allower = newAllower(p)
	p.allowed = slices.Compact(slices.Sorted(slices.Values(s.Allow)))
	return p
}

// tally returns the tally of a new worker.
func (p *collector) tally() *tally {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &tally{over: p.over, witness: p.witness, pulse: p.pulse, chosen: map[string]*chosen{}}
	p.tallies = append(p.tallies, t)
	p.Progress.watch(t)
	return t
}

func (p *collector) allows(reason string) bool { return slices.Contains(p.allowed, reason) }

// fail notes what could not be decided, unless it is explicitly allowed.
func (p *collector) fail(e verdict.Error) {
	if e.Code == code.Empty && p.allows(AllowEmpty) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, e)
}

// gitDir is, in the root, git's own and no part of the tree.
const gitDir = ".git"

// leaveOut reports whether a path is not part of the tree, and notes it.
func (p *collector) leaveOut(path string) bool {
	if !p.witness.leadsTo(path) {
		return true
	}
	reason, out := p.LeaveOut[path]
	if path == gitDir || strings.HasPrefix(path, gitDir+"/") {
		path, reason, out = gitDir, "git", true
	}
	if out {
		p.leftOut(path, reason)
	}
	return out
}

// temporary reports whether a path is one from which another run moves its verdict to the
// place of this one's.
func (p *collector) temporary(path string) bool {
	if !strings.HasSuffix(path, ".tmp") { // as nearly all that is listed
		return false
	}
	for out, reason := range p.LeaveOut {
		if reason == LeftOutput && disk.Temporary(path, out) {
			return true
		}
	}
	return false
}

// inUse reports whether a leaf of git's is a rule file that judges: that content, not only
// that path, where a change could put anything.
func (p *collector) inUse(path string, leaf repo.Leaf) bool {
	out := p.judges(path, leaf)
	if out {
		p.leftOut(path, "rules")
	}
	return out
}

// judges is inUse without a note.
func (p *collector) judges(path string, leaf repo.Leaf) bool {
	return isFile(leaf) && slices.Contains(p.InUse, judges.RuleFile{Path: path, Blob: leaf.Hash})
}

func (p *collector) leftOut(path, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := verdict.Omission{File: verdict.Path(path), Reason: reason}
	if !slices.Contains(p.coverage.LeftOut, o) {
		p.coverage.LeftOut = append(p.coverage.LeftOut, o)
	}
}

// deletes notes a file that the change deletes.
func (p *collector) deletes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coverage.Deleted++
}

// complete ends the listing: what the tree as a whole lacks is an error.
func (p *collector) complete() {
	if p.empty() && len(p.errors) == 0 {
		p.fail(verdict.Error{Code: code.Empty, Message: "there is no file to scan; " +
			"check the path, or allow an empty tree with --allow empty"})
	}
	if _, governed, _ := p.Progress.Files(); governed == 0 && p.RequireGoverned {
		p.fail(verdict.Error{Code: code.NoGoverned, Message: "no file of this tree is covered by a rule, " +
			"and --require-governed is set; check the path and the rules' globs"})
	}
}

// empty reports whether the tree should have had files and has none. A change can
// leave nothing to scan, and a list or --stdin-path can name rule files or the output alone: what is git's own is no
// file.
func (p *collector) empty() bool {
	if listed, _, _ := p.Progress.Files(); listed > 0 {
		return false
	}
	switch p.tree.Scope().Mode {
	case "full", "tracked":
		return true
	case "files", "stdin":
		return !slices.ContainsFunc(p.coverage.LeftOut, func(o verdict.Omission) bool { return o.Reason != "git" })
	}
	return false
}

// verdict puts together what was found.
func (p *collector) verdict() *verdict.Verdict {
	v := verdict.New(p.Version)
	v.Scope = p.tree.Scope()
	v.Allowed = p.allowed
	v.Partial = p.Partial || p.Exclude != nil || p.earlier()
	if v.Partial && !p.allows(AllowPartial) {
		p.fail(p.isPartial())
	}
	v.Policy, v.PolicyChanges, v.AsOf = p.Policies, p.Changes(), p.asOf()
	v.EndingAllowances = p.endingAllowances()
	taken := make([]int, p.Takers())

	p.mu.Lock() // a worker may still hang in a read
	defer p.mu.Unlock()
	p.over = true
	b := p.Bundle
	files := make([]int, len(b.Rules)) // that each rule selects
	var broken []brokenRule
	for _, t := range p.tallies {
		t.close(p.Bundle)
		broken = append(broken, t.broken...)
		p.errors = append(p.errors, t.errors...)
		p.coverage.Files += t.listed
		p.coverage.Governed += t.governed
		p.coverage.Scanned += t.coverage.Scanned
		p.coverage.Bytes += t.coverage.Bytes
		p.coverage.NotScanned = append(p.coverage.NotScanned, t.coverage.NotScanned...)
		p.coverage.Unparsed = append(p.coverage.Unparsed, t.coverage.Unparsed...)
		for i, n := range t.taken {
			taken[i] += n
		}
		for _, c := range t.chosen {
			for _, r := range c.rules {
				files[r] += c.files
			}
		}
	}
	p.Count(v.Policy, taken)
	p.coverage.LeftOut = append(p.coverage.LeftOut, notLookedFor(p.scan)...)
	broken = p.required.missing(broken)
	p.past.end(broken)
	sortBroken(broken)
	for i := range broken {
		br := &broken[i]
		violation := br.violation(b)
		violation.Note = joinNotes(br.note, p.Note(br.rule, br.ask, br.path))
		signed, refused := p.allower.signed(br)
		if signed != nil {
			v.AllowedViolations = append(v.AllowedViolations, verdict.AllowedViolation{
				Violation: violation, Allowance: signedAs(signed),
			})
			continue
		}
		violation.Note = joinNotes(violation.Note, refused)
		v.Violations = append(v.Violations, violation)
	}
	for i := range b.Rules {
		r := &b.Rules[i]
		if len(r.ForbiddenFiles) > 0 { // which asks for the paths of all
			files[i] = max(files[i], p.coverage.Files)
		}
		if len(r.RequiredFiles) > 0 {
			files[i] = max(files[i], p.required.lookedAt(p.coverage.Files))
		}
		v.Rules = append(v.Rules, describe(r, p.From[i], files[i]))
	}
	byFile := func(a, b verdict.Omission) int { return cmp.Compare(a.File, b.File) }
	slices.SortFunc(p.coverage.LeftOut, byFile)
	slices.SortFunc(p.coverage.NotScanned, byFile)
	slices.Sort(p.coverage.Unparsed)
	v.Coverage = p.coverage
	slices.SortFunc(p.errors, func(a, b verdict.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	v.Errors = p.errors
	v.Decide()
	return v
}

// isPartial is the error of a partial run.
func (p *collector) isPartial() verdict.Error {
	flags, them := "--rule or --exclude makes", "them"
	switch {
	case p.earlier() && (p.Partial || p.Exclude != nil):
		flags = "--rule or --exclude, and a day before today (--as-of), make"
	case p.earlier():
		flags, them = "a day before today (--as-of) makes", "it"
	}
	return verdict.Error{Code: code.Partial, Message: flags + " this a partial run, " +
		"which cannot pass; run it without " + them + ", or allow it with --allow partial"}
}

// found returns the violations of all files that were listed, and whether a file was not checked completely. All
// workers have ended.
func (p *collector) found() (broken []brokenRule, incomplete func(path string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := map[string]bool{}
	add := func(errors []verdict.Error) {
		for i := range errors {
			open[errors[i].File] = true
		}
	}
	add(p.errors)
	for _, t := range p.tallies {
		t.mu.Lock()
		broken = append(broken, t.broken...)
		add(t.errors)
		for _, o := range t.coverage.NotScanned {
			open[o.File] = true
		}
		t.mu.Unlock()
	}
	return broken, func(path string) bool { return open[verdict.Path(path)] }
}

// joinNotes makes one note of two, either of which may be "".
func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

func describe(r *rules.Rule, from string, files int) verdict.Rule {
	return verdict.Rule{
		ID: r.ID, Type: string(r.Type), From: from, Title: r.Title,
		Message: r.Message, Remediation: r.Remediation, DocsURL: r.DocsURL,
		Owner: r.Owner, Severity: r.Severity, Tags: r.Tags, Files: files,
	}
}
