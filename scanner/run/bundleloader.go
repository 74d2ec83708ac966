package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
)

// errNoBundle means that neither .policyscan nor the root has a bundle.
var errNoBundle = errors.New("no bundle")

// A side is a snapshot of a repository whose bundles are enforced.
type side struct {
	name   string      // for display: "the base", "HEAD"
	commit repo.Hash   // zero before the first commit
	index  *repo.Index // instead of a commit
	// below returns the index of a work tree, with all files on disk below some directories; nil: index is git's.
	below func(dirs []string) (*repo.Index, error)
	hint  string // what the user can do if its bundle is invalid
	from  string // of its bundles, as in [RuleSource]
}

func (d *side) String() string {
	if d.rev() == "" {
		return d.name
	}
	return fmt.Sprintf("%s (%s)", d.name, d.rev())
}

// rev is the side's revision in git's syntax: "git show REV:PATH" shows a file of it.
func (d *side) rev() string {
	if d.index != nil || d.commit.IsZero() {
		return ""
	}
	return repo.Short(d.commit)
}

// place is the prefix of the side's paths, for display: git's syntax, or for files on disk none.
func (d *side) place() string {
	if d.below != nil {
		return ""
	}
	return d.rev() + ":"
}

// lookup returns the file or directory at a path of the side, false without one.
func (d *side) lookup(r *repo.Repository, path string) (leaf repo.Leaf, found bool, err error) {
	switch {
	case d.index != nil:
		leaf, found = d.index.Lookup(path)
	case !d.commit.IsZero():
		var tree repo.Hash
		if tree, err = r.Tree(d.commit); err == nil {
			leaf, found, err = r.Lookup(tree, path)
		}
	}
	return leaf, found, err
}

// under calls found with the files below a directory of the side; their paths begin there.
func (d *side) under(r *repo.Repository, dir string, found func(path string, mode repo.Mode)) error {
	if d.index != nil {
		for _, f := range d.index.Below(dir) {
			found(strings.TrimPrefix(f.Path, dir+"/"), f.Mode)
		}
		return nil
	}
	leaf, _, err := d.lookup(r, dir)
	if err != nil {
		return err
	}
	return r.Diff(repo.Hash{}, leaf.Hash, func(c repo.Change) error {
		found(c.Path, c.New.Mode)
		return nil
	})
}

// changes calls visit with the differences of the side from a tree.
func (d *side) changes(r *repo.Repository, from repo.Hash, visit func(repo.Change) error) error {
	if d.index != nil {
		return r.DiffIndex(from, d.index, visit)
	}
	to, err := r.Tree(d.commit)
	if err != nil {
		return err
	}
	return r.Diff(from, to, visit)
}

// A bundleLoader finds the bundles of sides, and loads each of them once.
type bundleLoader struct {
	repo   *repo.Repository
	loaded map[string]*rules.Bundle
}

// maxLoaded is how many bundles are kept: each commit of a push can have another one, of megabytes.
const maxLoaded = 64

func newBundleLoader(r *repo.Repository) *bundleLoader {
	return &bundleLoader{r, map[string]*rules.Bundle{}}
}

// AllowancesIn returns the allowances of the bundle in a directory of a commit. dir is from the tree's root, "." for
// the root. Without a bundle the list is empty. below is the directory that the bundle is for, or "".
func AllowancesIn(r *repo.Repository, commit repo.Hash, dir, below string) ([]rules.Allowance, error) {
	found, err := newBundleLoader(r).find(&side{commit: commit}, dir)
	if errors.Is(err, errNoBundle) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := slices.Clone(found[0].Bundle.Allowances)
	for i := range all {
		if below != "" {
			all[i] = all[i].In(below)
		}
	}
	return all, nil
}

// IsRuleFileAt reports whether a file of a commit is a rule file of a bundle that the commit has where the enforced
// ones are: at the commit it was in use, if the bundle loads.
func (r *Run) IsRuleFileAt(commit repo.Hash, f check.RuleFile) (bool, error) {
	if r.loader == nil {
		r.loader = newBundleLoader(r.Repo)
	}
	if slices.Contains(r.RuleFiles, f) {
		return true, nil
	}
	for _, dir := range r.bundleDirs {
		if r.PolicyRef != "" || !strings.HasPrefix(f.Path, path.Join(dir, path.Dir(rules.BoundariesFile))+"/") {
			continue
		}
		found, err := r.loader.find(&side{commit: commit}, dir)
		var mistakes document.Errors
		switch {
		case errors.Is(err, errNoBundle), errors.As(err, &mistakes):
		case err != nil:
			return false, err
		case slices.Contains(found[0].files, f):
			return true, nil
		}
	}
	return false, nil
}

// LoadCompared loads a bundle that is compared with another one: a directory, a pack, or REV:DIR of a repository, where
// DIR counts from the root. Without DIR, discovery finds it there. Only a name that begins like a path can have another
// colon: a directory that a change adds must not replace a revision.
func LoadCompared(name string, git repo.Environment) (s RuleSource, err error) {
	rev, dir, inCommit := strings.Cut(name, ":")
	if !inCommit || IsBuiltin(name) || strings.HasPrefix(name, ".") || filepath.IsAbs(name) {
		if s, err = loadRules(name, ""); err != nil {
			return s, err
		}
		return s, RuleSources{s}.CheckAlone()
	}
	r, err := git.Open("")
	if err != nil {
		return s, tree.RepoError(err)
	}
	defer r.Close()
	commit, err := r.Commit(rev)
	if err != nil {
		return s, tree.RepoError(err)
	}
	if dir != "" {
		dir = path.Clean(dir)
	}
	found, err := newBundleLoader(r).find(&side{commit: commit}, dir)
	var mistakes document.Errors
	switch {
	case errors.As(err, &mistakes):
		return s, mistakes.In(rev + ":")
	case errors.Is(err, errNoBundle):
		return s, fmt.Errorf("%s: no bundle there; name the directory that holds rules/, from the root", name)
	case err == nil && len(found) > 1:
		err = rules.TwoBundles(name)
	}
	if err != nil {
		return s, err
	}
	s = found[0]
	s.From, s.Commit, s.Name, s.Dir = fromCommit, commit.String(), name, name
	return s, RuleSources{s}.CheckAlone()
}

// find loads the bundle in dir of a side; with dir "" those in .policyscan and in the root. A side without any is
// [errNoBundle]. A bundle with mistakes is [document.Errors], with paths from the root; then only the directory of
// each source is known.
func (b *bundleLoader) find(d *side, dir string) ([]RuleSource, error) {
	places := []string{dir}
	if dir == "" {
		places = []string{rules.HiddenBundle, "."}
	}
	var all []RuleSource
	for _, place := range places {
		mark := "rules"
		if place == "." {
			mark = rules.BoundariesFile
		}
		found, err := b.has(d, path.Join(place, mark), place)
		if err != nil {
			return nil, err
		}
		if found {
			all = append(all, RuleSource{Dir: place})
		}
	}
	if len(all) == 0 {
		return nil, errNoBundle
	}
	for i := range all {
		one, err := b.load(d, all[i].Dir)
		var mistakes document.Errors
		if errors.As(err, &mistakes) && all[i].Dir != "." {
			err = mistakes.In(all[i].Dir + "/")
		}
		if err != nil {
			return all, err
		}
		all[i] = one
	}
	return all, nil
}

// has reports whether a path exists. A link or a submodule on the way is a mistake in the bundle: its content is not in
// this repository, and to ignore it would let the change's own bundle decide alone. So is a file at the bundle's path.
func (b *bundleLoader) has(d *side, name, bundle string) (bool, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		leaf, found, err := d.lookup(b.repo, name[:i])
		switch {
		case err != nil:
			return false, err
		case !found:
			return false, nil
		case leaf.Mode == repo.Symlink, leaf.Mode == repo.Submodule, leaf.Mode.IsLeaf() && name[:i] == bundle:
			return false, document.Errors{{
				Code: document.CodeRead, File: name[:i],
				Found: "is a symlink, a submodule or a file", Fix: "make it a directory",
			}}
		case leaf.Mode.IsLeaf():
			return false, nil
		}
	}
	_, found, err := d.lookup(b.repo, name)
	return found, err
}

func (b *bundleLoader) load(d *side, dir string) (RuleSource, error) {
	none := RuleSource{}
	names, others, err := b.files(d, dir)
	if err != nil {
		return none, err
	}
	key := ""
	var ruleFiles []check.RuleFile
	for _, name := range names {
		full := path.Join(dir, name)
		leaf, found, err := d.lookup(b.repo, full)
		if err != nil {
			return none, err
		}
		if !found {
			continue
		}
		if leaf.Mode != repo.File && leaf.Mode != repo.Executable {
			return none, document.Errors{{
				Code: document.CodeRead, File: name, Found: "is not a regular file", Fix: "put a regular file there",
			}}
		}
		key += name + " " + leaf.Hash.String() + "\n"
		ruleFiles = append(ruleFiles, check.RuleFile{Path: full, Blob: leaf.Hash})
	}
	if known := b.loaded[key]; known != nil && len(others) == 0 {
		return RuleSource{Bundle: known, Dir: dir, files: ruleFiles}, nil
	}
	files := rules.Files{}
	for _, name := range others {
		files[name] = nil
	}
	size := 0
	for _, f := range ruleFiles {
		var text []byte
		if size <= rules.MaxBundleBytes { // a larger bundle does not load
			if text, err = b.read(f.Blob); err != nil {
				return none, fmt.Errorf("%s: %w", f.Path, err)
			}
		}
		size += len(text)
		files[strings.TrimPrefix(f.Path, dir+"/")] = text // in ".", paths are from the root already
	}
	bundle, err := rules.Load(files)
	if err != nil {
		return none, err
	}
	if len(b.loaded) == maxLoaded {
		clear(b.loaded)
	}
	b.loaded[key] = bundle
	return RuleSource{Bundle: bundle, Dir: dir, files: ruleFiles}, nil
}

// files returns the names of rule files below a bundle's directory, some of which need not exist, and of files that
// look like rule files and are not read. An entry that could be a directory of rules, but has no content here, is an
// error.
func (b *bundleLoader) files(d *side, dir string) (names, others []string, err error) {
	names = []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile}
	var mistakes document.Errors
	rulesDir := path.Join(dir, path.Dir(rules.BoundariesFile))
	leaf, found, err := d.lookup(b.repo, rulesDir)
	if err != nil || !found {
		return names, nil, err
	}
	if leaf.Mode.IsLeaf() {
		return nil, nil, document.Errors{{
			Code: document.CodeRead, File: path.Dir(rules.BoundariesFile),
			Found: "is a symlink, a submodule or a file", Fix: "put a directory with the rule files there",
		}}
	}
	err = d.under(b.repo, rulesDir, func(name string, mode repo.Mode) {
		name = path.Join(path.Dir(rules.BoundariesFile), name)
		switch {
		case slices.Contains(names, name):
		case mode == repo.Symlink, mode == repo.Submodule:
			mistakes = append(mistakes, &document.Error{
				Code: document.CodeUnread, File: name,
				Found: "is a link or a submodule, which is neither followed nor read",
				Fix:   "replace it with the file itself, or remove it",
			})
		case rules.MayBeRead(name):
			names = append(names, name)
		case rules.LooksLikeRules(name):
			others = append(others, name)
		}
	})
	return names, others, cmp.Or(err, anyOf(mistakes))
}

// read returns a rule file, at most one byte more than the limit.
func (b *bundleLoader) read(h repo.Hash) ([]byte, error) {
	blob, err := b.repo.Blob(h)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	return io.ReadAll(io.LimitReader(blob, document.MaxFileBytes+1))
}
