package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// An AdvisedError has advice for the report that a person reads. It is not in the verdict, which is the same in every
// folder.
type AdvisedError struct {
	error
	Advice []string
}

// Unwrap returns the error that the advice is about.
func (a *AdvisedError) Unwrap() error { return a.error }

// adviseBundle adds advice to the error that the folder PATH has no bundle: the bundle of the repository around it, and
// how the folder is checked with it.
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
		"to check the folder with it, run in the folder: git ls-files -z --full-name . | policyscan --files-from -",
	}}
}

// adviseCommit adds advice to the error that no commit has a bundle: the one on disk, and what to do with it.
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

// UncoveredHints returns what to do next if a whole tree was scanned and no rule covers any of its files. A change or a
// list of files may well have none that a rule covers.
func (r *Run) UncoveredHints(v *verdict.Verdict) []string {
	if v.Coverage.Files == 0 || v.Coverage.Governed > 0 || v.Scope.Mode != "full" && v.Scope.Mode != "tracked" {
		return nil
	}
	if slices.ContainsFunc(v.Rules, func(r verdict.Rule) bool { return r.Files > 0 }) {
		return nil // they are about paths
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
	if r.Policy == Builtin {
		next = "to cover the files of this tree, run policyscan init: it writes a bundle whose globs you can edit"
	}
	notes := []string{next + "; the rules select " + strings.Join(globs, ", ")}
	if v.Complete {
		notes = append(notes, "with --require-governed, a run that covers no file fails")
	}
	return notes
}

// LintNotes returns notes on what in the rules is often a mistake: at most five, then how many more there are. The
// rules of a change's base, which the change cannot mend, have none.
func (r *Run) LintNotes() []string {
	const most = 5
	var all []string
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.From == fromBase {
			continue
		}
		prefix := s.PathPrefix()
		if s.From == fromCommit { // 1234567:.policyscan, as git shows it
			prefix = strings.TrimSuffix(s.Name, "/") + "/"
		}
		for _, n := range rules.Notes(s.Bundle) {
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
