package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/policyscan/policyscan/agent/private"
)

// Append adds a line to the end of a file, whole or not at all, and never between the bytes of another process's
// line. A missing file is created for its owner alone, in an existing directory. A symlink, or anything but a regular
// file, is an error. The file is opened for this line alone, so it may be renamed for rotation.
func Append(name string, line []byte) error {
	for range 10 {
		file, err := open(name)
		if err != nil {
			return err
		}
		current, err := appendTo(file, name, line)
		if err := errors.Join(err, file.Close()); err != nil || current {
			return err
		}
	}
	return errors.New("it is replaced again and again while it is opened")
}

// open opens a file to append to it. What is there is looked at first: to open a FIFO or a device does something.
func open(name string) (*os.File, error) {
	switch st, err := os.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := regular(st); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
}

func regular(st fs.FileInfo) error {
	switch mode := st.Mode(); {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		return errors.New("it is a link; name the file itself")
	case mode.IsDir():
		return errors.New("it is a directory; name a file in it")
	}
	return errors.New("it is not a regular file")
}

// appendTo appends a line to a file that is open, if it still has its name; false, if it does not.
func appendTo(file *os.File, name string, line []byte) (current bool, err error) {
	if err := private.Lock(file); err != nil {
		return false, fmt.Errorf("it cannot be locked: %w", err)
	}
	st, err := file.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(st, named):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := regular(st); err != nil {
		return false, err
	}
	size := st.Size()
	if size > 0 { // a line that another program, or a full disk, left unfinished ends here
		last := make([]byte, 1)
		if _, err := file.ReadAt(last, size-1); err != nil {
			return false, err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := file.Write(line); err != nil {
		// A part of it may be written. If that cannot be removed, the next entry begins on its own line.
		if after, serr := file.Stat(); serr == nil && after.Size() > size {
			err = errors.Join(err, file.Truncate(size))
		}
		return false, err
	}
	return true, nil
}
