package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// An adviceError has advice for the report of a person: commands that work in the current folder, and that no
// verdict holds, which is the same in every folder.
type adviceError struct {
	error
	advice []string
}

func (a *adviceError) Unwrap() error { return a.error }

// aboutPath adds to the error that PATH is no folder the command that checks the file that it is.
func (c *scanCmd) aboutPath(err error) error {
	st, serr := os.Stat(c.Path)
	if err == nil || serr != nil || !st.Mode().IsRegular() || c.Stdin || c.FilesFrom != "" {
		return err
	}
	dir, name := filepath.Split(c.Path)
	root, within, aerr := repo.Around(dir)
	to, terr := listing(root)
	entry, ok := shellWord(filepath.ToSlash(filepath.Join(within, name)))
	if aerr != nil || terr != nil || !ok {
		return err
	}
	policy := ""
	for _, name := range c.named() {
		word, ok := shellWord(name)
		if !ok {
			return err
		}
		policy += " --policy " + word
	}
	echo := "echo"
	if !plainWord.MatchString(entry) { // which an echo may change
		echo = `printf '%s\n'`
	}
	return &adviceError{err, []string{"to check this file: " + echo + " " + entry + " | policyscan" + policy + " --files-from -" + to}}
}

// aboutBundle adds to the error that the folder PATH has no bundle that of the repository around it, and the
// command that checks the folder with it.
func (c *scanCmd) aboutBundle(err error, p place) error {
	var none *rules.Error
	if !errors.As(err, &none) || none.Code != rules.CodeMissing || none.File != "" || c.Path == "" || len(c.Policy) > 0 {
		return err
	}
	root, within, aerr := repo.Around(p.root)
	if aerr != nil || within == "" {
		return err
	}
	dir, derr := rules.Discover(root)
	to, terr := listing(root)
	if derr != nil || terr != nil {
		return err
	}
	about := p.shown
	if about == "." {
		about = "this folder"
	}
	advice := []string{fmt.Sprintf("the repository around %s has a bundle: %s", about, shownPath(dir))}
	folder, ok := shellWord(p.shown)
	files := ""
	switch {
	case !ok || c.Stdin || c.FilesFrom != "": // which say themselves what to check
	case to != "":
		files = "git -C " + folder + " ls-files -z --full-name"
	case p.shown == within:
		files = "git ls-files -z " + folder
	default:
		files = "git ls-files -z --full-name " + folder
	}
	if files != "" {
		advice = append(advice, "to check this folder with it: "+files+" | policyscan --files-from -"+to)
	}
	return &adviceError{err, advice}
}

// listing is what follows "policyscan --files-from -" so that the list counts from a root: nothing where that
// is the root of the repository around the current folder.
func listing(root string) (string, error) {
	cwd, err := disk.Real(".")
	if err != nil {
		return "", err
	}
	own, err := repo.Root(cwd)
	if err != nil || own == root {
		return "", err
	}
	if rel, err := filepath.Rel(cwd, root); err == nil {
		root = rel
	}
	word, ok := shellWord(filepath.ToSlash(root))
	if !ok {
		return "", errors.New("a shell does not take the name")
	}
	return " " + word, nil
}

// uncommittedBundle adds to the error that no commit has a bundle the command that commits the one on disk.
func (s *subject) uncommittedBundle(err error) error {
	dir, derr := rules.Discover(s.place.root)
	if derr != nil || s.place.root == "" {
		return err
	}
	shown := shownPath(dir)
	if filepath.Base(dir) != ".policyscan" {
		shown = shownPath(filepath.Join(dir, "rules"))
	}
	word, ok := shellWord(shown)
	if !ok {
		return err
	}
	return &adviceError{err, []string{"there is one on disk, " + shown + "; to commit it: git add " + word + " && git commit"}}
}

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./@%+=:,-]*$`)

// shellWord is a path as a word for a shell; false for one that is not to be put into a line for a person.
func shellWord(path string) (string, bool) {
	switch {
	case plainWord.MatchString(path):
		return path, true
	case safe(path) != path:
		return "", false
	case strings.HasPrefix(path, "-"):
		path = "./" + path
	}
	return shellQuote(path), true
}

// uncovered is what to do next where a whole tree was scanned and no rule covers a file of it. A change, or a
// list, need not touch what a rule is about.
func (s *subject) uncovered(v *verdict.Verdict) []string {
	if v.Coverage.Files == 0 || v.Coverage.Governed > 0 || v.Scope.Mode != "full" && v.Scope.Mode != "tracked" {
		return nil
	}
	const most = 5
	var globs []string
	more := false
	for _, j := range s.judges {
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
	if s.policy == builtin {
		next = "to cover the files of this tree, run policyscan init: it writes a bundle whose globs you can edit"
	}
	return []string{
		next + "; the rules select " + selected,
		"with --require-governed, a run that covers no file fails",
	}
}
