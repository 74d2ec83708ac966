package allowance

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// Lines are how often each line occurs, without spaces and tabs.
type lines map[string]int

var withoutBlanks = strings.NewReplacer(" ", "", "\t", "", "\r", "")

func linesOf(content []byte) lines {
	all := lines{}
	for line := range strings.SplitSeq(string(content), "\n") {
		all[withoutBlanks.Replace(line)]++
	}
	return all
}

// minus returns the lines that are more often in l than in o.
func (l lines) minus(o lines) lines {
	more := lines{}
	for line, n := range l {
		if n -= o[line]; n > 0 {
			more[line] = n
		}
	}
	return more
}

// raise makes each line occur at least as often as in o.
func (l lines) raise(o lines) {
	for line, n := range o {
		l[line] = max(l[line], n)
	}
}

// A lineKey is a line in which a rule occurs, without spaces and tabs.
type lineKey struct {
	text   string
	places int // how often
}

// A lineMoves is where lines of files went.
type lineMoves struct {
	*tightener
	past         *History
	places       map[pair]map[int64]int // how often a rule occurs in a line
	spots        map[pair][]lineKey
	lost, gained map[string]lines // of each file
	room         map[[2]pair]int  // how many occurrences of the second file can be from the first
	err          error
}

// maxThrough is how many files of a rule are looked at for what went from file to file to file.
const maxThrough = 300

// moveLines lets files have the occurrences whose lines are gone from others. It reports whether there were too many
// files to compare.
func (t *tightener) moveLines(v *verdict.Verdict, p *History) (skipped bool, err error) {
	f := &lineMoves{
		tightener: t, past: p, places: placesOf(v), spots: map[pair][]lineKey{},
		lost: map[string]lines{}, gained: map[string]lines{}, room: map[[2]pair]int{},
	}
	needs := map[string][]pair{}
	for to := range t.there {
		if to.file != "" && t.movable(to) && t.need(to) > 0 {
			needs[to.rule] = append(needs[to.rule], to)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(needs)) {
		var giving, others []pair // others are what a giving file's occurrences may have taken the place of
		for from := range t.byPair {
			switch {
			case from.rule != rule:
			case t.spare[from] > 0:
				giving = append(giving, from)
			case t.movable(from) && t.number(from) > 0 && t.byPair[from][0].before.AtMost > 0:
				others = append(others, from)
			}
		}
		if len(giving) == 0 {
			continue
		}
		slices.SortFunc(needs[rule], pair.compare)
		if f.fill(needs[rule], giving) {
			skipped = true
		} else if slices.ContainsFunc(needs[rule], func(to pair) bool { return t.need(to) > 0 }) &&
			len(giving)+len(others) <= maxThrough {
			f.fill(needs[rule], append(giving, others...))
		}
	}
	return skipped, f.err
}

// placesOf returns in which lines each rule occurs.
func placesOf(v *verdict.Verdict) map[pair]map[int64]int {
	all := map[pair]map[int64]int{}
	count := func(o *verdict.Violation) {
		p := pair{o.RuleID, o.File}
		if all[p] == nil {
			all[p] = map[int64]int{}
		}
		for i := range o.Evidence.Places {
			all[p][o.Evidence.Places[i].Line]++
		}
	}
	for i := range v.Violations {
		count(&v.Violations[i])
	}
	for i := range v.AllowedViolations {
		count(&v.AllowedViolations[i].Violation)
	}
	return all
}

// fill lets files have what came to them from some others, or through them. It reports whether they were too many.
func (f *lineMoves) fill(to, from []pair) (skipped bool) {
	if len(from)*len(to) > maxPairs {
		return true
	}
	for _, one := range to {
		for f.need(one) > 0 {
			way := f.way(one, from)
			if way == nil {
				break
			}
			n := min(f.spare[way[0]], f.need(one))
			for i := range way[1:] {
				n = min(n, f.capacity(way[i], way[i+1]))
			}
			for i := range way[1:] {
				f.room[[2]pair{way[i], way[i+1]}] -= n
			}
			f.transfer(way, n)
		}
	}
	return false
}

// way returns the shortest way on which a file that has something to give gave it to another one, both included; nil
// if there is none.
func (f *lineMoves) way(to pair, from []pair) []pair {
	next := map[pair]pair{to: to}
	for queue := []pair{to}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		near := slices.DeleteFunc(slices.Clone(from), func(p pair) bool {
			_, known := next[p]
			return known || f.capacity(p, at) == 0
		})
		slices.SortFunc(near, func(a, b pair) int {
			return cmp.Or(cmp.Compare(f.capacity(b, at), f.capacity(a, at)),
				cmp.Compare(otherBase(a.file, at.file), otherBase(b.file, at.file)), cmp.Compare(a.file, b.file))
		})
		for _, p := range near {
			next[p] = at
			switch {
			case f.spare[p] > 0:
			case len(from) <= maxThrough:
				queue = append(queue, p)
				continue
			default:
				continue
			}
			way := []pair{p}
			for p != to {
				p = next[p]
				way = append(way, p)
			}
			return way
		}
	}
	return nil
}

// otherBase orders paths with the same base name first.
func otherBase(a, b string) int {
	if path.Base(a) == path.Base(b) {
		return 0
	}
	return 1
}

// capacity says how many of the occurrences of a file can be from another one: their lines are new in it, and gone from
// the other.
func (f *lineMoves) capacity(from, to pair) int {
	if from.file == to.file {
		return 0
	}
	key := [2]pair{from, to}
	if n, known := f.room[key]; known {
		return n
	}
	f.read(from.file)
	f.read(to.file)
	f.find(to)
	all := f.gained[to.file]
	if slices.Contains(f.origins[from.file], to.file) { // they came back, and are not new since the change began
		all = linesOf(f.past.contentNow(to.file))
	}
	lost, gained := lines{}, lines{}
	n := 0
	for _, s := range f.spots[to] {
		if lost[s.text] < f.lost[from.file][s.text] && gained[s.text] < all[s.text] {
			lost[s.text]++
			gained[s.text]++
			n += s.places
		}
	}
	f.room[key] = n
	return n
}

// read compares what a file has with what it had.
func (f *lineMoves) read(file string) {
	if _, known := f.lost[file]; known {
		return
	}
	now := linesOf(f.past.contentNow(file))
	before, err := f.past.contentBefore(file)
	f.fail(err)
	versions, err := f.past.versions(file)
	f.fail(err)
	most := lines{} // that it had at a time
	for _, content := range versions {
		most.raise(linesOf(content))
	}
	for _, from := range f.origins[file] { // it may have had them between two commits
		had, err := f.past.contentBefore(from)
		f.fail(err)
		most.raise(linesOf(had).minus(linesOf(f.past.contentNow(from))))
	}
	f.gained[file], f.lost[file] = now.minus(linesOf(before)), most.minus(now)
}

func (f *lineMoves) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// find returns the lines in which a rule occurs in a file, in their order.
func (f *lineMoves) find(to pair) {
	if _, known := f.spots[to]; known {
		return
	}
	split := strings.Split(string(f.past.contentNow(to.file)), "\n")
	all := []lineKey{}
	for _, line := range slices.Sorted(maps.Keys(f.places[to])) {
		if 1 <= line && line <= int64(len(split)) {
			all = append(all, lineKey{withoutBlanks.Replace(split[line-1]), f.places[to][line]})
		}
	}
	f.spots[to] = all
}
