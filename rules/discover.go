package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules/document"
)

// Discover returns the directory of root's bundle: root/.policyscan if root/.policyscan/rules exists, root if
// root/rules/boundaries.yml exists. It fails if both exist: adding one of them must not switch the other off. It also
// fails if .policyscan is a symlink, which could point anywhere, or not a directory. The bundle need not be valid;
// LoadDir checks it.
func Discover(root string) (string, error) {
	hidden, err := hiddenBundle(root)
	if err != nil {
		return "", err
	}
	plain, err := exists(filepath.Join(root, filepath.FromSlash(BoundariesFile)))
	if err != nil {
		return "", unreadable(BoundariesFile, err)
	}
	switch {
	case hidden && plain:
		return "", TwoBundles("the root")
	case hidden:
		return filepath.Join(root, HiddenBundle), nil
	case plain:
		return root, nil
	}
	return "", &document.Error{
		Code:  document.CodeMissing,
		Found: fmt.Sprintf("no bundle: neither .policyscan/rules nor %s is in the root", BoundariesFile),
		Fix:   `run "policyscan init", name one with --policy DIR, or use --policy builtin:infra`,
	}
}

// HiddenBundle is the directory in a tree's root where discovery looks first.
const HiddenBundle = ".policyscan"

// TwoBundles is the error about a tree with a bundle at both places of discovery. where names the tree.
func TwoBundles(where string) *document.Error {
	return &document.Error{
		Code:  document.CodeTwo,
		Found: fmt.Sprintf("two bundles: %s has both .policyscan/rules and %s", where, BoundariesFile),
		Fix:   "keep one of them, or choose one with --policy",
	}
}

func hiddenBundle(root string) (bool, error) {
	hidden := filepath.Join(root, HiddenBundle)
	stat, err := os.Lstat(hidden)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, unreadable(HiddenBundle, err)
	case !stat.IsDir():
		return false, notDir(HiddenBundle, stat, "make it a directory, or name the bundle with --policy")
	}
	found, err := exists(filepath.Join(hidden, "rules"))
	if err != nil {
		return false, unreadable(".policyscan/rules", err)
	}
	return found, nil
}

func exists(name string) (bool, error) {
	_, err := os.Lstat(name)
	if disk.Absent(err) {
		return false, nil
	}
	return err == nil, err
}
