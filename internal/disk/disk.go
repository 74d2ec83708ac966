// Package disk has the file system functions of several packages: real paths, classes of errors, and files written
// whole or not at all.
package disk

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Real is the absolute path of a directory, without symlinks. "" is the current one. Symlinks are resolved before any
// "..", as by the system, and not after, as by filepath.Abs.
func Real(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		cwd, err := os.Getwd() // may contain symlinks
		if err == nil {
			cwd, err = filepath.EvalSymlinks(cwd)
		}
		if err != nil {
			return "", err
		}
		dir = cwd + string(filepath.Separator) + dir
	}
	return filepath.EvalSymlinks(dir)
}

// Under returns the path to open for a name relative to a directory.
func Under(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// FromHere returns the relative path from the current directory to a path without symlinks, or the path itself if
// impossible, as on Windows from one volume to another.
func FromHere(path string) (string, error) {
	cwd, err := Real(".")
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(cwd, path); err == nil {
		path = rel
	}
	return path, nil
}

// Shown returns the path of a file relative to the current directory, for a message, with slashes. It is not escaped.
func Shown(file string) string {
	dir, name := filepath.Split(file)
	if real, err := Real(dir); err == nil {
		dir = real
	}
	if rel, err := FromHere(filepath.Join(dir, name)); err == nil && !filepath.IsAbs(rel) {
		file = rel
	}
	return filepath.ToSlash(file)
}

// Physical returns a path that can be cleaned: one in which no ".." follows a symlink. A path that does not exist is
// returned unchanged, for its error.
func Physical(path string) string {
	if slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..") {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	return path
}

// Same reports whether two paths name one existing file or directory.
func Same(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// Upwards returns a directory and those above it, the nearest first.
func Upwards(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(dir) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
	}
}

// Absent reports whether an error means that nothing exists, or can exist, at a path.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Cause is the system's own word for an error, without the paths, which the caller names.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
