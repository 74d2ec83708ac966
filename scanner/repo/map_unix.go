//go:build unix

package repo

import (
	"os"

	"golang.org/x/sys/unix"
)

// nonblock keeps open from waiting on a FIFO that has replaced a file.
const nonblock = unix.O_NONBLOCK

func mapFile(f *os.File) ([]byte, error) {
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return nil, err
	}
	return unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
}

func unmap(content []byte) {
	if len(content) > 0 {
		_ = unix.Munmap(content) // fails only for what was never mapped
	}
}
