package match

import (
	"cmp"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// candidates are the patterns that may occur, in the order in which the second step handles them.
type candidates struct {
	texts  []*candidate
	spaced []*candidate // texts with the option Spaces
	exprs  []exprCandidate

	literals []formOf // one form of each literal of regexes that occurs in UTF-8
}

// candidates returns the patterns that may occur, and their forms that count in this content. keep bounds the matches
// kept of each.
func (e *Engine) candidates(s *seen, keep int, exprs []exprCandidate) (found candidates) {
	found.exprs = exprs[:0]
	marked := false
	for en := utf16LE; en < encodings; en++ {
		marked = marked || s.marks[en]
	}
	var seen []formOf
	for _, i := range s.plain.Indices() {
		of := e.plainOf[i]
		f := &e.patterns[of.pattern].forms[of.form]
		if e.setOf != nil && e.setOf[of.pattern] != nil && f.enc == utf8Enc {
			found.literals = append(found.literals, of)
		}
		seen = append(append(seen, of), e.sharing[i]...)
	}
	if s.nul {
		for _, i := range s.wide.Indices() {
			seen = append(seen, e.wide().of[i])
		}
	}
	if marked {
		for i, p := range e.patterns {
			if p.short {
				seen = append(seen, formOf{i, int(utf8Enc)})
			}
		}
	}
	for _, i := range e.always {
		seen = append(seen, formOf{i, -1})
	}
	slices.SortFunc(seen, func(a, b formOf) int {
		return cmp.Or(cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.form, b.form))
	})
	for from := 0; from < len(seen); {
		to := from + 1
		for to < len(seen) && seen[to].pattern == seen[from].pattern {
			to++
		}
		i := seen[from].pattern
		p := e.patterns[i]
		if p.expr != nil {
			found.exprs = append(found.exprs, e.newExprCandidate(i, seen[from:to], s, keep))
		} else {
			if !e.Alone(i) {
				found.add(tally{index: i, kept: kept{most: keep}}, p, seen[from:to], s)
			}
			if e.requires(i) {
				found.add(tally{index: i, required: true, begin: s.own().from}, p, seen[from:to], s)
			}
		}
		from = to
	}
	return found
}

func (c *candidates) add(t tally, p *Pattern, seen []formOf, s *seen) {
	if p.options.Spaces {
		c.spaced = append(c.spaced, &candidate{tally: t, forms: p.seenForms(seen, &t)})
	} else {
		c.texts = append(c.texts, newCandidate(t, p, s))
	}
}

type match struct{ start, end int64 }

func (m match) before(other match) int { return cmp.Compare(m.start, other.start) }

// A tally counts a pattern in the second step: its first match and its occurrences.
type tally struct {
	index int              // the pattern's index in the engine
	first [encodings]match // the first match of each form; found tells which exist
	found [encodings]bool
	count int64 // matches from left to right, not overlapping
	upTo  int64 // where the last counted match ends
	kept  kept  // the first of those

	// A required text counts only at whole units from begin, and once is enough.
	required bool
	begin    int64
}

type candidate struct {
	tally
	forms []*form
}

// seenForms returns the forms whose needle was seen, one for each alignment.
func (p *Pattern) seenForms(seen []formOf, t *tally) (forms []*form) {
	of := p.forms
	if seen[len(seen)-1].form >= len(of) {
		of = p.every()
	}
	for _, s := range seen {
		forms = append(forms, t.alignments(&of[s.form])...)
	}
	return forms
}

func (h *tally) alignments(f *form) (forms []*form) {
	if h.required {
		return []*form{f.alignedAt(h.begin)}
	}
	for align := range f.enc.unit() {
		forms = append(forms, f.alignedAt(int64(align)))
	}
	return forms
}

func newCandidate(t tally, p *Pattern, s *seen) *candidate {
	h := &candidate{tally: t}
	forms := p.forms
	if s.nul {
		forms = p.every()
	}
	for k := range forms {
		f := &forms[k]
		if f.nul && !s.nul || !p.countsIn(f.enc, s.Shape, t.required) {
			continue
		}
		if t.required || p.options.WithinLines > 0 { // the lines of an alignment
			h.forms = append(h.forms, t.alignments(f)...)
			continue
		}
		h.forms = append(h.forms, f)
	}
	return h
}

// meet adds a form's first match.
func (h *tally) meet(enc encoding, m match) {
	if !h.found[enc] || m.start < h.first[enc].start {
		h.found[enc], h.first[enc] = true, m
	}
}

func (h *candidate) folds() bool { return len(h.forms) > 0 && h.forms[0].fold }

// look adds the matches that begin between two places of w. lower is w.data in lower case, if needed.
func (h *candidate) look(w window, lower []byte, begin, limit int) {
	if h.required && h.count > 0 {
		return
	}
	for _, f := range h.forms {
		if f.aligned { // it is a copy
			f.alignIn(w.at)
		}
	}
	from := max(int(h.upTo-w.at), begin)
	next := make([]struct{ start, end int }, len(h.forms)) // the next match of each form
	found := h.found                                       // before this window
	for k, f := range h.forms {
		at := from
		if !found[f.enc] {
			at = begin // a form's first match may overlap a counted match of another
		}
		next[k].start, next[k].end = f.nextIn(w, lower, at)
		if next[k].start >= 0 && next[k].start < limit && !found[f.enc] {
			h.meet(f.enc, match{w.at + int64(next[k].start), w.at + int64(next[k].end)})
		}
	}
	for {
		best := -1
		for k, f := range h.forms {
			if next[k].start >= 0 && next[k].start < from {
				next[k].start, next[k].end = f.nextIn(w, lower, from)
			}
			if next[k].start >= 0 && (best < 0 || next[k].start < next[best].start) {
				best = k
			}
		}
		if best < 0 || next[best].start >= limit {
			return
		}
		h.count++
		if h.kept.wants() {
			h.kept.add(h.reading(w, h.forms[best].enc, next[best].start, next[best].end))
		}
		from = next[best].end
		h.upTo = w.at + int64(from)
	}
}

// reading returns the reading of a match in a window: itself, or the text with these bytes. See [tally.evidence].
func (h *candidate) reading(w window, enc encoding, start, end int) (encoding, match) {
	m := match{w.at + int64(start), w.at + int64(end)}
	if at := nextUnit(enc, m.start); at != m.start {
		begin := int(at - w.at)
		for _, f := range h.forms {
			if f.enc.unit() != enc.unit() || begin > len(w.data) || f.until > 0 && (f.from > 0 || at >= f.until) {
				continue
			}
			if end := f.forward(w.data, 0, begin); end >= 0 && f.apart(w.data, begin, end) {
				return f.enc, match{at, w.at + int64(end)}
			}
		}
	}
	return enc, m
}

func (h *tally) find(finds []*Find) []*Find {
	enc, m, ok := h.evidence()
	if !ok {
		return finds
	}
	f := newFind(h.index, verdict.KindText, enc, m, h.count)
	f.required = h.required
	f.kept = h.kept.from(enc, m)
	return append(finds, f)
}

func newFind(index int, kind string, enc encoding, m match, count int64) *Find {
	f := &Find{Pattern: index, site: &site{match: m, enc: enc, start: spot{offset: m.start}, end: spot{offset: m.end}}}
	f.Evidence = verdict.Evidence{Kind: kind, Offset: m.start, Occurrences: count, Encoding: enc.String()}
	return f
}

// evidence returns the match to report and its encoding; false if the pattern does not occur.
//
// The leftmost match counts. But text in 16- or 32-bit units can also be read in the other byte order, a byte or three
// early: "\x00a\x00b\x00" holds "ab" in both. Of two such readings, the one aligned to its unit, counted from the
// start of the file, is the text.
func (h *tally) evidence() (encoding, match, bool) {
	best := encodings
	for e := range encodings {
		if h.found[e] && (best == encodings || h.first[e].start < h.first[best].start) {
			best = e
		}
	}
	if best == encodings {
		return 0, match{}, false
	}
	unit := int64(best.unit())
	if h.first[best].start%unit != 0 {
		for e := range encodings {
			if h.found[e] && e.unit() == best.unit() && h.first[e].start%unit == 0 &&
				h.first[e].start < h.first[best].start+unit {
				best = e
				break
			}
		}
	}
	return best, h.first[best], true
}
