package scanner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// tracked returns the tree of the files that the index names, of scope tracked. Contents
// are those on disk, under the root. A file that is not there is not scanned, which is an
// error of the run: neither its deletion nor its content is staged.
func tracked(root *worktree.Root, idx *repo.Index) Tree { return &trackedTree{root, idx} }

type trackedTree struct {
	root  *worktree.Root
	index *repo.Index
}

func (t *trackedTree) Scope() verdict.Scope { return verdict.Scope{Mode: "tracked"} }

func (t *trackedTree) walk(ctx context.Context, visitors []visitor) error {
	files := t.index.Files
	collide := sync.OnceValue(t.collisions)
	var taken atomic.Int64 // so many of the files have a visitor
	var done sync.WaitGroup
	for _, v := range visitors {
		done.Go(func() {
			disk := diskOpener{Reader: t.root.Reader(), root: t.root, repository: t.root}
			o := &trackedOpener{diskOpener: disk, collide: collide}
			defer o.close()
			for ctx.Err() == nil {
				from, to := nextPart(&taken, len(files), len(visitors))
				if from == to {
					return
				}
				for i := from; i < to; i++ {
					f := &files[i]
					if ctx.Err() == nil && !v.skip(f.Path) && v.owns(f.Path, contentOf(f.Leaf)) {
						kind := o.kind(files[i:])
						v.visit(entry{Entry: worktree.Entry{Path: f.Path, Kind: kind}, sparse: f.SkipWorktree}, o)
					}
				}
			}
		})
	}
	done.Wait()
	return context.Cause(ctx)
}

// nextPart takes some of the files that no visitor has taken; none if there are no more. Files of a folder follow one
// another, so a part is large, but smaller and smaller towards the end: no visitor waits long for another.
func nextPart(taken *atomic.Int64, files, visitors int) (from, to int) {
	for {
		from := taken.Load()
		left := int64(files) - from
		n := min(left, max(batch, left/int64(8*visitors)))
		if n == 0 || taken.CompareAndSwap(from, from+n) {
			return int(from), int(from + n)
		}
	}
}

// trackedOpener opens files that git lists, and that may be something else on disk.
type trackedOpener struct {
	diskOpener
	collide func() map[string]error // see collisions
	folders []listedFolder          // of the last path, each in the one before
}

// A listedFolder is a folder whose entries were looked at together.
type listedFolder struct {
	prefix   string // of the paths in it: its own and a slash; "" is the root
	linkless bool   // there is no link in it
}

// kind is what the first of some files of the index is on disk, as far as that matters before it is opened: where one
// of the two is a link, the disk decides.
func (o *trackedOpener) kind(files []repo.Staged) worktree.Kind {
	f := &files[0]
	kind := kindOf(f.Mode)
	if kind == worktree.Submodule || kind == worktree.Regular && o.linkless(files) {
		return kind
	}
	st, err := o.Stat(f.Path)
	switch {
	case err == nil && st.Kind == worktree.Symlink:
		return worktree.Symlink
	case err == nil || isNoFile(err):
		return worktree.Regular
	}
	return kind
}

// fewFiles is how many files of a folder are looked at one by one.
const fewFiles = 3

// linkless reports whether the folder of the first file is certain to have no link in it. The folder is listed if
// several of the files that follow are in it, too, unless it has many entries that git does not track.
func (o *trackedOpener) linkless(files []repo.Staged) bool {
	path := files[0].Path
	prefix := path[:strings.LastIndexByte(path, '/')+1]
	for n := len(o.folders); n > 0; n-- {
		last := o.folders[n-1]
		if last.prefix == prefix {
			return last.linkless
		}
		if strings.HasPrefix(prefix, last.prefix) {
			break
		}
		o.folders = o.folders[:n-1]
	}
	n := 1
	for n < len(files) && strings.HasPrefix(files[n].Path, prefix) &&
		strings.IndexByte(files[n].Path[len(prefix):], '/') < 0 {
		n++
	}
	if n <= fewFiles {
		return false
	}
	l := o.Linkless(strings.TrimSuffix(prefix, "/"), 8*n+64)
	o.folders = append(o.folders, listedFolder{prefix, l})
	return l
}

// present is false for one of which another has taken the place on disk.
func (o *trackedOpener) present(path string) (bool, error) {
	if o.collide()[path] != nil {
		return false, nil
	}
	return o.diskOpener.present(path)
}

func (o *trackedOpener) open(e entry) (content, error) {
	if err := o.collide()[e.Path]; err != nil {
		return nil, err
	}
	st, err := o.Stat(e.Path)
	switch {
	case isNoFile(err):
		return nil, &absentError{e.sparse}
	case err != nil:
		return nil, err
	case st.Kind == worktree.Special:
		return nil, errSpecial
	}
	if st.Kind != e.Kind { // a link is judged by where it leads, which happens before it is opened
		return nil, worktree.ErrChanged
	}
	return o.diskOpener.open(e)
}

// isNoFile reports whether an error says that what git lists is not a file on disk.
func isNoFile(err error) bool {
	return disk.Absent(err) || errors.Is(err, worktree.ErrNotFile) || errors.Is(err, worktree.ErrPath)
}

// errSpecial says that what git lists as a file is a FIFO, socket or device on disk.
var errSpecial = errors.New("a special file")

// collisions returns the files of the index that are one file on disk: their names differ in
// case or in their normal form alone, and the file system takes no notice of that. The content of
// all but one of them is not there. Where .git is not found as .GIT too, case makes a difference.
// A file of which the disk does not say whether it is one of them has the disk's error, the others have errCase.
func (t *trackedTree) collisions() map[string]error {
	rd := t.root.Reader()
	defer rd.Close()
	caseless := true
	git, err := rd.Stat(".git")
	if err == nil || errors.Is(err, worktree.ErrNotFile) {
		other, err := rd.Stat(".GIT")
		known := err == nil || errors.Is(err, worktree.ErrNotFile)
		caseless = !disk.Absent(err) && !(known && other.ID != git.ID)
	}
	alike := map[string][]string{} // by what the names of a file may have in common
	for _, f := range t.index.Files {
		name := f.Path
		switch {
		case caseless:
			name = checkout.FoldName(name)
		case isASCII(name):
			continue
		default:
			name = norm.NFC.String(name)
		}
		alike[name] = append(alike[name], f.Path)
	}
	all := map[string]error{}
	for _, names := range alike {
		if len(names) == 1 {
			continue
		}
		first := map[worktree.FileID]string{} // the first name of each file
		for _, path := range names {
			st, err := rd.Stat(path)
			if isNoFile(err) {
				continue
			}
			other, ok := first[st.ID]
			switch {
			case err != nil:
				all[path] = err
			case ok:
				all[path], all[other] = errCase, errCase
			default:
				first[st.ID] = path
			}
		}
	}
	return all
}

func isASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] { // a sixth of the time that single bytes take
		if s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7] >= utf8.RuneSelf {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// errCase says that another file of the index has taken the place of one on disk.
var errCase = errors.New("git tracks another file whose name differs only in case or normal form, " +
	"and this disk has only one of the two; check what is committed with --diff-base or --staged")

// An absentError says that git lists a file that is not on disk.
type absentError struct{ sparse bool }

func (e *absentError) Error() string {
	const found = "git tracks it, but it is not in the work tree"
	if e.sparse {
		return fmt.Sprintf("%s (sparse checkout); "+
			"check it out, or check what is committed with --diff-base or --staged", found)
	}
	return fmt.Sprintf("%s; restore it (git restore), or stage that it is gone (git rm)", found)
}
