package run

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// findInRepository reports whether the bundle that --policy names is in the repository, and in which directory. An
// empty dir means discovery.
//
// Links to the root of the work tree are followed. Links below it are not: the change could set them to another
// directory than that of the base's bundle.
func findInRepository(r *repo.Repository, policy string) (dir string, inside bool, err error) {
	if policy == "" {
		return "", true, nil
	}
	if r.WorkTree == "" {
		return "", false, nil
	}
	root, err := os.Stat(r.WorkTree)
	if err != nil {
		return "", false, fmt.Errorf("the root of the repository cannot be found: %w", disk.Cause(err))
	}
	at, err := disk.Real(".")
	if err != nil {
		return "", false, fmt.Errorf("the current directory cannot be found: %w", disk.Cause(err))
	}
	rest := filepath.ToSlash(policy)
	if filepath.IsAbs(policy) {
		volume := filepath.VolumeName(policy)
		at, rest = volume+string(filepath.Separator), filepath.ToSlash(policy[len(volume):])
	} else {
		rel, ok, err := descend(root, at)
		if err != nil {
			return "", false, fmt.Errorf("cannot determine whether the current directory is in the repository: %w",
				disk.Cause(err))
		}
		if ok {
			at, rest = r.WorkTree, rel+"/"+rest
		}
	}
	unclear := func(err error) error {
		return fmt.Errorf("cannot determine whether --policy %s is in the repository: %w",
			quoted(policy), disk.Cause(err))
	}
	const maxLinks = 255
	for links := 0; ; {
		st, err := os.Stat(at)
		if err != nil && !disk.Absent(err) {
			return "", false, unclear(err)
		}
		if err == nil && os.SameFile(st, root) {
			if rel := filepath.ToSlash(filepath.Clean(filepath.FromSlash(rest))); filepath.IsLocal(rel) {
				return rel, true, nil
			}
		}
		rest = strings.TrimLeft(rest, "/")
		if rest == "" {
			return "", false, nil
		}
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		link := err == nil
		if !link { // each system has another error for a file that is not a link
			st, err := os.Lstat(next)
			if err != nil && !disk.Absent(err) {
				return "", false, unclear(err)
			}
			link = err == nil && st.Mode()&fs.ModeSymlink != 0
		}
		switch {
		case name == ".", !link:
			at = next
			continue
		case err != nil:
			return "", false, unclear(err)
		case links == maxLinks:
			return "", false, fmt.Errorf("--policy %s leads through too many links", policy)
		}
		links++
		if rest = filepath.ToSlash(target) + "/" + rest; filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
		}
	}
}

// descend returns the path below a directory; ok is false if it has symlinks or is elsewhere.
func descend(root os.FileInfo, at string) (rel string, ok bool, err error) {
	for up := range disk.Upwards(at) {
		st, err := os.Stat(up)
		if err != nil {
			return "", false, err
		}
		if os.SameFile(st, root) {
			rel, err := filepath.Rel(up, at)
			return filepath.ToSlash(rel), err == nil, err
		}
	}
	return "", false, nil
}

// belongsToRepository reports whether a directory of the work tree is the repository's: not one of another repository
// that is checked out there and unknown to the base. A change that adds a directory of that name would choose its own
// rules, which is an error.
func belongsToRepository(r *repo.Repository, dir string, base, head *side) (bool, error) {
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' || i == 0 {
			continue
		}
		outer := dir[:i]
		if outer == "." {
			continue
		}
		switch _, err := os.Lstat(filepath.Join(r.WorkTree, filepath.FromSlash(outer), ".git")); {
		case disk.Absent(err):
			continue
		case err != nil:
			return false, fmt.Errorf("cannot determine whether another repository is checked out in %s: %w",
				quoted(outer), disk.Cause(err))
		}
		if base != nil {
			if _, known, err := base.lookup(r, outer); err != nil || known {
				return true, err
			}
		}
		if head == nil {
			return false, nil
		}
		switch _, known, err := head.lookup(r, outer); {
		case err != nil:
			return false, err
		case known:
			return false, fmt.Errorf("the change adds %s, and the bundle of --policy is in another repository there; "+
				"check the bundle out at another path", quoted(outer))
		}
		return false, nil
	}
	return true, nil
}

func quoted(name string) string { return `"` + verdict.Visible(name) + `"` }
