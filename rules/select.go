package rules

import (
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules/glob"
)

// New returns a bundle of rules that were not loaded together, such as a subset, the rules of two bundles, or rules
// made in code. The globs must have passed glob.Check. The bundle shares the slices and has no SHA256.
func New(enforced, deprecated []Rule) *Bundle {
	b := &Bundle{Rules: enforced, Deprecated: deprecated}
	for i := range b.Rules {
		b.Rules[i].compile()
	}
	b.files = newSelector(b.Rules, FilesGlob)
	b.forbidden = newSelector(b.Rules, ForbiddenFilesGlob)
	b.required = newSelector(b.Rules, RequiredFilesGlob)
	b.classes = sync.OnceValue(func() []linkClass { return linkClasses(b.Rules) })
	b.byFileExclude = sync.OnceValue(b.rulesOfExcludes)
	return b
}

// Only returns the bundle with some of its enforced rules, and without its source.
func (b *Bundle) Only(keep func(*Rule) bool) *Bundle {
	var kept []Rule
	for i := range b.Rules {
		if keep(&b.Rules[i]) {
			kept = append(kept, b.Rules[i])
		}
	}
	some := New(kept, b.Deprecated)
	some.SHA256, some.Is02, some.FileExcludes, some.Allowances = b.SHA256, b.Is02, b.FileExcludes, b.Allowances
	some.Bundles, some.Below = b.Bundles, b.Below
	return some
}

func (r *Rule) compile() {
	r.files = newGlobs(r.Files, r.PathCase)
	r.forbidden = newGlobs(r.ForbiddenFiles, r.PathCase)
	r.exclude, r.fileExclude = glob.Compile(slices.Concat(r.Exclude, r.ownFiles)), glob.Compile(r.FileExclude)
}

// globs are the globs of a rule, matched with or without case.
type globs struct {
	set   *glob.Set
	folds bool
}

func newGlobs(list []string, folds bool) *globs {
	if folds {
		list = glob.FoldAll(list)
	}
	return &globs{glob.Compile(list), folds}
}

func (g *globs) match(path string) bool {
	if g.folds {
		path = glob.Fold(path)
	}
	return g.set.Match(path)
}

// Selects reports whether the rule checks the content of the file at path: the path matches a glob of Files and none
// of Excludes. The rule must come from Load or New.
func (r *Rule) Selects(path string) bool { return r.files.match(path) && !r.excludes(path) }

// Forbids reports whether the rule forbids a file at path: the path matches a glob of ForbiddenFiles and none of
// Excludes.
func (r *Rule) Forbids(path string) bool { return r.forbidden.match(path) && !r.excludes(path) }

func (r *Rule) excludes(path string) bool { return r.exclude.Match(path) || r.fileExclude.Match(path) }

// Selecting appends to into the indices of the rules that select path, in order. It is safe for concurrent use, and
// allocates only if into is too short or the path must be folded.
func (b *Bundle) Selecting(path string, into []int) []int { return b.files.rules(path, into) }

// SelectedBy appends to into the globs of Files that select path, in order.
func (b *Bundle) SelectedBy(path string, into []GlobOf) []GlobOf {
	return b.files.globs(path, into)
}

// A GlobOf is a glob of a rule: the rule's index in the bundle, and the glob's in its list.
type GlobOf struct{ Rule, Glob int }

// Forbidding appends to into the globs of ForbiddenFiles that forbid path, in order.
func (b *Bundle) Forbidding(path string, into []GlobOf) []GlobOf {
	return b.forbidden.globs(path, into)
}

// Requiring appends to into the globs of RequiredFiles that a regular, non-empty file at path satisfies, in order.
func (b *Bundle) Requiring(path string, into []GlobOf) []GlobOf {
	return b.required.globs(path, into)
}

// RequiresFiles reports whether any rule has RequiredFiles.
func (b *Bundle) RequiresFiles() bool {
	return slices.ContainsFunc(b.Rules, func(r Rule) bool { return len(r.RequiredFiles) > 0 })
}

// SelectingBelow appends to into the indices of the rules that select path, or could select or forbid some path
// below it, as in a submodule with unknown content. "." is the root. If in doubt a rule is included; excludes are
// ignored.
func (b *Bundle) SelectingBelow(path string, into []int) []int {
	dir := path
	if path == "." {
		dir = ""
	}
	for i := range b.Rules {
		r := &b.Rules[i]
		globs := glob.NewFollower(slices.Concat(r.Files, r.ForbiddenFiles), r.PathCase)
		if r.Selects(path) || !globs.Below(dir).Empty() {
			into = append(into, i)
		}
	}
	return into
}

// TakenByFile appends to into the indices in FileExcludes of the excludes that remove path from an enforced rule of
// their file, which would otherwise select or forbid it.
func (b *Bundle) TakenByFile(path string, into []int) []int {
	for i, ofFile := range b.byFileExclude() {
		if len(ofFile) > 0 && ofFile[0].fileExclude.Match(path) && slices.ContainsFunc(ofFile, func(r *Rule) bool {
			return (r.files.match(path) || r.forbidden.match(path)) && !r.exclude.Match(path)
		}) {
			into = append(into, i)
		}
	}
	return into
}

func (b *Bundle) rulesOfExcludes() [][]*Rule {
	all := make([][]*Rule, len(b.FileExcludes))
	for i, file := range b.FileExcludes {
		for k := range b.Rules {
			if r := &b.Rules[k]; r.File == file {
				all[i] = append(all[i], r)
			}
		}
	}
	return all
}

// SameExcludes reports whether two rules exclude the same paths. The exclude of a file counts as its rules' own, and
// duplicates do not count. The order matters only if neither file has an exclude.
func (r *Rule) SameExcludes(o *Rule) bool {
	if len(r.FileExclude) == 0 && len(o.FileExclude) == 0 {
		return slices.Equal(r.Excludes(), o.Excludes()) // perhaps of version 0.1, where the order always mattered
	}
	set := func(globs []string) []string { return slices.Compact(slices.Sorted(slices.Values(globs))) }
	return slices.Equal(set(r.Excludes()), set(o.Excludes()))
}

// SameItems reports whether two lists of items are equivalent. Names can differ with the version of the file.
func SameItems(a, b []Item) bool { return slices.EqualFunc(a, b, Item.Means) }

// Same reports whether two rules are equivalent, regardless of their positions. The exclude of a file counts as its
// rules' own, and the names of items do not count.
func (r *Rule) Same(o Rule) bool {
	return r.ID == o.ID && r.Type == o.Type && r.Title == o.Title &&
		slices.Equal(r.Files, o.Files) && r.SameExcludes(&o) && r.PathCase == o.PathCase &&
		SameItems(r.Patterns, o.Patterns) && SameItems(r.Required, o.Required) &&
		SameItems(r.Containing, o.Containing) && r.Unparsable == o.Unparsable &&
		slices.Equal(r.ForbiddenFiles, o.ForbiddenFiles) && slices.Equal(r.RequiredFiles, o.RequiredFiles) &&
		r.Message == o.Message && r.Remediation == o.Remediation && r.DocsURL == o.DocsURL && r.Owner == o.Owner &&
		r.Severity == o.Severity && slices.Equal(r.Tags, o.Tags) && r.Redact == o.Redact &&
		r.NeverAllowed == o.NeverAllowed
}
