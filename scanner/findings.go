package scanner

import (
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/shard"
)

// end ends the collection: what comes later does not count. It returns what the verdict is made of: what the run is,
// and what was found. See [conclude].
func (p *collector) end() (*shard.Run, *shard.Findings) {
	run := p.about()
	has, whole, files := p.required.seen()
	f := &shard.Findings{
		RequiredWhole: whole, RequiredFiles: files,
		Taken: make([]int, p.set.Takers()), RuleFiles: make([]int, len(p.set.Bundle.Rules)),
	}

	p.mu.Lock() // a worker may still hang in a read
	defer p.mu.Unlock()
	p.over = true
	f.Listed, f.TreeErrors, f.Coverage = p.listed, p.errors, p.coverage
	count := 0
	for _, t := range p.tallies {
		t.close()
		count += len(t.broken)
	}
	broken := make([]check.Finding, 0, count)
	for _, t := range p.tallies {
		broken = append(broken, t.broken...)
		t.broken = nil // each find is let go as soon as it is a violation: together they are as large as the verdict
		f.FileErrors = append(f.FileErrors, t.errors...)
		f.Coverage.Files += t.listed
		f.Coverage.Governed += t.governed
		f.Coverage.Scanned += t.coverage.Scanned
		f.Coverage.Bytes += t.coverage.Bytes
		f.Coverage.NotScanned = append(f.Coverage.NotScanned, t.coverage.NotScanned...)
		f.Coverage.Unparsed = append(f.Coverage.Unparsed, t.coverage.Unparsed...)
		for i, n := range t.taken {
			f.Taken[i] += n
		}
		for plan, files := range t.plans {
			for _, r := range plan.Rules {
				f.RuleFiles[r] += files
			}
		}
	}
	for _, br := range p.required.missing() {
		if p.past == nil || whole && !has(br.Rule, br.Ref.Index) { // what it was before is asked for what is missing
			broken = append(broken, br)
		}
	}
	p.past.end(broken)
	check.SortFindings(broken)
	f.Violations = make([]shard.Violation, 0, len(broken))
	for i := range broken {
		br := broken[i]
		broken[i] = check.Finding{}
		v := br.Violation(p.set.Bundle)
		v.Note = joinNotes(br.Note, p.set.Note(br.Rule, br.Ref, br.Path))
		if br.Ref.Of == rules.RequiredFile {
			if has(br.Rule, br.Ref.Index) {
				f.Found = append(f.Found, len(run.Required))
			}
			run.Required = append(run.Required, shard.Required{Rule: br.Rule, Index: br.Ref.Index, Violation: v})
			continue
		}
		signed, refused := p.allower.signed(&br)
		one := shard.Violation{Rule: br.Rule, Part: int(br.Ref.Of), Index: br.Ref.Index, Violation: v}
		if signed != nil {
			by := signedAs(signed)
			one.Allowance = &by
		} else {
			one.Violation.Note = joinNotes(v.Note, refused)
		}
		f.Violations = append(f.Violations, one)
	}
	return run, f
}

// about says what the run is.
func (p *collector) about() *shard.Run {
	run := &shard.Run{
		Tool: verdict.New(p.opt.Version).Tool, Scope: p.tree.Scope(), AsOf: p.asOf(),
		Options: shard.Options{
			Allow: p.checker.Allowed, Rule: p.opt.Rules, Exclude: p.opt.Excluded,
			Partial: p.opt.Partial || p.opt.Exclude != nil, Earlier: p.earlier(),
			RequireGoverned: p.opt.RequireGoverned, FoundBundle: p.opt.FoundBundle, MaxFileBytes: p.opt.MaxFileBytes,
		},
		Policy: slices.Clone(p.set.Policies), PolicyChanges: p.set.Changes(),
		NotLookedFor: notLookedFor(p), EndingAllowances: p.endingAllowances(),
	}
	p.set.Count(run.Policy, make([]int, p.set.Takers()))
	for i := range p.set.Bundle.Rules {
		r := &p.set.Bundle.Rules[i]
		run.Rules = append(run.Rules, shard.Rule{
			Rule: describe(r, p.set.From[i]), Paths: len(r.ForbiddenFiles) > 0, Required: len(r.RequiredFiles) > 0,
		})
	}
	return run
}

// verdict puts together what was found.
func (p *collector) verdict() *verdict.Verdict { return conclude(p.end()) }

func describe(r *rules.Rule, from string) verdict.Rule {
	return verdict.Rule{
		ID: r.ID, Type: string(r.Type), From: from, Title: r.Title,
		Message: r.Message, Remediation: r.Remediation, DocsURL: r.DocsURL,
		Owner: r.Owner, Severity: r.Severity, Tags: slices.Clone(r.Tags),
	}
}
