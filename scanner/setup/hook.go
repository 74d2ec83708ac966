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

// A Hook is a hook of a repository.
type Hook struct {
	File   string // existing or not
	Root   string // of the work tree; "" for a pre-receive hook
	Text   string
	advice string // how another hook at the file can run it
}

// FindHook returns the pre-commit hook of the repository around the current directory, or of the named one.
func FindHook(git repo.Environment) (Hook, error) {
	r, err := git.Open("")
	if err != nil {
		return Hook{}, err
	}
	dir, err := r.Hooks()
	return preCommit(dir, r.WorkTree), err
}

func preCommit(dir, root string) Hook {
	return Hook{
		File: filepath.Join(dir, "pre-commit"), Root: root, Text: HookText,
		advice: "add this line to it, before any exit or exec: " + hookCommand + " || exit $?",
	}
}

// PreReceive returns the pre-receive hook with a command line, of which each word is given, for any repository.
func PreReceive(words []string) Hook {
	command := "exec"
	for _, word := range words {
		command += " '" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return Hook{
		Text: "#!/bin/sh\n# Checks what a push brings. Written by: policyscan hook install pre-receive\n" +
			command + "\n",
		advice: "if it runs the files of a directory pre-receive.d, as those of Gitea and Forgejo do, write this " +
			"hook into a file there with --print; otherwise have it run both, each with all of its standard input",
	}
}

// In returns the hook for a repository at a directory; "" is the repository of git's variables, or that of the current
// directory.
func (h Hook) In(git repo.Environment, dir string) (Hook, error) {
	open := repo.At
	if dir == "" {
		open = git.Open
	}
	r, err := open(dir)
	if err == nil {
		dir, err = r.ServerHooks()
		h.File = filepath.Join(dir, "pre-receive")
	}
	return h, err
}

// Install writes the hook, and reports whether it existed already. It overwrites nothing.
func (h *Hook) Install() (already bool, err error) {
	switch text, err := readHook(h.File); {
	case errors.Is(err, fs.ErrNotExist):
		err := os.MkdirAll(filepath.Dir(h.File), 0o777)
		if err == nil { // whole or not at all: a half-written hook could pass
			err = writeNew(h.File, []byte(h.Text), 0o777)
		}
		if err != nil {
			return false, fmt.Errorf("the hook cannot be written: %w", err)
		}
	case err != nil:
		return false, err
	case text != h.Text:
		return false, h.foreign(text)
	default:
		already = true
	}
	if err := makeExecutable(h.File); err != nil { // whatever the umask
		return already, fmt.Errorf("the hook cannot be made executable: %w", err)
	}
	return already, nil
}

// foreign returns an error with the advice for a hook that another program or a user wrote.
func (h *Hook) foreign(text string) error {
	advice := h.advice
	switch {
	case h.Text != HookText:
		if first, _, _ := strings.Cut(h.Text, "exec"); strings.HasPrefix(text, first) {
			advice = "it is policyscan's, with other arguments; remove it to write a new one"
		}
	case strings.Contains(text, "pre-commit.com"):
		advice = "it belongs to pre-commit: add the hook policyscan to .pre-commit-config.yaml"
	case strings.Contains(text, "lefthook"):
		advice = "it belongs to lefthook: add this command to pre-commit in lefthook.yml: " + hookCommand
	case strings.HasSuffix(filepath.ToSlash(filepath.Dir(h.File)), "/.husky/_"):
		advice = "it belongs to husky: add this line to .husky/pre-commit: " + hookCommand
	}
	return fmt.Errorf("%s already exists and was left as it is; %s", disk.Shown(h.File), advice)
}

// Remove removes the hook if it is unchanged. It reports whether the hook existed.
func (h *Hook) Remove() (was bool, err error) {
	text, err := readHook(h.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case text != h.Text:
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
