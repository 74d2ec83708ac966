package naive

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Match reports whether a glob matches a path: doublestar, but DIR/** is what is in DIR, and never DIR itself.
func Match(glob, path string) bool {
	return slices.ContainsFunc(expand(glob), func(glob string) bool {
		dir, ok := strings.CutSuffix(glob, "/**")
		if !ok {
			return doublestar.MatchUnvalidated(glob, path)
		}
		for i := range path {
			if path[i] == '/' && i > 0 && doublestar.MatchUnvalidated(dir, path[:i]) {
				return true
			}
		}
		return false
	})
}

// expand returns the globs that a glob with braces stands for.
func expand(glob string) []string {
	open := strings.IndexByte(glob, '{')
	if open < 0 {
		return []string{glob}
	}
	var parts []string
	depth, start := 0, open+1
	for i := open; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			parts = append(parts, glob[start:i])
			start = i + 1
		case c == '}':
			if depth--; depth == 0 {
				var all []string
				for _, part := range append(parts, glob[start:i]) {
					all = append(all, expand(glob[:open]+part+glob[i+1:])...)
				}
				return all
			}
		}
	}
	return []string{glob}
}

func anyMatch(globs []string, path string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return Match(glob, path) })
}

// lower is a text with A-Z lowered.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = foldByte(c)
	}
	return string(b)
}

func foldByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// mixedRange reports whether a class of the glob has a range with an ASCII letter at one end only, or with letters of
// different case.
func mixedRange(glob string) bool {
	inClass := false
	for i := 0; i < len(glob); i++ {
		switch {
		case glob[i] == '\\':
			i++
		case glob[i] == '[':
			inClass = true
		case glob[i] == ']':
			inClass = false
		case inClass && glob[i] == '-' && i+1 < len(glob) && glob[i+1] != ']' && glob[i-1] != '[':
			if letterCase(glob[i-1]) != letterCase(glob[i+1]) {
				return true
			}
		}
	}
	return false
}

// letterCase is a, A, or 0 for what is not an ASCII letter.
func letterCase(c byte) byte {
	switch {
	case 'a' <= c && c <= 'z':
		return 'a'
	case 'A' <= c && c <= 'Z':
		return 'A'
	}
	return 0
}
