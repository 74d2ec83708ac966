package scanner

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A Judge is a bundle that a run enforces, and where it is from.
type Judge struct {
	From   string // as in verdict.Policy
	Commit string // "" if it is from none
	Bundle *rules.Bundle
}

// A bench is the judges of a run together: the rules of all are enforced, those of the
// first judge first, and a rule that is the same in two of them once. So a change that
// brings its own bundle can tighten the one that judges it, never loosen it.
type bench struct {
	bundle   *rules.Bundle
	from     []string // of each rule of the bundle
	policies []verdict.Policy
}

func seat(judges []Judge) *bench {
	b := &bench{}
	var enforced []rules.Rule
	byID := map[string][]rules.Rule{}
	for _, t := range []rules.Type{rules.Boundary, rules.Invariant} {
		for _, j := range judges {
			for _, r := range j.Bundle.Rules {
				if r.Type != t || slices.ContainsFunc(byID[r.ID], r.Same) {
					continue
				}
				byID[r.ID] = append(byID[r.ID], r)
				enforced, b.from = append(enforced, r), append(b.from, j.From)
			}
		}
	}
	for _, j := range judges {
		b.policies = append(b.policies, verdict.Policy{
			From: j.From, Commit: j.Commit, SHA256: j.Bundle.SHA256,
			Boundaries: j.Bundle.Count(rules.Boundary), Invariants: j.Bundle.Count(rules.Invariant), Deprecated: len(j.Bundle.Deprecated),
		})
	}
	b.bundle = rules.New(enforced, nil)
	return b
}

// ErrNoBundle says that there is no bundle at any place of discovery.
var ErrNoBundle = errors.New("no bundle")

// BundleIn loads the bundle that a tree holds in dir, or, with an empty dir, where a
// scan would find it: .policyscan if it has rules, else the root. It returns the paths
// of its rule files as well. A tree without one is [ErrNoBundle]; a bundle with mistakes
// is rules.Errors.
func BundleIn(r *repo.Repository, tree repo.Hash, dir string) (*rules.Bundle, []string, error) {
	places := []string{dir}
	if dir == "" {
		places = []string{".policyscan", "."}
	}
	for _, place := range places {
		mark := "rules"
		if place == "." {
			mark = rules.BoundariesFile
		}
		if leaf, found, err := r.Lookup(tree, place); err == nil && found && leaf.Mode.IsLeaf() {
			return nil, nil, rules.Errors{{Code: rules.CodeRead, File: place, Found: "is a link or a file", Fix: "make it a folder"}}
		}
		_, found, err := r.Lookup(tree, path.Join(place, mark))
		if err != nil {
			return nil, nil, err
		}
		if !found {
			continue
		}
		return loadIn(r, tree, place)
	}
	return nil, nil, ErrNoBundle
}

func loadIn(r *repo.Repository, tree repo.Hash, dir string) (*rules.Bundle, []string, error) {
	files := rules.Files{}
	var paths []string
	for _, name := range []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile} {
		full := path.Join(dir, name)
		leaf, found, err := r.Lookup(tree, full)
		if err != nil {
			return nil, nil, err
		}
		if !found {
			continue
		}
		if leaf.Mode != repo.File && leaf.Mode != repo.Executable {
			return nil, nil, rules.Errors{{Code: rules.CodeRead, File: name, Found: "is no regular file", Fix: "put a regular file there"}}
		}
		blob, err := r.Blob(leaf.Hash)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", full, err)
		}
		text, err := io.ReadAll(io.LimitReader(blob, rules.MaxFileBytes+1))
		blob.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", full, err)
		}
		files[name] = text
		paths = append(paths, full)
	}
	b, err := rules.Load(files)
	return b, paths, err
}
