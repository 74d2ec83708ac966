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

// An adviceError has advice for the report that a person reads: commands that work in the current folder. They are not
// in the verdict, which is the same in every folder.
type adviceError struct {
	error
	advice []string
}

func (a *adviceError) Unwrap() error { return a.error }

// aboutPath adds advice to the error that PATH is a file: the command that checks that file.
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
	if !plainWord.MatchString(entry) { // echo may change it
		echo = `printf '%s\n'`
	}
	advice := "to check this file: " + echo + " " + entry + " | policyscan" + policy + " --files-from -" + to
	return &adviceError{err, []string{advice}}
}

// aboutBundle adds advice to the error that the folder PATH has no bundle: the bundle of the repository around it, and
// the command that checks the folder with it.
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
	case !ok || c.Stdin || c.FilesFrom != "": // these flags already say what to check
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

// listing returns what follows "policyscan --files-from -" so that the list counts from a root: nothing if that
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

// uncommittedBundle adds advice to the error that no commit has a bundle: the command that commits the one on disk.
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
	advice := "there is one on disk, " + shown + "; to commit it: git add " + word + " && git commit"
	return &adviceError{err, []string{advice}}
}

// plainWord matches a word that a shell does not change.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./@%+=:,-]*$`)

// shellWord returns a path as a word for a shell; false if it does not belong in a command that a person copies.
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

// shellQuote quotes a text as one word of a shell, in single quotes.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// uncovered returns what to do next if a whole tree was scanned and no rule covers any of its files. A change or a
// list of files may well have none that a rule covers.
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
