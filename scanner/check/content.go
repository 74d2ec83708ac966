// Package check checks one file by the rules of a bundle: its bytes, and the values of its keys.
//
// A [Plan] is the rules that select a file, with their patterns compiled together; a [PlanCache] keeps one for each
// set of rules. A [Checker] checks the files of a scan, a [ContentChecker] contents in memory, from a hook or a rule's
// example, and [File] a single one. Each gives a [Result]: matches, missing patterns, and the reason if the file could
// not be checked. A [Finding] is a violation before its texts are put together.
//
// If .gitattributes makes git write another encoding on checkout, that variant is checked as well as the blob. A file
// is parsed, once in each format, if a rule that selects it has a key pattern. A symlink is not parsed.
//
// A file is read to its last byte. A read error, and a panic in this package, is an error of the result. The package
// knows one file at a time, neither its tree nor its baseline; it writes only the store of a [Cache].
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

// File checks one content as if it stood at path in a tree, and returns the violations in the order of a verdict. It
// reads nothing and has no effects. The path is relative, with slashes. Required files are not checked. The error is
// an [UndecidedError], with the violations found anyway, or the context's.
func File(ctx context.Context, b *rules.Bundle, path string, content []byte) ([]verdict.Violation, error) {
	return NewContentChecker(b).Check(ctx, path, content)
}

// A ContentChecker is [File] for one bundle. It caches the plans of a path's rules for the next content. One goroutine
// may use it at a time.
type ContentChecker struct {
	Traces bool // results know which required items occur: see [Result.Present]
	Window int  // of [match.Examiner]

	// Few says that only a few contents will be checked, as of an agent's edit: for the first ones, literals that a
	// content certainly lacks are not compiled.
	Few bool

	bundle   *rules.Bundle
	plans    *PlanCache
	contents int // checked so far
	examiner match.Examiner
	last     Result
}

// TextAlone reports whether the last content cannot be parsed, and was checked as text only by rules with "unparsable:
// text".
func (c *ContentChecker) TextAlone() bool { return c.last.TextAlone() }

// NewContentChecker returns a checker without plans.
func NewContentChecker(b *rules.Bundle) *ContentChecker {
	return &ContentChecker{bundle: b, plans: NewPlanCache(b)}
}

// Selects reports whether a rule is about the content or the name of a file at path.
func (c *ContentChecker) Selects(path string) bool {
	return len(c.bundle.Selecting(path, nil)) > 0 || len(c.bundle.Forbidding(path, nil)) > 0
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

// Result returns the result of a content as if it stood at path in a tree. It fails only with the context's error.
func (c *ContentChecker) Result(ctx context.Context, path string, content []byte) (Result, error) {
	r := Result{
		File: tree.File{Path: path}, Forbidden: c.bundle.Forbidding(path, nil),
		Reached: true, Scanned: true, Bytes: int64(len(content)),
	}
	if selected := c.bundle.Selecting(path, nil); len(selected) > 0 {
		r.Plan = c.plan(selected, content)
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

// maxPrefiltered is the number of contents that take as long to filter as all literals to compile.
const maxPrefiltered = 16

// plan returns the plan of some rules for a content.
func (c *ContentChecker) plan(selected []int, content []byte) *Plan {
	c.contents++
	if c.Few && c.contents <= maxPrefiltered {
		if filter := match.NewPrefilter(content); filter != nil {
			s := c.plans.newPlan(selected)
			s.engine = c.plans.engine(selected, filter)
			return s
		}
	}
	return c.plans.Plan(selected)
}

// UndecidedError reports a content that rules could not check: it cannot be parsed, or its format is unknown.
type UndecidedError struct {
	Errors []verdict.Error // one or more, each of another code
}

func (u *UndecidedError) Error() string {
	var all []string
	for i := range u.Errors {
		all = append(all, u.Errors[i].Error())
	}
	return strings.Join(all, "; ")
}

// Has reports whether one of the errors has a code.
func (u *UndecidedError) Has(code string) bool {
	return u != nil && slices.ContainsFunc(u.Errors, func(e verdict.Error) bool { return e.Code == code })
}
