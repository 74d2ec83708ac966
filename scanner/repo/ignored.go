package repo

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Ignored reads what git ignores in a work tree (gitignore(5)). Where it cannot read a pattern as git does, the path is
// not ignored. It is for one goroutine.
type Ignored struct {
	root  string
	files []string            // outside of the tree; a later one counts more
	texts map[string][]string // the patterns of the files that were read, by name
	dirs  map[string]bool     // the answers for directories
}

// NewIgnored returns the ignored files of the work tree at root.
func NewIgnored(root string) *Ignored {
	return &Ignored{root: root, files: excludeFiles(root), texts: map[string][]string{}, dirs: map[string]bool{}}
}

// Has reports whether git ignores a path of the tree, or a directory that it is in.
func (g *Ignored) Has(name string, isDir bool) bool {
	if is, known := g.dirs[name]; known {
		return is
	}
	parts := strings.Split(name, "/")
	is := len(parts) > 1 && g.Has(path.Dir(name), true)
	if !is {
		for _, file := range g.files {
			is = ignores(g.patterns(file), parts, isDir, is)
		}
		for i := range parts {
			file := filepath.Join(g.root, filepath.Join(parts[:i]...), ".gitignore")
			is = ignores(g.patterns(file), parts[i:], isDir, is)
		}
	}
	if isDir {
		g.dirs[name] = is
	}
	return is
}

// maxIgnoreFile is how many bytes an ignore file may have. A longer one is not read.
const maxIgnoreFile = 1 << 20

// patterns returns the lines of an ignore file; none if git could not read it, either, or if it is too long.
func (g *Ignored) patterns(name string) []string {
	lines, known := g.texts[name]
	if !known {
		if st, err := os.Lstat(name); err == nil && st.Mode().IsRegular() && st.Size() <= maxIgnoreFile {
			text, _ := os.ReadFile(name) // what cannot be read ignores nothing
			lines = strings.Split(string(text), "\n")
		}
		g.texts[name] = lines
	}
	return lines
}

// Ignores reports whether the text of a .gitignore ignores a file of its directory.
func Ignores(text, name string) bool {
	return ignores(strings.Split(text, "\n"), []string{name}, false, false)
}

// ignores reports whether patterns have git ignore a path, in parts from the directory of their file. before is the
// answer of the files that count less.
func ignores(patterns, parts []string, isDir, before bool) bool {
	for _, line := range patterns {
		pattern, negated := strings.CutPrefix(strings.TrimRight(line, " \r"), "!")
		pattern, dirOnly := strings.CutSuffix(pattern, "/")
		if pattern == "" || pattern[0] == '#' || dirOnly && !isDir {
			continue
		}
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern
		}
		globs := strings.Split(strings.ReplaceAll(strings.TrimPrefix(pattern, "/"), "[!", "[^"), "/")
		if matchParts(globs, parts) {
			before = !negated
		}
	}
	return before
}

func matchParts(globs, parts []string) bool {
	switch {
	case len(globs) == 0:
		return len(parts) == 0
	case len(parts) == 0:
		return false
	case globs[0] == "**":
		return len(globs) == 1 || matchParts(globs[1:], parts) || matchParts(globs, parts[1:])
	}
	matched, err := path.Match(globs[0], parts[0])
	return err == nil && matched && matchParts(globs[1:], parts[1:])
}
