package match

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules/regex"
)

// An exprSet has regexes of an engine, which are matched together: the ones that share literals, or all without one.
type exprSet struct {
	patterns []int // indices in the engine
	compile  sync.Once
	compiled *regex.Set
}

// set returns the regexes in the order of s.patterns. It is made for the first content with a literal of them.
func (s *exprSet) set(e *Engine) *regex.Set {
	s.compile.Do(func() {
		var exprs []*regex.Expr
		for _, i := range s.patterns {
			exprs = append(exprs, e.patterns[i].expr)
		}
		s.compiled = regex.NewSet(exprs)
	})
	return s.compiled
}

// join makes the sets of two patterns one.
func (e *Engine) join(a, b int) {
	from, to := e.setOf[a], e.setOf[b]
	if from == to {
		return
	}
	if len(from.patterns) > len(to.patterns) {
		from, to = to, from
	}
	for _, i := range from.patterns {
		e.setOf[i] = to
	}
	to.patterns = append(to.patterns, from.patterns...)
}

// worthOnePass is the number of regexes from which one more pass over a content is worth it.
const worthOnePass = 4

// ruleOut drops readings of regexes that match no line of them, if one pass can tell it for several regexes.
func (x *Examiner) ruleOut(
	ctx context.Context, content io.ReadSeeker, only window, e *Engine, exprs []exprCandidate, reads *int,
) error {
	byReading := map[exprReading][]*exprCandidate{}
	for i := range exprs {
		h := &exprs[i]
		for _, r := range h.readings {
			if !h.found && (!only.last || r.enc != utf8Enc) {
				byReading[r] = append(byReading[r], h)
			}
		}
	}
	for r, candidates := range byReading {
		if len(candidates) < worthOnePass {
			continue
		}
		c := newChars(ctx, content, r, x, nil)
		matched, err := e.setFor(candidates).LinesReader(c)
		*reads += c.windows.reads
		if err != nil {
			return err
		}
		may := make([]bool, len(candidates))
		for _, i := range matched {
			may[i] = true
		}
		for i, h := range candidates {
			if !may[i] {
				h.readings = slices.DeleteFunc(slices.Clone(h.readings), func(of exprReading) bool { return of == r })
			}
		}
	}
	return nil
}

// setFor returns the regexes of candidates: the last such set if it has the same.
func (e *Engine) setFor(candidates []*exprCandidate) *regex.Set {
	exprs := make([]*regex.Expr, len(candidates))
	for i, h := range candidates {
		exprs[i] = h.expr
	}
	if last := e.lastSet.Load(); last != nil && slices.Equal(last.Exprs(), exprs) {
		return last
	}
	set := regex.NewSet(exprs)
	e.lastSet.Store(set)
	return set
}
