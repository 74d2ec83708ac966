package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/repo"
)

// A place is the folder that a scan is about.
type place struct {
	root   string // as the system opens it
	shown  string // as a person would name it from the current folder
	prefix string // from the current folder to the root: "", or a path that ends in /
}

// findPlace returns the place that a PATH argument names; "" is the root of the
// repository around the current folder, or else the current folder.
func findPlace(path string) (place, error) {
	root := disk.Physical(path)
	if path == "" {
		// Without links, so that ".." leads where it seems to.
		cwd, err := disk.Real(".")
		if err != nil {
			return place{}, fmt.Errorf("the current folder cannot be found: %w", err)
		}
		if root, err = repo.Root(cwd); err != nil {
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
		return p, scanner.NoRoot(err)
	case !st.IsDir():
		return p, errors.New("PATH is not a folder; to scan single files, use --files-from or --stdin")
	case repo.LooksBare(root):
		return p, errors.New("the folder to scan is a bare git repository, which has no files; " +
			"scan a work tree of it, or a change with --diff-base")
	}
	return p, nil
}

// rootAt returns the folder that --root names; without it, the root of the repository around the current folder.
func rootAt(flag string) (place, error) {
	at, err := findPlace(flag)
	if err != nil && flag != "" {
		err = fmt.Errorf("--root %s: %w", flag, err)
	}
	return at, err
}

func newPlace(root string) place {
	p := place{root: root, shown: filepath.ToSlash(filepath.Clean(root))}
	if p.shown != "." {
		p.prefix = strings.TrimSuffix(p.shown, "/") + "/"
	}
	return p
}

// repository opens the repository that a git scope is about.
func (c *scanCmd) repository(s *subject) (*repo.Repository, error) {
	if st, err := os.Stat(c.Path); c.Path != "" && err == nil && !st.IsDir() {
		return nil, errors.New("PATH is not a folder; " +
			"with --diff-base, --staged and --tracked it only says which repository is meant, so remove it")
	}
	r, err := gitEnvironment().Open(c.Path)
	if err != nil {
		return nil, failure.OfRepo(err)
	}
	s.place, err = repositoryPlace(r)
	return r, err
}

// gitEnvironment returns the environment variables that say which repository is meant.
func gitEnvironment() repo.Environment {
	return repo.Environment{GitDir: os.Getenv("GIT_DIR"), WorkTree: os.Getenv("GIT_WORK_TREE")}
}

// repositoryPlace returns the place of a repository's files: its work tree, if it has one.
func repositoryPlace(r *repo.Repository) (place, error) {
	if r.WorkTree == "" {
		return place{root: ".", shown: "(a bare repository)"}, nil
	}
	cwd, err := disk.Real(".")
	if err != nil {
		return place{}, fmt.Errorf("the current folder cannot be found: %w", disk.Cause(err))
	}
	root, err := disk.Real(r.WorkTree)
	if err != nil {
		return place{}, fmt.Errorf("the root of the repository cannot be found: %w", disk.Cause(err))
	}
	if rel, err := filepath.Rel(cwd, root); err == nil {
		root = rel
	}
	return newPlace(root), nil
}
