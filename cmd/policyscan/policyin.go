package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
)

// policyIn says whether the bundle that --policy names lives in the repository, and in
// which of its folders. An empty dir is where discovery finds it.
//
// Links that lead to the root of the work tree are followed. Those beneath it are not:
// they are the change's to make, and must not lead to another folder than the base's
// bundle is in.
func policyIn(r *repo.Repository, policy string) (dir string, inside bool, err error) {
	if policy == "" {
		return "", true, nil
	}
	if policy == builtin || r.WorkTree == "" {
		return "", false, nil
	}
	root, err := os.Stat(r.WorkTree)
	if err != nil {
		return "", false, fmt.Errorf("the root of the repository cannot be found: %w", systemError(err))
	}
	at, err := realPath(".")
	if err != nil {
		return "", false, fmt.Errorf("the current folder cannot be found: %w", systemError(err))
	}
	rest := filepath.ToSlash(policy)
	if filepath.IsAbs(policy) {
		volume := filepath.VolumeName(policy)
		at, rest = volume+string(filepath.Separator), filepath.ToSlash(policy[len(volume):])
	} else if rel, ok := beneath(root, at); ok {
		at, rest = r.WorkTree, rel+"/"+rest
	}
	const maxLinks = 255
	for links := 0; ; {
		if st, err := os.Stat(at); err == nil && os.SameFile(st, root) {
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
		switch {
		case name == ".", err != nil:
			at = next
			continue
		case links == maxLinks:
			return "", false, fmt.Errorf("--policy %s leads through too many links", policy)
		}
		links++
		if rest = filepath.ToSlash(target) + "/" + rest; filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
		}
	}
}

// beneath returns the way from a folder down to a path that has no links, if there is one.
func beneath(root os.FileInfo, at string) (rel string, ok bool) {
	for up := at; ; up = filepath.Dir(up) {
		if st, err := os.Stat(up); err == nil && os.SameFile(st, root) {
			rel, err := filepath.Rel(up, at)
			return filepath.ToSlash(rel), err == nil
		}
		if filepath.Dir(up) == up {
			return "", false
		}
	}
}

// committed reports whether a folder of the work tree is the repository's: not one of
// another repository that is checked out there, and that the base does not know. Where it is
// the change that brings a folder of that name it would decide by this who judges it, which
// is an error.
func committed(r *repo.Repository, dir string, base, head *side) (bool, error) {
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' || i == 0 {
			continue
		}
		outer := dir[:i]
		if _, err := os.Lstat(filepath.Join(r.WorkTree, filepath.FromSlash(outer), ".git")); err != nil || outer == "." {
			continue
		}
		if base != nil {
			if known, err := base.has(r, outer); err != nil || known {
				return true, err
			}
		}
		if head == nil {
			return false, nil
		}
		switch known, err := head.has(r, outer); {
		case err != nil:
			return false, err
		case known:
			return false, fmt.Errorf("the change brings %s, where another repository is checked out that has the bundle of --policy, so which of them should judge cannot be told; check the bundle out at another place", quoted(outer))
		}
		return false, nil
	}
	return true, nil
}
