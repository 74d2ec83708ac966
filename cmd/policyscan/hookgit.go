package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
)

// gitCommand is what git's hook runs. It writes no verdict into the work tree.
const gitCommand = "policyscan scan --staged --output none"

// gitHook is the pre-commit hook. If policyscan is not in the PATH, the shell ends with
// 127, and git makes no commit.
const gitHook = `#!/bin/sh
# Judges what the commit would change. Written by: policyscan hook install git
exec ` + gitCommand + "\n"

// hookInstallGitCmd writes the pre-commit hook of a repository.
type hookInstallGitCmd struct {
	Print bool `help:"Print the hook instead of writing it."`
}

// Help returns the text below the flags.
func (*hookInstallGitCmd) Help() string {
	return `Writes the file pre-commit into the folder in which git looks for this repository's
hooks, and overwrites nothing. With pre-commit, lefthook or husky, configure those
instead.

Exit status: 0 the hook is there; 2 it is not.`
}

// Run writes the hook, or prints it.
func (c *hookInstallGitCmd) Run(std streams) error {
	if c.Print {
		return print(std.out, "%s", gitHook)
	}
	hook, root, err := gitHookFile()
	if err != nil {
		return err
	}
	shown := disk.Shown(hook)
	done := "wrote"
	switch ours, err := isGitHook(hook); {
	case errors.Is(err, fs.ErrNotExist):
		if err := writeHook(hook); err != nil {
			return fmt.Errorf("the hook cannot be written: %w", err)
		}
		if err := makeExecutable(hook); err != nil { // whatever the umask
			return fmt.Errorf("the hook cannot be made executable: %w", err)
		}
	case err != nil:
		return err
	case !ours:
		return foreignHook(hook)
	default:
		if err := makeExecutable(hook); err != nil {
			return fmt.Errorf("the hook cannot be made executable: %w", err)
		}
		done = "already there:"
	}
	if err := print(std.out, "%s %s\ngit runs it before each commit, and makes no commit if it fails\n",
		done, safe(shown)); err != nil {
		return err
	}
	var none *rules.Error
	if _, err := rules.Discover(root); errors.As(err, &none) && none.Code == rules.CodeMissing {
		return print(std.out, "there is no bundle yet, and no commit passes without one; next: policyscan init\n")
	}
	return nil
}

// hookUninstallGitCmd removes the pre-commit hook of a repository.
type hookUninstallGitCmd struct{}

// Run removes the hook, if it is as it was written.
func (c *hookUninstallGitCmd) Run(std streams) error {
	hook, _, err := gitHookFile()
	if err != nil {
		return err
	}
	ours, err := isGitHook(hook)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return print(std.out, "there is no %s\n", safe(disk.Shown(hook)))
	case err != nil:
		return err
	case !ours:
		return fmt.Errorf("%s is not as policyscan wrote it; remove by hand what you no longer want in it", disk.Shown(hook))
	}
	if err := os.Remove(hook); err != nil {
		return fmt.Errorf("the hook cannot be removed: %w", err)
	}
	return print(std.out, "removed %s\n", safe(disk.Shown(hook)))
}

// gitHookFile returns the path of the pre-commit hook of the repository around the current
// folder, and the root of its work tree.
func gitHookFile() (hook, root string, err error) {
	r, err := gitEnvironment().Open("")
	if err != nil {
		return "", "", err
	}
	dir, err := r.Hooks()
	return filepath.Join(dir, "pre-commit"), r.WorkTree, err
}

// isGitHook reports whether a file is the hook that policyscan writes. If there is nothing
// of that name, the error is fs.ErrNotExist; a link is never followed.
func isGitHook(file string) (bool, error) {
	st, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, err
	case err == nil && !st.Mode().IsRegular():
		return false, nil
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		err = fmt.Errorf("cannot determine whether there is a hook: %w", err)
	}
	return string(text) == gitHook, err
}

// writeHook writes the hook if there is none, whole or not at all: a hook that is only half
// written could pass.
func writeHook(file string) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o777)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, gitHook)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// makeExecutable lets everyone execute a hook who may read it: git skips a hook that is not
// executable.
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

// foreignHook returns an error that says what to do about a hook that is not policyscan's.
func foreignHook(file string) error {
	const head = "%s already exists and was left as it is; "
	shown := disk.Shown(file)
	switch text := headOf(file); {
	case bytes.Contains(text, []byte("pre-commit.com")):
		return fmt.Errorf(head+"it belongs to pre-commit: add the hook policyscan to .pre-commit-config.yaml", shown)
	case bytes.Contains(text, []byte("lefthook")):
		return fmt.Errorf(head+"it belongs to lefthook: add this command to pre-commit in lefthook.yml: "+gitCommand, shown)
	case strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "/.husky/_"):
		return fmt.Errorf(head+"it belongs to husky: add this line to .husky/pre-commit: "+gitCommand, shown)
	}
	return fmt.Errorf(head+"add this line to it, before any exit or exec: "+gitCommand+" || exit $?", shown)
}

// headOf returns the beginning of a hook, which shows whose it is; nothing if it cannot be read.
func headOf(file string) []byte {
	if st, err := os.Lstat(file); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close() // read only: nothing to lose
	text, _ := io.ReadAll(io.LimitReader(f, 4<<10))
	return text
}
