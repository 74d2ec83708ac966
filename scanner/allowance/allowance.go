// Package allowance decides which occurrences of a rule in a file are allowed: how many the entries of an owner
// permit, and whether there were as many before.
//
//	entries of the base, the head, the merge bases --Compare--> List --+
//	                                                                   +--Decide--> Decision
//	a rule, a file, and how often it occurs, now and before -----------+
//
// The decision reads neither files nor git: the caller counts the occurrences of a rule in a file now and at each
// [Reference], the snapshots that a change is compared with. A file that was missing, not selected, skipped,
// unreadable or not parsable at a reference had none.
//
// # What is allowed
//
// All occurrences of a rule in a file, or none:
//
//   - Without a comparison, up to the number in the [SideList]. If the bundles of two sides check all files (a forced
//     push), up to the number in each side's list.
//   - For the base's rules, up to the number in the base's list, and not more than at any reference.
//   - For the head's rules, up to the number in the head's list, and not more than at any reference. A rule that both
//     have, or that no side can change, must pass both.
//
// An entry with may_grow removes the comparison with the references: for the base's rules an entry of the base, for
// the head's only one that the base has, too. So it counts from the change after the one that adds it.
//
// # Files that are counted as one
//
// A new or changed entry of the head with "from" joins its files to a group; groups that share a file are one. A
// group's sum is compared with the sum at each reference, and for the base's rules with the sum of the base's numbers;
// each file must also stay within its own number in the head. Expired entries join nothing, nor do files with a
// may_grow entry in the base or the head, expired or not.
//
// # Several entries for one rule and file
//
// The smallest number and the earliest day count, and may_grow only if all have it. So a day that has passed ends them
// all, and an entry for 0 withdraws the others, however a merge combines two lists.
//
// # Merges in progress, and an agent's edits
//
// The caller decides both: a staged file that is as in MERGE_HEAD had its current count, [List.Against] is told of it,
// and [Counts.Merging] bounds the count of a group; an agent's edit is compared with the larger count of the disk and
// HEAD, and has HEAD's entries on both sides.
//
// # The file
//
//	a verdict of the whole tree, an owner ------------- File.Add --+
//	a scan of the whole tree, and a commit before --File.Tighten --+--> rules/allowances.yml, an EditResult
//	the entries of the bundles, a day --Due--> the entries that end
//
// Only this package writes to a bundle. Each call replaces the whole file or nothing, only if the file has not changed
// since it was read, and deletes a file without entries. Comments, the order of the entries and everything else in it
// stay. A link or another irregular file is an error.
//
// # Renames that tightening recognises
//
// Only an entry with a new "from" can grow, and the sum of a rule's numbers never grows. A new file takes over spare
// numbers of a removed one, up to its occurrences, if at least half of the larger file is the same: compared as in
// git, by lines, each counted once, in pieces of 64 bytes. Files with equal content are paired first, then the most
// similar. The old content is from the last commit, or the merge base, or the paths in "from" if both lack the file.
//
// Entries with may_grow, for files that were not scanned, and for rules that are not enforced do not change. Files
// over [MaxCompared] bytes, and files of more than [maxPairs] pairs, are not compared. Lines moved between files are
// not detected: [Denial.Propose] is the entry to write.
//
// Texts for display are not escaped.
package allowance

import "github.com/policyscan/policyscan/rules"

// An Entry is one of a bundle's allowances.yml.
type Entry = rules.Allowance

// A Reference is a snapshot that a change is compared with.
type Reference struct {
	Name      string // for display: "HEAD", or the short hash of a commit
	Base      bool
	MergeBase bool // perhaps also the base
}

// A Comparison is the input for a change.
type Comparison struct {
	Day        string // that counts, such as 2027-03-01
	Base, Head []Entry
	MergeBases [][]Entry // by merge base; the base's again if it is one
	References []Reference
	Whole      bool // all files are checked and compared with nothing: References is empty, and no growth can be seen
}

// A List is the allowances of a run.
type List struct {
	base, head *SideList // base is nil if nothing is compared
	mergeBases []*SideList
	references []Reference
	whole      bool
	groups     groups
	merged     func(file string) bool
}

// Whole returns the list of a run that compares nothing.
func Whole(entries []Entry, day string) *List {
	return &List{head: NewSideList(entries, day)}
}

// Compare returns the list of a change.
func Compare(c Comparison) *List {
	b := &List{
		base: NewSideList(c.Base, c.Day), head: NewSideList(c.Head, c.Day), references: c.References, whole: c.Whole,
	}
	for _, entries := range c.MergeBases {
		b.mergeBases = append(b.mergeBases, NewSideList(entries, c.Day))
	}
	b.groups = join(b.base, b.head, b.mergeBases)
	return b
}

// Against returns the list for other references. merged reports whether a file is, during a merge, as in the merged
// commit: on the base's side the larger number of both lists counts.
func (b *List) Against(references []Reference, merged func(file string) bool) *List {
	compared := *b
	compared.references, compared.merged = references, merged
	return &compared
}

// Joined returns the group of a file for a rule, in order and with the file itself; nil if it is alone.
func (b *List) Joined(rule, file string) []string { return b.groups[pair{rule, file}] }

// baseNumber returns the number of occurrences that the base allows in a file.
func (b *List) baseNumber(rule, file string) int {
	n := b.base.number(rule, file)
	if b.merged != nil && b.merged(file) {
		n = max(n, b.head.number(rule, file))
	}
	return n
}
