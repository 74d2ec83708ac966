package scanner

import (
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/recode"
	"github.com/policyscan/policyscan/verdict"
)

// A fresh is what is shown of the first introduced place of a violation that is not its first one.
type fresh struct {
	place int // in the list of places
	find  *match.Find
	path  int // of a key, that leads there
}

// An asking is a rule and one thing that it asks.
type asking struct {
	rule int
	ask  judges.Ask
}

// label says of each violation of a job whether it and its places were there before, at each state that what is checked
// differs from.
func (h *past) label(ctx context.Context, x *match.Examiner, j *job) {
	if h.open() != nil {
		return
	}
	h.remember(h.states.Now, j.file.Path, examinedOf(j))
	var before []map[asking]*brokenRule
	for _, m := range h.before {
		if !m.Differs {
			continue
		}
		e := h.examine(ctx, x, m, j.file.Path)
		if ctx.Err() != nil {
			return
		}
		h.remember(m, j.file.Path, e)
		all := make(map[asking]*brokenRule, len(e.broken))
		for i := range e.broken {
			all[asking{e.broken[i].rule, e.broken[i].ask}] = &e.broken[i]
		}
		before = append(before, all)
	}
	needed := map[*match.Find]bool{} // later
	for i := range j.broken {
		br := &j.broken[i]
		if h.joined != nil && len(h.joined(br.rule, j.file.Path)) > 1 {
			br.joined = &job{file: j.file, result: result{forms: j.forms}}
			needed[br.find] = true
			continue
		}
		lines := linesOf(br)
		was := lines.marks(len(before) > 0)
		for _, all := range before {
			there := all[asking{br.rule, br.ask}]
			t := newTaking(&lines)
			if there != nil {
				t.from(newStock(linesOf(there)))
			}
			if !lines.placed {
				t.had[0] = there != nil
			}
			both(was, t.had)
		}
		setStatus(ctx, x, j, br, was)
		if slices.ContainsFunc(before, func(all map[asking]*brokenRule) bool {
			there := all[asking{br.rule, br.ask}]
			return there == nil || there.times() < br.times()
		}) {
			br.status = verdict.Introduced // in another form of the file, perhaps
		}
	}
	for i := range j.broken {
		if f := j.broken[i].find; f != nil && !needed[f] {
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
func setStatus(ctx context.Context, x *match.Examiner, j *job, br *brokenRule, was []bool) {
	first := slices.Index(was, false) // the first introduced one
	br.status = verdict.Introduced
	if first < 0 && (br.find == nil || int64(len(was)) == br.find.Evidence.Occurrences) {
		br.status = verdict.PreExisting
	}
	if br.find == nil || len(br.find.Evidence.Places) == 0 {
		return
	}
	chosen := choose(was, verdict.MaxPlaces)
	br.places = slices.Clone(br.find.Evidence.Places)
	if first > 0 || chosen[len(chosen)-1] >= len(br.places) {
		shown, places, err := show(ctx, x, j, br.find, max(first, 0), chosen)
		if err == nil {
			br.places = places
			if first > 0 {
				br.fresh = &fresh{place: slices.Index(chosen, first), find: shown}
				if br.key != nil {
					br.fresh.path = br.key.paths[first]
				}
			}
		} else { // it could be read before
			chosen = chosen[:0]
			for i := range br.places {
				chosen = append(chosen, i)
			}
		}
	}
	for i, n := range chosen {
		br.places[i].Status = verdict.Introduced
		if was[n] {
			br.places[i].Status = verdict.PreExisting
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

// show reads the content of a job in which a find is again, for the evidence of an occurrence and for some places.
func show(
	ctx context.Context, x *match.Examiner, j *job, f *match.Find, first int, places []int,
) (*match.Find, []verdict.Place, error) {
	c, err := j.file.Open(false)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	var in io.ReadSeeker = c
	if form, written := j.forms[f]; written {
		in = recode.NewReader(c, form)
	}
	return x.Show(ctx, in, f, first, places)
}

// showStatus adds to a violation what is known of its places.
func (br *brokenRule) showStatus(v *verdict.Violation, item rules.Item, redact bool) {
	if br.places == nil {
		return
	}
	v.Evidence.Places = br.places
	first := slices.IndexFunc(br.places, func(p verdict.Place) bool { return p.Status == verdict.Introduced })
	switch {
	case br.fresh != nil:
		p := &br.places[br.fresh.place]
		p.Excerpt = excerptOf(item, br.fresh.find, br.fresh.path, redact)
		if !redact {
			p.LineHash = br.fresh.find.Evidence.LineHash
		}
	case first == 0:
		br.places[0].Excerpt, br.places[0].LineHash = v.Evidence.Excerpt, v.Evidence.LineHash
	}
}
