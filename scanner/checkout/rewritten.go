package checkout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/verdict"
)

// Rewritten gathers the covered files in whose place git writes something that was not checked and that no one can
// know without running a program: those with a filter, and those that git archive changes.
type Rewritten struct {
	mu    sync.Mutex
	files map[rewriting]*firstFiles
}

// A rewriting is a filter, by its name, or what git archive does.
type rewriting struct {
	filter  string
	archive bool
}

// firstFiles are a number of files, and the names of the first.
type firstFiles struct {
	count int
	first []string // in order
}

// What a note names at the most.
const (
	maxRewritings = 5
	maxRewritten  = 3
)

// Add adds a file and its attributes.
func (r *Rewritten) Add(path string, a Attributes) {
	if r == nil || len(a.filters) == 0 && !a.exportSubst {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = map[rewriting]*firstFiles{}
	}
	for _, name := range a.filters {
		r.one(rewriting{filter: name}, path)
	}
	if a.exportSubst {
		r.one(rewriting{archive: true}, path)
	}
}

func (r *Rewritten) one(by rewriting, path string) {
	f := r.files[by]
	if f == nil {
		f = &firstFiles{}
		r.files[by] = f
	}
	f.count++
	i, _ := slices.BinarySearch(f.first, path)
	if i < maxRewritten {
		f.first = slices.Insert(f.first, i, path)
		f.first = f.first[:min(len(f.first), maxRewritten)]
	}
}

// Notes says which files were added, in a sentence for each filter, by its name. Names are as [verdict.Path] writes
// them.
func (r *Rewritten) Notes() []string {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []rewriting
	for by := range r.files {
		all = append(all, by)
	}
	slices.SortFunc(all, func(a, b rewriting) int {
		switch {
		case a.archive:
			return -1
		case b.archive:
			return 1
		}
		return cmp.Compare(a.filter, b.filter)
	})
	var notes []string
	for i, by := range all {
		if i == maxRewritings {
			more := counted(len(all)-i, "more filter")
			notes = append(notes, fmt.Sprintf("and %s: what git checks out differs from what was checked", more))
			break
		}
		notes = append(notes, by.say(r.files[by]))
	}
	return notes
}

func (by rewriting) say(f *firstFiles) string {
	names := make([]string, len(f.first))
	for i, name := range f.first {
		names[i] = verdict.Path(name)
	}
	list := strings.Join(names, ", ")
	if f.count > len(names) {
		list += fmt.Sprintf(" and %d more", f.count-len(names))
	}
	files := counted(f.count, "file")
	if by.archive {
		return fmt.Sprintf("export-subst: git archive changes the text of %s after this check: %s", files, list)
	}
	const what = "filter=%.60s: git sends %s through a program on checkout, and what it writes was not checked: %s"
	return fmt.Sprintf(what, verdict.Path(by.filter), files, list)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
