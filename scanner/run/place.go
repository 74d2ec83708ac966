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

// A Place is the folder that a scan is about.
type Place struct {
	Root   string // as the system opens it
	Shown  string // as a person would name it from the current folder
	Prefix string // from the current folder to the root: "", or a path that ends in /
	Bare   bool   // it is a repository's without a work tree: the files are nowhere on disk
}

// Find returns the place that a path names; "" is the root of the repository around the current folder,
// or else the current folder.
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
		return p, errors.New("PATH is not a folder; to scan single files, use --files-from or --stdin")
	case repo.LooksBare(root):
		return p, errors.New("the folder to scan is a bare git repository, which has no files; " +
			"scan a commit of it with --rev, such as --rev HEAD, or a change with --diff-base")
	}
	return p, nil
}

// Path returns the path from the root of a file that is named from the current folder. The file need not be there.
// Links that lead to its folder are followed, so that it is the path by which a scan knows it.
func (p *Place) Path(file string) (string, error) {
	path, in, err := worktree.PathIn(p.Root, disk.Physical(file))
	if err == nil && (!in || path == ".") {
		err = fmt.Errorf(`"%s" is not a file in %s, the root from which globs count; name the root with --root`,
			verdict.Visible(file), p.Shown)
	}
	return path, err
}

// PathInCommit is Path for a file of a commit: only links on the way to the root and to the current folder are
// followed, because what is beneath the root on disk need not be what the commit has. In a bare repository, file
// counts from the root of the commit.
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
			return "", noFolder(err)
		}
		at = filepath.Join(here, at)
	}
	path, err := filepath.Rel(root, at)
	if err == nil && filepath.IsLocal(path) && path != "." {
		return filepath.ToSlash(path), nil
	}
	return p.Path(file)
}

// At returns the place of a folder.
func At(root string) Place {
	p := Place{Root: root, Shown: filepath.ToSlash(filepath.Clean(root))}
	if p.Shown != "." {
		p.Prefix = strings.TrimSuffix(p.Shown, "/") + "/"
	}
	return p
}

// rootHere returns the way from the current folder to the root of the repository around it.
func rootHere() (string, error) {
	cwd, err := disk.Real(".") // without links, so that ".." leads where it seems to
	if err != nil {
		return "", noFolder(err)
	}
	root, err := repo.Root(cwd)
	if err != nil {
		return "", fmt.Errorf("%w; name the folder to scan", err)
	}
	return disk.FromHere(root)
}

func noFolder(err error) error {
	return fmt.Errorf("the current folder cannot be found: %w", disk.Cause(err))
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
		return Place{}, noFolder(err)
	}
	return At(way), nil
}

// CheckedOutCommit returns the commit that is checked out in the repository around a folder; "" if there is none, or it
// cannot be read.
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
