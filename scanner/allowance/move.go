package allowance

import (
	"maps"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// move lets files have what the entries of others no longer need, where content shows that it went there.
func (t *tightener) move(v *verdict.Verdict, p *History) error {
	if p.repo == nil || len(t.spare) == 0 {
		return nil
	}
	all, err := t.renames(p)
	if err != nil {
		return err
	}
	of := map[string][]pair{} // by file
	for _, from := range t.sparePairs() {
		of[from.file] = append(of[from.file], from)
	}
	for _, r := range all {
		for _, from := range of[r.from] {
			t.rename(from, pair{from.rule, r.to})
		}
	}
	skipped, err := t.moveLines(v, p)
	if skipped {
		p.note = "there are too many files to look for the lines that went from one to another; an entry may be " +
			"missing (run this after each step, or write it by hand)"
	}
	return err
}

// sparePairs are those that have something to give, in order.
func (t *tightener) sparePairs() []pair {
	return slices.SortedFunc(maps.Keys(t.spare), pair.compare)
}

// need is how many occurrences of a file no entry lets it have.
func (t *tightener) need(p pair) int { return max(0, int(min(t.there[p], maxNumber))-t.number(p)) }

// renames returns the renames that matter: of files with entries that are gone, to new ones in which the same rules
// occur.
func (t *tightener) renames(p *History) ([]rename, error) {
	gone, back := map[string]bool{}, map[string]string{}
	concerned := map[string]bool{} // the rules
	for _, from := range t.sparePairs() {
		if t.there[from] > 0 || !p.gone(from.file) {
			continue
		}
		gone[from.file], concerned[from.rule] = true, true
		for _, e := range t.byPair[from] {
			for _, f := range e.before.From {
				if t.need(pair{from.rule, f}) > 0 && back[from.file] == "" {
					back[from.file] = f // it has its old name again
				}
			}
		}
	}
	isNew := map[string]bool{}
	for to := range t.there {
		if !concerned[to.rule] || isNew[to.file] || to.file == "" {
			continue
		}
		is, err := p.isNew(to.file)
		if err != nil {
			return nil, err
		}
		if is {
			isNew[to.file] = true
		}
	}
	var all []rename
	for from, to := range back {
		if !isNew[to] {
			all = append(all, rename{from, to, 100})
			delete(gone, from)
		}
	}
	slices.SortFunc(all, rename.best)
	r, err := t.newRenameDetector(p, slices.Collect(maps.Keys(gone)), slices.Collect(maps.Keys(isNew)))
	if err != nil {
		return nil, err
	}
	return append(all, r.renames()...), nil
}

// rename lets a file have what the entries of its old path let that have.
func (t *tightener) rename(from, to pair) {
	if t.there[to] == 0 || !t.movable(to) {
		return
	}
	if n := min(t.spare[from], t.need(to)); n > 0 {
		t.transfer([]pair{from, to}, n)
	} else if t.number(to) > 0 {
		t.join(from, to)
	}
}
