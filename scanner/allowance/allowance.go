// Package allowance decides which occurrences of a rule in a file are allowed: how many an owner has signed for, and
// whether there were as many before.
//
//	entries of the base, the head, the merge bases --Compare--> List --+
//	                                                                   +--Decide--> Decision
//	a rule, a file, and how often it occurs, now and before -----------+
//
// To decide, it counts nothing itself, and reads neither files nor git: the caller says how often a rule occurs in a
// file now and at each [Reference], the states that a change is compared with. What was not there, not selected, left
// out of the scan or could not be read or parsed at a reference had none there.
//
// # What is allowed
//
// All occurrences of a rule in a file, or none of them:
//
//   - Where nothing is compared, as many as the [SideList] has a number for. Where the bundles of two sides check all
//     files anyway (a forced push), as many as the list of each of these sides has a number for.
//   - On the base's side of a change, as many as the base's list says, and not more than at any reference. The base's
//     rules are asked this.
//   - On the head's side, as many as the head's list says, and not more than at any reference. The head's rules are
//     asked this. A rule that both have, or that no side can change, is asked both.
//
// An entry with may_grow lifts the comparison with the references: on the base's side one of the base's, on the head's
// only one that the base has, too. So it counts from the change after the one that adds it.
//
// # Files that are counted as one
//
// The head's entries with "from" that neither the base nor any merge base has as they are join files, also through each
// other. Then it is their sum that is compared with the sum at each reference, and on the base's side with the sum of
// the base's numbers; each file keeps to its own number in the head, whichever side is asked. An entry that has expired
// joins nothing, and a file that has an entry with may_grow in the base or the head, expired or not, is joined with no
// other.
//
// # Several entries for one rule and file
//
// The smallest number and the earliest day count, and one without may_grow takes it away. So a day that has passed ends
// them all, and an entry for 0 withdraws the others, however a merge of two lists puts them together.
//
// # Merges in progress, and an agent's edits
//
// Both are a matter of what the caller passes: a staged file that is as in MERGE_HEAD had what it has now, and
// [Comparison.Merged] is true of it, and [Counts.Merging] bounds what a group had; an agent's edit is compared with
// the larger count of the disk and HEAD, and has HEAD's entries on both sides.
//
// # The file
//
//	a verdict of the whole tree, who signs ------------ File.Add --+
//	a scan of the whole tree, and a commit before --File.Tighten --+--> rules/allowances.yml, an EditResult
//	the entries of the bundles, a day --Due--> the entries that end
//
// This room alone writes to a bundle. Each call does all or nothing: the file is replaced whole, if it is still as it
// was read, and one without an entry is deleted. Comments, the order of the entries and everything else in it stay. A
// file that is a link, or not a regular file, is an error.
//
// # What tightening recognises
//
// No number of an entry without a new "from" grows, and the numbers of a rule never grow together. What one entry may
// lose, another file's may have, up to what is there, if the first file is gone and the other is new, and at least
// half of the larger one is the same: compared as git does, by lines, each counted once, in pieces of 64 bytes. Files
// with the same content are paired first, then those that are most alike. What a file was is what it had in the last
// commit, else where the branch began; what an entry's "from" names stands for a file that was in neither.
//
// An entry with may_grow is left alone, and so are one for a file that was not scanned and one for a rule that is not
// enforced. Files over [MaxCompared] bytes, and files of more than [maxPairs] pairs, are not compared. Lines that went
// from one file to another are not looked for: [Denial.Propose] is the entry to write.
//
// Nothing that is returned for a person is escaped.
package allowance

import "github.com/policyscan/policyscan/rules"

// An Entry is one of a bundle's allowances.yml.
type Entry = rules.Allowance

// A Reference is a state that a change is compared with.
type Reference struct {
	Name      string // as a person knows it: "HEAD", or the short hash of a commit
	Base      bool   // it is the base
	MergeBase bool   // it is a merge base, perhaps the base itself
}

// A Comparison is what a change is judged by.
type Comparison struct {
	Day        string // that counts, such as 2027-03-01
	Base, Head []Entry
	MergeBases [][]Entry // of each, the base's again if it is one
	References []Reference
	Whole      bool // all files are judged, and compared with nothing: References is empty, and no growth can be seen
	// Merged reports whether a file is, while a merge is in progress, as the commit that is merged has it: on the
	// base's side the larger number of both lists counts. nil: no file is.
	Merged func(file string) bool
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
		merged: c.Merged,
	}
	for _, entries := range c.MergeBases {
		b.mergeBases = append(b.mergeBases, NewSideList(entries, c.Day))
	}
	b.groups = join(b.base, b.head, b.mergeBases)
	return b
}

// Against returns the list compared with some states. merged is that of [Comparison].
func (b *List) Against(references []Reference, merged func(file string) bool) *List {
	compared := *b
	compared.references, compared.merged = references, merged
	return &compared
}

// Joined returns the files that a rule's occurrences in a file are counted with, in order and itself included; nil if
// there are no others.
func (b *List) Joined(rule, file string) []string { return b.groups[pair{rule, file}] }

// baseNumber is how many occurrences the base lets a file have.
func (b *List) baseNumber(rule, file string) int {
	n := b.base.number(rule, file)
	if b.merged != nil && b.merged(file) {
		n = max(n, b.head.number(rule, file))
	}
	return n
}
