package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// An AdvisedError has advice for the report that a person reads: commands that work in the current folder. They are
// not in the verdict, which is the same in every folder.
type AdvisedError struct {
	error
	Advice []string
}

// Unwrap returns the error that the advice is about.
func (a *AdvisedError) Unwrap() error { return a.error }

// named returns the bundles that are named, without the one that discovery finds.
func (r *Run) named() []string {
	return slices.DeleteFunc(slices.Clone(r.Policies), func(name string) bool { return name == "" })
}

// advisePath adds advice to the error that PATH is a file: the command that checks that file.
func (r *Run) advisePath(err error) error {
	st, serr := os.Stat(r.Path)
	if err == nil || serr != nil || !st.Mode().IsRegular() || r.Content != nil || r.List != nil {
		return err
	}
	dir, name := filepath.Split(r.Path)
	root, within, aerr := repo.Around(dir)
	to, terr := r.listing(root)
	entry, ok := r.shellWord(filepath.ToSlash(filepath.Join(within, name)))
	if aerr != nil || terr != nil || !ok {
		return err
	}
	policy := ""
	for _, name := range r.named() {
		word, ok := r.shellWord(name)
		if !ok {
			return err
		}
		policy += " --policy " + word
	}
	echo := "echo"
	if !plainWord().MatchString(entry) { // echo may change it
		echo = `printf '%s\n'`
	}
	advice := "to check this file: " + echo + " " + entry + " | policyscan" + policy + " --files-from -" + to
	return &AdvisedError{err, []string{advice}}
}

// adviseBundle adds advice to the error that the folder PATH has no bundle: the bundle of the repository around it, and
// the command that checks the folder with it.
func (r *Run) adviseBundle(err error, p Place) error {
	var none *document.Error
	if !errors.As(err, &none) || none.Code != document.CodeMissing || none.File != "" ||
		r.Path == "" || len(r.named()) > 0 {
		return err
	}
	root, within, aerr := repo.Around(p.Root)
	if aerr != nil || within == "" {
		return err
	}
	dir, derr := rules.Discover(root)
	to, terr := r.listing(root)
	if derr != nil || terr != nil {
		return err
	}
	about := p.Shown
	if about == "." {
		about = "this folder"
	}
	advice := []string{fmt.Sprintf("the repository around %s has a bundle: %s", about, disk.Shown(dir))}
	folder, ok := r.shellWord(p.Shown)
	files := ""
	switch {
	case !ok || r.Content != nil || r.List != nil: // these flags already say what to check
	case to != "":
		files = "git -C " + folder + " ls-files -z --full-name"
	case p.Shown == within:
		files = "git ls-files -z " + folder
	default:
		files = "git ls-files -z --full-name " + folder
	}
	if files != "" {
		advice = append(advice, "to check this folder with it: "+files+" | policyscan --files-from -"+to)
	}
	return &AdvisedError{err, advice}
}

// listing returns what follows "policyscan --files-from -" so that the list counts from a root: nothing if that
// is the root of the repository around the current folder.
func (r *Run) listing(root string) (string, error) {
	cwd, err := disk.Real(".")
	if err != nil {
		return "", err
	}
	own, err := repo.Root(cwd)
	if err != nil || own == root {
		return "", err
	}
	if root, err = disk.FromHere(root); err != nil {
		return "", err
	}
	word, ok := r.shellWord(filepath.ToSlash(root))
	if !ok {
		return "", errors.New("a shell does not take the name")
	}
	return " " + word, nil
}

// adviseCommit adds advice to the error that no commit has a bundle: the command that commits the one on disk, or
// the flag that checks a commit with it.
func (r *Run) adviseCommit(err error, p Place) error {
	dir, derr := rules.Discover(p.Root)
	if derr != nil || p.Root == "" || p.Bare {
		return err
	}
	shown := disk.Shown(dir)
	if word, ok := r.shellWord(shown); ok && r.Rev != "" {
		return &AdvisedError{err, []string{"there is one on disk; to check the commit with it: --policy " + word}}
	}
	if filepath.Base(dir) != ".policyscan" {
		shown = disk.Shown(filepath.Join(dir, "rules"))
	}
	word, ok := r.shellWord(shown)
	if !ok {
		return err
	}
	advice := "there is one on disk, " + shown + "; to commit it: git add " + word + " && git commit"
	return &AdvisedError{err, []string{advice}}
}

// plainWord matches a word that a shell does not change.
var plainWord = late.Regexp(`^[A-Za-z0-9_./][A-Za-z0-9_./@%+=:,-]*$`)

// shellWord returns a path as a word for a shell; false if it does not belong in a command that a person copies.
func (r *Run) shellWord(path string) (string, bool) {
	switch {
	case plainWord().MatchString(path):
		return path, true
	case verdict.Visible(path) != path, r.Commands && verdict.Defuse(path) != path:
		return "", false
	case strings.HasPrefix(path, "-"):
		path = "./" + path
	}
	return shellQuote(path), true
}

// shellQuote quotes a text as one word of a shell, in single quotes.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

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
	more := false
	for _, j := range r.Sources {
		for i := range j.Bundle.Rules {
			for _, g := range j.Bundle.Rules[i].Files {
				switch {
				case slices.Contains(globs, g):
				case len(globs) == most:
					more = true
				default:
					globs = append(globs, g)
				}
			}
		}
	}
	selected := strings.Join(globs, ", ")
	if more {
		selected += ", …"
	}
	next := `to cover the files of this tree, edit the globs under "files:" in the bundle`
	if r.Policy == Builtin {
		next = "to cover the files of this tree, run policyscan init: it writes a bundle whose globs you can edit"
	}
	notes := []string{next + "; the rules select " + selected}
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
