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

// A Liveness says which parts of rules are alive: that in an example of the rule, or in a file of a tree,
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
type Liveness struct {
	Examples, Files int              // that were tried
	Bundles         []BundleLiveness // in the order of the sources
	Errors          []verdict.Error  // what could not be decided in the tree: with any, what is Dead may be alive
}

// A BundleLiveness is the liveness of a bundle's rules.
type BundleLiveness struct {
	Alive    int             // parts
	Dead     []DeadPart      // parts that nothing shows to be alive
	Mistakes document.Errors // examples that could not be judged
}

// A DeadPart is a part of a rule that nothing shows to be alive.
type DeadPart struct {
	Rule       *rules.Rule
	Part       rules.Part
	Redundant  bool // of an exclude: it removes paths, but other excludes remove each of them, too
	triedFiles bool // the rules were tried on files, too
}

// Alive tries the rules of some bundles on their own examples and, unless it is nil, on the tree of a run of them.
func Alive(ctx context.Context, sources []run.RuleSource, r *run.Run) (*Liveness, error) {
	var set *run.RuleSet
	if r != nil {
		sources, set = r.Sources, r.Rules
	} else {
		set = run.NewRuleSet(sources)
	}
	life, pulse := &Liveness{Bundles: make([]BundleLiveness, len(sources))}, newUsageObserver(set.Bundle)
	if err := life.examples(ctx, sources, pulse); err != nil {
		return nil, err
	}
	if r != nil {
		tried := *r
		tried.MustCover = false // a rule that covers no file is a result
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

// examples tries each rule on its own examples.
func (l *Liveness) examples(ctx context.Context, sources []run.RuleSource, p *usageObserver) error {
	number := p.numbers()
	for judge, j := range sources {
		for _, r := range j.Bundle.Rules {
			if len(r.Examples) == 0 {
				continue
			}
			alone := rules.New([]rules.Rule{r}, nil)
			c, own := check.NewContentChecker(alone), newUsageObserver(alone)
			c.Traces = true
			for i, x := range r.Examples {
				l.Examples++
				found, err := c.Result(ctx, x.Path, []byte(x.Content))
				if err != nil {
					return err
				}
				if wrong := found.KeyErrors(); len(wrong) > 0 {
					l.Bundles[judge].Mistakes = append(l.Bundles[judge].Mistakes, r.ExampleMistake(i, wrong[0].Message))
				}
				found.File.Kind = worktree.Regular
				own.observe(&found)
			}
			p.signs[number[r.ID]] = own.signs[0]
		}
	}
	return nil
}

// count says which parts of the rules are dead. files reports whether they were tried on files, too.
func (l *Liveness) count(sources []run.RuleSource, p *usageObserver, files bool) {
	number := p.numbers()
	for judge, j := range sources {
		var parts []DeadPart
		var found []usage // of each of the parts
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
				parts, found = append(parts, DeadPart{Rule: r, Part: part, triedFiles: files}), append(found, s)
			}
		}
		of := &l.Bundles[judge]
		for i := range parts {
			if found[i] == alive {
				of.Alive++
				continue
			}
			parts[i].Redundant = found[i] == redundant
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
	if appliesToFiles(r) {
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

// A usage is whether something triggers a part of a rule.
type usage uint8

const (
	unused    usage = iota
	redundant       // of an exclude: it removes what another one removes as well
	alive
)

// A usageObserver watches which parts of a bundle's rules are used while they are checked. Several goroutines may use
// it.
type usageObserver struct {
	bundle          *rules.Bundle
	withoutExcludes *rules.Bundle // the rules that have excludes, without them
	number          []int         // of each of those, in bundle
	excludes        [][]exclude   // of each of those, its excludes

	mu    sync.Mutex // of what follows
	signs []map[rules.Part]usage
}

// An exclude is one glob of a rule's excludes, by itself.
type exclude struct {
	part rules.Part
	glob *glob.Set
}

func newUsageObserver(b *rules.Bundle) *usageObserver {
	p := &usageObserver{bundle: b}
	var free []rules.Rule
	for i, r := range b.Rules {
		p.signs = append(p.signs, map[rules.Part]usage{})
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
		free, p.number, p.excludes = append(free, r), append(p.number, i), append(p.excludes, out)
	}
	p.withoutExcludes = rules.New(free, nil)
	return p
}

// numbers returns the number of each rule, by its id, which no two rules have that are enforced together.
func (p *usageObserver) numbers() map[string]int {
	all := map[string]int{}
	for i := range p.bundle.Rules {
		all[p.bundle.Rules[i].ID] = i
	}
	return all
}

func (p *usageObserver) take(rule int, part rules.Part, s usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signs[rule][part] < s {
		p.signs[rule][part] = s
	}
}

// observe takes the signs that a file or a submodule shows.
func (p *usageObserver) observe(r *check.Result) {
	p.path(r.File.Path, r.File.Kind)
	if !r.Settled || r.Vanished {
		return
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		p.take(f.Rule, rules.Part{Kind: rules.WholeRule}, alive)
		if f.Ref.Of == rules.ForbiddenPattern {
			p.take(f.Rule, rules.Part{Kind: rules.PatternItem, Index: f.Ref.Index}, alive)
		}
	}
	r.Present(p.bundle, func(rule int, part rules.Part) { p.take(rule, part, alive) })
}

// path takes the signs that a path shows.
func (p *usageObserver) path(path string, kind worktree.Kind) {
	if path == "." {
		return
	}
	matching(p.bundle, path, kind, func(rule int, part rules.Part) { p.take(rule, part, alive) })
	last := -1 // the rule that was asked; most paths have one that has excludes, or none
	matching(p.withoutExcludes, path, kind, func(rule int, _ rules.Part) {
		if rule == last {
			return
		}
		last = rule
		var removing []rules.Part
		for _, x := range p.excludes[rule] {
			if x.glob.Match(path) {
				removing = append(removing, x.part)
			}
		}
		s := alive
		if len(removing) > 1 {
			s = redundant
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
