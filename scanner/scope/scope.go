// Package scope finds out what a scan is about: the folder or the repository, the files in it, and the
// bundles that judge them.
//
// A [Request] is what a person asks for. [Request.Subject] opens the files, and loads the bundles, which are
// those on disk or, for a change, those of both of its states. [Find] returns the folder that a path names,
// [LoadPolicies] the bundles of a folder, and [Request.VerdictFile] where the verdict goes.
//
// It excludes from a scan the rule files that judge it and the file of the verdict, and nothing else.
//
// Some errors have advice, which is in no verdict: commands that work in the current folder ([Advised]).
// The package reads the variables that it is handed, and prints nothing.
package scope

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/ci"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A Request is what a scan is asked to be about. Of Rev, Base, Staged, Tracked, List and Content at most one is set;
// without any it is about a folder.
type Request struct {
	Path     string   // the folder; "": the root of the repository around the current one, or that itself
	Policies []string // the names of the bundles; "" among them is the one that the root contains
	Pins     judges.Pins

	Rev        string // the commit all of whose files are meant, read from git's objects
	Base, Head string // the commits to compare, or "auto"; the Head "" is HEAD
	PolicyRef  string // the commit whose bundle alone judges a change; "": those of both states
	// RequireMerged makes it an error of the run if the head does not contain all commits of the Base.
	RequireMerged bool
	Staged        bool
	Tracked       bool
	List          func(context.Context) ([]string, error) // reads the paths of the files
	Content       func(context.Context) ([]byte, error)   // reads the one file, whose path is ContentPath
	// ContentPath is a path from the root.
	ContentPath string

	Verdict     string // the file of the verdict; "" if it goes to none
	Uncommitted bool   // whether a note says which files of the work tree a comparison does not see

	// Repository is the one that Rev is about; nil: the one that Path and Git lead to.
	Repository *repo.Repository
	// Load loads a bundle that is named, for a caller who makes many requests; nil: it is read from disk.
	Load func(name string) (Policy, error)

	Git      repo.Environment
	Getenv   func(name string) string // for what a CI system says
	Commands bool                     // a GitHub Actions runner reads what is printed
}

// A Subject is what a scan is about: the files, and the bundles that judge them.
type Subject struct {
	Place    Place
	Policy   string   // the bundles, as a person would name them
	Bundles  []string // the bundles of Judges, one each
	Tree     tree.Tree
	Judges   []judges.Judge
	Starts   [][]rules.Allowance // of the bundles where a change starts from; see [judges.Chosen]
	LeaveOut map[string]string   // the paths that are not scanned, and why
	InUse    []check.RuleFile
	Errors   []verdict.Error // what is wrong, although the scan can continue
	Mistakes document.Errors // those of Errors that are about a bundle
	Notes    []string        // for the report
	Found    bool            // the bundle is the one that the tree contains, and all of the tree is scanned
	// Repository is the one that a git scope is about; nil in the others.
	Repository *repo.Repository
	Close      func() // to call at the end of the scan

	onDisk   []Policy                     // the bundles on disk that judge a commit
	ruleSums map[string][sha256.Size]byte // of the excluded rule files on disk, by path
}

// Scope returns what is known about the scope before there is a tree.
func (q *Request) Scope() verdict.Scope {
	switch {
	case q.Content != nil:
		return verdict.Scope{Mode: "stdin"}
	case q.Rev != "":
		return verdict.Scope{Mode: "full", Strategy: strategyRev}
	case q.Base != "":
		return verdict.Scope{Mode: "diff", Base: q.Base}
	case q.Staged:
		return verdict.Scope{Mode: "staged"}
	case q.Tracked:
		return verdict.Scope{Mode: "tracked"}
	case q.List != nil:
		return verdict.Scope{Mode: "files"}
	}
	return verdict.Scope{Mode: "full"}
}

// Subject returns what the request is about. With an error, it still returns as much as is known,
// for the report.
func (q *Request) Subject(ctx context.Context) (Subject, error) {
	s := Subject{LeaveOut: map[string]string{}, ruleSums: map[string][sha256.Size]byte{}, Close: func() {}}
	var err error
	switch {
	case q.Rev != "":
		err = q.commit(ctx, &s)
	case ci.InPreCommit(q.Getenv, q.Base):
		err = q.preCommit(&s)
	case q.Base != "":
		err = q.changes(ctx, &s)
	case q.Staged:
		err = q.staged(&s)
	case q.Tracked:
		err = q.tracked(&s)
	default:
		err = q.disk(ctx, &s)
	}
	return s, err
}

// disk sets the subject of the scopes whose files are on disk.
func (q *Request) disk(ctx context.Context, s *Subject) (err error) {
	if s.Place, err = Find(q.Path); err != nil {
		return q.aboutPath(err)
	}
	if err := q.judgedFromDisk(s); err != nil {
		return err
	}
	switch {
	case q.Content != nil:
		s.Tree, err = q.given(ctx, s)
	case q.List != nil:
		var entries []string
		if entries, err = q.List(ctx); err == nil {
			s.Tree, s.Close, err = tree.OpenListed(s.Place.Root, entries)
		}
	default:
		s.Tree, s.Close, err = tree.OpenFolder(s.Place.Root)
	}
	return err
}

// judgedFromDisk loads the bundles on disk as judges, and excludes from the scan their rule
// files and the verdict.
func (q *Request) judgedFromDisk(s *Subject) error {
	all, err := LoadPolicies(q.Policies, s.Place.Root)
	s.Policy, s.Found = all.String(), q.discovers() && q.Content == nil && q.List == nil
	if err != nil {
		return q.aboutBundle(err, s.Place)
	}
	if err := q.Pins.Check(all.Bundles()); err != nil {
		return err
	}
	for i := range all {
		p := &all[i]
		s.Judges, s.Bundles = append(s.Judges, p.Judge), append(s.Bundles, p.Name)
		if p.Dir == "" {
			continue
		}
		for name, sum := range p.Bundle.Files {
			path, in, err := worktree.PathIn(s.Place.Root, filepath.Join(p.Dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			if in {
				s.LeaveOut[path], s.ruleSums[path] = "rules", sum
			}
		}
	}
	if q.Content != nil || q.Verdict == "" { // the file at that path on disk is not the one on standard input
		return nil
	}
	path, in, err := worktree.PathIn(s.Place.Root, q.Verdict)
	if in {
		s.LeaveOut[path] = tree.Output
	}
	return err
}

// discovers reports whether the bundle is the one that the tree contains.
func (q *Request) discovers() bool { return len(q.Policies) == 1 && q.Policies[0] == "" }

// given returns the one file. If it has the path of a rule file, it is excluded
// only if it is that file's current content, and not a new version of it.
func (q *Request) given(ctx context.Context, s *Subject) (tree.Tree, error) {
	content, err := q.Content(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	maps.DeleteFunc(s.LeaveOut, func(file, _ string) bool { return s.ruleSums[file] != sum })
	return tree.Single(q.ContentPath, content)
}

// judgedByBoth sets the judges of a change: the bundles of both of its states, or those that are named.
func (q *Request) judgedByBoth(s *Subject, change judges.Change) error {
	change.Policies, change.Pins, change.Embedded, change.PolicyRef = q.Policies, q.Pins, Builtin, q.PolicyRef
	change.Load = func(name string) (judges.Judge, string, error) {
		p, err := q.load(name, s.Place.Root)
		if err == nil && len(change.Policies) == 1 {
			err = Policies{p}.Together() // and not a mistake of the base
		}
		if err == nil && p.Dir != "" {
			s.onDisk = append(s.onDisk, p)
		}
		return p.Judge, p.Name, err
	}
	found, err := change.Judges()
	s.Judges, s.Starts, s.Policy, s.InUse = found.Judges, found.Starts, found.Name, found.InUse
	s.Bundles = found.Names
	for _, wrong := range found.Wrong {
		s.Errors = append(s.Errors, failure.Errors(wrong)...)
		s.Mistakes = append(s.Mistakes, failure.Mistakes(wrong)...)
	}
	if found.Uncommitted {
		err = q.aboutUncommitted(err, s.Place)
	}
	return err
}

// load loads a bundle that a commit or a change cannot touch.
func (q *Request) load(name, root string) (Policy, error) {
	if q.Load != nil {
		return q.Load(name)
	}
	return loadPolicy(name, root)
}

// repository opens the repository that a git scope is about.
func (q *Request) repository(s *Subject) (_ *repo.Repository, err error) {
	if q.Repository != nil {
		s.Repository = q.Repository
		s.Place, err = placeOf(q.Repository)
		return q.Repository, err
	}
	if st, err := os.Stat(q.Path); q.Path != "" && err == nil && !st.IsDir() {
		return nil, errors.New("PATH is not a folder; " +
			"with --rev, --diff-base, --staged and --tracked it only says which repository is meant, so remove it")
	}
	r, err := q.Git.Open(q.Path)
	if err != nil {
		return nil, failure.OfRepo(err)
	}
	if q.Rev != "" {
		if err := q.notEmbedded(r); err != nil {
			return nil, err
		}
	}
	s.Repository = r
	s.Place, err = placeOf(r)
	return r, err
}
