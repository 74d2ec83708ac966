package allowance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// Merged is what an [Edit] can do besides what a [Change] can: of several entries for it, at least one was needless.
const Merged = "merged"

// An Edit is what was done to an entry.
type Edit struct {
	Word          string
	Rule, File    string
	Before, After int      // the number; 0 for no entry
	From          []string // that are new
	Until         string   // of one that was extended
}

// A Skip is something that was not done, though it was asked for.
type Skip struct {
	Rule, File string // File is as the verdict has it; "" of a file that the tree lacks
	Why        string // what it is, and what to do
}

// An EditResult says what was changed in a file.
type EditResult struct {
	Changes []Edit   // by rule, then file; none: the file is as it was
	Skipped []Skip   // by rule, then file
	Notes   []string // what else is to be known
	Deleted bool     // the file had no entry left
}

// Summary says how many entries were changed, and how.
func (o *EditResult) Summary() string {
	var parts []string
	for _, word := range []string{Added, Raised, Extended, Lowered, Moved, Merged, Removed} {
		n := 0
		for i := range o.Changes {
			if o.Changes[i].Word == word {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", ")
}

// Numbers says what became of the number, for a person.
func (c *Edit) Numbers() string {
	text := strconv.Itoa(c.After)
	switch {
	case c.Word == Removed && c.Before == 0:
		text = "was withdrawn"
	case c.Word == Removed:
		text = fmt.Sprintf("was %d, and none is there", c.Before)
	case c.Before > 0 && c.Before != c.After:
		text = fmt.Sprintf("%d to %d", c.Before, c.After)
	}
	if len(c.From) > 0 {
		text += ", from " + strings.Join(c.From, ", ")
	}
	if c.Until != "" {
		text += ", until " + c.Until
	}
	return text
}

func (o *EditResult) sort() {
	slices.SortStableFunc(o.Changes, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File))
	})
	slices.SortStableFunc(o.Skipped, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File))
	})
}

func pairOf(a *rules.Allowance) pair { return pair{a.Rule, a.File} }

func (p pair) compare(q pair) int {
	return cmp.Or(cmp.Compare(p.rule, q.rule), cmp.Compare(p.file, q.file))
}

// counts returns how often each rule occurs in each file, all items of the rule together, allowed or not.
func counts(v *verdict.Verdict) map[pair]int64 {
	n := map[pair]int64{}
	for i := range v.Violations {
		o := &v.Violations[i]
		n[pair{o.RuleID, o.File}] += o.Evidence.Occurrences
	}
	for i := range v.AllowedViolations {
		o := &v.AllowedViolations[i]
		n[pair{o.RuleID, o.File}] += o.Evidence.Occurrences
	}
	return n
}

// usable returns an error if a verdict does not count what is there, by the rules of the file's bundles.
func (l *File) usable(v *verdict.Verdict) error {
	switch {
	case v.Partial:
		return fmt.Errorf("the verdict is of a partial run; " +
			"scan the whole tree, without --rule, --exclude and an earlier --as-of")
	case !v.Complete:
		return fmt.Errorf("the verdict is incomplete, so it does not count all there is (%s); "+
			"fix that and scan again", firstErrors(v.Errors))
	case v.Scope.Mode != "full" && v.Scope.Mode != "tracked":
		return fmt.Errorf("the verdict is of a run in scope %s, which does not see the whole tree; "+
			"scan with policyscan, policyscan --tracked or policyscan --rev", v.Scope.Mode)
	case !l.sameBundles(v):
		return fmt.Errorf("the verdict is of another bundle, or the bundle was changed since (%s, now %s); "+
			"scan again with the same --policy", hashes(v), l.hashes())
	}
	return nil
}

// firstErrors returns the first of the errors of a verdict, and how many more there are.
func firstErrors(all []verdict.Error) string {
	text := all[0].Code + ": " + all[0].Error()
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

func (l *File) sameBundles(v *verdict.Verdict) bool {
	return slices.EqualFunc(v.Policy, l.policies.Bundles(), func(p verdict.Policy, b *rules.Bundle) bool {
		return p.SHA256 == b.SHA256
	})
}

func hashes(v *verdict.Verdict) string {
	var all []string
	for _, p := range v.Policy {
		all = append(all, shortHash(p.SHA256))
	}
	return strings.Join(all, " and ")
}

func (l *File) hashes() string {
	var all []string
	for _, b := range l.policies.Bundles() {
		all = append(all, shortHash(b.SHA256))
	}
	return strings.Join(all, " and ")
}

// shortHash is so much of a hash as a person compares.
func shortHash(sum string) string { return sum[:min(12, len(sum))] }
