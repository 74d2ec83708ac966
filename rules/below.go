package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/verdict"
)

// In returns the bundle of a directory, whose globs and paths count from there, as one of the tree: its rules are for
// files below the directory, except its own rule files, and are named dir:ID, and its allowances are for these rules.
func (b *Bundle) In(dir string) *Bundle { return b.in(dir, nil, nil) }

// Moved returns the bundle of a directory that was moved to dir, or stayed. was is where directories were that continue
// there: the rules select the files there, too, so that they can be counted. own are the paths of the bundle's rule
// files, which its rules exclude; nil for all that it could have.
func (b *Bundle) Moved(dir string, was, own []string) *Bundle { return b.plain.in(dir, was, own) }

func (b *Bundle) in(dir string, was, own []string) *Bundle {
	globs := glob.In([]string{path.Dir(BoundariesFile) + "/*.yml"}, path.Join(dir, HiddenBundle))
	if own != nil {
		globs = nil
		for _, file := range own {
			globs = append(globs, glob.Escape(file))
		}
	}
	at := New(rulesIn(b.Rules, dir, was, globs), rulesIn(b.Deprecated, dir, was, globs))
	at.Below, at.plain = dir, b
	at.SHA256, at.Is02, at.FileExcludes, at.Files, at.spots = b.SHA256, b.Is02, b.FileExcludes, b.Files, b.spots
	for _, a := range b.Allowances {
		at.Allowances = append(at.Allowances, a.In(dir))
	}
	return at
}

// Continue makes the allowances of a directory continue those of the files where directories were that moved to it.
func (b *Bundle) Continue(was []string) {
	for i := range b.Allowances {
		a := &b.Allowances[i]
		for _, file := range append([]string{a.File}, a.From...) {
			for _, dir := range was {
				old := verdict.Path(dir) + strings.TrimPrefix(file, verdict.Path(b.Below))
				if !slices.Contains(a.From, old) {
					a.From = append(a.From, old)
				}
			}
		}
	}
}

// Shares reports whether two bundles of directories have a rule with the same id there.
func (b *Bundle) Shares(o *Bundle) bool {
	return slices.ContainsFunc(b.plain.Rules, func(r Rule) bool {
		return slices.ContainsFunc(o.plain.Rules, func(of Rule) bool { return r.ID == of.ID })
	})
}

func rulesIn(list []Rule, dir string, was, own []string) []Rule {
	all := slices.Clone(list)
	for i := range all {
		r := &all[i]
		r.ID, r.Below, r.ownFiles = verdict.Path(dir)+":"+r.ID, dir, own
		for _, globs := range []*[]string{&r.Files, &r.Exclude, &r.FileExclude, &r.ForbiddenFiles, &r.RequiredFiles} {
			below := glob.In(*globs, dir)
			for _, old := range was {
				if globs != &r.RequiredFiles {
					below = append(below, glob.In(*globs, old)...)
				}
			}
			*globs = below
		}
		r.Examples = slices.Clone(r.Examples)
		for k := range r.Examples {
			r.Examples[k].Path = path.Join(dir, r.Examples[k].Path)
		}
	}
	return all
}

// In returns an entry of a directory's bundle as one of the tree.
func (a Allowance) In(dir string) Allowance {
	prefix := verdict.Path(dir) + "/"
	a.Rule, a.File, a.From = verdict.Path(dir)+":"+a.Rule, prefix+a.File, slices.Clone(a.From)
	for i := range a.From {
		a.From[i] = prefix + a.From[i]
	}
	return a
}

// Out is the reverse of In.
func (a Allowance) Out(dir string) Allowance {
	prefix := verdict.Path(dir) + "/"
	a.Rule = strings.TrimPrefix(a.Rule, verdict.Path(dir)+":")
	a.File, a.From = strings.TrimPrefix(a.File, prefix), slices.Clone(a.From)
	for i := range a.From {
		a.From[i] = strings.TrimPrefix(a.From[i], prefix)
	}
	return a
}

// CheckBelow fails if the bundle of a directory cannot be enforced next to that of the tree.
func (b *Bundle) CheckBelow() error {
	mistakes, _ := CheckAllowances([]*Bundle{b})
	if len(b.Bundles) > 0 {
		mistakes = append(mistakes, newError(document.CodeValue, BoundariesFile,
			`"bundles" in the bundle of a directory`, "write its globs, from the root, in the root's bundle"))
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	return nil
}
