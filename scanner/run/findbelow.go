package run

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// maxDirs is the limit of directories in which bundles are searched: a few bytes of git's trees can have millions.
const maxDirs = 200_000

// A belowFinder finds the directories that the root's bundle names and that have a bundle.
type belowFinder struct {
	named   *glob.Set
	follows *glob.Follower
	list    func(dir dirEntry) ([]dirEntry, error)
	has     func(dir string) (bool, error) // a bundle; with mistakes, whether it has one is unknown
	target  func(link dirEntry) (string, error)

	submodules bool // one that could have a bundle is a mistake

	count    int
	dirs     []string
	links    []dirEntry // that are named
	mistakes document.Errors
}

// A dirEntry is a file or a directory; only commits have hashes.
type dirEntry struct {
	path  string
	isDir bool
	leaf  repo.Leaf
}

func newBelowFinder(globs []string) *belowFinder {
	return &belowFinder{named: glob.Compile(globs), follows: glob.NewFollower(globs, false)}
}

// names reports whether a directory, or one below it, could be named.
func (f *belowFinder) names(dir string) bool {
	return f.named.Match(dir) || !f.follows.Below(dir).Empty()
}

// search searches a directory.
func (f *belowFinder) search(dir dirEntry) error {
	if f.count++; f.count > maxDirs {
		return document.Errors{{Code: document.CodeLimit, File: rules.BoundariesFile,
			Found: fmt.Sprintf(`"bundles" could name one of more than %d directories`, maxDirs),
			Fix:   "write globs that name fewer, such as services/*"}}
	}
	entries, err := f.list(dir)
	for _, e := range entries {
		if f.add(e); err == nil && e.isDir && path.Base(e.path) != rules.HiddenBundle && f.names(e.path) {
			err = f.search(e)
		}
	}
	return err
}

func (f *belowFinder) add(e dirEntry) {
	switch dir, is := strings.CutSuffix(e.path, "/"+rules.HiddenBundle); {
	case is && f.named.Match(dir):
		f.dirs = append(f.dirs, dir)
	case e.leaf.Mode == repo.Symlink && f.named.Match(e.path):
		f.links = append(f.links, e)
	case e.leaf.Mode == repo.Submodule && f.submodules && f.names(e.path):
		f.mistake(document.CodeRead, e.path, `is a submodule, and "bundles" of the root's bundle could name a `+
			"directory in it", "scan it with its own bundle, then use --allow "+check.AllowSubmodule)
	}
}

func (f *belowFinder) mistake(code, file, found, fix string) {
	f.mistakes = append(f.mistakes, &document.Error{Code: code, File: verdict.Path(file), Found: found, Fix: fix})
}

// find searches a root. It returns the directories in order, or all mistakes in them, too.
func (f *belowFinder) find(root dirEntry) (all []string, err error) {
	if err := f.search(root); err != nil {
		return nil, err
	}
	folded := map[string]string{}
	slices.Sort(f.dirs)
	for _, dir := range slices.Compact(f.dirs) {
		is, err := f.has(dir)
		if err = addMistakes(&f.mistakes, err); err != nil {
			return nil, err
		}
		if !is {
			continue
		}
		what := document.IDMistake(dir)
		if !utf8.ValidString(dir) {
			what = "not UTF-8"
		}
		if what != "" {
			f.mistake(document.CodeValue, dir, "has a bundle, and its name, which begins the ids of its rules, is "+
				what, `rename it, or take it out of "bundles"`)
		}
		if other := folded[strings.ToLower(dir)]; other != "" {
			f.mistake(document.CodeTwo, dir, "has a bundle, and so has "+other+
				", the same directory where case is ignored", "rename one of them")
		}
		folded[strings.ToLower(dir)] = dir
		all = append(all, dir)
	}
	for _, link := range f.links {
		to, err := f.target(link)
		if err != nil {
			return nil, err
		}
		isAbs := path.IsAbs(to) // elsewhere
		if to = path.Join(path.Dir(link.path), to); isAbs || !fs.ValidPath(to) || slices.Contains(all, to) {
			continue
		}
		is, err := f.has(to)
		if err != nil && Mistakes(err) == nil {
			return nil, err
		}
		if is || err != nil {
			f.mistake(document.CodeRead, link.path, "is a symlink, which is not followed, to a directory that has a "+
				"bundle, or may have one", "name "+to+` in "bundles" of the root's bundle, or no longer this path`)
		}
	}
	return all, anyOf(f.mistakes)
}

// addMistakes adds the mistakes of an error to a list, and returns other errors.
func addMistakes(list *document.Errors, err error) error {
	some := Mistakes(err)
	if *list = append(*list, some...); len(some) > 0 {
		return nil
	}
	return err
}

// DirsWithBundle returns the directories of a tree on disk that globs name and that have a bundle. Submodules are
// directories there.
func DirsWithBundle(root string, globs []string) ([]string, error) {
	f := newBelowFinder(globs)
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	f.list = func(dir dirEntry) (all []dirEntry, err error) {
		entries, err := os.ReadDir(at(dir.path))
		if err != nil {
			f.mistake(document.CodeRead, dir.path, "cannot be read: "+disk.Cause(err).Error(),
				"make it readable: a bundle in it would not be read")
		}
		for _, e := range entries {
			one := dirEntry{path: path.Join(dir.path, e.Name()), isDir: e.IsDir()}
			if e.Type()&fs.ModeSymlink != 0 {
				one.leaf.Mode = repo.Symlink
			}
			if one.path != ".git" {
				all = append(all, one)
			}
		}
		return all, nil
	}
	f.target = func(link dirEntry) (string, error) {
		to, err := os.Readlink(at(link.path))
		return filepath.ToSlash(to), err
	}
	f.has = func(dir string) (bool, error) {
		is, err := rules.HasHidden(at(dir))
		if mistakes := Mistakes(err); mistakes != nil {
			err = inDir(mistakes, dir)
		}
		return is, err
	}
	return f.find(dirEntry{})
}

// dirsWithBundle returns the directories of a side that globs name and that have a bundle.
func (b *bundleLoader) dirsWithBundle(d *side, globs, allowed []string) ([]string, error) {
	f := newBelowFinder(globs)
	f.target = func(link dirEntry) (string, error) {
		target, err := b.read(link.leaf.Hash)
		return string(target), err
	}
	f.has = func(dir string) (bool, error) {
		at := path.Join(dir, rules.HiddenBundle)
		return b.has(d, at+"/"+path.Dir(rules.BoundariesFile), at)
	}
	f.submodules = !slices.Contains(allowed, check.AllowSubmodule)
	if d.index != nil {
		f.list = func(dirEntry) (all []dirEntry, err error) {
			for _, e := range d.index.Files {
				if dir, _, in := strings.Cut(e.Path, "/"+rules.HiddenBundle+"/"); in {
					e = repo.Staged{Path: dir + "/" + rules.HiddenBundle}
				}
				all = append(all, dirEntry{e.Path, false, e.Leaf})
			}
			return all, nil
		}
		return f.find(dirEntry{})
	}
	f.list = func(dir dirEntry) (all []dirEntry, err error) {
		err = b.repo.Entries(dir.leaf.Hash, func(name []byte, leaf repo.Leaf) {
			all = append(all, dirEntry{path.Join(dir.path, string(name)), !leaf.Mode.IsLeaf(), leaf})
		})
		return all, err
	}
	root, err := b.repo.Tree(d.commit)
	if err != nil {
		return nil, err
	}
	return f.find(dirEntry{leaf: repo.Leaf{Hash: root}})
}
