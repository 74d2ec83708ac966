package worktree

import (
	"bytes"
	"encoding/binary"
	"io"

	"golang.org/x/sys/unix"
)

// noAccessTime leaves the time at which a file was last read as it is.
const noAccessTime = unix.O_NOATIME

// openBeneath opens a folder some levels below another, and cannot be led out of it or through a link on the way.
func openBeneath(at int, path string) (int, error) {
	how := unix.OpenHow{
		Flags:   dirFlags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	return unix.Openat2(at, path, &how) // EAGAIN is for a path with "..", and none is asked for
}

// list hands the names in a folder to visit, each behind a prefix. It reads the directory's records itself: they say
// what each entry is, which os.ReadDir would ask for by path.
func (h handle) list(buf []byte, prefix string, visit func(path string, kind Kind)) error {
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
			ino, typ, name := binary.NativeEndian.Uint64(rest), rest[18], rest[19:size]
			rest = rest[size:]
			if i := bytes.IndexByte(name, 0); i >= 0 {
				name = name[:i]
			}
			if ino == 0 || string(name) == "." || string(name) == ".." {
				continue
			}
			kind := Special
			switch typ {
			case unix.DT_REG:
				kind = Regular
			case unix.DT_LNK:
				kind = Symlink
			case unix.DT_DIR:
				kind = folder
			case unix.DT_UNKNOWN: // not every file system says
				st, err := h.stat(string(name))
				if err != nil {
					return err
				}
				kind = st.Kind
			}
			visit(prefix+string(name), kind)
		}
	}
}

// linkless reports whether a folder is certain to have no link in it, if it has at most so many entries: its records
// were read to their end, and each says what it is. A record takes a third of the time of a stat.
func (h handle) linkless(buf []byte, most int) bool {
	if _, err := unix.Seek(h.fd, 0, io.SeekStart); err != nil {
		return false
	}
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(h.fd, buf) })
		if err != nil || n <= 0 {
			return err == nil
		}
		for rest := buf[:n]; len(rest) > 0; rest = rest[binary.NativeEndian.Uint16(rest[16:]):] {
			if typ := rest[18]; typ == unix.DT_LNK || typ == unix.DT_UNKNOWN {
				return false
			}
			if most--; most < 0 {
				return false
			}
		}
	}
}
