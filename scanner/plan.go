package scanner

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A plan is what is to be examined, and takes what was found. Each governed file has a slot
// of its own for that, and all is put in order at the end, so that the order of the workers'
// work does not show.
type plan struct {
	*scan
	allowed []string

	mu       sync.Mutex // of what follows
	over     bool       // the verdict was written; what comes now comes too late
	jobs     []*job
	slab     []job
	engines  *engines
	coverage verdict.Coverage
	errors   []verdict.Error
}

// A job is a governed file, and what became of it.
type job struct {
	entry
	*selection
	slot
}

// A slot is what became of a job. It is read only after done was set.
type slot struct {
	done    atomic.Bool
	scanned bool
	gone    bool   // it is no file of the tree after all
	reason  string // why not, a word of the verdict
	bytes   int64
	finds   []*find
	err     *verdict.Error
}

func newPlan(s *scan) *plan {
	p := &plan{scan: s, engines: newEngines(s.bundle), errors: slices.Clone(s.Errors)}
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

// add adds a job to the plan; nil if it is too late.
func (p *plan) add(e entry, selected []int) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil
	}
	if len(p.slab) == 0 {
		p.slab = make([]job, 64) // one by one they are a burden to the collector
	}
	j := &p.slab[0]
	p.slab = p.slab[1:]
	j.entry, j.selection = e, p.engines.selection(selected)
	p.jobs = append(p.jobs, j)
	return j
}

// complete ends the listing: what the tree as a whole lacks is an error.
func (p *plan) complete() {
	if p.empty() && len(p.errors) == 0 {
		p.fail(verdict.Error{Code: verdict.Empty, Message: "there is no file to scan; check the path, or accept an empty tree with --allow empty"})
	}
	if len(p.jobs) == 0 && p.RequireGoverned {
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

// verdict puts together what the slots hold.
func (p *plan) verdict() *verdict.Verdict {
	v := verdict.New(p.Version)
	v.Scope = p.tree.Scope()
	v.Allowed = p.allowed
	v.Partial = p.Partial || p.Exclude != nil
	if v.Partial && !p.allows(AllowPartial) {
		p.fail(verdict.Error{Code: verdict.Partial, Message: "the run was narrowed by --rule or --exclude, so it cannot pass; run it whole, or accept it with --allow partial"})
	}
	b := p.bundle
	v.Policy = p.policies
	p.mu.Lock() // a worker may still hang in a read
	p.over = true
	jobs, errors := p.jobs, slices.Clone(p.errors)
	coverage := p.coverage
	coverage.LeftOut = slices.Clone(coverage.LeftOut)
	p.mu.Unlock()
	coverage.Files = int(p.Progress.Listed.Load())

	files := make([]int, len(b.Rules)) // selected by each rule
	var broken []brokenRule
	for _, j := range jobs {
		s := &j.slot
		if !s.done.Load() {
			s = &slot{reason: "not-reached"} // the error is the cause of the scan's end
		}
		if s.gone {
			coverage.Files--
			continue
		}
		coverage.Governed++
		for _, r := range j.rules {
			files[r]++
		}
		if s.scanned {
			coverage.Scanned++
			coverage.Bytes += s.bytes
		} else {
			coverage.NotScanned = append(coverage.NotScanned, verdict.Omission{File: verdict.Path(j.Path), Reason: s.reason})
		}
		if s.err != nil {
			errors = append(errors, *s.err)
		}
		broken = j.judge(broken, b, s.finds)
	}
	sortBroken(broken)
	for i := range broken {
		v.Violations = append(v.Violations, broken[i].violation(b))
	}
	for i := range b.Rules {
		v.Rules = append(v.Rules, describe(&b.Rules[i], p.from[i], files[i]))
	}
	byFile := func(a, b verdict.Omission) int { return cmp.Compare(a.File, b.File) }
	slices.SortFunc(coverage.LeftOut, byFile)
	slices.SortFunc(coverage.NotScanned, byFile)
	v.Coverage = coverage
	slices.SortFunc(errors, func(a, b verdict.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	v.Errors = errors
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
