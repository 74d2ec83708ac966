// Package worktree is the room that opens the scanned tree's files on disk. [PathIn] returns the path of a file in it.
//
// The tree is not trusted. A symlink is never followed, neither as a file nor as a directory of a path; its content is
// its target string. FIFOs, sockets and devices are never opened. A name is resolved relative to the handle of the
// root, so that no rename during the scan leads outside, and no path is too long: on Linux by openat2(2) with
// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, on other Unix systems (and where openat2 is missing or forbidden) by one
// openat(2) with O_NOFOLLOW for each directory of the path, elsewhere by [os.Root] and a stat of each directory before
// it is opened.
//
// Paths are bytes, separated by slashes, relative to the root, and clean: no empty, "." or ".." element.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
)

// Kind is the kind of file at a path.
type Kind uint8

// The kinds of file. A directory is not a file.
const (
	Regular Kind = iota
	Symlink
	Special // a FIFO, socket or device
	directory
	Submodule // a commit of another repository; a walk finds its files, if it is checked out
)

// An Entry is a file of the tree.
type Entry struct {
	Path string
	Kind Kind
}

// ErrChanged: a path has changed since it was listed.
var ErrChanged = errors.New("changed while it was scanned")

// ErrGone is the [ErrChanged] of a removed file.
var ErrGone = fmt.Errorf("%w: it is gone", ErrChanged)

// ErrNotFile: a path is a directory, not a file.
var ErrNotFile = errors.New("is a directory")

// ErrPath: a directory of a path is a symlink or a file.
var ErrPath = errors.New("leads through a symbolic link or a file")

// A Visitor receives the files of a walk. One goroutine calls it.
type Visitor struct {
	// Skip reports whether a path is skipped, a directory with everything in it.
	Skip func(path string) bool
	// File receives a file, and a reader at its directory.
	File func(Entry, *Reader)
	// Failed receives a directory that cannot be read, or that changed ("" is the root). The walk goes on.
	Failed func(path string, err error)
	// Passing reports whether a file is temporary, so that its coming or going does not change its directory.
	Passing func(path string) bool
}

// A Walker is one of several that share a walk of every file below the root, in no certain order. The files directly in
// a directory are of one walker.
//
// A file that is moved during the walk, from a directory not listed yet to one already listed, would be missed. So
// each directory is listed again at the end, and one with other entries is [ErrChanged].
type Walker struct {
	root   *Root
	queue  *queue
	listed *sync.WaitGroup // of all walkers
}

// Walkers returns n walkers that share one walk. Each needs its own goroutine, all at the same time:
// a walker ends only after all have finished listing.
func (r *Root) Walkers(n int) []*Walker {
	queue, listed := &queue{dirs: []string{""}, seed: maphash.MakeSeed()}, &sync.WaitGroup{}
	queue.more.L = &queue.mu
	listed.Add(n)
	all := make([]*Walker, n)
	for i := range all {
		all[i] = &Walker{r, queue, listed}
	}
	return all
}

// Walk calls a visitor with its part of the files. If ctx ends, the part ends early.
func (w *Walker) Walk(ctx context.Context, v Visitor) {
	p := walkPart{Visitor: v, rd: w.root.Reader(), queue: w.queue}
	defer p.rd.Close()
	func() {
		defer w.listed.Done() // also if the visitor panics
		for dir, more := p.queue.take(); more; dir, more = p.queue.take() {
			p.dir(ctx, dir)
		}
	}()
	w.listed.Wait() // all directories are listed
	p.again(ctx)
}

// A walkPart is one visitor's part of a walk.
type walkPart struct {
	Visitor
	rd    *Reader
	queue *queue
	seen  []listing
}

func (w *walkPart) dir(ctx context.Context, dir string) {
	defer w.queue.finish() // also if the visitor panics
	if ctx.Err() != nil {
		return
	}
	l, err := w.listing(dir, func(path string, kind Kind) {
		switch {
		case kind == directory:
			w.queue.add(path)
		case ctx.Err() == nil:
			w.File(Entry{path, kind}, w.rd)
		}
	})
	if err != nil {
		w.Failed(dir, listed(err))
	} else {
		w.seen = append(w.seen, l)
	}
}

func (w *walkPart) again(ctx context.Context) {
	for _, l := range w.seen {
		if ctx.Err() != nil {
			return
		}
		if now, err := w.rd.root.state(l.dir); err == nil && now == l.state && l.settled {
			continue
		}
		again, err := w.listing(l.dir, func(string, Kind) {})
		if err != nil || again.entries != l.entries {
			w.Failed(l.dir, ErrChanged)
		}
	}
}

// A queue holds the directories still to be listed.
type queue struct {
	mu   sync.Mutex
	more sync.Cond
	dirs []string
	busy int // directories being listed, which may add more
	seed maphash.Seed
}

func (q *queue) add(dir string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dirs = append(q.dirs, dir)
	q.more.Signal()
}

// take returns a directory to list; false at the end of the walk.
func (q *queue) take() (dir string, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.dirs) == 0 {
		if q.busy == 0 {
			return "", false
		}
		q.more.Wait()
	}
	last := len(q.dirs) - 1
	dir, q.dirs = q.dirs[last], q.dirs[:last]
	q.busy++
	return dir, true
}

func (q *queue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy--; q.busy == 0 {
		q.more.Broadcast()
	}
}

type listing struct {
	dir     string
	state   state
	settled bool   // any change after the listing changes the state
	entries uint64 // the sum of their hashes, in any order
}

// tick exceeds the time resolution of file systems: some milliseconds on most, two seconds on FAT. A second change of
// a directory within it leaves no trace.
const tick = 2 * time.Second

// listing lists a directory and calls visit with the paths in it.
func (w *walkPart) listing(dir string, visit func(path string, kind Kind)) (listing, error) {
	l := listing{dir: dir}
	h, err := w.rd.enter(dir)
	if err != nil {
		return l, err
	}
	began := time.Now()
	if l.state, err = h.state(); err != nil {
		return l, err
	}
	l.settled = l.state.changed().Before(began.Add(-tick))
	prefix := strings.TrimPrefix(dir+"/", "/")
	err = h.list(w.rd.records(), prefix, func(path string, kind Kind) {
		if w.Skip(path) {
			return
		}
		if !w.Passing(path) {
			l.entries += maphash.Comparable(w.queue.seed, Entry{path, kind})
		}
		visit(path, kind)
	})
	return l, err
}

// listed turns an error of opening a listed path into [ErrChanged] if the path is gone or of another kind.
func listed(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrGone
	case errors.Is(err, ErrPath), errors.Is(err, ErrNotFile):
		return ErrChanged
	}
	return err
}

// A Reader opens files of a tree, for one goroutine. It keeps the directory of the last file open, so it is fastest
// with the files of a directory in a row.
type Reader struct {
	root *Root
	dir  string
	open bool
	h    handle
	buf  []byte // of the directory's records

	accessTimes bool // reading a file sets its access time, which cannot be prevented
}

// Reader returns a new reader, to be closed.
func (r *Root) Reader() *Reader { return &Reader{root: r} }

// Close closes the directory that the reader keeps open.
func (rd *Reader) Close() {
	if rd.open {
		rd.h.close()
		rd.open = false
	}
}

// dirOf returns a handle of name's directory, and name's last part.
func (rd *Reader) dirOf(name string) (handle, string, error) {
	dir, base := path.Split(name)
	h, err := rd.enter(strings.TrimSuffix(dir, "/"))
	return h, base, err
}

// enter returns a handle of a directory, and keeps it open.
func (rd *Reader) enter(dir string) (handle, error) {
	if !rd.open || dir != rd.dir {
		rd.Close()
		h, err := rd.root.openDir(dir)
		if err != nil {
			return h, err
		}
		rd.h, rd.dir, rd.open = h, dir, true
	}
	return rd.h, nil
}

func (rd *Reader) records() []byte {
	if rd.buf == nil {
		rd.buf = make([]byte, 32<<10)
	}
	return rd.buf
}

// Linkless reports whether a directory ("" is the root) certainly has no symlink in it. It reads at most most entries;
// false means unknown.
func (rd *Reader) Linkless(dir string, most int) bool {
	h, err := rd.enter(dir)
	return err == nil && h.linkless(rd.records(), most)
}

// A Status describes a file.
type Status struct {
	Kind Kind
	Size int64 // in bytes

	Executable   bool  // by its owner
	Mtime, Ctime int64 // in nanoseconds since 1970; Ctime is 0 where it is unknown

	// ID is the same for two names of one file, such as names that differ only in case where the file system ignores
	// it.
	ID FileID
}

// Stat returns the status of name. A directory is [ErrNotFile], next to its status.
func (rd *Reader) Stat(name string) (Status, error) {
	h, base, err := rd.dirOf(name)
	if err != nil {
		return Status{}, err
	}
	st, err := h.stat(base)
	if err == nil && st.Kind == directory {
		err = ErrNotFile
	}
	return st, err
}

// ErrSeveral: a file takes several reads, which may see it at different moments, so it has to be watched.
var ErrSeveral = errors.New("takes several reads")

// Open opens a file that was listed as regular. If it no longer is, Open or the first read fails with [ErrChanged].
//
// An unwatched file costs one call less, and is limited to one read. [File.Size] and [File.Changed] need a watched one.
func (rd *Reader) Open(name string, watched bool) (*File, error) {
	h, base, err := rd.dirOf(name)
	if err != nil {
		return nil, listed(err)
	}
	f, err := rd.openFile(h, base, watched)
	return f, listed(err)
}

// Readlink returns the target of a file that was listed as a symlink.
func (rd *Reader) Readlink(name string) (string, error) {
	h, base, err := rd.dirOf(name)
	if err != nil {
		return "", listed(err)
	}
	target, err := h.readlink(base)
	return target, listed(err)
}

// NoRoot is the error of a directory to scan that cannot be opened.
func NoRoot(err error) error {
	return fmt.Errorf("the directory to scan cannot be opened: %w", disk.Cause(err))
}

// PathIn returns the path of a file in the tree under root; false if it is not in it. Both are as the system opens
// them. The file may be missing, and is never a symlink; the directories may be symlinks.
func PathIn(root, file string) (path string, in bool, err error) {
	dir, name := filepath.Split(file)
	dir, err = disk.Real(dir)
	if err != nil {
		return "", false, fmt.Errorf(`cannot determine whether "%s" is in the directory to scan: %w`,
			verdict.Visible(file), disk.Cause(err))
	}
	if root, err = disk.Real(root); err != nil {
		return "", false, NoRoot(err)
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, name))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false, nil // no relative path: it is not in the tree
	}
	return filepath.ToSlash(rel), true, nil
}
