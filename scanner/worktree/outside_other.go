//go:build !unix

package worktree

// Outside is false: where a link leads cannot be read from a handle here.
func (r *Root) Outside(*Root, string) bool { return false }
