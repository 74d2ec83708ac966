package checkout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/verdict"
)

// A FilterReport gathers the covered files for which git writes unchecked content that only a program knows: files
// with a filter, and files that git archive changes. A nil report gathers nothing.
type FilterReport struct {
	mu    sync.Mutex
	files map[string]fileSample // by filter
}

// archive means git archive among the filters: no filter has this name, and it comes first.
const archive = "\x00"

// A fileSample is a number of files and the first ones by name.
type fileSample struct {
	count int
	first []string // in order
}

// Limits of a note.
const (
	maxFilters     = 5
	maxSampleFiles = 3
)

func (r *FilterReport) Add(path string, a Attributes) {
	if r == nil || len(a.filters) == 0 && !a.exportSubst {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = map[string]fileSample{}
	}
	filters := a.filters
	if a.exportSubst {
		filters = append(slices.Clip(filters), archive)
	}
	for _, name := range filters {
		f := r.files[name]
		f.count++
		if i, _ := slices.BinarySearch(f.first, path); i < maxSampleFiles {
			f.first = slices.Insert(f.first, i, path)
			f.first = f.first[:min(len(f.first), maxSampleFiles)]
		}
		r.files[name] = f
	}
}

// Notes returns a sentence with the files for each filter, sorted by its name. Names are written as by [verdict.Path].
func (r *FilterReport) Notes() []string {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var notes []string
	for i, name := range slices.Sorted(maps.Keys(r.files)) {
		if i == maxFilters {
			more := pluralize(len(r.files)-i, "more filter")
			return append(notes, fmt.Sprintf("and %s: what git checks out differs from what was checked", more))
		}
		notes = append(notes, r.files[name].note(name))
	}
	return notes
}

func (f fileSample) note(filter string) string {
	names := make([]string, len(f.first))
	for i, name := range f.first {
		names[i] = verdict.Path(name)
	}
	list := strings.Join(names, ", ")
	if f.count > len(names) {
		list += fmt.Sprintf(" and %d more", f.count-len(names))
	}
	files := pluralize(f.count, "file")
	if filter == archive {
		return fmt.Sprintf("export-subst: git archive changes the text of %s after this check: %s", files, list)
	}
	const what = "filter=%.60s: git sends %s through a program on checkout, and what it writes was not checked: %s"
	return fmt.Sprintf(what, verdict.Path(filter), files, list)
}

func pluralize(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
