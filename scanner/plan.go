package scanner

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A plan is what is to be examined, and takes what was found: each governed file has
// a slot of its own, so that workers need no lock and the order of their work does
// not show.
type plan struct {
	*scan
	jobs     []*job
	engines  *engines
	coverage verdict.Coverage
	errors   []verdict.Error
	allowed  []string
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
	o := verdict.Omission{File: verdict.Path(path), Reason: reason}
	if !slices.Contains(p.coverage.LeftOut, o) {
		p.coverage.LeftOut = append(p.coverage.LeftOut, o)
	}
}

func (p *plan) add(e entry, selected []int) {
	p.jobs = append(p.jobs, &job{entry: e, selection: p.engines.selection(selected)})
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
	if p.coverage.Files > 0 {
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

	files := make([]int, len(b.Rules)) // selected by each rule
	var broken []brokenRule
	for _, j := range p.jobs {
		s := &j.slot
		if !s.done.Load() {
			s = &slot{reason: "not-reached"} // the error is the cause of the scan's end
		}
		if s.gone {
			p.coverage.Files--
			continue
		}
		p.coverage.Governed++
		for _, r := range j.rules {
			files[r]++
		}
		if s.scanned {
			p.coverage.Scanned++
			p.coverage.Bytes += s.bytes
		} else {
			p.coverage.NotScanned = append(p.coverage.NotScanned, verdict.Omission{File: verdict.Path(j.Path), Reason: s.reason})
		}
		if s.err != nil {
			p.fail(*s.err)
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
