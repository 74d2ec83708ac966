//go:build unix

package worktree

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Root is the directory of a tree.
type Root struct {
	h handle
	// openat2: the kernel resolves a path of several directories safely (openat2).
	openat2 bool
}

type handle struct{ fd int }

// Open opens the directory of a tree. dir itself may be a symlink: the user named it.
func Open(dir string) (*Root, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	r := &Root{h: handle{fd}}
	probe, err := openUnder(fd, ".")
	if err == nil {
		r.openat2 = true
		(handle{probe}).close()
	}
	return r, nil
}

func (r *Root) Close() { r.h.close() }

// A handle is only read, so closing it loses nothing.
func (h handle) close() { _ = unix.Close(h.fd) }

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// maxPath is how much of a path one call may resolve; PATH_MAX is at least 1,024.
const maxPath = 1000

// openDir opens a directory of the tree; "" is the root.
func (r *Root) openDir(path string) (handle, error) {
	if path == "" {
		fd, err := retry(func() (int, error) {
			return unix.Openat(r.h.fd, ".", dirFlags, 0)
		})
		return handle{fd}, dirError(err)
	}
	at := r.h.fd
	for path != "" {
		var step string
		step, path = firstStep(path, r.openat2)
		fd, err := retry(func() (int, error) {
			if r.openat2 {
				return openUnder(at, step)
			}
			return unix.Openat(at, step, dirFlags, 0)
		})
		if at != r.h.fd {
			handle{at}.close()
		}
		if err != nil {
			return handle{}, dirError(err)
		}
		at = fd
	}
	return handle{at}, nil
}

// firstStep cuts off the part of a path for one call: as many directories as fit, or one.
func firstStep(path string, many bool) (step, rest string) {
	if many && len(path) <= maxPath {
		return path, ""
	}
	cut := strings.IndexByte(path, '/')
	if many {
		if i := strings.LastIndexByte(path[:maxPath], '/'); i > 0 {
			cut = i
		}
	}
	if cut < 0 {
		return path, ""
	}
	return path[:cut], path[cut+1:]
}

// dirError translates the errors of opening a directory in an untrusted tree. With O_DIRECTORY and O_NOFOLLOW a
// symlink is ELOOP or, on Linux, ENOTDIR.
func dirError(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR),
		errors.Is(err, unix.EMLINK), errors.Is(err, unix.EXDEV):
		return ErrPath
	}
	return err
}

func (h handle) stat(name string) (Status, error) {
	st, err := statAt(h, name, 0)
	return Status{
		Kind: kindOf(uint32(st.Mode)), Size: st.Size, Executable: st.Mode&unix.S_IXUSR != 0,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), ID: FileID{uint64(st.Dev), uint64(st.Ino)},
	}, err
}

// statAt is a stat that follows no symlink.
func statAt(h handle, name string, flags int) (st unix.Stat_t, err error) {
	_, err = retry(func() (int, error) {
		return 0, unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW|flags)
	})
	return st, err
}

// A FileID identifies a file.
type FileID struct{ dev, ino uint64 }

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFLNK:
		return Symlink
	case unix.S_IFDIR:
		return directory
	}
	return Special
}

// state changes when a directory is written to or replaced.
type state struct {
	dev, ino     uint64
	mtime, ctime unix.Timespec
}

// changed is the later of the two times, since the mtime can be set.
func (s state) changed() time.Time {
	m, c := time.Unix(s.mtime.Unix()), time.Unix(s.ctime.Unix())
	if m.After(c) {
		return m
	}
	return c
}

func stateOf(st *unix.Stat_t) state {
	return state{uint64(st.Dev), uint64(st.Ino), st.Mtim, st.Ctim}
}

func (h handle) state() (state, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstat(h.fd, &st) })
	return stateOf(&st), err
}

// state returns the state of a directory of the tree. A path that leads to another directory is noticed, as that has
// another state.
func (r *Root) state(dir string) (state, error) {
	if len(dir) > maxPath {
		h, err := r.openDir(dir)
		if err != nil {
			return state{}, err
		}
		defer h.close()
		return h.state()
	}
	st, err := statAt(r.h, cmp.Or(dir, "."), 0)
	return stateOf(&st), err
}

func (h handle) readlink(name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := retry(func() (int, error) { return unix.Readlinkat(h.fd, name, buf) })
		if errors.Is(err, unix.EINVAL) {
			return "", ErrChanged // no longer a symlink
		}
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// A File is an open regular file.
type File struct {
	fd    int
	stat  *unix.Stat_t // as it was opened; nil if it is not watched
	reads int          // number of reads with bytes
}

// fileFlags open one name of a directory: with a single element, O_NOFOLLOW alone keeps it in the directory.
// O_NONBLOCK and O_NOCTTY are for a FIFO or a terminal that has just replaced the file.
const fileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// openFile opens one name of a directory. It leaves the access time unchanged if possible: otherwise the first scan of
// a new checkout writes to each inode. For files of another user, and on some file systems, this fails with various
// errors; once an open without it succeeds, the reader stops trying.
func (rd *Reader) openFile(h handle, name string, watched bool) (*File, error) {
	flags := fileFlags | noAccessTime
	if rd.accessTimes {
		flags = fileFlags
	}
	open := func() (int, error) { return unix.Openat(h.fd, name, flags, 0) }
	fd, err := retry(open)
	if err != nil && flags != fileFlags {
		flags = fileFlags
		fd, err = retry(open)
		rd.accessTimes = err == nil
	}
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK),
		errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return nil, ErrChanged // it was replaced since it was listed
	case err != nil:
		return nil, err
	}
	f := &File{fd: fd}
	if watched {
		if f.stat, err = f.regular(); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// regular returns the file's state; [ErrChanged] if it is not a regular file.
func (f *File) regular() (*unix.Stat_t, error) {
	st, err := f.fstat()
	if err == nil && kindOf(uint32(st.Mode)) != Regular {
		err = ErrChanged
	}
	return st, err
}

func (f *File) fstat() (*unix.Stat_t, error) {
	st := new(unix.Stat_t)
	_, err := retry(func() (int, error) { return 0, unix.Fstat(f.fd, st) })
	return st, err
}

func (f *File) Close() { _ = unix.Close(f.fd) }

// Size is the length in bytes in the file system, 0 for some special files with content; 0 if the file is not watched.
func (f *File) Size() int64 {
	if f.stat == nil {
		return 0
	}
	return f.stat.Size
}

func (f *File) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := retry(func() (int, error) { return unix.Read(f.fd, p) })
	switch {
	case err != nil && f.stat == nil && (errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EAGAIN)):
		return 0, ErrChanged // replaced by a directory or a FIFO
	case err != nil:
		return 0, err
	case n > 0 && f.stat == nil && f.reads > 0:
		return 0, ErrSeveral
	case n == 0 && f.stat == nil && f.reads == 0: // empty, or not a file
		if _, err := f.regular(); err != nil {
			return 0, err
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	f.reads++
	return n, nil
}

func (f *File) Seek(offset int64, whence int) (int64, error) {
	return unix.Seek(f.fd, offset, whence)
}

// Changed returns [ErrChanged] if the file was written to, or its size or time changed, since it was opened. An
// unwatched file was read at once.
func (f *File) Changed() error {
	if f.stat == nil {
		return nil
	}
	now, err := f.fstat()
	if err != nil {
		return err
	}
	if now.Size != f.stat.Size || now.Mode != f.stat.Mode || now.Mtim != f.stat.Mtim || now.Ctim != f.stat.Ctim {
		return ErrChanged
	}
	return nil
}

// retry repeats a call that a signal interrupted, as the os package does.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err == nil || !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
