package scanner

import (
	"fmt"
	"strings"
)

// A link is never followed for its content, but what programs read under its name is what it leads to. So the path
// that it leads to decides whether the rules that judge the link's name judge that as well.

// maxTarget is how many bytes the target of a link can have: Linux makes no link with more.
const maxTarget = 4095

// maxFollowed is how many links lead to what a link means, itself included, as on Linux.
const maxFollowed = 40

// there is what is at a path of a tree. The zero value is nothing, or what has no kind here: a
// submodule, a special file.
type there struct {
	file   bool // a regular file
	link   bool
	target string // of a link; more than maxTarget bytes may be cut
}

// outOfTree is what is said of a target that no one judges.
const outOfTree = "leads out of the scanned tree"

// A looker says what is at a path of the tree. No folder on the way is a link.
type looker func(path string) (there, error)

// A lead is where a link leads.
type lead struct {
	path string // from the root, through no link; "" is the root
	file bool   // a regular file is there
	out  string // it leaves the tree: an absolute path, or one that begins with ".."
	lost string // why it leads nowhere, as what is said of its target
}

// follow returns where a link leads that points to a target: along the links of the tree, to a path without any,
// whether something is there or not.
func follow(link, target string, look looker) (lead, error) {
	at := strings.Split(link, "/")
	at = at[:len(at)-1]
	var here there
	rest := target
	for followed := 1; ; followed++ {
		switch {
		case rest == "" || len(rest) > maxTarget || strings.ContainsRune(rest, 0):
			return lead{lost: "is not a path"}, nil
		case followed > maxFollowed:
			return lead{lost: fmt.Sprintf("leads in a circle, or through more than %d links", maxFollowed)}, nil
		case rest[0] == '/':
			return lead{out: rest}, nil
		}
		var behind string
		var err error
		if at, behind, here, err = walkOn(at, rest, look); err != nil {
			return lead{}, err
		}
		switch {
		case len(at) > 0 && at[0] == "..":
			return lead{out: "../" + behind}, nil
		case !here.link:
			return lead{path: strings.Join(at, "/"), file: here.file}, nil
		}
		at, rest = at[:len(at)-1], here.target
		if behind != "" {
			rest += "/" + behind
		}
	}
}

// walkOn goes along a path until that ends, there is a link, or it leaves the tree, which is an at of "..". It returns
// what is there, and what of the path is behind it.
func walkOn(at []string, rest string, look looker) (_ []string, behind string, here there, err error) {
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		here = there{}
		switch {
		case name == "" || name == ".":
		case name == ".." && len(at) == 0:
			return []string{".."}, rest, there{}, nil
		case name == "..":
			at = at[:len(at)-1]
		default:
			at = append(at[:len(at):len(at)], name)
			if here, err = look(strings.Join(at, "/")); err != nil || here.link {
				return at, rest, here, err
			}
		}
	}
	return at, "", here, nil
}
