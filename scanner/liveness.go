package scanner

import (
	"context"
	"fmt"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A Life says which parts of rules are alive: that in an example of the rule, or in a file of a tree,
//
//   - something violates the rule, unless it is about the tree alone;
//   - a glob of files, forbidden_files or required_files matches a path that no exclude removes;
//   - an exclude removes a path that one of these globs matches, and that no other exclude removes;
//   - an item that must not appear is found;
//   - an item that is required is there: in a document, or in a node of its each, that has it;
//   - a path of each leads to a node.
//
// An exclude of a rule file is alive if it is for one of the file's rules. What examples say about themselves does not
// count, but what is found in them.
type Life struct {
	Examples, Files int             // that were tried
	Of              []JudgeLife     // of each judge
	Errors          []verdict.Error // what could not be decided in the tree: with any, what is Dead may be alive
}

// A JudgeLife is the Life of a judge's rules.
type JudgeLife struct {
	Alive    int             // parts
	Dead     []Dead          // parts that nothing shows to be alive
	Mistakes document.Errors // examples that could not be judged
}

// A Dead is a part of a rule that nothing shows to be alive.
type Dead struct {
	Rule  *rules.Rule
	Part  rules.Part
	Twice bool // of an exclude: it removes paths, but other excludes remove each of them, too
	files bool // the rules were tried on files, too
}

// Alive tries the rules of some bundles on their own examples and, unless it is nil, on the tree of a run of them.
func Alive(ctx context.Context, sources []run.RuleSource, r *run.Run) (*Life, error) {
	var set *run.RuleSet
	if r != nil {
		sources, set = r.Sources, r.Rules
	} else {
		set = run.NewRuleSet(sources)
	}
	life, pulse := &Life{Of: make([]JudgeLife, len(sources))}, newPulse(set.Bundle)
	if err := life.examples(ctx, sources, pulse); err != nil {
		return nil, err
	}
	if r != nil {
		tried := *r
		tried.Found = false // that no rule covers a file is what is asked
		s := newScan(&tried)
		s.observe, s.checker.Traces = pulse.observe, true
		if err := s.runOrGiveUp(ctx); err != nil {
			return nil, err
		}
		v := s.verdict()
		life.Files, life.Errors = v.Coverage.Files, v.Errors
	}
	life.count(sources, pulse, r != nil)
	return life, nil
}

// examples tries the judges' rules on their own examples, each on those of its own.
func (l *Life) examples(ctx context.Context, sources []run.RuleSource, p *pulse) error {
	number := p.numbers()
	for judge, j := range sources {
		for _, r := range j.Bundle.Rules {
			if len(r.Examples) == 0 {
				continue
			}
			alone := rules.New([]rules.Rule{r}, nil)
			c, own := check.NewContentChecker(alone), newPulse(alone)
			c.Traces = true
			for i, x := range r.Examples {
				l.Examples++
				found, err := c.Result(ctx, x.Path, []byte(x.Content))
				if err != nil {
					return err
				}
				if wrong := found.KeyErrors(); len(wrong) > 0 {
					l.Of[judge].Mistakes = append(l.Of[judge].Mistakes, r.ExampleMistake(i, wrong[0].Message))
				}
				found.File.Kind = worktree.Regular
				own.observe(&found)
			}
			p.signs[number[r.ID]] = own.signs[0]
		}
	}
	return nil
}

// count says which parts of the judges' rules are dead. files is that they were tried on files, too.
func (l *Life) count(sources []run.RuleSource, p *pulse, files bool) {
	number := p.numbers()
	for judge, j := range sources {
		var parts []Dead
		var found []sign // of each of the parts
		ofFiles := map[string]int{}
		for i := range j.Bundle.Rules {
			r := &j.Bundle.Rules[i]
			for _, part := range partsOf(r) {
				s := p.signs[number[r.ID]][part]
				if part.Kind == rules.FileExcludeGlob {
					key := fmt.Sprintf("%s:%d", r.File, part.Index)
					if at, known := ofFiles[key]; known {
						found[at] = max(found[at], s)
						continue
					}
					ofFiles[key] = len(parts)
				}
				parts, found = append(parts, Dead{Rule: r, Part: part, files: files}), append(found, s)
			}
		}
		of := &l.Of[judge]
		for i := range parts {
			if found[i] == aliveSign {
				of.Alive++
				continue
			}
			parts[i].Twice = found[i] == twiceSign
			of.Dead = append(of.Dead, parts[i])
		}
	}
}

// partsOf returns the parts of a rule that must be alive.
func partsOf(r *rules.Rule) []rules.Part {
	var all []rules.Part
	add := func(kind rules.PartKind, n int) {
		for i := range n {
			all = append(all, rules.Part{Kind: kind, Index: i})
		}
	}
	if asksOfFiles(r) {
		add(rules.WholeRule, 1)
	}
	add(rules.FilesGlob, len(r.Files))
	add(rules.ExcludeGlob, len(r.Exclude))
	add(rules.FileExcludeGlob, len(r.FileExclude))
	add(rules.PatternItem, len(r.Patterns))
	add(rules.RequiredItem, len(r.Required))
	for i, item := range r.Required {
		if item.Kind == rules.Key {
			for k := range item.Key.Each {
				all = append(all, rules.Part{Kind: rules.EachPath, Index: i, Path: k})
			}
		}
	}
	add(rules.ForbiddenFilesGlob, len(r.ForbiddenFiles))
	add(rules.RequiredFilesGlob, len(r.RequiredFiles))
	return all
}

// A sign is one of life, or of less.
type sign uint8

const (
	noSign    sign = iota
	twiceSign      // of an exclude: it removes what another one removes as well
	aliveSign
)

// A pulse takes the signs of life of a bundle's rules while they are checked. Several goroutines may use it. nil: no
// one asks.
type pulse struct {
	bundle *rules.Bundle
	free   *rules.Bundle // the rules that have excludes, without them
	number []int         // of each of those, in bundle
	out    [][]exclude   // of each of those, its excludes

	mu    sync.Mutex // of what follows
	signs []map[rules.Part]sign
}

// An exclude is one glob of a rule's excludes, by itself.
type exclude struct {
	part rules.Part
	glob *glob.Set
}

func newPulse(b *rules.Bundle) *pulse {
	p := &pulse{bundle: b}
	var free []rules.Rule
	for i, r := range b.Rules {
		p.signs = append(p.signs, map[rules.Part]sign{})
		if len(r.Exclude)+len(r.FileExclude) == 0 {
			continue
		}
		var out []exclude
		add := func(kind rules.PartKind, globs []string) {
			for k, g := range globs {
				out = append(out, exclude{rules.Part{Kind: kind, Index: k}, glob.Compile([]string{g})})
			}
		}
		add(rules.ExcludeGlob, r.Exclude)
		add(rules.FileExcludeGlob, r.FileExclude)
		r.Exclude, r.FileExclude = nil, nil
		free, p.number, p.out = append(free, r), append(p.number, i), append(p.out, out)
	}
	p.free = rules.New(free, nil)
	return p
}

// numbers returns the number of each rule, by its id, which no two rules have that are enforced together.
func (p *pulse) numbers() map[string]int {
	all := map[string]int{}
	for i := range p.bundle.Rules {
		all[p.bundle.Rules[i].ID] = i
	}
	return all
}

func (p *pulse) take(rule int, part rules.Part, s sign) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signs[rule][part] < s {
		p.signs[rule][part] = s
	}
}

// observe takes the signs that a file or a submodule shows.
func (p *pulse) observe(r *check.Result) {
	p.path(r.File.Path, r.File.Kind)
	if !r.Settled || r.Vanished {
		return
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		p.take(f.Rule, rules.Part{Kind: rules.WholeRule}, aliveSign)
		if f.Ref.Of == rules.ForbiddenPattern {
			p.take(f.Rule, rules.Part{Kind: rules.PatternItem, Index: f.Ref.Index}, aliveSign)
		}
	}
	r.Present(p.bundle, func(rule int, part rules.Part) { p.take(rule, part, aliveSign) })
}

// path takes the signs that a path shows.
func (p *pulse) path(path string, kind worktree.Kind) {
	if path == "." {
		return
	}
	matching(p.bundle, path, kind, func(rule int, part rules.Part) { p.take(rule, part, aliveSign) })
	last := -1 // the rule that was asked; most paths have one that has excludes, or none
	matching(p.free, path, kind, func(rule int, _ rules.Part) {
		if rule == last {
			return
		}
		last = rule
		var removing []rules.Part
		for _, x := range p.out[rule] {
			if x.glob.Match(path) {
				removing = append(removing, x.part)
			}
		}
		s := aliveSign
		if len(removing) > 1 {
			s = twiceSign
		}
		for _, part := range removing {
			p.take(p.number[rule], part, s)
		}
	})
}

// matching reports the globs of rules that match a path, and are not excluded.
func matching(b *rules.Bundle, path string, kind worktree.Kind, found func(rule int, part rules.Part)) {
	report := func(kind rules.PartKind, globs []rules.GlobOf) {
		for _, g := range globs {
			found(g.Rule, rules.Part{Kind: kind, Index: g.Glob})
		}
	}
	if kind != worktree.Submodule { // whose files are not known, or have paths of their own
		report(rules.FilesGlob, b.SelectedBy(path, nil))
	}
	report(rules.ForbiddenFilesGlob, b.Forbidding(path, nil))
	if kind == worktree.Regular {
		report(rules.RequiredFilesGlob, b.Requiring(path, nil))
	}
}
