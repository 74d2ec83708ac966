package worktree

import (
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
)

// NoRoot is the error of a directory to scan that cannot be opened.
func NoRoot(err error) error {
	return fmt.Errorf("the folder to scan cannot be opened: %w", disk.Cause(err))
}

// PathIn returns the path that a file has in the tree under root; false if it is not in it. Both are as the system
// opens them. The file need not be there, and is never a link; the directories may be links.
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
