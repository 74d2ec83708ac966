package scanner

import (
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/baseline"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/history"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/shard"
)

// collect ends the scan, drops later results, and returns the run and its findings for [assemble].
func (s *scan) collect() (*shard.Run, *shard.Findings) {
	about := s.describeRun()
	f := &shard.Findings{
		Taken: make([]int, s.run.Rules.ExcludeCount()), RuleFiles: make([]int, len(s.run.Rules.Bundle.Rules)),
	}

	s.mu.Lock() // a worker may still hang in a read
	defer s.mu.Unlock()
	s.closed = true
	f.RequiredWhole, f.RequiredFiles = s.requiredWhole, s.requiredFiles
	f.Listed, f.TreeErrors, f.Coverage = s.listed, s.errors, s.coverage
	count := 0
	for _, t := range s.sums {
		t.close()
		count += len(t.findings)
	}
	broken := make([]check.Finding, 0, count)
	for _, t := range s.sums {
		broken = append(broken, t.findings...)
		t.findings = nil // free each find once it is a violation: together they are as large as the verdict
		f.FileErrors = append(f.FileErrors, t.errors...)
		f.Coverage.Add(&t.coverage)
		for i, n := range t.excluded {
			f.Taken[i] += n
		}
		for plan, files := range t.plans {
			for _, r := range plan.Rules {
				f.RuleFiles[r] += files
			}
		}
		for r, files := range t.paths {
			f.RuleFiles[r] += files
		}
	}
	for _, br := range s.required.AllFindings() {
		// A comparison labels missing files.
		if s.base == nil || f.RequiredWhole && !s.required.Has(br.Rule, br.Ref.Index) {
			broken = append(broken, br)
		}
	}
	s.base.LabelRest(broken)
	check.SortFindings(broken)
	f.Violations = make([]shard.Violation, 0, len(broken))
	for i := range broken {
		br := broken[i]
		broken[i] = check.Finding{}
		v := br.Violation(s.run.Rules.Bundle)
		v.Owners = s.run.OwnersOf(br.Rule, br.Path)
		v.Note = joinNotes(br.Note, s.run.Rules.Note(br.Rule, br.Ref, br.Path))
		if br.Ref.Of == rules.RequiredFile {
			if s.required.Has(br.Rule, br.Ref.Index) {
				f.Found = append(f.Found, len(about.Required))
			}
			about.Required = append(about.Required, shard.Required{Rule: br.Rule, Index: br.Ref.Index, Violation: v})
			continue
		}
		one := shard.Violation{Rule: br.Rule, Part: int(br.Ref.Of), Index: br.Ref.Index, Violation: v}
		var denied string
		if one.Allowance, denied = s.allowances.Of(&br); one.Allowance == nil {
			one.Violation.Note = joinNotes(v.Note, denied)
		}
		f.Violations = append(f.Violations, one)
	}
	if c := s.commits; c != nil {
		addCommits(f, s.run, c)
	}
	return about, f
}

// addCommits adds what only commits of the change bring.
func addCommits(f *shard.Findings, r *run.Run, c *history.Report) {
	f.Coverage.Commits, f.Coverage.States = len(r.Commits), c.Covered
	f.Coverage.NotScanned = append(f.Coverage.NotScanned, c.NotScanned...)
	f.Coverage.Unparsed = append(f.Coverage.Unparsed, c.Unparsed...)
	f.FileErrors = append(f.FileErrors, c.Errors...)
	for i := range c.Findings {
		state, found := c.Findings[i].State, &c.Findings[i].Found
		v := found.Violation(r.Rules.Bundle)
		v.BroughtBy(state.Commit.String())
		v.Owners = r.OwnersOf(found.Rule, found.Path)
		v.Note = joinNotes(v.Note, r.Rules.Note(found.Rule, found.Ref, found.Path))
		f.Violations = append(f.Violations, shard.Violation{
			Rule: found.Rule, Part: int(found.Ref.Of), Index: found.Ref.Index, Violation: v, Step: state.Step,
		})
	}
}

func (s *scan) describeRun() *shard.Run {
	set, dated := s.run.Rules, s.run.Rules.HasDates()
	about := &shard.Run{
		Tool: verdict.New(s.run.Version).Tool, Scope: s.run.Tree.Scope(),
		Options: shard.Options{
			Allow: s.checker.Allowed, Rule: s.run.Options.RuleIDs, Exclude: s.run.Exclude,
			Partial: len(s.run.Options.RuleIDs) > 0 || s.run.Excludes != nil, Earlier: s.run.Backdated && dated,
			RequireGoverned: s.run.RequireGoverned, FoundBundle: s.run.MustCover, MaxFileBytes: s.run.MaxFileBytes,
		},
		Policy: set.Excluded(), PolicyChanges: set.Changes(), NotLookedFor: s.notLookedFor(),
	}
	about.Scope.EachCommit = s.run.EachCommit
	if set.IsCompared() {
		about.PolicyChanges = append(about.PolicyChanges, allowance.PolicyChanges(set.OwnAllowances())...)
	}
	if dated {
		about.AsOf, about.EndingAllowances = s.run.Day, baseline.Ending(set, s.run.Day)
	}
	for i := range set.Bundle.Rules {
		r := &set.Bundle.Rules[i]
		about.Rules = append(about.Rules, shard.Rule{
			Rule: describe(r, set.From[i]), Paths: len(r.ForbiddenFiles) > 0, Required: len(r.RequiredFiles) > 0,
		})
	}
	return about
}

func (s *scan) verdict() *verdict.Verdict { return assemble(s.collect()) }

func describe(r *rules.Rule, from string) verdict.Rule {
	return verdict.Rule{
		ID: r.ID, Type: string(r.Type), From: from, Title: r.Title,
		Message: r.Message, Remediation: r.Remediation, DocsURL: r.DocsURL,
		Owner: r.Owner, Severity: r.Severity, Tags: slices.Clone(r.Tags),
	}
}

// notLookedFor returns the globs of required files that a partial tree cannot answer, each once.
func (s *scan) notLookedFor() []verdict.Omission {
	if hasWholeTree(s.run.Tree.Scope().Mode) {
		return nil
	}
	var all []verdict.Omission
	for i := range s.run.Rules.Bundle.Rules {
		for _, g := range s.run.Rules.Bundle.Rules[i].RequiredFiles {
			o := verdict.Omission{File: verdict.Path(g), Reason: verdict.LeftRequiredFile}
			if !slices.Contains(all, o) {
				all = append(all, o)
			}
		}
	}
	return all
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
