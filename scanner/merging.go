package scanner

import (
	"context"
	"slices"

	"github.com/policyscan/policyscan/scanner/tree"
)

// mergedAs returns the state, of those that are being merged, in which a file is as it is staged, if it is there; nil
// if there is none. So the author of the merge did not write the file.
func (h *past) mergedAs(path string) (*tree.Snapshot, error) {
	merged, err := h.states.Merging()
	if err != nil || len(merged) == 0 {
		return nil, err
	}
	now, there, err := h.states.Now.Leaf(path)
	if err != nil || !there || !now.Mode.IsLeaf() {
		return nil, err
	}
	for _, m := range merged {
		leaf, there, err := m.Leaf(path)
		if err != nil {
			return nil, err
		}
		if there && leaf == now {
			return m, nil
		}
	}
	return nil, nil
}

// merging returns how often a file broke a rule at HEAD and in each commit that is being merged, whatever is staged;
// nil if there is no merge.
func (h *past) merging(ctx context.Context, rule int, path string) ([]int, error) {
	merged, err := h.states.Merging()
	if err != nil || len(merged) == 0 {
		return nil, err
	}
	var all []int
	for _, p := range h.counts(ctx, slices.Concat(h.before, merged), rule, path) {
		all = append(all, p.Count)
	}
	return all, nil
}
