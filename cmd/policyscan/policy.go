package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/run"
)

// A policyFlag names the bundles that a command enforces.
type policyFlag struct {
	Policy []string `placeholder:"DIR" sep:"none" help:"@scan_policy"`

	pinFlag
}

// A pinFlag has the required hashes of the --policy bundles.
type pinFlag struct {
	// Kong's own name of the variable would be POLICYSCAN_POLICY_SHA_256.
	SHA256 []string `name:"policy-sha256" env:"POLICYSCAN_POLICY_SHA256" placeholder:"HEX" sep:"none" help:"@pin"`
}

// pins returns the hashes: one for each of n bundles, or none.
func (f *pinFlag) pins(bundles int) (run.Pins, error) {
	return run.ParsePins(eachLine(f.SHA256), bundles)
}

// eachLine returns the values of a flag. A value from a variable or an input can have several, one per line.
func eachLine(values []string) []string {
	var all []string
	for _, value := range values {
		for line := range strings.Lines(value) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				all = append(all, line)
			}
		}
	}
	if len(all) == 0 { // a value without a line names nothing, and must not become the default
		return values
	}
	return all
}

// policyNames returns the bundles that the values of --policy name, or "" for the one that discovery finds.
func policyNames(values []string) []string {
	if all := eachLine(values); len(all) > 0 {
		return all
	}
	return []string{""}
}

// bundleArg has the argument and the flag that name a command's bundles.
type bundleArg struct {
	Dir    string   `arg:"" optional:"" help:"@bundle_dir"`
	Policy []string `placeholder:"DIR" sep:"none" help:"The same as the argument. Repeatable."`
}

// find returns the paths of the bundles. Without a name the bundle is in a root; "" is the root around the current
// directory.
func (b *bundleArg) find(root string) (run.RuleSources, error) {
	names := eachLine(b.Policy)
	if b.Dir != "" {
		if len(names) > 0 && !slices.Equal(names, []string{b.Dir}) {
			return nil, fmt.Errorf("the bundle is %s by the argument and %s by --policy or its variable; remove one",
				quoted(b.Dir), quoted(strings.Join(names, ", ")))
		}
		names = []string{b.Dir}
	}
	if len(names) == 0 {
		place, err := run.Find(root)
		if err != nil {
			return nil, err
		}
		root, names = place.Root, []string{""}
	}
	var all run.RuleSources
	for _, name := range names {
		p, err := run.FindRules(name, root)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// load returns the bundles; an error names its bundle.
func (b *bundleArg) load() (run.RuleSources, error) {
	all, err := b.find("")
	for i := range all {
		err := all[i].Load()
		var mistakes document.Errors
		switch {
		case errors.As(err, &mistakes): // these name their place
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%s: %w", all[i].Name, err)
		}
	}
	if err == nil {
		all, err = withBelow(all, "")
	}
	if err == nil {
		err = all.CheckCombined()
	}
	return all, err
}

// withBelow adds the bundles of directories that loaded ones name, in the tree at root, or the one around the current
// directory.
func withBelow(all run.RuleSources, root string) (run.RuleSources, error) {
	if len(all.NamesBelow()) == 0 {
		return all, nil
	}
	place, err := run.Find(root)
	if err != nil {
		return all, err
	}
	return all.WithBelow(place.Root)
}

// tree prints the bundles of the tree.
func (c *listCmd) tree(std streams, policies run.RuleSources) error {
	if c.For != "" {
		return errors.New("--for and --tree are both given; choose one")
	}
	all := run.NewRuleSet(policies).Policies
	if c.JSON {
		return printJSON(std, all)
	}
	rows := [][]string{{"DIRECTORY", "BUNDLE", "BOUNDARIES", "INVARIANTS", "ALLOWANCES"}}
	for i, p := range all {
		rows = append(rows, []string{
			safe(cmp.Or(p.Directory, "-")), safe(policies[i].Name), grouped(p.Boundaries), grouped(p.Invariants),
			grouped(len(policies[i].Bundle.Allowances)),
		})
	}
	return printTable(std, rows)
}
