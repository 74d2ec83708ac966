package scanner

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A selection is a set of rules that select the same files, and the engine that
// finds their patterns, and perhaps others.
type selection struct {
	rules  []int    // indices in the bundle, ascending
	keyed  []int    // those of them that have items with a key
	asked  []*asked // those items, each once
	engine *engine
}

// An engine finds the texts and expressions of some rules.
type engine struct {
	*match.Engine
	index map[rules.Item]int // of each item that is no key, in it
	all   bool               // it is of all rules, and the selections that share it have some of them
}

// engines are the selections of a bundle, made when they are first met. Several goroutines
// may use them.
type engines struct {
	bundle *rules.Bundle

	mu         sync.Mutex            // of what follows
	selections map[string]*selection // by the rules' indices
	patterns   map[rules.Item]*match.Pattern
	union      *engine // of all rules; nil until it is needed
}

// maxEngines bounds how many sets of rules have their own engine. A tree can
// hold a file for each of 2^n sets; those that come later share the union's engine.
const maxEngines = 256

// full reports whether sets of rules that come later share an engine.
func (es *engines) full() bool {
	es.mu.Lock()
	defer es.mu.Unlock()
	return len(es.selections) >= maxEngines
}

func newEngines(b *rules.Bundle) *engines {
	return &engines{bundle: b, selections: map[string]*selection{}, patterns: map[rules.Item]*match.Pattern{}}
}

// selectionKey appends a map key for the rules at the given indices.
func selectionKey(key []byte, selected []int) []byte {
	for _, i := range selected {
		key = append(key, byte(i), byte(i>>8)) // there are at most 10,000 rules
	}
	return key
}

// selection returns the selection of the rules at the given indices.
func (es *engines) selection(selected []int) *selection {
	es.mu.Lock()
	defer es.mu.Unlock()
	key := string(selectionKey(nil, selected))
	if s := es.selections[key]; s != nil {
		return s
	}
	s := es.unprepared(selected)
	if len(es.selections) < maxEngines {
		s.engine = es.engine(selected, nil)
	} else {
		if es.union == nil {
			all := make([]int, len(es.bundle.Rules))
			for i := range all {
				all[i] = i
			}
			es.union = es.engine(all, nil)
			es.union.all = true
		}
		s.engine = es.union
	}
	es.selections[key] = s
	return s
}

// unprepared returns the selection of the rules at the given indices, without its engine.
func (es *engines) unprepared(selected []int) *selection {
	s := &selection{rules: slices.Clone(selected)}
	for _, r := range selected {
		if hasKeys(&es.bundle.Rules[r]) {
			s.keyed = append(s.keyed, r)
		}
	}
	s.asked = askedBy(es.bundle, s.keyed)
	return s
}

// engine compiles the texts and expressions of some rules, each once. With a screen, those that must not occur are left
// out if the content lacks them.
func (es *engines) engine(selected []int, screen *match.Screen) *engine {
	n := 0 // of items, some of which may be left out
	if screen == nil {
		n = es.items(selected)
	}
	e := &engine{index: make(map[rules.Item]int, n)}
	if len(es.patterns) == 0 {
		es.patterns = make(map[rules.Item]*match.Pattern, n)
	}
	patterns := make([]*match.Pattern, 0, n)
	var forbidden, required []bool // by pattern
	add := func(items []rules.Item, asked *[]bool, screen *match.Screen) {
		for _, item := range items {
			if item.Kind == rules.Key ||
				screen != nil && item.Kind == rules.Text && screen.Lacks(item.Text, options(item)) {
				continue
			}
			at, known := e.index[item]
			if !known {
				if es.patterns[item] == nil {
					es.patterns[item] = compile(item)
				}
				at = len(patterns)
				e.index[item] = at
				patterns = append(patterns, es.patterns[item])
				forbidden, required = append(forbidden, false), append(required, false)
			}
			(*asked)[at] = true
		}
	}
	for _, i := range selected {
		add(es.bundle.Rules[i].Patterns, &forbidden, screen)
		add(es.bundle.Rules[i].Required, &required, nil)
	}
	e.Engine = match.NewEngine(patterns)
	for at := range patterns {
		if required[at] {
			e.Require(at, !forbidden[at])
		}
	}
	return e
}

// compile returns the pattern of a text or an expression of a bundle, which has only expressions that compile.
func compile(item rules.Item) *match.Pattern {
	if item.Kind == rules.Regex {
		x, err := regex.Compile(item.Text)
		if err != nil {
			panic("scanner: a bundle has an expression that does not compile: " + err.Error())
		}
		return match.CompileRegex(x, item.WithinLines)
	}
	return match.Compile(item.Text, options(item))
}

// options are those of a text of a bundle.
func options(item rules.Item) match.Options {
	return match.Options{
		Spaces: item.Spaces, Words: item.Words, IgnoreCase: item.IgnoreCase, WithinLines: item.WithinLines,
	}
}

// items is how many items some rules have.
func (es *engines) items(selected []int) int {
	n := 0
	for _, i := range selected {
		n += len(es.bundle.Rules[i].Patterns) + len(es.bundle.Rules[i].Required)
	}
	return n
}

// Check judges one content as if it stood at path in a tree, and returns the
// violations in the order of a verdict. It reads nothing and has no effects. The
// path is relative, with slashes. Required files are not looked for. The error is an [Undecided], with the violations
// that there are all the same, or the context's.
func Check(ctx context.Context, b *rules.Bundle, path string, content []byte) ([]verdict.Violation, error) {
	return NewChecker(b).Check(ctx, path, content)
}

// A Checker is [Check] for one bundle. It keeps what it prepares for a path's rules, so that the next content
// costs less. One goroutine may use it at a time.
type Checker struct {
	bundle   *rules.Bundle
	engines  *engines
	examiner match.Examiner
	screened int    // bytes, so far, of contents and, as screenBytes, of what was prepared for one alone
	pulse    *pulse // nil: no one asks

	textAlone bool
}

// TextAlone reports whether the content that was checked last cannot be parsed, and was judged by its text alone for
// rules with "unparsable: text".
func (c *Checker) TextAlone() bool { return c.textAlone }

// NewChecker returns a checker that has prepared nothing yet.
func NewChecker(b *rules.Bundle) *Checker { return &Checker{bundle: b, engines: newEngines(b)} }

// Check is the function [Check].
func (c *Checker) Check(ctx context.Context, path string, content []byte) ([]verdict.Violation, error) {
	c.pulse.path(path, worktree.Regular)
	broken := forbiddenPath(path, c.bundle.Forbidding(path, nil), nil)
	var undecided error
	c.textAlone = false
	if selected := c.bundle.Selecting(path, nil); len(selected) > 0 {
		s := c.selection(selected, content)
		rep, err := c.examiner.Examine(ctx, s.engine.Engine, bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		var k keyed
		if len(s.keyed) > 0 {
			rep.Content = content
			judge := &keyJudge{bundle: c.bundle, traced: c.pulse != nil}
			k, err = judge.examine(ctx, &c.examiner, s, path, nil, &rep)
			if err != nil {
				return nil, err
			}
			broken = s.judgeKeys(path, &k, true, c.bundle, broken)
			c.textAlone = k.unparsed
			if len(k.errors) > 0 {
				undecided = &Undecided{k.errors}
			}
		}
		broken = s.judge(path, rep.Finds, c.bundle, broken)
		broken = s.lacking(path, lackOf(&rep, ""), c.bundle, broken)
		c.pulse.met(s, rep.Missing, &k)
	}
	c.pulse.broken(broken)
	var violations []verdict.Violation
	sortBroken(broken)
	for i := range broken {
		violations = append(violations, broken[i].violation(c.bundle))
	}
	return violations, undecided
}

// screenBytes is how many bytes are screened in the time that it takes to prepare a text: 3 µs.
const screenBytes = 2 << 10

// selection returns the selection of the rules at the given indices, for a content. The first contents that a checker
// gets are screened, until to prepare all texts would have taken as long: of an edit, a hook checks the file before it
// and after it, and no more.
func (c *Checker) selection(selected []int, content []byte) *selection {
	if c.screened+len(content) <= screenBytes*c.engines.items(selected) {
		if screen := match.NewScreen(content); screen != nil {
			s := c.engines.unprepared(selected)
			s.engine = c.engines.engine(selected, screen)
			c.screened += len(content) + screenBytes*s.engine.Len()
			return s
		}
	}
	return c.engines.selection(selected)
}

// Undecided is the error of a content that rules could not judge: it cannot be parsed, or its format is not known.
type Undecided struct {
	Errors []verdict.Error // one at least, each of another code
}

func (u *Undecided) Error() string {
	var all []string
	for i := range u.Errors {
		all = append(all, u.Errors[i].Error())
	}
	return strings.Join(all, "; ")
}

// Has reports whether a code is among those of the errors.
func (u *Undecided) Has(code string) bool {
	return u != nil && slices.ContainsFunc(u.Errors, func(e verdict.Error) bool { return e.Code == code })
}
