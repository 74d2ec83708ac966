package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
)

// bundleGate is a gate with the bundles that --policy names, or that root holds.
func bundleGate(flags []string, at place) (*gate.Gate, error) {
	all, err := loadPolicies(flags, at.root)
	if n := len(all); err != nil && n > 0 && flags[n-1] != "" && all[n-1].bundle == nil {
		err = fmt.Errorf("%s: %w", all[n-1].name, err)
	}
	if err != nil {
		return nil, err
	}
	return newGate(all, at)
}

// otherGate is a gate with the bundle of another repository than the project's, nil if it has none.
func otherGate(at place) (*gate.Gate, error) {
	dir, err := rules.Discover(at.root)
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
func newGate(all policies, at place) (*gate.Gate, error) {
	root, err := disk.Real(at.root)
	if err != nil {
		return nil, scanner.NoRoot(err)
	}
	g := &gate.Gate{Bundle: rules.Join(all.bundles()...), Root: root}
	for i := range all {
		p := &all[i]
		if p.dir == "" {
			continue
		}
		dir, err := disk.Real(p.dir)
		if err != nil {
			return nil, fmt.Errorf("cannot determine where the bundle %s is: %w", p.name, disk.Cause(err))
		}
		for _, name := range []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile} {
			g.RuleFiles = append(g.RuleFiles, filepath.Join(dir, filepath.FromSlash(name)))
		}
		g.Guarded = append(g.Guarded, filepath.Join(dir, "rules"))
	}
	return g, nil
}
