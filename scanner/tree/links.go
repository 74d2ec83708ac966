package tree

import (
	"fmt"
	"strings"
)

// Programs that read a symlink read its target. So the path of the target decides whether the rules for the symlink's
// name cover it as well. The content is never followed.

// Limits as on Linux.
const (
	MaxTarget   = 4095 // bytes of a symlink's target
	maxFollowed = 40   // symlinks of a chain, the first included
)

// A PathInfo describes a path of a tree. The zero value means nothing, or a kind not described here: a submodule, a
// special file.
type PathInfo struct {
	IsFile bool // a regular one
	IsLink bool
	Target string // of a symlink; may be cut after [MaxTarget] bytes
}

// OutsideTree is the problem with a target that no rule can check.
const OutsideTree = "leads out of the scanned tree"

// A SymlinkTarget is the resolved target of a symlink.
type SymlinkTarget struct {
	Path    string // from the root, without symlinks; "" is the root
	IsFile  bool   // the target is a regular file
	Outside string // the path that leaves the tree: an absolute one, or one that begins with ".."
	Broken  string // why the target cannot be resolved, as a clause
}

// Follow resolves a symlink along the symlinks of the tree to a path without any, which may be missing. lookup is
// [Source.Lookup].
func Follow(link, target string, lookup func(path string) (PathInfo, error)) (SymlinkTarget, error) {
	at := strings.Split(link, "/")
	at = at[:len(at)-1]
	var here PathInfo
	rest := target
	for followed := 1; ; followed++ {
		switch {
		case rest == "" || len(rest) > MaxTarget || strings.ContainsRune(rest, 0):
			return SymlinkTarget{Broken: "is not a path"}, nil
		case followed > maxFollowed:
			broken := fmt.Sprintf("leads in a circle, or through more than %d links", maxFollowed)
			return SymlinkTarget{Broken: broken}, nil
		case rest[0] == '/':
			return SymlinkTarget{Outside: rest}, nil
		}
		var behind string
		var err error
		if at, behind, here, err = nextSymlink(at, rest, lookup); err != nil {
			return SymlinkTarget{}, err
		}
		switch {
		case len(at) > 0 && at[0] == "..":
			return SymlinkTarget{Outside: "../" + behind}, nil
		case !here.IsLink:
			return SymlinkTarget{Path: strings.Join(at, "/"), IsFile: here.IsFile}, nil
		}
		at, rest = at[:len(at)-1], here.Target
		if behind != "" {
			rest += "/" + behind
		}
	}
}

// nextSymlink goes along a path to its end, a symlink, or out of the tree (at is ".."). It returns the info of that
// place and the rest of the path.
func nextSymlink(
	at []string, rest string, lookup func(path string) (PathInfo, error),
) (_ []string, behind string, here PathInfo, err error) {
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		here = PathInfo{}
		switch {
		case name == "" || name == ".":
		case name == ".." && len(at) == 0:
			return []string{".."}, rest, PathInfo{}, nil
		case name == "..":
			at = at[:len(at)-1]
		default:
			at = append(at[:len(at):len(at)], name)
			if here, err = lookup(strings.Join(at, "/")); err != nil || here.IsLink {
				return at, rest, here, err
			}
		}
	}
	return at, "", here, nil
}
