package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
)

// Replace writes a file whole, or not at all: by a temporary file, fsync and rename.
func Replace(path string, text []byte) error {
	return ReplaceIf(path, text, nil, func() error { return nil })
}

// ReplaceBy is Replace for a stream, which need not be in memory at once. If write returns an error, the file stays
// unchanged. An error of the disk takes precedence over the one that write made of it.
func ReplaceBy(path string, write func(io.Writer) error) error {
	return replace(path, nil, write, func() error { return nil })
}

// ReplaceIf is Replace of a file that keeps its permissions, was; nil means that the file does not exist yet. It
// calls unchanged just before the rename, and leaves the file as it is if that returns an error.
func ReplaceIf(path string, text []byte, was fs.FileInfo, unchanged func() error) error {
	whole := func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
	return replace(path, was, whole, unchanged)
}

func replace(path string, was fs.FileInfo, write func(io.Writer) error, unchanged func() error) (err error) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	mode := fs.FileMode(0o666)
	if was != nil {
		mode = was.Mode().Perm()
	}
	tmp, err := createTemp(dir, name, mode) // from the first byte on: the text may contain secrets
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, Remove(tmp.Name()))
		}
	}()
	b := bufio.NewWriterSize(tmp, 64<<10)
	err = write(b)
	if ferr := b.Flush(); ferr != nil { // it repeats the first error of a write
		err = ferr
	}
	if err == nil && was != nil {
		err = tmp.Chmod(mode) // whatever the umask
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = unchanged()
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

// Create writes a new file, and syncs it to the disk before it returns. If it fails, part of the file may exist.
func Create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// createTemp is os.CreateTemp with these permissions and a name without a random part, which differs only from those
// of programs that run at the same time.
func createTemp(dir, name string, mode fs.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		temporary := filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", name, os.Getpid(), n))
		f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil || !errors.Is(err, fs.ErrExist) || n == 1000 {
			return f, err
		}
	}
}

var numbered = late.Regexp(`^[0-9]+-[0-9]+\.tmp$`)

// Temporary reports whether file is a temporary file of [Replace] for other, next to it: .NAME.N-N.tmp. Both are
// slash-separated paths from the same directory.
func Temporary(file, other string) bool {
	dir, name := path.Split(other)
	rest, ok := strings.CutPrefix(file, dir+"."+name+".")
	return ok && numbered().MatchString(rest)
}

// Remove removes a file, if it exists.
func Remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
