package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules/document"
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
	case path != "" && disk.Absent(err):
		return p, absentError(path)
	case err != nil:
		return p, worktree.NoRoot(err)
	case !st.IsDir():
		return p, errors.New("PATH is not a directory; name one")
	case repo.LooksBare(root):
		return p, errBare
	}
	return p, nil
}

// absentError is the error of a path that does not exist. It suggests what its directory has.
func absentError(path string) error {
	dir, name := filepath.Split(filepath.Clean(path))
	entries, _ := os.ReadDir(cmp.Or(dir, ".")) // unreadable: there is nothing to suggest
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	advice := "check the path"
	if near := document.Nearest(name, names); near != "" {
		advice = fmt.Sprintf(`did you mean "%s"?`, verdict.Visible(filepath.ToSlash(dir+near)))
	}
	return fmt.Errorf(`"%s" does not exist; %s`, verdict.Visible(filepath.ToSlash(path)), advice)
}

var errBare = errors.New("PATH is a bare git repository, which has no files; " +
	"scan a commit of it with --rev, such as --rev HEAD, or a change with --diff-base")

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

// SetPaths sets Path or Paths: a directory alone is the root, unless part is set; all else is the part of a tree.
func (o *Options) SetPaths(paths []string, part bool) {
	if len(paths) != 1 || part {
		o.Paths = paths
		return
	}
	st, err := os.Stat(paths[0])
	if _, lerr := os.Lstat(paths[0]); err == nil && !st.IsDir() || disk.Absent(err) && lerr == nil {
		o.Paths = paths
	} else {
		o.Path = paths[0]
	}
}

// namedPaths are the Paths of a run.
type namedPaths struct {
	fromRoot []string // in the order of Paths

	mu      sync.Mutex      // guards covered
	covered map[string]bool // those with a file that a rule covers
}

// findPaths sets the place and the paths in it. The root is the repository around the current directory, if it has all
// of the paths, or around the first path, or else the current directory.
func (r *Run) findPaths() (err error) {
	var places []Place
	add := func(dir string, needsRepository bool) error {
		dir, err := disk.Real(dir)
		if err != nil {
			return noCurrentDir(err)
		}
		root, err := repo.Root(dir)
		if err != nil {
			return err
		}
		if is, err := repo.IsRoot(root); err != nil || needsRepository && !is {
			return err
		}
		if root, err = disk.FromHere(root); err == nil {
			places = append(places, At(root))
		}
		return err
	}
	for _, path := range r.Paths {
		named, err := os.Lstat(filepath.Clean(path))
		if st, failed := os.Stat(path); err == nil && failed == nil && st.IsDir() && named.Mode()&os.ModeSymlink != 0 {
			return fmt.Errorf(`"%s" is a symbolic link to a directory; name the directory`, verdict.Visible(path))
		}
	}
	first := disk.Physical(r.Paths[0])
	if st, err := os.Stat(first); err != nil || !st.IsDir() {
		first = filepath.Dir(first)
	}
	if err = add(".", true); err == nil {
		if _, absent := os.Stat(first); absent == nil {
			err = add(first, true)
		}
	}
	if err == nil {
		err = add(".", false)
	}
	for i := 0; err == nil; i++ {
		var outside string
		if r.paths, outside, err = places[i].paths(r.Paths); err == nil && outside == "" {
			r.Place = places[i]
			break
		}
		if err == nil && i == len(places)-1 {
			r.Place = places[0]
			err = fmt.Errorf(`"%s" is outside the root, from which globs count; name paths of one repository`,
				verdict.Visible(outside))
		}
	}
	if err == nil && repo.LooksBare(r.Place.Root) {
		err = errBare
	}
	if err == nil {
		part := tree.PartOf(r.paths.fromRoot)
		r.Covered = func(path string) {
			r.paths.mu.Lock()
			defer r.paths.mu.Unlock()
			for _, at := range part.Holding(path) {
				r.paths.covered[at] = true
			}
		}
	}
	return err
}

// paths returns the paths of files from the root; outside is the first that is not in it.
func (p *Place) paths(files []string) (_ *namedPaths, outside string, err error) {
	find, err := p.finder()
	if err != nil {
		return nil, "", err
	}
	named := &namedPaths{covered: map[string]bool{}}
	for _, file := range files {
		at, in := find(file)
		if !in {
			return nil, file, nil
		}
		named.fromRoot = append(named.fromRoot, at)
	}
	return named, "", nil
}

// shorten replaces the absolute entries of a list that are in the root by their paths from it.
func (p *Place) shorten(entries []string) error {
	if !slices.ContainsFunc(entries, filepath.IsAbs) {
		return nil
	}
	find, err := p.finder()
	if err != nil {
		return err
	}
	for i, entry := range entries {
		if filepath.IsAbs(entry) {
			if at, in := find(entry); in {
				entries[i] = at
			}
		}
	}
	return nil
}

// finder returns a function that returns the path from the root for a file named from the current directory; false if
// it is not in it. Symbolic links, and names in another case, count above the root only.
func (p *Place) finder() (find func(file string) (path string, in bool), err error) {
	root, err := os.Stat(p.Root)
	if err != nil {
		return nil, worktree.NoRoot(err)
	}
	here, err := disk.Real(".")
	if err != nil {
		return nil, noCurrentDir(err)
	}
	known := "" // the last directory that is the root
	return func(file string) (string, bool) {
		dir, name := filepath.Split(file)
		if name == "." || name == ".." {
			dir, name = file, ""
		}
		at := filepath.Join(disk.Physical(dir), name)
		if !filepath.IsAbs(at) {
			at = filepath.Join(here, at)
		}
		if known == "" || at != known && !strings.HasPrefix(at, known+string(filepath.Separator)) {
			known = ""
			for dir := range disk.Upwards(at) {
				if st, err := os.Stat(dir); err == nil && os.SameFile(st, root) {
					known = dir
				}
			}
		}
		if known == "" {
			return "", false
		}
		rel, err := filepath.Rel(known, at)
		return filepath.ToSlash(rel), err == nil
	}, nil
}

// UncoveredPaths returns a note on the Paths of which no rule covers a file, as they were named.
func (r *Run) UncoveredPaths(v *verdict.Verdict) []string {
	if r.paths == nil {
		return nil
	}
	r.paths.mu.Lock()
	defer r.paths.mu.Unlock()
	const most = 5
	var names, leftOut []string
	more := ""
	for i, path := range r.paths.fromRoot {
		shown := verdict.Path(path)
		isError := func(e verdict.Error) bool { return e.File == shown }
		isSkipped := func(o verdict.Omission) bool {
			return o.File == shown || strings.HasPrefix(shown, o.File+"/")
		}
		switch {
		case r.paths.covered[path], slices.ContainsFunc(v.Errors, isError):
		case slices.ContainsFunc(v.Coverage.LeftOut, isSkipped):
			o := v.Coverage.LeftOut[slices.IndexFunc(v.Coverage.LeftOut, isSkipped)]
			leftOut = append(leftOut, verdict.Visible(r.Paths[i])+" is not scanned: "+o.Reason)
		case len(names) == most:
			more = " and more"
		default:
			names = append(names, verdict.Visible(r.Paths[i]))
		}
	}
	if names == nil {
		return leftOut
	}
	return append(leftOut, "no rule covers "+strings.Join(names, ", ")+more)
}
