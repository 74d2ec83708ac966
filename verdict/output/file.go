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

// The file verdict.json never has an old or a partial PASS: [create] replaces the old content by a FAIL that is in
// progress, and [write] replaces that by the verdict, each by a temporary file, fsync and rename. So a run that
// crashes, is killed or meets a full disk leaves a FAIL.

// create writes an incomplete FAIL with the code E_IN_PROGRESS to path. It refuses and keeps a link, or another
// irregular file. When the FAIL cannot be written, the old file is removed; if that fails too, the error says that it
// is stale.
func create(path, version string, scope verdict.Scope) error {
	marker := verdict.Incomplete(version, scope, verdict.Error{Code: code.InProgress, Message: InProgress})
	marker.Decide()
	return createAs(path, marker)
}

// InProgress is the message of a run that began and has not ended.
const InProgress = "the run began and has not ended; " +
	"if no policyscan is running, it crashed or was killed: run it again"

// createAs is create with another document as the marker, which must not say PASS.
func createAs(path string, marker Document) error {
	if err := overwritable(path, "verdict", "file"); err != nil {
		return err
	}
	err := write(path, marker)
	if err != nil {
		if rm := os.Remove(path); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			return fmt.Errorf("%w; and %s is STALE: an old verdict that cannot be removed",
				err, verdict.Visible(path))
		}
	}
	return err
}

// overwritable returns an error if path has a file that is not such a document. what and where are for its message. A
// file that cannot be read may be a PASS, and is replaced.
func overwritable(path, what, where string) error {
	if err := replaceable(path); err != nil {
		return err
	}
	if there, err := lookAt(path); err == nil && there == otherFile {
		return fmt.Errorf("%s: the output is a file that is not a %s; "+
			"remove it or name another %s", verdict.Visible(path), what, where)
	}
	return nil
}

// replaceable returns an error if path is a link or another irregular file.
func replaceable(path string) error {
	switch st, err := os.Lstat(path); {
	case err == nil && st.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: the output is a symbolic link; remove it or name another file", verdict.Visible(path))
	case err == nil && !st.Mode().IsRegular():
		return fmt.Errorf("%s: the output is not a regular file; name another (for standard output: -)",
			verdict.Visible(path))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the output cannot be inspected, and is perhaps STALE: %w",
			verdict.Visible(path), disk.Cause(err))
	}
	return nil
}

// A Document is the result of a run: a verdict, or the shard file of a part of a run.
type Document interface {
	// Encode returns the bytes of the file.
	Encode() ([]byte, error)
}

// write replaces a file by a document, whole or not at all.
func write(path string, d Document) error {
	if err := disk.ReplaceBy(path, func(w io.Writer) error { return writeDocument(w, d) }); err != nil {
		return fmt.Errorf("%s: the verdict cannot be written: %w", verdict.Visible(path), disk.Cause(err))
	}
	return nil
}

// writeDocument writes a document; it streams a verdict, which can be much larger than its data.
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

// resolved returns the path of an output with its directory resolved. Temporary files are written next to it.
func resolved(file string) string {
	dir, name := filepath.Split(file)
	if dir = disk.Physical(dir); dir != "" { // "" stays the current directory
		dir = filepath.Clean(dir) + string(filepath.Separator)
	}
	return dir + name
}

// sameFile reports whether two outputs are one file, which need not exist yet.
func sameFile(a, b string) bool {
	dirA, nameA := filepath.Split(a)
	dirB, nameB := filepath.Split(b)
	realA, errA := disk.Real(dirA)
	realB, errB := disk.Real(dirB)
	if errA != nil || errB != nil { // a missing directory
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return realA == realB && nameA == nameB
}

// ThroughLink returns an error if a directory of a path is a link that git tracks: a change could add it, and choose
// where the program writes. what names the output in the error.
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
			return fmt.Errorf("the %s %s leads through %s, a link that git tracks; "+
				"choose another path", what, file, file[:i])
		}
	}
	return nil
}

// untracked returns an error if git tracks a file that is to be written.
func (tracks Tracks) untracked(file string) error {
	tracked, err := tracks(file)
	switch {
	case err != nil:
		return fmt.Errorf("cannot determine whether git tracks the output %s: %w", file, err)
	case tracked:
		return fmt.Errorf("the output %s is tracked by git; "+
			"run git rm --cached and add it to .gitignore, or choose another path", file)
	}
	return nil
}
