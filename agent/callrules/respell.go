package callrules

import (
	"slices"

	"github.com/policyscan/policyscan/agent/call"
)

// Respelled returns the set with what its rules say of a path at or beneath a folder said of the same path by other
// spellings of the folder, too: those of links that lead to it. Only tests for a path, or for one and what is beneath
// it, are widened; globs and regexes stay as they are. The set itself is not changed.
func (s *Set) Respelled(folder string, others []string) *Set {
	again := *s
	again.Rules = slices.Clone(s.Rules)
	for i := range again.Rules {
		again.Rules[i].When = respelled(again.Rules[i].When, folder, others)
	}
	return &again
}

func respelled(p Predicate, folder string, others []string) Predicate {
	each := func(list []Predicate) []Predicate {
		list = slices.Clone(list)
		for i := range list {
			list[i] = respelled(list[i], folder, others)
		}
		return list
	}
	p.All, p.Any = each(p.All), each(p.Any)
	if p.Test == nil || p.Test.Fact.Source != FromFSPath || p.Test.Op != Equals && p.Test.Op != Under {
		return p
	}
	list := []Predicate{p}
	for _, other := range others {
		rest, ok := cutFolder(folder, p.Test.Text)
		if !ok {
			return p
		}
		t := *p.Test
		t.Text, _ = call.Resolve(other, "."+rest)
		list = append(list, Predicate{Test: &t})
	}
	if p.Test.Not { // it is none of them
		return Predicate{All: list}
	}
	return Predicate{Any: list}
}

// cutFolder returns what leads from a folder to a path, "" or with a slash before it, if the path is at or beneath it.
func cutFolder(folder, path string) (rest string, ok bool) {
	folder, _ = call.Resolve("", folder)
	if path == folder {
		return "", true
	}
	if folder == "/" {
		return path, true
	}
	if len(path) > len(folder) && path[:len(folder)] == folder && path[len(folder)] == '/' {
		return path[len(folder):], true
	}
	return "", false
}
