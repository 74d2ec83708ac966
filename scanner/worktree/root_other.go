//go:build !unix

package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// A Root is the directory of a tree.
type Root struct{ root *os.Root }

type handle struct{ root *os.Root }

// Open opens the directory of a tree. dir itself may be a symlink: the user named it.
func Open(dir string) (*Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Root{root}, nil
}

func (r *Root) Close() { _ = r.root.Close() }

func (h handle) close() { _ = h.root.Close() }

func (r *Root) openDir(path string) (handle, error) {
	at, err := r.root.OpenRoot(".")
	for err == nil && path != "" {
		var step string
		step, path, _ = strings.Cut(path, "/")
		h := handle{at}
		var st Status
		var next *os.Root
		if st, err = h.stat(step); err == nil && st.Kind != directory {
			err = ErrPath
		}
		if err == nil {
			next, err = at.OpenRoot(step)
		}
		h.close()
		at = next
	}
	return handle{at}, err
}

// state changes when a directory is written to.
type state struct{ mtime time.Time }

func (s state) changed() time.Time { return s.mtime }

func (r *Root) state(dir string) (state, error) {
	h, err := r.openDir(dir)
	if err != nil {
		return state{}, err
	}
	defer h.close()
	return h.state()
}

func (h handle) state() (state, error) {
	st, err := h.root.Stat(".")
	if err != nil {
		return state{}, err
	}
	return state{st.ModTime()}, nil
}

func (h handle) list(_ []byte, prefix string, visit func(path string, kind Kind)) error {
	f, err := h.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close() // read only: nothing to lose
	for {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			visit(prefix+e.Name(), kindOf(e.Type()))
		}
		if len(entries) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
}

// linkless is always unknown here: a directory is not read.
func (handle) linkless([]byte, int) bool { return false }

func (h handle) stat(name string) (Status, error) {
	st, err := h.root.Lstat(name)
	if err != nil {
		return Status{}, err
	}
	return Status{Kind: kindOf(st.Mode()), Size: st.Size(), Mtime: st.ModTime().UnixNano()}, nil
}

// A FileID is always the same here: two names of a file that differ only in case are one file.
type FileID struct{}

func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return Regular
	case mode.IsDir():
		return directory
	case mode&fs.ModeSymlink != 0:
		return Symlink
	}
	return Special
}

// readlink has no implementation by handle here: it is an error, never a guess.
func (h handle) readlink(string) (string, error) {
	return "", errors.New("the target of a symbolic link cannot be read safely on this system")
}

// Outside is always false here: the target of a symlink cannot be read by handle.
func (r *Root) Outside(*Root, string) bool { return false }

// A File is an open regular file.
type File struct {
	f    *os.File
	stat fs.FileInfo
}

func (*Reader) openFile(h handle, name string, _ bool) (*File, error) {
	before, err := h.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, ErrChanged
	}
	f, err := h.root.Open(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !os.SameFile(before, st) {
		err = ErrChanged
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &File{f, st}, nil
}

func (f *File) Close() { _ = f.f.Close() }

// Size is the length in bytes in the file system.
func (f *File) Size() int64 { return f.stat.Size() }

func (f *File) Read(p []byte) (int, error) { return f.f.Read(p) }

func (f *File) Seek(offset int64, whence int) (int64, error) { return f.f.Seek(offset, whence) }

// Changed returns [ErrChanged] if the file was written to since it was opened.
func (f *File) Changed() error {
	now, err := f.f.Stat()
	if err != nil {
		return err
	}
	if now.Size() != f.stat.Size() || !now.ModTime().Equal(f.stat.ModTime()) {
		return ErrChanged
	}
	return nil
}
