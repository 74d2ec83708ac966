package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/owners"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// OwnersOf returns the owners of a file, if the rule, by its index in the bundle, asks for them.
func (r *Run) OwnersOf(rule int, path string) []string {
	if r.owners == nil || path == "" || r.Rules.Bundle.Rules[rule].Owner != verdict.CodeOwners {
		return nil
	}
	return r.owners.Of(path)
}

// readOwners reads CODEOWNERS, if a rule asks for it. Owners judge nothing, so what cannot be read is a note.
func (r *Run) readOwners() {
	asks := func(rule rules.Rule) bool { return rule.Owner == verdict.CodeOwners }
	if !slices.ContainsFunc(r.Rules.Bundle.Rules, asks) {
		return
	}
	of, open := " of the tree", r.openOnDisk
	if d := r.ownersAt; d != nil {
		of, open = " of "+d.String(), func(path string) (tree.Content, error) { return r.openIn(d, path) }
	}
	note := "there is no CODEOWNERS among the files" + of
	for _, place := range owners.Places() {
		text, err := readOwnersFile(open, place)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if note = place + of; err != nil {
			note += fmt.Sprintf(" cannot be read (%v)", disk.Cause(err))
			break
		}
		_, err = readOwnersFile(open, owners.GitLabCI)
		r.owners = owners.Parse(place, text, err == nil)
		if n := len(r.owners.Skipped); n > 0 {
			lines := strings.Trim(fmt.Sprint(r.owners.Skipped[:min(n, 10)]), "[]")
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s skipped, which the syntax does not have: line %s", note,
				pluralize(n, "line"), strings.ReplaceAll(lines, " ", ", ")))
		}
		return
	}
	r.Notes = append(r.Notes, note+": rules with owner: CODEOWNERS have no owner")
}

func readOwnersFile(open func(path string) (tree.Content, error), path string) (string, error) {
	file, err := open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, owners.MaxBytes))
	if err == nil && len(text) == owners.MaxBytes {
		err = errors.New("it has 3 MiB or more")
	}
	return string(text), err
}

var errIrregular = errors.New("it is not a regular file")

func (r *Run) openIn(d *side, path string) (tree.Content, error) {
	leaf, found, err := d.lookup(r.Repo, path)
	switch {
	case err != nil:
		return nil, err
	case !found || !leaf.Mode.IsLeaf():
		return nil, fs.ErrNotExist
	case leaf.Mode != repo.File && leaf.Mode != repo.Executable:
		return nil, errIrregular
	}
	return r.Repo.Blob(leaf.Hash)
}

func (r *Run) openOnDisk(path string) (tree.Content, error) {
	root, err := worktree.Open(r.Place.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rd := root.Reader()
	defer rd.Close()
	file, err := openRegular(rd, path, true)
	if errors.Is(err, worktree.ErrPath) || errors.Is(err, worktree.ErrNotFile) {
		err = fs.ErrNotExist
	}
	return file, err
}
