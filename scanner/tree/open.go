package tree

import (
	"fmt"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// OpenFolder opens a directory and returns the tree of all its files, of scope full. Where submodules are is known from
// the repository around it. The function that is returned closes it, and is never nil.
func OpenFolder(dir string) (Tree, func(), error) {
	root, repository, within, done, err := openAround(dir)
	switch {
	case err != nil:
		return nil, done, err
	case repository == nil:
		return Folder(root), done, nil
	}
	return FolderIn(root, repository, within), done, nil
}

// OpenListed is [OpenFolder] for the files that a list names, as paths from dir; see [List].
func OpenListed(dir string, entries []string) (Tree, func(), error) {
	root, repository, _, done, err := openAround(dir)
	switch {
	case err != nil:
		return nil, done, err
	case repository == nil:
		return List(root, entries), done, nil
	}
	return listedIn(root, repository, entries), done, nil
}

// OpenTracked opens a directory and returns the tree of the files that the index names, of scope tracked. Contents are
// those on disk. A file that is missing there is an error of the run: neither its deletion nor its content is staged.
// The function that is returned closes the tree.
func OpenTracked(dir string, idx *repo.Index) (Tree, func(), error) {
	root, err := worktree.Open(dir)
	if err != nil {
		return nil, func() {}, worktree.NoRoot(err)
	}
	return &trackedTree{"tracked", root, idx}, root.Close, nil
}

// openAround opens a directory and, if it is within the work tree of a repository and not its root, that too.
func openAround(dir string) (root, repository *worktree.Root, within string, done func(), err error) {
	root, err = worktree.Open(dir)
	if err != nil {
		return nil, nil, "", func() {}, worktree.NoRoot(err)
	}
	at, within, err := repo.Around(dir)
	if err != nil || within == "" {
		return root, nil, "", root.Close, err
	}
	repository, err = worktree.Open(at)
	if err != nil {
		err = fmt.Errorf("the repository that the folder to scan is in cannot be opened: %w", disk.Cause(err))
		return root, nil, "", root.Close, err
	}
	return root, repository, within, func() { repository.Close(); root.Close() }, nil
}
