// Package worktree is the room that opens the scanned tree's files on disk. [PathIn] says which path a file has in
// it.
//
// The tree is not trusted. A symbolic link is never followed, neither as a file nor as a directory on the way to one;
// its content is the string it points to. FIFOs, sockets and devices are never opened. A name is resolved relative to
// the handle of the root, so that no rename while the scan runs leads outside, and no path is too long: on Linux by
// openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, on other Unix systems (and where openat2 is missing or
// forbidden) by one openat(2) with O_NOFOLLOW for each directory of the path, elsewhere by [os.Root] and a look at
// each directory before it is opened.
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
	"strings"
	"sync"
	"time"
)

// Kind is what a path names.
type Kind uint8

// The kinds of file. A directory is not a file.
const (
	Regular Kind = iota
	Symlink
	Special // a FIFO, socket or device
	folder
	Submodule // a commit of another repository; a walk finds its files, if it is checked out
)

// An Entry is a file of the tree.
type Entry struct {
	Path string
	Kind Kind
}

// ErrChanged says that a path is no longer what it was when it was listed.
var ErrChanged = errors.New("changed while it was scanned")

// ErrGone is the [ErrChanged] of a removed file.
var ErrGone = fmt.Errorf("%w: it is gone", ErrChanged)

// ErrNotFile says that a path names a directory, not a file.
var ErrNotFile = errors.New("is a folder")

// ErrPath says that what should be a directory on the way to a file is a symbolic link or a file.
var ErrPath = errors.New("leads through a symbolic link or a file")

// A Visitor is what a walk reports to. It is called by one goroutine.
type Visitor struct {
	// Skip reports whether a path is left out, a directory with all that is in it.
	Skip func(path string) bool
	// File takes a file, and a reader at its directory.
	File func(Entry, *Reader)
	// Failed takes a directory that cannot be read, or that changed ("" is the root). The walk goes on.
	Failed func(path string, err error)
	// Passing reports whether a file comes and goes by itself, so that one more or less is no change of its
	// directory.
	Passing func(path string) bool
}

// Walk calls one of the visitors with every file below the root, the same one for all files directly in a directory,
// in no certain order. Each visitor has its own goroutine. Walk fails only with the context's error.
//
// A file that is moved during the walk, from a directory not listed yet to one already listed, would be missed. So
// each directory is listed again at the end, and one with other entries is [ErrChanged].
func (r *Root) Walk(ctx context.Context, visitors ...Visitor) error {
	walkers := r.Walkers(len(visitors))
	var done sync.WaitGroup
	for i, v := range visitors {
		done.Go(func() { walkers[i].Walk(ctx, v) })
	}
	done.Wait()
	return context.Cause(ctx)
}

// A Walker is one of several that walk the tree together.
type Walker struct {
	root   *Root
	queue  *queue
	listed *sync.WaitGroup // of all of them
}

// Walkers returns n walkers that share one walk; see [Root.Walk]. Each is to be used by its own goroutine, all at the
// same time: none comes to its end before all have listed what there is.
func (r *Root) Walkers(n int) []*Walker {
	queue, listed := newQueue(""), &sync.WaitGroup{}
	listed.Add(n)
	all := make([]*Walker, n)
	for i := range all {
		all[i] = &Walker{r, queue, listed}
	}
	return all
}

// Walk hands its part of the files to a visitor. If ctx ends, the part ends early.
func (w *Walker) Walk(ctx context.Context, v Visitor) {
	p := walkPart{Visitor: v, rd: w.root.Reader(), queue: w.queue}
	defer p.rd.Close()
	func() {
		defer w.listed.Done() // of a visitor that panics, too
		for dir, more := p.queue.take(); more; dir, more = p.queue.take() {
			p.folder(ctx, dir)
		}
	}()
	w.listed.Wait() // no directory may be listed any more
	p.again(ctx)
}

// A walkPart is the part of a walk that one visitor has.
type walkPart struct {
	Visitor
	rd    *Reader
	queue *queue
	seen  []listing
}

func (w *walkPart) folder(ctx context.Context, dir string) {
	defer w.queue.finish() // of a visitor that panics, too
	if ctx.Err() != nil {
		return
	}
	l, err := w.listing(dir, func(path string, kind Kind) {
		switch {
		case kind == folder:
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

// A queue is the directories that are still to be listed.
type queue struct {
	mu      sync.Mutex
	more    sync.Cond
	folders []string
	busy    int // directories that are being listed, and may bring more
	seed    maphash.Seed
}

func newQueue(first string) *queue {
	q := &queue{folders: []string{first}, seed: maphash.MakeSeed()}
	q.more.L = &q.mu
	return q
}

func (q *queue) add(dir string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.folders = append(q.folders, dir)
	q.more.Signal()
}

// take returns a directory to list; false if there are no more, and can be none.
func (q *queue) take() (dir string, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.folders) == 0 {
		if q.busy == 0 {
			return "", false
		}
		q.more.Wait()
	}
	last := len(q.folders) - 1
	dir, q.folders = q.folders[last], q.folders[:last]
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
	settled bool   // whoever changes the directory after it was listed changes its state
	entries uint64 // the sum of their hashes, whatever their order
}

// tick is more than the time between two times that a file system tells apart: some milliseconds on most, two seconds
// on FAT. Who changes a directory twice within it leaves the time of the first change.
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

// listed is the error of opening something that was listed: if it is gone or is now something else, it changed.
func listed(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrGone
	case errors.Is(err, ErrPath), errors.Is(err, ErrNotFile):
		return ErrChanged
	}
	return err
}

// A Reader opens files of a tree. It keeps the directory of the last one open, so it is fastest when files of a
// directory follow one another. It is for one goroutine.
type Reader struct {
	root *Root
	dir  string
	open bool
	h    handle
	buf  []byte // of the directory's records

	accessTimes bool // reading a file sets when it was last read: it cannot be prevented
}

// Reader returns a new reader. Close it.
func (r *Root) Reader() *Reader { return &Reader{root: r} }

// Close closes the directory that the reader keeps open.
func (rd *Reader) Close() {
	if rd.open {
		rd.h.close()
		rd.open = false
	}
}

// folder returns a handle of the directory that name is in, and name's last part.
func (rd *Reader) folder(name string) (handle, string, error) {
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

// Linkless reports whether a directory ("" is the root) certainly has no symlink in it. It reads at most most
// entries; false means unknown.
func (rd *Reader) Linkless(dir string, most int) bool {
	h, err := rd.enter(dir)
	return err == nil && h.linkless(rd.records(), most)
}

// A Status is what the file system says of a file.
type Status struct {
	Kind Kind
	Size int64 // in bytes
	// ID is the same for two names that the disk knows if they are of one file. Names that differ in case alone are,
	// where the file system takes no notice of case.
	ID FileID
}

// Stat says what name is. A directory is [ErrNotFile], next to its status.
func (rd *Reader) Stat(name string) (Status, error) {
	h, base, err := rd.folder(name)
	if err != nil {
		return Status{}, err
	}
	st, err := h.stat(base)
	if err == nil && st.Kind == folder {
		err = ErrNotFile
	}
	return st, err
}

// ErrSeveral says that a file takes more than one read, so that it has to be watched: one read sees it at one moment,
// several may see it at different ones.
var ErrSeveral = errors.New("takes several reads")

// Open opens a regular file that was listed as one. If it no longer is one, the error is [ErrChanged], of Open or of
// the first read.
//
// A file that is not watched costs one call less, and can be read only so far as one read brings it. [File.Size] and
// [File.Changed] are those of a watched one.
func (rd *Reader) Open(name string, watched bool) (*File, error) {
	h, base, err := rd.folder(name)
	if err != nil {
		return nil, listed(err)
	}
	f, err := rd.openFile(h, base, watched)
	return f, listed(err)
}

// Readlink returns what a symbolic link that was listed as one points to.
func (rd *Reader) Readlink(name string) (string, error) {
	h, base, err := rd.folder(name)
	if err != nil {
		return "", listed(err)
	}
	target, err := h.readlink(base)
	return target, listed(err)
}
