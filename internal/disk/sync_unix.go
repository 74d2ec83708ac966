//go:build unix

package disk

import (
	"cmp"
	"errors"
	"os"
	"syscall"
)

// syncDir makes a rename in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return ignoreUnsyncable(err)
	}
	return ignoreUnsyncable(cmp.Or(d.Sync(), d.Close()))
}

// ignoreUnsyncable ignores the error of a directory without read permission, and of a file system that does not sync
// directories: the file is already in place.
func ignoreUnsyncable(err error) error {
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
