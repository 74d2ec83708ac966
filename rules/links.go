package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/glob"
)

// A linkClass is the rules with the same globs, which treat a symlink alike. A rule with Files and ForbiddenFiles is
// in two classes.
type linkClass struct {
	*Rule                         // any of the rules
	paths          bool           // list is ForbiddenFiles: the target of a symlink does not matter
	list           []string       // Files or ForbiddenFiles
	numbers        []int          // in the bundle, ascending
	files, exclude *glob.Follower // of paths below a directory
}

// linkClasses returns the classes of a bundle's rules, in the order of their first rules. The rule files of a
// directory's bundle are like any other there, as those of the root's are.
func linkClasses(rules []Rule) []linkClass {
	rules = slices.Clone(rules)
	for i := range rules {
		if r := &rules[i]; r.ownFiles != nil {
			r.ownFiles = nil
			r.compile()
		}
	}
	var classes []linkClass
	known := map[string]int{}
	add := func(i int, list []string, paths bool) {
		r := &rules[i]
		if len(list) == 0 {
			return
		}
		// a glob has no NUL and is not empty
		key := strings.Join(list, "\x00") + "\x00\x00" + strings.Join(r.Excludes(), "\x00") +
			fmt.Sprint("\x00\x00", paths, r.PathCase)
		n, ok := known[key]
		if !ok {
			n = len(classes)
			known[key] = n
			classes = append(classes, linkClass{
				Rule: r, paths: paths, list: list,
				files: glob.NewFollower(list, r.PathCase), exclude: glob.NewFollower(r.Excludes(), false),
			})
		}
		classes[n].numbers = append(classes[n].numbers, i)
	}
	for i := range rules {
		add(i, rules[i].Files, false)
		add(i, rules[i].ForbiddenFiles, true)
	}
	return classes
}

// selects reports whether the rules need the content that a symlink points to.
func (c *linkClass) selects(path string) bool { return !c.paths && c.Selects(path) }

// LookingInto returns the indices of the rules that select a symlink's path, or could select or forbid a path below it
// if it is a directory. Each index occurs once, in no particular order.
func (b *Bundle) LookingInto(link string) []int {
	return b.ofClasses(func(c *linkClass) bool {
		return c.selects(link) || !c.files.Below(link).Empty() && !c.exclude.Below(link).All()
	})
}

// LosingSight returns the indices of the rules that apply to a symlink but not to its target: rules that select the
// symlink's path and not the target's, and, unless the target is a file, rules that could select or forbid a path
// below the symlink but perhaps not the same path below the target. target is a path from the tree's root, or "" for
// the root directory itself. Each index occurs once, in no particular order.
func (b *Bundle) LosingSight(link, target string, file bool) []int {
	return b.ofClasses(func(c *linkClass) bool {
		return target != "" && c.selects(link) && !c.selects(target) || !file && !c.seesBelow(link, target)
	})
}

func (b *Bundle) ofClasses(wanted func(*linkClass) bool) (numbers []int) {
	classes := b.classes()
	for i := range classes {
		if !wanted(&classes[i]) {
			continue
		}
		for _, number := range classes[i].numbers {
			r := &b.Rules[number]
			if twice := len(r.Files) > 0 && len(r.ForbiddenFiles) > 0; !twice || !slices.Contains(numbers, number) {
				numbers = append(numbers, number)
			}
		}
	}
	return numbers
}

// seesBelow reports whether the rules select below the target every path that they could select below the symlink;
// false if in doubt.
func (c *linkClass) seesBelow(link, target string) bool {
	files, exclude := c.files.Below(link), c.exclude.Below(link)
	if files.Empty() || exclude.All() {
		return true
	}
	return files.Within(c.files.Below(target)) && c.exclude.Below(target).Within(exclude)
}

// LostBy returns the glob because of which a rule of [Bundle.LosingSight] could select different paths below the
// symlink and below the target, and whether it is one of the rule's Excludes; "" if no single glob is the cause.
func (b *Bundle) LostBy(rule int, link, target string) (lost string, excluded bool) {
	r := &b.Rules[rule]
	for _, list := range [][]string{r.Files, r.ForbiddenFiles} {
		files := glob.NewFollower(list, r.PathCase)
		for _, g := range list {
			if !glob.NewFollower([]string{g}, r.PathCase).Below(link).Within(files.Below(target)) {
				return g, false
			}
		}
	}
	excludes := slices.Concat(r.Exclude, r.FileExclude)
	exclude := glob.NewFollower(excludes, false)
	for _, g := range excludes {
		if !glob.NewFollower([]string{g}, false).Below(target).Within(exclude.Below(link)) {
			return g, true
		}
	}
	return "", false
}

// Uniform reports whether every rule selects the same paths in every directory.
func (b *Bundle) Uniform() bool {
	return !slices.ContainsFunc(b.classes(), func(c linkClass) bool {
		return !glob.Uniform(c.list) || !glob.Uniform(c.Excludes())
	})
}
