package repo

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Ignores says which untracked files git leaves alone: what the repository's .gitignore
// files and its info/exclude name. A user's own settings are not read. It is for counting
// what was not scanned; no scan obeys it.
type Ignores struct {
	read    func(path string) ([]byte, error)
	folders map[string]ignoringFolder
}

// An ignoringFolder is what git ignores in a folder.
type ignoringFolder struct {
	patterns []ignorePattern // its own and those of the folders above it, the last wins
	ignored  bool            // it is ignored itself, and so is all in it
}

// Ignores returns what a repository ignores. read returns the content of a file of the
// work tree.
func (r *Repository) Ignores(read func(path string) ([]byte, error)) (*Ignores, error) {
	text, err := readSmall(filepath.Join(r.commonDir, "info", "exclude"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	g := &Ignores{read: read, folders: map[string]ignoringFolder{}}
	g.folders["."] = ignoringFolder{patterns: append(parseIgnores(text, ""), g.own("")...)}
	return g, nil
}

func parseIgnores(text []byte, folder string) []ignorePattern {
	var patterns []ignorePattern
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && line[0] != '#' {
			patterns = append(patterns, parseIgnore(line, folder))
		}
	}
	return patterns
}

// own returns the patterns of a folder's own file; the folder ends in a slash. One that cannot be read has none.
func (g *Ignores) own(folder string) []ignorePattern {
	text, err := g.read(folder + ".gitignore")
	if err != nil {
		return nil
	}
	return parseIgnores(text, folder)
}

func (g *Ignores) in(folder string) ignoringFolder {
	f, known := g.folders[folder]
	if !known {
		above := g.in(path.Dir(folder))
		f.ignored = above.matches(folder, true)
		if f.patterns = above.patterns; !f.ignored {
			f.patterns = append(slices.Clip(f.patterns), g.own(folder+"/")...)
		}
		g.folders[folder] = f
	}
	return f
}

// Match reports whether a path is ignored.
func (g *Ignores) Match(name string, isFolder bool) bool {
	return g.in(path.Dir(name)).matches(name, isFolder)
}

// matches reports whether a path in the folder is ignored.
func (f ignoringFolder) matches(name string, isFolder bool) bool {
	if f.ignored {
		return true
	}
	for i := range slices.Backward(f.patterns) {
		if p := &f.patterns[i]; p.matches(name, isFolder) {
			return !p.include
		}
	}
	return false
}

// IgnoredBy reports whether a .gitignore with this text makes git ignore an untracked file in its folder.
func IgnoredBy(text []byte, name string) bool {
	patterns := parseIgnores(bytes.TrimPrefix(text, []byte("\ufeff")), "")
	return ignoringFolder{patterns: patterns}.matches(name, false)
}
