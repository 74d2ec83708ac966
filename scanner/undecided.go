package scanner

import (
	"cmp"
	"errors"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Undecided is the verdict of a run that, for an error, did not come to scan.
func Undecided(version string, scope verdict.Scope, err error) *verdict.Verdict {
	v := verdict.Incomplete(version, scope, ErrorsOf(err)...)
	slices.SortStableFunc(v.Errors, func(a, b verdict.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code))
	})
	v.Decide()
	return v
}

// ErrorsOf are the verdict's errors for an error of a run: each mistake of a bundle is one of them.
func ErrorsOf(err error) []verdict.Error {
	mistakes := MistakesOf(err)
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

// MistakesOf returns those of a bundle that an error is about, nil if it is about none.
func MistakesOf(err error) rules.Errors {
	var mistakes rules.Errors
	var mistake *rules.Error
	if !errors.As(err, &mistakes) && errors.As(err, &mistake) {
		mistakes = rules.Errors{mistake}
	}
	return mistakes
}

// RepoFailed is the error of a run whose repository cannot be read, with a code of the verdict.
func RepoFailed(err error) error {
	var known *verdict.Error
	if errors.As(err, &known) {
		return err
	}
	e := repoError(err)
	return &e
}
