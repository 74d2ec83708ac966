package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A file is the place verdict.json is written to. It never holds an old or a
// partial PASS: [create] replaces what was there by a FAIL that is in progress,
// and [file.write] replaces that by the verdict, each by a temporary file, fsync and
// rename. So a run that crashes, is killed or meets a full disk leaves a FAIL.
type file struct {
	path string
}

// create takes path for a run's verdict and writes an incomplete FAIL there, with
// the code E_IN_PROGRESS. A path that is a link, or anything but a regular file,
// is refused and left as it is. When the FAIL cannot be written, the old file is
// removed; when not even that can be done, the error says that it is stale.
func create(path, version string, scope verdict.Scope) (*file, error) {
	marker := verdict.Incomplete(version, scope, verdict.Error{Code: code.InProgress, Message: InProgress})
	marker.Decide()
	return createAs(path, marker)
}

// InProgress is the message of a run that began and has not ended.
const InProgress = "the run began and has not ended; " +
	"if no policyscan is running, it crashed or was killed: run it again"

// createAs is create with another document for the run that has not ended. It must not say PASS.
func createAs(path string, marker Document) (*file, error) {
	if err := overwritable(path, "verdict", "file"); err != nil {
		return nil, err
	}
	f := &file{path: path}
	if err := f.write(marker); err != nil {
		rm := os.Remove(path)
		if rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w; and %s is STALE: it has the verdict of an earlier run and cannot be removed",
				err, verdict.Visible(path))
		}
		return nil, err
	}
	return f, nil
}

// overwritable is an error if a document would take the place of what is not one: what it is and where another place
// would be are for the error. What cannot be read may be a PASS, and is replaced.
func overwritable(path, what, where string) error {
	if err := replaceable(path); err != nil {
		return err
	}
	if there, err := lookAt(path); err == nil && there == otherFile {
		return fmt.Errorf("%s: the output is a file that is not a %s, and would be overwritten; "+
			"remove it or name another %s", verdict.Visible(path), what, where)
	}
	return nil
}

// replaceable is an error if a path is a link, or anything but a regular file or nothing.
func replaceable(path string) error {
	switch st, err := os.Lstat(path); {
	case err == nil && st.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: the output is a symbolic link, which could lead anywhere; "+
			"remove it or name another file",
			verdict.Visible(path))
	case err == nil && !st.Mode().IsRegular():
		return fmt.Errorf("%s: the output is not a regular file; name another (for standard output: -)",
			verdict.Visible(path))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the output cannot be inspected, and what is there is STALE: %w",
			verdict.Visible(path), disk.Cause(err))
	}
	return nil
}

// A Document is what a run ends with: a verdict, or the shard file of a part of a run.
type Document interface {
	// Encode returns the bytes of the file.
	Encode() ([]byte, error)
}

// write replaces the file's content by a document, wholly or not at all.
func (f *file) write(d Document) error {
	if err := disk.ReplaceBy(f.path, func(w io.Writer) error { return writeDocument(w, d) }); err != nil {
		return fmt.Errorf("%s: the verdict cannot be written: %w", verdict.Visible(f.path), disk.Cause(err))
	}
	return nil
}

// writeDocument writes a document, and a verdict as it is made: it can be much larger than what it is made of.
func writeDocument(w io.Writer, d Document) error {
	if v, ok := d.(*verdict.Verdict); ok {
		return v.Write(w)
	}
	text, err := d.Encode()
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Tracks reports whether git tracks a file.
type Tracks func(file string) (bool, error)

// resolved is the path of an output whose folder is named without links. A temporary file
// is written next to it.
func resolved(file string) string {
	dir, name := filepath.Split(file)
	if dir = disk.Physical(dir); dir != "" { // "" stays the current folder
		dir = filepath.Clean(dir) + string(filepath.Separator)
	}
	return dir + name
}

// sameFile reports whether two outputs are one file, which may not be there yet.
func sameFile(a, b string) bool {
	dirA, nameA := filepath.Split(a)
	dirB, nameB := filepath.Split(b)
	realA, errA := disk.Real(dirA)
	realB, errB := disk.Real(dirB)
	if errA != nil || errB != nil { // a folder that is not there
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return realA == realB && nameA == nameB
}

// ThroughLink is an error if a folder of a path is a link that git tracks: a change could bring it, and choose where
// the program writes. What the path is of, such as output, is for the error.
func (tracks Tracks) ThroughLink(what, file string) error {
	for i, c := range file {
		if !os.IsPathSeparator(uint8(c)) || i == 0 {
			continue
		}
		st, err := os.Lstat(file[:i])
		if err != nil || st.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		switch tracked, err := tracks(file[:i]); {
		case err != nil:
			return fmt.Errorf("cannot determine whether git tracks %s, on the way to the %s %s: %w",
				file[:i], what, file, err)
		case tracked:
			return fmt.Errorf("the %s %s leads through %s, a link that git tracks, "+
				"so a change could choose where it goes; write to another path", what, file, file[:i])
		}
	}
	return nil
}

// untracked is an error if git tracks a file that is to be written.
func (tracks Tracks) untracked(file string) error {
	tracked, err := tracks(file)
	switch {
	case err != nil:
		return fmt.Errorf("cannot determine whether git tracks the output %s: %w", file, err)
	case tracked:
		return fmt.Errorf("the output %s is tracked by git, so a change could replace it; "+
			"remove it from git (git rm --cached) and add it to .gitignore, or write to another path", file)
	}
	return nil
}
