//go:build unix

package output

import (
	"os"

	"golang.org/x/sys/unix"
)

// wasClosed reports whether a standard stream was closed when the program began. Go's runtime then
// opens /dev/null in its place, to read and to write, so that no file that the program opens gets the
// stream's number; but what is written there is lost without an error.
//
// A shell's >/dev/null is open to write only. A program that gives its child a /dev/null that is open
// for both, as Node.js and Python can, looks like the runtime; only when several standard
// streams share one is it clear that the runtime, which opens each by itself, did not do it.
func wasClosed(stream *os.File) bool {
	fd := stream.Fd()
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	return flags&unix.O_ACCMODE == unix.O_RDWR && IsNullDevice(stream) && !shared(fd, flags)
}

// shared reports whether another standard stream is the same opened file: a flag that is set on one
// shows in the other.
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
