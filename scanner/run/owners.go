package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/owners"
	"github.com/policyscan/policyscan/scanner/repo"
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

// readOwners reads CODEOWNERS, if a rule asks for it: before a change that of its base, so that no change gives its
// violations to others. Owners judge nothing: what cannot be read is a note.
func (r *Run) readOwners() {
	asks := func(rule rules.Rule) bool { return rule.Owner == verdict.CodeOwners }
	if !slices.ContainsFunc(r.Rules.Bundle.Rules, asks) {
		return
	}
	const so = "rules with owner: CODEOWNERS have no owner"
	of, read := "", r.readOnDisk
	if d := r.ownersAt; d != nil {
		of, read = " of "+d.String(), func(path string) (string, bool, error) { return r.readAt(d, path) }
	}
	for _, place := range owners.Places() {
		text, found, err := read(place)
		switch {
		case err != nil:
			r.Notes = append(r.Notes, fmt.Sprintf("%s%s cannot be read (%v): %s", place, of, disk.Cause(err), so))
			return
		case len(text) >= owners.MaxBytes:
			r.Notes = append(r.Notes, fmt.Sprintf("%s%s has %d MiB or more, with which it is not loaded: %s", place, of,
				owners.MaxBytes>>20, so))
			return
		case found:
			_, inGitLab, _ := read(owners.GitLabCI)
			r.owners = owners.Parse(place, text, inGitLab)
			r.noteSkipped(place + of)
			return
		}
	}
	if of == "" {
		of = " of the tree"
	}
	r.Notes = append(r.Notes, "there is no CODEOWNERS among the files"+of+": "+so)
}

func (r *Run) noteSkipped(file string) {
	const most = 10
	syntax, lines := "GitHub's", r.owners.Skipped
	if r.owners.IsGitLab {
		syntax = "GitLab's"
	}
	word := "lines "
	switch len(lines) {
	case 0:
		return
	case 1:
		word = "line "
	}
	var numbers []string
	for _, n := range lines[:min(len(lines), most)] {
		numbers = append(numbers, strconv.Itoa(n))
	}
	if more := len(lines) - most; more > 0 {
		numbers = append(numbers, fmt.Sprintf("and %d more", more))
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s: skipped what means nothing in %s syntax: %s", file, syntax,
		word+strings.Join(numbers, ", ")))
}

func (r *Run) readAt(d *side, path string) (text string, found bool, err error) {
	leaf, found, err := d.lookup(r.Repo, path)
	switch {
	case err != nil || !found || !leaf.Mode.IsLeaf() || leaf.Mode == repo.Submodule:
		return "", false, err
	case leaf.Mode == repo.Symlink:
		return "", false, errLink
	}
	blob, err := r.Repo.Blob(leaf.Hash)
	if err != nil {
		return "", false, err
	}
	defer blob.Close()
	return readOwnersFile(blob)
}

var errLink = errors.New("it is a symbolic link")

func (r *Run) readOnDisk(path string) (text string, found bool, err error) {
	root, err := worktree.Open(r.Place.Root)
	if err != nil {
		return "", false, err
	}
	defer root.Close()
	rd := root.Reader()
	defer rd.Close()
	st, err := rd.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, worktree.ErrNotFile), errors.Is(err, worktree.ErrPath):
		return "", false, nil
	case err != nil:
		return "", false, err
	case st.Kind == worktree.Symlink:
		return "", false, errLink
	case st.Kind != worktree.Regular:
		return "", false, errors.New("it is no regular file")
	}
	file, err := rd.Open(path, true)
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	return readOwnersFile(file)
}

func readOwnersFile(from io.Reader) (text string, found bool, err error) {
	all, err := io.ReadAll(io.LimitReader(from, owners.MaxBytes))
	return string(all), err == nil, err
}
