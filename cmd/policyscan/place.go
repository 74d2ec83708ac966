package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// A place is the folder that a scan is about.
type place struct {
	root   string // as the system opens it
	shown  string // as a person would name it from the current folder
	prefix string // what leads from the current folder to a file of the root: "" or a path ending in /
}

// findPlace returns the place that a PATH argument names; "" is the root of the
// repository around the current folder, or else the current folder.
func findPlace(path string) (place, error) {
	root := path
	if path == "" {
		// Without links, so that "..", which the system follows, is where it seems.
		cwd, err := realPath(".")
		if err != nil {
			return place{}, fmt.Errorf("the current folder cannot be found: %w", err)
		}
		if root, err = repositoryRoot(cwd); err != nil {
			return place{}, err
		}
		if rel, err := filepath.Rel(cwd, root); err == nil {
			root = rel
		}
	}
	p := newPlace(root)
	st, err := os.Stat(root)
	switch {
	case err != nil:
		return p, fmt.Errorf("%s cannot be scanned: %w", verdict.Visible(p.shown), systemError(err))
	case !st.IsDir():
		return p, fmt.Errorf("%s is not a folder; to scan single files use --files-from or --stdin", verdict.Visible(p.shown))
	case bare(root):
		return p, fmt.Errorf("%s is a bare git repository, which has no files to scan; scan a work tree of it", verdict.Visible(p.shown))
	}
	return p, nil
}

func newPlace(root string) place {
	p := place{root: root, shown: filepath.ToSlash(filepath.Clean(root))}
	if p.shown != "." {
		p.prefix = strings.TrimSuffix(p.shown, "/") + "/"
	}
	return p
}

// repositoryRoot returns the nearest folder at or above dir that holds a .git, or dir.
func repositoryRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		st, err := os.Stat(filepath.Join(at, ".git"))
		switch {
		case err == nil && (st.IsDir() || st.Mode().IsRegular()):
			return at, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("the root of the repository cannot be found: %w; name the folder to scan", systemError(err))
		}
		if filepath.Dir(at) == at {
			return dir, nil
		}
	}
}

// bare reports whether a folder is git's own: a bare repository or a .git.
func bare(dir string) bool {
	for name, isDir := range map[string]bool{"HEAD": false, "objects": true, "refs": true} {
		st, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || st.IsDir() != isDir {
			return false
		}
	}
	return true
}

// leaveOut adds file, a path from the current folder, to the paths of the tree that
// are left out, if it is in the tree.
func (p place) leaveOut(out map[string]string, file, reason string) {
	if file == "" {
		return
	}
	// The file may not be there yet, and is never a link; the folders may be links.
	dir, err := realPath(filepath.Dir(file))
	if err != nil {
		return
	}
	root, err := realPath(p.root)
	if err != nil {
		return
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(file)))
	if err == nil && filepath.IsLocal(rel) {
		out[filepath.ToSlash(rel)] = reason
	}
}

func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// systemError is an error of the system without the path, which the caller names.
func systemError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
