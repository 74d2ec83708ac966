package allowance

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The laws of allowances, for all histories.

var anything = allows{rules: true, grow: true, loosen: true, forget: true, broken: true}

// pick is a change of a history: a base and a head.
func pick(t *rapid.T, h history) scene {
	base, head := rapid.IntRange(0, len(h)-1).Draw(t, "base"), rapid.IntRange(0, len(h)-1).Draw(t, "head")
	return h.scene(base, head)
}

// TestDecideIsNaiveInHistories: as [TestDecideIsNaive], of the changes of histories.
func TestDecideIsNaiveInHistories(t *testing.T) {
	allowed, joined := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t, anything)
		sc := pick(t, h)
		if got, want := sc.book().AffectedFiles(), sc.naiveTouched(); !slices.Equal(got, want) {
			t.Fatalf("touched %v, want %v%s", got, want, sc)
		}
		a, j := sc.compare(t)
		allowed, joined = allowed+a, joined+j
	})
	if allowed < 5 || joined == 0 {
		t.Errorf("%d were allowed, %d of them in groups: the scenes show nothing", allowed, joined)
	}
}

// TestNeverMore: a change that passes leaves no rule with more occurrences in a file, or group, than before, except
// for exceptions of the base.
func TestNeverMore(t *testing.T) {
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t, anything)
		sc := pick(t, h)
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
		t.Errorf("%d changes passed: the histories show nothing", passed)
	}
}

// TestOwnAllowance: an entry that a change adds or raises, without a "from", does not affect the base's rules.
func TestOwnAllowance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := pick(t, drawHistory(t, anything))
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

// TestFixAndTighten: removing an occurrence and tightening turns no PASS into FAIL, unless a file was over its number,
// the branch behind its base, or the emptied entry joined others.
func TestFixAndTighten(t *testing.T) {
	tried := 0
	can := anything
	can.rules = false
	rapid.Check(t, func(t *rapid.T) {
		sc := pick(t, drawHistory(t, can))
		if !sc.upToDate() || sc.base.full() != nil || sc.refused() != nil {
			return
		}
		name := rapid.SampledFrom(files).Draw(t, "fix")
		f := sc.head.files[name]
		if f.tokens == "" || f.broken {
			return
		}
		less := sc
		less.head = sc.head.clone()
		i := rapid.IntRange(0, len(f.tokens)-1).Draw(t, "token")
		f.tokens = f.tokens[:i] + f.tokens[i+1:]
		less.head.files[name] = f
		less.head.tighten(name)
		tried++
		if bad := less.refused(); bad != nil {
			t.Fatalf("%v%s\n  fixed %s", bad, sc, less.head)
		}
	})
	if tried == 0 {
		t.Errorf("%d changes were tried", tried)
	}
}

// upToDate reports whether the head contains the base.
func (sc scene) upToDate() bool {
	return len(sc.mergeBases) == 1 && naiveSame(sc.mergeBases[0], sc.base)
}

// TestMergeResult: with unchanged rules, if the base's full scan and a change that is up to date with it pass, the
// full scan after the change passes, too.
func TestMergeResult(t *testing.T) {
	tried := 0
	can := anything
	can.rules = false
	rapid.Check(t, func(t *rapid.T) {
		sc := pick(t, drawHistory(t, can))
		if !sc.upToDate() || sc.base.full() != nil || sc.refused() != nil {
			return
		}
		tried++
		if bad := sc.head.full(); bad != nil {
			t.Fatalf("%v%s", bad, sc)
		}
	})
	if tried == 0 {
		t.Errorf("%d changes were tried", tried)
	}
}

// TestChain: with unchanged rules, no chain of changes that pass on their merge results ends with more occurrences of
// a rule than it began with, whatever its entries are, except for exceptions.
func TestChain(t *testing.T) {
	for name, grow := range map[string]bool{"no exceptions": false, "exceptions": true} {
		t.Run(name, func(t *testing.T) {
			tried := 0
			rapid.Check(t, func(t *rapid.T) {
				can := allows{loosen: true, forget: true, grow: grow, broken: true}
				h := history{{snapshot: start(t, can)}}
				for range rapid.IntRange(1, 12).Draw(t, "changes") {
					last := len(h) - 1
					h = append(h, commit{child(t, h[last].snapshot, can), []int{last}})
					if h.scene(last, last+1).refused() != nil {
						h = h[:last+1]
					}
				}
				if len(h) > 2 {
					tried++
				}
				for _, v := range h[0].rules {
					first, last := h[0].total(v), h[len(h)-1].total(v)
					for i, c := range h {
						first += newExceptions(h, i, c, v.id)
					}
					if last > first {
						t.Fatalf("%s: %d, at first %d%s", v.id, last, first, h)
					}
				}
			})
			if tried == 0 {
				t.Errorf("%d chains were tried", tried)
			}
		})
	}
}

// newExceptions returns the number of occurrences of the rule that a commit's entries newly allow as exceptions.
func newExceptions(h history, i int, c commit, rule string) int {
	n := 0
	for _, name := range files {
		if !naiveMayGrow(c.entries, rule, name, today) {
			continue
		}
		number := naiveNumber(c.entries, rule, name, today)
		if i > 0 && naiveMayGrow(h[i-1].entries, rule, name, today) {
			number -= naiveNumber(h[i-1].entries, rule, name, today)
		}
		n += max(0, number)
	}
	return n
}

// TestBranch: with unchanged rules, if each commit of a branch passes, the branch does, unless an entry is added,
// raised or extended beyond the base's other than for "from", or drops a "from".
func TestBranch(t *testing.T) {
	tried := 0
	rapid.Check(t, func(t *rapid.T) {
		can := allows{}
		h := history{{snapshot: start(t, can)}}
		for range rapid.IntRange(2, 6).Draw(t, "commits") {
			last := len(h) - 1
			h = append(h, commit{child(t, h[last].snapshot, can), []int{last}})
			if h.scene(last, last+1).refused() != nil {
				h = h[:last+1]
			}
		}
		if len(h) < 3 {
			return
		}
		tried++
		if bad := h.scene(0, len(h)-1).refused(); bad != nil {
			t.Fatalf("%v%s", bad, h)
		}
	})
	if tried == 0 {
		t.Errorf("%d branches were tried", tried)
	}
}
