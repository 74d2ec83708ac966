package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
)

// The rule files of a bundle, in the order in which errors and rules are listed.
const (
	BoundariesFile = "rules/boundaries.yml" // must be there
	InvariantsFile = "rules/invariants.yml" // must be there
	DeprecatedFile = "rules/deprecated.yml" // optional
)

// maxExpansions is how many expansions the braces of all distinct globs of a bundle may have.
const maxExpansions = 100_000

// Load reads the bundle in fsys. If it has any mistake the error is a [document.Errors] with all
// of them, and there is no bundle.
//
// Load trusts fsys not to block. For a folder on disk, where a rule file could
// be a FIFO or a link, use LoadDir.
func Load(fsys fs.FS) (*Bundle, error) {
	return load(func(name string) ([]byte, error) { return readFile(fsys, name) }, strays(fsys))
}

// readFile reads a regular file once, up to one byte over the limit.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := readRegular(f)
	return data, errors.Join(err, f.Close())
}

// errNotRegular says that a rule file is something else than a file.
type errNotRegular struct{ what string }

func (e errNotRegular) Error() string { return e.what }

func readRegular(f fs.File) ([]byte, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, errNotRegular{kindOf(stat.Mode())}
	}
	return io.ReadAll(io.LimitReader(f, document.MaxFileBytes+1))
}

// kindOf names what is not a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}

// A loader holds what the files of one bundle have in common.
type loader struct {
	document.Batch
	globs      map[string]*document.Error // each distinct glob, and its mistake if it has one
	expansions int
	rules      int // seen so far
}

// load reads the rule files by read, once each. strays are what else is in their folder that could be meant as one.
func load(read func(name string) ([]byte, error), strays []stray) (*Bundle, error) {
	l := &loader{globs: map[string]*document.Error{}}
	contents := map[string][]byte{}
	byFile := map[string][]Rule{}
	empty := 0 // how many files of enforced rules are known to have none
	for _, name := range []string{BoundariesFile, InvariantsFile, DeprecatedFile} {
		content, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			if name != DeprecatedFile {
				l.Errors = append(l.Errors, missing(name, &strays))
			} else if slices.ContainsFunc(strays, func(s stray) bool { return s.read }) {
				l.Errors = append(l.Errors, &document.Error{
					Code: document.CodeRead, File: name,
					Found: "appeared after the bundle was read", Fix: "run it again",
				})
			}
			continue
		}
		if err != nil {
			l.Errors = append(l.Errors, unreadable(name, err))
			continue
		}
		contents[name] = content
		list, items := l.ruleFile(name, content)
		byFile[name] = list
		if items == 0 && name != DeprecatedFile {
			empty++
		}
	}
	if empty == 2 {
		l.Errors = append(l.Errors, &document.Error{
			Code: document.CodeNoRules, File: path.Dir(BoundariesFile),
			Found: "the bundle has no enforced rule",
			Fix:   "write one in " + BoundariesFile + " or " + InvariantsFile,
		})
	}
	for _, s := range strays {
		if s.read {
			continue
		}
		l.Errors = append(l.Errors, s.mistake())
	}
	if len(l.Errors) > 0 {
		return nil, l.Errors
	}
	b := New(append(byFile[BoundariesFile], byFile[InvariantsFile]...), byFile[DeprecatedFile])
	b.SHA256, b.Files = identity(contents), map[string][sha256.Size]byte{}
	for name, content := range contents {
		b.Files[name] = sha256.Sum256(content)
	}
	b.notes = l.Notes
	return b, nil
}

// missing is the error that a rule file is not there. A stray that is meant as that file is taken from the strays.
func missing(name string, strays *[]stray) *document.Error {
	e := &document.Error{
		Code: document.CodeMissing, File: name,
		Found: "no such file", Fix: `create it, with "rules: []" if it has no rule`,
	}
	stem := strings.TrimSuffix(name, ".yml")
	*strays = slices.DeleteFunc(*strays, func(s stray) bool {
		if !strings.EqualFold(strings.TrimSuffix(s.name, path.Ext(s.name)), stem) {
			return false
		}
		e.Found = fmt.Sprintf("no such file, but %q", path.Base(s.name))
		e.Fix = fmt.Sprintf("name it %q", path.Base(name))
		return true
	})
	return e
}

func unreadable(name string, err error) *document.Error {
	e := &document.Error{
		Code: document.CodeRead, File: name,
		Found: "cannot be read: " + cause(err), Fix: "make it a readable file",
	}
	var not errNotRegular
	if errors.As(err, &not) {
		e.Found = "is " + not.what
		e.Fix = "put a regular file there"
	}
	return e
}

// cause returns the reason of err without the path, which the error names already.
func cause(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err.Error()
}

// identity returns the SHA256 of a bundle, as that field describes it.
func identity(contents map[string][]byte) string {
	h := sha256.New()
	for _, name := range []string{BoundariesFile, DeprecatedFile, InvariantsFile} { // byte order
		if content, ok := contents[name]; ok {
			// Writing to a hash never fails.
			h.Write([]byte(name + "\n"))
			h.Write(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")))
			h.Write([]byte("\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
