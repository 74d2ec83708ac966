// Package glob answers which of a bundle's globs match a path.
//
// # What a glob means
//
// A glob is matched, case-sensitively, against a whole path: the /-separated path of a file from the root of the tree,
// without a leading slash, not empty.
//
//	?          one character, but never a /
//	*          any characters, none included, but never a /
//	**         as a whole segment: zero or more segments, whole directories at a time
//	[abc]      one of these characters; [a-z] a range; [!abc] or [^abc] any other
//	{a,b}      either; may be nested, may hold /
//	\c         the glob character c itself
//
// Some consequences surprise:
//
//   - A name that begins with a dot is a name like any other: * matches ".env" and ** walks
//     through ".github".
//   - "*.tf" matches in the root directory only; "**/*.tf" matches in all.
//   - "modules/**" matches everything in the directory modules, at any depth, but not a
//     file named modules, nor a name that only begins like the part before "/**": "test*/**"
//     does not match testing.tf. git's :(glob) says the same.
//   - A class that is negated, or a range around it such as [+-9], matches a / as well, as in
//     doublestar. [Notes] reports it.
//   - A path is bytes. A byte that is not UTF-8 counts as one character: *, ? and a negated class
//     match it, and so does U+FFFD written in a glob. A line feed or a backslash in a path is a
//     character like any other: a backslash in a path separates nothing.
//
// A glob with braces means exactly the union of its expansions: "{a,b}/*.tf" is "a/*.tf" or "b/*.tf". Each expansion
// is matched by github.com/bmatcuk/doublestar, which only this package imports. It differs in two ways:
//
//   - Its brace matching does not find "main" with "main*{,.tf}", nor "a/b/c/x" with "a/**{/x,}".
//   - It matches a file a with "a/**", and testing.tf with "test*/**", though not test. [CompileWide]
//     matches all of them, for call rules that deny.
//
// # Refused globs
//
// doublestar accepts globs that can never match what their writer meant, such as "./main.tf" or "**.tf". A rule with
// such a glob would silently cover nothing, so [Check] refuses it. [Compile] and [NewIndex] expect globs that passed
// it.
//
// # Limits
//
// A glob has at most [MaxBytes] bytes, [MaxBraces] brace groups and [MaxExpansions] expansions. A [Set] tries its
// globs one after the other; an [Index] finds the usual shapes ("**", "**/*.ext", "**/NAME", "DIR/**" and plain paths)
// by a look-up and tries the others one after the other.
package glob

import (
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// A Set is a list of globs of which any may match. It is safe for concurrent use.
type Set struct {
	matchers []matcher
}

// Compile returns the set of globs, each of which must have passed Check.
func Compile(globs []string) *Set { return compile(globs, false) }

// CompileWide returns the set of globs where X/** matches X as well. Bundles do not use it.
func CompileWide(globs []string) *Set { return compile(globs, true) }

func compile(globs []string, wide bool) *Set {
	s := &Set{}
	for _, g := range globs {
		for _, e := range expansions(g) {
			s.matchers = append(s.matchers, newMatcher(e))
			if dir, inDir := withoutLastStars(e); wide && inDir && dir != "" {
				s.matchers = append(s.matchers, newMatcher(dir), newMatcher(dir+"/"))
			}
		}
	}
	return s
}

// Match reports whether any glob of s matches path. It does not allocate.
func (s *Set) Match(path string) bool {
	for i := range s.matchers {
		if s.matchers[i].match(path) {
			return true
		}
	}
	return false
}

// A shape is a kind of glob that can be matched by comparing strings.
type shape int

const (
	general  shape = iota // text is a glob without braces, for doublestar
	anything              // "**"
	exact                 // text is the path
	named                 // "**/NAME": text is the last segment
	suffixed              // "**/*END": text ends the last segment
	under                 // "DIR/**": text is a directory above the path
)

type matcher struct {
	shape shape
	text  string
}

// newMatcher returns the matcher of a glob without braces.
func newMatcher(glob string) matcher {
	glob, inDir := withoutLastStars(glob)
	if inDir {
		if text, ok := literal(glob); ok {
			return matcher{under, text}
		}
		return matcher{general, glob + "/**/*"} // the last star needs a name, so the path has one
	}
	if glob == "**" {
		return matcher{anything, ""}
	}
	if text, ok := literal(glob); ok {
		return matcher{exact, text}
	}
	if rest, ok := strings.CutPrefix(glob, "**/"); ok && !strings.Contains(rest, "/") {
		if text, ok := literal(rest); ok {
			return matcher{named, text}
		}
		if end, ok := strings.CutPrefix(rest, "*"); ok {
			if text, ok := literal(end); ok {
				return matcher{suffixed, text}
			}
		}
	}
	return matcher{general, glob}
}

// withoutLastStars returns X and true for X/**, X/**/** and so on, and "**" for a glob of only such segments.
func withoutLastStars(glob string) (rest string, inDir bool) {
	for strings.HasSuffix(glob, "/**") {
		glob, inDir = strings.TrimSuffix(glob, "/**"), true
	}
	return glob, inDir && glob != "**"
}

func (m *matcher) match(path string) bool {
	switch m.shape {
	case anything:
		return true
	case exact:
		return path == m.text
	case named:
		return base(path) == m.text
	case suffixed:
		return strings.HasSuffix(path, m.text) // text has no slash, so it is in the last segment
	case under:
		return len(path) > len(m.text)+1 && path[len(m.text)] == '/' && strings.HasPrefix(path, m.text)
	default:
		return doublestar.MatchUnvalidated(m.text, path)
	}
}

// literal returns the only string that a glob matches, if it is the only one. U+FFFD in a glob matches any byte that
// is not UTF-8, so it is not literal.
func literal(glob string) (string, bool) {
	if strings.ContainsAny(glob, "*?[{}") || strings.ContainsRune(glob, utf8.RuneError) {
		return "", false // escapes are rare, so doublestar matches them
	}
	if !strings.Contains(glob, `\`) {
		return glob, true
	}
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		if glob[i] == '\\' {
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String(), true
}

func base(path string) string {
	return path[strings.LastIndexByte(path, '/')+1:]
}

// In returns globs that count from a directory as globs that count from the root.
func In(globs []string, dir string) []string {
	var all []string
	for _, g := range globs {
		all = append(all, Escape(dir)+"/"+g)
	}
	return all
}

// Escape returns the glob that matches only a path.
func Escape(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if strings.IndexByte(escapable, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
