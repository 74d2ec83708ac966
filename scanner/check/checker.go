package check

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A Checker checks files by the rules of a bundle. Several goroutines may use it, each with its own examiner.
type Checker struct {
	Bundle       *rules.Bundle
	Plans        *PlanCache
	Limiter      *ParseLimiter          // bounds parallel parsing
	Allowed      []string               // the explicitly allowed reasons
	Exclude      func(string) bool      // optional; paths that no rule applies to
	RuleFiles    []RuleFile             // the bundles' rule files in git's trees: not part of them
	MaxFileBytes int64                  // a longer file is an error; 0: no limit
	Compares     bool                   // the file's baseline is read next
	FilterReport *checkout.FilterReport // nil: unused
	Cache        *Cache                 // nil: every file is read
	Explains     bool                   // results can explain themselves: see [Result.Explain]
	Traces       bool                   // results know which required items occur: see [Result.Present]
}

func (c *Checker) Allows(reason string) bool { return slices.Contains(c.Allowed, reason) }

// A RuleFile is a file of a bundle read from git's objects.
type RuleFile struct {
	Path string
	Blob repo.Hash
}

// IsRuleFile reports whether a file in git is one of the rule files. Content counts as well as path: a change could
// put anything at that path.
func (c *Checker) IsRuleFile(f *tree.File) bool {
	return f.IsRegular() && !f.Blob.IsZero() && slices.Contains(c.RuleFiles, RuleFile{f.Path, f.Blob})
}

// Excludes reports whether no rule applies to a path.
func (c *Checker) Excludes(path string) bool { return c.Exclude != nil && c.Exclude(path) }

func (c *Checker) keys() *keyChecker {
	return &keyChecker{bundle: c.Bundle, budget: c.Limiter, traced: c.Traces, explains: c.Explains}
}

// Check checks the file of a result, which has path and plan, by its content. If ctx ends meanwhile, Reached stays
// false. [Result.Settle] then finds the violated rules.
func (c *Checker) Check(ctx context.Context, x *match.Examiner, r *Result) {
	defer func() {
		if p := recover(); p != nil {
			e := tree.PanicError(r.File.Path, p)
			r.Scanned, r.Reason, r.finds, r.Err = false, "internal", nil, &e
			r.Reached = true
		}
	}()
	if c.Cache != nil {
		c.Cache.check(ctx, c, x, r)
		return
	}
	c.check(ctx, x, r)
}

// changed reports whether an error means that a content changed while it was read.
func changed(err error) bool {
	return errors.Is(err, worktree.ErrChanged) || errors.Is(err, match.ErrChanged)
}

// unopened are the file types without content.
var unopened = map[worktree.Kind]struct{ reason, code, message string }{
	worktree.Special: {AllowSpecialFile, code.NotRegular,
		"it is a FIFO, socket or device, which is never opened; remove it, or allow it with --allow special-file"},
	worktree.Submodule: {AllowSubmodule, code.Unavailable,
		"it is a submodule, and rules could select files in it; " +
			"scan that repository with the same bundle, and allow it here with --allow submodule"},
}

func (c *Checker) check(ctx context.Context, x *match.Examiner, r *Result) {
	if _, never := unopened[r.File.Kind]; never {
		c.unopened(r, r.File.Kind)
		return
	}
	rep, err := c.read(ctx, x, r)
	switch {
	case err != nil && ctx.Err() != nil:
		return
	case err == nil:
		c.judged(ctx, x, r, rep)
		if ctx.Err() != nil && !r.Scanned && r.Reason == "" {
			return
		}
	case errors.Is(err, tree.ErrSpecial):
		c.unopened(r, worktree.Special)
		return
	case isTemporary(&r.File, err):
		r.Vanished = true
	default:
		r.unread(err)
	}
	r.Reached = true
}

// judged adds the findings in a file's bytes, and the reasons why they may be incomplete.
func (c *Checker) judged(ctx context.Context, x *match.Examiner, r *Result, rep match.Report) {
	r.shape, r.examined, r.read = rep.Shape, true, rep.Bytes
	r.finds, r.missing = rep.Finds, appendMissing(nil, &rep, "")
	if r.File.Kind == worktree.Regular {
		c.standsFor(r, rep, "it")
		if r.File.Checkout != nil && !c.examineWrittenForms(ctx, x, r) {
			return
		}
	}
	if r.Reason == "" && len(r.keys.errors) > 0 {
		r.Reason, r.OnlyKeysFailed = r.keys.reason, true
	}
	if r.Reason == "" {
		r.Scanned, r.Bytes = true, rep.Bytes
	}
}

// asksKeys reports whether the file is checked for key patterns: a symlink is not.
func (r *Result) asksKeys() bool { return len(r.Plan.keyed) > 0 && r.File.Kind == worktree.Regular }

// standsForOther reports whether bytes are a placeholder. They are not checked for key patterns.
func standsForOther(rep *match.Report) bool { return rep.Pointer || rep.Crypt }

// standsFor records a placeholder, whose content was not checked. what names it.
func (c *Checker) standsFor(r *Result, rep match.Report, what string) {
	switch {
	case rep.Pointer:
		c.incomplete(r, AllowLFSPointer, code.Unavailable, what+" is a Git LFS pointer without its content; "+
			"run git lfs pull (actions/checkout: lfs: true), or use --allow lfs-pointer")
	case rep.Crypt:
		c.incomplete(r, AllowEncrypted, code.Unavailable, what+" is encrypted with git-crypt; "+
			"scan where it is decrypted (git-crypt unlock), without --diff-base and --staged, or use --allow encrypted")
	}
}

func (r *Result) unread(err error) {
	if r.Err == nil {
		e := fileError(r.File.Path, err)
		r.Err, r.Reason = &e, cmp.Or(reasons[e.Code], "unreadable")
	}
}

// incomplete records that part of a file was not checked, unless that is allowed. It names the first reason that is
// not allowed, or else the first.
func (c *Checker) incomplete(r *Result, reason, is, message string) {
	allowed := c.Allows(reason)
	if r.Reason == "" || r.Err == nil && !allowed {
		r.Reason = reason
	}
	if r.Err == nil && !allowed {
		r.Err = &verdict.Error{Code: is, File: verdict.Path(r.File.Path), Message: message}
	}
}

// isTemporary reports whether an error belongs to a file that another run replaced by its verdict after it was listed:
// before it was opened, or while it was read.
func isTemporary(f *tree.File, err error) bool {
	if changed(err) {
		var again tree.Content
		if again, err = f.Open(false); err == nil {
			again.Close()
		}
	}
	return errors.Is(err, tree.ErrTemporary)
}

func (c *Checker) unopened(r *Result, kind worktree.Kind) {
	why := unopened[kind]
	r.Reason = why.reason
	if !c.Allows(why.reason) {
		r.Err = &verdict.Error{Code: why.code, File: verdict.Path(r.File.Path), Message: why.message}
	}
	r.Reached = true
}

// read examines a file. One read is enough for most, and needs no check for changes; the others are read again from
// the first byte, and watched.
func (c *Checker) read(ctx context.Context, x *match.Examiner, r *Result) (match.Report, error) {
	watched := c.MaxFileBytes > 0
	rep, err := c.readOnce(ctx, x, r, watched)
	if errors.Is(err, worktree.ErrSeveral) {
		rep, err = c.readOnce(ctx, x, r, true)
	}
	return rep, err
}

func (c *Checker) readOnce(ctx context.Context, x *match.Examiner, r *Result, watched bool) (match.Report, error) {
	content, err := r.File.Open(watched)
	if err != nil {
		return match.Report{}, err
	}
	defer content.Close()
	if c.MaxFileBytes > 0 && content.Size() > c.MaxFileBytes {
		return match.Report{}, match.ErrLimit
	}
	x.Keep = r.asksKeys()
	rep, err := x.Examine(ctx, r.Plan.engine.engine, content)
	if r.keys = (keyResult{}); err == nil && x.Keep && !standsForOther(&rep) {
		r.keys, err = c.keys().examine(ctx, x, r.Plan, r.File.Path, content, &rep)
	}
	if err == nil && c.Explains {
		r.nearly, err = r.Plan.nearly(ctx, x, content, &rep)
	}
	if blob, ok := content.(*repo.Blob); ok && c.Compares && len(rep.Finds)+len(rep.Missing)+len(r.keys.finds) > 0 {
		blob.Remember() // the file's baseline is read next
	}
	// A single read sees a file at one moment; several reads may not.
	if err == nil && rep.Reads > 1 {
		err = content.Changed()
	}
	return rep, err
}

// reasons are the verdict's words for files that were not scanned.
var reasons = map[string]string{
	code.Changed:       "changed",
	code.CaseCollision: "case-collision",
	code.Limit:         "limit",
	code.Read:          "unreadable",
	code.Unavailable:   "absent",
	code.Object:        "unreadable",
	code.ObjectHash:    "unreadable",
}

func fileError(path string, err error) verdict.Error {
	switch e := tree.FileError(path, err); {
	case errors.Is(err, match.ErrChanged):
		return tree.FileError(path, worktree.ErrChanged)
	case errors.Is(err, match.ErrLimit):
		e.Code, e.Message = code.Limit, "it is longer than --max-file-bytes; raise the limit to have it scanned"
		return e
	case errors.Is(err, match.ErrSpaces):
		e.Code, e.Message = code.Limit, "it has too many spaces in a row next to a text with \"spaces: any\"; "+
			"remove some, or exclude it from the rule"
		return e
	default:
		return e
	}
}
