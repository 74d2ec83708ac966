package run

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
)

// Builtin is the bundle of the embedded packs about infrastructure.
const Builtin = builtinPrefix + "infra"

const builtinPrefix = "builtin:"

// IsBuiltin reports whether a --policy names a bundle in the program.
func IsBuiltin(name string) bool { return strings.HasPrefix(name, builtinPrefix) }

// Where a bundle came from, as in verdict.Policy.
const (
	fromDisk      = "disk"
	fromBuiltin   = "builtin"
	fromBase      = "base"      // before the change
	fromHead      = "head"      // the commit after it
	fromIndex     = "index"     // what is staged
	fromBootstrap = "bootstrap" // after the change, if there is no bundle before it
	fromCommit    = "commit"    // one that the user names
)

// A RuleSource is a bundle that a run enforces, and where it came from.
type RuleSource struct {
	From   string // as in verdict.Policy
	Commit string // the hash; "" if it is not from a commit
	Name   string // for display: a directory, builtin:NAME, or in git's syntax, such as 1234567:.policyscan
	Dir    string // on disk; in git's trees from the root, "." for the root; "" for a builtin bundle
	Below  string // the directory that it is for, from the root of the tree; "" for the whole tree
	Bundle *rules.Bundle

	files []check.RuleFile // in git's trees
}

// FindRules finds the bundle of a --policy; "" is the one in root. It does not load it.
func FindRules(name, root string) (RuleSource, error) {
	dir := ""
	switch {
	case len(starter.Names(strings.TrimPrefix(name, builtinPrefix))) > 0 && IsBuiltin(name):
		return RuleSource{Name: name, From: fromBuiltin}, nil
	case name == "":
		var err error
		if dir, err = rules.Discover(root); err != nil {
			return RuleSource{}, cmp.Or(SparseBundle(root, err), err)
		}
	case IsBuiltin(name):
		all := Builtin
		for _, p := range starter.Packs() {
			all += ", " + builtinPrefix + p.Name
		}
		return RuleSource{}, fmt.Errorf("--policy is %q; choose one of %s", name, all)
	default:
		dir = disk.Physical(name)
	}
	return RuleSource{Name: filepath.ToSlash(filepath.Clean(dir)), Dir: dir, From: fromDisk}, nil
}

// SparseBundle replaces the error that the root of a work tree has no bundle, if git tracks one there that is outside
// of the sparse checkout; else it returns nil.
func SparseBundle(root string, err error) error {
	var none *document.Error
	if !errors.As(err, &none) || none.Code != document.CodeMissing {
		return nil
	}
	r, err := repo.At(root)
	if err != nil {
		return nil // it is no work tree
	}
	defer r.Close()
	idx, err := r.Index()
	if err != nil {
		return nil
	}
	for _, dir := range []string{rules.HiddenBundle, path.Dir(rules.BoundariesFile)} {
		for _, f := range idx.Below(dir) {
			if f.SkipWorktree && (dir == rules.HiddenBundle || f.Path == rules.BoundariesFile) {
				return &document.Error{
					Code:  document.CodeMissing,
					Found: fmt.Sprintf("no bundle on disk: git tracks one in %s, outside of the sparse checkout", dir),
					Fix:   "run git sparse-checkout add " + dir,
				}
			}
		}
	}
	return nil
}

// Load loads the bundle from disk. Its mistakes have paths from the current directory.
func (s *RuleSource) Load() (err error) {
	if s.Dir == "" {
		packs := starter.Names(strings.TrimPrefix(s.Name, builtinPrefix))
		s.Bundle, err = rules.Load(rules.Files(starter.Files(packs...)))
		return err
	}
	s.Bundle, err = rules.LoadDir(s.Dir)
	var mistakes document.Errors
	if errors.As(err, &mistakes) {
		err = mistakes.In(s.PathPrefix())
	}
	return err
}

func loadRules(name, root string) (RuleSource, error) {
	s, err := FindRules(name, root)
	if err == nil {
		err = s.Load()
	}
	return s, err
}

// PathPrefix returns the path from the current directory to the bundle's files: "", or with a slash at its end. For a
// bundle in git's trees it is from their root.
func (s *RuleSource) PathPrefix() string {
	dir := s.Name
	if s.From != fromDisk {
		dir = s.Dir
	}
	if s.Dir == "" || dir == "." {
		return ""
	}
	return strings.TrimSuffix(dir, "/") + "/"
}

// sides returns the sides that have the bundle's rules and allowances: a change can touch only the bundles of its base
// and head.
func (s *RuleSource) sides() ruleSides {
	switch s.From {
	case fromBase:
		return ruleSides{base: true}
	case fromHead, fromIndex, fromBootstrap:
		return ruleSides{head: true}
	}
	return ruleSides{true, true}
}

// RuleSources are the bundles that are enforced together.
type RuleSources []RuleSource

// LoadRules finds and loads bundles, with those of directories of the tree at root that they name, and checks that they
// can be enforced together. With an error, it returns those up to the failing one. Without a root it loads no others.
func LoadRules(names []string, root string) (RuleSources, error) {
	var all RuleSources
	for _, name := range names {
		s, err := loadRules(name, root)
		all = append(all, s)
		if err != nil {
			return all, err
		}
	}
	if root == "" {
		return all, all.CheckAlone()
	}
	all, err := all.WithBelow(root)
	if err == nil {
		err = all.CheckCombined()
	}
	return all, err
}

// CheckCombined returns an error if the bundles cannot be enforced together. The mistakes of a single one have paths
// from the current directory.
func (all RuleSources) CheckCombined() error { return all.placed(rules.Together(all.Bundles())) }

// CheckAlone is CheckCombined before the bundles of directories are known.
func (all RuleSources) CheckAlone() error { return all.placed(rules.Alone(all.Bundles())) }

func (all RuleSources) placed(err error) error {
	var mistakes document.Errors
	if len(all.OfTree()) == 1 && errors.As(err, &mistakes) {
		return mistakes.In(all[0].PathPrefix())
	}
	return err
}

// Named returns the source with a name, as [Options.Load] does.
func (all RuleSources) Named(name string) (RuleSource, error) {
	for i := range all {
		if all[i].Name == name {
			return all[i], nil
		}
	}
	return RuleSource{}, errors.New("the bundle " + name + " is not loaded") // not reached
}

// Bundles returns the loaded bundles.
func (all RuleSources) Bundles() []*rules.Bundle {
	var bundles []*rules.Bundle
	for i := range all {
		bundles = append(bundles, all[i].Bundle)
	}
	return bundles
}

// OfTree returns the bundles that are for the whole tree.
func (all RuleSources) OfTree() RuleSources {
	return slices.DeleteFunc(slices.Clone(all), func(s RuleSource) bool { return s.Below != "" })
}

// String names the bundles for display, and counts those of directories.
func (all RuleSources) String() string {
	var names []string
	for _, s := range all.OfTree() {
		names = append(names, s.Name)
	}
	return strings.Join(append(names, all.below()...), " and ")
}

// below names the directories of bundles, or counts them.
func (all RuleSources) below() []string {
	var dirs []string
	for i := range all {
		if dir := all[i].Below; dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) > 1 {
		return []string{fmt.Sprintf("those of %d directories", len(dirs))}
	}
	for i := range dirs {
		dirs[i] = "that of " + dirs[i]
	}
	return dirs
}

// narrow removes all rules except those with the ids of --rule; without ids, none. An unknown id is an error.
func (all RuleSources) narrow(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	known := map[string]bool{}
	for _, b := range all.Bundles() {
		for i := range b.Rules {
			known[b.Rules[i].ID] = true
		}
	}
	for _, id := range ids {
		if !known[id] {
			advice := "policyscan list prints all ids"
			if near := document.Nearest(id, slices.Sorted(maps.Keys(known))); near != "" {
				advice = fmt.Sprintf("did you mean %q?", near)
			}
			return fmt.Errorf("there is no rule %q; %s", id, advice)
		}
	}
	for i := range all {
		all[i].Bundle = all[i].Bundle.Only(func(r *rules.Rule) bool { return slices.Contains(ids, r.ID) })
	}
	return nil
}
