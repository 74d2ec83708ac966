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

// inDir adds a directory of the tree to mistakes: the verdict names it, and the paths of its bundle count from it.
func inDir(mistakes document.Errors, dir string) document.Errors {
	mistakes = mistakes.In("")
	from := "from " + verdict.Quote(strings.TrimSuffix(dir, "/"+rules.HiddenBundle))
	for _, m := range mistakes {
		m.File = path.Join(verdict.Path(dir), m.File)
		m.Found = strings.Replace(m.Found, "from the root of the tree", from, 1)
		m.Fix = strings.Replace(m.Fix, "from the root of the tree", from, 1)
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
	b.headNames = glob.Compile(globs)
	for i := range b.baseBelow {
		if remains, err := b.remains(b.baseBelow[i].Below); err != nil {
			return err
		} else if remains && b.isOlder(b.baseBelow[i].Below) {
			if err := b.checkKept(b.baseBelow[i].Below); err != nil {
				return err
			}
		}
	}
	return nil
}

// isOlder reports whether the bundle of a directory may be older than the change, which else cannot remove it.
func (b *bundleResolver) isOlder(dir string) bool {
	at := path.Join(dir, rules.HiddenBundle, path.Dir(rules.BoundariesFile))
	return len(b.starts) == 0 || b.run.Related != nil || // a push can be forced
		slices.ContainsFunc(b.starts, func(start repo.Hash) bool {
			_, found, err := (&side{commit: start}).lookup(b.run.Repo, at)
			return found || err != nil
		})
}

// checkKept adds an error if the head has no bundle in a directory that its root's bundle names.
func (b *bundleResolver) checkKept(dir string) error {
	at := path.Join(dir, rules.HiddenBundle)
	has, err := b.loader.has(&b.head, path.Join(at, path.Dir(rules.BoundariesFile)), at)
	switch {
	case err != nil && Mistakes(err) == nil:
		return tree.RepoError(err)
	case has || err != nil || !b.headNames.Match(dir): // loadBelow has returned the mistakes
		return nil
	}
	return b.headError(&document.Error{Code: document.CodeMissing,
		Found: "the change removes the bundle of the directory " + verdict.Quote(dir) + `, which "bundles" names`,
		Fix:   `keep it, with "rules: []" if it has no rule, or take the directory out of "bundles"`})
}

// remains reports whether the head has files in a directory.
func (b *bundleResolver) remains(dir string) (bool, error) {
	leaf, found, err := b.head.lookup(b.run.Repo, dir)
	if err != nil {
		return false, tree.RepoError(err)
	}
	return found && !leaf.Mode.IsLeaf(), nil
}

// addBelow adds the bundles in directories. The rules of a directory that a change moves go with it: the base's are
// enforced where the head has it. Its allowances go to the first place only, and only if nothing remains.
func (b *bundleResolver) addBelow() error {
	remains, was := map[string]bool{}, map[string][]string{} // was is where a new directory's allowances come from
	for _, s := range b.baseBelow {
		var err error
		if remains[s.Below], err = b.remains(s.Below); err != nil {
			return err
		}
	}
	moves, err := b.moves(remains)
	if err != nil {
		return err
	}
	for _, s := range b.baseBelow {
		if dirs := moves[s.Below]; !remains[s.Below] && len(dirs) > 0 {
			was[dirs[0]] = append(was[dirs[0]], s.Below)
		}
	}
	for _, s := range b.baseBelow {
		for _, dir := range moves[s.Below] {
			note := "its rules check it there"
			at, err := b.placed(s, dir, was[dir])
			if err != nil {
				return err
			}
			if !slices.Contains(was[dir], s.Below) {
				at.Bundle.Allowances, note = nil, note+", without its allowances"
			} else {
				at.Bundle.Allowances = append(at.Bundle.Allowances, b.baseAllowances(s.Below, dir)...)
			}
			b.run.Notes = append(b.run.Notes, fmt.Sprintf("%s was moved to %s: %s",
				verdict.Path(s.Below), verdict.Path(dir), note))
			if !remains[s.Below] && b.isOlder(s.Below) {
				if err := b.checkKept(dir); err != nil {
					return err
				}
			}
			b.add(b.base, at)
		}
		switch {
		case remains[s.Below]:
			at, err := b.placed(s, s.Below, nil)
			if err != nil {
				return err
			}
			b.add(b.base, at)
		case len(moves[s.Below]) == 0: // a directory that does not exist lacks no file
			s.Bundle = s.Bundle.Only(func(r *rules.Rule) bool { return len(r.RequiredFiles) == 0 })
			b.add(b.base, s)
		}
	}
	for _, s := range b.headBelow {
		if dirs := was[s.Below]; len(dirs) > 0 {
			s.Bundle = s.Bundle.Moved(s.Below, dirs, nil)
			s.Bundle.Continue(dirs)
		}
		b.add(&b.head, s)
	}
	return nil
}

// placed returns a bundle of the base for a directory of the head. Where the head names none, its rules check all files
// but the bundle's own, unchanged.
func (b *bundleResolver) placed(s RuleSource, dir string, was []string) (RuleSource, error) {
	var own []string
	if !b.headNames.Match(dir) {
		own = []string{}
		for _, f := range s.files {
			file := dir + strings.TrimPrefix(f.Path, s.Below)
			leaf, found, err := b.head.lookup(b.run.Repo, file)
			if err != nil {
				return s, tree.RepoError(err)
			}
			if found && leaf.Hash == f.Blob {
				own = append(own, file)
			}
		}
	}
	if dir != s.Below || own != nil {
		s.Below, s.Bundle = dir, s.Bundle.Moved(dir, was, own)
	}
	return s, nil
}

// baseAllowances returns the entries of the base's bundles of the tree for the rules of a directory that moved to dir.
func (b *bundleResolver) baseAllowances(was, dir string) (all []rules.Allowance) {
	for _, s := range b.run.Sources {
		for _, a := range s.Bundle.Allowances {
			if s.Below == "" && s.sides().base && strings.HasPrefix(a.Rule, verdict.Path(was)+":") {
				all = append(all, a.Out(was).In(dir))
			}
		}
	}
	return all
}

// moves returns the new directories of the head to which the directories of the base's bundles were moved, the one with
// most files that fit no other first. These have a file that left the old one, with the same content and path from the
// directory. One that fits several old ones is of those with another file there; else of those without another place;
// else of all. Where nothing remains, a directory without such a file is a new one, too, if its bundle has a rule of
// the old bundle. A directory within one that keeps its bundle is part of that.
func (b *bundleResolver) moves(remains map[string]bool) (map[string][]string, error) {
	files := map[string]map[string]int{} // by new and old directory: how many fit no other
	isPlaced := map[string]bool{}        // an old directory, by such a file
	for _, commit := range b.starts {
		if len(b.baseBelow) == 0 {
			break
		}
		from, err := b.run.Repo.Tree(commit)
		if err != nil {
			return nil, tree.RepoError(err)
		}
		left, added := map[string][]string{}, []repo.Change{} // old directories by path from there and content
		key := func(path string, blob repo.Hash) string { return path + "\x00" + blob.String() }
		err = b.head.changes(b.run.Repo, from, func(c repo.Change) error {
			if c.Old.Mode == 0 {
				added = append(added, c)
			}
			for i := range b.baseBelow {
				dir := b.baseBelow[i].Below
				if name, in := strings.CutPrefix(c.Path, dir+"/"); in && c.New.Mode == 0 {
					left[key(name, c.Old.Hash)] = append(left[key(name, c.Old.Hash)], dir)
				}
			}
			return nil
		})
		move := func(old, dir string, count int) {
			keeps := slices.ContainsFunc(b.headBelow, func(h RuleSource) bool { return h.Below == old })
			if err != nil || keeps && strings.HasPrefix(dir, old+"/") {
				return
			}
			if _, has := files[dir][old]; !has {
				var known bool
				if _, known, err = b.run.Repo.Lookup(from, dir); err != nil || known {
					return
				}
			}
			if files[dir] == nil {
				files[dir] = map[string]int{}
			}
			files[dir][old] += count
			isPlaced[old] = isPlaced[old] || count > 0
		}
		type match struct {
			dir  string
			olds []string
		}
		var shared []match
		for _, c := range added {
			for i, char := range c.Path {
				if char != '/' || len(left) == 0 {
					continue
				}
				if olds := left[key(c.Path[i+1:], c.New.Hash)]; len(olds) > 1 {
					shared = append(shared, match{c.Path[:i], olds})
				} else if len(olds) == 1 {
					move(olds[0], c.Path[:i], 1)
				}
			}
		}
		for _, m := range shared {
			switch i := slices.IndexFunc(m.olds, func(old string) bool { return !isPlaced[old] }); {
			case slices.ContainsFunc(m.olds, func(old string) bool { return files[m.dir][old] > 0 }):
				continue
			case i >= 0:
				m.olds = slices.DeleteFunc(slices.Clone(m.olds), func(old string) bool { return isPlaced[old] })
			}
			for _, old := range m.olds {
				move(old, m.dir, 0)
			}
		}
		for _, h := range b.headBelow {
			if len(files[h.Below]) > 0 {
				continue
			}
			for _, s := range b.baseBelow {
				if !remains[s.Below] && h.Bundle.Shares(s.Bundle) {
					move(s.Below, h.Below, 0)
				}
			}
		}
		if err != nil {
			return nil, tree.RepoError(err)
		}
	}
	moves := map[string][]string{}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		for old := range files[dir] {
			moves[old] = append(moves[old], dir)
		}
	}
	for old, dirs := range moves {
		slices.SortStableFunc(dirs, func(a, b string) int { return files[b][old] - files[a][old] })
	}
	return moves, nil
}
