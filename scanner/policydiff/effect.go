package policydiff

import (
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/verdict"
)

// A comparison finds the effects of the changes between two sides.
type comparison struct {
	sides   [2][]bundle     // before and after
	allowed map[string]bool // the rules with an allowance
	left    int             // files that may still be tried
}

func newComparison(sides ...[]*rules.Bundle) *comparison {
	c := &comparison{allowed: map[string]bool{}, left: maxTries}
	for i := range sides {
		for _, b := range sides[i] {
			c.sides[i] = append(c.sides[i], newBundle(b))
			for _, a := range b.Allowances {
				c.allowed[a.Rule] = true
			}
		}
	}
	return c
}

// effect compares two versions of a rule; nil if a side has none.
func (c *comparison) effect(before, after *rules.Rule) (verdict.Effect, []verdict.Witness) {
	versions := [2]*rules.Rule{before, after}
	for i, r := range versions {
		if r == nil {
			versions[i] = &rules.Rule{}
		}
	}
	s := newSearch(c, versions)
	s.want = [2]bool{!c.contains(versions[1], versions[0]), !c.contains(versions[0], versions[1])}
	if s.want[0] || s.want[1] {
		s.run()
	}
	var found []verdict.Witness
	for _, w := range s.best {
		if w != nil {
			found = append(found, *w)
		}
	}
	// A rule that allowances can be for is weaker, though no file shows it.
	permits := before != nil && after != nil && before.NeverAllowed && !after.NeverAllowed
	forbids := before != nil && after != nil && !before.NeverAllowed && after.NeverAllowed
	weaker, stronger := s.best[0] != nil || permits, s.best[1] != nil || forbids
	switch {
	case weaker && stronger:
		return verdict.Both, found
	case weaker:
		return verdict.Weaker, found
	case s.want[0]:
		return verdict.Unknown, found
	case s.want[1] || stronger:
		return verdict.Stronger, found
	}
	return verdict.Same, nil
}

// contains reports whether a rule certainly refuses each file and tree that another one does. It is false if in doubt.
func (c *comparison) contains(r, o *rules.Rule) bool {
	covers := func(over, under []string) bool {
		// A class can match less when case is ignored, as [!a] does not match A; without it a glob does.
		all := strings.Join(slices.Concat(over, under), "")
		if o.PathCase && !r.PathCase || r.PathCase && !o.PathCase && strings.Contains(all, "[") {
			return false
		}
		if r.PathCase {
			over, under = glob.FoldAll(over), glob.FoldAll(under)
		}
		return coversAll(over, under)
	}
	excludesAll := func(many, few *rules.Rule) bool { return coversAll(many.Excludes(), few.Excludes()) }
	hasAll := func(in, of []rules.Item) bool {
		set := meanings(in)
		return !slices.ContainsFunc(of, func(i rules.Item) bool { return !set[meaning(i)] })
	}
	if len(o.Patterns)+len(o.Required) > 0 && (!covers(r.Files, o.Files) || !excludesAll(o, r) ||
		!hasAll(r.Patterns, o.Patterns) || !hasAll(r.Required, o.Required) || r.Unparsable && !o.Unparsable ||
		len(r.Containing) > 0 && (len(o.Containing) == 0 || !hasAll(r.Containing, o.Containing))) {
		return false
	}
	// An allowance counts each glob that forbids a file.
	if len(o.ForbiddenFiles) > 0 && (!covers(r.ForbiddenFiles, o.ForbiddenFiles) || !excludesAll(o, r) ||
		c.allowed[o.ID] && !includes(r.ForbiddenFiles, o.ForbiddenFiles)) {
		return false
	}
	// What r accepts as a required file, o must accept, too.
	return !slices.ContainsFunc(o.RequiredFiles, func(g string) bool {
		return !excludesAll(r, o) || !slices.ContainsFunc(r.RequiredFiles, func(narrow string) bool {
			return coversAll([]string{g}, []string{narrow})
		})
	})
}

// coversAll reports whether globs certainly match each path that others match.
func coversAll(over, under []string) bool { return includes(over, under) || glob.Covers(over, under) }

// includes reports whether a list has each text of another.
func includes(list, of []string) bool {
	return !slices.ContainsFunc(of, func(s string) bool { return !slices.Contains(list, s) })
}
