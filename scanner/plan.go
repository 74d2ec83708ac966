package scanner

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A plan takes what is found, and what is not. All is put in order at the end, so that the
// order of the workers' work does not show. A file that holds nothing leaves nothing behind
// but a count.
type plan struct {
	*scan
	allowed []string

	mu       sync.Mutex // of what follows
	over     bool       // the verdict was written; what comes now comes too late
	engines  *engines
	active   map[*job]bool // what the workers are at
	gone     int           // files that were none of the tree after all
	coverage verdict.Coverage
	broken   []brokenRule
	errors   []verdict.Error
}

// A job is a governed file, and what became of it.
type job struct {
	entry
	*selection
	result
}

// A result is what became of a job. Until it is reached, scanned is false and reason is
// "".
type result struct {
	reached bool
	scanned bool
	gone    bool   // it is no file of the tree after all
	reason  string // why not, a word of the verdict
	bytes   int64
	finds   []*find
	err     *verdict.Error
}

func newPlan(s *scan) *plan {
	p := &plan{scan: s, engines: newEngines(s.bundle), active: map[*job]bool{}, errors: slices.Clone(s.Errors)}
	p.allowed = slices.Compact(slices.Sorted(slices.Values(s.Allow)))
	return p
}

func (p *plan) allows(reason string) bool { return slices.Contains(p.allowed, reason) }

// fail notes what could not be decided, unless it is knowingly accepted.
func (p *plan) fail(e verdict.Error) {
	if e.Code == verdict.Empty && p.allows(AllowEmpty) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, e)
}

// gitDir is, in the root, git's own and no part of the tree.
const gitDir = ".git"

// leaveOut reports whether a path is no part of the tree, and notes it.
func (p *plan) leaveOut(path string) bool {
	reason, out := p.LeaveOut[path]
	if path == gitDir || strings.HasPrefix(path, gitDir+"/") {
		path, reason, out = gitDir, "git", true
	}
	if out {
		p.leftOut(path, reason)
	}
	return out
}

// inUse reports whether a leaf of git's is a rule file that judges: that content, not only
// that path, where a change could put anything.
func (p *plan) inUse(path string, leaf repo.Leaf) bool {
	out := (leaf.Mode == repo.File || leaf.Mode == repo.Executable) && slices.Contains(p.InUse, RuleFile{path, leaf.Hash})
	if out {
		p.leftOut(path, "rules")
	}
	return out
}

func (p *plan) leftOut(path, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := verdict.Omission{File: verdict.Path(path), Reason: reason}
	if !slices.Contains(p.coverage.LeftOut, o) {
		p.coverage.LeftOut = append(p.coverage.LeftOut, o)
	}
}

// deletes notes a file that the change deletes.
func (p *plan) deletes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coverage.Deleted++
}

// begin makes j the job of a file; false if it is too late.
func (p *plan) begin(j *job, e entry, selected []int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	*j = job{entry: e, selection: p.engines.selection(selected)}
	p.active[j] = true
	return true
}

// end takes what became of a job that was reached.
func (p *plan) end(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	delete(p.active, j)
	if j.gone {
		p.gone++
		return
	}
	p.coverage.Governed++
	j.selection.files++
	if j.scanned {
		p.coverage.Scanned++
		p.coverage.Bytes += j.bytes
	} else {
		p.coverage.NotScanned = append(p.coverage.NotScanned, verdict.Omission{File: verdict.Path(j.Path), Reason: j.reason})
	}
	if j.err != nil {
		p.errors = append(p.errors, *j.err)
	}
	p.broken = j.judge(p.broken, p.bundle, j.finds)
}

// complete ends the listing: what the tree as a whole lacks is an error.
func (p *plan) complete() {
	if p.empty() && len(p.errors) == 0 {
		p.fail(verdict.Error{Code: verdict.Empty, Message: "there is no file to scan; check the path, or accept an empty tree with --allow empty"})
	}
	if p.coverage.Governed == 0 && p.RequireGoverned {
		p.fail(verdict.Error{Code: verdict.NoGoverned, Message: "no rule selects any file of this tree, and --require-governed is set; check the path and the rules' globs"})
	}
}

// empty reports whether the tree should have had files and has none. A change can
// leave nothing to scan, and a list can name rule files alone.
func (p *plan) empty() bool {
	if p.Progress.Listed.Load() > 0 {
		return false
	}
	switch p.tree.Scope().Mode {
	case "full", "tracked":
		return true
	case "files":
		return len(p.coverage.LeftOut) == 0
	}
	return false
}

// verdict puts together what was found.
func (p *plan) verdict() *verdict.Verdict {
	v := verdict.New(p.Version)
	v.Scope = p.tree.Scope()
	v.Allowed = p.allowed
	v.Partial = p.Partial || p.Exclude != nil
	if v.Partial && !p.allows(AllowPartial) {
		p.fail(verdict.Error{Code: verdict.Partial, Message: "the run was narrowed by --rule or --exclude, so it cannot pass; run it whole, or accept it with --allow partial"})
	}
	v.Policy = p.policies

	p.mu.Lock() // a worker may still hang in a read
	defer p.mu.Unlock()
	p.over = true
	for j := range p.active { // the error is the cause of the scan's end
		p.coverage.Governed++
		j.selection.files++
		p.coverage.NotScanned = append(p.coverage.NotScanned, verdict.Omission{File: verdict.Path(j.Path), Reason: "not-reached"})
	}
	p.coverage.Files = int(p.Progress.Listed.Load()) - p.gone
	b := p.bundle
	sortBroken(p.broken)
	for i := range p.broken {
		v.Violations = append(v.Violations, p.broken[i].violation(b))
	}
	files := p.engines.files()
	for i := range b.Rules {
		v.Rules = append(v.Rules, describe(&b.Rules[i], p.from[i], files[i]))
	}
	byFile := func(a, b verdict.Omission) int { return cmp.Compare(a.File, b.File) }
	slices.SortFunc(p.coverage.LeftOut, byFile)
	slices.SortFunc(p.coverage.NotScanned, byFile)
	v.Coverage = p.coverage
	slices.SortFunc(p.errors, func(a, b verdict.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	v.Errors = p.errors
	v.Decide()
	return v
}

func describe(r *rules.Rule, from string, files int) verdict.Rule {
	return verdict.Rule{
		ID: r.ID, Type: string(r.Type), From: from, Title: r.Title,
		Message: r.Message, Remediation: r.Remediation, DocsURL: r.DocsURL,
		Owner: r.Owner, Severity: r.Severity, Tags: r.Tags, Files: files,
	}
}
