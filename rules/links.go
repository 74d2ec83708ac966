package rules

import (
	"strings"

	"github.com/policyscan/policyscan/rules/glob"
)

// A linkClass is the rules that have the same globs, and so judge a link alike.
type linkClass struct {
	*Rule                         // any of them
	numbers        []int          // in the bundle, ascending
	files, exclude *glob.Follower // of what is under a folder
}

// linkClasses are the classes of a bundle's rules, in the order of their first rules.
func linkClasses(rules []Rule) []linkClass {
	var classes []linkClass
	known := map[string]int{}
	for i := range rules {
		r := &rules[i]
		// no glob has a NUL or is empty
		key := strings.Join(r.Files, "\x00") + "\x00\x00" + strings.Join(r.Excludes(), "\x00")
		n, ok := known[key]
		if !ok {
			n = len(classes)
			known[key] = n
			classes = append(classes, linkClass{
				Rule: r, files: glob.NewFollower(r.Files), exclude: glob.NewFollower(r.Excludes()),
			})
		}
		classes[n].numbers = append(classes[n].numbers, i)
	}
	return classes
}

func (b *Bundle) linkClasses() []linkClass {
	if b.classes == nil { // neither Load nor New made it
		return linkClasses(b.Rules)
	}
	return b.classes()
}

// LookingInto appends to into the indices of the rules that select a link's path, or could
// select a path beneath it, were it a folder: those that could judge what is read under its
// name. The order is not that of the rules.
func (b *Bundle) LookingInto(link string, into []int) []int {
	for _, c := range b.linkClasses() {
		if c.Selects(link) || !c.files.Beneath(link).Empty() && !c.exclude.Beneath(link).All() {
			into = append(into, c.numbers...)
		}
	}
	return into
}

// LosingSight appends to into the indices of the rules that could judge what is read under a link's
// name but would not judge it in the place that the link leads to: those that select the link's path and
// not the target's; and, unless the target is a file, those that could select a path beneath the link
// while they might not select the same beneath the target. target is a path as the link's is, or ""
// for the root, which is a folder. The order is not that of the rules.
func (b *Bundle) LosingSight(link, target string, file bool, into []int) []int {
	for _, c := range b.linkClasses() {
		if target != "" && c.Selects(link) && !c.Selects(target) || !file && !c.seesBeneath(link, target) {
			into = append(into, c.numbers...)
		}
	}
	return into
}

// seesBeneath reports whether what the rules could select beneath a link they select beneath its target,
// too. Where that is in doubt it is false.
func (c *linkClass) seesBeneath(link, target string) bool {
	files, exclude := c.files.Beneath(link), c.exclude.Beneath(link)
	if files.Empty() || exclude.All() {
		return true
	}
	return files.Within(c.files.Beneath(target)) && c.exclude.Beneath(target).Within(exclude)
}

// LostBy returns the glob because of which a rule, of those that [Bundle.LosingSight] returns for beneath the link,
// could select another path there than beneath the target, and whether it is one of the rule's Excludes; "" if it is
// not one alone.
func (b *Bundle) LostBy(rule int, link, target string) (lost string, excluded bool) {
	r := &b.Rules[rule]
	files, exclude := glob.NewFollower(r.Files), glob.NewFollower(r.Excludes())
	for _, g := range r.Files {
		if !glob.NewFollower([]string{g}).Beneath(link).Within(files.Beneath(target)) {
			return g, false
		}
	}
	for _, g := range r.Excludes() {
		if !glob.NewFollower([]string{g}).Beneath(target).Within(exclude.Beneath(link)) {
			return g, true
		}
	}
	return "", false
}

// Uniform reports whether every rule selects the same under each folder, wherever that is.
func (b *Bundle) Uniform() bool {
	for _, c := range b.linkClasses() {
		if !glob.Uniform(c.Files) || !glob.Uniform(c.Excludes()) {
			return false
		}
	}
	return true
}
