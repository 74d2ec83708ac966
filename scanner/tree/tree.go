// Package tree lists the files of a run and reads them.
//
// A [Tree] is all files of a directory ([OpenFolder]), of a list ([OpenListed]), tracked by git ([OpenTracked]),
// changed by a commit ([Changes]), of a whole commit ([Whole]), staged ([Staged]), or one file with the given bytes
// ([Single]). The [Tree.Files] of all are alike: a path, the kind of the file, and a way to read its bytes. A change
// also has the snapshots that it is compared with ([History]).
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

// A Tree is the files that a run is about.
type Tree interface {
	// Scope says how the files were chosen.
	Scope() verdict.Scope
	// Files returns n sequences that together have each file once, in no certain order. Each is ranged over by its own
	// goroutine, all at the same time and to the end, and a file is read before the next one is taken. An error, a
	// *[verdict.Error], is about what cannot be listed; it comes with the file if it is about one that a list names.
	// When ctx ends, so do the sequences, except for errors that are known by then.
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
	Blob     repo.Hash          // its content, if that is git's; zero: it is on disk
	Checkout *checkout.Checkout // what git writes on disk instead; nil: the content is what is on disk
	Key      uint64             // differs where it is known that two files of a path do
	Source   Source
	Named    bool // a list names it, and it is left out or cannot be listed: it is one of the listed files anyway

	sparse bool          // git says that it is not checked out
	fixed  *fixedContent // what Open returns; nil: what Source has
}

type fixedContent struct {
	content []byte
	err     error
}

// A State says what an entry is to a run.
type State uint8

// The states of an entry.
const (
	Listed     State = iota // a file of the tree, or a submodule that is not checked out
	LeftOut                 // a path on disk outside the tree, a directory with everything in it
	Elsewhere               // a file that another shard checks: its Kind is not known
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

// Fail makes an error what Open returns from then on.
func (f *File) Fail(err error) { f.fixed = &fixedContent{err: err} }

// Target reads the target of a link, which Open has from then on: what is matched is what is followed. More than
// [MaxTarget] bytes may be cut; Open reads them again.
func (f *File) Target() (string, error) {
	text, err := readTarget(f.Open(false))
	if len(text) <= MaxTarget {
		f.fixed = &fixedContent{[]byte(text), err}
	}
	return text, err
}

// readTarget reads the target of a link from its content, or so much of it that it is seen to be too long.
func readTarget(c Content, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer c.Close()
	text, err := io.ReadAll(io.LimitReader(c, MaxTarget+1))
	return string(text), err
}

// IsRegular reports whether the entry is a regular file.
func (f *File) IsRegular() bool { return f.Kind == worktree.Regular }

// A Source reads files of a tree. One goroutine may use it at a time.
type Source interface {
	Open(f File, watched bool) (Content, error)
	// Lookup returns what is at a path. No directory on the way is a link.
	Lookup(path string) (PathInfo, error)
	// IsPresent reports whether a regular file that is not empty is at a path of a tree on disk.
	IsPresent(path string) (bool, error)
	// Outside returns the problem with a symlink target outside the tree; "" if the target certainly does not belong
	// to the repository.
	Outside(path string) (wrong string)
}

// A Content is a file's bytes, to be read more than once.
type Content interface {
	io.ReadSeeker
	Size() int64    // in bytes, if it is known before it is read; it may be less or more
	Changed() error // not nil if the bytes may not have been the same all the time
	Close()
}

// A Query narrows what a tree lists. The zero value is all of it.
type Query struct {
	LeaveOut map[string]string      // paths on disk outside the tree, with the reason
	Only     string                 // the one file to list, and what stands on the way to it; "" is all
	InShard  func(path string) bool // files to look at, others are [Elsewhere]; nil is all. Called by all goroutines
	Touched  []string               // paths that are part of a change even if it does not change them, in order
	Uniform  func() bool            // whether the rules select the same under every directory; nil: they do not
}

// GitDir is, in the root, git's own and no part of the tree.
const GitDir = ".git"

// Output is the reason why the file of the verdict is left out.
const Output = "output"

// IsGitPath reports whether a path is git's own.
func IsGitPath(path string) bool { return path == GitDir || strings.HasPrefix(path, GitDir+"/") }

// LeadsTo reports whether a path is the one file to list, or a directory on the way to it.
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

// entry returns an entry as what it is to the run; false if it is not asked for.
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

// isTemporary reports whether a path is one from which another run replaces this one's verdict.
func (q *Query) isTemporary(path string) bool {
	if !strings.HasSuffix(path, ".tmp") { // as nearly all that is listed
		return false
	}
	for out, reason := range q.LeaveOut {
		if reason == Output && disk.Temporary(path, out) {
			return true
		}
	}
	return false
}

// minBatch is how many files a goroutine gets at a time, at least: those of a directory follow one another, and a
// source keeps the directory open.
const minBatch = 32

type listItem struct {
	file File
	err  error
}

// Batches returns n sequences of what list finds, which runs beside them. Each has its own source, if newSource is
// given.
func Batches(
	ctx context.Context, n int, newSource func() (Source, func()), list func(found func(File, error)),
) []iter.Seq2[File, error] {
	parts := make(chan []listItem, 2*n)
	listing, stop := context.WithCancel(ctx) // until no sequence is ranged over any more
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

// listBatches sends what list finds in parts, until ctx ends.
func listBatches(ctx context.Context, parts chan<- []listItem, list func(found func(File, error))) {
	defer close(parts)
	var next []listItem
	sent := 0
	send := func() {
		sent += len(next)
		select {
		case parts <- next: // even if ctx has ended: there may be errors among them
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
		// To wake a goroutine costs more than to look at a few files that no rule covers. The last part is no more
		// than a sixteenth of the files, so that no goroutine waits long for another.
		next = append(next, listItem{f, err})
		if len(next) >= max(minBatch, min(sent/16, 16*minBatch)) {
			send()
		}
	})
}

// failed is the error among the files for what a directory or file could not be listed for.
func failed(path string, err error) error {
	e := FileError(path, err)
	return &e
}

// Single returns a tree of one file, whose bytes are given, of scope stdin.
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

// diskScope is what all trees have whose files are not git's: the mode of the scope.
type diskScope string

func (mode diskScope) Scope() verdict.Scope { return verdict.Scope{Mode: string(mode)} }

func (diskScope) History() (*History, error) { return nil, nil }

func (diskScope) Absent(string) string { return "is not there" }

func (t *singleTree) Files(_ context.Context, n int, q Query) []iter.Seq2[File, error] {
	all := make([]iter.Seq2[File, error], n)
	for i := range all {
		all[i] = func(func(File, error) bool) {}
	}
	f, out := q.leftOut(t.path)
	if !out {
		f = File{Path: t.path, Source: t}
		if q.elsewhere(t.path) {
			f.State = Elsewhere
		}
	}
	all[0] = func(yield func(File, error) bool) { yield(f, nil) }
	return all
}

func (t *singleTree) Open(File, bool) (Content, error) { return InMemory(t.content), nil }

func (t *singleTree) Lookup(path string) (PathInfo, error) {
	return PathInfo{IsFile: path == t.path}, nil
}

func (t *singleTree) IsPresent(string) (bool, error) { return false, nil }

func (t *singleTree) Outside(string) string { return OutsideTree }

type bytesContent struct{ *bytes.Reader }

// InMemory returns bytes as a content.
func InMemory(b []byte) Content { return bytesContent{bytes.NewReader(b)} }

func (bytesContent) Changed() error { return nil }
func (bytesContent) Close()         {}
