package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules/document"
)

// A File is an agent's settings on disk, as they were when they were read.
type File struct {
	Target *Target
	Shown  string           // what messages call it
	Source *document.Source // its content; nil if the file does not exist

	path  string      // as the system opens it
	was   fs.FileInfo // nil if it does not exist
	extra bool        // Install writes another
}

// OpenUser reads the user's own settings. getenv and home are the environment's: [os.Getenv], [os.UserHomeDir].
func (t *Target) OpenUser(getenv func(string) string, home func() (string, error)) (*File, error) {
	dir, err := t.UserDir(getenv, home)
	if err != nil {
		return nil, err
	}
	f := &File{Target: t, path: filepath.Join(dir, filepath.FromSlash(t.User))}
	f.Shown = filepath.ToSlash(f.path)
	return f, f.read()
}

// OpenProject reads the settings of the project in root. prefix is how messages name the root: "", or a path
// that ends in a slash. A link on the way to the file is an error: it would change another project's settings.
func (t *Target) OpenProject(root, prefix string) (*File, error) {
	if err := noLinkTo(root, t.Project); err != nil {
		return nil, err
	}
	f := &File{Target: t, path: filepath.Join(root, filepath.FromSlash(t.Project)), Shown: prefix + t.Project}
	return f, f.read()
}

// UserDir returns the directory of the user's own settings: an absolute path.
func (t *Target) UserDir(getenv func(string) string, home func() (string, error)) (string, error) {
	if t.HomeVar != "" && getenv(t.HomeVar) != "" {
		dir, err := filepath.Abs(getenv(t.HomeVar))
		if err != nil {
			return "", fmt.Errorf("the directory of %s cannot be found: %w", t.HomeVar, err)
		}
		return dir, nil
	}
	dir, err := home()
	if err != nil {
		return "", fmt.Errorf("the user's home directory cannot be found: %w", err)
	}
	return filepath.Join(dir, t.Home), nil
}

// noLinkTo returns an error if a directory between root and a file in it is a link.
func noLinkTo(root, file string) error {
	for i, r := range file {
		if r != '/' {
			continue
		}
		st, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file[:i])))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !st.IsDir() {
			err = errors.New("it is a link or not a directory; replace it with a directory")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file[:i], disk.Cause(err))
		}
	}
	return nil
}

// read reads the file, but never through a link.
func (f *File) read() error {
	st, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot determine whether there are settings: %w", err)
	case st.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link, and was left as it is; what it leads to has to be edited by hand", f.Shown)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file, and was left as it is", f.Shown)
	case st.Size() > document.MaxFileBytes:
		return fmt.Errorf("%s has over %d bytes, and was left as it is", f.Shown, document.MaxFileBytes)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("the settings cannot be read: %w", err)
	}
	f.Source, f.was = &document.Source{Name: f.Shown, Text: text}, st
	return nil
}

// unchanged returns an error if the file is no longer as it was read.
func (f *File) unchanged() error {
	now := File{Target: f.Target, path: f.path, Shown: f.Shown}
	if err := now.read(); err != nil {
		return err
	}
	if (now.Source == nil) != (f.Source == nil) || f.Source != nil && !bytes.Equal(now.Source.Text, f.Source.Text) {
		return fmt.Errorf("%s changed meanwhile, and was left as it is; try again", f.Shown)
	}
	return nil
}

// Put replaces the file, and keeps its permissions, or with a nil text removes it. It reports whether that is a
// change. A file that is no longer as it was read is left as it is. It is written whole or not at all: an agent does
// not run a hook from half a file.
func (f *File) Put(text []byte) (changed bool, err error) {
	switch {
	case text == nil && f.Source == nil, text != nil && f.Source != nil && bytes.Equal(text, f.Source.Text):
		return false, nil
	case text == nil:
		if err := f.unchanged(); err != nil {
			return true, err
		}
		if err := os.Remove(f.path); err != nil {
			return true, fmt.Errorf("the settings cannot be removed: %w", err)
		}
		return true, nil
	}
	err = os.MkdirAll(filepath.Dir(f.path), 0o777)
	if err == nil {
		err = disk.ReplaceIf(f.path, text, f.was, f.unchanged)
	}
	if err != nil {
		return true, fmt.Errorf("%s cannot be written: %w", f.Shown, disk.Cause(err))
	}
	return true, nil
}
