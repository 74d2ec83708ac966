// Package failure says in the words of a verdict why a run could not decide: which code of verdict/code an error has,
// and what a person can do about it.
//
// An error of a run is one of three kinds: a [verdict.Error], which says all itself; the mistakes of a bundle
// ([document.Errors]), which have their own codes; or an [Interruption]. Errors of a repository become the first kind
// by [OfRepo]. Anything else is of the usage: flags or arguments that cannot be followed.
//
// It reads nothing, and it never turns an error into a PASS.
package failure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Interruption is a cause of a context's end that has its own code. A scan
// whose context ends for another reason has the code E_INTERRUPTED.
type Interruption struct{ Code, Message string }

func (i *Interruption) Error() string { return i.Message }

// Verdict is the verdict of a run that, for an error, did not come to scan.
func Verdict(version string, scope verdict.Scope, err error) *verdict.Verdict {
	v := verdict.Incomplete(version, scope, Errors(err)...)
	slices.SortStableFunc(v.Errors, func(a, b verdict.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code))
	})
	v.Decide()
	return v
}

// Errors are the verdict's errors for an error of a run: each mistake of a bundle is one of them.
func Errors(err error) []verdict.Error {
	mistakes := Mistakes(err)
	var stopped *Interruption
	var known *verdict.Error
	switch {
	case errors.As(err, &known):
		return []verdict.Error{*known}
	case mistakes != nil:
	case errors.As(err, &stopped):
		return []verdict.Error{{Code: stopped.Code, Message: stopped.Message}}
	default:
		return []verdict.Error{{Code: code.Usage, Message: err.Error()}}
	}
	errs := make([]verdict.Error, len(mistakes))
	for i, e := range mistakes {
		errs[i] = verdict.Error{Code: e.Code, Message: e.Error()}
	}
	return errs
}

// Mistakes returns those of a bundle that an error is about, nil if it is about none.
func Mistakes(err error) document.Errors {
	var mistakes document.Errors
	var mistake *document.Error
	if !errors.As(err, &mistakes) && errors.As(err, &mistake) {
		mistakes = document.Errors{mistake}
	}
	return mistakes
}

// Panic is the error of a panic, to be called with what recover returned. file is "" if it is about none.
func Panic(file string, p any) verdict.Error {
	return verdict.Error{
		Code: code.Internal, File: verdict.Path(file),
		Message: fmt.Sprintf("a bug in policyscan, please report it: %v", p),
	}
}

// OfRepo is the error of a run whose repository cannot be read, with a code of the verdict.
func OfRepo(err error) error {
	var known *verdict.Error
	if errors.As(err, &known) {
		return err
	}
	e := repoError(err)
	return &e
}

// repoCodes are the codes of what can be wrong with a repository, the more exact first.
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

// repoError is the verdict's error for what a repository could not tell.
func repoError(err error) verdict.Error {
	var shallow *repo.ShallowError
	if errors.As(err, &shallow) {
		return verdict.Error{Code: code.Shallow, Message: err.Error() + "; fetch the history " +
			"(git fetch --unshallow; actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0)"}
	}
	if is, hint, known := RepoCode(err); known {
		return verdict.Error{Code: is, Message: err.Error() + hint}
	}
	return verdict.Error{Code: code.Read, Message: "the repository cannot be read: " + disk.Cause(err).Error()}
}

// RepoCode returns the code of what is wrong with a repository, and what to do about it.
func RepoCode(err error) (is, hint string, known bool) {
	for _, c := range repoCodes {
		if errors.Is(err, c.err) {
			return c.code, c.hint, true
		}
	}
	return "", "", false
}
