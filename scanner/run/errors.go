package run

import (
	"cmp"
	"errors"
	"slices"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// An InterruptedError is why a context ended, with its own code. Without one, the code is E_INTERRUPTED.
type InterruptedError struct{ Code, Message string }

func (e *InterruptedError) Error() string { return e.Message }

// Verdict returns the verdict of a run that failed before scanning.
func Verdict(version string, scope verdict.Scope, err error) *verdict.Verdict {
	v := verdict.Incomplete(version, scope, Errors(err)...)
	slices.SortStableFunc(v.Errors, func(a, b verdict.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code))
	})
	v.Decide()
	return v
}

// Errors returns the verdict's errors for an error of a run: a [verdict.Error] itself, one for each mistake of a
// bundle ([document.Errors]), and for anything else but an [InterruptedError] an error of usage.
func Errors(err error) []verdict.Error {
	mistakes := Mistakes(err)
	var interrupted *InterruptedError
	var known *verdict.Error
	switch {
	case errors.As(err, &known):
		return []verdict.Error{*known}
	case mistakes != nil:
	case errors.As(err, &interrupted):
		return []verdict.Error{{Code: interrupted.Code, Message: interrupted.Message}}
	default:
		return []verdict.Error{{Code: code.Usage, Message: err.Error()}}
	}
	errs := make([]verdict.Error, len(mistakes))
	for i, e := range mistakes {
		errs[i] = verdict.Error{Code: e.Code, Message: e.Error()}
	}
	return errs
}

// Mistakes returns the mistakes of a bundle in an error; nil without one.
func Mistakes(err error) document.Errors {
	var mistakes document.Errors
	var mistake *document.Error
	if !errors.As(err, &mistakes) && errors.As(err, &mistake) {
		mistakes = document.Errors{mistake}
	}
	return mistakes
}

// inBundle adds the side to the mistakes in its bundle. A file that is not a commit's is named by its path.
func (b *bundleResolver) inBundle(mistakes document.Errors, d *side, hint string) document.Errors {
	at, out := d.place(), make(document.Errors, len(mistakes))
	if d.index != nil {
		at = b.run.Place.Prefix
	}
	for i, m := range mistakes.In(at) {
		c := *m
		c.Found = d.name + "'s bundle: " + c.Found
		if hint != "" {
			c.Fix += "; " + hint
		}
		out[i] = &c
	}
	return out
}

func (r *Run) noteMistakes(err error) {
	r.Errors = append(r.Errors, Errors(err)...)
	r.Mistakes = append(r.Mistakes, Mistakes(err)...)
}
