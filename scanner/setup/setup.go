// Package setup writes what a repository has before its first scan: a bundle ([WriteBundle]), the line of its
// .gitignore that keeps the verdict out of commits ([IgnoreVerdict]), and git's pre-commit hook ([Hook]).
//
// It overwrites nothing and follows no link: a file that is there is either what it would write, or an error that says
// what to do by hand. What it returns for a person is not escaped.
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
