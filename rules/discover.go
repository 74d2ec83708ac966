package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Discover returns the folder of root's bundle: root/.policyscan if there is
// root/.policyscan/rules, else root if there is root/rules/boundaries.yml. What
// it returns need not be valid; LoadDir says so. A .policyscan that is a link or not
// a folder is an error: it could lead anywhere.
func Discover(root string) (string, error) {
	hidden := filepath.Join(root, ".policyscan")
	stat, err := os.Lstat(hidden)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", unreadable(".policyscan", err)
	case !stat.IsDir():
		what := kindOf(stat.Mode())
		if stat.Mode().IsRegular() {
			what = "a file"
		}
		return "", &Error{Code: CodeRead, File: ".policyscan", Found: "is " + what, Fix: "make it a folder, or name the bundle with --policy"}
	default:
		found, err := exists(filepath.Join(hidden, "rules"))
		if err != nil {
			return "", unreadable(".policyscan/rules", err)
		}
		if found {
			return hidden, nil
		}
	}
	found, err := exists(filepath.Join(root, filepath.FromSlash(BoundariesFile)))
	if err != nil {
		return "", unreadable(BoundariesFile, err)
	}
	if found {
		return root, nil
	}
	return "", &Error{
		Code:  CodeMissing,
		Found: fmt.Sprintf("no bundle: neither .policyscan/rules nor %s is in the root", BoundariesFile),
		Fix:   `run "policyscan init", name one with --policy DIR, or use --policy builtin:infra`,
	}
}

// exists reports whether something of that name is there, whatever it is.
func exists(name string) (bool, error) {
	_, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}
