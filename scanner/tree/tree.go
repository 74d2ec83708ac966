// Package tree lists the files of a run and reads them.
//
// A [Tree] is all files of a directory ([OpenDir]), of a list ([OpenListed]), tracked by git ([OpenTracked]), changed
// by a commit ([Changes]) or on disk since one ([Uncommitted]), of a whole commit ([Whole]), staged ([Staged]), or one
// file with the given bytes ([Single]). The [Tree.Files] of all are alike: a path, the kind of the file, and a way to
// read its bytes. A change also has the snapshots that it is compared with ([History]).
//
// A file that cannot be listed, or a directory that changes while it is listed, is an error among the files, never a
// shorter list. Symlinks are not followed; [Follow] returns their targets.
//
// It reads the disk by scanner/worktree and git's objects by scanner/repo, and knows no rules.
package tree

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A Tree is the files of a run.
type Tree interface {
	// Scope describes how the files were chosen.
	Scope() verdict.Scope
	// Files returns n sequences that together have each file once, in no certain order. Each needs its own goroutine,
	// all at the same time and to the end, and a file is read before the next one is taken. An error, a
	// *[verdict.Error], is about a path that cannot be listed; it comes with the file if a list names it. When ctx
	// ends, so do the sequences, after the errors known by then.
	Files(ctx context.Context, n int, q Query) []iter.Seq2[File, error]
	// History returns the snapshots of the tree's repository; nil if its files are on disk. It fails if Files fails.
	History() (*History, error)
	// Absent returns why a path has no file.
	Absent(path string) string
}

// A File is an entry of a tree.
type File struct {
	Path     string // from the root, with slashes
	Kind     worktree.Kind
	State    State
	Reason   string             // of a skipped file: the word in the verdict
	Blob     repo.Hash          // its content; zero: it is on disk
	Checkout *checkout.Checkout // what git writes on disk; nil: the content itself
	OnDisk   bool               // the Blob is the file on disk, and not in git
	Key      uint64             // differs if two files of a path are known to differ
	Source   Source
	Named    bool // in a list, but skipped or impossible to list: it counts as listed

	sparse bool          // not checked out, according to git
	fixed  *fixedContent // the result of Open; nil: by Source
}

type fixedContent struct {
	content []byte
	err     error
}

// A State is the role of an entry in a run.
type State uint8

const (
	Listed     State = iota // a file of the tree, or a submodule without a checkout
	LeftOut                 // a path on disk outside the tree, a directory with everything in it
	Elsewhere               // a file that another shard checks: its Kind is unknown
	Deleted                 // a file that the change deletes
	CheckedOut              // a submodule whose files are listed, too
)

// Open opens the file; of a symlink, its target. Unwatched content may be limited to one read: then the error is
// [worktree.ErrSeveral].
func (f *File) Open(watched bool) (Content, error) {
	switch {
	case f.fixed == nil:
		return f.Source.Open(*f, watched)
	case f.fixed.err != nil:
		return nil, f.fixed.err
	}
	return InMemory(f.fixed.content), nil
}

// Fail makes Open return an error from then on.
func (f *File) Fail(err error) { f.fixed = &fixedContent{err: err} }

// Target reads the target of a symlink and keeps it for Open, so that the matched target is the followed one. It may
// be cut after [MaxTarget] bytes; Open then reads it again.
func (f *File) Target() (string, error) {
	text, err := readTarget(f.Open(false))
	if len(text) <= MaxTarget {
		f.fixed = &fixedContent{[]byte(text), err}
	}
	return text, err
}

// readTarget reads the target of a symlink from its content; of one that is too long, enough to show that.
func readTarget(c Content, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer c.Close()
	text, err := io.ReadAll(io.LimitReader(c, MaxTarget+1))
	return string(text), err
}

func (f *File) IsRegular() bool { return f.Kind == worktree.Regular }

// A Source reads files of a tree. One goroutine may use it at a time.
type Source interface {
	Open(f File, watched bool) (Content, error)
	// Lookup describes a path. No directory of the path is a symlink.
	Lookup(path string) (PathInfo, error)
	// IsPresent reports whether a path of a tree on disk is a regular file with content.
	IsPresent(path string) (bool, error)
	// Outside returns the problem with a symlink target outside the tree; "" if the target certainly does not belong
	// to the repository.
	Outside(path string) (wrong string)
}

// A Content is a file's bytes, to be read more than once.
type Content interface {
	io.ReadSeeker
	Size() int64    // in bytes, before reading; the content may be shorter or longer
	Changed() error // an error if the bytes may have changed while read
	Close()
}

// A Query narrows the files of a tree. The zero value is all of them.
type Query struct {
	LeaveOut map[string]string      // paths on disk outside the tree, with the reason
	Only     string                 // the one file to list, with all parts of its path; "" is all
	InShard  func(path string) bool // files to look at, others are [Elsewhere]; nil is all. Called by all goroutines
	Touched  []string               // unchanged paths that are part of a change, in order
	Uniform  func() bool            // whether the rules select the same under every directory; nil: no
}

// GitDir in the root is git's own and not part of the tree.
const GitDir = ".git"

// The reasons for skipping the file of the verdict, and one that another run has written.
const (
	Output        = "output"
	EarlierOutput = "earlier-output"
)

// IsGitPath reports whether a path is git's own.
func IsGitPath(path string) bool { return path == GitDir || strings.HasPrefix(path, GitDir+"/") }

// LeadsTo reports whether a path is the one file to list, or a directory above it.
func (q *Query) LeadsTo(path string) bool {
	return q.Only == "" || path == q.Only || path == "." || strings.HasPrefix(q.Only, path+"/")
}

// leftOut returns the entry of a skipped path; for any other path, an entry with the path alone.
func (q *Query) leftOut(path string) (f File, out bool) {
	if IsGitPath(path) {
		return File{Path: GitDir, State: LeftOut, Reason: "git"}, true
	}
	if reason, out := q.LeaveOut[path]; out {
		return File{Path: path, State: LeftOut, Reason: reason}, true
	}
	return File{Path: path}, false
}

// entry returns an entry with its role in the run; false if the query excludes it.
func (q *Query) entry(f File) (_ File, listed bool) {
	if !q.LeadsTo(f.Path) {
		return File{}, false
	}
	if out, is := q.leftOut(f.Path); is {
		return out, true
	}
	if q.elsewhere(f.Path) {
		f.State = Elsewhere
	}
	return f, true
}

func (q *Query) elsewhere(path string) bool { return q.InShard != nil && !q.InShard(path) }

// isTemporary reports whether a path is another run's temporary file for this verdict.
func (q *Query) isTemporary(path string) bool {
	if !strings.HasSuffix(path, ".tmp") { // true of nearly all paths
		return false
	}
	for out, reason := range q.LeaveOut {
		if reason == Output && disk.Temporary(path, out) {
			return true
		}
	}
	return false
}

// minBatch is the least number of files for a goroutine at a time: files of a directory follow one another, and a
// source keeps the directory open.
const minBatch = 32

type listItem struct {
	file File
	err  error
}

// Batches returns n sequences of the files that list finds, which runs beside them. Each has its own source, if
// newSource is not nil.
func Batches(
	ctx context.Context, n int, newSource func() (Source, func()), list func(found func(File, error)),
) []iter.Seq2[File, error] {
	parts := make(chan []listItem, 2*n)
	listing, stop := context.WithCancel(ctx) // until all sequences have ended
	var ranging atomic.Int64
	ranging.Store(int64(n))
	start := sync.OnceFunc(func() { go listBatches(listing, parts, list) })
	sequence := func(yield func(File, error) bool) {
		defer func() {
			if ranging.Add(-1) == 0 {
				stop()
			}
		}()
		start()
		var source Source
		if newSource != nil {
			var done func()
			source, done = newSource()
			defer done()
		}
		for part := range parts {
			for _, i := range part {
				if ctx.Err() != nil && i.err == nil {
					continue
				}
				if newSource != nil {
					i.file.Source = source
				}
				if !yield(i.file, i.err) {
					return
				}
			}
		}
	}
	return slices.Repeat([]iter.Seq2[File, error]{sequence}, n)
}

// listBatches sends the files of list in parts, until ctx ends.
func listBatches(ctx context.Context, parts chan<- []listItem, list func(found func(File, error))) {
	defer close(parts)
	var next []listItem
	sent := 0
	send := func() {
		sent += len(next)
		select {
		case parts <- next: // even if ctx has ended: the part may have errors
		default:
			select {
			case parts <- next:
			case <-ctx.Done():
			}
		}
		next = nil
	}
	defer send()
	defer func() {
		if r := recover(); r != nil {
			e := PanicError("", r)
			next = append(next, listItem{err: &e})
		}
	}()
	list(func(f File, err error) {
		// Waking a goroutine costs more than checking a few files that no rule covers. The last part is at most a
		// sixteenth of the files, so that no goroutine waits long for another.
		next = append(next, listItem{f, err})
		if len(next) >= max(minBatch, min(sent/16, 16*minBatch)) {
			send()
		}
	})
}

// failed is the error among the files for a path that cannot be listed.
func failed(path string, err error) error {
	e := FileError(path, err)
	return &e
}

// Single returns a tree of one file with the given bytes, of scope stdin.
func Single(path string, content []byte) (Tree, error) {
	name, err := CleanPath(path)
	if err != nil {
		return nil, err
	}
	return &singleTree{"stdin", name, content}, nil
}

type singleTree struct {
	diskScope
	path    string
	content []byte
}

// diskScope is the mode of the scope, for trees on disk.
type diskScope string

func (mode diskScope) Scope() verdict.Scope { return verdict.Scope{Mode: string(mode)} }

func (diskScope) History() (*History, error) { return nil, nil }

func (diskScope) Absent(string) string { return "is not in the tree" }

func (t *singleTree) Files(_ context.Context, n int, q Query) []iter.Seq2[File, error] {
	all := make([]iter.Seq2[File, error], n)
	for i := range all {
		all[i] = func(func(File, error) bool) {}
	}
	if f, listed := q.entry(File{Path: t.path, Source: t}); listed {
		all[0] = func(yield func(File, error) bool) { yield(f, nil) }
	}
	return all
}

func (t *singleTree) Open(File, bool) (Content, error) { return InMemory(t.content), nil }

func (t *singleTree) Lookup(path string) (PathInfo, error) {
	return PathInfo{IsFile: path == t.path}, nil
}

func (t *singleTree) IsPresent(string) (bool, error) { return false, nil }

func (t *singleTree) Outside(string) string { return OutsideTree }

type bytesContent struct{ *bytes.Reader }

// InMemory returns bytes as a Content.
func InMemory(b []byte) Content { return bytesContent{bytes.NewReader(b)} }

func (bytesContent) Changed() error { return nil }
func (bytesContent) Close()         {}
