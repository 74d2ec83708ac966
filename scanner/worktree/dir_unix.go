//go:build unix && !linux

package worktree

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Only Linux has these.
const noAccessTime, noAutomount = 0, 0

// openUnder is missing on this system: directories are opened one by one.
func openUnder(int, string) (int, error) { return -1, unix.ENOSYS }

func (h handle) list(_ []byte, prefix string, visit func(path string, kind Kind)) error {
	fd, err := retry(func() (int, error) { return unix.Openat(h.fd, ".", dirFlags, 0) }) // which f closes
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close() // read only: nothing to lose
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			st, err := h.stat(name)
			if err != nil {
				return err
			}
			visit(prefix+name, st.Kind)
		}
		if len(names) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
}

// linkless is always unknown here: the records of a directory are not read.
func (handle) linkless([]byte, int) bool { return false }
