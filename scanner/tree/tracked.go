package tree

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

type trackedTree struct {
	diskScope
	root  *worktree.Root
	index *repo.Index
}

func (t *trackedTree) Files(ctx context.Context, n int, q Query) []iter.Seq2[File, error] {
	files := t.index.Files
	collisions := sync.OnceValue(t.collisions)
	var taken atomic.Int64 // number of files that a sequence has taken
	sequence := func(yield func(File, error) bool) {
		s := &trackedSource{
			diskSource: diskSource{root: t.root, repository: t.root, files: t.root.Reader()},
			collisions: collisions,
		}
		defer s.close()
		for ctx.Err() == nil {
			from, to := nextPart(&taken, len(files), n)
			if from == to {
				return
			}
			for i := from; i < to && ctx.Err() == nil; i++ {
				if f, listed := s.file(files[i:], &q); listed && !yield(f, nil) {
					return
				}
			}
		}
	}
	return slices.Repeat([]iter.Seq2[File, error]{sequence}, n)
}

// file returns the first of some files of the index, unless the query excludes it.
func (s *trackedSource) file(files []repo.Staged, q *Query) (File, bool) {
	first := &files[0]
	f, listed := q.entry(File{Path: first.Path, Key: keyOf(first.Leaf), Source: s, sparse: first.SkipWorktree})
	if listed && f.State == Listed {
		f.Kind = s.kind(files)
	}
	return f, listed
}

// nextPart takes some of the files that no sequence has taken; an empty range at the end. Files of a directory follow
// one another, so parts are large, but shrink towards the end: no sequence waits long for another.
func nextPart(taken *atomic.Int64, files, sequences int) (from, to int) {
	for {
		from := taken.Load()
		left := int64(files) - from
		n := min(left, max(minBatch, left/int64(8*sequences)))
		if n == 0 || taken.CompareAndSwap(from, from+n) {
			return int(from), int(from + n)
		}
	}
}

// A trackedSource reads files that git lists, which may be of another kind on disk.
type trackedSource struct {
	diskSource
	collisions func() map[string]error // see [trackedTree.collisions]
	dirs       []listedDir             // directories of the last path, from the root down
}

// A listedDir is a directory whose entries were listed at once.
type listedDir struct {
	prefix   string // of the paths in it: its own and a slash; "" is the root
	linkless bool   // no symlink in it
}

// kind is the kind on disk of the first of some files of the index, if needed before it is opened: where disk or index
// has a symlink, the disk decides.
func (s *trackedSource) kind(files []repo.Staged) worktree.Kind {
	f := &files[0]
	kind := kindOf(f.Mode)
	if kind == worktree.Submodule || kind == worktree.Regular && s.linkless(files) {
		return kind
	}
	st, err := s.files.Stat(f.Path)
	switch {
	case err == nil && st.Kind == worktree.Symlink:
		return worktree.Symlink
	case err == nil || isNoFile(err):
		return worktree.Regular
	}
	return kind
}

// fewFiles is how many files of a directory get a stat each.
const fewFiles = 3

// linkless reports whether the directory of the first file certainly has no symlink. The directory is listed if it has
// several of the following files, unless it has many untracked entries.
func (s *trackedSource) linkless(files []repo.Staged) bool {
	path := files[0].Path
	prefix := path[:strings.LastIndexByte(path, '/')+1]
	for n := len(s.dirs); n > 0; n-- {
		last := s.dirs[n-1]
		if last.prefix == prefix {
			return last.linkless
		}
		if strings.HasPrefix(prefix, last.prefix) {
			break
		}
		s.dirs = s.dirs[:n-1]
	}
	n := 1
	for n < len(files) && strings.HasPrefix(files[n].Path, prefix) &&
		strings.IndexByte(files[n].Path[len(prefix):], '/') < 0 {
		n++
	}
	if n <= fewFiles {
		return false
	}
	l := s.files.Linkless(strings.TrimSuffix(prefix, "/"), 8*n+64)
	s.dirs = append(s.dirs, listedDir{prefix, l})
	return l
}

// IsPresent is false for a file that another one has replaced on disk.
func (s *trackedSource) IsPresent(path string) (bool, error) {
	if s.collisions()[path] != nil {
		return false, nil
	}
	return s.diskSource.IsPresent(path)
}

func (s *trackedSource) Open(f File, watched bool) (Content, error) {
	if err := s.collisions()[f.Path]; err != nil {
		return nil, err
	}
	st, err := s.files.Stat(f.Path)
	switch {
	case isNoFile(err) && f.sparse:
		return nil, errNotCheckedOut
	case isNoFile(err):
		return nil, errMissing
	case err != nil:
		return nil, err
	case st.Kind == worktree.Special:
		return nil, ErrSpecial
	}
	if st.Kind != f.Kind { // a symlink is checked by its target before it is opened
		return nil, worktree.ErrChanged
	}
	return s.diskSource.Open(f, watched)
}

// isNoFile reports whether an error means that a file of git is not a file on disk.
func isNoFile(err error) bool {
	return disk.Absent(err) || errors.Is(err, worktree.ErrNotFile) || errors.Is(err, worktree.ErrPath)
}

// collisions returns the files of the index that are one file on disk: their names differ only in case or normal form,
// and the file system ignores that. The content of all but one of them is missing. Case counts where .GIT does not
// find .git. A file whose identity is unknown has the disk's error, the others have errCase.
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
	alike := map[string][]string{} // by the common part of a file's names
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
	for ; len(s) >= 8; s = s[8:] { // takes a sixth of the time of single bytes
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
