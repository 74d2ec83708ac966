package repo

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// mergeNames is the prefix of the variables that git merge sets, one for each merged commit.
const mergeNames = "GITHEAD_"

// Merging returns the sorted hashes of the commits that git merge announces in an environment of [os.Environ]: git's
// hook pre-merge-commit runs before MERGE_HEAD exists.
func Merging(environ []string) []string {
	var all []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if hash, ok := strings.CutPrefix(name, mergeNames); ok && wholeHash(hash) {
			all = append(all, hash)
		}
	}
	slices.Sort(all)
	return all
}

// Merging returns the commits that are being merged into head, the commit of HEAD, from MERGE_HEAD of the work tree
// or, without one, from [Environment.Merging] if this repository has them. All programs that a hook of git merge runs
// inherit the variables, in other repositories too, and the last hook runs after the merge: commits that head contains
// are not being merged.
func (r *Repository) Merging(head Hash) ([]Hash, error) {
	if head.IsZero() {
		return nil, nil
	}
	named, err := r.objects.format.readHashes(filepath.Join(r.gitDir, "MERGE_HEAD")) // several of an octopus
	for i := range named {
		if err == nil {
			named[i], err = r.peel(named[i]) // of a merged tag it has the tag
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the merge in progress cannot be read: %w", err)
	}
	if named == nil {
		for _, name := range r.merging {
			h, err := r.objects.format.parse(name)
			if err == nil {
				h, err = r.peel(h)
			}
			if err == nil { // else they are another repository's
				named = append(named, h)
			}
		}
	}
	var all []Hash
	for _, h := range named {
		c, err := r.Relate(h, head)
		var cut *ShallowError
		switch {
		case err == nil && slices.Contains(c.MergeBases, h), slices.Contains(all, h):
		case err == nil, errors.Is(err, ErrNoMergeBase), errors.As(err, &cut): // which would have found head's ancestor
			all = append(all, h)
		default:
			return nil, fmt.Errorf("the merge in progress cannot be read: %w", err)
		}
	}
	return all, nil
}
