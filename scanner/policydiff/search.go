package policydiff

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/verdict"
)

// Limits of the search: a file takes some 20 µs.
const (
	maxTriesOfRule = 1000   // files
	maxTries       = 60_000 // files, for all rules of a comparison
	maxWhole       = 8      // witnesses that are checked by all rules, to find one that none refuses
)

type bundle struct {
	rules   *rules.Bundle
	checker *check.ContentChecker
}

func newBundle(b *rules.Bundle) bundle { return bundle{b, check.NewContentChecker(b)} }

// refusing returns the rules that refuse a file or a tree, undecided ones included.
func (b bundle) refusing(w verdict.Witness) (ids []string) {
	var hit []int
	file := func(name, content string) {
		r, err := b.checker.Result(context.Background(), name, []byte(content))
		if err != nil {
			return // the context does not end
		}
		if hit = append(hit, r.UndecidedRules()...); len(r.KeyErrors()) > 0 && len(r.UndecidedRules()) == 0 {
			hit = append(hit, r.Plan.Rules...) // an error about no rule in particular
		}
		for i := range r.Findings {
			hit = append(hit, r.Findings[i].Rule)
		}
	}
	var met []rules.GlobOf
	for _, name := range w.Tree {
		file(verdict.RawPath(name), "x\n")
		met = b.rules.Requiring(verdict.RawPath(name), met)
	}
	if w.File != "" {
		file(verdict.RawPath(w.File), w.Content)
	}
	for i := range b.rules.Rules {
		for k := range b.rules.Rules[i].RequiredFiles {
			if w.File == "" && !slices.Contains(met, rules.GlobOf{Rule: i, Glob: k}) {
				hit = append(hit, i)
			}
		}
	}
	slices.Sort(hit)
	for _, i := range slices.Compact(hit) {
		ids = append(ids, b.rules.Rules[i].ID)
	}
	return ids
}

// A search finds witnesses for two versions of a rule. Index 0 is before the change, and what only that refuses.
type search struct {
	*comparison
	rules  [2]*rules.Rule
	alone  [2]bundle // of the version alone
	want   [2]bool   // a witness, weaker and stronger
	best   [2]*verdict.Witness
	whole  [2]int       // witnesses that were checked by all rules of the other side
	items  []rules.Item // of both versions, each once; first what only one has
	within []int        // their within_lines
	keyed  bool         // one has a key
	values []string
}

func newSearch(c *comparison, versions [2]*rules.Rule) *search {
	s := &search{comparison: c, rules: versions}
	for i, r := range versions {
		s.alone[i] = newBundle(rules.New([]rules.Rule{*r}, nil))
	}
	sets := [2]map[rules.Item]bool{meanings(items(versions[0])), meanings(items(versions[1]))}
	known := map[rules.Item]bool{}
	for _, shared := range []bool{false, true} {
		for n, r := range versions {
			for _, i := range items(r) {
				if m := meaning(i); sets[1-n][m] == shared && !known[m] {
					known[m], s.items = true, append(s.items, i)
					s.keyed = s.keyed || i.Kind == rules.Key
					if n := i.WithinLines; n > 0 && !slices.Contains(s.within, n) && len(s.within) < 10 {
						s.within = append(s.within, n)
					}
				}
			}
		}
	}
	return s
}

func items(r *rules.Rule) []rules.Item { return slices.Concat(r.Patterns, r.Required, r.Containing) }

// meaning returns what is equal for items that mean the same, as [rules.Item.Means] does.
func meaning(i rules.Item) rules.Item {
	if i.Kind == rules.Key {
		return rules.Item{Kind: rules.Key, Name: i.Name}
	}
	i.Name = ""
	return i
}

func meanings(list []rules.Item) map[rules.Item]bool {
	set := map[rules.Item]bool{}
	for _, i := range list {
		set[meaning(i)] = true
	}
	return set
}

// both returns the lists of both versions.
func both[T any](s *search, of func(*rules.Rule) []T) []T {
	return slices.Concat(of(s.rules[0]), of(s.rules[1]))
}

// try adds a witness if exactly one version refuses it.
func (s *search) try(w verdict.Witness) {
	refused := [2]bool{len(s.alone[0].refusing(w)) > 0, len(s.alone[1].refusing(w)) > 0}
	for i, effect := range []verdict.Effect{verdict.Weaker, verdict.Stronger} {
		if !refused[i] || refused[1-i] || !s.wants(i) {
			continue
		}
		for _, b := range s.sides[1-i] {
			w.RefusedBy = append(w.RefusedBy, b.refusing(w)...)
		}
		w.Effect, s.whole[i] = effect, s.whole[i]+1
		if s.best[i] == nil || len(w.RefusedBy) == 0 {
			s.best[i] = &w
		}
	}
}

// wants reports whether a witness is missing, or a better one is.
func (s *search) wants(i int) bool {
	return s.want[i] && (s.best[i] == nil || len(s.best[i].RefusedBy) > 0 && s.whole[i] < maxWhole)
}

func (s *search) run() {
	all := s.paths()
	for from, r := range s.rules {
		for g := range r.RequiredFiles {
			s.try(verdict.Witness{Tree: s.tree(1-from, g, all)})
		}
	}
	tried := map[[2]string]bool{}
	s.files(all, func(name, content string) bool {
		if file := [2]string{name, content}; !tried[file] {
			tried[file] = true
			s.try(verdict.Witness{File: verdict.Path(name), Content: content})
			s.left--
		}
		return (s.wants(0) || s.wants(1)) && len(tried) < maxTriesOfRule && s.left > 0
	})
}

// tree returns files that one version requires, without one for a glob of the other version.
func (s *search) tree(of, without int, all []string) (tree []string) {
	for k := range s.rules[of].RequiredFiles {
		i := slices.IndexFunc(all, func(p string) bool {
			return slices.Contains(s.alone[of].rules.Requiring(p, nil), rules.GlobOf{Glob: k}) &&
				!slices.Contains(s.alone[1-of].rules.Requiring(p, nil), rules.GlobOf{Glob: without})
		})
		if i >= 0 {
			tree = append(tree, verdict.Path(all[i]))
		}
	}
	return tree
}

// paths returns paths for all globs, and for the combinations of globs and excludes, the shortest first.
func (s *search) paths() []string {
	all := glob.Samples(both(s, func(r *rules.Rule) []string {
		return slices.Concat(r.Files, r.ForbiddenFiles, r.RequiredFiles)
	}))
	const most = 40 // of each, to combine
	selected := all[:min(len(all), most)]
	for _, p := range selected {
		all = append(all, strings.ToUpper(p))
		if s.keyed && path.Ext(p) == "" {
			all = append(all, p+".yml", p+".tf", p+".json", p+".toml")
		}
	}
	excluded := glob.Samples(both(s, (*rules.Rule).Excludes))
	for _, e := range excluded[:min(len(excluded), most)] {
		all = append(all, e)
		for _, p := range selected {
			dir, name := path.Split(p)
			all = append(all, path.Join(path.Dir(e), name), path.Join(dir, path.Base(e)),
				path.Join(dir, path.Dir(e), name))
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return all
}

// files yields files to try until one is enough: the examples, then contents at a path of each kind.
func (s *search) files(all []string, yield func(name, content string) bool) {
	for _, r := range s.rules {
		for _, x := range r.Examples {
			if !r.Redact && !yield(x.Path, x.Content) { // it may look like a secret
				return
			}
		}
	}
	type kind struct {
		selects, forbids [2]bool
		format           formats.Format
	}
	known, contents := map[kind]bool{}, s.contents()
	var paths []string
	for _, p := range all {
		var k kind
		for i := range s.alone {
			r := &s.alone[i].rules.Rules[0]
			k.selects[i], k.forbids[i] = r.Selects(p), r.Forbids(p)
		}
		if k != (kind{}) {
			if k.format, _ = formats.Of(p); !known[k] {
				known[k], paths = true, append(paths, p)
			}
		}
	}
	for _, c := range contents {
		for _, p := range paths {
			format, _ := formats.Of(p)
			if !yield(p, c.render(format, s.keyed)) {
				return
			}
		}
	}
}
