package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// DottedNames returns the keys of a file that have a dot, with the first place of each.
func DottedNames(file []Document) map[string]Span {
	all := map[string]Span{}
	w := newWalk(keyitem.Path{{Kind: keyitem.Deep}, {Kind: keyitem.Any}, {Kind: keyitem.Deep}}) // in texts, too
	w.hidden, w.tagged = true, true
	w.entry = func(e *Entry, _ *Node) {
		if at, known := all[e.Name]; e.Named && strings.Contains(e.Name, ".") && (!known || e.At.Start < at.Start) {
			all[e.Name] = e.At
		}
	}
	for _, d := range file {
		w.from(d.Root, d.Head)
	}
	return all
}

// DottedKeys describes, for each path of an item that reaches nothing, the one of a file's [DottedNames] that it may
// mean.
func DottedKeys(item *keyitem.Item, file []Document, names map[string]Span) (all []Sentence) {
	if len(names) == 0 {
		return nil
	}
	documents := (&splitter{forbidden: true}).split(file)
	pathsOf(item, func(path keyitem.Path, begins []keyitem.Path) {
		reaches := func(begin keyitem.Path) bool {
			full := slices.Concat(begin, path)
			return len(full) > keyitem.MaxSegments || len(valuesAt(full, documents)) > 0
		}
		if is := dotted(path, names); is != nil && !slices.ContainsFunc(begins, reaches) {
			all = append(all, is)
		}
	})
	return all
}

// pathsOf calls do with each path of an item, and the paths to where it may begin. A nil one is the top.
func pathsOf(item *keyitem.Item, do func(path keyitem.Path, begins []keyitem.Path)) {
	top := []keyitem.Path{nil}
	for _, path := range item.Each {
		do(path, top)
	}
	owners := slices.Clip(item.Each)
	for _, path := range item.Paths {
		do(path, append(top, item.Each...))
		owners = append(owners, path[:len(path)-1])
	}
	for _, where := range item.Where {
		do(where.Path, top)
	}
	for _, asked := range item.If {
		do(asked.Path, owners)
	}
}

// dotted describes the longest of some names that is segments of a path joined by dots; nil if none is.
func dotted(path keyitem.Path, names map[string]Span) Sentence {
	for n := len(path); n > 1; n-- {
		for i := range len(path) - n + 1 {
			var parts []string
			for _, s := range path[i : i+n] {
				if s.Kind == keyitem.Name {
					parts = append(parts, s.Name)
				}
			}
			one := keyitem.Path{{Name: strings.Join(parts, "."), Quoted: true}}
			if at, known := names[one[0].Name]; known && len(parts) == n {
				meant := slices.Concat(path[:i], one, path[i+n:])
				const is = "here is a key %s: if it is meant, put it in quotes in the path: %s"
				return Sentence{at, fmt.Sprintf(is, one, meant)}
			}
		}
	}
	return nil
}
