package allowance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// An Edit is the change of an entry.
type Edit struct {
	Word          string
	Rule, File    string
	Before, After int      // the number; 0 for no entry
	From          []string // the new ones
	Until         string   // of one that was extended
}

// A Skip is a requested edit that was not made.
type Skip struct {
	Rule, File string // File is as in the verdict; "" for a file missing from the tree
	Why        string // the problem, and what to do
}

// An EditResult lists the edits of a file.
type EditResult struct {
	Changes []Edit // by rule, then file; empty: the file is unchanged
	Skipped []Skip // by rule, then file
	Notes   []string
	Deleted bool // the file had no entry left
}

// Summary describes how many entries were changed, and how.
func (o *EditResult) Summary() string {
	var parts []string
	for _, word := range []string{Added, Raised, Extended, Lowered, Moved, Merged, Removed} {
		n, allowed := 0, 0
		for i := range o.Changes {
			if o.Changes[i].Word == word {
				n, allowed = n+1, allowed+o.Changes[i].After
			}
		}
		entries := fmt.Sprintf("%d entries", n)
		if n == 1 {
			entries = "1 entry"
		}
		switch {
		case n > 0 && word == Added:
			parts = append(parts, fmt.Sprintf("%s added (%s)", entries, placeCount(allowed)))
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", ")
}

// Numbers describes the change of the number of places.
func (c *Edit) Numbers() string {
	text := placeCount(c.After)
	switch {
	case c.Word == Removed && c.Before == 0:
		text = "was withdrawn"
	case c.Word == Removed:
		text = fmt.Sprintf("at_most was %d, and no place is left", c.Before)
	case c.Before > 0 && c.Before != c.After:
		text = fmt.Sprintf("%d to %s", c.Before, text)
	}
	if len(c.From) > 0 {
		text += ", from " + strings.Join(c.From, ", ")
	}
	if c.Until != "" {
		text += ", until " + c.Until
	}
	return text
}

func placeCount(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}

func (o *EditResult) sort() {
	slices.SortStableFunc(o.Changes, func(a, b Edit) int { return pair{a.Rule, a.File}.compare(pair{b.Rule, b.File}) })
	slices.SortStableFunc(o.Skipped, func(a, b Skip) int { return pair{a.Rule, a.File}.compare(pair{b.Rule, b.File}) })
}

func pairOf(a *rules.Allowance) pair { return pair{a.Rule, a.File} }

func (p pair) compare(q pair) int {
	return cmp.Or(cmp.Compare(p.rule, q.rule), cmp.Compare(p.file, q.file))
}

// counts returns the places of each rule in each file, over all patterns of the rule, allowed or not.
func counts(v *verdict.Verdict) map[pair]int64 {
	n := map[pair]int64{}
	for _, o := range allFound(v) {
		n[pair{o.RuleID, o.File}] += o.PlaceCount
	}
	return n
}

func allFound(v *verdict.Verdict) []*verdict.Violation {
	var all []*verdict.Violation
	for i := range v.Violations {
		all = append(all, &v.Violations[i])
	}
	for i := range v.AllowedViolations {
		all = append(all, &v.AllowedViolations[i].Violation)
	}
	return all
}

// usable returns an error if a verdict does not count the occurrences by the rules of the file's bundles.
func (l *File) usable(v *verdict.Verdict) error {
	switch {
	case v.Partial:
		return fmt.Errorf("the verdict is of a partial run; " +
			"scan the whole tree, without --rule, --exclude or an earlier --as-of")
	case !v.Complete:
		return fmt.Errorf("the verdict is incomplete, so it does not count all there is (%s); "+
			"fix that and scan again", firstErrors(v.Errors))
	case v.Scope.Mode != "full" && v.Scope.Mode != "tracked":
		return fmt.Errorf("the verdict is of a run in scope %s, which does not see the whole tree; "+
			"scan with policyscan, policyscan --tracked or policyscan --rev", v.Scope.Mode)
	case !slices.Equal(hashesOf(v), l.hashes):
		return fmt.Errorf("the verdict is of another bundle, or the bundle was changed since (%s, now %s); "+
			"scan again with the same --policy", shortHashes(hashesOf(v)), shortHashes(l.hashes))
	}
	return nil
}

// firstErrors returns the first errors of a verdict, and the number of the others.
func firstErrors(all []verdict.Error) string {
	text := all[0].Code + ": " + all[0].Error()
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

func hashesOf(v *verdict.Verdict) []string {
	var all []string
	for _, p := range v.Policy {
		all = append(all, p.SHA256)
	}
	return all
}

// shortHashes shortens each hash for display.
func shortHashes(all []string) string {
	all = slices.Clone(all)
	for i, sum := range all {
		all[i] = sum[:min(12, len(sum))]
	}
	return strings.Join(all, " and ")
}
