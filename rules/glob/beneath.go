package glob

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Beneath reports whether a glob, which passed Check, could match a path beneath a
// folder, of which "." is the root. It says yes where only the names of the files would tell.
func Beneath(glob, folder string) bool {
	if folder == "." {
		return true
	}
	for _, e := range expansions(glob) {
		if beneathOne(strings.Split(e, "/"), strings.Split(folder, "/")) {
			return true
		}
	}
	return false
}

// beneathOne goes down the folder's segments. A class that matches a slash (see the
// package comment) could stand for more than one segment, so it is in doubt.
func beneathOne(glob, folder []string) bool {
	for i, name := range folder {
		switch {
		case i == len(glob):
			return false // the glob's paths are no deeper than this
		case glob[i] == "**" || classMatchesSlashIn(glob[i]):
			return true
		case !doublestar.MatchUnvalidated(glob[i], name):
			return false
		}
	}
	return len(glob) > len(folder)
}

func classMatchesSlashIn(segment string) bool {
	tokens, mistake := scan(segment)
	if mistake != nil {
		return true
	}
	for _, t := range tokens {
		if t.kind == class && classMatchesSlash(t.text) {
			return true
		}
	}
	return false
}
