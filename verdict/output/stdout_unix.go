//go:build unix

package output

import (
	"os"

	"golang.org/x/sys/unix"
)

// wasClosed reports whether a standard stream was closed when the program began. Go's runtime then opens /dev/null for
// reading and writing, so that no other file gets the stream's number; writes to it are lost without an error.
//
// A shell's >/dev/null is open for writing only. A /dev/null that is open for both, as Node.js and Python can pass to
// a child, looks like the runtime's; only if several standard streams share one is it not, since the runtime opens
// each by itself.
func wasClosed(stream *os.File) bool {
	fd := stream.Fd()
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	return flags&unix.O_ACCMODE == unix.O_RDWR && IsNullDevice(stream) && !shared(fd, flags)
}

// shared reports whether another standard stream is the same opened file: a flag of one shows in the other.
func shared(fd uintptr, flags int) bool {
	flagsOf := func() (all [3]int) {
		for other := range all {
			all[other], _ = unix.FcntlInt(uintptr(other), unix.F_GETFL, 0) // -1 on an error
		}
		return all
	}
	before := flagsOf()
	if _, err := unix.FcntlInt(fd, unix.F_SETFL, flags^unix.O_APPEND); err != nil {
		return false
	}
	after := flagsOf()
	_, err := unix.FcntlInt(fd, unix.F_SETFL, flags)
	for other := range before {
		if uintptr(other) != fd && before[other] != after[other] {
			return err == nil
		}
	}
	return false
}
