//go:build unix

package rules

import (
	"os"

	"golang.org/x/sys/unix"
)

// openNoFollow opens a file to read. Should it have become a link since it was looked at
// the open fails, and should it have become a FIFO the open does not wait.
func openNoFollow(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}
