package tree

import (
	"errors"
	"fmt"
	"io"
	"path"
	"sync/atomic"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

const (
	gitModules = ".gitmodules" // lists the submodules of a repository, in its root (gitmodules(5))
	maxModules = 8 << 20       // bytes of it that are read, enough for tens of thousands of submodules
)

// A submodule is a directory of the tree. Without a checkout it has no .git, and its files cannot be scanned. In a
// tree copied without any .git, a file below the submodule proves the checkout.
type submodule struct {
	noGitDir   bool // of the containing tree
	checkedOut atomic.Bool
}

type submoduleMap map[string]*submodule

// submodules returns the submodules in .gitmodules, recursively. It calls fail for each unreadable file.
func submodules(root *worktree.Root, fail func(path string, err error)) submoduleMap {
	rd := root.Reader()
	defer rd.Close()
	found := submoduleMap{}
	look := func(name string) (exists, isDir bool) {
		_, err := rd.Stat(name)
		if err != nil && !isNoFile(err) {
			fail(name, err) // an unreadable file must not be a PASS
		}
		isDir = errors.Is(err, worktree.ErrNotFile)
		return err == nil || isDir, isDir
	}
	for dirs := []string{""}; len(dirs) > 0; dirs = dirs[1:] {
		in := dirs[0]
		file := path.Join(in, gitModules)
		paths, err := modulePaths(rd, file)
		if err != nil {
			fail(file, err)
		}
		if len(paths) == 0 {
			continue
		}
		hasGitDir, _ := look(path.Join(in, GitDir))
		for _, value := range paths {
			name, err := cleanEntry(path.Clean(value))
			if err != nil || name == "." {
				continue
			}
			at := path.Join(in, name)
			if _, isDir := look(at); !isDir || found[at] != nil {
				continue
			}
			isCheckedOut, _ := look(path.Join(at, GitDir))
			found[at] = &submodule{noGitDir: !hasGitDir}
			found[at].checkedOut.Store(isCheckedOut)
			dirs = append(dirs, at)
		}
	}
	return found
}

// modulePaths returns the paths in a .gitmodules; nil if the file is missing.
func modulePaths(rd *worktree.Reader, file string) ([]string, error) {
	st, err := rd.Stat(file)
	if err != nil && !disk.Absent(err) && !errors.Is(err, worktree.ErrNotFile) {
		return nil, err
	}
	if err != nil || st.Kind != worktree.Regular {
		return nil, nil // git does not follow a symlink here either
	}
	f, err := rd.Open(file, true)
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
		return nil, fmt.Errorf("%w; git cannot read it either, so it is unknown where submodules are", err)
	}
	return paths, nil
}
