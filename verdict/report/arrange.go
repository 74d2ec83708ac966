package report

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// An Arrangement says which places a report for people shows, and under which headings. It never changes the outcome
// or its numbers.
type Arrangement struct {
	By    string // "rule" or "" for no headings, "owner" or "folder"
	Owner string // only places of this owner, in any case of letters; "": all
}

// Arranged returns the format with an arrangement. false: the format is for programs, which need every violation.
func (f Format) Arranged(a Arrangement) (Format, bool) {
	switch f.Name {
	case "text":
		f.Write = func(w io.Writer, v *verdict.Verdict) error {
			return WriteText(w, v, TextOptions{Commands: true, Arrangement: a})
		}
	case "markdown":
		f.Write = func(w io.Writer, v *verdict.Verdict) error { return writeMarkdown(w, v, a) }
	case "html":
		f.Write = func(w io.Writer, v *verdict.Verdict) error { return writeHTML(w, v, "", a) }
	default:
		return f, false
	}
	return f, true
}

const noOwner = "no owner"

// A section is the places under a heading.
type section struct {
	title   string // an owner or a directory, safe to print; "": the only section
	owner   string // the title, if it is one
	groups  []*ruleGroup
	numbers placeCounts

	byRule map[*ruleGroup]*ruleGroup // a group of the view, and the section's own
}

func (s *section) heading() string { return s.title + " (" + s.numbers.words("") + ")" }

// arrange makes the sections. A place of several owners is in the section of each.
func (v *view) arrange(a Arrangement) {
	if a.By != "owner" && a.By != "folder" && a.Owner == "" {
		return
	}
	v.sections = nil
	dirOf, byTitle, shown := topDirs(v.files()), map[string]*section{}, placeCounts{}
	known := map[string]bool{}
	for i := range v.Violations {
		x, owners := &v.Violations[i], v.ownersOf(i)
		for _, o := range owners {
			known[o] = true
		}
		if a.Owner != "" {
			owners = slices.DeleteFunc(owners, func(o string) bool { return !strings.EqualFold(o, a.Owner) })
		}
		if x.PlaceCount == 0 || a.Owner != "" && len(owners) == 0 {
			continue
		}
		shown.add(x)
		titles := []string{""}
		switch {
		case a.By == "owner" && len(owners) == 0:
			titles = []string{noOwner}
		case a.By == "owner":
			titles = owners
		case a.By == "folder" && x.File == "":
			titles = []string{theTree}
		case a.By == "folder":
			titles = []string{dirOf(x.File)}
		}
		for _, title := range titles {
			s := byTitle[title]
			if s == nil {
				s = &section{title: verdict.Visible(clip(title, 300)), byRule: map[*ruleGroup]*ruleGroup{}}
				if byTitle[title], v.sections = s, append(v.sections, s); a.By == "owner" {
					s.owner = s.title
				}
			}
			s.add(v.ruleOf[i], x)
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
		v.narrowed = fmt.Sprintf("only what %s owns is shown: %s of %s", flow(clip(a.Owner, 200)),
			number(shown.all()), count(v.numbers.all(), "place"))
		if shown.all() == 0 && len(known) > 0 {
			v.narrowed += "; the owners are " + flow(firstOf(slices.Sorted(maps.Keys(known)), mostNames))
		}
	}
}

func (s *section) add(of *ruleGroup, x *verdict.Violation) {
	g := s.byRule[of]
	if g == nil {
		g = &ruleGroup{rule: of.rule}
		s.byRule[of], s.groups = g, append(s.groups, g)
	}
	g.add(x)
	s.numbers.add(x)
}

func (v *view) files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range v.Violations {
			if x := &v.Violations[i]; x.File != "" && !yield(x.File) {
				return
			}
		}
	}
}

// ownersOf returns the owners of the file of a violation, or the one of its rule.
func (v *view) ownersOf(i int) []string {
	if owner := v.ruleOf[i].rule.Owner; owner != verdict.CodeOwners {
		return with(nil, owner)
	}
	return slices.Clone(v.Violations[i].Owners)
}

func (g *ruleGroup) owner() string { return ownerNames(g.rule, g.violations...) }

// ownerNames names the owner of a rule, or those of the files that violate it.
func ownerNames(r *verdict.Rule, violations ...*verdict.Violation) string {
	if r.Owner != verdict.CodeOwners || len(violations) == 0 {
		return r.Owner
	}
	all := map[string]bool{}
	for _, x := range violations {
		for _, owner := range x.Owners {
			all[owner] = true
		}
	}
	return cmp.Or(firstOf(slices.Sorted(maps.Keys(all)), 5), "none")
}

// topDirs returns the directory of a file, one level below the common parent of all of them.
func topDirs(files iter.Seq[string]) (dirOf func(file string) string) {
	common, any := "", false
	for file := range files {
		if !any {
			common, any = file[:strings.LastIndexByte(file, '/')+1], true
		}
		for !strings.HasPrefix(file, common) {
			common = common[:strings.LastIndexByte(common[:len(common)-1], '/')+1]
		}
	}
	return func(file string) string {
		dir, _, inside := strings.Cut(file[len(common):], "/")
		if !inside {
			return cmp.Or(common, "./")
		}
		return common + dir + "/"
	}
}
