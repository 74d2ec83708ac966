package run

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// NamesBelow returns the globs by which bundles name directories.
func (all RuleSources) NamesBelow() (globs []string) {
	for i := range all {
		if b := all[i].Bundle; b != nil && b.Below == "" {
			globs = append(globs, b.Bundles...)
		}
	}
	return globs
}

// WithBelow adds the bundles on disk in the directories that the loaded bundles name. root is the tree's.
func (all RuleSources) WithBelow(root string) (RuleSources, error) {
	globs := all.NamesBelow()
	if len(globs) == 0 {
		return all, nil
	}
	dirs, err := DirsWithBundle(root, globs)
	below, err := loadDirs(dirs, err, func(dir string) (s RuleSource, err error) {
		at := filepath.Join(root, filepath.FromSlash(dir), rules.HiddenBundle)
		s = RuleSource{Name: filepath.ToSlash(at), Dir: at, From: fromDisk}
		s.Bundle, err = rules.LoadDir(at)
		return s, err
	})
	if mistakes := Mistakes(err); mistakes != nil {
		place := At(root)
		err = mistakes.In(place.Prefix)
	}
	return append(all, below...), err
}

// loadDirs loads the bundles of directories. The error has all mistakes, also those in err, with paths from the root.
func loadDirs(dirs []string, err error, load func(dir string) (RuleSource, error)) (all []RuleSource, _ error) {
	var mistakes document.Errors
	if err = addMistakes(&mistakes, err); err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		s, err := load(dir)
		if err == nil {
			err = s.Bundle.CheckBelow()
		}
		if some := Mistakes(err); some != nil {
			mistakes = append(mistakes, inDir(some, path.Join(dir, rules.HiddenBundle))...)
			continue
		}
		if err != nil {
			return nil, err
		}
		s.Below, s.Bundle = dir, s.Bundle.In(dir)
		all = append(all, s)
	}
	return all, anyOf(mistakes)
}

// inDir adds a directory of the tree to the files of mistakes: the verdict, too, names it.
func inDir(mistakes document.Errors, dir string) document.Errors {
	mistakes = mistakes.In("")
	for _, m := range mistakes {
		m.File = path.Join(dir, m.File)
	}
	return mistakes
}

// loadBelow loads the bundles in directories that the bundles of a side name. It returns the globs, too.
func (b *bundleResolver) loadBelow(d *side, named []*policyBundles, of func(*policyBundles) []RuleSource) (
	all []RuleSource, globs []string, err error,
) {
	for _, p := range named {
		found := RuleSources{p.outside}
		if p.inside {
			found = of(p)
		}
		globs = append(globs, found.NamesBelow()...)
	}
	if d.below != nil && len(globs) > 0 { // untracked ones, too
		dirs, err := DirsWithBundle(b.run.Place.Root, globs)
		if err != nil {
			return nil, globs, err
		}
		for i, dir := range dirs {
			dirs[i] = path.Join(dir, rules.HiddenBundle, path.Dir(rules.BoundariesFile))
		}
		if d.index, err = d.below(append(dirs, b.untracked...)); err != nil {
			return nil, globs, err
		}
	}
	if len(globs) == 0 || d.index == nil && d.commit.IsZero() {
		return nil, globs, nil
	}
	dirs, err := b.loader.dirsWithBundle(d, globs, b.run.Allow)
	all, err = loadDirs(dirs, err, func(dir string) (RuleSource, error) {
		return b.loader.load(d, path.Join(dir, rules.HiddenBundle))
	})
	return all, globs, err
}

// loadHeadBelow loads the head's bundles in directories. A directory that keeps files must keep its bundle, if the
// root's bundle still names it.
func (b *bundleResolver) loadHeadBelow() error {
	all, globs, err := b.loadBelow(&b.head, b.named, (*policyBundles).ofHead)
	if b.headBelow = all; err != nil {
		if err := b.headError(err); err != nil {
			return err
		}
	}
	names := glob.Compile(globs)
	for i := range b.baseBelow {
		dir := b.baseBelow[i].Below
		remains, err := b.remains(dir)
		if err != nil {
			return err
		}
		at := path.Join(dir, rules.HiddenBundle)
		has, err := b.loader.has(&b.head, path.Join(at, path.Dir(rules.BoundariesFile)), at)
		if err != nil && Mistakes(err) == nil {
			return tree.RepoError(err)
		}
		if has || err != nil || !remains || !names.Match(dir) { // loadBelow has returned the mistakes
			continue
		}
		err = b.headError(&document.Error{Code: document.CodeMissing,
			Found: "the change removes the bundle of the directory " + verdict.Quote(dir) + `, which "bundles" names`,
			Fix:   `keep it, with "rules: []" if it has no rule, or take the directory out of "bundles"`})
		if err != nil {
			return err
		}
	}
	return nil
}

// remains reports whether the head has files in a directory.
func (b *bundleResolver) remains(dir string) (bool, error) {
	leaf, found, err := b.head.lookup(b.run.Repo, dir)
	if err != nil {
		return false, tree.RepoError(err)
	}
	return found && !leaf.Mode.IsLeaf(), nil
}

// movedFile is a file in a directory with a bundle: its path from there, and its content.
type movedFile struct {
	path string
	blob repo.Hash
}

// addBelow adds the bundles in directories. The rules of a directory that a change moves go with it: the base's are
// enforced where the head has it.
func (b *bundleResolver) addBelow() error {
	heads := slices.Clone(b.headBelow)
	for i := range b.baseBelow {
		s := &b.baseBelow[i]
		remains, err := b.remains(s.Below)
		if err != nil {
			return err
		}
		moved, err := b.movedTo(s, remains)
		if err != nil {
			return err
		}
		if old := *s; remains || len(moved) == 0 {
			if !remains { // a directory that does not exist lacks no file
				old.Bundle = s.Bundle.Only(func(r *rules.Rule) bool { return len(r.RequiredFiles) == 0 })
			}
			b.add(b.base, old)
		}
		for _, dir := range moved {
			b.run.Notes = append(b.run.Notes, fmt.Sprintf("%s was moved to %s: its rules check it there",
				verdict.Path(s.Below), verdict.Path(dir)))
			was := s.Below
			if remains {
				was = ""
			}
			at := *s
			at.Below, at.Bundle = dir, s.Bundle.Moved(dir, was)
			b.add(b.base, at)
			if k := slices.IndexFunc(heads, func(h RuleSource) bool { return h.Below == dir }); k >= 0 && was != "" {
				heads[k].Bundle = heads[k].Bundle.Moved(dir, was)
				heads[k].Bundle.Continue(was)
			}
		}
	}
	for _, s := range heads {
		b.add(&b.head, s)
	}
	return nil
}

// movedTo returns the new directories of the head to which the files of a directory of the base were moved: they have
// a file of it, which left, with the same content and path from the directory; or it is gone, and they
// have a bundle with a rule of its bundle. A directory within one that keeps its bundle is part of that.
func (b *bundleResolver) movedTo(s *RuleSource, remains bool) ([]string, error) {
	found := map[string]bool{}
	keeps := slices.ContainsFunc(b.headBelow, func(h RuleSource) bool { return h.Below == s.Below })
	for _, commit := range append([]repo.Hash{b.base.commit}, b.starts...) {
		if commit.IsZero() {
			continue
		}
		from, err := b.run.Repo.Tree(commit)
		if err != nil {
			return nil, tree.RepoError(err)
		}
		isNew := func(dir string) (bool, error) {
			if keeps && strings.HasPrefix(dir, s.Below+"/") {
				return false, nil
			}
			_, is, err := b.run.Repo.Lookup(from, dir)
			return !is, err
		}
		changes, err := b.changesSince(from)
		if err != nil {
			return nil, tree.RepoError(err)
		}
		gone := map[movedFile]bool{}
		for _, c := range changes {
			if name, below := strings.CutPrefix(c.Path, s.Below+"/"); below && c.New.Mode == 0 {
				gone[movedFile{name, c.Old.Hash}] = true
			}
		}
		for _, c := range changes {
			for i, char := range c.Path {
				if len(gone) == 0 || c.Old.Mode != 0 {
					break
				}
				if char != '/' || found[c.Path[:i]] || !gone[movedFile{c.Path[i+1:], c.New.Hash}] {
					continue
				}
				if found[c.Path[:i]], err = isNew(c.Path[:i]); err != nil {
					return nil, tree.RepoError(err)
				}
			}
		}
		for k := range b.headBelow {
			h := &b.headBelow[k]
			if remains || found[h.Below] || !h.Bundle.Shares(s.Bundle) {
				continue
			}
			if found[h.Below], err = isNew(h.Below); err != nil {
				return nil, tree.RepoError(err)
			}
		}
	}
	maps.DeleteFunc(found, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(found)), nil
}

// changesSince returns the files that the head has and a tree has not, and the files that are gone.
func (b *bundleResolver) changesSince(from repo.Hash) ([]repo.Change, error) {
	if all, known := b.changes[from]; known {
		return all, nil
	}
	var all []repo.Change
	err := b.head.changes(b.run.Repo, from, func(c repo.Change) error {
		if (c.Old.Mode == 0) != (c.New.Mode == 0) {
			all = append(all, c)
		}
		return nil
	})
	if b.changes == nil {
		b.changes = map[repo.Hash][]repo.Change{}
	}
	b.changes[from] = all
	return all, err
}
