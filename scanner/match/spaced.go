package match

import (
	"cmp"
	"context"
	"io"
)

// A spacedCandidate is a pattern with the option Spaces that may occur in a content of more than a window, in the
// second step.
type spacedCandidate struct {
	tally
	forms   []*form // those whose needle was seen, one for each alignment
	sources []source
}

// A source is a form in a strand.
type source struct {
	*form
	*strand
	place int64 // no match that begins before it is wanted any more
	next  match // the first of the others, if it is known
	known bool
	met   bool // one was known
}

// strandBytes is how much of a content a strand reads at once.
const strandBytes = 64 << 10

// searchStrands looks for candidates in the strands of their encodings: one for each alignment.
//
// Each strand is at a place of its own, since a run of spaces is long in one and no run in another. The one that is
// known up to the lowest offset reads on, so none has to remember matches for another.
func (x *Examiner) searchStrands(
	ctx context.Context, content io.ReadSeeker, candidates []*spacedCandidate, overlap int, reads *int,
) error {
	strands := x.openStrands(content, candidates, overlap)
	defer func() {
		for _, s := range strands {
			*reads += s.raw.reads
		}
	}()
	for {
		var behind *strand
		for _, s := range strands {
			if !s.last && (behind == nil || s.knownUpTo() < behind.knownUpTo()) {
				behind = s
			}
		}
		if behind == nil {
			return nil
		}
		if err := behind.advance(ctx, content, overlap); err != nil {
			return err
		}
		for _, h := range candidates {
			h.look()
		}
	}
}

// openStrands returns the strands that candidates need, at their beginning, and gives each candidate its sources.
func (x *Examiner) openStrands(content io.ReadSeeker, candidates []*spacedCandidate, overlap int) (open []*strand) {
	need := (max(cmp.Or(x.Window, strandBytes), overlap) + 3) / 4 * 4 // whole units
	if len(x.raw) < need {
		x.raw = make([]byte, need)
	}
	raw := windows{r: content, buf: x.raw[:need], limit: x.Limit}
	var opened [encodings][4]bool
	for _, h := range candidates {
		for _, f := range h.forms {
			f.align = 0 // a strand begins at a unit
			s := &x.strands[f.enc][f.from]
			if !opened[f.enc][f.from] {
				opened[f.enc][f.from] = true
				s.reset(f.enc, f.from, raw)
				open = append(open, s)
			}
			h.sources = append(h.sources, source{form: f, strand: s})
		}
	}
	return open
}

// look adds the matches that are known to come next.
func (h *spacedCandidate) look() {
	for !h.required || h.count == 0 {
		best := -1
		known := int64(-1) // up to where all matches are known; -1: everywhere
		for k := range h.sources {
			s := &h.sources[k]
			if !h.seek(s) {
				if upTo := s.strand.knownUpTo(); known < 0 || upTo < known {
					known = upTo
				}
			} else if best < 0 || s.next.start < h.sources[best].next.start {
				best = k
			}
		}
		if best < 0 {
			return
		}
		// The same text can be there a byte or three later, aligned: see tally.evidence.
		first := &h.sources[best]
		if unit := int64(first.form.enc.unit()); known >= 0 && known < first.next.start+unit {
			return
		}
		h.count++
		if h.kept.wants() {
			read := first
			for k := range h.sources {
				s := &h.sources[k]
				if s.known && s.form.enc.unit() == first.form.enc.unit() &&
					s.next.start == nextUnit(first.form.enc, first.next.start) {
					read = s
					break
				}
			}
			h.kept.add(read.form.enc, read.next)
		}
		h.upTo = first.next.end
	}
}

// seek makes the next match of a source known that begins where the last counted one ends, or behind it, and reports
// whether there is one so far.
func (h *spacedCandidate) seek(s *source) bool {
	for !s.known || s.next.start < h.upTo {
		if s.met { // else its first match is wanted, which may overlap a counted one of another
			s.place = max(s.place, s.strand.placeOf(h.upTo))
		}
		if s.next, s.known = s.strand.next(s.form, s.place); !s.known {
			s.place = max(s.place, s.strand.limit)
			return false
		}
		if !s.met {
			s.met = true
			h.meet(s.form.enc, s.next)
		}
	}
	return true
}
