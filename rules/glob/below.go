package glob

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A Follower finds the globs that apply below a directory. It is safe for concurrent use.
type Follower struct {
	globs [][]string // without braces, split into segments
	folds bool
}

// NewFollower returns the follower of globs that passed Check. If it folds, ASCII case does not count, and they passed
// CheckFolded.
func NewFollower(globs []string, folds bool) *Follower {
	f := &Follower{folds: folds}
	if folds {
		globs = FoldAll(globs)
	}
	for _, g := range globs {
		for _, e := range expansions(g) {
			f.globs = append(f.globs, strings.Split(e, "/"))
		}
	}
	return f
}

// A Rest is the remainder of globs after a directory: a path directory/x matches one of the globs if and only if x
// matches one of the Rest, except for classes that match a slash.
type Rest struct {
	globs []string // without braces, sorted
	// unsure: a class that matches a slash (see the package comment) is involved. The globs could match more than the
	// Rest shows.
	unsure bool
}

// Below returns the rest of the globs below a directory; "" is the root.
func (f *Follower) Below(dir string) Rest {
	var r Rest
	if f.folds {
		dir = Fold(dir)
	}
	for _, g := range f.globs {
		r.add(g, dir)
	}
	slices.Sort(r.globs)
	r.globs = slices.Compact(r.globs)
	return r
}

func (r *Rest) add(glob []string, dir string) {
	var short [2][8]int
	at, next := append(short[0][:0], 0), short[1][:0] // numbers of matched segments; ascending, distinct
	for name := range strings.SplitSeq(dir, "/") {
		if dir == "" {
			break
		}
		next = next[:0]
		for _, i := range at {
			for ; i < len(glob) && glob[i] == "**"; i++ {
				next = addState(next, i)
			}
			if i == len(glob) {
				continue // nothing is left of "a/**" after "**", which was added
			}
			if classMatchesSlashIn(glob[i]) {
				r.unsure = true
			} else if doublestar.MatchUnvalidated(glob[i], name) {
				next = addState(next, i+1)
			}
		}
		slices.Sort(next)
		at, next = slices.Compact(next), at
	}
	for _, i := range at {
		if i < len(glob) {
			r.globs = append(r.globs, restText(glob[i:]))
		}
	}
}

func addState(states []int, i int) []int {
	if slices.Contains(states, i) {
		return states
	}
	return append(states, i)
}

// restText returns the text of a glob of a Rest. Globs that match every non-empty path have one common text.
func restText(glob []string) string {
	for i, s := range glob {
		if s != "**" && (s != "*" || i == 0 || i+1 < len(glob)) {
			return strings.Join(glob, "/")
		}
	}
	return "**"
}

// Empty reports whether the globs certainly match nothing below the directory.
func (r Rest) Empty() bool { return len(r.globs) == 0 && !r.unsure }

// All reports whether the globs certainly match every path below the directory.
func (r Rest) All() bool { return slices.Contains(r.globs, "**") }

// Key returns a text that only an equal Rest has, and whether that certainly shows all that the globs match.
func (r Rest) Key() (key string, sure bool) { return strings.Join(r.globs, "\x00"), !r.unsure }

// Within reports whether o's globs certainly match everything that r's match. It may return false in hard cases.
func (r Rest) Within(o Rest) bool {
	if o.All() {
		return true
	}
	return !r.unsure && !slices.ContainsFunc(r.globs, func(g string) bool { return !o.includes(g) })
}

// includes reports whether the globs match everything that g does: one of them is g, or is "**/" and an end of g.
func (r Rest) includes(g string) bool {
	if slices.Contains(r.globs, g) {
		return true
	}
	for end := g; ; {
		if slices.Contains(r.globs, "**/"+end) {
			return true
		}
		_, after, more := strings.Cut(end, "/")
		if !more {
			return false
		}
		end = after
	}
}

// Uniform reports whether the globs match the same paths below every directory, as "**" and "**/*.tf" do.
func Uniform(globs []string) bool {
	for _, g := range globs {
		for _, e := range expansions(g) {
			last, ok := strings.CutPrefix(e, "**/")
			if e != "**" && (!ok || last == "**" || strings.Contains(last, "/") || classMatchesSlashIn(last)) {
				return false
			}
		}
	}
	return true
}

func classMatchesSlashIn(segment string) bool {
	if !strings.Contains(segment, "[") {
		return false
	}
	tokens, mistake := scan(segment)
	return mistake != nil || slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind == class && classMatchesSlash(t.text)
	})
}
