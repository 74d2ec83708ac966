package scope

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

// An Advised error has advice for the report that a person reads: commands that work in the current folder. They are
// not in the verdict, which is the same in every folder.
type Advised struct {
	error
	Advice []string
}

// Unwrap returns the error that the advice is about.
func (a *Advised) Unwrap() error { return a.error }

// named returns the bundles that are named, without the one that discovery finds.
func (q *Request) named() []string {
	return slices.DeleteFunc(slices.Clone(q.Policies), func(name string) bool { return name == "" })
}

// aboutPath adds advice to the error that PATH is a file: the command that checks that file.
func (q *Request) aboutPath(err error) error {
	st, serr := os.Stat(q.Path)
	if err == nil || serr != nil || !st.Mode().IsRegular() || q.Content != nil || q.List != nil {
		return err
	}
	dir, name := filepath.Split(q.Path)
	root, within, aerr := repo.Around(dir)
	to, terr := q.listing(root)
	entry, ok := q.shellWord(filepath.ToSlash(filepath.Join(within, name)))
	if aerr != nil || terr != nil || !ok {
		return err
	}
	policy := ""
	for _, name := range q.named() {
		word, ok := q.shellWord(name)
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
	return &Advised{err, []string{advice}}
}

// aboutBundle adds advice to the error that the folder PATH has no bundle: the bundle of the repository around it, and
// the command that checks the folder with it.
func (q *Request) aboutBundle(err error, p Place) error {
	var none *document.Error
	if !errors.As(err, &none) || none.Code != document.CodeMissing || none.File != "" ||
		q.Path == "" || len(q.named()) > 0 {
		return err
	}
	root, within, aerr := repo.Around(p.Root)
	if aerr != nil || within == "" {
		return err
	}
	dir, derr := rules.Discover(root)
	to, terr := q.listing(root)
	if derr != nil || terr != nil {
		return err
	}
	about := p.Shown
	if about == "." {
		about = "this folder"
	}
	advice := []string{fmt.Sprintf("the repository around %s has a bundle: %s", about, disk.Shown(dir))}
	folder, ok := q.shellWord(p.Shown)
	files := ""
	switch {
	case !ok || q.Content != nil || q.List != nil: // these flags already say what to check
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
	return &Advised{err, advice}
}

// listing returns what follows "policyscan --files-from -" so that the list counts from a root: nothing if that
// is the root of the repository around the current folder.
func (q *Request) listing(root string) (string, error) {
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
	word, ok := q.shellWord(filepath.ToSlash(root))
	if !ok {
		return "", errors.New("a shell does not take the name")
	}
	return " " + word, nil
}

// aboutUncommitted adds advice to the error that no commit has a bundle: the command that commits the one on disk, or
// the flag that checks a commit with it.
func (q *Request) aboutUncommitted(err error, p Place) error {
	dir, derr := rules.Discover(p.Root)
	if derr != nil || p.Root == "" || p.Bare {
		return err
	}
	shown := disk.Shown(dir)
	if word, ok := q.shellWord(shown); ok && q.Rev != "" {
		return &Advised{err, []string{"there is one on disk; to check the commit with it: --policy " + word}}
	}
	if filepath.Base(dir) != ".policyscan" {
		shown = disk.Shown(filepath.Join(dir, "rules"))
	}
	word, ok := q.shellWord(shown)
	if !ok {
		return err
	}
	advice := "there is one on disk, " + shown + "; to commit it: git add " + word + " && git commit"
	return &Advised{err, []string{advice}}
}

// plainWord matches a word that a shell does not change.
var plainWord = late.Regexp(`^[A-Za-z0-9_./][A-Za-z0-9_./@%+=:,-]*$`)

// shellWord returns a path as a word for a shell; false if it does not belong in a command that a person copies.
func (q *Request) shellWord(path string) (string, bool) {
	switch {
	case plainWord().MatchString(path):
		return path, true
	case verdict.Visible(path) != path, q.Commands && verdict.Defuse(path) != path:
		return "", false
	case strings.HasPrefix(path, "-"):
		path = "./" + path
	}
	return shellQuote(path), true
}

// shellQuote quotes a text as one word of a shell, in single quotes.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Uncovered returns what to do next if a whole tree was scanned and no rule covers any of its files. A change or a
// list of files may well have none that a rule covers.
func (s *Subject) Uncovered(v *verdict.Verdict) []string {
	if v.Coverage.Files == 0 || v.Coverage.Governed > 0 || v.Scope.Mode != "full" && v.Scope.Mode != "tracked" {
		return nil
	}
	if slices.ContainsFunc(v.Rules, func(r verdict.Rule) bool { return r.Files > 0 }) {
		return nil // they are about paths
	}
	const most = 5
	var globs []string
	more := false
	for _, j := range s.Judges {
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
	if s.Policy == Builtin {
		next = "to cover the files of this tree, run policyscan init: it writes a bundle whose globs you can edit"
	}
	notes := []string{next + "; the rules select " + selected}
	if v.Complete {
		notes = append(notes, "with --require-governed, a run that covers no file fails")
	}
	return notes
}

// BundleNotes returns notes on what in the rules is often a mistake: at most five, then how many more there are. The
// rules of a change's base, which the change cannot mend, have none.
func (s *Subject) BundleNotes() []string {
	const most = 5
	var all []string
	for i, j := range s.Judges {
		if j.From == "base" {
			continue
		}
		dir := s.Bundles[i]
		if j.From == "head" || j.From == "index" || j.From == "bootstrap" {
			_, dir, _ = strings.Cut(dir, ":") // 1234567:.policyscan
		}
		p := Policy{Name: dir, Dir: dir}
		for _, n := range rules.Notes(j.Bundle) {
			all = append(all, p.Lead()+n.String())
		}
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("%d more notes on the rules: policyscan validate prints them", more))
	}
	return all
}
