// Package setup writes what a repository needs before its first scan: a bundle ([WriteBundle]), the line of its
// .gitignore that keeps the verdict out of commits ([IgnoreVerdict]), and git's pre-commit hook ([Hook]).
//
// It follows no symlink, and overwrites nothing except the rules that an [Update] replaces: an existing file either has
// the content already, or is an error that tells what to do by hand. Text for display is not escaped.
package setup

import (
	"errors"
	"io/fs"
	"os"
)

// writeNew writes a file that must not exist yet, whole or not at all.
func writeNew(name string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
