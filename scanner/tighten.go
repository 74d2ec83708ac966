package scanner

import (
	"context"
	"errors"

	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/run"
)

// Tighten scans the tree of a run, and lowers the entries of an allowances.yml to the number of findings. into is the
// bundle's directory, or "" for the repository's own. Files that were renamed since the commit base keep their
// entries; base "" is the merge base of HEAD and the default branch. It returns the file if one was found.
func Tighten(ctx context.Context, o run.Options, into, base string) (*allowance.File, allowance.EditResult, error) {
	none := allowance.EditResult{}
	r, err := run.Open(ctx, o)
	if err != nil {
		return nil, none, err
	}
	defer r.Close()
	r.MustCover = false // the last file that a rule covers may be gone
	r.Backdated = false // the day only says which entries have ended; the run is not partial
	if r.Place.Bare {
		return nil, none, errors.New("a bare repository has no files to write to; run this in a work tree of it")
	}
	onDisk, err := run.LoadRules(o.Policies, r.Place.Root)
	if err != nil {
		return nil, none, err
	}
	f, err := allowance.Open(onDisk, r.Place.Root, into)
	if err != nil {
		return nil, none, err
	}
	if len(f.Entries()) == 0 {
		return f, none, nil
	}
	h, err := allowance.OpenHistory(o.Git, r.Place.Root, o.Rev, base)
	if err != nil {
		return f, none, err
	}
	defer h.Close()
	result, err := f.Tighten(Scan(ctx, r, nil), h, o.Rev)
	return f, result, err
}
