package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/glob"
)

// A linkClass is the rules that have the same globs, and so judge a link alike. A rule that is about contents and about
// paths is in two classes.
type linkClass struct {
	*Rule                         // any of them
	paths          bool           // of ForbiddenFiles: that a link itself has such a path is known without its target
	list           []string       // Files or ForbiddenFiles
	numbers        []int          // in the bundle, ascending
	files, exclude *glob.Follower // of what is under a folder; files is of lower case if the rule has PathCase
}

// linkClasses are the classes of a bundle's rules, in the order of their first rules.
func linkClasses(rules []Rule) []linkClass {
	var classes []linkClass
	known := map[string]int{}
	add := func(i int, list []string, paths bool) {
		r := &rules[i]
		if len(list) == 0 {
			return
		}
		// no glob has a NUL or is empty
		key := strings.Join(list, "\x00") + "\x00\x00" + strings.Join(r.Excludes(), "\x00") +
			fmt.Sprint("\x00\x00", paths, r.PathCase)
		n, ok := known[key]
		if !ok {
			n = len(classes)
			known[key] = n
			classes = append(classes, linkClass{
				Rule: r, paths: paths, list: list,
				files: r.follower(list), exclude: glob.NewFollower(r.Excludes()),
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

func (r *Rule) follower(list []string) *glob.Follower {
	if r.PathCase {
		list = glob.FoldAll(list)
	}
	return glob.NewFollower(list)
}

// fold is a path, or a glob of Files or ForbiddenFiles, as the rule compares it.
func (r *Rule) fold(path string) string {
	if r.PathCase {
		return glob.Fold(path)
	}
	return path
}

// selects reports whether the class's rules have to see the content that a link's path stands for.
func (c *linkClass) selects(path string) bool { return !c.paths && c.Selects(path) }

// LookingInto appends to into the indices of the rules that select a link's path, or could
// select or forbid a path beneath it, were it a folder: those that could judge what is read under its
// name. Each is there once; the order is not that of the rules.
func (b *Bundle) LookingInto(link string, into []int) []int {
	return b.ofClasses(into, func(c *linkClass) bool {
		return c.selects(link) || !c.files.Beneath(c.fold(link)).Empty() && !c.exclude.Beneath(link).All()
	})
}

// LosingSight appends to into the indices of the rules that could judge what is read under a link's
// name but would not judge it in the place that the link leads to: those that select the link's path and
// not the target's; and, unless the target is a file, those that could select or forbid a path beneath the link
// while they might not select or forbid the same beneath the target. target is a path as the link's is, or ""
// for the root, which is a folder. Each is there once; the order is not that of the rules.
func (b *Bundle) LosingSight(link, target string, file bool, into []int) []int {
	return b.ofClasses(into, func(c *linkClass) bool {
		return target != "" && c.selects(link) && !c.selects(target) || !file && !c.seesBeneath(link, target)
	})
}

func (b *Bundle) ofClasses(into []int, wanted func(*linkClass) bool) []int {
	from := len(into)
	classes := b.classes()
	for i := range classes {
		c := &classes[i]
		if !wanted(c) {
			continue
		}
		for _, number := range c.numbers {
			r := &b.Rules[number]
			if twice := len(r.Files) > 0 && len(r.ForbiddenFiles) > 0; twice && slices.Contains(into[from:], number) {
				continue
			}
			into = append(into, number)
		}
	}
	return into
}

// seesBeneath reports whether what the rules could select beneath a link they select beneath its target,
// too. Where that is in doubt it is false.
func (c *linkClass) seesBeneath(link, target string) bool {
	files, exclude := c.files.Beneath(c.fold(link)), c.exclude.Beneath(link)
	if files.Empty() || exclude.All() {
		return true
	}
	return files.Within(c.files.Beneath(c.fold(target))) && c.exclude.Beneath(target).Within(exclude)
}

// LostBy returns the glob because of which a rule, of those that [Bundle.LosingSight] returns for beneath the link,
// could select another path there than beneath the target, and whether it is one of the rule's Excludes; "" if it is
// not one alone.
func (b *Bundle) LostBy(rule int, link, target string) (lost string, excluded bool) {
	r := &b.Rules[rule]
	for _, list := range [][]string{r.Files, r.ForbiddenFiles} {
		files := r.follower(list)
		for _, g := range list {
			if !r.follower([]string{g}).Beneath(r.fold(link)).Within(files.Beneath(r.fold(target))) {
				return g, false
			}
		}
	}
	exclude := glob.NewFollower(r.Excludes())
	for _, g := range r.Excludes() {
		if !glob.NewFollower([]string{g}).Beneath(target).Within(exclude.Beneath(link)) {
			return g, true
		}
	}
	return "", false
}

// Uniform reports whether every rule selects the same under each folder, wherever that is.
func (b *Bundle) Uniform() bool {
	for _, c := range b.classes() {
		if !glob.Uniform(c.list) || !glob.Uniform(c.Excludes()) {
			return false
		}
	}
	return true
}
