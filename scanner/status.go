package scanner

import (
	"context"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict"
)

// An asking is a rule and one thing that it asks.
type asking struct {
	rule int
	ask  rules.PatternRef
}

// label says of each violation of a job whether it and its places were there before, at each state that what is checked
// differs from.
func (h *past) label(ctx context.Context, x *match.Examiner, r *check.Result) {
	if h.open() != nil {
		return
	}
	h.remember(h.states.Now, r.File.Path, examinedOf(r))
	var before []map[asking]*check.Finding
	for _, m := range h.before {
		if !m.Differs {
			continue
		}
		e := h.examine(ctx, x, m, r.File.Path)
		if ctx.Err() != nil {
			return
		}
		h.remember(m, r.File.Path, e)
		all := make(map[asking]*check.Finding, len(e.broken))
		for i := range e.broken {
			all[asking{e.broken[i].Rule, e.broken[i].Ref}] = &e.broken[i]
		}
		before = append(before, all)
	}
	needed := map[*match.Find]bool{} // later
	for i := range r.Findings {
		br := &r.Findings[i]
		if h.joined != nil && len(h.joined(br.Rule, r.File.Path)) > 1 {
			br.Grouped = r.ForRereading()
			needed[br.Match] = true
			continue
		}
		lines := linesOf(br)
		was := lines.marks(len(before) > 0)
		for _, all := range before {
			there := all[asking{br.Rule, br.Ref}]
			t := newTaking(&lines)
			if there != nil {
				t.from(newStock(linesOf(there)))
			}
			if !lines.placed {
				t.had[0] = there != nil
			}
			both(was, t.had)
		}
		setStatus(ctx, x, r, br, was)
		if slices.ContainsFunc(before, func(all map[asking]*check.Finding) bool {
			there := all[asking{br.Rule, br.Ref}]
			return there == nil || there.Occurrences() < br.Occurrences()
		}) {
			br.Status = verdict.Introduced // in another form of the file, perhaps
		}
	}
	for i := range r.Findings {
		if f := r.Findings[i].Match; f != nil && !needed[f] {
			f.Forget()
		}
	}
}

// both clears what is not set in the other.
func both(was, had []bool) {
	for k := range was {
		was[k] = was[k] && had[k]
	}
}

// setStatus sets what a violation says of its places, of which it is known whether they were there before.
func setStatus(ctx context.Context, x *match.Examiner, r *check.Result, br *check.Finding, was []bool) {
	first := slices.Index(was, false) // the first introduced one
	br.Status = verdict.Introduced
	if first < 0 && (br.Match == nil || int64(len(was)) == br.Match.Evidence.Occurrences) {
		br.Status = verdict.PreExisting
	}
	if br.Match == nil || len(br.Match.Evidence.Places) == 0 {
		return
	}
	chosen := choose(was, verdict.MaxPlaces)
	br.Places = slices.Clone(br.Match.Evidence.Places)
	if first > 0 || chosen[len(chosen)-1] >= len(br.Places) {
		shown, places, err := r.Show(ctx, x, br.Match, max(first, 0), chosen)
		if err == nil {
			br.Places = places
			if first > 0 {
				br.ShowInstead(slices.Index(chosen, first), first, shown)
			}
		} else { // it could be read before
			chosen = chosen[:0]
			for i := range br.Places {
				chosen = append(chosen, i)
			}
		}
	}
	for i, n := range chosen {
		br.Places[i].Status = verdict.Introduced
		if was[n] {
			br.Places[i].Status = verdict.PreExisting
		}
	}
}

// choose returns the numbers of the occurrences to list, in order, at most so many: if there are more, the introduced
// ones before others.
func choose(was []bool, most int) (chosen []int) {
	for _, old := range []bool{false, true} {
		for i := range was {
			if was[i] == old && len(chosen) < most {
				chosen = append(chosen, i)
			}
		}
	}
	slices.Sort(chosen)
	return chosen
}
