package repo

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Ignores says which untracked files git leaves alone: what the repository's .gitignore
// files and its info/exclude name. A user's own settings are not read. It is for counting
// what was not scanned; no scan obeys it.
type Ignores struct {
	read    func(path string) ([]byte, error)
	folders map[string][]gitignore.Pattern // of each, with those above it, the last wins
}

// Ignores returns what a repository ignores. read returns the content of a file of the
// work tree.
func (r *Repository) Ignores(read func(path string) ([]byte, error)) (*Ignores, error) {
	text, err := readSmall(filepath.Join(r.commonDir, "info", "exclude"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	g := &Ignores{read: read, folders: map[string][]gitignore.Pattern{}}
	g.folders[""] = append(parseIgnores(text, nil), g.own("")...)
	return g, nil
}

func parseIgnores(text []byte, domain []string) []gitignore.Pattern {
	var patterns []gitignore.Pattern
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && line[0] != '#' {
			patterns = append(patterns, gitignore.ParsePattern(line, domain))
		}
	}
	return patterns
}

// own returns the patterns of a folder's own file. One that cannot be read has none.
func (g *Ignores) own(folder string) []gitignore.Pattern {
	text, err := g.read(path.Join(folder, ".gitignore"))
	if err != nil {
		return nil
	}
	var domain []string
	if folder != "" {
		domain = strings.Split(folder, "/")
	}
	return parseIgnores(text, domain)
}

func (g *Ignores) in(folder string) []gitignore.Pattern {
	patterns, known := g.folders[folder]
	if !known {
		above := path.Dir(folder)
		if above == "." {
			above = ""
		}
		patterns = append(slices.Clip(g.in(above)), g.own(folder)...)
		g.folders[folder] = patterns
	}
	return patterns
}

// Match reports whether a path is ignored, given that no folder above it is.
func (g *Ignores) Match(name string, isFolder bool) bool {
	folder := path.Dir(name)
	if folder == "." {
		folder = ""
	}
	parts := strings.Split(name, "/")
	for _, p := range slices.Backward(g.in(folder)) {
		switch p.Match(parts, isFolder) {
		case gitignore.Exclude:
			return true
		case gitignore.Include:
			return false
		}
	}
	return false
}

// IgnoredBy reports whether a .gitignore with this text makes git ignore an untracked file in its folder.
func IgnoredBy(text []byte, name string) bool {
	g := &Ignores{folders: map[string][]gitignore.Pattern{"": parseIgnores(bytes.TrimPrefix(text, []byte("\ufeff")),
		nil)}}
	return g.Match(name, false)
}
