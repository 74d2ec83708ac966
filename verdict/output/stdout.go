package output

import (
	"errors"
	"io"
	"os"
)

// A closedOutput represents a standard output that nobody can read: every write to it fails.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) {
	return 0, errors.New("standard output is closed, or a /dev/null that is open for reading too; " +
		"redirect it to a file, a pipe or >/dev/null")
}

// Stdout is the process's standard output. Where that was closed when the program began, every write fails.
func Stdout() io.Writer {
	if wasClosed(os.Stdout) {
		return closedOutput{}
	}
	return os.Stdout
}

// IsNullDevice reports whether an output is the null device, which Go puts in the place of one that is closed.
func IsNullDevice(out io.Writer) bool {
	if _, closed := out.(closedOutput); closed {
		return true
	}
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(st, null)
}
