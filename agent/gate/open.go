package gate

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// Root returns the directory from which a bundle's globs count: the one that --root names or, without it, the root of
// the repository around the current directory.
func Root(flag string) (string, error) {
	at, err := run.Find(flag)
	if err != nil && flag != "" {
		err = fmt.Errorf("--root %s: %w", flag, err)
	}
	return at.Root, err
}

// Open returns a gate with the bundles that --policy names; "" is the root's own bundle. Pinned bundles must have
// their hashes.
func Open(names []string, pins run.Pins, root string) (*Gate, error) {
	all, err := run.LoadRules(names, root)
	if n := len(all); err != nil && n > 0 && names[n-1] != "" && all[n-1].Bundle == nil {
		err = fmt.Errorf("%s: %w", all[n-1].Name, err)
	}
	if err == nil {
		err = pins.Check(all.Bundles())
	}
	if err != nil {
		return nil, err
	}
	return New(all, root)
}

// OfRepository returns a gate with the bundle in a repository, or nil without one. Errors name the bundle.
func OfRepository(root string) (*Gate, error) {
	dir, err := rules.Discover(root)
	var none *document.Error
	if errors.As(err, &none) && none.Code == document.CodeMissing {
		return nil, run.SparseBundle(root, err)
	}
	if err != nil {
		return nil, err
	}
	return Open([]string{dir}, nil, root)
}

// New returns a gate with bundles that are loaded. Their own files are guarded.
func New(all run.RuleSources, root string) (*Gate, error) {
	root, err := disk.Real(root)
	if err != nil {
		return nil, worktree.NoRoot(err)
	}
	g := &Gate{Bundle: rules.Join(all.Bundles()...), Root: root}
	for i := range all {
		p := &all[i]
		if p.Dir == "" { // the program's own, which has no allowances
			continue
		}
		dir, err := disk.Real(p.Dir)
		if err != nil {
			return nil, fmt.Errorf("cannot determine where the bundle %s is: %w", p.Name, disk.Cause(err))
		}
		g.bundles = append(g.bundles, bundleDir{p.Bundle, dir})
		files := []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile}
		g.RuleFiles = append(g.RuleFiles, under(dir, files)...)
		ruleDir := filepath.Join(dir, "rules")
		if p.Bundle.Is02 {
			g.RuleDirs = append(g.RuleDirs, ruleDir)
		}
		g.Guarded = append(g.Guarded, ruleDir)
	}
	return g, nil
}
