package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
)

// builtin is the name of the starter bundle, which is embedded in the program.
const builtin = "builtin:infra"

// A policy is a bundle and where it is from.
type policy struct {
	bundle *rules.Bundle
	name   string // as a person would name it
	dir    string // "" for the builtin
	from   string // for the verdict
}

// findPolicy returns where the bundle is that --policy names, or that root contains.
func findPolicy(flag, root string) (policy, error) {
	switch flag {
	case builtin:
		return policy{name: builtin, from: "builtin"}, nil
	case "":
		dir, err := rules.Discover(root)
		if err != nil {
			return policy{}, err
		}
		return policy{name: filepath.ToSlash(filepath.Clean(dir)), dir: dir, from: "disk"}, nil
	}
	if strings.HasPrefix(flag, "builtin:") {
		return policy{}, oneOf("--policy", flag, []string{builtin})
	}
	dir := disk.Physical(flag)
	return policy{name: filepath.ToSlash(filepath.Clean(dir)), dir: dir, from: "disk"}, nil
}

// load loads the bundle.
func (p *policy) load() (err error) {
	if p.dir == "" {
		p.bundle, err = rules.Load(rules.Files(starter.Files()))
		return err
	}
	p.bundle, err = rules.LoadDir(p.dir)
	var mistakes rules.Errors
	if errors.As(err, &mistakes) {
		err = mistakes.In(p.lead())
	}
	return err
}

// loadPolicy finds and loads a bundle.
func loadPolicy(flag, root string) (policy, error) {
	p, err := findPolicy(flag, root)
	if err == nil {
		err = p.load()
	}
	return p, err
}

// A policyFlag names the bundles that a command enforces.
type policyFlag struct {
	Policy []string `placeholder:"DIR" sep:"none" help:"Folder that holds rules/, or builtin:infra. Repeatable: the rules of all are enforced. Default: .policyscan in the root, or the root."`
}

// named returns the bundles that are named: by the flag, or one on each line of the variable or the action's input.
func (f *policyFlag) named() []string {
	var all []string
	for _, value := range f.Policy {
		for line := range strings.Lines(value) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				all = append(all, line)
			}
		}
	}
	if len(all) == 0 { // a value without a line names nothing, and must not become the default
		return f.Policy
	}
	return all
}

// flags returns the bundles that are named, or "" for the one that discovery finds.
func (f *policyFlag) flags() []string {
	if all := f.named(); len(all) > 0 {
		return all
	}
	return []string{""}
}

// policies are the bundles that are enforced together.
type policies []policy

// loadPolicies finds and loads bundles, which must not have an id in common. If one cannot be loaded, it returns those
// up to that one, with the error.
func loadPolicies(flags []string, root string) (policies, error) {
	var all policies
	for _, flag := range flags {
		p, err := loadPolicy(flag, root)
		all = append(all, p)
		if err != nil {
			return all, err
		}
	}
	return all, all.distinct()
}

// distinct returns an error if an id is in two of the bundles.
func (ps policies) distinct() error { return rules.Distinct(ps.bundles()) }

func (ps policies) bundles() []*rules.Bundle {
	var all []*rules.Bundle
	for i := range ps {
		all = append(all, ps[i].bundle)
	}
	return all
}

// String names the bundles for a person.
func (ps policies) String() string {
	var names []string
	for i := range ps {
		names = append(names, ps[i].name)
	}
	return strings.Join(names, " and ")
}

// bundleArg has the argument and the flag that name a command's bundles.
type bundleArg struct {
	Dir    string   `arg:"" optional:"" help:"Folder that holds rules/, or builtin:infra. Default: the bundle that a scan would use."`
	Policy []string `placeholder:"DIR" sep:"none" help:"The same as the argument. Repeatable."`
}

// find returns where the bundles are.
func (b *bundleArg) find() (policies, error) {
	names := (&policyFlag{b.Policy}).named()
	if b.Dir != "" {
		if len(names) > 0 && !slices.Equal(names, []string{b.Dir}) {
			return nil, fmt.Errorf("the bundle is %s by the argument and %s by --policy (or POLICYSCAN_POLICY); "+
				"remove one of them", quoted(b.Dir), quoted(strings.Join(names, ", ")))
		}
		names = []string{b.Dir}
	}
	root := ""
	if len(names) == 0 {
		place, err := findPlace("")
		if err != nil {
			return nil, err
		}
		root, names = place.root, []string{""}
	}
	var all policies
	for _, name := range names {
		p, err := findPolicy(name, root)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// load returns the bundles; an error names the one that it is about.
func (b *bundleArg) load() (policies, error) {
	all, err := b.find()
	for i := range all {
		err := all[i].load()
		var mistakes rules.Errors
		switch {
		case errors.As(err, &mistakes): // these say where they are
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	if err == nil {
		err = all.distinct()
	}
	return all, err
}

// lead returns the path from the current folder to the bundle's files.
func (p *policy) lead() string {
	if p.dir == "" || p.name == "." {
		return ""
	}
	return strings.TrimSuffix(p.name, "/") + "/"
}
