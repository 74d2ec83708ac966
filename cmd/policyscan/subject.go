package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/verdict"
)

// A subject is what a scan is about: the files, and the bundles that judge them.
type subject struct {
	place    place
	policy   string // the bundles, as a person would name them
	tree     scanner.Tree
	judges   []judges.Judge
	leaveOut map[string]string
	ruleSums map[string][sha256.Size]byte // of the excluded rule files on disk, by path
	inUse    []judges.RuleFile
	errors   []verdict.Error // what is wrong, although the scan can continue
	mistakes rules.Errors    // those of errors that are about a bundle
	notes    []string        // for the report
	close    func()
}

// addErrors adds errors after which the scan can continue.
func (s *subject) addErrors(err error) {
	s.errors, s.mistakes = append(s.errors, failure.Errors(err)...), append(s.mistakes, failure.Mistakes(err)...)
}

// subject returns what the flags choose. With an error, it still returns as much as is known,
// for the report.
func (c *scanCmd) subject(ctx context.Context, r *reporter) (subject, error) {
	s := subject{leaveOut: map[string]string{}, ruleSums: map[string][sha256.Size]byte{}, close: func() {}}
	var err error
	switch {
	case c.DiffBase != "":
		err = c.changes(ctx, &s, r)
	case c.Staged:
		err = c.staged(&s)
	case c.Tracked:
		err = c.tracked(&s, r)
	default:
		err = c.disk(ctx, &s, r)
	}
	return s, err
}

// disk sets the subject of the scopes whose files are on disk.
func (c *scanCmd) disk(ctx context.Context, s *subject, r *reporter) (err error) {
	if s.place, err = findPlace(c.Path); err != nil {
		return c.aboutPath(err)
	}
	if err := c.judgedFromDisk(s, r); err != nil {
		return err
	}
	if c.Stdin {
		s.tree, err = c.given(ctx, s, r.std)
	} else {
		s.tree, s.close, err = c.tree(ctx, s.place, r.std)
	}
	return err
}

// judgedFromDisk loads the bundles on disk as judges, and excludes from the scan their rule
// files and the verdict.
func (c *scanCmd) judgedFromDisk(s *subject, r *reporter) error {
	all, err := loadPolicies(c.flags(), s.place.root)
	s.policy = all.String()
	if err != nil {
		return c.aboutBundle(err, s.place)
	}
	for i := range all {
		p := &all[i]
		s.judges = append(s.judges, judges.Judge{From: p.from, Bundle: p.bundle})
		if p.dir == "" {
			continue
		}
		for name, sum := range p.bundle.Files {
			path, in, err := scanner.PathIn(s.place.root, filepath.Join(p.dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			if in {
				s.leaveOut[path], s.ruleSums[path] = "rules", sum
			}
		}
	}
	if c.Stdin || r.outputs.File() == "" { // the file at that path on disk is not the one on standard input
		return nil
	}
	path, in, err := scanner.PathIn(s.place.root, r.outputs.File())
	if in {
		s.leaveOut[path] = scanner.LeftOutput
	}
	return err
}

// judgedByBoth sets the judges of a change: the bundles of both of its states, or those that the flags name.
func (c *scanCmd) judgedByBoth(s *subject, change judges.Change) error {
	change.Policies, change.Embedded, change.PolicyRef = c.flags(), builtin, c.PolicyRef
	change.Load = func(name string) (judges.Judge, string, error) {
		p, err := loadPolicy(name, s.place.root)
		return judges.Judge{From: p.from, Bundle: p.bundle}, p.name, err
	}
	found, err := change.Judges()
	s.judges, s.policy, s.inUse = found.Judges, found.Name, found.InUse
	for _, wrong := range found.Wrong {
		s.addErrors(wrong)
	}
	if found.Uncommitted {
		err = s.uncommittedBundle(err)
	}
	return err
}

// given returns the file on standard input. If it has the path of a rule file, it is excluded
// only if it is that file's current content, and not a new version of it.
func (c *scanCmd) given(ctx context.Context, s *subject, std streams) (scanner.Tree, error) {
	content, err := c.readStdin(ctx, std.in)
	if err != nil {
		return nil, fmt.Errorf("standard input cannot be read: %w", err)
	}
	sum := sha256.Sum256(content)
	maps.DeleteFunc(s.leaveOut, func(file, _ string) bool { return s.ruleSums[file] != sum })
	return scanner.Single(c.StdinPath, content)
}

// tree returns the files on disk or in the list that the flags choose, and a function to call at
// the end.
func (c *scanCmd) tree(ctx context.Context, p place, std streams) (scanner.Tree, func(), error) {
	if c.FilesFrom == "" {
		return scanner.OpenFolder(p.root)
	}
	entries, err := readList(ctx, c.FilesFrom, std.in)
	if err != nil {
		return nil, func() {}, err
	}
	return scanner.OpenListed(p.root, entries)
}

// narrow removes all rules but those with the given ids from the judges' bundles; without ids, none.
func narrow(by []judges.Judge, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	all := judges.RuleIDs(by)
	for _, id := range ids {
		if err := oneOf("--rule", id, all); err != nil {
			return err
		}
	}
	judges.Narrow(by, ids)
	return nil
}
