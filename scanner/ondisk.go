package scanner

import (
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// OpenFolder opens a folder and returns the tree of all its files, of scope full. Where submodules are is known from
// the repository around it. The function that is returned closes it, and is never nil.
func OpenFolder(dir string) (Tree, func(), error) {
	root, repository, within, done, err := openAround(dir)
	switch {
	case err != nil:
		return nil, done, err
	case repository == nil:
		return Folder(root), done, nil
	}
	return folderIn(root, repository, within), done, nil
}

// OpenListed is [OpenFolder] for the files that a list names, as paths from dir; see [listed].
func OpenListed(dir string, entries []string) (Tree, func(), error) {
	root, repository, _, done, err := openAround(dir)
	switch {
	case err != nil:
		return nil, done, err
	case repository == nil:
		return listed(root, entries), done, nil
	}
	return listedIn(root, repository, entries), done, nil
}

// OpenTracked opens a folder and returns the tree of the files that the index names, of scope tracked; see [tracked].
func OpenTracked(dir string, idx *repo.Index) (Tree, func(), error) {
	root, err := worktree.Open(dir)
	if err != nil {
		return nil, func() {}, NoRoot(err)
	}
	return tracked(root, idx), root.Close, nil
}

// openAround opens a folder and, if it is within the work tree of a repository and not its root, that too.
func openAround(dir string) (root, repository *worktree.Root, within string, done func(), err error) {
	root, err = worktree.Open(dir)
	if err != nil {
		return nil, nil, "", func() {}, NoRoot(err)
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

// NoRoot is the error of a folder to scan that cannot be opened.
func NoRoot(err error) error {
	return fmt.Errorf("the folder to scan cannot be opened: %w", disk.Cause(err))
}

// PathIn returns the path that a file has in the tree under root; false if it is not in it. Both are as the system
// opens them. The file need not be there, and is never a link; the folders may be links.
func PathIn(root, file string) (path string, in bool, err error) {
	folder, name := filepath.Split(file)
	dir, err := disk.Real(folder)
	if err != nil {
		return "", false, fmt.Errorf(`cannot determine whether "%s" is in the folder to scan: %w`,
			verdict.Visible(file), disk.Cause(err))
	}
	if root, err = disk.Real(root); err != nil {
		return "", false, NoRoot(err)
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, name))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false, nil // without a way from one to the other, it is not in the tree
	}
	return filepath.ToSlash(rel), true, nil
}
