package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// SetPaths sets Path or Paths: a directory alone is the root, unless part is set; all else is the part of a tree.
func (o *Options) SetPaths(paths []string, part bool) {
	if len(paths) != 1 || part {
		o.Paths = paths
		return
	}
	st, err := os.Stat(paths[0])
	if _, lerr := os.Lstat(paths[0]); err == nil && !st.IsDir() || err != nil && lerr == nil {
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

// findPaths sets the place and the paths in it. The root is that of the repository around the current directory, if it
// has all of the paths, or around the first path, or else the current directory.
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
			for dir := at; ; dir = filepath.Dir(dir) {
				if st, err := os.Stat(dir); err == nil && os.SameFile(st, root) {
					known = dir
				}
				if dir == filepath.Dir(dir) {
					break
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
	var names []string
	more := ""
	for i, path := range r.paths.fromRoot {
		shown := verdict.Path(path)
		isError := func(e verdict.Error) bool { return e.File == shown }
		isSkipped := func(o verdict.Omission) bool {
			return o.File == shown || strings.HasPrefix(shown, o.File+"/")
		}
		switch {
		case r.paths.covered[path], slices.ContainsFunc(v.Errors, isError),
			slices.ContainsFunc(v.Coverage.LeftOut, isSkipped):
		case len(names) == most:
			more = " and more"
		default:
			names = append(names, verdict.Visible(r.Paths[i]))
		}
	}
	if names == nil {
		return nil
	}
	return []string{"no rule covers " + strings.Join(names, ", ") + more}
}
