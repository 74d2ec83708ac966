//go:build unix

package rules

import (
	"os"

	"golang.org/x/sys/unix"
)

// openNoFollow opens a file for reading. If the file was replaced since it was checked, a symlink fails and a FIFO
// does not block.
func openNoFollow(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}
