package rules

import (
	"fmt"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
)

// New returns a bundle of rules that were not loaded together: some rules of
// a bundle, the rules of two, or rules made by hand. The globs must have passed
// glob.Check. The bundle shares the slices and has no SHA256.
func New(enforced, deprecated []Rule) *Bundle {
	b := &Bundle{Rules: enforced, Deprecated: deprecated}
	for i := range b.Rules {
		b.Rules[i].compile()
	}
	b.selector = newSelector(b.Rules)
	b.classes = sync.OnceValue(func() []linkClass { return linkClasses(b.Rules) })
	return b
}

// Join returns the bundle of the enforced and the deprecated rules of several: the boundaries of all in the order of
// the bundles, then their invariants. One alone is returned as it is. No id may be in two of them; see [Distinct].
func Join(bundles ...*Bundle) *Bundle {
	if len(bundles) == 1 {
		return bundles[0]
	}
	var enforced, deprecated []Rule
	for _, t := range []Type{Boundary, Invariant} {
		for _, b := range bundles {
			for i := range b.Rules {
				if b.Rules[i].Type == t {
					enforced = append(enforced, b.Rules[i])
				}
			}
		}
	}
	for _, b := range bundles {
		deprecated = append(deprecated, b.Deprecated...)
	}
	return New(enforced, deprecated)
}

// Distinct is an error if a rule's id is in two of several bundles, deprecated rules included. It names each such id,
// and the bundles by their numbers in the order given, from 1: their names would make the verdict depend on the
// current folder. A bundle that is nil has no ids.
func Distinct(bundles []*Bundle) error {
	if len(bundles) < 2 {
		return nil
	}
	var mistakes document.Errors
	first := map[string]int{} // the bundle that has an id
	for i, b := range bundles {
		if b == nil {
			continue
		}
		for _, list := range [][]Rule{b.Rules, b.Deprecated} {
			for k := range list {
				id := list[k].ID
				other, taken := first[id]
				if !taken {
					first[id] = i
				} else if other != i {
					mistakes = append(mistakes, &document.Error{
						Code: document.CodeTwo, Rule: id,
						Found: fmt.Sprintf("two bundles have a rule with this id, number %d and number %d of --policy",
							other+1, i+1),
						Fix: "give each rule its own id; a prefix for each bundle helps",
					})
				}
			}
		}
	}
	if mistakes == nil {
		return nil
	}
	return mistakes
}

func (r *Rule) compile() {
	r.files = glob.Compile(r.Files)
	r.exclude = glob.Compile(r.Exclude)
}

// Selects reports whether the rule is about the file of that path: the path
// matches any glob of Files and none of Exclude. A rule that came neither
// from Load nor from New compiles its globs at each call.
func (r *Rule) Selects(path string) bool {
	files, exclude := r.files, r.exclude
	if files == nil {
		files, exclude = glob.Compile(r.Files), glob.Compile(r.Exclude)
	}
	return files.Match(path) && !exclude.Match(path)
}

// Selecting appends to into the indices in b.Rules of the rules that select path, in
// order, and returns the longer slice. It is for asking about many paths: it allocates only if
// into is too short, and is safe for concurrent use. A bundle that came neither from
// Load nor from New asks each rule.
func (b *Bundle) Selecting(path string, into []int) []int {
	if b.selector == nil {
		for i := range b.Rules {
			if b.Rules[i].Selects(path) {
				into = append(into, i)
			}
		}
		return into
	}
	return b.selector.selecting(path, into)
}

// A selector answers for all rules of a bundle at once: each distinct glob is
// matched once, however many rules have it.
type selector struct {
	index   *glob.Index
	files   [][]int   // of each glob, by its number, the rules that have it among Files
	exclude [][]int   // of each rule, the numbers of its Exclude
	scratch sync.Pool // of *matched
}

// matched are the globs and the rules that select a path.
type matched struct {
	globs, rules glob.Bits
}

func newSelector(rules []Rule) *selector {
	sets := make([][]string, 0, 2*len(rules))
	for i := range rules {
		sets = append(sets, rules[i].Files, rules[i].Exclude)
	}
	index := glob.NewIndex(sets...)
	s := &selector{index: index, files: make([][]int, index.Len()), exclude: make([][]int, len(rules))}
	s.scratch.New = func() any { return new(matched) }
	for i := range rules {
		for _, g := range rules[i].Files {
			n := index.Number(g)
			s.files[n] = append(s.files[n], i)
		}
		for _, g := range rules[i].Exclude {
			s.exclude[i] = append(s.exclude[i], index.Number(g))
		}
	}
	return s
}

func (s *selector) selecting(path string, into []int) []int {
	m := s.scratch.Get().(*matched)
	m.globs = s.index.Match(path, m.globs)
	m.rules = m.rules.Cleared(len(s.exclude))
	m.globs.Each(func(n int) { m.rules.Add(s.files[n]) })
	m.rules.Each(func(i int) {
		if !anyOf(m.globs, s.exclude[i]) {
			into = append(into, i)
		}
	})
	s.scratch.Put(m)
	return into
}

func anyOf(bits glob.Bits, numbers []int) bool {
	for _, n := range numbers {
		if bits.Has(n) {
			return true
		}
	}
	return false
}

// SelectingBeneath appends to into the indices of the rules that select the path
// itself, or could select some path beneath it, were it a folder: of a submodule no
// one knows what is in it. Where that is in doubt a rule is in; excludes are not asked.
func (b *Bundle) SelectingBeneath(path string, into []int) []int {
	for i := range b.Rules {
		r := &b.Rules[i]
		if r.Selects(path) || slices.ContainsFunc(r.Files, func(g string) bool { return glob.Beneath(g, path) }) {
			into = append(into, i)
		}
	}
	return into
}

// Same reports whether two rules say the same, wherever they are.
func (r *Rule) Same(o Rule) bool {
	return r.ID == o.ID && r.Type == o.Type && r.Title == o.Title &&
		slices.Equal(r.Files, o.Files) && slices.Equal(r.Exclude, o.Exclude) && slices.Equal(r.Patterns, o.Patterns) &&
		r.Message == o.Message && r.Remediation == o.Remediation && r.DocsURL == o.DocsURL && r.Owner == o.Owner &&
		r.Severity == o.Severity && slices.Equal(r.Tags, o.Tags) && r.Redact == o.Redact
}
