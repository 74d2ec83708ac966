package run

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
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
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// maxDirs is the limit of directories in which bundles are searched: a few bytes of git's trees can have millions.
const maxDirs = 200_000

// A belowFinder finds the directories that the root's bundle names and that have a bundle.
type belowFinder struct {
	named   *glob.Set
	follows *glob.Follower
	root    dirEntry
	list    func(dir dirEntry) ([]dirEntry, error)
	look    func(path string) (dirEntry, error) // without one, the zero value
	target  func(link dirEntry) (string, error)

	submodules bool // one that could have a bundle is a mistake

	count    int
	hidden   map[string]dirEntry // the .policyscan of each named directory
	linked   map[string]linkedDir
	seen     map[string]bool // directories that were searched through links, with what is named there
	mistakes document.Errors
}

// A dirEntry is a file or a directory; only commits have hashes.
type dirEntry struct {
	path  string
	isDir bool
	leaf  repo.Leaf
}

// A linkedDir is a .policyscan whose directory could be named by a path through a symlink.
type linkedDir struct {
	link   string // the first of the path
	hidden dirEntry
}

func newBelowFinder(globs []string) *belowFinder {
	return &belowFinder{
		named: glob.Compile(globs), follows: glob.NewFollower(globs, false),
		hidden: map[string]dirEntry{}, linked: map[string]linkedDir{}, seen: map[string]bool{},
	}
}

// names reports whether a path, or one below it, could be named.
func (f *belowFinder) names(path string) bool {
	return f.named.Match(path) || !f.follows.Below(path).Empty()
}

// search searches a directory by a path to it, of which link is the first symlink, or "".
func (f *belowFinder) search(dir dirEntry, as, link string) error {
	isNamed := f.named.Match(as)
	if link != "" {
		rest, sure := f.follows.Below(as).Key()
		isNamed = isNamed || !sure
		key := fmt.Sprintf("%s\x00%t\x00%s", dir.path, isNamed, rest)
		if f.seen[key] {
			return nil
		}
		f.seen[key] = true
	}
	if f.count++; f.count > maxDirs {
		return document.Errors{{Code: document.CodeLimit, File: rules.BoundariesFile,
			Found: fmt.Sprintf(`"bundles" could name one of more than %d directories`, maxDirs),
			Fix:   "write globs that name fewer, such as services/*"}}
	}
	entries, err := f.list(dir)
	for _, e := range entries {
		at := path.Join(as, path.Base(e.path))
		switch {
		case path.Base(e.path) != rules.HiddenBundle || !isNamed || dir.path == "": // the root's is in use
		case link == "":
			f.hidden[dir.path] = e
		default:
			f.linked[dir.path] = linkedDir{link, e}
		}
		switch {
		case err != nil:
		case e.isDir && f.names(at):
			err = f.search(e, at, link)
		case e.leaf.Mode == repo.Symlink && f.names(at):
			err = f.follow(e, at, cmp.Or(link, e.path))
		case e.leaf.Mode == repo.Submodule && f.names(at):
			f.submodule(e.path)
		}
	}
	return err
}

// follow searches what a symlink leads to in the tree.
func (f *belowFinder) follow(e dirEntry, as, link string) error {
	target, err := f.target(e)
	var to tree.SymlinkTarget
	if err == nil {
		to, err = tree.Follow(e.path, target, func(name string) (info tree.PathInfo, err error) {
			at, err := f.look(name)
			if at.leaf.Mode == repo.Submodule {
				f.submodule(name)
			}
			if info.IsLink = at.leaf.Mode == repo.Symlink; info.IsLink {
				info.Target, err = f.target(at)
			}
			return info, err
		})
	}
	dir := f.root
	if err == nil && to.Path != "" {
		dir, err = f.look(to.Path)
	}
	switch {
	case err != nil || to.Broken != "" || to.Outside != "":
		return err
	case to.Path == "", dir.isDir:
		return f.search(dir, as, link)
	}
	return nil
}

func (f *belowFinder) submodule(name string) {
	if f.submodules {
		f.mistake(document.CodeRead, name, `is a submodule, and "bundles" of the root's bundle could name a `+
			"directory in it", "scan it with its own bundle, then use --allow "+check.AllowSubmodule)
	}
}

func (f *belowFinder) mistake(code, file, found, fix string) {
	f.mistakes = append(f.mistakes, &document.Error{Code: code, File: verdict.Path(file), Found: found, Fix: fix})
}

// isBundle reports whether a .policyscan is a bundle. One with call rules alone is not a mistake.
func (f *belowFinder) isBundle(hidden dirEntry) (bool, error) {
	if !hidden.isDir {
		f.mistake(document.CodeRead, hidden.path, "is a symlink, a submodule or a file", "make it a directory")
		return false, nil
	}
	entries, err := f.list(hidden)
	other := false
	for _, e := range entries {
		switch path.Base(e.path) {
		case path.Dir(rules.BoundariesFile):
			return true, err
		case "calls.yml":
		default:
			other = true
		}
	}
	if other {
		f.mistake(document.CodeMissing, hidden.path, `has no directory "rules"`,
			"move the rule files there, or remove it")
	}
	return false, err
}

// find returns the directories in order, or all mistakes in them, too.
func (f *belowFinder) find() (all []string, err error) {
	if err := f.search(f.root, "", ""); err != nil {
		return nil, err
	}
	folded := map[string]string{}
	for _, dir := range slices.Sorted(maps.Keys(f.hidden)) {
		is, err := f.isBundle(f.hidden[dir])
		if err != nil {
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
	for _, dir := range slices.Sorted(maps.Keys(f.linked)) {
		if _, named := f.hidden[dir]; named {
			continue
		}
		is, err := f.isBundle(f.linked[dir].hidden)
		if err != nil {
			return nil, err
		}
		if is {
			f.mistake(document.CodeRead, f.linked[dir].link, "is a symlink, so the bundle of "+dir+
				`, which "bundles" could name through it, is not enforced`,
				"name "+dir+` itself in "bundles", or no path through the symlink`)
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

// NamesNotes returns notes on the globs of a tree's bundle that match none of the directories with a bundle.
func (all RuleSources) NamesNotes(b *rules.Bundle) (notes []document.Note) {
	for _, g := range b.Bundles {
		set := glob.Compile([]string{g})
		if !slices.ContainsFunc(all, func(s RuleSource) bool { return s.Below != "" && set.Match(s.Below) }) {
			notes = append(notes, document.Note{File: rules.BoundariesFile,
				Text: fmt.Sprintf(`%q of "bundles" matches no directory that has a bundle`, g)})
		}
	}
	return notes
}

// DirsWithBundle returns the directories of a tree on disk that globs name and that have a bundle. Submodules are
// directories there.
func DirsWithBundle(root string, globs []string) ([]string, error) {
	f := newBelowFinder(globs)
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	entry := func(name string, mode fs.FileMode) dirEntry {
		e := dirEntry{path: name, isDir: mode.IsDir()}
		if mode&fs.ModeSymlink != 0 {
			e.leaf.Mode = repo.Symlink
		}
		return e
	}
	unread := func(name string, err error) {
		f.mistake(document.CodeRead, name, "cannot be read: "+disk.Cause(err).Error(),
			"make it readable: a bundle in it would not be read")
	}
	f.list = func(dir dirEntry) (all []dirEntry, err error) {
		entries, err := os.ReadDir(at(dir.path))
		if err != nil {
			unread(dir.path, err)
		}
		for _, e := range entries {
			if one := entry(path.Join(dir.path, e.Name()), e.Type()); one.path != ".git" {
				all = append(all, one)
			}
		}
		return all, nil
	}
	f.look = func(name string) (dirEntry, error) {
		st, err := os.Lstat(at(name))
		if err == nil {
			return entry(name, st.Mode()), nil
		}
		if !disk.Absent(err) {
			unread(name, err)
		}
		return dirEntry{}, nil
	}
	f.target = func(link dirEntry) (string, error) {
		to, err := os.Readlink(at(link.path))
		if err != nil && !disk.Absent(err) {
			unread(link.path, err)
		}
		return filepath.ToSlash(to), nil
	}
	return f.find()
}

// dirsWithBundle returns the directories of a side that globs name and that have a bundle.
func (b *bundleLoader) dirsWithBundle(d *side, globs, allowed []string) (_ []string, err error) {
	f := newBelowFinder(globs)
	f.submodules = !slices.Contains(allowed, check.AllowSubmodule)
	f.look = func(name string) (dirEntry, error) {
		leaf, found, err := d.lookup(b.repo, name)
		return dirEntry{name, found && !leaf.Mode.IsLeaf(), leaf}, err
	}
	f.target = func(link dirEntry) (string, error) {
		target, err := b.read(link.leaf.Hash)
		return string(target), err
	}
	if d.index != nil {
		f.list = func(dir dirEntry) ([]dirEntry, error) { return staged(d.index, dir.path), nil }
		return f.find()
	}
	f.list = func(dir dirEntry) (all []dirEntry, err error) {
		err = b.repo.Entries(dir.leaf.Hash, func(name []byte, leaf repo.Leaf) {
			all = append(all, dirEntry{path.Join(dir.path, string(name)), !leaf.Mode.IsLeaf(), leaf})
		})
		return all, err
	}
	if f.root.leaf.Hash, err = b.repo.Tree(d.commit); err != nil {
		return nil, err
	}
	return f.find()
}

// staged returns the entries of a directory of the index; "" is the root.
func staged(x *repo.Index, dir string) (all []dirEntry) {
	files, prefix := x.Files, ""
	if dir != "" {
		files, prefix = x.Below(dir), dir+"/"
	}
	for len(files) > 0 {
		e, n := dirEntry{path: files[0].Path, leaf: files[0].Leaf}, 1
		if name, _, is := strings.Cut(e.path[len(prefix):], "/"); is {
			e = dirEntry{path: prefix + name, isDir: true}
			n = len(x.Below(e.path))
		}
		all, files = append(all, e), files[n:]
	}
	return all
}
