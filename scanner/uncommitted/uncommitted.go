// Package uncommitted counts the files of a work tree that a scan of commits does not see: those that differ between
// the commit, the index and the disk, and those that git neither tracks nor ignores. git status would list them.
//
// The count is a note for a person. It is in no verdict, decides nothing, and gives up after a few seconds.
package uncommitted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// Notes says how much of the work tree is no part of a change up to head, if that is what is
// checked out. output is the file of the verdict ("": there is none), which is our own.
func Notes(ctx context.Context, r *repo.Repository, head repo.Hash, output string) []string {
	at, err := r.Commit("HEAD")
	if err != nil || at != head || r.WorkTree == "" {
		return nil // what is on disk belongs to another commit
	}
	n := 0
	own := ""
	if output != "" {
		own, _, err = worktree.PathIn(r.WorkTree, output)
	}
	if err == nil {
		var root *worktree.Root
		if root, err = worktree.Open(r.WorkTree); err == nil {
			defer root.Close()
			n, err = count(ctx, r, root, head, own)
		}
	}
	const see = "see them with git status; --staged, --tracked or a full scan checks them"
	switch {
	case err != nil:
		why := disk.Cause(err)
		return []string{fmt.Sprintf("uncommitted files were not scanned, and could not be counted: %v", why)}
	case n == 1:
		return []string{"1 uncommitted file was not scanned; " + see}
	case n > 1:
		return []string{fmt.Sprintf("%d uncommitted files were not scanned; %s", n, see)}
	}
	return nil
}

// count counts the files that differ between a commit, the index and what is on
// disk under root: those that git tracks, and those that it neither tracks nor ignores, but
// for the one at the path own. They are no part of a change that is read from git's objects.
func count(ctx context.Context, r *repo.Repository, root *worktree.Root, head repo.Hash, own string) (int, error) {
	idx, err := r.Index()
	if err != nil {
		return 0, err
	}
	tree, err := r.Tree(head)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it takes too long"))
	defer cancel()
	u := counter{
		ctx: ctx, own: own, idx: idx, rd: root.Reader(),
		changed: map[string]bool{}, folders: map[string]bool{},
	}
	defer u.rd.Close()
	err = r.DiffIndex(tree, idx, func(c repo.Change) error {
		u.changed[c.Path] = true
		return context.Cause(ctx)
	})
	if err != nil {
		return 0, err
	}
	for _, f := range idx.Files {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		if u.differs(f) {
			u.changed[f.Path] = true
		}
	}
	if u.ignores, err = r.Ignores(u.read); err != nil {
		return 0, err
	}
	untracked := 0
	err = root.Walk(ctx, worktree.Visitor{
		Skip:    u.skip,
		File:    func(worktree.Entry, *worktree.Reader) { untracked++ },
		Failed:  func(string, error) {}, // what cannot be listed cannot be counted
		Passing: func(string) bool { return true },
	})
	return len(u.changed) + untracked, err
}

// patience is how long the count may take: it is but a note, and a change can bring a
// .gitignore of any length.
const patience = 5 * time.Second

// maxIgnores bounds a .gitignore, in bytes.
const maxIgnores = 1 << 20

type counter struct {
	ctx     context.Context
	own     string // the path of our own output; "": there is none in the work tree
	idx     *repo.Index
	rd      *worktree.Reader
	ignores *repo.Ignores
	changed map[string]bool // of the paths that HEAD or the index has
	folders map[string]bool // those of them that are folders on disk
}

// differs reports whether a file on disk is not what the index has.
func (u *counter) differs(f repo.Staged) bool {
	if f.Mode == repo.Submodule {
		return false // its own commits are another repository's
	}
	st, err := u.rd.Stat(f.Path)
	switch {
	case errors.Is(err, worktree.ErrNotFile):
		u.folders[f.Path] = true
		return true
	case err != nil:
		return !f.SkipWorktree
	case (f.Mode == repo.Symlink) != (st.Kind == worktree.Symlink), st.Kind == worktree.Special:
		return true
	case u.idx.Clean(f, st.Size, st.Modified):
		return false
	}
	h, err := u.hash(f.Path, st.Kind)
	return err != nil || h != f.Hash
}

// hash returns the name that git would give to what is on disk.
func (u *counter) hash(path string, kind worktree.Kind) (repo.Hash, error) {
	if kind == worktree.Symlink {
		target, err := u.rd.Readlink(path)
		if err != nil {
			return repo.Hash{}, err
		}
		return repo.HashBlob(int64(len(target)), strings.NewReader(target))
	}
	f, err := u.rd.Open(path, true)
	if err != nil {
		return repo.Hash{}, err
	}
	defer f.Close()
	return repo.HashBlob(f.Size(), f)
}

// gitDir is git's own, and no part of the tree.
const gitDir = ".git"

// skip reports whether a path is tracked, ignored or git's own. Of a folder it is whether
// all in it is.
func (u *counter) skip(path string) bool {
	if u.ctx.Err() != nil || path == gitDir || strings.HasSuffix(path, "/"+gitDir) {
		return true
	}
	if u.own != "" && path == u.own {
		return true
	}
	if leaf, tracked := u.idx.Lookup(path); tracked {
		return leaf.Mode.IsLeaf() && !u.folders[path]
	}
	ifFile, ifFolder := u.ignores.Match(path, false), u.ignores.Match(path, true)
	if ifFile == ifFolder {
		return ifFile
	}
	_, err := u.rd.Stat(path)
	if errors.Is(err, worktree.ErrNotFile) {
		return ifFolder
	}
	return ifFile
}

func (u *counter) read(path string) ([]byte, error) {
	f, err := u.rd.Open(path, true)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxIgnores))
}
