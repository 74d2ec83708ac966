package scanner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/shard"
)

// assemble makes the verdict of the findings of one run in the whole tree, or of all shards of one, so both have
// the same bytes. Nothing else makes a PASS. It takes over the findings.
func assemble(about *shard.Run, f *shard.Findings) *verdict.Verdict {
	v := verdict.New(about.Tool.Version)
	v.Scope, v.Allowed, v.AsOf = about.Scope, about.Options.Allow, about.AsOf
	v.Partial = about.Options.Partial || about.Options.Earlier
	v.PolicyChanges, v.EndingAllowances = about.PolicyChanges, about.EndingAllowances
	v.Policy = withExcludeCounts(about.Policy, f.Taken)
	v.Coverage = f.Coverage
	v.Coverage.LeftOut = append(v.Coverage.LeftOut, about.NotLookedFor...)
	all := f.Violations
	if f.RequiredWhole {
		all = append(all, missing(about, f.Found)...)
	}
	slices.SortFunc(all, byRuleAndFile)
	allowed := 0
	for i := range all {
		if all[i].Allowance != nil {
			allowed++
		}
	}
	if allowed < len(all) {
		v.Violations = make([]verdict.Violation, 0, len(all)-allowed)
	}
	for i := range all {
		if one := &all[i]; one.Allowance != nil {
			v.AllowedViolations = append(v.AllowedViolations, verdict.AllowedViolation{
				Violation: one.Violation, Allowance: *one.Allowance,
			})
		} else {
			v.Violations = append(v.Violations, one.Violation)
		}
	}
	for i, r := range about.Rules {
		r.Rule.Files, r.Rule.ChecksPaths = f.RuleFiles[i], r.Paths
		if r.Required {
			r.Rule.Files = max(r.Rule.Files, filesLookedAt(f))
		}
		v.Rules = append(v.Rules, r.Rule)
	}
	v.Errors = append(treeErrors(about, f, v.Rules), f.FileErrors...)
	byFile := func(a, b verdict.Omission) int { return cmp.Compare(a.File, b.File) }
	slices.SortFunc(v.Coverage.LeftOut, byFile)
	slices.SortFunc(v.Coverage.NotScanned, byFile)
	slices.Sort(v.Coverage.Unparsed)
	slices.SortFunc(v.Errors, byError)
	v.Decide()
	return v
}

func byRuleAndFile(a, b shard.Violation) int {
	return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(verdict.RawPath(a.Violation.File), verdict.RawPath(b.Violation.File)),
		cmp.Compare(a.Part, b.Part), cmp.Compare(a.Index, b.Index))
}

func byError(a, b verdict.Error) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.UTF16Column, b.UTF16Column))
}

// treeErrors returns the errors about the tree as a whole, missing files included.
func treeErrors(about *shard.Run, f *shard.Findings, enforced []verdict.Rule) []verdict.Error {
	all := f.TreeErrors
	empty := func(message string) { all = append(all, verdict.Error{Code: code.Empty, Message: message}) }
	isRoots := func(r verdict.Rule) bool {
		return !slices.ContainsFunc(about.Policy, func(p verdict.Policy) bool {
			return p.Directory != "" && strings.HasPrefix(r.ID, p.Directory+":")
		})
	}
	only := slices.ContainsFunc(enforced, isRoots) // a directory's bundle covers nothing for the root's
	looks := func(r verdict.Rule) bool { return (r.Files > 0 || r.ChecksPaths) && (!only || isRoots(r)) }
	switch {
	case !f.Listed || len(all) > 0 || about.Options.Allows(check.AllowEmpty):
	case isEmpty(about, f):
		empty("there is no file to scan; check the path, or allow an empty tree with --allow empty")
	case about.Options.FoundBundle && !about.Options.RequireGoverned && !about.Options.Partial &&
		!slices.ContainsFunc(enforced, looks):
		empty("the rules of this tree's bundle cover none of its files; check their globs, or use --allow empty")
	}
	if f.Listed && f.Coverage.Governed == 0 && about.Options.RequireGoverned {
		all = append(all, verdict.Error{Code: code.NoGoverned, Message: "no file of this tree is covered by a rule, " +
			"and --require-governed is set; check the path and the rules' globs"})
	}
	if o := &about.Options; (o.Partial || o.Earlier) && !o.Allows(check.AllowPartial) {
		all = append(all, partialError(o))
	}
	return all
}

// isEmpty reports whether the tree should have had files and has none. A change can leave nothing to scan. The paths
// of a list or --stdin-path can be rule files or the output, but not only git's own files or an earlier output.
func isEmpty(about *shard.Run, f *shard.Findings) bool {
	if f.Coverage.Files > 0 {
		return false
	}
	switch about.Scope.Mode {
	case "full", "tracked":
		return about.Scope.Strategy != run.PreReceive // the first push can bring rules alone
	case "files", "stdin":
		return !slices.ContainsFunc(f.Coverage.LeftOut, func(o verdict.Omission) bool {
			return o.Reason != "git" && o.Reason != tree.EarlierOutput
		})
	}
	return false
}

func partialError(o *shard.Options) verdict.Error {
	flags, them := "--rule or --exclude makes", "them"
	switch {
	case o.Earlier && o.Partial:
		flags = "--rule or --exclude, and a day before today (--as-of), make"
	case o.Earlier:
		flags, them = "a day before today (--as-of) makes", "it"
	}
	return verdict.Error{Code: code.Partial, Message: flags + " this a partial run, " +
		"which cannot pass; run it without " + them + ", or allow it with --allow partial"}
}

// withExcludeCounts returns the policies with the number of paths that each exclude removed.
func withExcludeCounts(policies []verdict.Policy, taken []int) []verdict.Policy {
	all := slices.Clone(policies)
	for i := range all {
		all[i].Excluded = slices.Clone(all[i].Excluded)
		for k := range all[i].Excluded {
			all[i].Excluded[k].Count = taken[k]
		}
		taken = taken[len(all[i].Excluded):]
	}
	return all
}

// missing returns the violations of required files. It must not be called for a tree that was not listed completely,
// which is an error of the run.
func missing(about *shard.Run, found []int) []shard.Violation {
	var all []shard.Violation
	for i, q := range about.Required {
		if !has(found, i) {
			all = append(all, shard.Violation{
				Rule: q.Rule, Part: int(rules.RequiredFile), Index: q.Index, Violation: q.Violation,
			})
		}
	}
	return all
}

func has(list []int, n int) bool {
	_, found := slices.BinarySearch(list, n)
	return found
}

// filesLookedAt returns the number of files listed or searched, for the rules with required files.
func filesLookedAt(f *shard.Findings) int {
	switch {
	case !f.RequiredWhole:
		return 0
	case f.RequiredFiles >= 0:
		return f.RequiredFiles
	}
	return f.Coverage.Files
}
