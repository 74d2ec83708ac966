package allowance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A naive implementation of the manual's text, which sees the snapshots side by side. It shares only the entries with
// the package.
//
// A snapshot is the state of a repository: the tokens of each file, and the bundle.

// A snapshot is a state of a repository: how many of each token a file has, and the bundle.
type snapshot struct {
	files   map[string]file
	rules   []version
	entries []Entry
}

// A file's text is its tokens and its layout.
type file struct {
	tokens string // each character is an occurrence of that token
	layout int
	broken bool // it cannot be parsed, so that nothing in it counts
}

// A version is one bundle's version of a rule.
type version struct {
	id     string
	tokens string // that it forbids
	not    string // the files that it does not select
	never  bool
}

func (v version) count(s snapshot, name string) int {
	f, there := s.files[name]
	if !there || f.broken || strings.Contains(v.not, name) {
		return 0
	}
	n := 0
	for _, t := range f.tokens {
		if strings.ContainsRune(v.tokens, t) {
			n++
		}
	}
	return n
}

const today = "2027-02-01"

// A scene is a change: its references, and its result.
type scene struct {
	day        string
	base, head snapshot
	mergeBases []snapshot
	outside    []version // rules that the change cannot touch
	lent       []Entry   // and their bundle's allowances
}

func (sc scene) list(s snapshot) []Entry { return append(slices.Clone(s.entries), sc.lent...) }

func naiveEntries(list []Entry, rule, name string) []Entry {
	var of []Entry
	for _, e := range list {
		if e.Rule == rule && e.File == name {
			of = append(of, e)
		}
	}
	return of
}

func naiveOver(list []Entry, rule, name, day string) bool {
	for _, e := range naiveEntries(list, rule, name) {
		if e.Until != "" && e.Until < day {
			return true
		}
	}
	return false
}

func naiveNumber(list []Entry, rule, name, day string) int {
	of := naiveEntries(list, rule, name)
	if len(of) == 0 || naiveOver(list, rule, name, day) {
		return 0
	}
	least := of[0].AtMost
	for _, e := range of {
		if e.AtMost < least {
			least = e.AtMost
		}
	}
	return least
}

func naiveMayGrow(list []Entry, rule, name, day string) bool {
	of := naiveEntries(list, rule, name)
	for _, e := range of {
		if !e.MayGrow {
			return false
		}
	}
	return len(of) > 0 && !naiveOver(list, rule, name, day)
}

func naiveText(e Entry) string {
	from := slices.Sorted(slices.Values(e.From))
	return fmt.Sprint(e.Rule, "|", e.File, "|", e.AtMost, "|", e.Owner, "|", e.Reason, "|", e.Until, "|", from, "|",
		e.MayGrow)
}

// naiveJoined starts with the file, and repeatedly adds files that a new or changed entry joins.
func naiveJoined(sc scene, rule, name string) []string {
	base, head := sc.list(sc.base), sc.list(sc.head)
	exception := func(f string) bool {
		for _, e := range append(naiveEntries(base, rule, f), naiveEntries(head, rule, f)...) {
			if e.MayGrow {
				return true
			}
		}
		return false
	}
	var joining []Entry
	for _, e := range head {
		isNew := e.Rule == rule
		for _, s := range append([]snapshot{sc.base}, sc.mergeBases...) {
			for _, old := range sc.list(s) {
				if naiveText(old) == naiveText(e) {
					isNew = false
				}
			}
		}
		if isNew && !naiveOver(head, rule, e.File, sc.day) {
			joining = append(joining, e)
		}
	}
	together := []string{name}
	for again := true; again; {
		again = false
		for _, e := range joining {
			for _, from := range e.From {
				if exception(e.File) || exception(from) {
					continue
				}
				a, b := slices.Contains(together, e.File), slices.Contains(together, from)
				switch {
				case a && !b:
					together, again = append(together, from), true
				case b && !a:
					together, again = append(together, e.File), true
				}
			}
		}
	}
	return together
}

// naiveAllowed: base and head are the sides that have the rule.
func naiveAllowed(sc scene, v version, base, head bool, name string) bool {
	if v.never {
		return false
	}
	now := v.count(sc.head, name)
	baseList, headList := sc.list(sc.base), sc.list(sc.head)
	together := naiveJoined(sc, v.id, name)
	ownNumber := now <= naiveNumber(headList, v.id, name, sc.day)
	sumNow, sumNumber := 0, 0
	for _, f := range together {
		if sc.head.files[f].broken && !strings.Contains(v.not, f) {
			return false
		}
		sumNow += v.count(sc.head, f)
		sumNumber += naiveNumber(baseList, v.id, f, sc.day)
	}
	grown := false
	for _, s := range append([]snapshot{sc.base}, sc.mergeBases...) {
		sum := 0
		for _, f := range together {
			sum += v.count(s, f)
		}
		if sumNow > sum {
			grown = true
		}
	}
	if len(together) > 1 && !ownNumber {
		return false
	}
	if base && (sumNow > sumNumber || grown && !naiveMayGrow(baseList, v.id, name, sc.day)) {
		return false
	}
	mayGrow := naiveMayGrow(headList, v.id, name, sc.day) && naiveMayGrow(baseList, v.id, name, sc.day)
	if head && (!ownNumber || grown && !mayGrow) {
		return false
	}
	return true
}

// enforced returns the rules of a scene, each with its sides.
func (sc scene) enforced(each func(v version, base, head bool)) {
	for _, v := range sc.outside {
		each(v, true, true)
	}
	for _, v := range sc.base.rules {
		each(v, true, slices.Contains(sc.head.rules, v))
	}
	for _, v := range sc.head.rules {
		if !slices.Contains(sc.base.rules, v) {
			each(v, false, true)
		}
	}
}

// book returns the package's list for a scene.
func (sc scene) book() *List {
	c := Comparison{Day: sc.day, Base: sc.list(sc.base), Head: sc.list(sc.head)}
	isBase := false
	for i, s := range sc.mergeBases {
		same := naiveSame(s, sc.base)
		isBase = isBase || same
		c.MergeBases = append(c.MergeBases, sc.list(s))
		c.References = append(c.References, Reference{Name: fmt.Sprint("m", i), MergeBase: true, Base: same})
	}
	if !isBase {
		c.References = append(c.References, Reference{Name: "b", Base: true})
	}
	return Compare(c)
}

func naiveSame(a, b snapshot) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// question returns the query for a file.
func (sc scene) question(v version, base, head bool, name string) Query {
	states := slices.Clone(sc.mergeBases)
	if !slices.ContainsFunc(states, func(s snapshot) bool { return naiveSame(s, sc.base) }) {
		states = append(states, sc.base)
	}
	return Query{
		Rule: v.id, Base: base, Head: head, Never: v.never, File: name,
		Moved: func(string) bool { return true },
		Count: func(f string) Counts {
			c := Counts{Now: v.count(sc.head, f), Unknown: sc.head.files[f].broken && !strings.Contains(v.not, f)}
			for _, s := range states {
				past := Count{Count: v.count(s, f)}
				switch old, there := s.files[f]; {
				case !there:
					past.Reason = Missing
				case strings.Contains(v.not, f):
					past.Reason = NotSelected
				case old.broken:
					past.Reason = Unparsed
				}
				c.Before = append(c.Before, past)
			}
			return c
		},
	}
}

var (
	files     = []string{"a", "b", "c", "d"}
	everyFile = []string{"a", "a.yaml", "b", "b.yaml", "c", "c.yaml", "d", "d.yaml",
		"new"} // all file names in the tests
	tokens = []string{"", "x", "y", "xx", "xy", "xxx", "xxyy"}
)

func drawEntry(t *rapid.T) Entry {
	name := rapid.SampledFrom(files).Draw(t, "file")
	e := Entry{
		Rule: rapid.SampledFrom([]string{"X", "XY"}).Draw(t, "rule"), File: name,
		AtMost: rapid.IntRange(1, 4).Draw(t, "at most"), Owner: "o", Reason: "r",
		Until:   rapid.SampledFrom([]string{"", "", "", "2027-01-01", "2027-03-01", "2028-01-01"}).Draw(t, "until"),
		MayGrow: rapid.IntRange(0, 4).Draw(t, "may grow") == 0,
	}
	for _, f := range files {
		if f != name && rapid.IntRange(0, 3).Draw(t, "from") == 0 {
			e.From = append(e.From, f)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "withdraw") == 0 {
		e = withdrawn(e)
	}
	return e
}

// withdrawn returns the entry that withdraws one.
func withdrawn(e Entry) Entry {
	e.AtMost, e.From, e.MayGrow = 0, nil, false
	return e
}

func drawVersion(t *rapid.T, id string) version {
	return version{
		id: id, tokens: rapid.SampledFrom([]string{"x", "xy"}).Draw(t, "forbids"),
		not:   rapid.SampledFrom([]string{"", "", "", "a", "bc"}).Draw(t, "not"),
		never: rapid.IntRange(0, 9).Draw(t, "never") == 0,
	}
}

func drawSnapshot(t *rapid.T) snapshot {
	s := snapshot{files: map[string]file{}}
	for _, f := range files {
		if rapid.IntRange(0, 3).Draw(t, "there") > 0 {
			s.files[f] = file{
				tokens: rapid.SampledFrom(tokens).Draw(t, "tokens"),
				broken: rapid.IntRange(0, 9).Draw(t, "broken") == 0,
			}
		}
	}
	for _, id := range []string{"X", "XY"} {
		if rapid.IntRange(0, 3).Draw(t, "has rule") > 0 {
			s.rules = append(s.rules, drawVersion(t, id))
		}
	}
	s.entries = rapid.SliceOfN(rapid.Custom(drawEntry), 0, 5).Draw(t, "entries")
	return s
}

// near changes a little of a snapshot, so that most scenes have similar snapshots.
func near(t *rapid.T, s snapshot) snapshot {
	n := snapshot{files: map[string]file{}, rules: slices.Clone(s.rules), entries: slices.Clone(s.entries)}
	for k, f := range s.files {
		n.files[k] = f
	}
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		name := rapid.SampledFrom(files).Draw(t, "name")
		switch rapid.IntRange(0, 6).Draw(t, "what") {
		case 0:
			n.files[name] = file{tokens: rapid.SampledFrom(tokens).Draw(t, "tokens")}
		case 1:
			delete(n.files, name)
		case 2: // moved
			other := rapid.SampledFrom(files).Draw(t, "other")
			if f, there := n.files[name]; there {
				delete(n.files, name)
				n.files[other] = f
			}
		case 3:
			n.entries = append(n.entries, drawEntry(t))
		case 4, 5:
			if len(n.entries) > 0 {
				i := rapid.IntRange(0, len(n.entries)-1).Draw(t, "entry")
				if rapid.Bool().Draw(t, "drop") {
					n.entries = slices.Delete(n.entries, i, i+1)
				} else {
					n.entries[i].AtMost = rapid.IntRange(1, 4).Draw(t, "number")
				}
			}
		case 6:
			if len(n.rules) > 0 {
				i := rapid.IntRange(0, len(n.rules)-1).Draw(t, "rule")
				n.rules[i] = drawVersion(t, n.rules[i].id)
			}
		}
	}
	return n
}

func drawScene(t *rapid.T) scene {
	sc := scene{day: today}
	root := drawSnapshot(t)
	for range rapid.IntRange(1, 2).Draw(t, "merge bases") {
		sc.mergeBases = append(sc.mergeBases, near(t, root))
	}
	sc.base = sc.mergeBases[0]
	if rapid.Bool().Draw(t, "behind") {
		sc.base = near(t, sc.base)
	}
	sc.head = near(t, sc.mergeBases[0])
	if rapid.IntRange(0, 3).Draw(t, "outside") == 0 {
		sc.outside = []version{drawVersion(t, "X")}
		sc.lent = rapid.SliceOfN(rapid.Custom(drawEntry), 0, 2).Draw(t, "lent")
	}
	return sc
}

// judged returns the files of the change; touched are the ones that are included because of their allowances.
func (sc scene) judged(touched []string) []string {
	all := slices.Clone(touched)
	for _, name := range everyFile {
		now, there := sc.head.files[name]
		for _, m := range sc.mergeBases {
			if was, known := m.files[name]; known != there || was != now {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// refused returns the rules and files whose occurrences fail the change; it passes without any.
func (sc scene) refused() []string {
	b := sc.book()
	var all []string
	sc.enforced(func(v version, base, head bool) {
		for _, name := range sc.judged(b.AffectedFiles()) {
			if v.count(sc.head, name) == 0 && !sc.head.files[name].broken {
				continue
			}
			if d := b.Decide(sc.question(v, base, head, name)); d.Denial != nil {
				all = append(all, fmt.Sprintf("%s in %s: %d %+v", v.id, name, d.Denial.Kind, *d.Denial))
			}
		}
	})
	return all
}

func (s snapshot) clone() snapshot {
	n := snapshot{files: map[string]file{}, rules: slices.Clone(s.rules)}
	for k, f := range s.files {
		n.files[k] = f
	}
	for _, e := range s.entries {
		e.From = slices.Clone(e.From)
		n.entries = append(n.entries, e)
	}
	return n
}

func (s snapshot) String() string {
	var b strings.Builder
	for _, name := range files {
		if f, there := s.files[name]; there {
			fmt.Fprintf(&b, "%s=%q", name, f.tokens)
			if f.layout > 0 {
				fmt.Fprintf(&b, "~%d", f.layout)
			}
			if f.broken {
				b.WriteString("!")
			}
			b.WriteString(" ")
		}
	}
	for _, v := range s.rules {
		fmt.Fprintf(&b, "%s(%s-%s,%t) ", v.id, v.tokens, v.not, v.never)
	}
	for _, e := range s.entries {
		b.WriteString("\n      " + naiveText(e))
	}
	return b.String()
}

func (sc scene) String() string {
	s := fmt.Sprintf("\n  base %s", sc.base)
	for _, m := range sc.mergeBases {
		s += fmt.Sprintf("\n  merge base %s", m)
	}
	return s + fmt.Sprintf("\n  head %s", sc.head)
}

// compare compares the package with the naive evaluation, and returns the number of allowed and of joined files.
func (sc scene) compare(t *rapid.T) (allowed, joined int) {
	book := sc.book()
	sc.enforced(func(v version, base, head bool) {
		for _, name := range files {
			n := v.count(sc.head, name)
			if n == 0 {
				continue
			}
			d := book.Decide(sc.question(v, base, head, name))
			want := naiveAllowed(sc, v, base, head, name)
			if got := d.Denial == nil; got != want {
				t.Fatalf("%v in %s, base %t, head %t: allowed %t, want %t%s", v, name, base, head, got, want, sc)
			}
			if (d.Limit != nil) != want || want && (d.Limit.Expired || d.Limit.AtMost < n) {
				t.Fatalf("%v in %s: signed %+v, which does not allow %d%s", v, name, d.Limit, n, sc)
			}
			together := naiveJoined(sc, v.id, name)
			slices.Sort(together)
			if got := book.groups.of(v.id, name); !slices.Equal(got, together) {
				t.Fatalf("%s of %s joined with %v, want %v%s", name, v.id, got, together, sc)
			}
			if want {
				allowed++
				if len(together) > 1 {
					joined++
				}
			}
		}
	})
	return allowed, joined
}

// TestDecideIsNaive: the package decides like the naive evaluation, for unrelated snapshots.
func TestDecideIsNaive(t *testing.T) {
	allowed := 0
	rapid.Check(t, func(t *rapid.T) {
		a, _ := drawScene(t).compare(t)
		allowed += a
	})
	if allowed == 0 {
		t.Errorf("%d were allowed: the scenes show nothing", allowed)
	}
}

// TestNeverMore: a change that passes leaves no rule with more occurrences in a file, or group, than before, except
// for exceptions of the base.
func TestNeverMore(t *testing.T) {
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScene(t)
		if sc.refused() != nil {
			return
		}
		passed++
		b := sc.book()
		sc.enforced(func(v version, base, head bool) {
			for _, name := range sc.judged(b.AffectedFiles()) {
				if v.count(sc.head, name) == 0 || naiveMayGrow(sc.base.entries, v.id, name, today) {
					continue
				}
				together := naiveJoined(sc, v.id, name)
				for _, s := range append(slices.Clone(sc.mergeBases), sc.base) {
					now, was := 0, 0
					for _, f := range together {
						now, was = now+v.count(sc.head, f), was+v.count(s, f)
					}
					if now > was {
						t.Fatalf("%s in %v: %d, before %d%s", v.id, together, now, was, sc)
					}
				}
			}
		})
	})
	if passed == 0 {
		t.Errorf("%d changes passed: the scenes show nothing", passed)
	}
}

// TestOwnAllowance: an entry that a change adds or raises, without a "from", does not affect the base's rules.
func TestOwnAllowance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScene(t)
		more := sc
		more.head = sc.head.clone()
		if len(more.head.entries) > 0 && rapid.Bool().Draw(t, "raise") {
			e := &more.head.entries[rapid.IntRange(0, len(more.head.entries)-1).Draw(t, "entry")]
			if len(e.From) > 0 {
				return
			}
			e.AtMost += rapid.IntRange(1, 9).Draw(t, "by")
		} else {
			e := drawEntry(t)
			e.From, e.MayGrow = nil, false
			more.head.entries = append(more.head.entries, e)
		}
		b, after := sc.book(), more.book()
		for _, v := range sc.base.rules {
			for _, name := range files {
				if v.count(sc.head, name) == 0 || b.Joined(v.id, name) != nil {
					continue
				}
				was := b.Decide(sc.question(v, true, false, name)).Denial == nil
				now := after.Decide(more.question(v, true, false, name)).Denial == nil
				if now != was {
					t.Fatalf("%s in %s was %t, is %t%s\n  more %s", v.id, name, was, now, sc, more.head)
				}
			}
		}
	})
}
