package tree

import (
	"errors"
	"fmt"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// FileError is the error of an unreadable file or directory. path is from the root, "" for the root itself.
func FileError(path string, err error) verdict.Error {
	e := verdict.Error{
		Code: code.Read, File: verdict.Path(path), Message: "it cannot be read: " + disk.Cause(err).Error(),
	}
	if path == "" {
		e.File = "."
	}
	switch {
	case errors.Is(err, errMissing), errors.Is(err, errNotCheckedOut):
		e.Code, e.Message = code.Unavailable, err.Error()
	case errors.Is(err, errCase):
		e.Code, e.Message = code.CaseCollision, err.Error()
	case errors.Is(err, worktree.ErrChanged):
		e.Code, e.Message = code.Changed, "it changed while it was scanned; scan again when nothing writes to it"
	default:
		if is, hint, known := repoCode(err); known {
			e.Code, e.Message = is, e.Message+hint
		}
	}
	return e
}

// PanicError is the error of a panic, with the value of recover. file may be "".
func PanicError(file string, p any) verdict.Error {
	return verdict.Error{
		Code: code.Internal, File: verdict.Path(file),
		Message: fmt.Sprintf("a bug in policyscan, please report it: %v", p),
	}
}

// RepoError returns the *[verdict.Error] for an error of a repository, with its code and remedy.
func RepoError(err error) error {
	var known *verdict.Error
	var shallow *repo.ShallowError
	is, hint, coded := repoCode(err)
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &shallow):
		is, hint = code.Shallow, "; run git fetch --unshallow ("+repo.InCI+")"
	case !coded:
		return &verdict.Error{
			Code: code.Read, Message: "the repository cannot be read: " + disk.Cause(err).Error(),
		}
	}
	return &verdict.Error{Code: is, Message: err.Error() + hint}
}

// repoCodes are the codes of a repository's errors, the more exact first.
var repoCodes = []struct {
	err  error
	code string
	hint string
}{
	{repo.ErrLimit, code.Limit, ""},
	{repo.ErrHash, code.ObjectHash, "; run git fsck"},
	{repo.ErrMalformed, code.TreeMalformed, "; run git fsck"},
	{repo.ErrMissing, code.Object, "; in a partial clone fetch it, or clone without --filter"},
	{repo.ErrCorrupt, code.Object, "; run git fsck"},
	{
		repo.ErrNoMergeBase, code.NoMergeBase,
		"; the base and the head are unrelated: name a base that the head grew from",
	},
	{repo.ErrAmbiguous, code.RevAmbiguous, ""},
	{repo.ErrSyntax, code.RevSyntax, ""},
	{repo.ErrUnknown, code.BaseMissing, ""},
	{repo.ErrIndex, code.Index, ""},
	{repo.ErrFormat, code.RepoFormat, ""},
	{repo.ErrNotRepository, code.RepoFormat, ""},
}

func repoCode(err error) (is, hint string, known bool) {
	for _, c := range repoCodes {
		if errors.Is(err, c.err) {
			return c.code, c.hint, true
		}
	}
	return "", "", false
}

// ErrSpecial: a file of git is a FIFO, socket or device on disk.
var ErrSpecial = errors.New("a special file")

// errCase: another file of the index has replaced one on disk.
var errCase = errors.New("another tracked file, whose name differs in case or normal form, replaced it on disk; " +
	"check what is committed with --diff-base or --staged")

// A file of git is not on disk.
var (
	errNotCheckedOut = errors.New("git tracks it, but it is not in the work tree (sparse checkout); " +
		"check it out, or check what is committed with --diff-base or --staged")
	errMissing = errors.New("git tracks it, but it is not in the work tree; run git restore, or git rm to remove it")
)
