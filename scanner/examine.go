package scanner

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/policyscan/policyscan/verdict"
)

// A find is a pattern that occurs in a content, with its evidence. What depends on
// the rule (redaction, the excerpt, the fingerprint) is not yet in it.
type find struct {
	pattern    int // index in the engine
	match      match
	enc        encoding
	start, end spot
	evidence   verdict.Evidence

	before, matched, after string // the excerpt's parts
	line                   []byte // for the fingerprint: see verdict.Fingerprint
}

// An examiner holds contents against an engine, one after another. It keeps its
// buffer: one examiner for each goroutine.
type examiner struct {
	buf    []byte
	held   []byte // where buf was while its content is read again
	seen   map[*engine]*sighting
	limit  int64 // the most bytes a content may have; 0: no limit
	window int   // how many bytes a window has; 0: windowSize
}

// A report is what an examiner found out about one content.
type report struct {
	bytes   int64
	reads   int // that brought bytes, over all passes
	pointer bool
	finds   []*find // by pattern
}

// examine reads content from its first byte to its last, and again as often as the
// evidence needs when something was found. Memory does not grow with its length.
func (x *examiner) examine(ctx context.Context, e *engine, content io.ReadSeeker) (rep report, err error) {
	whole := x.sighting(e)
	var only window // the content, if one window holds it
	rep.bytes, err = pass(ctx, x.windows(content, e.overlap()), &rep.reads, func(w window) bool {
		if w.at == 0 {
			rep.pointer = isPointer(w.data, w.last)
			if w.last {
				only = w
			}
		}
		e.look(whole, w)
		return true
	})
	if err != nil {
		return rep, err
	}
	hunts := e.candidates(whole)
	if len(hunts) == 0 {
		return rep, nil
	}
	if only.last {
		content = bytes.NewReader(only.data)
		x.buf, x.held = x.held, x.buf
	}
	err = x.again(ctx, content, e.overlap(), &rep.reads, func(w window) bool {
		for _, h := range hunts {
			h.look(w, e.overlap())
		}
		return true
	})
	if err != nil {
		return rep, err
	}
	for _, h := range hunts {
		enc, m, ok := h.evidence()
		if !ok {
			continue
		}
		f := &find{pattern: h.index, match: m, enc: enc, start: spot{offset: m.start}, end: spot{offset: m.end}}
		f.evidence = verdict.Evidence{
			Pattern:     e.patterns[h.index].text,
			Offset:      m.start,
			Occurrences: h.count,
			Encoding:    enc.String(),
		}
		rep.finds = append(rep.finds, f)
	}
	return rep, x.locate(ctx, content, rep.finds, &rep.reads)
}

// sighting returns what an engine notes down, empty. It is used again for each content,
// since to make one for 10,000 patterns takes longer than to look at a small file.
func (x *examiner) sighting(e *engine) *sighting {
	s := x.seen[e]
	if s == nil {
		if x.seen == nil {
			x.seen = map[*engine]*sighting{}
		}
		s = e.newSighting()
		x.seen[e] = s
	}
	s.reset()
	return s
}

// windows cuts content into windows, from where it stands.
func (x *examiner) windows(content io.Reader, overlap int) *windows {
	if need := max(cmp.Or(x.window, windowSize), 4*overlap); len(x.buf) < need {
		x.buf = make([]byte, need)
	}
	return &windows{r: content, buf: x.buf, overlap: overlap, limit: x.limit}
}

// again hands the windows of content, from its first byte on, to look until that
// returns false.
func (x *examiner) again(ctx context.Context, content io.ReadSeeker, overlap int, reads *int, look func(window) bool) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := pass(ctx, x.windows(content, overlap), reads, look)
	return err
}

// pass hands windows to look until that returns false. It returns how many bytes
// were read, and adds to reads how often.
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
