package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// ignoreLine keeps the verdict out of commits: a change could bring its own verdict, so a scan refuses to write to a
// file that git tracks.
const ignoreLine = "/" + run.VerdictName

// IgnoreVerdict makes git ignore the verdict in the root of the repository around a directory, and returns a line
// that describes the change, not escaped; "" if nothing had to change. It does not write through a .gitignore that is
// a symlink.
func IgnoreVerdict(dir string) (string, error) {
	root, err := disk.Real(dir)
	if err != nil {
		return "", worktree.NoRoot(err)
	}
	if root, err = repo.Root(root); err != nil {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); disk.Absent(err) {
		return "there is no git repository here; if you make one, add the line " +
			ignoreLine + " to its .gitignore", nil
	}
	file := filepath.Join(root, ".gitignore")
	shown := disk.Shown(file)
	did := fmt.Sprintf("added %s, the file that a scan writes, to %s", ignoreLine, shown)
	var text []byte
	st, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		did, err = fmt.Sprintf("wrote %s with %s, the file that a scan writes", shown, ignoreLine), nil
	case err == nil && !st.Mode().IsRegular():
		return fmt.Sprintf("%s is not a regular file, so it was left as it is; "+
			"make git ignore %s, the file that a scan writes", shown, ignoreLine), nil
	case err == nil:
		text, err = os.ReadFile(file)
	}
	if err == nil && ignores(string(text), []string{run.VerdictName}, false, false) {
		return "", nil
	}
	if err == nil {
		err = disk.ReplaceIf(file, append(text, ignoreAfter(text)...), st, func() error {
			now, err := os.Lstat(file)
			if st == nil && errors.Is(err, fs.ErrNotExist) || err == nil && st != nil && os.SameFile(now, st) {
				return nil
			}
			return errors.Join(errors.New("it changed meanwhile"), err)
		})
	}
	if err != nil {
		return "", fmt.Errorf("%s could not be added to %s: %w; add it by hand", ignoreLine, shown, disk.Cause(err))
	}
	return did, nil
}

// IgnoreHint returns the line to add to the .gitignore of the repository around an output, if git does not ignore the
// file there: it could be committed, and a scan refuses to write to a file that git tracks. Else it is "".
func IgnoreHint(file string) string {
	root, within, err := repo.Around(filepath.Dir(file))
	if is, _ := repo.IsRoot(root); err != nil || !is {
		return ""
	}
	line := path.Join("/", within, filepath.Base(file))
	parts := strings.Split(line[1:], "/")
	for n := range parts {
		if isIgnored(root, parts[:n+1], n+1 < len(parts)) {
			return ""
		}
	}
	return line
}

// isIgnored reports whether git ignores a path, if it does not ignore a directory above it.
func isIgnored(root string, parts []string, isDir bool) bool {
	is := false
	for _, name := range repo.ExcludeFiles(root) {
		is = ignores(readIgnoreFile(name), parts, isDir, is)
	}
	for i := range parts {
		dir := filepath.Join(root, filepath.Join(parts[:i]...))
		is = ignores(readIgnoreFile(filepath.Join(dir, ".gitignore")), parts[i:], isDir, is)
	}
	return is
}

// maxIgnoreFile is how many bytes an ignore file may have. A longer one is not read.
const maxIgnoreFile = 1 << 20

// readIgnoreFile returns the text of an ignore file; "" if git could not read it, either, or if it is too long.
func readIgnoreFile(name string) string {
	st, err := os.Lstat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxIgnoreFile {
		return ""
	}
	text, _ := os.ReadFile(name) // a hint needs no error
	return string(text)
}

// ignores reports whether an ignore file (gitignore(5)) has git ignore a path, in parts from the file's directory.
// before is the answer of the files that count less.
func ignores(text string, parts []string, isDir, before bool) bool {
	for line := range strings.Lines(text) {
		pattern, negated := strings.CutPrefix(strings.TrimRight(line, " \r\n"), "!")
		pattern, dirOnly := strings.CutSuffix(pattern, "/")
		if pattern == "" || pattern[0] == '#' || dirOnly && !isDir {
			continue
		}
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern
		}
		globs := strings.Split(strings.ReplaceAll(strings.TrimPrefix(pattern, "/"), "[!", "[^"), "/")
		if matchParts(globs, parts) {
			before = !negated
		}
	}
	return before
}

func matchParts(globs, parts []string) bool {
	switch {
	case len(globs) == 0:
		return len(parts) == 0
	case len(parts) == 0:
		return false
	case globs[0] == "**":
		return len(globs) == 1 || matchParts(globs[1:], parts) || matchParts(globs, parts[1:])
	}
	matched, err := path.Match(globs[0], parts[0])
	return err == nil && matched && matchParts(globs[1:], parts[1:])
}

// ignoreAfter returns the text to append to a .gitignore, with its line endings.
func ignoreAfter(text []byte) string {
	end := "\n"
	if i := bytes.LastIndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		end = "\r\n"
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return end + ignoreLine + end
	}
	return ignoreLine + end
}
