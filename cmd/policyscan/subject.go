package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/verdict"
)

// A subject is what a scan is about: the files, and the bundles that judge them.
type subject struct {
	place    place
	policy   string // the bundles, as a person would name them
	tree     scanner.Tree
	judges   []scanner.Judge
	leaveOut map[string]string
	ruleSums map[string][sha256.Size]byte // of the rule files on disk that are left out, by path
	inUse    []scanner.RuleFile
	errors   []verdict.Error // what is wrong, though the scan can go on
	mistakes rules.Errors    // those of errors that are about a bundle
	notes    []string        // for the report
	close    func()
}

// addErrors adds what is wrong, though the scan can go on.
func (s *subject) addErrors(err error) {
	s.errors, s.mistakes = append(s.errors, scanner.ErrorsOf(err)...), append(s.mistakes, scanner.MistakesOf(err)...)
}

// subject finds out what the flags choose. As much of it as is known is returned with
// an error, too: the report names it.
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

// disk is the subject of the scopes whose files are those on disk.
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

// judgedFromDisk seats the bundle on disk, and leaves out of the files on disk what is no
// part of them.
func (c *scanCmd) judgedFromDisk(s *subject, r *reporter) error {
	all, err := loadPolicies(c.flags(), s.place.root)
	s.policy = all.String()
	if err != nil {
		return c.aboutBundle(err, s.place)
	}
	for i := range all {
		p := &all[i]
		s.judges = append(s.judges, scanner.Judge{From: p.from, Bundle: p.bundle})
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
	if c.Stdin || r.outputs.File() == "" { // what stands at that path on disk is not what was given
		return nil
	}
	path, in, err := scanner.PathIn(s.place.root, r.outputs.File())
	if in {
		s.leaveOut[path] = scanner.LeftOutput
	}
	return err
}

// judgedByBoth has the bundles of both states of a change judge it, or those that the flags name instead.
func (c *scanCmd) judgedByBoth(s *subject, change scanner.Change) error {
	change.Policies, change.Embedded, change.PolicyRef = c.flags(), builtin, c.PolicyRef
	change.Load = func(name string) (scanner.Judge, string, error) {
		p, err := loadPolicy(name, s.place.root)
		return scanner.Judge{From: p.from, Bundle: p.bundle}, p.name, err
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

// given returns the file on standard input. In the place of a rule file it is left out
// only if it is what judges, and not what that file may become.
func (c *scanCmd) given(ctx context.Context, s *subject, std streams) (scanner.Tree, error) {
	content, err := c.readStdin(ctx, std.in)
	if err != nil {
		return nil, fmt.Errorf("standard input cannot be read: %w", err)
	}
	sum := sha256.Sum256(content)
	maps.DeleteFunc(s.leaveOut, func(file, _ string) bool { return s.ruleSums[file] != sum })
	return scanner.Single(c.StdinPath, content)
}

// tree returns the files on disk or in a list that the flags choose, and what to call at
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

// narrow keeps of the judges' bundles the rules of the given ids; none: all of them.
func narrow(judges []scanner.Judge, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	all := scanner.RuleIDs(judges)
	for _, id := range ids {
		if err := oneOf("--rule", id, all); err != nil {
			return err
		}
	}
	scanner.Narrow(judges, ids)
	return nil
}
