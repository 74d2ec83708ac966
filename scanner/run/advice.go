package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// An AdvisedError has advice for the report. The advice is not in the verdict, which is the same in every directory.
type AdvisedError struct {
	error
	Advice []string
}

// Unwrap returns the error without its advice.
func (a *AdvisedError) Unwrap() error { return a.error }

// adviseBundle adds advice to the error that the directory PATH has no bundle: how to check it with the bundle of the
// repository around it.
func (r *Run) adviseBundle(err error) error {
	var none *document.Error
	if !errors.As(err, &none) || none.Code != document.CodeMissing || none.File != "" ||
		r.Path == "" || !r.discovers() {
		return err
	}
	root, within, aerr := repo.Around(r.Place.Root)
	if aerr != nil || within == "" {
		return err
	}
	dir, derr := rules.Discover(root)
	if derr != nil {
		return err
	}
	return &AdvisedError{err, []string{
		"the repository around it has a bundle: " + disk.Shown(dir),
		"to check the directory with it: policyscan --files " + verdict.Visible(r.Path),
	}}
}

// noteOuter notes that the bundle of the repository's root names the directory PATH.
func (r *Run) noteOuter() {
	if r.Path == "" || r.List != nil || r.Content != nil || !r.discovers() {
		return
	}
	root, within, err := repo.Around(r.Place.Root)
	if err != nil || within == "" {
		return
	}
	outer, err := loadRules("", root)
	if err == nil && glob.Compile(outer.Bundle.Bundles).Match(within) {
		r.Notes = append(r.Notes, "the bundle of the repository's root names this directory, and its rules were not "+
			"used; to check the directory with all rules: policyscan --files "+verdict.Visible(r.Path))
	}
}

// adviseCommit adds advice to the error that a commit has no bundle: how to use the one on disk.
func (r *Run) adviseCommit(err error) error {
	dir, derr := rules.Discover(r.Place.Root)
	if derr != nil || r.Place.Bare {
		return err
	}
	next := "commit it"
	if r.Rev != "" {
		next = "to check the commit with it, name it with --policy"
	}
	return &AdvisedError{err, []string{"there is one on disk, " + disk.Shown(dir) + "; " + next}}
}

// UncoveredHints returns what to do next if a whole tree was scanned and no rule covers any of its files. A change or
// a list of files may have no covered file.
func (r *Run) UncoveredHints(v *verdict.Verdict) []string {
	if v.Coverage.Files == 0 || v.Coverage.Governed > 0 || v.Scope.Mode != "full" && v.Scope.Mode != "tracked" {
		return nil
	}
	if slices.ContainsFunc(v.Rules, func(r verdict.Rule) bool { return r.Files > 0 }) {
		return nil // the hints are about paths
	}
	const most = 5
	var globs []string
	for _, source := range r.Sources {
		for i := range source.Bundle.Rules {
			for _, g := range source.Bundle.Rules[i].Files {
				if !slices.Contains(globs, g) && len(globs) <= most {
					globs = append(globs, g)
				}
			}
		}
	}
	if len(globs) > most {
		globs[most] = "…"
	}
	next := `to cover the files of this tree, edit the globs under "files:" in the bundle`
	if IsBuiltin(r.Policy) {
		next = "to cover the files of this tree, run policyscan init: it writes a bundle whose globs you can edit"
	}
	notes := []string{next + "; the rules select " + strings.Join(globs, ", ")}
	if v.Complete {
		notes = append(notes, "with --require-governed, a run that covers no file fails")
	}
	return notes
}

// LintNotes returns the lint notes of the rules: at most five, then the number of others. The rules of a change's
// base, which the change cannot fix, have none.
func (r *Run) LintNotes() []string {
	const most = 5
	var all []string
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.From == fromBase {
			continue
		}
		prefix := s.PathPrefix()
		if s.From == fromCommit { // 1234567:.policyscan, in git's syntax
			prefix = strings.TrimSuffix(s.Name, "/") + "/"
		}
		notes := rules.Notes(s.Bundle)
		if r.discovers() {
			notes = append(notes, RuleSources(r.Sources).NamesNotes(s.Bundle)...)
		}
		for _, n := range notes {
			all = append(all, prefix+n.String())
		}
	}
	switch more := len(all) - most; {
	case more == 1:
		all = append(all[:most], "1 more note on the rules: policyscan validate prints it")
	case more > 1:
		all = append(all[:most], fmt.Sprintf("%d more notes on the rules: policyscan validate prints them", more))
	}
	return all
}
