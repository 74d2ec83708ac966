package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/scope"
)

// validateCmd checks a bundle, or call rules.
type validateCmd struct {
	bundleArg `embed:""`
	callsFlag `embed:""`
}

// Help returns the text below the flags.
func (*validateCmd) Help() string {
	return `Shows every mistake in one run, with its line, and notes on what is valid but often a
mistake. A file instead of a folder is a file of call rules, as with --calls. A bundle is
then checked only if one is named. With sigmashake's rules, the repository's
.sigmashake/config.toml is checked too.

Exit status: 0 what was checked is valid, with or without notes; 2 it is not.`
}

// Run prints the mistakes in what is named, or a summary of its rules.
func (c *validateCmd) Run(std streams) error {
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
		failed = c.bundles(std)
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

// bundles checks the bundles, each by itself and then together.
func (c *validateCmd) bundles(std streams) error {
	all, err := c.bundleArg.find()
	if err != nil {
		return err
	}
	var failed error
	for i := range all {
		failed = errors.Join(failed, c.bundle(std, &all[i]))
	}
	if failed != nil {
		return failed
	}
	var list document.Errors
	if errors.As(all.Distinct(), &list) {
		return mistaken(std, all.String(), list)
	}
	return nil
}

// bundle checks a bundle.
func (c *validateCmd) bundle(std streams, p *scope.Policy) error {
	err := p.Load()
	var list document.Errors
	if errors.As(err, &list) {
		return mistaken(std, p.Name, list)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	for _, n := range rules.Notes(p.Bundle) {
		e := &document.Error{Bundle: p.Lead(), File: n.File, Line: n.Line,
			Column: n.Column, Rule: n.Rule, Found: n.Text}
		if err := showMistakes(std.out, document.Errors{e}); err != nil {
			return err
		}
	}
	if p.Dir != "" && rules.HasOldSchema(p.Dir) {
		file := safe(filepath.ToSlash(filepath.Join(p.Dir, rules.SchemaFile)))
		if err := print(std.out, "%s: not the schema of this version; write it again: policyscan schema policy >%s\n",
			file, file); err != nil {
			return err
		}
	}
	b := p.Bundle
	return print(std.out, "%s: valid: %s, %s, %d deprecated\nsha256 %s\n", safe(p.Name),
		plural(b.Count(rules.Boundary), "boundary"), plural(b.Count(rules.Invariant), "invariant"),
		len(b.Deprecated), b.SHA256)
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
