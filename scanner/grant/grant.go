// Package grant writes a bundle's rules/allowances.yml, and is the only one that writes to a bundle.
//
//	a verdict of the whole tree, who signs ------------ Add --+
//	a scan of the whole tree, and a commit before --Tighten --+--> rules/allowances.yml, an Outcome
//	the entries of the bundles, a day --Due--> the entries that end
//
// [Open] finds the file: of several bundles that of the repository itself. [Ledger.Add] adds entries for what a verdict
// says is there, and raises one only if it is asked to. [Ledger.Tighten] lowers entries to what is there, removes the
// empty ones, and says with "from" where occurrences came from. [Due] only reads.
//
// Each of them does all or nothing: the file is replaced whole, if it is still as it was read, and one without an entry
// is deleted. Comments, the order of the entries and everything else in it stay. A file that is a link, or not a
// regular file, is an error.
//
// # What tightening recognises
//
// No number of an entry without a new "from" grows, and the numbers of a rule never grow together. What one entry may
// lose, another file's may have, up to what is there, if content shows where it went:
//
//   - A file that is gone was renamed to one that is new, if at least half of the larger one is the same: compared
//     as git does, by lines, each counted once, in pieces of 64 bytes. Pairs that are most alike come first; of
//     equal ones those whose base names are the same, then in the order of the paths.
//   - An occurrence moved between other files, if its line is gone from one since the commit before, and is new in the
//     other, or came back to where the entry of the first says it was. Spaces and tabs in it do not count.
//
// What a file was is what it had in any of the branch's commits: the last [maxSteps] by their first parents. What an
// entry's "from" names stands for a file that was in none of them.
//
// An entry with may_grow is left alone, and so are one for a file that was not scanned and one for a rule that is not
// enforced. Files over [MaxCompared] bytes are not compared. Where many files are gone and new, a new one is compared
// with those that have lines of it that no other has.
//
// Nothing that is returned for a person is escaped.
package grant

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/scope"
)

// A Ledger is the rules/allowances.yml that is written to, and the bundles in use.
type Ledger struct {
	Name string // of the file, as a person would name it

	policies scope.Policies
	own      int    // the bundle that the file is, or will be, part of
	file     string // as the system opens it
	text     []byte // nil: there is no file yet
	was      fs.FileInfo
	rules    map[string]*rules.Rule // the enforced ones of all bundles, by id
}

// Open returns the ledger of bundles, which are loaded. into names the one to write to; "" is that of the repository
// that the folder root is in, of which there must be one.
func Open(all scope.Policies, root, into string) (*Ledger, error) {
	own, err := choose(all, root, into)
	if err != nil {
		return nil, err
	}
	p := &all[own]
	l := &Ledger{
		Name: p.Lead() + rules.AllowancesFile, policies: all, own: own,
		file: filepath.Join(p.Dir, filepath.FromSlash(rules.AllowancesFile)),
	}
	l.rules = map[string]*rules.Rule{}
	for _, b := range all.Bundles() {
		for i := range b.Rules {
			l.rules[b.Rules[i].ID] = &b.Rules[i]
		}
	}
	return l, l.read()
}

// read reads the file as the bundle was loaded from it.
func (l *Ledger) read() error {
	sum, loaded := l.bundle().Files[rules.AllowancesFile]
	was, err := os.Lstat(l.file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !loaded:
		return nil
	case err == nil && !was.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file; put one there, or remove it", l.Name)
	case err == nil:
		l.was = was
		l.text, err = os.ReadFile(l.file)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", l.Name, disk.Cause(err))
	}
	if !loaded || sha256.Sum256(l.text) != sum {
		return l.changed()
	}
	return nil
}

// changed is the error that the file is not as it was read.
func (l *Ledger) changed() error {
	return fmt.Errorf("%s changed meanwhile, so nothing was written; run it again", l.Name)
}

// bundle is the one that is written to.
func (l *Ledger) bundle() *rules.Bundle { return l.policies[l.own].Bundle }

// entries are those of the file.
func (l *Ledger) entries() []rules.Allowance { return l.bundle().Allowances }

// write replaces the file, or deletes it if there is no text.
func (l *Ledger) write(text []byte) error {
	if bytes.Equal(text, l.text) && (text == nil) == (l.was == nil) {
		return nil // as it is
	}
	unchanged := func() error {
		now, err := os.Lstat(l.file)
		switch {
		case l.was == nil && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case l.was == nil || err != nil || !os.SameFile(l.was, now) || now.Size() != l.was.Size() ||
			!now.ModTime().Equal(l.was.ModTime()):
			return l.changed()
		}
		return nil
	}
	var err error
	if text == nil {
		if err = unchanged(); err == nil {
			err = os.Remove(l.file)
		}
	} else {
		err = disk.ReplaceIf(l.file, text, l.was, unchanged)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", l.Name, disk.Cause(err))
	}
	return nil
}

// choose returns the bundle to write to.
func choose(all scope.Policies, root, into string) (int, error) {
	if into != "" {
		for i := range all {
			if all[i].Dir != "" && disk.Same(all[i].Dir, into) {
				return i, nil
			}
		}
		return 0, fmt.Errorf("--into is %q, which is none of the folders of the bundles in use (%s)", into, all)
	}
	here, err := places(root)
	if err != nil {
		return 0, err
	}
	var own, with []int // of the repository, and of these the ones that have the file
	for i := range all {
		if !within(all[i].Dir, here) {
			continue
		}
		own = append(own, i)
		if _, has := all[i].Bundle.Files[rules.AllowancesFile]; has {
			with = append(with, i)
		}
	}
	switch {
	case len(own) == 1:
		return own[0], nil
	case len(with) == 1:
		return with[0], nil
	case len(own) > 1:
		var names []string
		for _, i := range own {
			names = append(names, "--into "+all[i].Name)
		}
		return 0, fmt.Errorf("several bundles of this repository could have the allowances; give %s",
			strings.Join(names, " or "))
	}
	return 0, notHere(all)
}

// notHere is the error that no bundle is the repository's own.
func notHere(all scope.Policies) error {
	const beginOne = `begin one for the allowances of this repository (.policyscan/rules/boundaries.yml with the ` +
		`lines bundle: "0.2" and rules: []), scan with both (--policy for each), and run this with both`
	if i := slices.IndexFunc(all, func(p scope.Policy) bool { return p.Dir != "" }); i >= 0 {
		return fmt.Errorf("the bundle %s is outside of this repository; %s, or give --into %s to write there",
			all[i].Name, beginOne, all[i].Name)
	}
	return fmt.Errorf("the bundle %s is part of the program and cannot have allowances; "+
		"policyscan init writes one that can; or %s", all, beginOne)
}

// places returns the folders whose bundles are the repository's own: its root, or outside of any repository the
// folder that is scanned and the current one.
func places(root string) ([]string, error) {
	var all []string
	for _, dir := range []string{root, "."} {
		at, _, err := repo.Around(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, at)
	}
	return all, nil
}

// within reports whether a bundle's folder is one of some folders, without links, or beneath one.
func within(dir string, folders []string) bool {
	if dir == "" {
		return false
	}
	at, err := disk.Real(dir)
	return err == nil && slices.ContainsFunc(folders, func(folder string) bool {
		rel, err := filepath.Rel(folder, at)
		return err == nil && filepath.IsLocal(rel)
	})
}
