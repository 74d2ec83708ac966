package repo

import "path/filepath"

// Sibling returns the root of the work tree that dir is in, if it is another work tree of the repository that the
// work tree at root is of, as git worktree makes them; else "". dir need not be there yet.
func Sibling(root, dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		gitDir, err := gitDirOf(at)
		switch {
		case err != nil:
			return ""
		case gitDir != "":
			main, err := gitDirOf(root)
			if err != nil || main == "" || sameFile(main, gitDir) {
				return ""
			}
			a, b := &Repository{gitDir: main}, &Repository{gitDir: gitDir}
			if a.findCommon() != nil || b.findCommon() != nil || !sameFile(a.commonDir, b.commonDir) {
				return ""
			}
			return at
		case filepath.Dir(at) == at:
			return ""
		}
	}
}
