package allowance

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A history is a list of commits, each with its parents, which come before it.
type history []commit

type commit struct {
	snapshot
	parents []int
}

// ancestors returns the commits that one contains, itself included.
func (h history) ancestors(i int) map[int]bool {
	all := map[int]bool{i: true}
	for _, p := range h[i].parents {
		for a := range h.ancestors(p) {
			all[a] = true
		}
	}
	return all
}

// mergeBases returns the common ancestors that no other common ancestor contains.
func (h history) mergeBases(a, b int) []int {
	of := h.ancestors(b)
	var common, best []int
	for i := range h.ancestors(a) {
		if of[i] {
			common = append(common, i)
		}
	}
	slices.Sort(common)
	for _, i := range common {
		if !slices.ContainsFunc(common, func(k int) bool { return k != i && h.ancestors(k)[i] }) {
			best = append(best, i)
		}
	}
	return best
}

const today = "2027-02-01"

func (h history) scene(base, head int) scene {
	sc := scene{day: today, base: h[base].snapshot, head: h[head].snapshot}
	for _, m := range h.mergeBases(base, head) {
		sc.mergeBases = append(sc.mergeBases, h[m].snapshot)
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

// full returns the rules and files that fail a full scan of a snapshot.
func (s snapshot) full() []string {
	b := Whole(s.entries, today)
	var all []string
	for _, v := range s.rules {
		for _, name := range everyFile {
			n := v.count(s, name)
			d := b.Decide(Query{
				Rule: v.id, Never: v.never, File: name, Count: func(string) Counts { return Counts{Now: n, Unknown: s.files[name].broken} },
			})
			if (n > 0 || s.files[name].broken) && d.Denial != nil {
				all = append(all, v.id+" in "+name)
			}
		}
	}
	return all
}

// total returns the number of a rule's occurrences in a snapshot.
func (s snapshot) total(v version) int {
	n := 0
	for name := range s.files {
		n += v.count(s, name)
	}
	return n
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

// tighten lowers the entries of a file to the occurrences, and removes those without any; exceptions stay.
func (s *snapshot) tighten(name string) {
	var kept []Entry
	for _, e := range s.entries {
		if e.File == name && !e.MayGrow {
			n := 0
			for _, v := range s.rules {
				if v.id == e.Rule {
					n = max(n, v.count(*s, name))
				}
			}
			if e.AtMost == 0 {
				kept = append(kept, e)
				continue
			}
			if e.AtMost = min(e.AtMost, n); n == 0 {
				continue
			}
		}
		kept = append(kept, e)
	}
	s.entries = kept
}

// snug gives each file an entry for each rule's occurrences.
func (s *snapshot) snug() {
	for _, v := range s.rules {
		for _, name := range files {
			if n := v.count(*s, name); n > 0 {
				s.entries = append(s.entries, Entry{Rule: v.id, File: name, AtMost: n, Owner: "o", Reason: "r"})
			}
		}
	}
}

// move makes entries for occurrences of a file that were in others: each keeps the sources of theirs.
func (s *snapshot) move(to string, from ...string) {
	for _, v := range s.rules {
		n := v.count(*s, to)
		if n == 0 {
			continue
		}
		e := Entry{Rule: v.id, File: to, AtMost: n, Owner: "o", Reason: "r", From: slices.Clone(from)}
		for _, old := range s.entries {
			if old.Rule == v.id && (old.File == to || slices.Contains(from, old.File)) {
				e.From = append(e.From, old.From...)
			}
		}
		slices.Sort(e.From)
		e.From = slices.DeleteFunc(slices.Compact(e.From), func(f string) bool { return f == to })
		s.entries = slices.DeleteFunc(s.entries, func(old Entry) bool { return old.Rule == v.id && old.File == to })
		s.entries = append(s.entries, e)
	}
}

func (s *snapshot) drop(name string) {
	delete(s.files, name)
	s.entries = slices.DeleteFunc(s.entries, func(e Entry) bool { return e.File == name })
}

// The actions of a commit.
type allows struct{ rules, grow, loosen, forget, broken bool }

// act does one typical action of a user.
func act(t *rapid.T, s *snapshot, can allows) {
	name := rapid.SampledFrom(files).Draw(t, "name")
	other := rapid.SampledFrom(files).Draw(t, "other")
	f := s.files[name]
	half := len(f.tokens) / 2
	entry := -1
	if len(s.entries) > 0 {
		entry = rapid.IntRange(0, len(s.entries)-1).Draw(t, "entry")
	}
	what := rapid.SampledFrom([]string{
		"format", "fix", "fix", "break", "add", "rename", "rename", "rename in silence", "split", "split", "swap", "copy",
		"copy with from", "join", "tighten", "delete", "from", "no from", "entry", "raise", "remove entry", "twice", "exception",
		"end", "rule", "move back", "withdraw",
	}).Draw(t, "what")
	_, there := s.files[name]
	if !there && !slices.Contains([]string{"from", "no from", "entry", "raise", "remove entry", "twice", "exception", "end", "rule", "withdraw"}, what) {
		s.files[name] = file{tokens: rapid.SampledFrom(tokens).Draw(t, "new")}
		return
	}
	switch what {
	case "format":
		f.layout++
		s.files[name] = f
	case "fix":
		f.tokens = f.tokens[min(1, len(f.tokens)):]
		s.files[name] = f
		if rapid.Bool().Draw(t, "tighten") {
			s.tighten(name)
		}
	case "break":
		if can.broken {
			f.broken = !f.broken
			s.files[name] = f
		}
	case "add":
		f.tokens += rapid.SampledFrom([]string{"x", "y"}).Draw(t, "token")
		s.files[name] = f
	case "rename":
		if name != other {
			s.files[other] = f
			s.move(other, name)
			s.drop(name)
		}
	case "rename in silence":
		if name != other {
			s.files[other] = f
			delete(s.files, name)
		}
	case "split":
		if name != other {
			was := s.files[other].tokens
			s.files[name], s.files[other] = file{tokens: f.tokens[half:]}, file{tokens: f.tokens[:half] + was}
			s.move(other, name)
			s.tighten(name)
		}
	case "swap":
		if name != other {
			s.files[name], s.files[other] = s.files[other], f
			s.move(other, name)
			s.move(name, other)
		}
	case "copy":
		s.files[other] = f
	case "copy with from":
		if name != other {
			s.files[other] = f
			s.move(other, name)
		}
	case "join":
		if name != other {
			s.files[other] = file{tokens: f.tokens + s.files[other].tokens}
			s.move(other, name)
			s.drop(name)
		}
	case "tighten":
		s.tighten(name)
	case "delete":
		s.drop(name)
	case "withdraw":
		if entry >= 0 && can.forget {
			s.entries[entry] = withdrawn(s.entries[entry])
		}
	case "from":
		if entry >= 0 && s.entries[entry].AtMost > 0 && s.entries[entry].File != name {
			from := append(s.entries[entry].From, name)
			slices.Sort(from)
			s.entries[entry].From = slices.Compact(from)
		}
	case "no from":
		if entry >= 0 && can.forget {
			s.entries[entry].From = nil
		}
	case "entry":
		if can.loosen {
			e := drawEntry(t)
			e.MayGrow = e.MayGrow && can.grow
			s.entries = append(s.entries, e)
		}
	case "raise":
		if entry >= 0 && can.loosen {
			s.entries[entry].AtMost++
		}
	case "remove entry":
		if entry >= 0 && can.forget {
			s.entries = slices.Delete(s.entries, entry, entry+1)
		}
	case "twice":
		if entry >= 0 {
			e := s.entries[entry]
			e.From = slices.Clone(e.From)
			e.AtMost = rapid.IntRange(min(1, e.AtMost), e.AtMost+1).Draw(t, "again")
			s.entries = append(s.entries, e)
		}
	case "exception":
		if entry >= 0 && can.grow && s.entries[entry].AtMost > 0 {
			s.entries[entry].MayGrow = !s.entries[entry].MayGrow
			s.entries[entry].AtMost += rapid.IntRange(0, 2).Draw(t, "more")
		}
	case "end":
		if entry >= 0 && can.loosen {
			s.entries[entry].Until = rapid.SampledFrom([]string{"", "2027-01-31", "2027-02-01"}).Draw(t, "until")
		}
	case "rule":
		if can.rules && len(s.rules) > 0 {
			i := rapid.IntRange(0, len(s.rules)-1).Draw(t, "rule")
			s.rules[i] = drawVersion(t, s.rules[i].id)
		}
	}
}

// start is a snapshot that breaks its rules, mostly with entries for all occurrences.
func start(t *rapid.T, can allows) snapshot {
	s := snapshot{files: map[string]file{}, rules: []version{{id: "X", tokens: "x"}, {id: "XY", tokens: "xy", not: "d"}}}
	for _, name := range files[:rapid.IntRange(1, len(files)).Draw(t, "files")] {
		s.files[name] = file{tokens: rapid.SampledFrom(tokens).Draw(t, "tokens")}
	}
	s.snug()
	if can.loosen {
		for range rapid.IntRange(0, 2).Draw(t, "acts at the start") {
			act(t, &s, can)
		}
	}
	return s
}

func child(t *rapid.T, s snapshot, can allows) snapshot {
	n := s.clone()
	for range rapid.IntRange(1, 3).Draw(t, "acts") {
		act(t, &n, can)
	}
	return n
}

// merge is a merge like git's, with the union driver for the entries; conflicts are settled at random. If both sides
// remove entries, which may be adjacent, the driver may restore all of them.
func merge(t *rapid.T, base, ours, theirs snapshot) snapshot {
	m := ours.clone()
	for _, name := range files {
		b, inBase := base.files[name]
		o, inOurs := ours.files[name]
		th, inTheirs := theirs.files[name]
		take := inOurs == inBase && o == b // only one side changed it
		if !take && (inTheirs != inBase || th != b) && (inTheirs != inOurs || th != o) {
			take = rapid.Bool().Draw(t, "theirs")
		}
		if !take {
			continue
		}
		delete(m.files, name)
		if inTheirs {
			m.files[name] = th
		}
	}
	texts := func(s snapshot) []string {
		var all []string
		for _, e := range s.entries {
			all = append(all, naiveText(e))
		}
		return all
	}
	inBase, inOurs, inTheirs := texts(base), texts(ours), texts(theirs)
	goneIn := func(now []string) bool {
		return slices.ContainsFunc(inBase, func(text string) bool { return !slices.Contains(now, text) })
	}
	if goneIn(inOurs) && goneIn(inTheirs) && rapid.Bool().Draw(t, "union of neighbours") {
		for _, e := range base.entries {
			if !slices.Contains(inOurs, naiveText(e)) {
				m.entries = append(m.entries, e)
			}
		}
	} else {
		m.entries = slices.DeleteFunc(m.entries, func(e Entry) bool {
			return slices.Contains(inBase, naiveText(e)) && !slices.Contains(inTheirs, naiveText(e))
		})
	}
	for _, e := range theirs.entries {
		if text := naiveText(e); !slices.Contains(inBase, text) && !slices.Contains(inOurs, text) {
			m.entries = append(m.entries, e)
		}
	}
	for i := range m.rules {
		if m.rules[i] == base.rules[i] {
			m.rules[i] = theirs.rules[i]
		}
	}
	return m
}

// drawHistory draws a few commits, some of them merges.
func drawHistory(t *rapid.T, can allows) history {
	h := history{{snapshot: start(t, can)}}
	for range rapid.IntRange(1, 7).Draw(t, "commits") {
		a := rapid.IntRange(max(0, len(h)-3), len(h)-1).Draw(t, "parent")
		b := rapid.IntRange(0, len(h)-1).Draw(t, "merged")
		if rapid.IntRange(0, 2).Draw(t, "merge") == 0 && !h.ancestors(a)[b] && !h.ancestors(b)[a] {
			m := h[h.mergeBases(a, b)[0]].snapshot
			h = append(h, commit{merge(t, m, h[a].snapshot, h[b].snapshot), []int{a, b}})
			continue
		}
		h = append(h, commit{child(t, h[a].snapshot, can), []int{a}})
	}
	return h
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

func (h history) String() string {
	var b strings.Builder
	for i, c := range h {
		fmt.Fprintf(&b, "\n  %d from %v: %s", i, c.parents, c.snapshot)
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
