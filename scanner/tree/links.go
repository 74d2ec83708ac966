package tree

import (
	"fmt"
	"strings"
)

// A link is never followed for its content, but what programs read under its name is what it leads to. So the path
// that it leads to decides whether the rules that judge the link's name judge that as well.

// MaxTarget is how many bytes the target of a link can have: Linux makes no link with more.
const MaxTarget = 4095

// maxFollowed is how many links lead to what a link means, itself included, as on Linux.
const maxFollowed = 40

// A PathInfo is what is at a path of a tree. The zero value is nothing, or what has no kind here: a submodule, a
// special file.
type PathInfo struct {
	IsFile bool // a regular one
	IsLink bool
	Target string // of a link; more than [MaxTarget] bytes may be cut
}

// OutsideTree is what is wrong with a target that no rule can check.
const OutsideTree = "leads out of the scanned tree"

// A SymlinkTarget is where a link leads.
type SymlinkTarget struct {
	Path    string // from the root, through no link; "" is the root
	IsFile  bool   // a regular file is there
	Outside string // the path that leaves the tree: an absolute one, or one that begins with ".."
	Broken  string // why it leads nowhere: a clause about its target
}

// Follow returns where a link with a target leads: along the links of the tree, to a path without any, whether
// something is there or not. lookup is [Source.Lookup].
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

// nextSymlink goes along a path until that ends, there is a link, or it leaves the tree, which is an at of "..". It
// returns what is there, and what of the path is behind it.
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
