package scanner

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/shard"
)

// A ShardFile is one input of [Merge]: a document, or the reason why it is missing.
type ShardFile struct {
	Name     string // for messages
	Document *shard.Document
	Err      error
}

// maxProblems limits the problems of shard files that are named one by one.
const maxProblems = 40

// Merge returns the verdict of one run in the whole tree, byte for byte. version is the program's. Unless the files
// are each shard of one run, once and complete, it returns all problems instead.
func Merge(version string, files []ShardFile) (*verdict.Verdict, []error) {
	m := shardMerge{version: version}
	for _, f := range files {
		m.take(f)
	}
	m.compare()
	m.count()
	if len(m.wrong) > 0 {
		return nil, m.problems()
	}
	first := m.good[0].Document
	if first.State == shard.Stopped {
		v := verdict.Incomplete(first.Run.Tool.Version, first.Run.Scope, first.Findings.TreeErrors...)
		v.Decide()
		return v, nil
	}
	all, err := m.together()
	if err != nil {
		return nil, []error{err}
	}
	return assemble(&first.Run, all), nil
}

// A shardMerge is the shard files of a run, and their problems.
type shardMerge struct {
	version   string
	good      []ShardFile // with a document, in the order given
	reference *ShardFile  // the one that the others must match
	wrong     []string
}

func (m *shardMerge) add(format string, args ...any) {
	m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
}

func (m *shardMerge) problems() []error {
	var all []error
	for i, w := range m.wrong {
		if i == maxProblems {
			all = append(all, fmt.Errorf("and %d more", len(m.wrong)-i))
			break
		}
		all = append(all, fmt.Errorf("%s", w))
	}
	return all
}

// take adds a file, if it is a document of this program.
func (m *shardMerge) take(f ShardFile) {
	switch {
	case f.Err != nil:
		m.add("%s cannot be used: %v; run that shard again", f.Name, f.Err)
	case f.Document.Run.Tool.Version != m.version:
		m.add("%s, shard %s, was written by policyscan %s, and this is %s; "+
			"run all shards and the merge with the same one",
			f.Name, f.Document.Shard, f.Document.Run.Tool.Version, m.version)
	default:
		m.good = append(m.good, f)
	}
}

// ended reports whether a shard ended, so that its document describes the run.
func ended(f *ShardFile) bool { return f.Document.State == shard.Done }

// compare checks that all files are of one run, the most frequent one.
func (m *shardMerge) compare() {
	votes, most := map[[sha256.Size]byte]int{}, 0
	for i := range m.good {
		if f := &m.good[i]; ended(f) {
			is := sha256.Sum256([]byte(strings.Join(values(f.Document), "\x00")))
			if votes[is]++; votes[is] > most {
				m.reference, most = f, votes[is]
			}
		}
	}
	if m.reference == nil {
		m.compareStopped()
		return
	}
	want := values(m.reference.Document)
	for i := range m.good {
		f := &m.good[i]
		at := fmt.Sprintf("%s, shard %s,", f.Name, f.Document.Shard)
		switch {
		case f.Document.State == shard.Stopped:
			m.add("%s did not begin to scan%s; run it again", at, because(f.Document))
		case !ended(f):
			m.add("%s is not complete (%s)%s; run it again", at, f.Document.State, because(f.Document))
		case f.Document.Shard.Count != m.reference.Document.Shard.Count:
			m.add("%s is one of %d shards, and %s is one of %d; merge the shards of one run", at,
				f.Document.Shard.Count, m.reference.Name, m.reference.Document.Shard.Count)
		default:
			for k, got := range values(f.Document) {
				if got != want[k] {
					is, want := sharedFields()[k], want[k]
					a, b := differing(f.Document.Run.Policy, m.reference.Document.Run.Policy)
					if is.name == bundles && a != b {
						got, want = a, b
					}
					m.add("%s is of another run than %s: %s differ (%s, and %s); %s",
						at, m.reference.Name, is.name, clipTo(got, 120), clipTo(want, 120), cmp.Or(is.fix, sameRun))
					break
				}
			}
		}
	}
}

// differing describes the first bundles that are not the same in two lists.
func differing(a, b []verdict.Policy) (of, other string) {
	shown := func(list []verdict.Policy, i int) string {
		if i >= len(list) {
			return "no other bundle"
		}
		return fmt.Sprintf("%.12s of %s", list[i].SHA256, cmp.Or(list[i].Directory, "the whole tree"))
	}
	for i := range a {
		if of, other = shown(a, i), shown(b, i); of != other {
			return of, other
		}
	}
	return shown(a, len(a)), shown(b, len(a))
}

// compareStopped checks that all shards failed before scanning with the same error, as one run would have.
func (m *shardMerge) compareStopped() {
	for i := range m.good {
		f, first := &m.good[i], &m.good[0]
		switch {
		case f.Document.State != shard.Stopped:
			m.add("%s, shard %s, is not complete (%s)%s; run it again", f.Name, f.Document.Shard, f.Document.State,
				because(f.Document))
		case first.Document.State == shard.Stopped && (shownJSON(f.Document.Run) != shownJSON(first.Document.Run) ||
			!slices.Equal(f.Document.Findings.TreeErrors, first.Document.Findings.TreeErrors)):
			m.add("%s, shard %s, did not begin to scan%s; run it again", f.Name, f.Document.Shard, because(f.Document))
		}
	}
	if len(m.good) > 0 {
		m.reference = &m.good[0]
	}
}

// because returns the error that ended a shard, behind a colon; "" without one.
func because(d *shard.Document) string {
	if len(d.Findings.TreeErrors) == 0 {
		return ""
	}
	return ": " + d.Findings.TreeErrors[0].Error()
}

func (m *shardMerge) count() {
	if m.reference == nil {
		if len(m.wrong) == 0 {
			m.add("there is no shard file; name those of all shards")
		}
		return
	}
	n := m.reference.Document.Shard.Count
	of := make(map[int]string, n)
	for _, f := range m.good {
		s := f.Document.Shard
		if s.Count != n {
			continue
		}
		if other, twice := of[s.Index]; twice {
			m.add("%s and %s are both shard %s; name each shard once", other, f.Name, s)
		} else {
			of[s.Index] = f.Name
		}
	}
	for i := range n {
		if of[i] == "" {
			m.add("shard %s is missing; run it, or name its file", shard.Split{Index: i, Count: n})
		}
	}
}

type sharedField struct {
	name string
	of   func(d *shard.Document) any
	fix  string // "" for sameRun
}

const (
	bundles  = "the bundles"
	sameRun  = "merge the shards of one run"
	sameTree = "scan the same tree in all shards, and write their files outside of it"
)

func sharedFields() []sharedField {
	return []sharedField{
		{"the numbers of shards", func(d *shard.Document) any { return d.Shard.Count }, ""},
		{"the scopes", func(d *shard.Document) any { return d.Run.Scope.Mode + " " + d.Run.Scope.Strategy }, ""},
		{"the commits", func(d *shard.Document) any { return d.Run.Scope.HeadCommit }, ""},
		{"the commits that are checked out", func(d *shard.Document) any { return d.Tree.Head }, ""},
		{bundles, func(d *shard.Document) any { return d.Run.Policy }, ""},
		{"the flags", func(d *shard.Document) any { return d.Run.Options }, ""},
		{"the days", func(d *shard.Document) any { return d.Run.AsOf }, "give all shards the same --as-of"},
		{"the numbers of files", func(d *shard.Document) any { return d.Tree.Files }, sameTree},
		{"the files that were listed", func(d *shard.Document) any { return d.Tree.Sum }, sameTree},
		{"the rules", func(d *shard.Document) any { return d.Run }, ""},
	}
}

func values(d *shard.Document) []string {
	var all []string
	for _, is := range sharedFields() {
		all = append(all, shownJSON(is.of(d)))
	}
	return all
}

func shownJSON(value any) string {
	text, err := verdict.JSON(value)
	if err != nil { // a document that was read cannot contain such a value
		return err.Error()
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// together adds up the findings of all shards. The order of the files does not matter.
func (m *shardMerge) together() (*shard.Findings, error) {
	slices.SortFunc(m.good, func(a, b ShardFile) int {
		return cmp.Compare(a.Document.Shard.Index, b.Document.Shard.Index)
	})
	run := &m.good[0].Document.Run
	all := &shard.Findings{Listed: true, RequiredWhole: true, RuleFiles: make([]int, len(run.Rules))}
	own := 0
	leftOut, found, errs := map[verdict.Omission]bool{}, map[int]bool{}, map[verdict.Error]int{}
	for _, file := range m.good {
		f := &file.Document.Findings
		own += file.Document.Tree.Own
		all.Listed = all.Listed && f.Listed
		all.Coverage.Add(&f.Coverage)
		for _, o := range f.Coverage.LeftOut {
			if !leftOut[o] {
				leftOut[o], all.Coverage.LeftOut = true, append(all.Coverage.LeftOut, o)
			}
		}
		all.Taken = addUp(all.Taken, f.Taken)
		all.RuleFiles = addUp(all.RuleFiles, f.RuleFiles)
		for _, n := range f.Found {
			if !found[n] {
				found[n], all.Found = true, append(all.Found, n)
			}
		}
		all.RequiredWhole = all.RequiredWhole && f.RequiredWhole
		all.RequiredFiles = f.RequiredFiles
		all.TreeErrors = appendErrors(all.TreeErrors, f.TreeErrors, errs)
		all.FileErrors = append(all.FileErrors, f.FileErrors...)
		all.Violations = append(all.Violations, f.Violations...)
	}
	slices.Sort(all.Found)
	if listed := m.good[0].Document.Tree.Files; own != listed {
		return nil, fmt.Errorf("the shards together looked at %d files, and the tree has %d; "+
			"run all shards again", own, listed)
	}
	return all, nil
}

// appendErrors appends the errors of a shard about the tree as a whole. The nth repetition of an error in each shard
// counts once; said is the number of each error in all.
func appendErrors(all, errors []verdict.Error, said map[verdict.Error]int) []verdict.Error {
	own := map[verdict.Error]int{}
	for _, e := range errors {
		if own[e]++; own[e] > said[e] {
			said[e]++
			all = append(all, e)
		}
	}
	return all
}

// addUp adds two lists of equal length; all may still be empty.
func addUp(all, more []int) []int {
	if len(all) == 0 {
		return slices.Clone(more)
	}
	for i, n := range more {
		all[i] += n
	}
	return all
}
