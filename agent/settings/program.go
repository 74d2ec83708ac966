package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Program returns the path of the running program for a user's own settings: the one that the PATH finds, since a
// package manager puts the next version elsewhere; if the PATH finds another program or none, the file itself. A
// temporary location, such as that of "go run", is an error: the program would vanish, and every call would be
// denied.
func Program(running, pathVar string) (string, error) {
	found := running
	is, err := os.Stat(running)
	if err != nil {
		return "", fmt.Errorf("the program that runs cannot be found: %w; give --user to one that is installed", err)
	}
	for _, dir := range filepath.SplitList(pathVar) {
		path := filepath.Join(dir, byName+filepath.Ext(running))
		st, err := os.Stat(path)
		if err != nil || st.IsDir() || runtime.GOOS != "windows" && st.Mode().Perm()&0o111 == 0 {
			continue // a shell does not take it either
		}
		if filepath.IsAbs(dir) && os.SameFile(is, st) {
			found = path
		}
		break
	}
	if isTemporary(found) {
		return "", errors.New("the program is " + filepath.ToSlash(found) +
			", which is temporary, and without it every call would be denied; " +
			"install it, and run hook install --user with the one that is installed")
	}
	return filepath.ToSlash(found), nil
}

// isTemporary reports whether a program is in a directory for programs that run once, as for go run.
func isTemporary(path string) bool {
	if rel, err := filepath.Rel(os.TempDir(), path); err == nil && filepath.IsLocal(rel) {
		return true
	}
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	return false
}
