package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// A ruleGroup is a rule and what it found.
type ruleGroup struct {
	rule       *verdict.Rule
	violations []*verdict.Violation // introduced ones first, else in the verdict's order
	files      int
}

// ruleGroups returns the rules that are broken, those with new violations first, else in the order of their violations,
// and the others.
func ruleGroups(v *verdict.Verdict) (broken []*ruleGroup, held []*verdict.Rule) {
	type key struct{ id, kind, title string }
	unknown := map[key]*verdict.Rule{} // of a verdict that does not list its rules
	byRule := map[*verdict.Rule]*ruleGroup{}
	for i, r := range rulesOf(v) {
		x := &v.Violations[i]
		if r == nil {
			k := key{x.RuleID, x.RuleType, x.Title}
			if unknown[k] == nil {
				unknown[k] = &verdict.Rule{ID: x.RuleID, Type: x.RuleType, Title: x.Title}
			}
			r = unknown[k]
		}
		g := byRule[r]
		if g == nil {
			g = &ruleGroup{rule: r}
			byRule[r] = g
			broken = append(broken, g)
		}
		// Violations of a rule are in the order of their paths.
		if n := len(g.violations); x.File != "" && (n == 0 || g.violations[n-1].File != x.File) {
			g.files++
		}
		g.violations = append(g.violations, x)
	}
	for _, g := range broken {
		slices.SortStableFunc(g.violations, func(a, b *verdict.Violation) int { return newFirst(a) - newFirst(b) })
	}
	slices.SortStableFunc(broken, func(a, b *ruleGroup) int {
		return newFirst(a.violations[0]) - newFirst(b.violations[0])
	})
	for i := range v.Rules {
		if byRule[&v.Rules[i]] == nil {
			held = append(held, &v.Rules[i])
		}
	}
	return broken, held
}

func newFirst(v *verdict.Violation) int {
	if v.Status == introduced {
		return 0
	}
	return 1
}

// reason is what all violations of a rule give as their reason, "" if they differ.
func (g *ruleGroup) reason() string {
	reason := g.violations[0].Reason
	for _, x := range g.violations {
		if x.Reason != reason {
			return ""
		}
	}
	return reason
}

// counts says how many violations of the rule there are, and how many of them are new.
func (g *ruleGroup) counts() string {
	s := count(len(g.violations), "violation")
	if g.files > 0 {
		s += " in " + count(g.files, "file")
	}
	switch fresh := countNew(g.violations); {
	case g.violations[0].Status == "":
	case fresh == len(g.violations):
		s += ", new"
	default:
		s += ", " + newWords(fresh)
	}
	return s
}

// untitled is a reason without the title of its rule before it, which the report has said.
func untitled(reason, title string) string {
	return strings.TrimPrefix(reason, title+": ")
}

// folded returns the group without what shows a reader nothing new: a text or an expression next to a key, for files
// that cannot be parsed, of which every match is at a line that the key finds. also has one of each such pattern.
func (g *ruleGroup) folded() (shown *ruleGroup, also []*verdict.Violation) {
	keys := map[string][]*verdict.Violation{}
	for _, v := range g.violations {
		if v.Evidence.Kind == verdict.KindKey {
			keys[v.File] = append(keys[v.File], v)
		}
	}
	shown = &ruleGroup{rule: g.rule, files: g.files}
	patterns := map[string]bool{}
	for _, v := range g.violations {
		if e := &v.Evidence; !besideKeys(v, keys[v.File]) {
			shown.violations = append(shown.violations, v)
		} else if !patterns[e.Pattern] {
			patterns[e.Pattern] = true
			also = append(also, v)
		}
	}
	return shown, also
}

// besideKeys reports whether a text or an expression has all its places at lines of values that these violations, of
// the same rule and file, are about, and whether nothing else is to be said of it.
func besideKeys(v *verdict.Violation, keys []*verdict.Violation) bool {
	e := &v.Evidence
	if e.Kind != verdict.KindText && e.Kind != verdict.KindRegex || int64(len(e.Places)) < int64(e.Occurrences) {
		return false
	}
	var lines []verdict.Place
	for _, k := range keys {
		if k.Status == v.Status && k.Note == v.Note {
			lines = append(lines, k.Evidence.Places...)
		}
	}
	slices.SortFunc(lines, func(a, b verdict.Place) int { return cmp.Compare(a.Line, b.Line) })
	for i := 1; i < len(lines); i++ { // where the furthest one ends that begins so far
		lines[i].EndLine = max(lines[i].EndLine, lines[i-1].EndLine)
	}
	for _, p := range e.Places {
		after, _ := slices.BinarySearchFunc(lines, p.EndLine+1, func(l verdict.Place, line int64) int {
			return cmp.Compare(l.Line, line)
		})
		if after == 0 || lines[after-1].EndLine < p.Line {
			return false
		}
	}
	return len(e.Places) > 0
}
