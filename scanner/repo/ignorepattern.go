package repo

import "strings"

// An ignorePattern is a line of a .gitignore (gitignore(5)). go-git has such patterns, too, but in a package that also
// reads settings, and with them encoding/gob and package gcfg: a seventh of what policyscan did before its command.
type ignorePattern struct {
	folder  string   // that the file is in, with a slash at its end; "" is the root
	parts   []string // each is for a name below it; ** is for any number of names
	include bool     // the line begins with !
	folders bool     // the line ends in /
}

// parseIgnore reads a line that is not empty, and not a comment. folder is that of its file.
func parseIgnore(line, folder string) ignorePattern {
	p := ignorePattern{folder: folder}
	line, p.include = strings.CutPrefix(withoutEnd(line), "!")
	line, p.folders = strings.CutSuffix(line, "/")
	if !strings.Contains(line, "/") {
		line = "**/" + line
	}
	p.parts = strings.Split(strings.TrimPrefix(line, "/"), "/")
	if p.parts[len(p.parts)-1] == "**" {
		p.parts = append(p.parts, "*") // what is in the folder, but not the folder
	}
	return p
}

// withoutEnd returns a line without the spaces at its end, except for one after a backslash.
func withoutEnd(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) {
			i++
		} else if line[i] == ' ' {
			continue
		}
		end = i + 1
	}
	return line[:end]
}

// matches reports whether the pattern names a path, below whatever folder.
func (p *ignorePattern) matches(name string, isFolder bool) bool {
	below, is := strings.CutPrefix(name, p.folder)
	if !is || p.folders && !isFolder {
		return false
	}
	names := strings.Split(below, "/")
	i, again, from := 0, -1, 0 // the part; where to go on after the last **, and the name that it was tried from
	for k := 0; k < len(names); {
		switch {
		case i < len(p.parts) && p.parts[i] == "**":
			i++
			again, from = i, k
		case i < len(p.parts) && matchesName(p.parts[i], names[k]):
			i, k = i+1, k+1
		case again >= 0:
			from++
			i, k = again, from
		default:
			return false
		}
	}
	return i == len(p.parts)
}

// matchesName reports whether a part of a pattern matches a name, byte by byte, as in git.
func matchesName(part, name string) bool {
	i, again, from := 0, -1, 0 // as in matches, for *
	for k := 0; k < len(name); {
		if i < len(part) && part[i] == '*' {
			i++
			again, from = i, k
		} else if n := matchesByte(part[i:], name[k]); n > 0 {
			i, k = i+n, k+1
		} else if again >= 0 {
			from++
			i, k = again, from
		} else {
			return false
		}
	}
	return strings.Trim(part[i:], "*") == ""
}

// matchesByte returns how many bytes at the beginning of a part match c, one byte of a name; 0: they do not.
func matchesByte(part string, c byte) int {
	switch {
	case part == "":
		return 0
	case part[0] == '[':
		return inClass(part, c)
	case part[0] == '\\' && len(part) > 1 && part[1] == c:
		return 2
	case part[0] == '?', part[0] == c && c != '\\':
		return 1
	}
	return 0
}

// inClass is matchesByte for a class, such as [a-z] or [!a]. Those with names, such as [[:digit:]], are not known.
func inClass(part string, c byte) int {
	not := strings.HasPrefix(part[1:], "!") || strings.HasPrefix(part[1:], "^")
	first := 1
	if not {
		first = 2
	}
	in := false
	for i := first; i < len(part); i++ {
		if part[i] == ']' && i > first {
			if in == not {
				return 0
			}
			return i + 1
		}
		if part[i] == '\\' {
			i++
		}
		low := i
		if i+2 < len(part) && part[i+1] == '-' && part[i+2] != ']' {
			i += 2
			if part[i] == '\\' {
				i++
			}
		}
		if i >= len(part) {
			break
		}
		in = in || part[low] <= c && c <= part[i]
	}
	return 0 // without an end it matches nothing
}
