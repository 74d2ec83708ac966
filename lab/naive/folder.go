package naive

import (
	"golang.org/x/sys/unix"

	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ReadRules returns the files below rules/ of a bundle's directory, by their path there.
func ReadRules(bundle string) (map[string]string, error) {
	files := map[string]string{}
	tree, err := ReadTree(filepath.Join(bundle, "rules"))
	for _, f := range tree {
		files[f.Path] = f.Content
	}
	return files, err
}

// ReadTree returns the files of a directory. What is in the .git of the root is not part of it, and neither are the rule
// files of a bundle in .policyscan.
func ReadTree(dir string) ([]File, error) {
	var tree []File
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && name != filepath.Join(dir, ".git") {
			return err
		}
		path, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		f := File{Path: filepath.ToSlash(path)}
		var content []byte
		switch {
		case d.IsDir():
			return fs.SkipDir
		case strings.HasPrefix(f.Path, ".policyscan/rules/"):
			return nil
		case d.Type().IsRegular():
			f.Kind = Regular
			content, err = os.ReadFile(name)
			f.Content = string(content)
		case d.Type() == fs.ModeSymlink:
			f.Kind = Link
			f.Content, err = os.Readlink(name)
		case d.Type() == fs.ModeNamedPipe:
			f.Kind = FIFO
		default:
			return errors.New(name + ": what this is, is not known here")
		}
		tree = append(tree, f)
		return err
	})
	return tree, err
}

// WriteTree writes files into a directory.
func WriteTree(dir string, tree []File) error {
	for _, f := range tree {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		var err error
		switch f.Kind {
		case Regular:
			err = os.WriteFile(name, []byte(f.Content), 0o666)
		case Link:
			err = os.Symlink(f.Content, name)
		case FIFO:
			err = unix.Mkfifo(name, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
