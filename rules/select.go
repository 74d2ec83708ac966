package rules

import (
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules/glob"
)

// New returns a bundle of rules that were not loaded together: some rules of a bundle, the rules of two, or rules made
// by hand. The globs must have passed glob.Check. The bundle shares the slices and has no SHA256.
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

// Only returns a bundle with some of the enforced rules, and all else of this one but what it was loaded from.
func (b *Bundle) Only(keep func(*Rule) bool) *Bundle {
	var kept []Rule
	for i := range b.Rules {
		if keep(&b.Rules[i]) {
			kept = append(kept, b.Rules[i])
		}
	}
	some := New(kept, b.Deprecated)
	some.SHA256, some.Is02, some.FileExcludes, some.Allowances = b.SHA256, b.Is02, b.FileExcludes, b.Allowances
	return some
}

func (r *Rule) compile() {
	r.files = newGlobs(r.Files, r.PathCase)
	r.forbidden = newGlobs(r.ForbiddenFiles, r.PathCase)
	r.exclude, r.fileExclude = glob.Compile(r.Exclude), glob.Compile(r.FileExclude)
}

// globs are those of a rule, matched with or without regard to letter case.
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

// Selects reports whether the rule, of a bundle that came from Load or New, is about the content of the file of that
// path: the path matches any glob of Files and none of Excludes.
func (r *Rule) Selects(path string) bool { return r.files.match(path) && !r.excludes(path) }

// Forbids reports whether there must be no file of that path: the path matches any glob of ForbiddenFiles and none of
// Excludes.
func (r *Rule) Forbids(path string) bool { return r.forbidden.match(path) && !r.excludes(path) }

func (r *Rule) excludes(path string) bool { return r.exclude.Match(path) || r.fileExclude.Match(path) }

// Selecting appends to into the indices in b.Rules of the rules that select path, in
// order, and returns the longer slice. It is for asking about many paths: it allocates only if
// into is too short, or the path is to be folded, and is safe for concurrent use.
func (b *Bundle) Selecting(path string, into []int) []int { return b.files.rules(path, into) }

// SelectedBy appends to into the globs of Files because of which rules select path, in order.
func (b *Bundle) SelectedBy(path string, into []GlobOf) []GlobOf {
	return b.files.globs(path, into)
}

// A GlobOf is a glob of a rule: its place in the rule's list of them, and the rule's in the bundle.
type GlobOf struct{ Rule, Glob int }

// Forbidding appends to into the globs of ForbiddenFiles because of which there must be no file of that path, in order.
func (b *Bundle) Forbidding(path string, into []GlobOf) []GlobOf {
	return b.forbidden.globs(path, into)
}

// Requiring appends to into the globs of RequiredFiles that a file of that path answers, in order, if it is a regular
// one and not empty.
func (b *Bundle) Requiring(path string, into []GlobOf) []GlobOf {
	return b.required.globs(path, into)
}

// RequiresFiles reports whether any rule has RequiredFiles.
func (b *Bundle) RequiresFiles() bool {
	return slices.ContainsFunc(b.Rules, func(r Rule) bool { return len(r.RequiredFiles) > 0 })
}

// SelectingBeneath appends to into the indices of the rules that select the path
// itself, or could select or forbid some path beneath it, were it a folder: of a submodule no
// one knows what is in it. Where that is in doubt a rule is in; excludes are not asked.
func (b *Bundle) SelectingBeneath(path string, into []int) []int {
	for i := range b.Rules {
		r := &b.Rules[i]
		beneath := func(g string) bool { return glob.Beneath(r.fold(g), r.fold(path)) }
		if r.Selects(path) || slices.ContainsFunc(r.Files, beneath) || slices.ContainsFunc(r.ForbiddenFiles, beneath) {
			into = append(into, i)
		}
	}
	return into
}

// TakenByFile appends to into the places in FileExcludes of those excludes of a rule file that take the path from an
// enforced rule of that file, which would otherwise select or forbid it.
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

// rulesOfExcludes returns the rules that each of FileExcludes narrows.
func (b *Bundle) rulesOfExcludes() [][]*Rule {
	all := make([][]*Rule, len(b.FileExcludes))
	for i, e := range b.FileExcludes {
		for k := range b.Rules {
			if r := &b.Rules[k]; r.File == e.File {
				all[i] = append(all[i], r)
			}
		}
	}
	return all
}

// SameExcludes reports whether two rules exclude the same paths. A glob in the exclude of a file counts as one in that
// of its rules, and one in both as one in either. The order counts only where neither file has an exclude.
func (r *Rule) SameExcludes(o *Rule) bool {
	if len(r.FileExclude) == 0 && len(o.FileExclude) == 0 {
		return slices.Equal(r.Exclude, o.Exclude) // of version 0.1, perhaps, where it always counted
	}
	set := func(globs []string) []string { return slices.Compact(slices.Sorted(slices.Values(globs))) }
	return slices.Equal(set(r.Excludes()), set(o.Excludes()))
}

// SameItems reports whether two lists of items ask for the same. The name of one can depend on the version of its file.
func SameItems(a, b []Item) bool { return slices.EqualFunc(a, b, Item.Means) }

// Same reports whether two rules say the same, wherever they are: the exclude of a file counts as that of its rules,
// and an item is the same by any name.
func (r *Rule) Same(o Rule) bool {
	return r.ID == o.ID && r.Type == o.Type && r.Title == o.Title &&
		slices.Equal(r.Files, o.Files) && r.SameExcludes(&o) && r.PathCase == o.PathCase &&
		SameItems(r.Patterns, o.Patterns) && SameItems(r.Required, o.Required) &&
		r.Unparsable == o.Unparsable &&
		slices.Equal(r.ForbiddenFiles, o.ForbiddenFiles) && slices.Equal(r.RequiredFiles, o.RequiredFiles) &&
		r.Message == o.Message && r.Remediation == o.Remediation && r.DocsURL == o.DocsURL && r.Owner == o.Owner &&
		r.Severity == o.Severity && slices.Equal(r.Tags, o.Tags) && r.Redact == o.Redact &&
		r.NeverAllowed == o.NeverAllowed
}
