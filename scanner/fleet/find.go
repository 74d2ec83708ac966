package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
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
				st, err := os.Stat(filepath.Join(root, name))
				if err != nil {
					fail(name, "it is a broken symbolic link, perhaps to a repository: "+disk.Cause(err).Error()+
						"; remove it, or point it to the repository")
				}
				if err != nil || !st.IsDir() {
					continue
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

// isRepository reports whether a directory is a repository, or was one: what ends in .git, has two of the entries that
// git gives each bare repository, or has entries of git and nothing else, is damaged if it cannot be opened.
func isRepository(dir string) (bool, error) {
	if strings.HasSuffix(dir, ".git") {
		return true, nil
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); !disk.Absent(err) { // also a broken link, or a FIFO
		return err == nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	main, others := 0, false
	for _, e := range entries {
		known, isDir, isMain := gitEntry(e.Name())
		switch {
		case !known || isDir != e.IsDir():
			others = true
		case isMain:
			main++
		}
	}
	return main >= 2 || len(entries) > 0 && !others, nil
}

// gitEntry says of a name whether git gives it to an entry of a bare repository, whether that is a directory, and
// whether each repository has it, or other directories do not; see gitrepository-layout(5).
func gitEntry(name string) (known, isDir, isMain bool) {
	switch name {
	case "HEAD", "config", "packed-refs":
		return true, false, true
	case "objects", "refs", "reftable":
		return true, true, true
	case "description", "shallow", "index", "FETCH_HEAD", "ORIG_HEAD", "gc.log", "gc.pid", "config.worktree":
		return true, false, false
	case "hooks", "info", "logs", "branches", "worktrees", "modules", "lfs":
		return true, true, false
	}
	return false, false, false
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
