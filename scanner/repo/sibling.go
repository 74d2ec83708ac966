package repo

import "path/filepath"

// Sibling returns the root of the nearest work tree around dir that is another one of the repository of which root is a
// work tree, as git worktree makes them; "" if there is none before root itself. dir need not be there yet. What is in
// between, another repository or a .git that is broken, is passed over.
func Sibling(root, dir string) string {
	main := common(root)
	if main == "" {
		return ""
	}
	for at := dir; ; at = filepath.Dir(at) {
		if sameFile(at, root) {
			return ""
		}
		if shared := common(at); shared != "" && sameFile(shared, main) {
			return at
		}
		if filepath.Dir(at) == at {
			return ""
		}
	}
}

// GitDirs returns git's own folders of the work tree at root: that of the work tree, and that which it shares with others,
// if it is another. None, if root is no work tree.
func GitDirs(root string) []string {
	gitDir, err := gitDirOf(root)
	if err != nil || gitDir == "" {
		return nil
	}
	if shared := common(root); shared != gitDir {
		return []string{gitDir, shared}
	}
	return []string{gitDir}
}

// common returns the folder that the work tree at root shares with those of the same repository; "" if it is none.
func common(root string) string {
	gitDir, err := gitDirOf(root)
	if err != nil || gitDir == "" {
		return ""
	}
	r := &Repository{gitDir: gitDir}
	if r.findCommon() != nil {
		return ""
	}
	return r.commonDir
}
