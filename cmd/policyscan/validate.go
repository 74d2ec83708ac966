package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/run"
)

// validateCmd checks a bundle, or call rules.
type validateCmd struct {
	bundleArg `embed:""`
	callsFlag `embed:""`
	aliveFlag `embed:""`
}

// Run prints the mistakes in what is named, or a summary of its rules.
func (c *validateCmd) Run(std streams) error {
	if err := c.aliveFlag.check(); err != nil {
		return err
	}
	if c.Alive && c.given() {
		return errors.New("--alive is about the rules of a bundle, and --calls names call rules; remove one of them")
	}
	if c.Alive {
		return c.alive(std)
	}
	if st, err := os.Stat(c.Dir); c.Dir != "" && err == nil && !st.IsDir() {
		if dir, name := filepath.Split(filepath.Clean(c.Dir)); isOfBundle(dir, name) {
			return fmt.Errorf("%s is a rule file of a bundle; check the bundle: policyscan validate %s",
				quoted(c.Dir), quoted(filepath.Dir(filepath.Clean(dir))))
		}
		if c.takes(c.Dir) {
			c.Dir = ""
		}
	}
	var failed error
	if !c.given() || c.Dir != "" || len(c.Policy) > 0 {
		_, failed = c.bundles(std, "")
	}
	return errors.Join(failed, c.validate(std))
}

// isOfBundle reports whether a file is a bundle's, whose folder of rule files is dir: by its name, or since it would be
// read as one of 0.2.
func isOfBundle(dir, name string) bool {
	if filepath.Base(dir) != "rules" || rules.IsRuleFile(name) || !rules.MayBeRead("rules/"+name) {
		return filepath.Base(dir) == "rules" && rules.IsRuleFile(name)
	}
	_, err := os.Stat(filepath.Join(dir, filepath.Base(rules.BoundariesFile)))
	return err == nil
}

// bundles checks the bundles, each by itself and then together. If none is named it is that of a root; "" is the root
// around the current folder.
func (c *validateCmd) bundles(std streams, root string) (run.RuleSources, error) {
	all, err := c.bundleArg.find(root)
	if err != nil {
		return nil, err
	}
	var failed error
	for i := range all {
		failed = errors.Join(failed, c.bundle(std, &all[i], len(all) == 1))
	}
	if failed != nil {
		return nil, failed
	}
	var list document.Errors
	if errors.As(all.CheckCombined(), &list) {
		return nil, mistaken(std, all.String(), list)
	}
	if len(all) == 1 {
		return all, nil // its notes were shown with the others
	}
	for i, notes := range all.AllowanceNotes() {
		if err := showNotes(std, &all[i], notes); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// bundle checks a bundle, which may be alone.
func (c *validateCmd) bundle(std streams, p *run.RuleSource, alone bool) error {
	err := p.Load()
	if err == nil && alone {
		err = run.RuleSources{*p}.CheckCombined()
	}
	var list document.Errors
	if errors.As(err, &list) {
		return mistaken(std, p.Name, list)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	notes := rules.Notes(p.Bundle)
	if alone {
		notes = append(notes, run.RuleSources{*p}.AllowanceNotes()[0]...)
	}
	if err := showNotes(std, p, notes); err != nil {
		return err
	}
	if p.Dir != "" && rules.HasOldSchema(p.Dir) {
		file := safe(filepath.ToSlash(filepath.Join(p.Dir, rules.SchemaFile)))
		if err := print(std.out, "%s: not the schema of this version; write it again: policyscan schema policy >%s\n",
			file, file); err != nil {
			return err
		}
	}
	b := p.Bundle
	allowed := ""
	if n := len(b.Allowances); n > 0 {
		allowed = ", " + plural(n, "allowance")
	}
	return print(std.out, "%s: valid: %s, %s, %d deprecated%s\nsha256 %s\n", safe(p.Name),
		plural(b.Count(rules.Boundary), "boundary"), plural(b.Count(rules.Invariant), "invariant"),
		len(b.Deprecated), allowed, b.SHA256)
}

// showNotes prints notes on a bundle.
func showNotes(std streams, p *run.RuleSource, notes []document.Note) error {
	for _, n := range notes {
		e := &document.Error{Bundle: p.PathPrefix(), File: n.File, Line: n.Line,
			Column: n.Column, Rule: n.Rule, Found: n.Text}
		if err := showMistakes(std.out, document.Errors{e}); err != nil {
			return err
		}
	}
	return nil
}

// mistaken prints mistakes, and returns the error that there are some.
func mistaken(std streams, name string, list document.Errors) error {
	if err := showMistakes(std.out, list); err != nil {
		return err
	}
	return outcome{exitUndecided, fmt.Errorf("%s: %s", name, plural(len(list), "mistake"))}
}

func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case thing == "boundary":
		return fmt.Sprintf("%d boundaries", n)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
