package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Find returns all repositories in a folder, at any depth: bare ones and work trees. What is in a repository is not
// searched. Their names are their paths from the folder, and they are in that order. What looks like a repository that
// is damaged is returned, too, so that it is not lost without a word; and wrong has what could not be searched.
func Find(root string) (entries []Entry, wrong []verdict.Error, err error) {
	switch is, err := isRepository(root); {
	case err != nil:
		return nil, nil, err
	case is:
		return nil, nil, errors.New("--repos is a folder that is itself a repository; " +
			"name the folder around it, or a list")
	}
	r := &reader{}
	fail := func(at, what string) {
		wrong = append(wrong, verdict.Error{Code: code.Read, File: verdict.Path(filepath.ToSlash(at)), Message: what})
	}
	var search func(at string)
	search = func(at string) {
		inside, err := os.ReadDir(filepath.Join(root, at))
		if err != nil {
			fail(at, "repositories in it cannot be looked for: "+disk.Cause(err).Error())
			return
		}
		for _, d := range inside {
			name := filepath.Join(at, d.Name())
			link := d.Type()&fs.ModeSymlink != 0
			if link {
				if st, err := os.Stat(filepath.Join(root, name)); err != nil || !st.IsDir() {
					continue // a link to nothing leads to no repository
				}
			} else if !d.IsDir() {
				continue
			}
			is, err := isRepository(filepath.Join(root, name))
			switch {
			case err != nil:
				fail(name, "cannot determine whether it is a repository: "+disk.Cause(err).Error())
			case is:
				r.found(root, name)
			case link:
				fail(name, "it is a link to a folder, which is not searched; name the repositories there in a list")
			default:
				search(name)
			}
		}
	}
	search("")
	r.names(func(i int) string { return fmt.Sprintf("the repository %s", verdict.Visible(r.entries[i].Path)) })
	if r.wrong != nil {
		return nil, wrong, r.wrong
	}
	sortByName(r.entries)
	return r.entries, wrong, nil
}

// isRepository reports whether a folder is a repository, or is to be taken for one: what ends in .git, or has git's
// folders, and is none that can be opened, is damaged.
func isRepository(dir string) (bool, error) {
	switch is, err := repo.IsRoot(dir); {
	case is || err != nil:
		return is, err
	case repo.LooksBare(dir), strings.HasSuffix(dir, ".git"):
		return true, nil
	}
	for _, name := range []string{"objects", "refs"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || !st.IsDir() {
			return false, nil
		}
	}
	return true, nil
}

// found notes a repository.
func (r *reader) found(root, name string) {
	path := filepath.ToSlash(name)
	e := Entry{Name: path, Path: path, Revision: "HEAD", Dir: filepath.Join(root, name)}
	if wrong := badName(e.Name); wrong != "" {
		r.add("the repository "+verdict.Visible(e.Path), "its name %s", wrong)
		return
	}
	r.entries = append(r.entries, e)
}
