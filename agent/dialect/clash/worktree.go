package clash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
)

// maxPointer is the size of a file that holds one path, in bytes.
const maxPointer = 4096

// gitDirs returns the git directories of the linked worktree around an absolute directory: its own and the one of its
// repository, clean and absolute. It returns nil if the directory is in no linked worktree: there is no .git around
// it, or it is a directory or a submodule's.
//
// An agent may have written the .git file, so the file must agree with what git keeps where it points: the git
// directory is the repository's worktrees/NAME, and its gitdir file names this .git file. No symlink is followed.
func gitDirs(dir string) ([]string, error) {
	for at := range disk.Upwards(filepath.FromSlash(dir)) {
		dot := filepath.Join(at, ".git")
		switch st, err := os.Lstat(dot); {
		case err == nil && st.IsDir():
			return nil, nil
		case err == nil:
			return linked(dot)
		case !disk.Absent(err):
			return nil, fmt.Errorf("%s cannot be read: %w", dot, disk.Cause(err))
		}
	}
	return nil, nil
}

func linked(dot string) ([]string, error) {
	line, err := pointer(dot)
	if err != nil {
		return nil, err
	}
	target, ok := strings.CutPrefix(line, "gitdir:")
	if target = strings.TrimSpace(target); !ok || target == "" {
		return nil, fmt.Errorf("%s names no git directory", dot)
	}
	base, err := disk.Real(filepath.Dir(dot))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be found: %w", filepath.Dir(dot), disk.Cause(err))
	}
	own := filepath.Clean(disk.Under(base, filepath.FromSlash(target)))
	if real, err := filepath.EvalSymlinks(own); err != nil || real != own {
		return nil, fmt.Errorf("%s points to a directory that is missing, or is reached over a symlink", dot)
	}
	if _, err := os.Lstat(filepath.Join(own, "commondir")); disk.Absent(err) {
		return nil, nil
	}
	var at [2]string
	for i, name := range []string{"commondir", "gitdir"} {
		if line, err = pointer(filepath.Join(own, name)); err != nil {
			return nil, err
		}
		at[i] = filepath.Clean(disk.Under(own, filepath.FromSlash(line)))
	}
	shared, back := at[0], at[1]
	if filepath.Dir(own) != filepath.Join(shared, "worktrees") {
		return nil, fmt.Errorf("%s is not in the directory worktrees of the repository that it names", own)
	}
	if !disk.Same(back, dot) {
		return nil, fmt.Errorf("%s is the git directory of another worktree than %s", own, filepath.Dir(dot))
	}
	dirs := make([]string, 2)
	for i, dir := range []string{own, shared} {
		dirs[i], _ = call.Resolve("", dir)
	}
	return dirs, nil
}

// pointer returns the one line of a small file, which must not be a symlink.
func pointer(file string) (string, error) {
	src, err := rules.ReadSource(file, file)
	var list document.Errors
	if errors.As(err, &list) {
		return "", fmt.Errorf("%s %s", file, list[0].Found)
	}
	if err != nil {
		return "", err
	}
	line := strings.TrimRight(string(src.Text), "\r\n")
	if len(line) > maxPointer || line == "" || strings.ContainsAny(line, "\n\x00") {
		return "", errors.New(file + " is not one line with a path")
	}
	return line, nil
}
