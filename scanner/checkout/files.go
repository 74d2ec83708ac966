package checkout

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/policyscan/policyscan/scanner/repo"
)

// FoldName returns the same for all names that are equal on a disk which ignores case and normal form.
func FoldName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.ToLower(strings.ToUpper(name)))
}

const attributesName = ".gitattributes"

// isAttributesFile reports whether git reads attributes from a file of this name in some checkout: on a disk that
// ignores case, .GITATTRIBUTES is .gitattributes, and HFS+ also ignores some characters.
func isAttributesFile(name string) bool {
	visible := func(r rune) rune { // -1 for the characters that HFS+ ignores in a name, according to git's utf8.c
		if 0x200c <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x206a <= r && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}
	return len(name) >= len(attributesName) && strings.EqualFold(strings.Map(visible, name), attributesName)
}

// An attributesFile is a file that git reads attributes from, in some checkout.
type attributesFile struct {
	path  string
	leaf  repo.Leaf // a file, or a symlink, whose target git reads as the text
	exact bool      // an attributes file in every checkout
}

// treeFiles are the attributes files of a tree. Directories are read when needed, and cached.
type treeFiles struct {
	repo *repo.Repository
	root repo.Hash
	dirs map[string]*treeDir // by path
}

// A treeDir is a directory, with the directories that are the same on a disk that ignores case.
type treeDir struct {
	files   []attributesFile
	subdirs map[string][]subtree // by folded name
}

type subtree struct {
	path string
	hash repo.Hash
}

func (t *treeFiles) in(dir string) ([]attributesFile, error) {
	d, err := t.dir(dir)
	if err != nil {
		return nil, err
	}
	return d.files, nil
}

func (t *treeFiles) dir(at string) (*treeDir, error) {
	if d := t.dirs[at]; d != nil {
		return d, nil
	}
	trees := []subtree{{"", t.root}}
	if at != "" {
		above, name := cutLast(at)
		parent, err := t.dir(above)
		if err != nil {
			return nil, err
		}
		trees = parent.subdirs[FoldName(name)]
	}
	d := &treeDir{subdirs: map[string][]subtree{}}
	for _, tree := range trees {
		err := t.repo.Entries(tree.hash, func(name []byte, leaf repo.Leaf) {
			switch {
			case !leaf.Mode.IsLeaf():
				name := string(name)
				key := FoldName(name)
				d.subdirs[key] = append(d.subdirs[key], subtree{path.Join(tree.path, name), leaf.Hash})
			case len(name) >= len(attributesName) && leaf.Mode != repo.Submodule && isAttributesFile(string(name)):
				exact := tree.path == at && string(name) == attributesName
				d.files = append(d.files, attributesFile{path.Join(tree.path, string(name)), leaf, exact})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	t.dirs[at] = d
	return d, nil
}

// indexFiles are the attributes files of an index, by the folded path of their directory.
type indexFiles map[string][]attributesFile

func newIndexFiles(idx *repo.Index) indexFiles {
	all := indexFiles{}
	for i := range idx.Files {
		f := &idx.Files[i]
		if dir, name := cutLast(f.Path); f.Mode != repo.Submodule && isAttributesFile(name) {
			key := FoldName(dir)
			all[key] = append(all[key], attributesFile{f.Path, f.Leaf, name == attributesName})
		}
	}
	return all
}

func (all indexFiles) in(dir string) ([]attributesFile, error) {
	files := slices.Clone(all[FoldName(dir)])
	for i := range files {
		at, _ := cutLast(files[i].path)
		files[i].exact = files[i].exact && at == dir
	}
	return files, nil
}

// cutLast cuts a path at its last slash. Of a path without one, above is "".
func cutLast(at string) (above, name string) {
	i := strings.LastIndexByte(at, '/')
	return at[:max(i, 0)], at[i+1:]
}
