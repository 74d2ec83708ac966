package callrules

import "github.com/policyscan/policyscan/agent/call"

// Respelled returns a copy of the set in which tests of a path at or under a directory also match other spellings of
// the directory, from symlinks to it. Only tests for a path, with or without the paths under it, are widened; globs
// and regexes stay unchanged.
func (s *Set) Respelled(dir string, others []string) *Set {
	again := *s
	again.dir, _ = call.Resolve("", dir)
	again.others = others
	return &again
}

// asksOther makes a test of a path as it is when the directory of the set is spelled as the rules spell it.
func (t *Test) asksOther(f *facts, path string) bool {
	if len(f.others) == 0 || t.Fact.Source != FromFSPath || t.Op != Equals && t.Op != Under {
		return false
	}
	if _, within := call.CutDir(t.Text, f.dir); !within {
		return false
	}
	for _, other := range f.others {
		other, _ = call.Resolve("", other)
		if rest, ok := call.CutDir(path, other); ok && t.asks(f.dir+rest) {
			return true
		}
	}
	return false
}
