package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Replace writes a file whole, or not at all: by a temporary file, fsync and rename.
func Replace(path string, text []byte) (err error) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	tmp, err := createTemp(dir, name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

// createTemp is os.CreateTemp with the permissions of an ordinary file and a name
// without a random part: it needs to differ only from those of programs that run
// at the same time.
func createTemp(dir, name string) (*os.File, error) {
	for n := 0; ; n++ {
		temporary := filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", name, os.Getpid(), n))
		f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || n == 1000 {
			return f, err
		}
	}
}

var numbered = regexp.MustCompile(`^[0-9]+-[0-9]+\.tmp$`)

// Temporary reports whether file is one that [Replace] puts in the place of another: it
// writes it next to it, under its own name. Both are slash-separated paths from the same folder.
func Temporary(file, other string) bool {
	dir, name := path.Split(other)
	rest, ok := strings.CutPrefix(file, dir+"."+name+".")
	return ok && numbered.MatchString(rest)
}

// Remove removes a file. There need be none.
func Remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
