package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A Place is the directory of a scan.
type Place struct {
	Root   string // for the system
	Shown  string // for display, from the current directory
	Prefix string // from the current directory to the root: "", or a path that ends in /
	Bare   bool   // of a repository without a work tree: no file is on disk
}

// Find returns the place of a path; "" is the root of the repository around the current directory, or else the current
// directory.
func Find(path string) (Place, error) {
	root := disk.Physical(path)
	if path == "" {
		var err error
		if root, err = rootHere(); err != nil {
			return Place{}, err
		}
	}
	p := At(root)
	st, err := os.Stat(root)
	switch {
	case err != nil:
		return p, worktree.NoRoot(err)
	case !st.IsDir():
		return p, errors.New("PATH is not a directory; to scan single files, use --files-from or --stdin")
	case repo.LooksBare(root):
		return p, errors.New("PATH is a bare git repository, which has no files; " +
			"scan a commit of it with --rev, such as --rev HEAD, or a change with --diff-base")
	}
	return p, nil
}

// Name is the name of the root's directory, without the ".git" of a bare repository; "" if unknown.
func (p *Place) Name() string {
	if p.Root == "" || p.Bare && !repo.LooksBare(p.Root) {
		return ""
	}
	root, err := disk.Real(p.Root)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(root), ".git")
}

// Path returns the path from the root of a file that is named from the current directory. The file need not exist.
// Symlinks to its directory are followed, as in a scan.
func (p *Place) Path(file string) (string, error) {
	path, in, err := worktree.PathIn(p.Root, disk.Physical(file))
	if err == nil && (!in || path == ".") {
		err = fmt.Errorf(`"%s" is not a file in %s, the root from which globs count; name the root with --root`,
			verdict.Visible(file), p.Shown)
	}
	return path, err
}

// PathInCommit is Path for a file of a commit. It follows only links to the root and to the current directory, because
// the commit may differ from the disk below the root. In a bare repository, file counts from the root of the commit.
func (p *Place) PathInCommit(file string) (string, error) {
	if p.Bare {
		return tree.CleanPath(file)
	}
	root, err := disk.Real(p.Root)
	if err != nil {
		return "", worktree.NoRoot(err)
	}
	at := file
	if !filepath.IsAbs(at) {
		here, err := disk.Real(".")
		if err != nil {
			return "", noCurrentDir(err)
		}
		at = filepath.Join(here, at)
	}
	path, err := filepath.Rel(root, at)
	if err == nil && filepath.IsLocal(path) && path != "." {
		return filepath.ToSlash(path), nil
	}
	return p.Path(file)
}

// At returns the place of a directory.
func At(root string) Place {
	p := Place{Root: root, Shown: filepath.ToSlash(filepath.Clean(root))}
	if p.Shown != "." {
		p.Prefix = strings.TrimSuffix(p.Shown, "/") + "/"
	}
	return p
}

// rootHere returns the way from the current directory to the root of the repository around it.
func rootHere() (string, error) {
	cwd, err := disk.Real(".") // without links, so that ".." is the parent
	if err != nil {
		return "", noCurrentDir(err)
	}
	root, err := repo.Root(cwd)
	if err != nil {
		return "", fmt.Errorf("%w; name the directory to scan", err)
	}
	return disk.FromHere(root)
}

func noCurrentDir(err error) error {
	return fmt.Errorf("the current directory cannot be found: %w", disk.Cause(err))
}

// placeOf returns the place of a repository's files: its work tree, if it has one.
func placeOf(r *repo.Repository) (Place, error) {
	if r.WorkTree == "" {
		return Place{Root: ".", Shown: "(a bare repository)", Bare: true}, nil
	}
	root, err := disk.Real(r.WorkTree)
	if err != nil {
		return Place{}, fmt.Errorf("the root of the repository cannot be found: %w", disk.Cause(err))
	}
	way, err := disk.FromHere(root)
	if err != nil {
		return Place{}, noCurrentDir(err)
	}
	return At(way), nil
}

// CheckedOutCommit returns the commit that is checked out in the repository around a directory; "" without one,
// or it cannot be read.
func CheckedOutCommit(dir string) string {
	r, err := repo.Find(dir)
	if err != nil {
		return ""
	}
	head, err := r.Commit("HEAD")
	if err != nil {
		return ""
	}
	return head.String()
}
