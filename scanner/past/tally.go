package past

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/past"
)

// A tally is the numbers of a rule over all repositories.
type tally struct {
	doc          past.Rule
	months, dirs map[string]int
	stays        []int          // in days, of each place that was removed again
	more         []past.Example // of changes that introduce nothing
}

func (j *Judge) tallyOf(id, title string) *tally {
	i := slices.IndexFunc(j.tallies, func(t *tally) bool { return t.doc.ID == id })
	if i < 0 {
		i = len(j.tallies)
		j.tallies = append(j.tallies, &tally{
			doc: past.Rule{ID: id, Title: title}, months: map[string]int{}, dirs: map[string]int{},
		})
	}
	return j.tallies[i]
}

// rule returns the numbers for the document.
func (t *tally) rule() past.Rule {
	r := t.doc
	r.Months, r.Dirs = sorted(t.months), sorted(t.dirs)
	slices.SortStableFunc(r.Dirs, func(a, b past.Tally) int { return b.Count - a.Count })
	r.Dirs = r.Dirs[:min(len(r.Dirs), past.MaxDirs)]
	r.Examples = append(slices.Clip(r.Examples), t.more[:min(len(t.more), past.MaxExamples-len(r.Examples))]...)
	if slices.Sort(t.stays); len(t.stays) > 0 {
		r.MedianDays = t.stays[(len(t.stays)-1)/2]
	}
	r.RemovedAgain = len(t.stays)
	return r
}

// sorted returns the counts in the order of their names.
func sorted(counts map[string]int) (all []past.Tally) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, past.Tally{Name: name, Count: counts[name]})
	}
	return all
}

// tally adds the outcomes of all changes, and of the tip, to the document.
func (b *branch) tally(today *outcome) {
	for _, r := range today.rules {
		b.tallyOf(r.ID, r.Title)
	}
	for at, n := range today.broken {
		if n.bad > 0 {
			b.tallyOf(at.rule, "").doc.FilesAtTip++
		}
	}
	var last *filter
	for _, s := range slices.Backward(b.steps) {
		if s.outcome != nil && s.outcome.unruled {
			b.row.Counts.WithoutRules++
			continue
		}
		if b.row.Counts.Changes++; s.outcome != nil {
			b.count(s.commit, s.outcome)
			for _, r := range s.outcome.rules {
				b.tallyOf(r.ID, r.Title)
			}
		}
		if s.filter != last && s.filter != nil && s.filter.checker != nil {
			for _, r := range s.filter.checker.Bundle.Rules {
				b.tallyOf(r.ID, r.Title)
			}
		}
		last = s.filter
	}
	stays := map[string]map[string]*stay{}
	for i := range b.steps {
		b.follow(&b.steps[i], stays)
	}
}

// count adds a scanned change to the document.
func (b *branch) count(commit *repo.Commit, o *outcome) {
	c := past.Change{
		Repository: b.row.Name, Commit: commit.Hash.String(), Date: dateOf(commit), Subject: commit.Subject,
		Errors: o.errors,
	}
	for _, r := range o.refusals {
		c.Rules = append(c.Rules, r.numbers)
		t := b.tallyOf(r.numbers.RuleID, r.title)
		t.doc.Refused++
		t.doc.Introduced += r.numbers.Introduced
		if c.Date != "" {
			t.months[c.Date[:len("2006-01")]]++
		}
		list := &t.more
		if r.numbers.Introduced > 0 {
			t.doc.Introducing++
			list = &t.doc.Examples
		}
		if len(*list) < past.MaxExamples {
			e := r.shown
			e.Repository, e.Commit, e.Date, e.Subject = c.Repository, c.Commit, c.Date, c.Subject
			*list = append(*list, e)
		}
	}
	for at, n := range o.broken {
		if n.fresh > 0 {
			b.tallyOf(at.rule, "").dirs[b.prefix+path.Dir(at.file)+"/"] += n.fresh
		}
	}
	if len(c.Errors) > 0 {
		b.row.Counts.Undecided++
		b.history.Undecided = append(b.history.Undecided, c)
	}
	if len(c.Rules) > 0 {
		b.row.Counts.Refused++
		b.history.Refused = append(b.history.Refused, c)
	}
}

// A stay is the places of a rule in a file.
type stay struct {
	all   int
	since []time.Time // of each that a refused change introduced, and none has removed, oldest first
}

// follow takes away the places that a change removes, the newest first, and adds the introduced ones. stays is by file,
// then rule. A file that is renamed unchanged keeps its places.
func (b *branch) follow(s *step, stays map[string]map[string]*stay) {
	o := s.outcome
	switch {
	case o == nil:
		o = &outcome{}
	case o.unruled || len(o.errors) > 0:
		return // what is not certain removes nothing
	}
	fresh := map[ruleFile]int{}
	for at, n := range o.broken {
		fresh[at] = n.fresh
	}
	if len(stays)+len(fresh) == 0 {
		return
	}
	added := map[repo.Hash][]string{} // files, by content
	for _, c := range s.files {
		if c.Old == (repo.Leaf{}) {
			added[c.New.Hash] = append(added[c.New.Hash], verdict.Path(c.Path))
		}
	}
	for _, c := range s.files {
		file, free := verdict.Path(c.Path), added[c.Old.Hash]
		if c.New != (repo.Leaf{}) || len(free) == 0 || len(stays[file]) == 0 {
			continue
		}
		to := free[0]
		added[c.Old.Hash], stays[to] = free[1:], stays[file]
		delete(stays, file)
		for rule, st := range stays[to] {
			fresh[ruleFile{rule, to}] = max(fresh[ruleFile{rule, to}]-st.all, 0)
		}
	}
	for _, c := range s.files {
		file := verdict.Path(c.Path)
		for rule, st := range stays[file] {
			at := ruleFile{rule, file}
			now := o.broken[at].all
			known := s.filter == nil || s.filter.rules[rule] // else the rule is gone, not the places
			if gone := min(st.all-(now-fresh[at]), len(st.since)); gone > 0 && known {
				t, keep := b.tallyOf(rule, ""), len(st.since)-gone
				for _, since := range st.since[keep:] {
					t.stays = append(t.stays, max(int(s.commit.Date.Sub(since).Hours()/24), 0))
				}
				st.since = st.since[:keep]
			}
			if st.all = now; now == 0 || !known {
				delete(stays[file], rule)
			}
		}
	}
	for at, n := range fresh {
		if n == 0 || at.file == "" {
			continue
		}
		if stays[at.file] == nil {
			stays[at.file] = map[string]*stay{}
		}
		st := cmp.Or(stays[at.file][at.rule], &stay{})
		stays[at.file][at.rule] = st
		st.all = o.broken[at].all
		st.since = append(st.since, slices.Repeat([]time.Time{s.commit.Date}, n)...)
	}
}
