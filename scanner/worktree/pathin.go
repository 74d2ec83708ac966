package worktree

import (
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
)

// NoRoot is the error of a directory to scan that cannot be opened.
func NoRoot(err error) error {
	return fmt.Errorf("the directory to scan cannot be opened: %w", disk.Cause(err))
}

// PathIn returns the path of a file in the tree under root; false if it is not in it. Both are as the system opens
// them. The file may be missing, and is never a symlink; the directories may be symlinks.
func PathIn(root, file string) (path string, in bool, err error) {
	dir, name := filepath.Split(file)
	dir, err = disk.Real(dir)
	if err != nil {
		return "", false, fmt.Errorf(`cannot determine whether "%s" is in the directory to scan: %w`,
			verdict.Visible(file), disk.Cause(err))
	}
	if root, err = disk.Real(root); err != nil {
		return "", false, NoRoot(err)
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, name))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false, nil // no relative path: it is not in the tree
	}
	return filepath.ToSlash(rel), true, nil
}
