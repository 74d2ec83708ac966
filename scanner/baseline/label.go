package baseline

import (
	"context"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// A rulePattern is a pattern of a rule.
type rulePattern struct {
	rule    int
	pattern rules.PatternRef
}

func patternOf(f *check.Finding) rulePattern { return rulePattern{f.Rule, f.Ref} }

// Label labels each finding of a settled result, and its places, as new or existing in each snapshot. A finding in a
// group of files is labelled by [Baseline.LabelRest].
func (b *Baseline) Label(ctx context.Context, x *match.Examiner, r *check.Result) {
	if b.open() != nil {
		return
	}
	b.keep(b.history.Now, r.File.Path, countsOf(r))
	var before []map[rulePattern]*check.Finding
	for _, s := range b.before {
		if !s.Differs {
			continue
		}
		c := b.check(ctx, x, s, r.File.Path)
		if ctx.Err() != nil {
			return
		}
		b.keep(s, r.File.Path, c)
		all := make(map[rulePattern]*check.Finding, len(c.findings))
		for i := range c.findings {
			all[patternOf(&c.findings[i])] = &c.findings[i]
		}
		before = append(before, all)
	}
	later := map[*match.Find]bool{} // needed when groups are compared
	for i := range r.Findings {
		f := &r.Findings[i]
		if len(b.group(f.Rule, r.File.Path)) > 1 {
			f.Grouped = r.ForRereading()
			later[f.Match] = true
			continue
		}
		labelOne(ctx, x, r, f, before)
	}
	for i := range r.Findings {
		if m := r.Findings[i].Match; m != nil && !later[m] {
			m.Forget()
		}
	}
}

// labelOne labels a finding by comparing it with those of the same file in each snapshot.
func labelOne(
	ctx context.Context, x *match.Examiner, r *check.Result, f *check.Finding,
	before []map[rulePattern]*check.Finding,
) {
	lines := linesOf(f)
	existed := lines.labels(len(before) > 0)
	more := false // more occurrences than in a snapshot, perhaps in another variant of the file
	for _, all := range before {
		old := all[patternOf(f)]
		m := newLineMatch(&lines)
		if old != nil {
			m.take(newLineSet(linesOf(old)))
		}
		if !lines.placed {
			m.existed[0] = old != nil
		}
		and(existed, m.existed)
		more = more || old == nil || old.Occurrences() < f.Occurrences()
	}
	setStatus(ctx, x, r, f, existed)
	if more {
		f.Status = verdict.Introduced
	}
}

func and(existed, other []bool) {
	for k := range existed {
		existed[k] = existed[k] && other[k]
	}
}

// setStatus sets the status of a finding and of its places from existed, which has one entry per occurrence.
func setStatus(ctx context.Context, x *match.Examiner, r *check.Result, f *check.Finding, existed []bool) {
	first := slices.Index(existed, false) // the first new one
	f.Status = verdict.Introduced
	f.NewPlaces = f.PlaceCount()
	for n := range existed {
		if existed[n] && !f.IsSame(n) {
			f.NewPlaces--
		}
	}
	if first < 0 && (f.Match == nil || int64(len(existed)) == f.Match.Evidence.Occurrences) {
		f.Status = verdict.PreExisting
	}
	if f.Match == nil || len(f.Match.Evidence.Places) == 0 {
		return
	}
	chosen := choose(existed, verdict.MaxPlaces)
	f.Places = slices.Clone(f.Match.Evidence.Places)
	if first > 0 || chosen[len(chosen)-1] >= len(f.Places) {
		shown, places, err := r.Show(ctx, x, f.Match, max(first, 0), chosen)
		if err == nil {
			f.Places = places
			if first > 0 {
				f.ShowInstead(slices.Index(chosen, first), first, shown)
			}
		} else { // readable before
			chosen = chosen[:0]
			for i := range f.Places {
				chosen = append(chosen, i)
			}
		}
	}
	for i, n := range chosen {
		p := &f.Places[i]
		f.ShowPlace(p, n)
		if p.Status = verdict.Introduced; existed[n] {
			p.Status = verdict.PreExisting
		}
	}
}

// choose returns the numbers of the occurrences to list, in order, at most most: if there are more, new ones before
// others.
func choose(existed []bool, most int) (chosen []int) {
	for _, old := range []bool{false, true} {
		for i := range existed {
			if existed[i] == old && len(chosen) < most {
				chosen = append(chosen, i)
			}
		}
	}
	slices.Sort(chosen)
	return chosen
}

// LabelRest labels the remaining findings: missing required files, findings in groups of files, and those of a stopped
// scan, which are new. A nil Baseline labels nothing.
func (b *Baseline) LabelRest(findings []check.Finding) {
	if b == nil {
		return
	}
	b.labelRequired(findings)
	b.labelGroups(findings)
	for i := range findings {
		if f := &findings[i]; f.Status == "" {
			f.LabelNew()
		}
	}
}

// labelRequired labels missing required files by whether they were missing before.
func (b *Baseline) labelRequired(findings []check.Finding) {
	var missing []*check.Finding
	for i := range findings {
		if findings[i].Path == "" {
			missing = append(missing, &findings[i])
		}
	}
	if len(missing) == 0 || b.open() != nil {
		return
	}
	for _, f := range missing {
		f.Status = verdict.PreExisting
	}
	for _, s := range b.before {
		if !s.Differs {
			continue
		}
		found := check.NewRequiredFiles(b.checker)
		err := found.AddSnapshot(context.Background(), s)
		for _, f := range missing {
			if err != nil || found.Has(f.Rule, f.Ref.Index) {
				f.Status = verdict.Introduced
			}
		}
	}
}

// A groupedFile is a file of a group: their lines count as one file's, for one pattern of a rule.
type groupedFile struct {
	path    string
	lines   matchedLines
	existed []bool
	finding *check.Finding // nil: the file is not part of the change
}

// labelGroups labels findings in groups of files: each line of the baseline goes to its own file first, then to the
// others, in the order of their paths. A file that is not part of the change takes its own, too.
func (b *Baseline) labelGroups(findings []check.Finding) {
	type group struct {
		rulePattern
		first string
	}
	groups := map[group]map[string]*check.Finding{} // by path
	for i := range findings {
		f := &findings[i]
		if f.Grouped == nil {
			continue
		}
		g := group{patternOf(f), b.group(f.Rule, f.Path)[0]}
		if groups[g] == nil {
			groups[g] = map[string]*check.Finding{}
		}
		groups[g][f.Path] = f
	}
	if len(groups) == 0 {
		return
	}
	b.searching.Lock()
	defer b.searching.Unlock()
	x := &match.Examiner{Limit: b.checker.MaxFileBytes, Mark: true}
	ctx := context.Background()
	cache := map[fileAt]*counts{}
	find := func(s *tree.Snapshot, path string, p rulePattern) *check.Finding {
		at := fileAt{s, path}
		if cache[at] == nil {
			cache[at] = b.check(ctx, x, s, path)
		}
		all := cache[at].findings
		if i := slices.IndexFunc(all, func(f check.Finding) bool { return patternOf(&f) == p }); i >= 0 {
			return &all[i]
		}
		return nil
	}
	for g, members := range groups {
		paths := b.group(g.rule, g.first)
		var files []*groupedFile
		for _, path := range paths {
			now := members[path]
			if now == nil {
				now = find(b.history.Now, path, g.rulePattern)
			}
			if now != nil {
				f := &groupedFile{path: path, lines: linesOf(now), finding: members[path]}
				f.existed = f.lines.labels(true)
				files = append(files, f)
			}
		}
		for _, s := range b.before {
			if !s.Differs {
				continue
			}
			sets := make([]lineSet, len(paths))
			for i, path := range paths {
				if old := find(s, path, g.rulePattern); old != nil {
					sets[i] = newLineSet(linesOf(old))
				}
			}
			matchGroup(files, paths, sets)
		}
		for _, f := range files {
			if f.finding != nil {
				setStatus(ctx, x, f.finding.Grouped, f.finding, f.existed)
			}
		}
	}
	for i := range findings {
		if f := &findings[i]; f.Grouped != nil && f.Match != nil {
			f.Match.Forget()
		}
	}
}

// matchGroup takes the lines of one snapshot, by path, for the files of a group.
func matchGroup(files []*groupedFile, paths []string, sets []lineSet) {
	all := make([]*lineMatch, len(files))
	for i, f := range files {
		all[i] = newLineMatch(&f.lines)
		all[i].take(sets[slices.Index(paths, f.path)])
	}
	for i, f := range files {
		for k := range paths {
			all[i].take(sets[k])
		}
		and(f.existed, all[i].existed)
	}
}
