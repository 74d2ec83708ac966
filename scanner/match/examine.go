// Package match finds patterns in content: which occur, where, how often, and the text around the first place. A
// pattern is a literal, with [Options] that widen or narrow its matches, or a regex.
//
// It works on bytes, and knows no rules, files, globs or git. An [Engine] is made for a set of patterns; an [Examiner]
// searches content of any length with it, in windows of fixed size. docs/matching.md defines matches and encodings.
package match

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/scanner/needle"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/linehash"
)

// A Find is a pattern that occurs in a content, with its evidence. The rule's part (redaction, the excerpt, the
// fingerprint) is added later.
type Find struct {
	Pattern                int // index in the engine
	Evidence               verdict.Evidence
	Before, Matched, After string // the excerpt's parts
	Line                   []byte // for the fingerprint: see verdict.Fingerprint

	// Marked is set if a regex matches after the content's byte order mark, in that mark's encoding, or in UTF-8
	// without one. If two marks fit, the longer counts.
	Marked bool `json:",omitzero"`

	// Marks belong to the first occurrences, at most [MaxMarks]; nil if the Examiner does not mark.
	Marks []Mark `json:",omitzero"`

	kept []placed
	all  bool // all of those are places

	*site `json:"-"` // nil once the evidence is filled in: 50,000 finds are in memory together
}

type site struct {
	required   bool // only shows that a required literal occurs
	match      match
	enc        encoding
	start, end spot
	near       []byte // the bytes around start
	nearAt     int64  // offset of near
}

// An Examiner searches contents for the patterns of an engine, one after another. It keeps its buffer: use one
// Examiner per goroutine.
type Examiner struct {
	Limit  int64 // the longest content, in bytes; 0: no limit
	Window int   // the size of a window, in bytes; 0: WindowSize
	Keep   bool  // the Report has the content, if one window holds it
	Mark   bool  // the finds have marks
	Bare   bool  // evidence of the finds has only kind, offset, encoding and number of occurrences

	buf   []byte
	held  []byte // where buf was while its content is read again
	seen  map[*Engine]*seen
	found map[*Engine]*seen // the results of firstOf
	lower []byte            // a window in lower case
	exprs []exprCandidate   // of the last content

	hasher *linehash.Hasher // of one text after another; nil until one is needed
}

// A Report is an Examiner's result for one content.
type Report struct {
	Bytes   int64
	Reads   int     // that brought bytes, over all passes
	Pointer bool    // it is a Git LFS pointer
	Crypt   bool    // git-crypt has encrypted it
	Finds   []*Find // by pattern; not for patterns that are only required
	Content []byte  // if the Examiner keeps it and one window holds it; otherwise nil
	Shape   Shape

	// Missing are the required patterns that do not occur, by their index in the engine. If there are any, End is
	// their evidence (otherwise nil): it extends from the first byte to the last. It is empty if the Examiner is Bare.
	Missing []int
	End     *verdict.Evidence
}

// Examine reads content from its first byte to its last, and again as often as the evidence of finds needs. Memory
// does not grow with its length.
func (x *Examiner) Examine(ctx context.Context, e *Engine, content io.ReadSeeker) (rep Report, err error) {
	whole := notes(&x.seen, e)
	var only window    // the content, if one window holds it
	first := int64(-1) // no match begins before it; -1: there is no match
	rep.Bytes, err = pass(ctx, x.windows(content, e.overlap), &rep.Reads, func(w window) bool {
		if w.at == 0 {
			rep.Pointer, rep.Crypt = isPointer(w.data, w.last), bytes.HasPrefix(w.data, gitCrypt)
			if w.last {
				only = w
			}
		}
		e.look(whole, w)
		if first < 0 && whole.any() {
			first = w.at + x.firstOf(e, w)
		}
		return true
	})
	if err != nil {
		return rep, err
	}
	rep.Shape = whole.Shape
	if x.Keep && only.last {
		rep.Content = bytes.Clone(only.data)
	}
	candidates := e.candidates(whole, x.Kept(), x.exprs)
	x.exprs = candidates.exprs
	if len(candidates.texts)+len(candidates.spaced)+len(candidates.exprs)+len(e.required) == 0 {
		return rep, nil
	}
	if only.last {
		content = bytes.NewReader(only.data)
		x.buf, x.held = x.held, x.buf
	}
	if err := x.limitLines(ctx, e, content, &candidates, &rep.Reads); err != nil {
		return rep, err
	}
	if err := x.confirm(ctx, content, only, e, &candidates, &rep.Reads); err != nil {
		return rep, err
	}
	shared := overlap{e.overlap, e.before}
	if err := x.search(ctx, content, max(first, 0), shared, candidates.texts, &rep.Reads); err != nil {
		return rep, err
	}
	if !only.last {
		shared = x.boundRuns(candidates.spaced)
	}
	if err := x.search(ctx, content, 0, shared, candidates.spaced, &rep.Reads); err != nil {
		return rep, err
	}
	for _, h := range slices.Concat(candidates.texts, candidates.spaced) {
		rep.Finds = h.find(rep.Finds)
	}
	if err := x.ruleOut(ctx, content, only, e, candidates.exprs, &rep.Reads); err != nil {
		return rep, err
	}
	for i := range candidates.exprs {
		h := &candidates.exprs[i]
		if !h.found && len(h.readings) > 0 {
			reads := 0 // an iterator has its address, which would keep all of rep on the heap, for each file
			err := x.searchExpr(ctx, content, only, h, &reads)
			rep.Reads += reads
			if err != nil {
				return rep, err
			}
		}
		rep.Finds = h.find(rep.Finds)
	}
	if err := x.missing(ctx, e, content, whole, &rep); err != nil {
		return rep, err
	}
	rep.Finds = slices.DeleteFunc(rep.Finds, func(f *Find) bool { return f.required || e.Alone(f.Pattern) })
	slices.SortFunc(rep.Finds, func(a, b *Find) int { return cmp.Compare(a.Pattern, b.Pattern) })
	for _, f := range rep.Finds {
		f.Evidence.Pattern = e.patterns[f.Pattern].text
	}
	return rep, x.locate(ctx, content, rep.Finds, &rep.Reads)
}

// Kept is the number of occurrences that a find stores at most.
func (x *Examiner) Kept() int {
	if x.Mark {
		return MaxMarks + verdict.MaxPlaces
	}
	return verdict.MaxPlaces
}

// An overlap is the number of bytes that consecutive windows share, and how many of them are only context.
type overlap struct{ all, before int }

// search returns the candidates whose matches begin at or after an offset.
func (x *Examiner) search(
	ctx context.Context, content io.ReadSeeker, from int64, shared overlap, candidates []*candidate, reads *int,
) error {
	if len(candidates) == 0 {
		return nil
	}
	folds := slices.ContainsFunc(candidates, (*candidate).folds)
	err := x.again(ctx, content, max(from-int64(shared.before), 0), shared.all, reads, func(w window) bool {
		limit := len(w.data)
		if !w.last {
			limit -= shared.all - shared.before
		}
		if folds {
			x.lower = needle.AppendLower(x.lower[:0], w.data)
		}
		for _, h := range candidates {
			h.look(w, x.lower, int(from-w.at), limit)
		}
		from = w.at + int64(limit)
		return true
	})
	for _, h := range candidates {
		if err == nil && slices.ContainsFunc(h.forms, func(f *form) bool { return f.over }) {
			err = ErrSpaces
		}
	}
	return err
}

// In a content of several windows, all runs of spaces of a literal share these bytes, but each has a few at least.
const (
	allRuns = 48 << 10
	oneRun  = 256
)

// boundRuns bounds the runs of spaces in literals with the option Spaces. It returns their overlap of windows.
func (x *Examiner) boundRuns(candidates []*candidate) overlap {
	longest := 0
	for _, h := range candidates {
		for _, f := range h.forms {
			f.run = max(min(allRuns, cmp.Or(x.Window, WindowSize))/len(f.joints), oneRun)
			longest = max(longest, f.longest+len(f.joints)*f.run)
		}
	}
	return overlap{longest + lookAhead + 2*lookBack, lookBack}
}

// firstOf returns the earliest place for matches in the first window with any needle: the first part of the window
// that contains one, since an earlier match would lie in the part before. That spares the second step, which searches
// for one pattern after another, most of the window.
func (x *Examiner) firstOf(e *Engine, w window) int64 {
	const part = 8 << 10
	s := notes(&x.found, e)
	for at := 0; at+part+e.overlap < len(w.data); at += part {
		if e.look(s, window{at: w.at + int64(at), data: w.data[at : at+part+e.overlap]}); s.any() {
			return int64(at)
		}
	}
	return int64(max(0, len(w.data)-part-e.overlap) / part * part)
}

// notes returns an engine's notes, empty. They are reused for each content: allocating them for 10,000 patterns takes
// longer than searching a small file.
func notes(of *map[*Engine]*seen, e *Engine) *seen {
	s := (*of)[e]
	if s == nil {
		if *of == nil {
			*of = map[*Engine]*seen{}
		}
		s = e.newSeen()
		(*of)[e] = s
	}
	s.reset()
	return s
}

func (x *Examiner) windows(content io.Reader, overlap int) *windows {
	if need := max(cmp.Or(x.Window, WindowSize), 4*overlap); len(x.buf) < need {
		x.buf = make([]byte, need)
	}
	return &windows{r: content, buf: x.buf, overlap: overlap, limit: x.Limit}
}

// again calls look with the windows of content, from an offset on, until it returns false.
func (x *Examiner) again(ctx context.Context, content io.ReadSeeker, from int64, overlap int, reads *int,
	look func(window) bool) error {
	if _, err := content.Seek(from, io.SeekStart); err != nil {
		return err
	}
	ws := x.windows(content, overlap)
	ws.at = from
	_, err := pass(ctx, ws, reads, look)
	return err
}

// pass calls look with windows until it returns false. It returns the number of bytes read, and adds the number of
// reads to reads.
func pass(ctx context.Context, ws *windows, reads *int, look func(window) bool) (int64, error) {
	defer func() { *reads += ws.reads }()
	for {
		if err := context.Cause(ctx); err != nil {
			return ws.read(), err
		}
		w, ok, err := ws.next()
		if err != nil || !ok || !look(w) {
			return ws.read(), err
		}
	}
}
