package repo

import "path/filepath"

// Sibling returns the root of the nearest work tree around dir that is another one of the repository of which root is a
// work tree, as git worktree makes them; "" if there is none before root itself, or root is no work tree. dir need not be
// there yet. What is in between, another repository or a .git that is broken, is passed over: what stands there is the
// tree's own. The error is that of root's git folder.
func Sibling(root, dir string) (string, error) {
	main, err := common(root)
	if err != nil || main == "" {
		return "", err
	}
	for at := dir; !sameFile(at, root); at = filepath.Dir(at) {
		if shared, err := common(at); err == nil && shared != "" && sameFile(shared, main) {
			return at, nil
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	return "", nil
}

// GitDirs returns git's own folders of the work tree at root: that of the work tree, and that which it shares with others,
// if it is another. None, if root is no work tree.
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

// HooksDir is [Repository.Hooks] of the work tree at root; "" if root is none.
func HooksDir(root string) (string, error) {
	gitDir, err := gitDirOf(root)
	if err != nil || gitDir == "" {
		return "", err
	}
	r := &Repository{gitDir: gitDir, WorkTree: root}
	if err := r.findCommon(); err != nil {
		return "", err
	}
	return r.Hooks()
}

// common returns the folder that the work tree at root shares with those of the same repository; "" if it is none.
func common(root string) (string, error) {
	gitDir, err := gitDirOf(root)
	if err != nil || gitDir == "" {
		return "", err
	}
	r := &Repository{gitDir: gitDir}
	err = r.findCommon()
	return r.commonDir, err
}
