// Package check checks one file by the rules of a bundle: its bytes, and the values of its keys.
//
// A [Plan] is the rules that select a file, with all that they look for compiled together; a [PlanCache] keeps one for
// each set of rules. A [Checker] checks the files of a scan, a [ContentChecker] contents that are at hand, as a hook or
// a rule's example has them, and [File] one of them. Each gives a [Result]: what was found, what is missing, and why
// the file could not be checked, if it could not. A [Finding] is a violation before its texts are put together.
//
// Where .gitattributes makes git write another encoding on checkout, that form is checked as well as the blob. A file
// is parsed, once in each format, if a rule that selects it has an item with a key. A link is not.
//
// A file is read to its last byte. What cannot be read is an error of the result, and a panic in here is one, too. It
// knows one file at a time, neither its tree nor what was there before; it writes nothing but the store of a [Cache].
package check

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// File checks one content as if it stood at path in a tree, and returns the
// violations in the order of a verdict. It reads nothing and has no effects. The
// path is relative, with slashes. Required files are not looked for. The error is an [UndecidedError], with the
// violations that there are anyway, or the context's.
func File(ctx context.Context, b *rules.Bundle, path string, content []byte) ([]verdict.Violation, error) {
	return NewContentChecker(b).Check(ctx, path, content)
}

// A ContentChecker is [File] for one bundle. It keeps what it prepares for a path's rules, so that the next content
// costs less. One goroutine may use it at a time.
type ContentChecker struct {
	Traces bool // results know which required items are there: see [Result.Present]
	Window int  // of [match.Examiner]

	bundle   *rules.Bundle
	plans    *PlanCache
	examiner match.Examiner
	last     Result
}

// TextAlone reports whether the content that was checked last cannot be parsed, and was checked as text only by rules
// with "unparsable: text".
func (c *ContentChecker) TextAlone() bool { return c.last.TextAlone() }

// NewContentChecker returns a checker that has prepared nothing yet.
func NewContentChecker(b *rules.Bundle) *ContentChecker {
	return &ContentChecker{bundle: b, plans: NewPlanCache(b)}
}

// Check is [File] with the checker's bundle.
func (c *ContentChecker) Check(ctx context.Context, path string, content []byte) ([]verdict.Violation, error) {
	var err error
	if c.last, err = c.Result(ctx, path, content); err != nil {
		return nil, err
	}
	var violations []verdict.Violation
	SortFindings(c.last.Findings)
	for i := range c.last.Findings {
		violations = append(violations, c.last.Findings[i].Violation(c.bundle))
	}
	if wrong := c.last.KeyErrors(); len(wrong) > 0 {
		return violations, &UndecidedError{wrong}
	}
	return violations, nil
}

// Result returns the result of a content as if it stood at path in a tree. The error is the context's.
func (c *ContentChecker) Result(ctx context.Context, path string, content []byte) (Result, error) {
	r := Result{
		File: tree.File{Path: path}, Forbidden: c.bundle.Forbidding(path, nil),
		Reached: true, Scanned: true, Bytes: int64(len(content)),
	}
	if selected := c.bundle.Selecting(path, nil); len(selected) > 0 {
		r.Plan = c.plans.Plan(selected)
		c.examiner.Window = c.Window
		rep, err := c.examiner.Examine(ctx, r.Plan.engine.engine, bytes.NewReader(content))
		if errors.Is(err, match.ErrSpaces) {
			r.unread(err)
			r.Scanned, r.keys.errors = false, []verdict.Error{*r.Err}
			return r, nil
		}
		if err != nil {
			return r, err
		}
		if len(r.Plan.keyed) > 0 {
			rep.Content = content
			keys := &keyChecker{bundle: c.bundle, traced: c.Traces}
			if r.keys, err = keys.examine(ctx, &c.examiner, r.Plan, path, nil, &rep); err != nil {
				return r, err
			}
		}
		r.finds, r.missing = rep.Finds, appendMissing(nil, &rep, "")
	}
	r.Settle(c.bundle)
	return r, nil
}

// UndecidedError is the error of a content that rules could not judge: it cannot be parsed, or its format is not known.
type UndecidedError struct {
	Errors []verdict.Error // one at least, each of another code
}

func (u *UndecidedError) Error() string {
	var all []string
	for i := range u.Errors {
		all = append(all, u.Errors[i].Error())
	}
	return strings.Join(all, "; ")
}

// Has reports whether a code is among those of the errors.
func (u *UndecidedError) Has(code string) bool {
	return u != nil && slices.ContainsFunc(u.Errors, func(e verdict.Error) bool { return e.Code == code })
}
