package tree

import (
	"fmt"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// OpenDir opens a directory and returns the tree of all its files, of scope full, or, with paths from dir, of those
// files and the files below them, of scope files: a path that is neither a file nor a directory of the tree is an error
// of the run. The repository around dir tells where submodules are. The returned function closes it; with an error it
// is nil.
func OpenDir(dir string, paths []string) (Tree, func(), error) {
	roots, err := openRoots(dir)
	if err != nil {
		return nil, nil, err
	}
	mode := diskScope("full")
	if paths != nil {
		mode = "files"
	}
	return &dirTree{mode, roots, paths}, roots.close, nil
}

// OpenListed is [OpenDir] for the files of a list, as paths from dir; see [List].
func OpenListed(dir string, entries []string) (Tree, func(), error) {
	roots, err := openRoots(dir)
	if err != nil {
		return nil, nil, err
	}
	return &listTree{"files", roots, entries}, roots.close, nil
}

// OpenTracked is [OpenDir] for the files of the index, of scope tracked. Contents are those on disk. A file that is
// missing on disk is an error of the run: neither its deletion nor its content is staged.
func OpenTracked(dir string, idx *repo.Index) (Tree, func(), error) {
	root, err := worktree.Open(dir)
	if err != nil {
		return nil, nil, worktree.NoRoot(err)
	}
	return &trackedTree{"tracked", root, idx}, root.Close, nil
}

// A diskRoots is the directory of a tree, and the work tree of its repository; the same directory if there is no
// repository.
type diskRoots struct {
	root, repository *worktree.Root
	within           string // root's path in the repository, with a final slash; "" if they are the same
}

func openRoots(dir string) (diskRoots, error) {
	root, err := worktree.Open(dir)
	if err != nil {
		return diskRoots{}, worktree.NoRoot(err)
	}
	r := diskRoots{root, root, ""}
	at, within, err := repo.Around(dir)
	if err == nil && within != "" {
		r.within = within + "/"
		if r.repository, err = worktree.Open(at); err != nil {
			err = fmt.Errorf("the repository that the directory to scan is in cannot be opened: %w", disk.Cause(err))
		}
	}
	if err != nil {
		root.Close()
	}
	return r, err
}

func (r diskRoots) close() {
	if r.repository != r.root {
		r.repository.Close()
	}
	r.root.Close()
}
