package allowance

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
	"github.com/policyscan/policyscan/scanner/run"
)

// A File is the rules/allowances.yml to edit, and the bundles in use.
type File struct {
	Name string // for display

	policies run.RuleSources
	own      int    // the index of its bundle
	file     string // for the system
	text     []byte // nil: there is no file yet
	was      fs.FileInfo
	rules    map[string]*rules.Rule // the enforced ones of all bundles, by id
	hashes   []string               // of the bundles
}

// Open returns the file of loaded bundles. into names the one to write to; "" is the only one in the repository around
// the directory root.
func Open(all run.RuleSources, root, into string) (*File, error) {
	own, err := choose(all, root, into)
	if err != nil {
		return nil, err
	}
	p := &all[own]
	l := &File{
		Name: p.PathPrefix() + rules.AllowancesFile, policies: all, own: own,
		file: filepath.Join(p.Dir, filepath.FromSlash(rules.AllowancesFile)),
	}
	l.rules = map[string]*rules.Rule{}
	for _, b := range all.Bundles() {
		l.hashes = append(l.hashes, b.SHA256)
		for i := range b.Rules {
			l.rules[b.Rules[i].ID] = &b.Rules[i]
		}
	}
	return l, l.read()
}

// read reads the file as the bundle was loaded from it.
func (l *File) read() error {
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
		return fmt.Errorf("%s changed meanwhile, so nothing was written; run it again", l.Name)
	}
	return nil
}

func (l *File) bundle() *rules.Bundle { return l.policies[l.own].Bundle }

// Entries returns the entries of the file.
func (l *File) Entries() []rules.Allowance { return l.bundle().Allowances }

// edit changes and adds entries: change is called for each by its index. A file without an entry is deleted.
func (l *File) edit(change func(i int, was Entry) (now Entry, keep bool), added []Entry) (deleted bool, err error) {
	i, dir := -1, l.bundle().Below
	in, out := func(e Entry) Entry { return e }, func(e Entry) Entry { return e }
	if dir != "" { // paths and rules count from there
		in, out = func(e Entry) Entry { return e.In(dir) }, func(e Entry) Entry { return e.Out(dir) }
		added = slices.Clone(added)
	}
	for k := range added {
		added[k] = out(added[k])
	}
	text, err := rules.EditAllowances(l.text, func(was Entry) (Entry, bool) {
		i++
		now, keep := change(i, in(was))
		return out(now), keep
	}, added)
	if err == nil {
		err = l.write(text)
	}
	return text == nil && l.was != nil, err
}

func (l *File) unchanged() error {
	now := *l
	return now.read()
}

func (l *File) write(text []byte) error {
	if bytes.Equal(text, l.text) && (text == nil) == (l.was == nil) {
		return nil // unchanged
	}
	var err error
	if text != nil {
		err = disk.ReplaceIf(l.file, text, l.was, l.unchanged)
	} else if err = l.unchanged(); err == nil {
		err = os.Remove(l.file)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", l.Name, disk.Cause(err))
	}
	return nil
}

func choose(all run.RuleSources, root, into string) (int, error) {
	if into != "" {
		for i := range all {
			if all[i].Dir != "" && disk.Same(all[i].Dir, into) {
				return i, nil
			}
		}
		return 0, fmt.Errorf("--into %q is not a bundle in use; choose one of %s", into, all)
	}
	var here []string // directories whose bundles are the repository's own
	for _, dir := range []string{root, "."} {
		at, _, err := repo.Around(dir)
		if err != nil {
			return 0, err
		}
		here = append(here, at)
	}
	var own, with []int // of the repository, and the ones among them with the file
	var names []string
	for i := range all {
		if all[i].Below != "" || !insideAny(all[i].Dir, here) { // the root's bundle can allow for all rules
			continue
		}
		own, names = append(own, i), append(names, "--into "+all[i].Name)
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
		return 0, fmt.Errorf("several bundles of this repository could have the allowances; give %s",
			strings.Join(names, " or "))
	}
	return 0, errOutside(all)
}

// errOutside is the error that no bundle belongs to the repository.
func errOutside(all run.RuleSources) error {
	const beginOne = `create .policyscan/rules/boundaries.yml with the lines bundle: "0.2" and rules: [], ` +
		`and scan and run this with both bundles (--policy for each)`
	if i := slices.IndexFunc(all, func(p run.RuleSource) bool { return p.Dir != "" }); i >= 0 {
		return fmt.Errorf("the bundle %s is outside of this repository; %s, or give --into %s to write there",
			all[i].Name, beginOne, all[i].Name)
	}
	return fmt.Errorf("the bundle %s is part of the program and cannot have allowances; "+
		"policyscan init writes one that can; or %s", all, beginOne)
}

// insideAny reports whether a bundle's directory, without links, is one of some directories or below one.
func insideAny(dir string, dirs []string) bool {
	if dir == "" {
		return false
	}
	at, err := disk.Real(dir)
	return err == nil && slices.ContainsFunc(dirs, func(dir string) bool {
		rel, err := filepath.Rel(dir, at)
		return err == nil && filepath.IsLocal(rel)
	})
}
