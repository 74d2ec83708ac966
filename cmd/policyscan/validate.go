package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
)

type validateCmd struct {
	bundleArg `embed:""`
	callsFlag `embed:""`
	colorFlag `embed:""`

	Alive        bool     `help:"@validate_alive"`
	ExamplesOnly bool     `help:"@validate_examples_only"`
	Allow        []string `placeholder:"REASON" sep:"none" help:"@validate_allow"`
}

// Run prints the mistakes in the bundles or call rules, or a summary of the rules.
func (c *validateCmd) Run(std streams) error {
	std.color = c.Color
	switch {
	case c.ExamplesOnly && !c.Alive:
		return errors.New("--examples-only is given without --alive")
	case c.Alive && c.given():
		return errors.New("--alive is about the rules of a bundle, and --calls names call rules; remove one of them")
	case c.Alive:
		return c.alive(std)
	}
	if st, err := os.Stat(c.Dir); c.Dir != "" && err == nil && !st.IsDir() {
		if dir, name := filepath.Split(filepath.Clean(c.Dir)); rules.InBundle(dir, name) {
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

// bundles checks the bundles, each by itself and then together. Without a name it checks the bundle of a root; "" is
// the root around the current directory.
func (c *validateCmd) bundles(std streams, root string) (run.RuleSources, error) {
	all, err := c.bundleArg.find(root)
	if err != nil {
		return nil, err
	}
	var failed error
	alone := len(all) == 1
	for i := range all {
		failed = errors.Join(failed, c.bundle(std, &all[i], alone))
	}
	if failed != nil {
		return nil, failed
	}
	all, err = withBelow(all, root)
	var list document.Errors
	if errors.As(err, &list) || err == nil && errors.As(all.CheckCombined(), &list) {
		return nil, reportMistakes(std, all.String(), list)
	}
	if err != nil {
		return nil, err
	}
	here := c.Dir == "" && len(c.Policy) == 0
	for i, notes := range all.AllowanceNotes() {
		if here {
			notes = append(notes, all.NamesNotes(all[i].Bundle)...)
		}
		if p := &all[i]; alone || p.Below != "" {
			err = cmp.Or(err, showBundle(std, p, append(rules.Notes(p.Bundle), notes...)))
		} else {
			err = cmp.Or(err, showNotes(std, p, notes))
		}
	}
	if here {
		err = cmp.Or(err, noteIgnored(std, all, root))
	}
	return all, err
}

// noteIgnored prints notes on the first bundles of directories that no bundle names.
func noteIgnored(std streams, all run.RuleSources, root string) error {
	place, err := run.Find(root)
	if err != nil {
		return err
	}
	dirs, _ := run.DirsWithBundle(place.Root, []string{"**"}) // mistakes there do not matter
	var notes document.Errors
	for _, dir := range dirs {
		if !slices.ContainsFunc(all, func(s run.RuleSource) bool { return s.Below == dir }) && len(notes) < mostListed {
			notes = append(notes, &document.Error{Bundle: place.Prefix, File: dir + "/" + rules.HiddenBundle,
				Found: `not enforced: "bundles" of the root's bundle does not name the directory, so this bundle is ` +
					"files like any other"})
		}
	}
	return showMistakes(std, notes)
}

// bundle loads a bundle and, unless it is alone, prints its notes.
func (c *validateCmd) bundle(std streams, p *run.RuleSource, alone bool) error {
	err := p.Load()
	var list document.Errors
	if errors.As(err, &list) {
		return reportMistakes(std, p.Name, list)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if alone {
		return nil
	}
	return showBundle(std, p, rules.Notes(p.Bundle))
}

// showBundle prints the notes on a bundle, and its numbers.
func showBundle(std streams, p *run.RuleSource, notes []document.Note) error {
	err := showNotes(std, p, notes)
	if p.Dir != "" && rules.HasOldSchema(p.Dir) {
		file := safe(filepath.ToSlash(filepath.Join(p.Dir, rules.SchemaFile)))
		err = cmp.Or(err, print(std.out,
			"%s: not the schema of this version; write it again: policyscan schema policy >%s\n", file, file))
	}
	b := p.Bundle
	allowed := ""
	if n := len(b.Allowances); n > 0 {
		allowed = ", " + plural(n, "allowance")
	}
	return cmp.Or(err, print(std.out, "%s: valid: %s, %s, %d deprecated%s\nsha256 %s\n", safe(p.Name),
		plural(b.Count(rules.Boundary), "boundary"), plural(b.Count(rules.Invariant), "invariant"),
		len(b.Deprecated), allowed, b.SHA256))
}

func showNotes(std streams, p *run.RuleSource, notes []document.Note) error {
	var all document.Errors
	for _, n := range notes {
		all = append(all, &document.Error{Bundle: p.PathPrefix(), File: n.File, Line: n.Line,
			Column: n.Column, Rule: n.Rule, Found: n.Text})
	}
	return showMistakes(std, all)
}

// reportMistakes prints mistakes, and returns the error about them.
func reportMistakes(std streams, name string, list document.Errors) error {
	if err := showMistakes(std, list); err != nil {
		return err
	}
	return exitError{exitUndecided, fmt.Errorf("%s: %s", name, plural(len(list), "mistake"))}
}

func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case thing == "boundary":
		return grouped(n) + " boundaries"
	}
	return grouped(n) + " " + thing + "s"
}

// alive prints the bundles' mistakes or, without any, the dead parts of their rules.
func (c *validateCmd) alive(std streams) error {
	ctx, _, stop := interruptible(0)
	defer stop()
	o, root := newOptions(), ""
	o.Policies, o.Allow = policyNames(c.Policy), c.Allow
	if !c.ExamplesOnly {
		const argument = "with --alive the argument is the tree to try the rules on"
		if name := c.Dir; run.IsBuiltin(name) || filepath.Base(name) == rules.HiddenBundle {
			return fmt.Errorf("%s is a bundle, and %s; write --policy %s, or add --examples-only",
				safe(name), argument, safe(name))
		}
		if st, err := os.Stat(c.Dir); c.Dir != "" && err == nil && !st.IsDir() {
			return fmt.Errorf("%s is not a directory, and %s; name a directory", quoted(c.Dir), argument)
		}
		o.Path, c.Dir = c.Dir, "" // it names the bundle's place, if --policy does not
		place, err := run.Find(o.Path)
		if err != nil {
			return err
		}
		root = place.Root
	}
	all, err := c.bundles(std, root)
	if err != nil {
		return err
	}
	var tree *run.Run
	if !c.ExamplesOnly {
		if o.Output, err = o.VerdictFile(); err != nil {
			return err
		}
		if tree, err = run.Open(ctx, o); err != nil {
			return err
		}
		defer tree.Close()
	}
	life, err := scanner.Alive(ctx, all, tree)
	if err != nil {
		return err
	}
	tried := plural(life.Examples, "example")
	if tree != nil {
		tried += fmt.Sprintf(" and %s of %s", plural(life.Files, "file"), safe(tree.Place.Shown))
	}
	return showLife(std, all, life, tried)
}

// showLife prints the parts of the bundles' rules that are not alive, and the files on which the rules were tried.
func showLife(std streams, all run.RuleSources, life *scanner.Liveness, tried string) error {
	word, unused, dead := "dead", "unused", 0
	if len(life.Errors) > 0 {
		word, unused = "maybe dead", "maybe unused"
	}
	for i := range life.Bundles {
		of := &life.Bundles[i]
		list := of.Mistakes
		for k := range of.Dead {
			list = append(list, of.Dead[k].Mistake(word))
		}
		dead += len(list)
		more := ""
		if len(of.Unused) > 0 {
			more = fmt.Sprintf(", %d %s", len(of.Unused), unused)
		}
		for k := range of.Unused {
			list = append(list, of.Unused[k].Mistake(unused))
		}
		rules.SortMistakes(list)
		if err := cmp.Or(showMistakes(std, list.In(all[i].PathPrefix())),
			print(std.out, "%s: %d alive, %d %s%s; tried on %s\n",
				safe(all[i].Name), of.Alive, len(of.Dead), word, more, tried)); err != nil {
			return err
		}
	}
	switch {
	case dead == 0 && len(life.Errors) > 0:
		return print(std.out, "the tree was not scanned completely, but all is alive by what was\n")
	case dead == 0:
		return nil
	case len(life.Errors) == 0:
		const next = "fix what is dead, add an example that shows it alive, or remove it; then run policyscan test\n"
		if err := print(std.out, next); err != nil {
			return err
		}
		return exitError{status: exitViolation}
	}
	for i := range life.Errors {
		_, _ = fmt.Fprintln(std.err, safe(life.Errors[i].Error())) // there is no other place to report an error
	}
	if life.Files == 0 {
		return errors.New("no tree to try the rules on; name it (the bundle goes to --policy), or use --examples-only")
	}
	return errors.New("the scan was incomplete, so what is dead is unknown; fix the errors above, or use --allow")
}
