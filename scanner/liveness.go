package scanner

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A Liveness lists the parts of rules that nothing triggers. A part is alive if an example of the rule, or a file of a
// tree, shows one of these:
//
//   - the rule is violated, unless it applies only to the tree;
//   - a glob of files, forbidden_files or required_files matches a path that no exclude removes;
//   - an exclude removes a path that one of these globs matches, and that no other exclude removes;
//   - a forbidden pattern is found;
//   - a required pattern is found: in a document, or in a node of its each;
//   - an each path reaches a node.
//
// An exclude of a rule file is alive if it is so for one of the file's rules. The expected results of examples do not
// count, only their findings. A glob of files or an exclude that is not alive is unused: it may be meant for other
// trees. Any other part is dead.
type Liveness struct {
	Examples, Files int              // that were checked
	Bundles         []BundleLiveness // in the order of the sources
	Errors          []verdict.Error  // undecided in the tree: with any, the other parts may be alive
}

// A BundleLiveness is the liveness of a bundle's rules.
type BundleLiveness struct {
	Alive        int // number of live parts
	Dead, Unused []DeadPart
	Mistakes     document.Errors // examples that could not be checked
}

// A DeadPart is a part of a rule that nothing triggers.
type DeadPart struct {
	Rule       *rules.Rule
	Part       rules.Part
	Redundant  bool   // of an exclude: other excludes remove all of its paths, too
	triedFiles bool   // the rules were tried on files, too
	meant      string // a key that a path of it may mean; or ""
}

// Alive tries the rules of bundles on their own examples and, unless r is nil, on the tree of the run.
func Alive(ctx context.Context, sources []run.RuleSource, r *run.Run) (*Liveness, error) {
	var set *run.RuleSet
	if r != nil {
		sources, set = r.Sources, r.Rules
	} else {
		set = run.NewRuleSet(sources)
	}
	life, observer := &Liveness{Bundles: make([]BundleLiveness, len(sources))}, newUsageObserver(set.Bundle.Rules)
	if err := life.examples(ctx, sources, observer); err != nil {
		return nil, err
	}
	if r != nil {
		tried := *r
		tried.MustCover = false // a rule that covers no file is a result
		s := newScan(&tried)
		s.checker.Traces = true
		v, err := s.observed(ctx, observer.observe)
		if err != nil {
			return nil, err
		}
		life.Files, life.Errors = v.Coverage.Files, v.Errors
		if life.Examples > 0 { // they are enough
			life.Errors = slices.DeleteFunc(life.Errors, func(e verdict.Error) bool { return e.Code == code.Empty })
		}
	}
	life.count(sources, observer, r != nil)
	return life, nil
}

// examples tries each rule on its own examples.
func (l *Liveness) examples(ctx context.Context, sources []run.RuleSource, o *usageObserver) error {
	for k := range sources {
		for _, r := range sources[k].Bundle.Rules {
			if len(r.Examples) == 0 {
				continue
			}
			alone := rules.New([]rules.Rule{r}, nil)
			c, own := check.NewContentChecker(alone), newUsageObserver(alone.Rules)
			c.Traces = true
			for i, x := range r.Examples {
				l.Examples++
				found, err := c.Result(ctx, x.Path, []byte(x.Content))
				if err != nil {
					return err
				}
				if wrong := found.KeyErrors(); len(wrong) > 0 {
					l.Bundles[k].Mistakes = append(l.Bundles[k].Mistakes, r.ExampleMistake(i, wrong[0].Message))
				}
				found.File.Kind = worktree.Regular
				own.observe(&found)
			}
			o.usages[o.number[r.ID]], o.meant[o.number[r.ID]] = own.usages[0], own.meant[0]
		}
	}
	return nil
}

// count lists the parts that are not alive. files reports whether the rules were tried on files, too.
func (l *Liveness) count(sources []run.RuleSource, o *usageObserver, files bool) {
	for k := range sources {
		var parts []DeadPart
		var found []usage // by part
		ofFiles := map[string]int{}
		for i := range sources[k].Bundle.Rules {
			r := &sources[k].Bundle.Rules[i]
			for _, part := range partsOf(r) {
				s := o.usages[o.number[r.ID]][part]
				if part.Kind == rules.FileExcludeGlob {
					key := fmt.Sprintf("%s:%d", r.File, part.Index)
					if at, known := ofFiles[key]; known {
						found[at] = max(found[at], s)
						continue
					}
					ofFiles[key] = len(parts)
				}
				item := part
				if item.Kind == rules.EachPath {
					item = rules.Part{Kind: rules.RequiredItem, Index: part.Index}
				}
				meant := o.meant[o.number[r.ID]][item]
				parts = append(parts, DeadPart{Rule: r, Part: part, triedFiles: files, meant: meant})
				found = append(found, s)
			}
		}
		of := &l.Bundles[k]
		for i := range parts {
			if found[i] == alive {
				of.Alive++
				continue
			}
			parts[i].Redundant = found[i] == redundant
			switch parts[i].Part.Kind {
			case rules.FilesGlob, rules.ExcludeGlob, rules.FileExcludeGlob:
				of.Unused = append(of.Unused, parts[i])
			default:
				of.Dead = append(of.Dead, parts[i])
			}
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
	redundant       // of an exclude: another one removes the same paths
	alive
)

// A usageObserver records which parts of rules are used in a scan.
type usageObserver struct {
	bundle   *rules.Bundle  // the rules without their excludes
	number   map[string]int // by rule id, unique among rules enforced together
	excludes [][]exclude    // by rule
	usages   []map[rules.Part]usage
	meant    []map[rules.Part]string // the first key that a path of an item may mean
}

// An exclude is one glob of a rule's excludes.
type exclude struct {
	part rules.Part
	glob *glob.Set
}

func newUsageObserver(list []rules.Rule) *usageObserver {
	o := &usageObserver{number: map[string]int{}, excludes: make([][]exclude, len(list))}
	list = slices.Clone(list)
	for i := range list {
		add := func(kind rules.PartKind, globs []string) {
			for k, g := range globs {
				part := rules.Part{Kind: kind, Index: k}
				o.excludes[i] = append(o.excludes[i], exclude{part, glob.Compile([]string{g})})
			}
		}
		add(rules.ExcludeGlob, list[i].Exclude)
		add(rules.FileExcludeGlob, list[i].FileExclude)
		list[i].Exclude, list[i].FileExclude = nil, nil
		o.number[list[i].ID] = i
		o.usages, o.meant = append(o.usages, map[rules.Part]usage{}), append(o.meant, map[rules.Part]string{})
	}
	o.bundle = rules.New(list, nil)
	return o
}

func (o *usageObserver) add(rule int, part rules.Part, u usage) {
	o.usages[rule][part] = max(o.usages[rule][part], u)
}

// observe records the result of a file or a submodule.
func (o *usageObserver) observe(r *check.Result) {
	o.path(r.File.Path, r.File.Kind)
	if !r.Settled || r.Vanished {
		return
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		o.add(f.Rule, rules.Part{Kind: rules.WholeRule}, alive)
		if f.Ref.Of == rules.ForbiddenPattern {
			o.add(f.Rule, rules.Part{Kind: rules.PatternItem, Index: f.Ref.Index}, alive)
		}
	}
	r.Present(o.bundle, func(rule int, part rules.Part) { o.add(rule, part, alive) })
	r.Meant(o.bundle, func(rule int, part rules.Part, key check.Reason) {
		meant := fmt.Sprintf("%s:%d: %s", verdict.Path(r.File.Path), key.Line, key.Text)
		if before := o.meant[rule][part]; before == "" || meant < before { // files come in any order
			o.meant[rule][part] = meant
		}
	})
}

// path records the globs that match a path, or the excludes that remove it from their rule.
func (o *usageObserver) path(path string, kind worktree.Kind) {
	if path == "." {
		return
	}
	match := func(kind rules.PartKind, globs []rules.GlobOf) {
		for _, g := range globs {
			var removing []rules.Part
			for _, x := range o.excludes[g.Rule] {
				if x.glob.Match(path) {
					removing = append(removing, x.part)
				}
			}
			switch len(removing) {
			case 0:
				o.add(g.Rule, rules.Part{Kind: kind, Index: g.Glob}, alive)
			case 1:
				o.add(g.Rule, removing[0], alive)
			default:
				for _, part := range removing {
					o.add(g.Rule, part, redundant)
				}
			}
		}
	}
	if kind != worktree.Submodule { // the files of a submodule are unknown, or have their own paths
		match(rules.FilesGlob, o.bundle.SelectedBy(path, nil))
	}
	match(rules.ForbiddenFilesGlob, o.bundle.Forbidding(path, nil))
	if kind == worktree.Regular {
		match(rules.RequiredFilesGlob, o.bundle.Requiring(path, nil))
	}
}

// Mistake describes what is missing for a part to be alive and, if visible, its likely mistake. word is "dead",
// "unused" or a less certain word.
func (d *DeadPart) Mistake(word string) *document.Error {
	return d.Rule.PartMistake(d.Part, word+": "+d.found(), cmp.Or(d.meant, d.Rule.Suspect(d.Part)))
}

func (d *DeadPart) found() string {
	const of = "no example of the rule"
	example, path, content := of, of, of
	if d.Part.Kind == rules.FileExcludeGlob {
		path = "no example of the file's rules"
	}
	if d.triedFiles {
		example, path, content = example+" and no file", path+" and no file", content+" and no file that it selects"
	}
	glob := document.Quoted(d.Rule.Glob(d.Part))
	switch d.Part.Kind {
	case rules.WholeRule:
		return example + " violates it"
	case rules.FilesGlob:
		return path + " has a path that the glob " + glob + " selects"
	case rules.ForbiddenFilesGlob:
		return path + " has a path that the glob " + glob + " forbids"
	case rules.RequiredFilesGlob:
		return path + " has a path that answers the glob " + glob
	case rules.ExcludeGlob, rules.FileExcludeGlob:
		from := "the rule"
		if d.Part.Kind == rules.FileExcludeGlob {
			from = "a rule of the file"
		}
		if d.Redundant {
			return "another exclude removes each path, too, that the exclude " + glob + " removes from " + from
		}
		return path + " has a path that the exclude " + glob + " removes from " + from
	case rules.EachPath:
		each := d.Rule.Required[d.Part.Index].Key.Each[d.Part.Path].String()
		return content + ` has a node at the path ` + document.Quoted(each) + ` of "each"`
	case rules.RequiredItem:
		return content + " has what is required: " + rules.Shown(d.Rule.Required[d.Part.Index])
	}
	return content + " has " + rules.Shown(d.Rule.Patterns[d.Part.Index])
}
