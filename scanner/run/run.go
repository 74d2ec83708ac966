// Package run prepares a scan: it finds the files, the enforced bundles, and the commits to compare.
//
//	flags, environment --Open--> Run{Rules, Tree, ...}
//
// [Options] are the user's flags. [Open] opens the files and loads the bundles: those on disk or, for a change, those
// of both sides, each from git's objects, so that a change can tighten the rules that check it, never loosen them. In
// CI, the base "auto" is chosen from the variables of the CI system; an unknown environment, or one without a base, is
// an error.
//
// The scan skips the rule files in use and the file of the verdict, and nothing else. The package reads the disk,
// git's objects and the given variables, but no file to check. It writes and prints nothing.
package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/owners"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// Options say what to scan, and by which rules. At most one of Rev, Base, Staged, Tracked, List, Content and Paths is
// set; without any the run scans a directory.
type Options struct {
	Version string // of the program, for the verdict

	Path     string   // the directory; "": the root of the repository around the current one, or that itself
	Paths    []string // the scanned files and directories of a tree, named from the current directory; nil: all of it
	Policies []string // names of the bundles; "" is the one in the root
	Pins     Pins
	RuleIDs  []string // the enforced rules; none: all

	Rev        string         // the commit to scan, read from git's objects
	Base, Head string         // the commits to compare, or "auto"; an empty Head is HEAD
	Recorded   *verdict.Scope // the commits to compare, whose base has the name Base; see [Replay]
	// Uncommitted compares Base with the tracked files on disk, instead of a Head.
	Uncommitted bool
	// Untracked adds to Uncommitted the files that git neither tracks nor ignores.
	Untracked bool
	// Related are the commits of a push to a server, which Base and Head only name for display. Without a base commit
	// all files of the head are checked; what its commits bring is checked also if both base and head have it.
	Related   *repo.Comparison
	PolicyRef string // the commit whose bundle alone checks a change; "": both sides
	// RequireMerged makes it an error of the run if the head does not contain all commits of the Base.
	RequireMerged bool
	// EachCommit also checks what the commits of the change bring, though the head no longer has it.
	EachCommit bool
	Staged     bool
	Tracked    bool
	List       func(context.Context) ([]string, error) // reads the files, from the root or absolute
	Content    func(context.Context) ([]byte, error)   // reads the one file, at ContentPath
	// ContentPath is a path from the root.
	ContentPath string

	Allow           []string  // values of --allow
	Exclude         []string  // globs of excluded paths: the run is partial
	AsOf            string    // the day that counts for allowances, such as 2027-03-01; "": today
	Now             time.Time // zero: the present
	RequireGoverned bool      // no covered file is an error
	MaxFileBytes    int64     // a longer covered file is an error; 0: no limit

	Output string // the file of the verdict; "" if none
	Shards int    // in how many the run is split; 0: it is not
	// NoteUncommitted adds a note that uncommitted changes are not part of a named commit.
	NoteUncommitted bool

	Git    repo.Environment
	Getenv func(name string) string // for the variables of a CI system

	OpenedRepository *repo.Repository // the repository of Rev; nil: found by Path and Git
	Workers          int              // files checked at a time; 0: number of processors
	Cache            *Cache           // of compiled bundles, for many runs; may be nil
	FromDisk         bool             // named bundles are read from disk, even if a change could touch them
	// Load loads a named bundle, for many runs; nil reads it from disk.
	Load func(name string) (RuleSource, error)
}

// A Run is what is scanned, and by which rules. [Open] fills it.
type Run struct {
	Options

	Place   Place
	Policy  string // the bundles, for display
	Sources []RuleSource
	Rules   *RuleSet
	Plans   *check.PlanCache
	Limiter *check.ParseLimiter
	Tree    tree.Tree
	Listed  int // number of files, if it is known before the scan; else 0
	// Commits are those of the change, in order, if each is checked.
	Commits []repo.Hash
	// BaselineAllowances are the bundles' allowances at each commit that a change starts from.
	BaselineAllowances [][]rules.Allowance

	AllowsLink func(path string) bool // allowed symbolic links; nil: none
	Excludes   func(path string) bool // nil: nothing is excluded
	Day        string                 // the day that counts for allowances
	Backdated  bool                   // Day is before today: the run is partial if a bundle has dates

	Skip      map[string]string // paths on disk that are not part of the tree, and the reason
	RuleFiles []check.RuleFile  // in use: not part of git's trees
	Errors    []verdict.Error   // the scan can go on with these
	Mistakes  document.Errors   // the Errors about a bundle
	Notes     []string          // for the report
	MustCover bool              // the whole tree is scanned by its own bundle, which must cover a file of it
	// Repo is the repository of a git scope; nil in the others.
	Repo *repo.Repository

	// Covered reports to UncoveredPaths that a rule covers a file; nil without Paths.
	Covered func(path string)
	paths   *namedPaths

	FilterReport *checkout.FilterReport // of filters; may be nil
	Reuse        *check.Reuse           // may be nil: every file is read

	owners     *owners.File // nil: no rule asks for them, or there is no such file
	ownersAt   *side        // of owners; nil: on disk
	bundleDirs []string     // of the bundles in git's trees
	loader     *bundleLoader
	closeTree  func()                       // nil: nothing is open
	stopped    func() error                 // why the context has ended
	ruleSums   map[string][sha256.Size]byte // the rule files on disk that are skipped, by path
}

// Scope returns the scope that is known before the tree is opened.
func (o *Options) Scope() verdict.Scope {
	switch {
	case o.Content != nil:
		return verdict.Scope{Mode: "stdin"}
	case o.Rev != "":
		return verdict.Scope{Mode: "full", Strategy: strategyRev}
	case o.Base != "":
		scope := verdict.Scope{Mode: "diff", Base: o.Base, EachCommit: o.EachCommit}
		if o.Uncommitted {
			scope.Strategy = verdict.Uncommitted
		}
		return scope
	case o.Staged:
		return verdict.Scope{Mode: "staged"}
	case o.Tracked:
		return verdict.Scope{Mode: "tracked"}
	case o.List != nil || o.Paths != nil:
		return verdict.Scope{Mode: "files"}
	}
	return verdict.Scope{Mode: "full"}
}

// Open opens the files and loads the bundles. The run must be closed. With an error it is closed, and has the fields
// that are known, for the report.
func Open(ctx context.Context, o Options) (*Run, error) {
	r := &Run{Options: o, Skip: map[string]string{}, ruleSums: map[string][sha256.Size]byte{}}
	r.stopped = func() error { return context.Cause(ctx) }
	err := r.parse()
	if err == nil {
		err = r.open(ctx)
	}
	if err != nil {
		err = cmp.Or(r.stopped(), err)
	}
	for i := range r.Errors {
		r.Errors[i].Message = inThisCI(r.Getenv, r.Errors[i].Message)
	}
	var known *verdict.Error
	if errors.As(err, &known) {
		known.Message = inThisCI(r.Getenv, known.Message)
	}
	if err == nil {
		err = RuleSources(r.Sources).narrow(o.RuleIDs)
	}
	if err != nil {
		r.Close()
		return r, err
	}
	if len(r.Pins) > 0 && len(RuleSources(r.Sources).below()) > 0 {
		r.Notes = append(r.Notes, "--policy-sha256 does not pin the rules of the bundles in directories")
	}
	r.Rules, r.Plans, r.Limiter = o.Cache.of(r.Sources)
	r.readOwners()
	return r, nil
}

// ForContent returns a closed run for one content at a path, today, with the rules of this one. Many may be used at
// once. That the path is a rule file's does not matter: ask [Run.Skip].
func (r *Run) ForContent(path string, content []byte) (*Run, error) {
	one := *r
	var err error
	if one.Day, one.Backdated, err = ParseDay(r.AsOf, r.Now); err == nil {
		one.Tree, err = tree.Single(path, content)
	}
	one.Skip, one.MustCover, one.closeTree = nil, false, nil
	return &one, err
}

// Close closes the tree.
func (r *Run) Close() {
	if r.closeTree != nil {
		r.closeTree()
		r.closeTree = nil
	}
}

// use sets an opened tree, and closes it with the run.
func (r *Run) use(t tree.Tree, closeTree func(), err error) error {
	r.Tree, r.closeTree = t, closeTree
	return err
}

func (r *Run) parse() (err error) {
	if r.Day, r.Backdated, err = ParseDay(r.AsOf, r.Now); err != nil {
		return err
	}
	if r.Allow, r.AllowsLink, err = ParseAllow(r.Allow); err != nil {
		return err
	}
	r.Excludes, err = matcher("--exclude ", r.Exclude)
	return err
}

// ParseDay returns the day that counts for allowances, from --as-of or today in UTC, and whether it is before today. A
// zero now is the present.
func ParseDay(flag string, now time.Time) (day string, backdated bool, err error) {
	if now.IsZero() {
		now = time.Now()
	}
	today := now.UTC().Format(time.DateOnly)
	if flag == "" {
		return today, false, nil
	}
	if _, err := time.Parse(time.DateOnly, flag); err != nil {
		return "", false, fmt.Errorf("--as-of is %q; write a day of the calendar as 2027-03-01", flag)
	}
	return flag, flag < today, nil
}

func (r *Run) open(ctx context.Context) error {
	switch {
	case r.Rev != "":
		return r.openCommit()
	case inPreCommit(r.Getenv, r.Base):
		return r.openPreCommit()
	case r.Base != "":
		return r.openChange(ctx)
	case r.Staged:
		return r.openStaged()
	case r.Tracked:
		return r.openTracked()
	}
	return r.openDisk(ctx)
}

func (r *Run) openDisk(ctx context.Context) (err error) {
	if r.Paths != nil {
		err = r.findPaths()
	} else {
		r.Place, err = Find(r.Path)
	}
	if err != nil {
		return err
	}
	if err := r.loadFromDisk(); err != nil {
		return err
	}
	r.noteOuter()
	switch {
	case r.Content != nil:
		content, err := r.Content(ctx)
		if err != nil {
			return err
		}
		// A file at the path of a rule file is skipped only if it has that file's current content, and is not a new
		// version of it.
		sum := sha256.Sum256(content)
		maps.DeleteFunc(r.Skip, func(file, _ string) bool { return r.ruleSums[file] != sum })
		r.Tree, err = tree.Single(r.ContentPath, content)
		return err
	case r.List != nil:
		entries, err := r.List(ctx)
		if err == nil {
			err = r.Place.shorten(entries)
		}
		if err != nil {
			return err
		}
		r.Listed = len(entries)
		return r.use(tree.OpenListed(r.Place.Root, entries))
	case r.Paths != nil:
		return r.use(tree.OpenDir(r.Place.Root, r.paths.fromRoot))
	}
	return r.use(tree.OpenDir(r.Place.Root, nil))
}

// loadFromDisk loads the bundles on disk, and skips their rule files and the verdict in the scan.
func (r *Run) loadFromDisk() error {
	all, err := LoadRules(r.Policies, r.Place.Root)
	r.Policy, r.MustCover = all.String(), r.discovers() && r.Content == nil && r.List == nil && r.Paths == nil
	if err != nil {
		return r.adviseBundle(err)
	}
	if err := r.Pins.Check(all.OfTree().Bundles()); err != nil {
		return err
	}
	r.Sources = all
	for i := range all {
		s := &all[i]
		if s.Dir == "" || s.Below != "" { // the root's rules check a directory's bundle
			continue
		}
		for name, sum := range s.Bundle.Files {
			path, in, err := worktree.PathIn(r.Place.Root, filepath.Join(s.Dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			if in {
				r.Skip[path], r.ruleSums[path] = "rules", sum
			}
		}
	}
	if r.Content != nil { // standard input is not the file on disk
		return nil
	}
	r.skipEarlier()
	if r.Output == "" {
		return nil
	}
	path, in, err := worktree.PathIn(r.Place.Root, r.Output)
	if in {
		r.Skip[path] = tree.Output
	}
	return err
}

// skipEarlier skips what other runs have written by default in the root of a repository: the verdict and, in a shard,
// the files of the other ones. Such a file begins as theirs do and is certainly not tracked, so no change brings it.
func (r *Run) skipEarlier() {
	if is, err := repo.IsRoot(r.Place.Root); err != nil || !is {
		return
	}
	names := []string{VerdictName}
	for i := range r.Shards {
		names = append(names, ShardName(i, r.Shards))
	}
	root, err := worktree.Open(r.Place.Root)
	if err != nil {
		return // the scan reports it
	}
	defer root.Close()
	rd := root.Reader()
	defer rd.Close()
	for _, name := range names {
		if !isDocument(rd, name) {
			continue
		}
		if tracked, err := r.Git.Tracks(filepath.Join(r.Place.Root, name)); err == nil && !tracked {
			r.Skip[name] = tree.EarlierOutput
		}
	}
}

// isDocument reports whether a file is a regular one that begins as a verdict or a shard file does.
func isDocument(rd *worktree.Reader, name string) bool {
	file, err := openRegular(rd, name, false)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(verdict.DocumentHead))
	n, err := file.Read(head)
	return err == nil && string(head[:n]) == verdict.DocumentHead
}

// openRegular opens a regular file. Another kind is [errIrregular], or, of a directory, [worktree.ErrNotFile].
func openRegular(rd *worktree.Reader, name string, watched bool) (*worktree.File, error) {
	st, err := rd.Stat(name)
	if err == nil && st.Kind != worktree.Regular {
		err = errIrregular
	}
	if err != nil {
		return nil, err
	}
	return rd.Open(name, watched)
}

// discovers reports whether discovery finds the bundle in the tree.
func (o *Options) discovers() bool { return len(o.Policies) == 1 && o.Policies[0] == "" }

func (r *Run) openRepository() (err error) {
	if r.Repo == nil {
		r.Repo = r.OpenedRepository
	}
	if r.Repo != nil {
		r.Place, err = placeOf(r.Repo)
		return err
	}
	if st, err := os.Stat(r.Path); r.Path != "" && err == nil && !st.IsDir() {
		return errors.New("PATH is not a directory; " +
			"with --rev, --diff-base, --staged and --tracked it only says which repository is meant, so remove it")
	}
	found, err := r.Git.Open(r.Path)
	if err != nil {
		return tree.RepoError(err)
	}
	if r.Rev != "" {
		if err := r.checkNotNested(found); err != nil {
			return err
		}
	}
	r.Repo, found.Stopped = found, r.stopped
	r.Place, err = placeOf(found)
	return err
}

// Undecided returns the verdict of a run that failed before scanning, with the fields that are known.
func (r *Run) Undecided(err error) *verdict.Verdict {
	scope := r.Scope()
	if r.Rev != "" && r.Tree != nil {
		scope = r.Tree.Scope() // it names the commit
	}
	return Verdict(r.Version, scope, err)
}
