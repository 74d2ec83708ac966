package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
)

// hookCommand is the command of git's hook. It writes no verdict into the work tree.
const hookCommand = "policyscan scan --staged --output none"

// HookText is the pre-commit hook. If policyscan is not in the PATH, the shell exits with 127, and git makes no
// commit.
const HookText = `#!/bin/sh
# Judges what the commit would change. Written by: policyscan hook install git
exec ` + hookCommand + "\n"

// A Hook is the pre-commit hook of a repository.
type Hook struct {
	File string // existing or not
	Root string // of the work tree
}

// FindHook returns the hook of the repository around the current directory, or of the named one.
func FindHook(git repo.Environment) (Hook, error) {
	r, err := git.Open("")
	if err != nil {
		return Hook{}, err
	}
	dir, err := r.Hooks()
	return Hook{File: filepath.Join(dir, "pre-commit"), Root: r.WorkTree}, err
}

// Install writes the hook, and reports whether it existed already. It overwrites nothing.
func (h *Hook) Install() (already bool, err error) {
	switch text, err := readHook(h.File); {
	case errors.Is(err, fs.ErrNotExist):
		err := os.MkdirAll(filepath.Dir(h.File), 0o777)
		if err == nil { // whole or not at all: a half-written hook could pass
			err = writeNew(h.File, []byte(HookText), 0o777)
		}
		if err != nil {
			return false, fmt.Errorf("the hook cannot be written: %w", err)
		}
	case err != nil:
		return false, err
	case text != HookText:
		return false, foreignHook(h.File, text)
	default:
		already = true
	}
	if err := makeExecutable(h.File); err != nil { // whatever the umask
		return already, fmt.Errorf("the hook cannot be made executable: %w", err)
	}
	return already, nil
}

// foreignHook returns an error with the advice for a hook that another program or a user wrote.
func foreignHook(file, text string) error {
	advice := "add this line to it, before any exit or exec: " + hookCommand + " || exit $?"
	switch {
	case strings.Contains(text, "pre-commit.com"):
		advice = "it belongs to pre-commit: add the hook policyscan to .pre-commit-config.yaml"
	case strings.Contains(text, "lefthook"):
		advice = "it belongs to lefthook: add this command to pre-commit in lefthook.yml: " + hookCommand
	case strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "/.husky/_"):
		advice = "it belongs to husky: add this line to .husky/pre-commit: " + hookCommand
	}
	return fmt.Errorf("%s already exists and was left as it is; %s", disk.Shown(file), advice)
}

// Remove removes the hook if it is unchanged. It reports whether the hook existed.
func (h *Hook) Remove() (was bool, err error) {
	text, err := readHook(h.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case text != HookText:
		return true, fmt.Errorf("%s is not as policyscan wrote it; remove by hand what you no longer want in it",
			disk.Shown(h.File))
	}
	if err := os.Remove(h.File); err != nil {
		return true, fmt.Errorf("the hook cannot be removed: %w", err)
	}
	return true, nil
}

// readHook returns a hook's text; "" if it is no regular file: a symlink is never followed. A missing file is
// fs.ErrNotExist.
func readHook(file string) (string, error) {
	st, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", err
	case err == nil && !st.Mode().IsRegular():
		return "", nil
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		err = fmt.Errorf("cannot determine whether there is a hook: %w", err)
	}
	return string(text), err
}

// makeExecutable makes a hook executable for everyone who may read it: git skips other hooks.
func makeExecutable(file string) error {
	st, err := os.Stat(file)
	if err != nil {
		return err
	}
	mode := st.Mode().Perm()
	if mode&0o100 != 0 {
		return nil
	}
	return os.Chmod(file, mode|mode&0o444>>2)
}
