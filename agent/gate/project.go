package gate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A Project checks the calls of an agent that works in it.
type Project struct {
	// Gates check the files of the project's roots, one each. The sets of the first check every call.
	Gates []*Gate

	// Other returns the gate of another repository, given its root, for the files in it that a call edits: with the
	// bundle found in it, or nil. within is set if the repository is in one of the project's roots, whose bundle
	// covers the files too; without a bundle, the gate may then be nil. If Other is nil, bundles of other
	// repositories are not used.
	Other func(root string, within bool) (*Gate, error)
}

// Judge checks a call as [Gate.Judge] does, by the gates of the project and those of the other repositories that the
// files of the call are in.
func (p *Project) Judge(ctx context.Context, c *call.Call, o callrules.Options) (*Result, error) {
	all, proposed := &Result{}, newProposal(c)
	var failed []error
	add := func(r *Result, err error) {
		if r != nil {
			all.Add(r)
		}
		// A call that no gate can read is the same error of each.
		if err != nil && !slices.ContainsFunc(failed, func(f error) bool { return f.Error() == err.Error() }) {
			failed = append(failed, err)
		}
	}
	for i, g := range p.Gates {
		at := *g
		if i > 0 { // they check the call, wherever its files are
			at.Sets = nil
		}
		add(at.judge(ctx, proposed, o))
	}
	if p.Other != nil && len(failed) == 0 {
		files, err := proposed.files(p.Gates[0].Bundle != nil)
		if err != nil {
			return nil, err // which the gates must have said
		}
		others, err := p.others(files)
		add(nil, err)
		for i := range others {
			other := &others[i]
			var r *Result
			g, err := p.Other(other.root, other.within)
			if other.bundled = err != nil || g != nil && g.Bundle != nil; err == nil && g != nil {
				at := *g
				at.Sets, at.elsewhere = nil, other.places
				r, err = at.judge(ctx, proposed, o)
			}
			if err != nil {
				err = fmt.Errorf("%s is in the repository %s: %w",
					verdict.Visible(other.files[0]), verdict.Visible(other.root), err)
			}
			add(r, err)
		}
		all.notes = append(all.notes, uncheckedNotes(files, others)...)
	}
	return all.partialResult(errors.Join(failed...))
}

// An otherRepository contains files of a call, and is not one of the project's own.
type otherRepository struct {
	root    string
	within  bool     // it is in a root of the project
	files   []string // as the call names them
	places  []string // where these are, one for each
	bundled bool     // its bundle covers them, or should
}

// others are the repositories around the files of a call, up to the project's root and without the project's own.
func (p *Project) others(files []file) ([]otherRepository, error) {
	var all []otherRepository
	for i := range files {
		f := &files[i]
		for _, place := range append(f.places(), f.from) {
			if place == "" {
				continue
			}
			named := f.named
			if place == f.from {
				named = f.edit.From
			}
			own, within, err := p.own(place)
			if err != nil {
				return nil, err
			}
			roots, err := repositories(filepath.Dir(place), own, within)
			if err != nil {
				return nil, fmt.Errorf("cannot determine which repository %s is in: %w",
					verdict.Visible(named), cause(err))
			}
			for _, root := range roots {
				k := slices.IndexFunc(all, func(o otherRepository) bool { return o.root == root })
				if k < 0 {
					k = len(all)
					all = append(all, otherRepository{root: root, within: within})
				}
				all[k].files, all[k].places = append(all[k].files, named), append(all[k].places, place)
			}
		}
	}
	return all, nil
}

// own returns the roots of the project's trees that a place is in. Without any it returns the project's own
// repositories, of which a root can be a directory.
func (p *Project) own(place string) (roots []string, within bool, err error) {
	for _, g := range p.Gates {
		trees, err := g.trees(place)
		if err != nil {
			return nil, false, err
		}
		for _, t := range trees {
			roots = append(roots, t.root)
		}
	}
	if len(roots) > 0 {
		return roots, true, nil
	}
	for _, g := range p.Gates {
		root, err := rootAround(g.Root)
		if err != nil {
			return nil, false, err
		}
		roots = append(roots, root)
	}
	return roots, false, nil
}

// uncheckedNotes names the files that no bundle checked, because their repositories have none: a line for each
// repository. Removed files need no check.
func uncheckedNotes(files []file, others []otherRepository) []string {
	var notes []string
	for i := range others {
		other := &others[i]
		var names []string
		for k, place := range other.places {
			isWritten := func(f file) bool { return slices.Contains(f.places(), place) && !f.edit.Remove }
			judges := func(o otherRepository) bool { return o.bundled && slices.Contains(o.places, place) }
			isNearer := func(o otherRepository) bool { return slices.Contains(o.places, place) }
			if name := verdict.Visible(other.files[k]); !other.within && slices.ContainsFunc(files, isWritten) &&
				!slices.ContainsFunc(others, judges) && !slices.ContainsFunc(others[:i], isNearer) &&
				!slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		are, them := "are", "them"
		switch n := len(names); {
		case n == 0:
			continue
		case n == 1:
			are, them = "is", "it"
		case n > maxShown:
			names = append(names[:maxShown], fmt.Sprintf("%d more", n-maxShown))
		}
		notes = append(notes, fmt.Sprintf("%s %s in the repository %s, which has no bundle, so no bundle checked %s",
			strings.Join(names, ", "), are, verdict.Visible(other.root), them))
	}
	return notes
}

// repositories returns the roots of the repositories around a directory, the nearest first: the directories at or
// above it that contain a .git, without those in except. With end, the search stops at one of these. The directory
// need not exist.
func repositories(dir string, except []string, end bool) ([]string, error) {
	var roots []string
	for at := range disk.Upwards(dir) {
		excepted := slices.ContainsFunc(except, func(root string) bool { return root == at || disk.Same(root, at) })
		if excepted && end {
			return roots, nil
		}
		is, err := repo.IsRoot(at)
		if err != nil {
			return nil, err
		}
		if is && !excepted {
			roots = append(roots, at)
		}
	}
	return roots, nil
}

// rootAround returns the root of the repository around a directory, or the directory itself, without symlinks. The
// directory need not exist.
func rootAround(dir string) (string, error) {
	real, err := follow(filepath.Clean(dir), 40)
	if err == nil {
		real, err = repo.Root(real)
	}
	if err != nil {
		return "", fmt.Errorf("cannot determine which repository the directory %s is in: %w",
			verdict.Visible(dir), cause(err))
	}
	return real, nil
}
