package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

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
	if err == nil && repo.Ignores(string(text), run.VerdictName) {
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
	if repo.NewIgnored(root).Has(line[1:], false) {
		return ""
	}
	return line
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
