package repo

import (
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
)

// Sibling returns the root of the nearest work tree around dir that is another work tree of root's repository, as git
// worktree makes them; "" if root itself is nearer, or is not a work tree. dir need not exist yet. Other repositories
// and broken .git files in between are skipped: they belong to the work tree. It fails if root's git directory cannot
// be read.
func Sibling(root, dir string) (string, error) {
	main, err := common(root)
	if err != nil || main == "" {
		return "", err
	}
	for at := range upwards(dir) {
		if disk.Same(at, root) {
			break
		}
		if shared, err := common(at); err == nil && shared != "" && disk.Same(shared, main) {
			return at, nil
		}
	}
	return "", nil
}

// GitDirs returns the git directories of the work tree at root: its own and the shared one, if that differs; nil if
// root is not a work tree.
func GitDirs(root string) ([]string, error) {
	gitDir, err := gitDirOf(root)
	if err != nil || gitDir == "" {
		return nil, err
	}
	shared, err := common(root)
	if shared == gitDir {
		return []string{gitDir}, err
	}
	return []string{gitDir, shared}, err
}

// HookPlaces returns the paths that decide which git hooks run in the work tree at root: the directories of
// core.hooksPath in the config of the repository, of the user and of the machine, and the files that these include, on
// any condition. Unreadable files are omitted. If root is not a work tree, it returns nil.
func HookPlaces(root string) []string {
	gitDirs, err := GitDirs(root)
	if err != nil || gitDirs == nil {
		return nil
	}
	files := append(othersSettings(), filepath.Join(gitDirs[len(gitDirs)-1], "config"),
		filepath.Join(gitDirs[0], "config.worktree"))
	var places []string
	seen := map[string]bool{}
	for _, file := range files {
		_ = walkSettings(file, seen, func(file string, cfg settings, _ error) error { // which never fails
			for _, dir := range cfg[hooksPath] {
				if dir != "" {
					places = append(places, fromSetting(dir, root))
				}
			}
			places = append(places, cfg.included(file)...)
			return nil
		})
	}
	return places
}

// common returns the directory that the work trees of root's repository share; "" if root is not a work tree.
func common(root string) (string, error) {
	gitDir, err := gitDirOf(root)
	if err != nil || gitDir == "" {
		return "", err
	}
	r := &Repository{gitDir: gitDir}
	err = r.findCommon()
	return r.commonDir, err
}
