package scanner

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync/atomic"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// gitModules is the file in the root that says where submodules are (gitmodules(5)).
const gitModules = ".gitmodules"

// maxModules is how many bytes of it are read, enough for tens of thousands.
const maxModules = 8 << 20

// modules are the paths of a tree's submodules, and whether a file beneath one was seen. If
// not, it is not checked out, and what is in it cannot be scanned. One that is has a .git of
// its own, if nothing else.
type modules map[string]*atomic.Bool

// checkedOut notes that there is a file.
func (m modules) checkedOut(file string) {
	for at, seen := range m {
		if rest, ok := strings.CutPrefix(file, at); ok && strings.HasPrefix(rest, "/") {
			seen.Store(true)
		}
	}
}

// empty returns the submodules that are not checked out.
func (m modules) empty() []string {
	var paths []string
	for at, seen := range m {
		if !seen.Load() {
			paths = append(paths, at)
		}
	}
	return paths
}

// submodules returns the submodules that .gitmodules names and that are folders of the
// tree. A tree without that file has none.
func submodules(root *worktree.Root) (modules, error) {
	rd := root.Reader()
	defer rd.Close()
	found := modules{}
	st, err := rd.Stat(gitModules)
	if err != nil && !isNotExist(err) && !errors.Is(err, worktree.ErrNotFile) {
		return nil, err
	}
	if err != nil || st.Kind != worktree.Regular {
		return found, nil // git obeys no link there either
	}
	f, err := rd.Open(gitModules, true)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxModules+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxModules {
		return nil, fmt.Errorf("it has more than %d bytes", maxModules)
	}
	paths, err := repo.ModulePaths(text)
	if err != nil {
		return nil, fmt.Errorf("%w; git cannot read it either, so where submodules are is not known", err)
	}
	for _, value := range paths {
		at, err := cleanEntry(path.Clean(value))
		if err != nil || value == "" {
			continue
		}
		if _, err := rd.Stat(at); errors.Is(err, worktree.ErrNotFile) {
			found[at] = new(atomic.Bool)
		}
	}
	return found, nil
}
