package run

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
)

// errNoBundle says that there is no bundle at any place of discovery.
var errNoBundle = errors.New("no bundle")

// A bundleLoader finds the bundles in commits and the index of a repository, and loads each of them once.
type bundleLoader struct {
	repo   *repo.Repository
	loaded map[string]*rules.Bundle
}

func newBundleLoader(r *repo.Repository) *bundleLoader {
	return &bundleLoader{r, map[string]*rules.Bundle{}}
}

// inCommit loads the bundle that a commit holds in dir, or, with an empty dir, those where a scan would find
// one: in .policyscan and in the root. A commit without any is [errNoBundle]; a bundle with mistakes is
// [document.Errors], whose places are paths from the root, and then of each of them no more than its folder is
// known.
func (b *bundleLoader) inCommit(commit repo.Hash, dir string) ([]RuleSource, error) {
	tree, err := b.repo.Tree(commit)
	if err != nil {
		return nil, err
	}
	return b.in(state{
		at: func(path string) (repo.Leaf, bool, error) { return b.repo.Lookup(tree, path) },
		beneath: func(path string, found func(string, repo.Mode)) error {
			folder, _, err := b.repo.Lookup(tree, path)
			if err != nil {
				return err
			}
			return b.repo.Diff(repo.Hash{}, folder.Hash, func(c repo.Change) error {
				found(c.Path, c.New.Mode)
				return nil
			})
		},
	}, dir)
}

// inIndex loads the bundles that the index holds, as [bundleLoader.inCommit] does those of a
// commit.
func (b *bundleLoader) inIndex(idx *repo.Index, dir string) ([]RuleSource, error) {
	return b.in(state{
		at: func(path string) (repo.Leaf, bool, error) {
			leaf, found := idx.Lookup(path)
			return leaf, found, nil
		},
		beneath: func(path string, found func(string, repo.Mode)) error {
			for _, f := range idx.Beneath(path) {
				found(strings.TrimPrefix(f.Path, path+"/"), f.Mode)
			}
			return nil
		},
	}, dir)
}

// A state is a commit's tree, or the index.
type state struct {
	at lookup
	// beneath hands on what is in a folder, with paths from there.
	beneath func(folder string, found func(path string, mode repo.Mode)) error
}

// A lookup returns the leaf or folder at a path, false if there is none.
type lookup func(path string) (repo.Leaf, bool, error)

func (b *bundleLoader) in(s state, dir string) ([]RuleSource, error) {
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
		found, err := s.at.has(path.Join(place, mark), place)
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
		one, err := b.load(s, all[i].Dir)
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

// has reports whether there is something at a path. A link or a submodule on the way is a
// mistake in the bundle: what is behind it is not here, and to take it for nothing would
// leave the change's own bundle alone to judge. So is a file in the place of the bundle's
// folder.
func (at lookup) has(name, bundle string) (bool, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		leaf, found, err := at(name[:i])
		switch {
		case err != nil:
			return false, err
		case !found:
			return false, nil
		case leaf.Mode == repo.Symlink, leaf.Mode == repo.Submodule, leaf.Mode.IsLeaf() && name[:i] == bundle:
			return false, document.Errors{{
				Code: document.CodeRead, File: name[:i],
				Found: "is a link, a submodule or a file", Fix: "make it a folder",
			}}
		case leaf.Mode.IsLeaf():
			return false, nil
		}
	}
	_, found, err := at(name)
	return found, err
}

func (b *bundleLoader) load(s state, dir string) (RuleSource, error) {
	none := RuleSource{}
	names, others, err := s.files(dir)
	if err != nil {
		return none, err
	}
	key := ""
	var ruleFiles []check.RuleFile
	for _, name := range names {
		full := path.Join(dir, name)
		leaf, found, err := s.at(full)
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
		if size <= rules.MaxBundleBytes { // with more than that the bundle does not load
			if text, err = b.read(f.Blob); err != nil {
				return none, fmt.Errorf("%s: %w", f.Path, err)
			}
		}
		size += len(text)
		files[within(dir, f.Path)] = text
	}
	bundle, err := rules.Load(files)
	if err != nil {
		return none, err
	}
	b.loaded[key] = bundle
	return RuleSource{Bundle: bundle, Dir: dir, files: ruleFiles}, nil
}

// within is a path of the tree as one from the bundle's folder.
func within(dir, full string) string {
	if dir == "." {
		return full
	}
	return strings.TrimPrefix(full, dir+"/")
}

// files returns what is in the folder of a bundle's rule files, from the bundle's folder: the names of rule files, some
// of which need not be there, and what else looks like one and is not read. What has no content here, and could stand
// for a folder of rules, is an error.
func (s *state) files(dir string) (names, others []string, err error) {
	names = []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile}
	var mistakes document.Errors
	folder := path.Join(dir, path.Dir(rules.BoundariesFile))
	leaf, found, err := s.at(folder)
	if err != nil || !found || leaf.Mode.IsLeaf() {
		return names, nil, err // that it is not a folder is said of the rule files, which are not there
	}
	err = s.beneath(folder, func(name string, mode repo.Mode) {
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
	if err == nil && mistakes != nil {
		err = mistakes
	}
	return names, others, err
}

// read returns a rule file, or so much of it that it is seen to be too long.
func (b *bundleLoader) read(h repo.Hash) ([]byte, error) {
	blob, err := b.repo.Blob(h)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	return io.ReadAll(io.LimitReader(blob, document.MaxFileBytes+1))
}
