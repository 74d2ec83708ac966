package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Find returns all repositories in a directory, at any depth, bare or with a work tree. It does not search inside
// repositories. Entries are named after their paths from the directory ([reader.nameByPath]). Damaged repositories are
// included, so that their scan is undecided; wrong has the unreadable directories.
func Find(root string) (entries []Entry, wrong []verdict.Error, err error) {
	switch is, err := isRepository(root); {
	case err != nil:
		return nil, nil, err
	case is:
		return nil, nil, errors.New("the directory is itself a repository; name the one around it, or a list")
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
				r.entries = append(r.entries, Entry{
					Path: filepath.ToSlash(name), Revision: "HEAD", Dir: filepath.Join(root, name),
				})
			case link:
				fail(name, "a symlink to a directory is not searched; list its repositories with --repos")
			default:
				search(name)
			}
		}
	}
	search("")
	place := func(i int) string { return fmt.Sprintf("the repository %s", verdict.Visible(r.entries[i].Path)) }
	paths := make([]string, len(r.entries))
	for i, e := range r.entries {
		paths[i] = e.Path
	}
	r.nameByPath(paths, place)
	entries, err = r.checked(place)
	return entries, wrong, err
}

// isRepository reports whether a directory is a repository, perhaps damaged: its name ends in .git, it has two of the
// entries of each bare repository, or it has only entries of git.
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
	main, onlyGits := 0, len(entries) > 0
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		if slices.Contains(strings.Fields(mainEntries), name) {
			main++
		} else {
			onlyGits = onlyGits && slices.Contains(strings.Fields(otherEntries), name)
		}
	}
	return main >= 2 || onlyGits, nil
}

// The entries of a bare repository; see gitrepository-layout(5). Each repository has the main ones, or other
// directories do not.
const (
	mainEntries  = "HEAD config packed-refs objects/ refs/ reftable/"
	otherEntries = "description shallow index FETCH_HEAD ORIG_HEAD gc.log gc.pid config.worktree " +
		"hooks/ info/ logs/ branches/ worktrees/ modules/ lfs/"
)
