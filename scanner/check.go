package scanner

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict"
)

// A selection is a set of rules that select the same files, and the engine that
// finds their patterns, and perhaps others.
type selection struct {
	rules  []int // indices in the bundle, ascending
	engine *match.Engine
}

// engines are the selections of a bundle, made when they are first met. Several goroutines
// may use them.
type engines struct {
	bundle *rules.Bundle

	mu         sync.Mutex            // of what follows
	selections map[string]*selection // by the rules' indices
	patterns   map[rules.Item]*match.Pattern
	union      *match.Engine // of all rules; nil until it is needed
}

// maxEngines bounds how many sets of rules have their own engine. A tree can
// hold a file for each of 2^n sets; those that come later share the union's engine.
const maxEngines = 256

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
	s := &selection{rules: slices.Clone(selected)}
	if len(es.selections) < maxEngines {
		s.engine = es.engine(selected)
	} else {
		if es.union == nil {
			all := make([]int, len(es.bundle.Rules))
			for i := range all {
				all[i] = i
			}
			es.union = es.engine(all)
		}
		s.engine = es.union
	}
	es.selections[key] = s
	return s
}

// engine compiles the patterns of some rules, each text once.
func (es *engines) engine(selected []int) *match.Engine {
	var patterns []*match.Pattern
	index := map[string]int{}
	for _, i := range selected {
		for _, item := range es.bundle.Rules[i].Patterns {
			if _, ok := index[item.Name]; ok {
				continue
			}
			if es.patterns[item] == nil {
				es.patterns[item] = match.Compile(item.Text)
			}
			index[item.Name] = len(patterns)
			patterns = append(patterns, es.patterns[item])
		}
	}
	return match.NewEngine(patterns, index)
}

// A brokenRule is a violation before its texts are put together.
type brokenRule struct {
	path          string
	rule, pattern int // indices in the bundle, and in the rule
	find          *match.Find
	note          string // of verdict.Violation
}

// judge appends the violations that the finds in a file are for the rules that
// select it.
func (s *selection) judge(path string, finds []*match.Find, b *rules.Bundle, broken []brokenRule) []brokenRule {
	if len(finds) == 0 {
		return broken
	}
	found := make(map[int]*match.Find, len(finds))
	for _, f := range finds {
		found[f.Pattern] = f
	}
	for _, r := range s.rules {
		for k, item := range b.Rules[r].Patterns {
			if f := found[s.engine.Index(item.Name)]; f != nil {
				broken = append(broken, brokenRule{path: path, rule: r, pattern: k, find: f})
			}
		}
	}
	return broken
}

// sortBroken puts violations in the order of the verdict.
func sortBroken(broken []brokenRule) {
	slices.SortFunc(broken, func(a, b brokenRule) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.path, b.path), cmp.Compare(a.pattern, b.pattern))
	})
}

func (br *brokenRule) violation(b *rules.Bundle) verdict.Violation {
	r, f := &b.Rules[br.rule], br.find
	v := verdict.Violation{
		RuleID:   r.ID,
		RuleType: string(r.Type),
		Title:    r.Title,
		File:     verdict.Path(br.path),
		Reason:   r.Message,
		Note:     br.note,
		Evidence: f.Evidence,
	}
	if v.Reason == "" {
		v.Reason = fmt.Sprintf("%s: the file contains %q, which must not appear", r.Title, r.Patterns[br.pattern].Name)
	}
	before, after, line := f.Before, f.After, f.Line
	if r.Redact {
		before, after = mask(before), mask(after)
		line = []byte(before + f.Matched + after)
		v.Evidence.LineHash = "" // of 100 characters, so of what is masked
	}
	v.Evidence.Excerpt = before + f.Matched + after
	v.Fingerprint = verdict.Fingerprint(v.RuleID, v.File, v.Evidence.Pattern, line)
	return v
}

// masked replaces a character that a rule redacts.
const masked = '•'

func mask(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return r
		}
		return masked
	}, s)
}

// Check judges one content as if it stood at path in a tree, and returns the
// violations in the order of a verdict. It reads nothing and has no effects. The
// path is relative, with slashes. The error is the context's.
func Check(ctx context.Context, b *rules.Bundle, path string, content []byte) ([]verdict.Violation, error) {
	return NewChecker(b).Check(ctx, path, content)
}

// A Checker is [Check] for one bundle. It keeps what it prepares for a path's rules, so that the next content
// costs less. One goroutine may use it at a time.
type Checker struct {
	bundle   *rules.Bundle
	engines  *engines
	examiner match.Examiner
}

// NewChecker returns a checker that has prepared nothing yet.
func NewChecker(b *rules.Bundle) *Checker { return &Checker{bundle: b, engines: newEngines(b)} }

// Check is the function [Check].
func (c *Checker) Check(ctx context.Context, path string, content []byte) ([]verdict.Violation, error) {
	selected := c.bundle.Selecting(path, nil)
	if len(selected) == 0 {
		return nil, nil
	}
	s := c.engines.selection(selected)
	rep, err := c.examiner.Examine(ctx, s.engine, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var violations []verdict.Violation
	broken := s.judge(path, rep.Finds, c.bundle, nil)
	sortBroken(broken)
	for i := range broken {
		violations = append(violations, broken[i].violation(c.bundle))
	}
	return violations, nil
}
