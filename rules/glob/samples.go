package glob

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Samples returns at most 400 paths that globs probably match, some for each expansion; the caller must try each.
func Samples(globs []string) (all []string) {
	for _, of := range []struct{ dirs, word string }{{"", "main"}, {"a/", "a"}, {"a/b/", "b"}} {
		for _, g := range globs {
			for _, e := range expansions(g) {
				if strings.HasSuffix(e, "**") {
					e += "/*"
				}
				tokens, _ := scan(strings.ReplaceAll(e, "**/", of.dirs))
				var b strings.Builder
				for _, t := range tokens {
					switch t.kind {
					case star:
						b.WriteString(of.word)
					case one:
						b.WriteByte('a')
					case escaped:
						b.WriteString(t.text[1:])
					case class:
						i := strings.IndexFunc("a0A_-."+t.text, func(c rune) bool {
							return doublestar.MatchUnvalidated(t.text, string(c))
						})
						b.WriteString(("a0A_-." + t.text)[max(i, 0):][:1])
					default:
						b.WriteString(t.text)
					}
				}
				all = append(all, b.String())
			}
		}
	}
	return all[:min(len(all), 400)]
}
