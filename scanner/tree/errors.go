package tree

import (
	"errors"
	"fmt"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// FileError says why a file or directory could not be read. path is from the root, "" for the root itself.
func FileError(path string, err error) verdict.Error {
	e := verdict.Error{
		Code: code.Read, File: verdict.Path(path), Message: "it cannot be read: " + disk.Cause(err).Error(),
	}
	if path == "" {
		e.File = "."
	}
	var absent *missingFileError
	switch {
	case errors.As(err, &absent):
		e.Code, e.Message = code.Unavailable, absent.Error()
	case errors.Is(err, errCase):
		e.Code, e.Message = code.CaseCollision, err.Error()
	case errors.Is(err, worktree.ErrChanged):
		e.Code, e.Message = code.Changed, "it changed while it was scanned; scan again when nothing writes to it"
	default:
		if is, hint, known := failure.RepoCode(err); known {
			e.Code, e.Message = is, e.Message+hint
		}
	}
	return e
}

// ErrSpecial says that what git lists as a file is a FIFO, socket or device on disk.
var ErrSpecial = errors.New("a special file")

// errCase says that another file of the index has taken the place of one on disk.
var errCase = errors.New("git tracks another file whose name differs only in case or normal form, " +
	"and this disk has only one of the two; check what is committed with --diff-base or --staged")

// An missingFileError says that git lists a file that is not on disk.
type missingFileError struct{ sparse bool }

func (e *missingFileError) Error() string {
	const found = "git tracks it, but it is not in the work tree"
	if e.sparse {
		return fmt.Sprintf("%s (sparse checkout); "+
			"check it out, or check what is committed with --diff-base or --staged", found)
	}
	return fmt.Sprintf("%s; restore it (git restore), or stage that it is gone (git rm)", found)
}
