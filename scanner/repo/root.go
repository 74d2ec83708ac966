package repo

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
)

// Root returns the nearest directory at or above dir with a .git, or dir. The path has no symlinks.
func Root(dir string) (string, error) {
	for at := range disk.Upwards(dir) {
		switch is, err := IsRoot(at); {
		case err != nil:
			return "", fmt.Errorf("the root of the repository cannot be found: %w", disk.Cause(err))
		case is:
			return at, nil
		}
	}
	return dir, nil
}

// IsRoot reports whether a directory has a .git, as a work tree's root does. The directory may be missing.
func IsRoot(dir string) (bool, error) {
	st, err := os.Stat(filepath.Join(dir, ".git"))
	switch {
	case err == nil:
		return st.IsDir() || st.Mode().IsRegular(), nil
	case disk.Absent(err):
		return false, nil
	}
	return false, err
}

// Around returns the root of the repository around a directory, and the directory's path in it: "" if it is the root
// itself, or in no repository.
func Around(dir string) (root, within string, err error) {
	dir, err = disk.Real(dir)
	if err != nil {
		return "", "", fmt.Errorf("the directory to scan cannot be opened: %w", disk.Cause(err))
	}
	if root, err = Root(dir); err != nil || root == dir {
		return root, "", err
	}
	within, err = filepath.Rel(root, dir)
	return root, filepath.ToSlash(within), err
}

// An Environment is the repository of git's variables.
type Environment struct {
	GitDir   string // GIT_DIR; "": the repository around a directory
	WorkTree string // GIT_WORK_TREE; "": by the repository's config or its .git
	// Merging has the hashes that git merge announces: see the function [Merging].
	Merging []string
}

// Open opens the repository around a directory; it must be the named one, if any. "" is the named one, or else that of
// the current directory.
func (e Environment) Open(dir string) (*Repository, error) {
	r, err := e.open(dir)
	if err == nil {
		r.merging = e.Merging
	}
	return r, err
}

func (e Environment) open(dir string) (*Repository, error) {
	if e.GitDir != "" && dir == "" {
		return openNamed(e.GitDir, e.WorkTree)
	}
	// Without symlinks: the system decides which directory is above.
	at, err := disk.Real(dir)
	if err != nil {
		return nil, fmt.Errorf("the directory %s cannot be found: %w", dir, disk.Cause(err))
	}
	around, err := Find(at)
	if err != nil {
		return nil, err
	}
	if e.GitDir == "" {
		if e.WorkTree != "" {
			around.WorkTree = e.WorkTree
		}
		return around, nil
	}
	named, err := openNamed(e.GitDir, e.WorkTree)
	if err == nil && !disk.Same(named.gitDir, around.gitDir) {
		err = fmt.Errorf("%w: GIT_DIR is %s, but %s is in another repository or work tree; unset GIT_DIR, "+
			"or omit the path", ErrNotRepository, e.GitDir, dir)
	}
	return around, err
}

// Tracks reports whether git tracks a file, or one below it, in the repository around it or in the named one.
func (e Environment) Tracks(file string) (bool, error) {
	file, ok := placed(file)
	if !ok {
		return false, nil // not a possible file, which writing it reports
	}
	return e.tracks(filepath.Dir(file), file)
}

// TracksIn reports whether git tracks anything in a directory, which may be missing, or the directory as a submodule.
// A symlink to a directory is resolved.
func (e Environment) TracksIn(dir string) (bool, error) {
	at, err := disk.Real(dir)
	if err != nil {
		var ok bool
		if at, ok = placed(filepath.Clean(dir)); !ok {
			return false, nil
		}
	}
	return e.tracks(at, at)
}

// placed returns the path of a file with the symlinks of its directory resolved; false if that cannot be opened.
func placed(file string) (string, bool) {
	dir, name := filepath.Split(file)
	dir, err := disk.Real(dir)
	return filepath.Join(dir, name), err == nil
}

// tracks looks up a path without symlinks in the index of the named repository and of the one around a directory.
// Without the latter, git tracks nothing. Only its index is needed.
func (e Environment) tracks(from, path string) (bool, error) {
	if e.GitDir != "" {
		if r, err := e.Open(""); err == nil && r.WorkTree != "" {
			root, err := disk.Real(r.WorkTree)
			if err == nil { // else no work tree can contain it
				if tracked, err := inIndex(r.gitDir, root, path); tracked || err != nil {
					return tracked, err
				}
			}
		}
	}
	for root := range disk.Upwards(from) {
		switch gitDir, err := gitDirOf(root); {
		case err != nil:
			return false, err
		case gitDir != "":
			return inIndex(gitDir, root, path)
		}
	}
	return false, nil
}

// Sibling returns the root of the nearest work tree around dir that is another work tree of root's repository, as git
// worktree makes them; "" if root itself is nearer, or is not a work tree. dir need not exist yet. Other repositories
// and broken .git files in between are skipped: they belong to the work tree. It fails if root's git directory cannot
// be read.
func Sibling(root, dir string) (string, error) {
	main, err := common(root)
	if err != nil || main == "" {
		return "", err
	}
	for at := range disk.Upwards(dir) {
		if disk.Same(at, root) {
			break
		}
		if shared, err := common(at); err == nil && shared != "" && disk.Same(shared, main) {
			return at, nil
		}
	}
	return "", nil
}

// GitDirs returns the git directories of the work tree at root: its own and the shared one, if that differs; nil if
// root is not a work tree.
func GitDirs(root string) ([]string, error) {
	gitDir, err := gitDirOf(root)
	if err != nil || gitDir == "" {
		return nil, err
	}
	shared, err := common(root)
	if shared == gitDir {
		return []string{gitDir}, err
	}
	return []string{gitDir, shared}, err
}

// common returns the directory that the work trees of root's repository share; "" if root is not a work tree.
func common(root string) (string, error) {
	gitDir, err := gitDirOf(root)
	if err != nil || gitDir == "" {
		return "", err
	}
	r := &Repository{gitDir: gitDir}
	err = r.findCommon()
	return r.commonDir, err
}
