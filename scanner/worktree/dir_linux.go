package worktree

import (
	"bytes"
	"encoding/binary"
	"io"

	"golang.org/x/sys/unix"
)

const (
	noAccessTime = unix.O_NOATIME       // leaves the time at which a file was last read as it is
	noAutomount  = unix.AT_NO_AUTOMOUNT // keeps a stat from mounting anything
)

// openUnder opens a directory some levels below another; no path or symlink can lead out of it.
func openUnder(at int, path string) (int, error) {
	how := unix.OpenHow{
		Flags:   dirFlags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	return unix.Openat2(at, path, &how) // EAGAIN is for a path with "..", which no caller uses
}

// records calls visit with the records of a directory, until it fails. A record has the type of its entry, for which
// os.ReadDir would need the path. name is overwritten later.
func (h handle) records(buf []byte, visit func(name []byte, typ byte) error) error {
	if _, err := unix.Seek(h.fd, 0, io.SeekStart); err != nil {
		return err
	}
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(h.fd, buf) })
		if err != nil || n <= 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > 0; {
			// struct linux_dirent64: ino 8, off 8, reclen 2, type 1, name.
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			ino, typ := binary.NativeEndian.Uint64(rest), rest[18]
			name, _, _ := bytes.Cut(rest[19:size], []byte{0})
			rest = rest[size:]
			if ino == 0 || string(name) == "." || string(name) == ".." {
				continue
			}
			if err := visit(name, typ); err != nil {
				return err
			}
		}
	}
}

func (h handle) list(buf []byte, prefix string, visit func(path string, kind Kind)) error {
	return h.records(buf, func(name []byte, typ byte) error {
		kind := Special
		switch typ {
		case unix.DT_REG:
			kind = Regular
		case unix.DT_LNK:
			kind = Symlink
		case unix.DT_DIR:
			kind = directory
		case unix.DT_UNKNOWN: // some file systems have no types
			st, err := h.stat(string(name))
			if err != nil {
				return err
			}
			kind = st.Kind
		}
		visit(prefix+string(name), kind)
		return nil
	})
}

// linkless reports whether a directory has at most most entries and certainly no symlink: all its records were read,
// and each has a type. A record takes a third of the time of a stat.
func (h handle) linkless(buf []byte, most int) bool {
	return nil == h.records(buf, func(_ []byte, typ byte) error {
		if most--; most < 0 || typ == unix.DT_LNK || typ == unix.DT_UNKNOWN {
			return ErrPath
		}
		return nil
	})
}
