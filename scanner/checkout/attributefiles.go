package checkout

import (
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/policyscan/policyscan/scanner/attributes"
	"github.com/policyscan/policyscan/scanner/repo"
)

// FoldName returns what the names have in common that are one name on a disk which takes no notice of letter case and
// normal form.
func FoldName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.ToLower(strings.ToUpper(name)))
}

// An attributesFile is a file that git reads attributes from, in some checkout.
type attributesFile struct {
	path  string
	leaf  repo.Leaf // a file, or a link, whose target git reads as the text
	exact bool      // it is that file in every checkout
}

// attributesFiles says where the attributes files of a snapshot of the repository are.
type attributesFiles interface {
	// in returns those that are in a folder, on a disk that takes no notice of letter case: other names of the file
	// count, and other names of the folder.
	in(folder string) ([]attributesFile, error)
}

// treeFiles are those of a tree. Folders are read when they are asked for, and kept.
type treeFiles struct {
	repo    *repo.Repository
	folders map[string]*treeFolder // by path
}

// A treeFolder is a folder, and the others that would be it on a disk that takes no notice of letter case.
type treeFolder struct {
	files   []attributesFile
	folders map[string][]namedTree // in it, by what their names have in common
}

// A namedTree is a folder of a tree.
type namedTree struct {
	path string
	tree repo.Hash
}

func newTreeFiles(r *repo.Repository, root repo.Hash) (*treeFiles, error) {
	t := &treeFiles{r, map[string]*treeFolder{}}
	f, err := t.read("", []namedTree{{"", root}})
	t.folders[""] = f
	return t, err
}

func (t *treeFiles) in(folder string) ([]attributesFile, error) {
	f, err := t.folder(folder)
	if err != nil {
		return nil, err
	}
	return f.files, nil
}

func (t *treeFiles) folder(at string) (*treeFolder, error) {
	if f := t.folders[at]; f != nil {
		return f, nil
	}
	above, name := cutLast(at)
	parent, err := t.folder(above)
	if err != nil {
		return nil, err
	}
	f, err := t.read(at, parent.folders[FoldName(name)])
	if err != nil {
		return nil, err
	}
	t.folders[at] = f
	return f, nil
}

func (t *treeFiles) read(at string, all []namedTree) (*treeFolder, error) {
	f := &treeFolder{folders: map[string][]namedTree{}}
	for _, n := range all {
		err := t.repo.Entries(n.tree, func(name []byte, leaf repo.Leaf) {
			switch {
			case !leaf.Mode.IsLeaf():
				name := string(name)
				key := FoldName(name)
				f.folders[key] = append(f.folders[key], namedTree{path.Join(n.path, name), leaf.Hash})
			case len(name) >= len(attributes.Name) && leaf.Mode != repo.Submodule && attributes.IsFile(string(name)):
				exact := n.path == at && string(name) == attributes.Name
				f.files = append(f.files, attributesFile{path.Join(n.path, string(name)), leaf, exact})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// alike returns the folders of the tree that are one with a folder, given by what their paths have in common.
func (t *treeFiles) alike(folded string) ([]namedTree, error) {
	above, name := cutLast(folded)
	parents := []namedTree{{path: ""}}
	if above != "" {
		var err error
		if parents, err = t.alike(above); err != nil {
			return nil, err
		}
	}
	var all []namedTree
	for _, p := range parents {
		f, err := t.folder(p.path)
		if err != nil {
			return nil, err
		}
		for _, n := range f.folders[name] {
			if in, _ := cutLast(n.path); in == p.path { // the others are other parents'
				all = append(all, n)
			}
		}
	}
	return all, nil
}

// cutLast cuts a path at its last slash. Of a path without one, above is "".
func cutLast(at string) (above, name string) {
	i := strings.LastIndexByte(at, '/')
	return at[:max(i, 0)], at[i+1:]
}

// indexFiles are the attributes files of an index, by what the paths of their folders have in common.
type indexFiles map[string][]attributesFile

func newIndexFiles(idx *repo.Index) indexFiles {
	all := indexFiles{}
	for i := range idx.Files {
		f := &idx.Files[i]
		if folder, name := cutLast(f.Path); f.Mode != repo.Submodule && attributes.IsFile(name) {
			key := FoldName(folder)
			all[key] = append(all[key], attributesFile{f.Path, f.Leaf, name == attributes.Name})
		}
	}
	return all
}

func (all indexFiles) in(folder string) ([]attributesFile, error) {
	var files []attributesFile
	for _, f := range all[FoldName(folder)] {
		at, _ := cutLast(f.path)
		f.exact = f.exact && at == folder
		files = append(files, f)
	}
	return files, nil
}
