package allowance

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// alike is the percentage of the larger of two files that must be the same in a rename.
const alike = 50

// maxPairs is the largest number of pairs of files to compare.
const maxPairs = 100_000

// followRenames gives files the limits that the entries of their old paths no longer need. tooMany reports that there
// were too many files to compare all of them.
func (t *tightener) followRenames(p *History) (tooMany bool, err error) {
	if p.repo == nil {
		return false, nil
	}
	olds, news, err := t.renameable(p)
	if err != nil {
		return false, err
	}
	renames, tooMany := pairRenamed(olds, news)
	for _, from := range slices.SortedFunc(maps.Keys(t.spare), pair.compare) {
		if to := renames[from.file]; to != "" {
			t.rename(from, pair{from.rule, to})
		}
	}
	return tooMany, nil
}

// renameable returns the old contents of the removed files with entries, and the contents of files with occurrences of
// the same rules that are new, or have their old name again.
func (t *tightener) renameable(p *History) (olds, news map[string]string, err error) {
	olds, news = map[string]string{}, map[string]string{}
	rules, origins := map[string]bool{}, map[string]bool{}
	for from := range t.spare {
		if t.there[from] > 0 || !p.gone(from.file) {
			continue
		}
		rules[from.rule] = true
		for _, f := range t.origins[from.file] {
			origins[f] = true
		}
		// A file that was renamed twice between two commits is in neither: its earlier paths are tried.
		if olds[from.file], err = p.contentBefore(append([]string{from.file}, t.origins[from.file]...)); err != nil {
			return nil, nil, fmt.Errorf("%s cannot be compared with what it was: %w", from.file, err)
		}
	}
	for to := range t.there {
		if !rules[to.rule] || to.file == "" {
			continue
		}
		isNew, err := p.isNew(to.file)
		if err != nil {
			return nil, nil, err
		}
		if isNew || origins[to.file] {
			news[to.file] = p.contentNow(to.file)
		}
	}
	empty := func(_, content string) bool { return content == "" }
	maps.DeleteFunc(olds, empty)
	maps.DeleteFunc(news, empty)
	return olds, news, nil
}

// rename moves the limits of the old path's entries to a file, with "from". They end with the earliest of them.
func (t *tightener) rename(from, to pair) {
	n := min(t.spare[from], t.need(to))
	if t.there[to] == 0 || !t.movable(to) || n == 0 && t.number(to) == 0 {
		return
	}
	t.spare[from] -= n
	n += t.number(to)
	live := t.live(to)
	if len(live) == 0 {
		signed := &leastOf(t.byPair[from]).before
		e := &entry{after: Entry{Rule: to.rule, File: to.file, Owner: signed.Owner, Reason: signed.Reason}}
		t.entries, t.byPair[to] = append(t.entries, e), append(t.byPair[to], e)
		live = []*entry{e}
	}
	for _, e := range live {
		e.after.AtMost = max(e.after.AtMost, n)
		e.after.From = slices.Clone(e.after.From)
		for _, old := range t.byPair[from] {
			if endsBefore(old.after.Until, e.after.Until) {
				e.after.Until = old.after.Until
			}
			for _, f := range append([]string{from.file}, old.before.From...) { // earlier paths are kept
				if f != to.file && !slices.Contains(e.after.From, f) {
					e.after.From = append(e.after.From, f)
				}
			}
		}
	}
}

// pairRenamed pairs removed files with new ones: equal contents first, then the most similar. tooMany reports that
// there were too many to compare all of them.
func pairRenamed(olds, news map[string]string) (renames map[string]string, tooMany bool) {
	renames = map[string]string{}
	take := func(from, to string) {
		renames[from] = to
		delete(olds, from)
		delete(news, to)
	}
	contentOf := func(_, content string) string { return content }
	for _, key := range []func(file, content string) string{
		func(file, content string) string { return path.Base(file) + "\x00" + content }, contentOf,
	} {
		byContent := groupFiles(news, key)
		for k, all := range groupFiles(olds, key) {
			for i := range min(len(all), len(byContent[k])) { // files of a renamed directory stay in order
				take(all[i], byContent[k][i])
			}
		}
	}
	for _, key := range []func(file, _ string) string{
		func(file, _ string) string { return path.Base(file) }, func(string, string) string { return "" },
	} {
		var similar []similarFiles
		byKey := groupFiles(news, key)
		for k, all := range groupFiles(olds, key) {
			if len(all)*len(byKey[k]) > maxPairs {
				tooMany = true
				continue
			}
			similar = append(similar, compareFiles(all, byKey[k], olds, news)...)
		}
		slices.SortFunc(similar, func(a, b similarFiles) int {
			return cmp.Or(cmp.Compare(b.percent, a.percent), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
		})
		for _, s := range similar {
			if olds[s.from] != "" && news[s.to] != "" {
				take(s.from, s.to)
			}
		}
	}
	return renames, tooMany
}

func groupFiles(contents map[string]string, key func(file, content string) string) map[string][]string {
	groups := map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(contents)) {
		k := key(file, contents[file])
		groups[k] = append(groups[k], file)
	}
	return groups
}

type similarFiles struct {
	from, to string
	percent  int // percentage of the larger one that is in both
}

func compareFiles(from, to []string, olds, news map[string]string) (similar []similarFiles) {
	chunks := map[string]map[string]int{}
	for _, file := range to {
		chunks[file] = chunksOf(news[file])
	}
	for _, old := range from {
		before := chunksOf(olds[old])
		for _, file := range to {
			same := 0
			for chunk, n := range chunks[file] {
				same += min(n, before[chunk])
			}
			if p := same * 100 / max(len(olds[old]), len(news[file])); p >= alike {
				similar = append(similar, similarFiles{old, file, p})
			}
		}
	}
	return similar
}

// chunksOf returns the number of bytes in each distinct line of a content; a longer line counts in pieces of 64 bytes,
// as in git.
func chunksOf(content string) map[string]int {
	const longest = 64
	sizes := map[string]int{}
	for len(content) > 0 {
		n := min(longest, len(content))
		if end := strings.IndexByte(content[:n], '\n'); end >= 0 {
			n = end + 1
		}
		sizes[content[:n]] += n
		content = content[n:]
	}
	return sizes
}
