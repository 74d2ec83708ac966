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
	type pass struct {
		*exprSet
		exprReading
	}
	passes := map[pass][]*exprCandidate{}
	for i := range exprs {
		h := &exprs[i]
		for _, r := range h.readings {
			if !h.found && (!only.last || r.enc != utf8Enc) {
				p := pass{e.setOf[h.index], r}
				passes[p] = append(passes[p], h)
			}
		}
	}
	for p, candidates := range passes {
		if len(candidates) < worthOnePass {
			continue
		}
		c := newChars(ctx, content, p.exprReading, x, nil)
		matched, err := p.set(e).LinesReader(c)
		*reads += c.windows.reads
		if err != nil {
			return err
		}
		may := map[int]bool{}
		for _, i := range matched {
			may[p.patterns[i]] = true
		}
		for _, h := range candidates {
			if !may[h.index] {
				h.readings = slices.DeleteFunc(slices.Clone(h.readings), func(r exprReading) bool {
					return r == p.exprReading
				})
			}
		}
	}
	return nil
}
