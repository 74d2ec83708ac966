package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// An Arrangement says which places a report for people shows, and under which headings. It never changes the outcome
// or its numbers.
type Arrangement struct {
	By    string // "owner" or "folder"; others: no headings
	Owner string // only places of this owner, or of [noOwner], in any case of letters; "": all
}

const noOwner = "no owner"

// Formats returns the formats with an arrangement: those for people, since programs need every violation.
func (a Arrangement) Formats() []Format {
	return slices.DeleteFunc(formats(a), func(f Format) bool {
		return f.Name != "text" && f.Name != "markdown" && f.Name != "html"
	})
}

// A section is the places under a heading.
type section struct {
	title   string // an owner or a directory, safe to print; "": the only section
	groups  []*ruleGroup
	numbers placeCounts
}

func (s *section) heading() string { return s.title + " (" + s.numbers.words("") + ")" }

// arrange makes the sections, the largest first. A place of several owners is in the section of each.
func (v *view) arrange(a Arrangement) {
	if a.By != "owner" && a.By != "folder" && a.Owner == "" {
		return
	}
	type titled struct {
		title string
		rule  *ruleGroup
	}
	sections, groups := map[string]*section{}, map[titled]*ruleGroup{}
	dirOf, shown := v.topDirs(""), placeCounts{}
	v.sections = nil
	for i, of := range v.ruleOf {
		x := &v.Violations[i]
		owners := ownersOf(of.rule, x)
		if len(owners) == 0 {
			owners = []string{noOwner}
		}
		if a.Owner != "" {
			owners = slices.DeleteFunc(owners, func(o string) bool { return !strings.EqualFold(o, a.Owner) })
		}
		if x.PlaceCount == 0 || len(owners) == 0 {
			continue
		}
		shown.add(x)
		titles := []string{""}
		switch {
		case a.By == "owner":
			titles = owners
		case a.By == "folder":
			titles = []string{dirOf(x.File)}
		}
		for _, title := range titles {
			s, g := sections[title], groups[titled{title, of}]
			if s == nil {
				s = &section{title: verdict.Visible(clip(title, 300))}
				sections[title], v.sections = s, append(v.sections, s)
			}
			if g == nil {
				g = &ruleGroup{rule: of.rule}
				groups[titled{title, of}], s.groups = g, append(s.groups, g)
			}
			g.add(x)
			s.numbers.add(x)
		}
	}
	for _, s := range v.sections {
		sortGroups(s.groups)
		s.numbers.files = fileCount(s.groups)
	}
	slices.SortStableFunc(v.sections, func(a, b *section) int {
		return cmp.Or(b.numbers.all()-a.numbers.all(), Natural(a.title, b.title))
	})
	if a.Owner != "" {
		what := "what " + flow(clip(a.Owner, 200)) + " owns"
		if strings.EqualFold(a.Owner, noOwner) {
			what = "what has no owner"
		}
		v.narrowed = "only " + what + " is shown: " + number(shown.all()) + " of " + count(v.numbers.all(), "place")
	}
}

// ownersOf returns the owners of files that violate a rule, sorted, or the one of the rule.
func ownersOf(r *verdict.Rule, violations ...*verdict.Violation) []string {
	if r.Owner != verdict.CodeOwners || len(violations) == 0 {
		return with(nil, r.Owner)
	}
	all := map[string]bool{}
	for _, x := range violations {
		for _, owner := range x.Owners {
			all[owner] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// ownerNames names them, for display.
func ownerNames(r *verdict.Rule, violations ...*verdict.Violation) string {
	if owners := ownersOf(r, violations...); len(owners) > 0 || r.Owner == "" {
		return firstOf(owners, 5)
	}
	return "none"
}
