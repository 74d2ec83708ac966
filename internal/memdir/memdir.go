// Package memdir puts the temporary folders of tests into memory. Tests that make thousands of small files, as git
// does, take half as long there.
package memdir

import (
	"errors"
	"fmt"
	"os"
)

// memory is a file system in memory, as Linux has it.
const memory = "/dev/shm"

// Use makes a folder in memory the one that temporary folders are made in, if so many bytes are free there.
// Otherwise, or if TMPDIR is set already, nothing changes. Call remove at the end.
func Use(room uint64) (remove func() error) {
	nothing := func() error { return nil }
	if os.Getenv("TMPDIR") != "" || free(memory) < room {
		return nothing
	}
	dir, err := os.MkdirTemp(memory, "policyscan-test-")
	if err != nil {
		return nothing
	}
	// Tests that run the program as another user let it in themselves, from here on.
	if err := errors.Join(os.Chmod(dir, 0o755), os.Setenv("TMPDIR", dir)); err != nil {
		panic(err) // the folder is new, and neither text has a NUL byte
	}
	return func() error { return os.RemoveAll(dir) }
}

// Run is Use for all tests of a package, which are those of testing.M. It returns the exit status.
func Run(tests func() int, room uint64) int {
	remove := Use(room)
	status := tests()
	if err := remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	return status
}
