package repo

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
)

// ErrIndex: the index cannot be read.
var ErrIndex = errors.New("the index cannot be read")

// An Index is the content of the next commit.
type Index struct {
	Files []Staged // in the order of their paths' bytes
	// Written is when the file was written, as Mtime of a [Staged]: files changed since may have an entry's times.
	Written int64

	isThere bool                  // the file exists
	trees   map[string]cachedTree // by the path of the directory; "" is the root
	link    string                // the extension of a split index
}

// A Staged is a file of the index.
type Staged struct {
	Path string
	Leaf
	Conflict     bool // unmerged: several versions, Leaf is any of them
	IntentToAdd  bool // the name alone, without content yet
	SkipWorktree bool // not checked out (sparse checkout)

	Size         uint32 // in bytes, modulo 2^32, of the file on disk when it was staged
	Mtime, Ctime int64  // of that file, in nanoseconds since 1970
}

// Index reads the index of the work tree, or the one in GIT_INDEX_FILE, which git sets for hooks (git commit with -a
// or paths uses a temporary index). A missing index is empty.
//
// The format is git's gitformat-index(5), versions 2, 3 and 4, also split into two files. The directories of a sparse
// index are read from their trees.
func (r *Repository) Index() (*Index, error) {
	file := filepath.Join(r.gitDir, "index")
	if name := os.Getenv("GIT_INDEX_FILE"); name != "" {
		file = disk.Under(cmp.Or(r.WorkTree, r.gitDir), name) // git runs hooks in the root of the work tree
		if other := filepath.Dir(file); exists(filepath.Join(other, "HEAD")) && !disk.Same(other, r.gitDir) {
			return nil, fmt.Errorf("%w: GIT_INDEX_FILE is %s, of another repository than %s; "+
				"unset it, or omit the path", ErrIndex, file, r.gitDir)
		}
	}
	read, err := r.objects.format.readIndex(r.gitDir, file)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(read.Files, func(f Staged) bool { return f.Mode == dirMode }) {
		return read, nil
	}
	idx := &Index{Written: read.Written, isThere: true, trees: read.trees}
	for _, f := range read.Files {
		if f.Mode != dirMode {
			idx.Files = append(idx.Files, f)
			continue
		}
		err := r.Diff(Hash{}, f.Hash, func(c Change) error {
			idx.Files = append(idx.Files, Staged{Path: f.Path + c.Path, Leaf: c.New, SkipWorktree: true})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s, a directory of the sparse index: %w", f.Path, err)
		}
	}
	// A tree sorts a directory by its name and a slash, as the index sorts paths, but nothing else checks the order of
	// files read from trees.
	if !slices.IsSortedFunc(idx.Files, byPath) {
		return nil, fmt.Errorf("%w: it is not in order", ErrIndex)
	}
	return idx, nil
}

func byPath(a, b Staged) int { return strings.Compare(a.Path, b.Path) }

// readIndex reads an index of a git directory.
func (f format) readIndex(gitDir, file string) (*Index, error) {
	st, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &Index{}, nil
	}
	var content string
	if err == nil {
		content, err = readText(file, maxIndex)
	}
	var idx *Index
	if err == nil {
		idx, err = f.parseIndexFile(content)
	}
	if err == nil && idx.link != "" {
		err = f.join(idx, gitDir, filepath.Dir(file))
	}
	if err == nil {
		err = idx.settle()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrIndex, err) // a malformed index is not a malformed tree
	}
	idx.isThere, idx.Written = true, st.ModTime().UnixNano()
	return idx, nil
}

// With returns the index with other files, in any order.
func (x *Index) With(files []Staged) *Index {
	slices.SortFunc(files, byPath)
	return &Index{Files: files, Written: x.Written, isThere: x.isThere}
}

// dir returns a directory of the index, with the given files. It has a hash if git has cached its tree.
func (x *Index) dir(path string, files []Staged) treeEntry {
	e := treeEntry{mode: dirMode, staged: files}
	if t, known := x.trees[path]; known && t.files == len(files) {
		e.hash = t.hash
	}
	return e
}

// Missing fails if there is no index: compared with a commit, all files would be staged for deletion, a state that git
// never leaves without an index.
func (x *Index) Missing() error {
	switch name := os.Getenv("GIT_INDEX_FILE"); {
	case x.isThere:
		return nil
	case name != "":
		return fmt.Errorf("%w: GIT_INDEX_FILE is %s, which does not exist; unset it, or set it to an index",
			ErrIndex, name)
	}
	return fmt.Errorf("%w: it does not exist; run git reset", ErrIndex)
}

// Lookup returns the leaf or directory at a path of the index, as [Repository.Lookup] does of a tree.
func (x *Index) Lookup(path string) (Leaf, bool) {
	i, found := slices.BinarySearchFunc(x.Files, Staged{Path: path}, byPath)
	if found {
		return x.Files[i].Leaf, true
	}
	i, _ = slices.BinarySearchFunc(x.Files, Staged{Path: path + "/"}, byPath)
	if path == "." || i < len(x.Files) && strings.HasPrefix(x.Files[i].Path, path+"/") {
		return Leaf{Mode: dirMode}, true
	}
	return Leaf{}, false
}

// Below returns the files below a directory other than the root, in index order.
func (x *Index) Below(dir string) []Staged {
	from, _ := slices.BinarySearchFunc(x.Files, Staged{Path: dir + "/"}, byPath)
	to, _ := slices.BinarySearchFunc(x.Files, Staged{Path: dir + "0"}, byPath) // "0" follows "/"
	return x.Files[from:to]
}

// Committed returns the index without files that git would not commit: those with intent to add. A conflict is an
// error.
func (x *Index) Committed() (*Index, error) {
	c := &Index{Files: x.Files, isThere: x.isThere, trees: x.trees}
	named := 0
	for i := range x.Files {
		f := &x.Files[i]
		if f.Conflict {
			return nil, fmt.Errorf("%w: %q has a conflict; resolve it and run git add", ErrIndex, clip(f.Path))
		}
		if f.IntentToAdd {
			named++
		}
	}
	if named > 0 { // else the index is not copied
		c.Files = slices.DeleteFunc(slices.Clone(x.Files), func(f Staged) bool { return f.IntentToAdd })
	}
	return c, nil
}

// inIndex reports whether the index of a git directory has a path of the work tree at root, or one below it.
func inIndex(gitDir, root, path string) (bool, error) {
	var cfg settings
	r := &Repository{gitDir: gitDir}
	unread := r.findCommon()
	if unread == nil {
		cfg, unread = readSettings(filepath.Join(r.commonDir, "config"))
	}
	f, _ := formatOf(cfg) // the index can be read even if nothing else can
	file := filepath.Join(gitDir, "index")
	idx, err := f.readIndex(gitDir, file)
	if err != nil && unread != nil {
		idx, err = formatSHA256.readIndex(gitDir, file)
	}
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return false, err
	}
	return idx.names(root, filepath.ToSlash(rel))
}

// names reports whether the index has a path, or a path below it. root is on the file system that may ignore case.
func (x *Index) names(root, path string) (bool, error) {
	if path == "." {
		return len(x.Files) > 0, nil
	}
	for _, f := range x.Files {
		at := f.Path
		if len(at) > len(path) && at[len(path)] == '/' {
			at = at[:len(path)]
		}
		switch {
		case at == path || strings.EqualFold(at, path) && disk.Same(filepath.Join(root, filepath.FromSlash(at)),
			filepath.Join(root, filepath.FromSlash(path))):
			return true, nil
		case f.Mode == dirMode && strings.HasPrefix(path, f.Path):
			return false, fmt.Errorf("%w: it is sparse, and has %s as a whole; "+
				"run git sparse-checkout reapply --no-sparse-index", ErrIndex, f.Path)
		}
	}
	return false, nil
}
