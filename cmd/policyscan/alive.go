package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
)

// aliveFlag has the flags that ask which rules are alive.
type aliveFlag struct {
	Alive        bool     `help:"@validate_alive"`
	ExamplesOnly bool     `help:"@validate_examples_only"`
	Allow        []string `placeholder:"REASON" sep:"none" help:"@validate_allow"`
}

// check returns an error for a flag that is of no use without another.
func (c *aliveFlag) check() error {
	if c.ExamplesOnly && !c.Alive {
		return errors.New("--examples-only is given without --alive")
	}
	return nil
}

// alive prints what is wrong with the bundles and, if nothing is, which parts of their rules are dead.
func (c *validateCmd) alive(std streams) error {
	ctx, _, stop := interruptible(0)
	defer stop()
	o := run.Options{
		Version: version(), Policies: eachLine(c.Policy), Allow: c.Allow,
		Git: gitEnvironment(), Getenv: getenv,
	}
	root := ""
	if !c.ExamplesOnly {
		const tree = "with --alive the argument is the tree to try the rules on"
		if c.Dir == run.Builtin {
			return fmt.Errorf("%s is a bundle, and %s; write --policy %s, or add --examples-only", c.Dir, tree, c.Dir)
		}
		if st, err := os.Stat(c.Dir); c.Dir != "" && err == nil && !st.IsDir() {
			return fmt.Errorf("%s is not a folder, and %s; name a folder", quoted(c.Dir), tree)
		}
		o.Path, c.Dir = c.Dir, "" // which says where the bundle is, if --policy does not
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
	life, tried, err := c.try(ctx, o, all)
	if err != nil {
		return err
	}
	return showLife(std, all, life, tried)
}

// try tries the rules of the bundles, and says on what.
func (c *validateCmd) try(ctx context.Context, o run.Options, all run.RuleSources) (*scanner.Liveness, string, error) {
	if c.ExamplesOnly {
		life, err := scanner.Alive(ctx, all, nil)
		if err != nil {
			return nil, "", err
		}
		return life, plural(life.Examples, "example"), nil
	}
	var err error
	if o.Output, err = o.VerdictFile(); err != nil {
		return nil, "", err
	}
	if len(o.Policies) == 0 {
		o.Policies = []string{""}
	}
	about, err := run.Open(ctx, o)
	if err != nil {
		return nil, "", err
	}
	defer about.Close()
	life, err := scanner.Alive(ctx, all, about)
	if err != nil {
		return nil, "", err
	}
	return life, fmt.Sprintf("%s and %s of %s",
		plural(life.Examples, "example"), plural(life.Files, "file"), safe(about.Place.Shown)), nil
}

// showLife prints which parts of the rules of the bundles are dead, and on what the rules were tried.
func showLife(std streams, all run.RuleSources, life *scanner.Liveness, tried string) error {
	word, dead := "dead", 0
	if len(life.Errors) > 0 {
		word = "not known to be alive"
	}
	for i := range life.Bundles {
		of := &life.Bundles[i]
		list := of.Mistakes
		for k := range of.Dead {
			list = append(list, of.Dead[k].Mistake(word))
		}
		rules.SortMistakes(list)
		if err := showMistakes(std.out, list.In(all[i].PathPrefix())); err != nil {
			return err
		}
		if err := print(std.out, "%s: %d alive, %d %s; tried on %s\n",
			safe(all[i].Name), of.Alive, len(of.Dead), word, tried); err != nil {
			return err
		}
		dead += len(list)
	}
	switch {
	case dead == 0 && len(life.Errors) > 0:
		return print(std.out, "the tree was not scanned completely, but all is alive by what was\n")
	case dead == 0:
		return nil
	case len(life.Errors) == 0:
		const next = "correct what is dead, write an example in its rule that shows it alive, or remove it; " +
			"then run policyscan test, too\n"
		if err := print(std.out, next); err != nil {
			return err
		}
		return outcome{status: exitViolation}
	}
	for i := range life.Errors {
		if err := print(std.err, "%s\n", safe(life.Errors[i].Error())); err != nil {
			return err
		}
	}
	if life.Files == 0 {
		return errors.New("there is no tree to try the rules on; with --alive the argument is the tree, and --policy " +
			"names the bundle; try the rules on their examples alone with --examples-only")
	}
	return errors.New("the tree was not scanned completely, so what is dead is unknown; " +
		"fix the errors above, accept them with --allow, or write examples")
}
