package glob

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxSamples is the limit for the paths of [Samples].
const maxSamples = 400

// Samples returns paths that globs probably match, some for each expansion; the caller must try each. names are the
// file names where a glob has a star alone.
func Samples(globs []string, names ...string) (all []string) {
	for _, of := range []struct{ dirs, word string }{{"", "main"}, {"a", "a"}, {"a/b", "b"}} {
		for _, g := range globs {
			for _, e := range expansions(g) {
				list := segments(e)
				last, dir := list[len(list)-1], ""
				for _, s := range list[:len(list)-1] {
					if s == "**" {
						dir = path.Join(dir, of.dirs)
					} else {
						dir = path.Join(dir, sampleSegment(s, "a"))
					}
				}
				if all = append(all, path.Join(dir, sampleSegment(last, of.word))); last == "*" {
					for _, name := range names {
						all = append(all, path.Join(dir, name))
					}
				}
			}
		}
	}
	return all[:min(len(all), maxSamples)]
}

// sampleSegment returns a name that a segment matches, with a word for each star.
func sampleSegment(segment, word string) string {
	tokens, _ := scan(segment)
	var b strings.Builder
	for _, t := range tokens {
		switch t.kind {
		case star:
			b.WriteString(word)
		case one:
			b.WriteByte('a')
		case escaped:
			b.WriteString(t.text[1:])
		case class:
			for _, c := range "a0A_-." + t.text {
				if doublestar.MatchUnvalidated(t.text, string(c)) {
					b.WriteRune(c)
					break
				}
			}
		default:
			b.WriteString(t.text)
		}
	}
	return b.String()
}
