package glob

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Covers reports whether some glob of over certainly matches each path that a glob of under matches. All must have
// passed Check. It knows the usual shapes, and returns false if in doubt.
func Covers(over, under []string) bool {
	var wide [][]string
	for _, g := range over {
		for _, e := range expansions(g) {
			wide = append(wide, segments(e))
		}
	}
	steps := 10_000 // comparing globs with many ** is exponential
	for _, g := range under {
		for _, e := range expansions(g) {
			narrow := segments(e)
			if !slices.ContainsFunc(wide, func(w []string) bool { return covers(w, narrow, &steps) }) {
				return false
			}
		}
	}
	return len(under) > 0
}

// segments returns the segments of a glob without braces. Repeated ** become one, and a final ** becomes **/*, since
// it needs a name.
func segments(glob string) []string {
	var list []string
	for s := range strings.SplitSeq(glob, "/") {
		if s != "**" || len(list) == 0 || list[len(list)-1] != "**" {
			list = append(list, s)
		}
	}
	if list[len(list)-1] == "**" {
		list = append(list, "*")
	}
	return list
}

// covers compares segments from the left, in at most *steps steps.
func covers(wide, narrow []string, steps *int) bool {
	if *steps--; *steps < 0 {
		return false
	}
	switch {
	case len(wide) == 0 || len(narrow) == 0:
		return len(wide) == len(narrow)
	case wide[0] == "**":
		return covers(wide[1:], narrow, steps) || covers(wide, narrow[1:], steps)
	case narrow[0] == "**":
		return false
	}
	return coversSegment(wide[0], narrow[0]) && covers(wide[1:], narrow[1:], steps)
}

func coversSegment(wide, narrow string) bool {
	if wide == narrow {
		return true
	}
	if classMatchesSlashIn(wide) || classMatchesSlashIn(narrow) {
		return false // it can match several segments
	}
	if name, ok := literal(narrow); ok {
		return doublestar.MatchUnvalidated(wide, name)
	}
	if end, ok := strings.CutPrefix(wide, "*"); ok {
		if text, ok := literal(end); ok {
			return strings.HasSuffix(literalSuffix(narrow), text)
		}
	}
	if start, ok := strings.CutSuffix(wide, "*"); ok {
		if text, ok := literal(start); ok {
			return strings.HasPrefix(literalPrefix(narrow), text)
		}
	}
	return false
}
