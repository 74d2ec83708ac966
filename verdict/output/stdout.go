package output

import (
	"errors"
	"io"
	"os"
)

// A closedOutput is a standard output without a reader: every write to it fails.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) {
	return 0, errors.New("standard output is closed, or a /dev/null that is open for reading too; " +
		"redirect it to a file, a pipe or >/dev/null")
}

// Stdout returns the process's standard output. If it was closed when the program began, every write fails.
func Stdout() io.Writer {
	if wasClosed(os.Stdout) {
		return closedOutput{}
	}
	return os.Stdout
}

// IsNullDevice reports whether an output is the null device, with which Go replaces a closed one.
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
