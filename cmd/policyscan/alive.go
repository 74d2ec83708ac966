package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/scope"
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
	q := scope.Request{Policies: eachLine(c.Policy), Git: gitEnvironment(), Getenv: getenv, Commands: obeyed()}
	root := ""
	if !c.ExamplesOnly {
		const tree = "with --alive the argument is the tree to try the rules on"
		if c.Dir == scope.Builtin {
			return fmt.Errorf("%s is a bundle, and %s; write --policy %s, or add --examples-only", c.Dir, tree, c.Dir)
		}
		if st, err := os.Stat(c.Dir); c.Dir != "" && err == nil && !st.IsDir() {
			return fmt.Errorf("%s is not a folder, and %s; name a folder", quoted(c.Dir), tree)
		}
		q.Path, c.Dir = c.Dir, "" // which says where the bundle is, if --policy does not
		place, err := scope.Find(q.Path)
		if err != nil {
			return err
		}
		root = place.Root
	}
	all, err := c.bundles(std, root)
	if err != nil {
		return err
	}
	life, tried, err := c.try(ctx, &q, all)
	if err != nil {
		return err
	}
	return showLife(std, all, life, tried)
}

// try tries the rules of the bundles, and says on what.
func (c *validateCmd) try(ctx context.Context, q *scope.Request, all scope.Policies) (*scanner.Life, string, error) {
	o := scanner.Options{Version: version()}
	if c.ExamplesOnly {
		var by []judges.Judge
		for i := range all {
			by = append(by, all[i].Judge)
		}
		life, err := scanner.Alive(ctx, by, nil, o)
		if err != nil {
			return nil, "", err
		}
		return life, plural(life.Examples, "example"), nil
	}
	var err error
	if o.Day, _, err = asOf("", time.Now()); err == nil {
		o.Allow, o.AllowLink, err = scanner.ParseAllow(c.Allow)
	}
	if err == nil {
		q.Verdict, err = q.VerdictFile()
	}
	if err != nil {
		return nil, "", err
	}
	if len(q.Policies) == 0 {
		q.Policies = []string{""}
	}
	s, err := q.Subject(ctx)
	if err != nil {
		return nil, "", err
	}
	defer s.Close()
	o.LeaveOut, o.InUse = s.LeaveOut, s.InUse
	life, err := scanner.Alive(ctx, s.Judges, s.Tree, o)
	if err != nil {
		return nil, "", err
	}
	return life, fmt.Sprintf("%s and %s of %s",
		plural(life.Examples, "example"), plural(life.Files, "file"), safe(s.Place.Shown)), nil
}

// showLife prints which parts of the rules of the bundles are dead, and on what the rules were tried.
func showLife(std streams, all scope.Policies, life *scanner.Life, tried string) error {
	word, dead := "dead", 0
	if len(life.Errors) > 0 {
		word = "not known to be alive"
	}
	for i := range life.Of {
		of := &life.Of[i]
		list := of.Mistakes
		for k := range of.Dead {
			list = append(list, of.Dead[k].Mistake(word))
		}
		rules.SortMistakes(list)
		if err := showMistakes(std.out, list.In(all[i].Lead())); err != nil {
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
