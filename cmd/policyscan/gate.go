package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/scope"
)

// bundleGate is a gate with the bundles that --policy names, or that root holds.
func bundleGate(flags []string, at scope.Place) (*gate.Gate, error) {
	all, err := scope.LoadPolicies(flags, at.Root)
	if n := len(all); err != nil && n > 0 && flags[n-1] != "" && all[n-1].Bundle == nil {
		err = fmt.Errorf("%s: %w", all[n-1].Name, err)
	}
	if err != nil {
		return nil, err
	}
	return newGate(all, at)
}

// otherGate is a gate with the bundle of another repository than the project's, nil if it has none.
func otherGate(at scope.Place) (*gate.Gate, error) {
	dir, err := rules.Discover(at.Root)
	var none *rules.Error
	if errors.As(err, &none) && none.Code == rules.CodeMissing {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return bundleGate([]string{dir}, at) // named, so that an error says which bundle is meant
}

// newGate is a gate with bundles that are loaded.
func newGate(all scope.Policies, at scope.Place) (*gate.Gate, error) {
	root, err := disk.Real(at.Root)
	if err != nil {
		return nil, scanner.NoRoot(err)
	}
	g := &gate.Gate{Bundle: rules.Join(all.Bundles()...), Root: root}
	for i := range all {
		p := &all[i]
		if p.Dir == "" {
			continue
		}
		dir, err := disk.Real(p.Dir)
		if err != nil {
			return nil, fmt.Errorf("cannot determine where the bundle %s is: %w", p.Name, disk.Cause(err))
		}
		for _, name := range []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile} {
			g.RuleFiles = append(g.RuleFiles, filepath.Join(dir, filepath.FromSlash(name)))
		}
		g.Guarded = append(g.Guarded, filepath.Join(dir, "rules"))
	}
	return g, nil
}
