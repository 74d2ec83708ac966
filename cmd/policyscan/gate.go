package main

import (
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/rules"
)

// bundleGate is a gate with the bundle that --policy names, or that root holds.
func bundleGate(flag string, at place) (*gate.Gate, error) {
	p, err := loadPolicy(flag, at.root)
	if err != nil && flag != "" {
		err = fmt.Errorf("%s: %w", p.name, err)
	}
	if err != nil {
		return nil, err
	}
	root, err := realPath(at.root)
	if err != nil {
		return nil, noRoot(err)
	}
	g := &gate.Gate{Bundle: p.bundle, Root: root}
	if p.dir == "" {
		return g, nil
	}
	dir, err := realPath(p.dir)
	if err != nil {
		return nil, fmt.Errorf("where the bundle %s is cannot be told: %w", p.name, systemError(err))
	}
	for _, name := range []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile} {
		g.RuleFiles = append(g.RuleFiles, filepath.Join(dir, filepath.FromSlash(name)))
	}
	g.Guarded = append(g.Guarded, filepath.Join(dir, "rules"))
	return g, nil
}
