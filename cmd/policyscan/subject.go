package main

import (
	"context"
	"fmt"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A subject is what a scan is about: the files, and the bundles that judge them.
type subject struct {
	place    place
	policy   string // the bundles, as a person would name them
	tree     scanner.Tree
	judges   []scanner.Judge
	leaveOut map[string]string
	inUse    []scanner.RuleFile
	errors   []verdict.Error // what is wrong, though the scan can go on
	notes    []string        // for the report
	close    func()
}

// subject finds out what the flags choose. As much of it as is known is returned with
// an error, too: the report names it.
func (c *scanCmd) subject(ctx context.Context, r *reporter) (subject, error) {
	s := subject{leaveOut: map[string]string{}, close: func() {}}
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
		return err
	}
	if err := c.judgedFromDisk(s, r); err != nil {
		return err
	}
	s.tree, s.close, err = c.tree(ctx, s.place, r.std)
	return err
}

// judgedFromDisk seats the bundle on disk, and leaves out of the files on disk what is no
// part of them.
func (c *scanCmd) judgedFromDisk(s *subject, r *reporter) error {
	p, err := loadPolicy(c.Policy, s.place.root)
	s.policy = p.name
	if err != nil {
		return err
	}
	s.judges = []scanner.Judge{{From: p.from, Bundle: p.bundle}}
	for _, file := range p.files {
		if err := s.place.leaveOut(s.leaveOut, file, "rules"); err != nil {
			return err
		}
	}
	if c.Stdin { // what stands at that path on disk is not what was given
		return nil
	}
	return s.place.leaveOut(s.leaveOut, r.file, "output")
}

// noRoot is the error of a folder to scan that cannot be opened.
func noRoot(err error) error {
	return fmt.Errorf("the folder to scan cannot be opened: %w", systemError(err))
}

// tree returns the files on disk, in a list or on standard input that the flags
// choose, and what to call at the end.
func (c *scanCmd) tree(ctx context.Context, p place, std streams) (scanner.Tree, func(), error) {
	none := func() {}
	if c.Stdin {
		content, err := c.readStdin(ctx, std.in)
		if err != nil {
			return nil, none, fmt.Errorf("standard input cannot be read: %w", err)
		}
		t, err := scanner.Single(c.StdinPath, content)
		return t, none, err
	}
	var entries []string
	if c.FilesFrom != "" {
		var err error
		if entries, err = readList(ctx, c.FilesFrom, std.in); err != nil {
			return nil, none, err
		}
	}
	root, err := worktree.Open(p.root)
	if err != nil {
		return nil, none, noRoot(err)
	}
	if c.FilesFrom != "" {
		return scanner.Listed(root, entries), root.Close, nil
	}
	return scanner.Folder(root), root.Close, nil
}

// narrow keeps of the judges' bundles the rules of the given ids; none: all of them.
func narrow(judges []scanner.Judge, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var all []string
	for _, j := range judges {
		for i := range j.Bundle.Rules {
			all = append(all, j.Bundle.Rules[i].ID)
		}
	}
	want := map[string]bool{}
	for _, id := range ids {
		if err := oneOf("--rule", id, all); err != nil {
			return err
		}
		want[id] = true
	}
	for k := range judges {
		var kept []rules.Rule
		for _, r := range judges[k].Bundle.Rules {
			if want[r.ID] {
				kept = append(kept, r)
			}
		}
		b := rules.New(kept, judges[k].Bundle.Deprecated)
		b.SHA256 = judges[k].Bundle.SHA256
		judges[k].Bundle = b
	}
	return nil
}
