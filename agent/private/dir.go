// Package private keeps files in directories that only their owner may write, for several processes of one user.
//
// Any program that runs as the same user can change them. Outside Unix no owner or mode is checked.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// MaxWait is how long [Lock] waits for other processes: a hook has 8 seconds.
const MaxWait = 4 * time.Second

// DefaultDir returns the directory for what is kept if nobody says otherwise:
// policyscan/WHAT in $XDG_STATE_HOME or in ~/.local/state; on macOS in ~/Library/Application Support,
// on Windows in %LOCALAPPDATA%. It is never a directory that others may write.
func DefaultDir(what string, getenv func(string) string) (string, error) {
	dir := defaultDir(runtime.GOOS, what, getenv)
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the directory of %s would be %q, which is not absolute; "+
			"set HOME, XDG_STATE_HOME or LOCALAPPDATA to an absolute path", what, dir)
	}
	return dir, nil
}

// defaultDir is relative if a variable is not set.
func defaultDir(system, what string, getenv func(string) string) string {
	base := filepath.Join(getenv("HOME"), ".local", "state")
	switch state := getenv("XDG_STATE_HOME"); {
	case system == "windows":
		base = getenv("LOCALAPPDATA")
	case system == "darwin":
		base = filepath.Join(getenv("HOME"), "Library", "Application Support")
	case state != "":
		base = state
	}
	return filepath.Join(base, "policyscan", what)
}

// Create is [Open] of a directory that it first creates, for its owner alone, if it does not exist.
func Create(dir, what string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the directory of %s: %w", what, err)
	}
	return Open(dir, what)
}

// Open opens the directory of that name. A symlink, anything but a directory and, on Unix, a directory that belongs to
// or is writable by another user are errors, which call its content what.
func Open(dir, what string) (*os.Root, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, fmt.Errorf("the directory of %s: %w", what, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a link or not a directory; replace it with a directory", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the directory of %s: %w", what, err)
	}
	opened, err := root.Stat(".")
	switch {
	case err != nil:
	case !os.SameFile(info, opened):
		err = fmt.Errorf("%s: it was replaced while it was opened", dir)
	default:
		err = checkOwner(dir, what, opened)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Lock waits until no other process has a lock of the file, for [MaxWait] at most, and locks it. The lock ends when
// the file is closed.
func Lock(file *os.File) error {
	for end := time.Now().Add(MaxWait); ; {
		locked, err := TryLock(file)
		switch {
		case err != nil || locked:
			return err
		case time.Now().After(end):
			return fmt.Errorf("another process has had it locked for over %v", MaxWait)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Read returns the text of a file; nil if it does not exist.
func Read(root *os.Root, name string, limit int) ([]byte, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(text) > limit {
		return nil, fmt.Errorf("it has over %d bytes", limit)
	}
	return text, nil
}

// Write replaces a file, whole or not at all. No other process may write it at the same time.
func Write(root *os.Root, name string, text []byte) error {
	temporary := name + ".new"
	file, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return root.Rename(temporary, name)
}
