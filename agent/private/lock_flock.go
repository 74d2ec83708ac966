//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package private

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock locks a file until it is closed, or its process ends; false, if another has it.
func TryLock(file *os.File) (bool, error) {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}
