package verdict

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

// A File is the place verdict.json is written to. It never holds an old or a
// partial PASS: [Create] replaces what was there by a FAIL that is in progress,
// and [File.Write] replaces that by the verdict, each by a temporary file, fsync and
// rename. So a run that crashes, is killed or meets a full disk leaves a FAIL.
type File struct {
	path string
}

// Create takes path for a run's verdict and writes an incomplete FAIL there, with
// the code E_IN_PROGRESS. A path that is a link, or anything but a regular file,
// is refused and left as it is. When the FAIL cannot be written, the old file is
// removed; when not even that can be done, the error says that it is stale.
func Create(path, version string, scope Scope) (*File, error) {
	if err := Replaceable(path); err != nil {
		return nil, err
	}
	// What cannot be read may be a PASS, and is replaced.
	if there, err := lookAt(path); err == nil && there == otherFile {
		return nil, fmt.Errorf("%s: the output is a file that is no verdict, and would be overwritten; remove it or name another file", Visible(path))
	}
	f := &File{path: path}
	marker := Incomplete(version, scope, Error{
		Code:    InProgress,
		Message: "the run began and has not ended; if no policyscan is running, it crashed or was killed: run it again",
	})
	marker.Decide()
	if err := f.Write(marker); err != nil {
		rm := os.Remove(path)
		if rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w; and %s is STALE: it holds the verdict of an earlier run and cannot be removed", err, Visible(path))
		}
		return nil, err
	}
	return f, nil
}

// Replaceable is an error if a path is a link, or anything but a regular file or nothing.
func Replaceable(path string) error {
	switch st, err := os.Lstat(path); {
	case err == nil && st.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: the output is a symbolic link, which could lead anywhere; remove it or name another file", Visible(path))
	case err == nil && !st.Mode().IsRegular():
		return fmt.Errorf("%s: the output is not a regular file; name another (for standard output: -)", Visible(path))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the output cannot be looked at, and what is there is STALE: %w", Visible(path), Cause(err))
	}
	return nil
}

// Clear takes away a report of an earlier run, so that it cannot be taken for one of a run
// that fails. There need be none.
func Clear(path string) error {
	if err := ignoreNotExist(os.Remove(path)); err != nil {
		return fmt.Errorf("%s: the report of an earlier run cannot be removed: %w", Visible(path), Cause(err))
	}
	return nil
}

// Replace writes a file whole, or not at all: by a temporary file, fsync and rename.
func Replace(path string, text []byte) error {
	if err := replace(path, text); err != nil {
		return fmt.Errorf("%s cannot be written: %w", Visible(path), Cause(err))
	}
	return nil
}

// Write replaces the file's content by v, wholly or not at all.
func (f *File) Write(v *Verdict) error {
	text, err := v.Encode()
	if err == nil {
		err = replace(f.path, text)
	}
	if err != nil {
		return fmt.Errorf("%s: the verdict cannot be written: %w", Visible(f.path), Cause(err))
	}
	return nil
}

func replace(path string, text []byte) (err error) {
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
			err = errors.Join(err, ignoreNotExist(os.Remove(tmp.Name())))
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
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", name, os.Getpid(), n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || n == 1000 {
			return f, err
		}
	}
}

var numbered = regexp.MustCompile(`^[0-9]+-[0-9]+\.tmp$`)

// Temporary reports whether file is one that [File.Write] puts in the place of output: it
// writes it beside it, under a name of its own. Both are slash-separated paths from the same folder.
func Temporary(file, output string) bool {
	dir, name := path.Split(output)
	rest, ok := strings.CutPrefix(file, dir+"."+name+".")
	return ok && numbered.MatchString(rest)
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Cause is the system's own word for an error, without the paths of the temporary
// file, which say nothing to the user.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
