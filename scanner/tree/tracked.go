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

// file returns the first of some files of the index, unless it is not asked for.
func (s *trackedSource) file(files []repo.Staged, q *Query) (File, bool) {
	first := &files[0]
	f, listed := q.entry(File{Path: first.Path, Key: keyOf(first.Leaf), Source: s, sparse: first.SkipWorktree})
	if listed && f.State == Listed {
		f.Kind = s.kind(files)
	}
	return f, listed
}

// nextPart takes some of the files that no sequence has taken; none if there are no more. Files of a directory follow
// one another, so a part is large, but smaller and smaller towards the end: no sequence waits long for another.
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

// A trackedSource reads files that git lists, and that may be something else on disk.
type trackedSource struct {
	diskSource
	collisions func() map[string]error // see [trackedTree.collisions]
	folders    []listedFolder          // of the last path, each in the one before
}

// A listedFolder is a directory whose entries were looked at together.
type listedFolder struct {
	prefix   string // of the paths in it: its own and a slash; "" is the root
	linkless bool   // no symlink in it
}

// kind is the kind on disk of the first of some files of the index, if needed before it is opened: where disk or
// index has a symlink, the disk decides.
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

// fewFiles is how many files of a directory are looked at one by one.
const fewFiles = 3

// linkless reports whether the directory of the first file is certain to have no link in it. The directory is listed
// if several of the files that follow are in it, too, unless it has many entries that git does not track.
func (s *trackedSource) linkless(files []repo.Staged) bool {
	path := files[0].Path
	prefix := path[:strings.LastIndexByte(path, '/')+1]
	for n := len(s.folders); n > 0; n-- {
		last := s.folders[n-1]
		if last.prefix == prefix {
			return last.linkless
		}
		if strings.HasPrefix(prefix, last.prefix) {
			break
		}
		s.folders = s.folders[:n-1]
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
	s.folders = append(s.folders, listedFolder{prefix, l})
	return l
}

// IsPresent is false for a file that another one is instead on disk.
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
	case isNoFile(err):
		return nil, &missingFileError{f.sparse}
	case err != nil:
		return nil, err
	case st.Kind == worktree.Special:
		return nil, ErrSpecial
	}
	if st.Kind != f.Kind { // a link is checked by where it leads, which happens before it is opened
		return nil, worktree.ErrChanged
	}
	return s.diskSource.Open(f, watched)
}

// isNoFile reports whether an error says that what git lists is not a file on disk.
func isNoFile(err error) bool {
	return disk.Absent(err) || errors.Is(err, worktree.ErrNotFile) || errors.Is(err, worktree.ErrPath)
}

// collisions returns the files of the index that are one file on disk: their names differ in case or in their normal
// form alone, and the file system takes no notice of that. The content of all but one of them is not there. Where .git
// is not found as .GIT too, case makes a difference. A file of which the disk does not say whether it is one of them
// has the disk's error, the others have errCase.
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
