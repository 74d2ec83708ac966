package scanner

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// changed reports whether an error says that a content was not the same while it was read.
func changed(err error) bool {
	return errors.Is(err, worktree.ErrChanged) || errors.Is(err, match.ErrChanged)
}

// A worker checks the files of one of the sequences of a tree, one after another.
type worker struct {
	*collector
	ctx      context.Context
	x        match.Examiner
	tally    *tally
	selected []int
	forbid   []rules.GlobOf
	taken    []int
	job      job // that is used again, once it has ended
}

// run judges the whole tree, with several workers.
func (p *collector) run(ctx context.Context) {
	n := p.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	var whole atomic.Bool // all that the tree has was listed
	whole.Store(true)
	var done sync.WaitGroup
	for _, files := range p.tree.Files(ctx, n, p.query()) {
		x := match.Examiner{Limit: p.MaxFileBytes, Mark: p.past != nil}
		w := &worker{collector: p, ctx: ctx, x: x, tally: p.tally()}
		done.Go(func() {
			if !w.work(files) {
				whole.Store(false)
			}
		})
	}
	done.Wait()
	p.required.all(ctx, p.tree, p, whole.Load())
	if ctx.Err() != nil { // Scan names the cause
		return
	}
	if p.witness == nil {
		p.complete()
	}
	if err := p.allower.decide(ctx); err != nil && ctx.Err() == nil {
		p.failAll(failure.OfRepo(err))
	}
}

// query says which files of the tree the run looks at.
func (p *collector) query() tree.Query {
	q := tree.Query{LeaveOut: p.LeaveOut, InShard: p.Owns, Touched: p.allower.touched(), Uniform: p.Bundle.Uniform}
	if p.witness != nil {
		q.Only = p.witness.path
	}
	return q
}

// work checks the files of a sequence, and reports whether it had no error.
func (w *worker) work(files iter.Seq2[tree.File, error]) (whole bool) {
	defer func() {
		if r := recover(); r != nil {
			w.fail(failure.Panic("", r))
			whole = false
		}
	}()
	whole = true
	for f, err := range files {
		if err != nil {
			whole = false
			w.failAll(err)
			if w.Owns != nil && f.Path != "" && f.State == tree.Listed {
				w.tally.add(&f)
			}
			continue
		}
		w.entry(f)
	}
	return whole
}

// entry does with an entry of the tree what its state asks for.
func (w *worker) entry(f tree.File) {
	switch f.State {
	case tree.LeftOut:
		if !(w.Owns != nil && f.Reason == tree.Output) { // a shard's own file is none of the whole run's
			w.leftOut(f.Path, f.Reason)
		}
		return
	case tree.Deleted:
		w.deletes()
		return
	}
	if w.isRuleFile(&f) {
		w.leftOut(f.Path, "rules")
		return
	}
	if w.Owns != nil {
		w.tally.add(&f)
	}
	switch f.State {
	case tree.Elsewhere:
	case tree.CheckedOut:
		w.place(f)
	default:
		w.visit(f)
	}
}

// visit checks a file, if a rule covers it.
func (w *worker) visit(f tree.File) {
	defer func() {
		if r := recover(); r != nil {
			w.fail(failure.Panic(f.Path, r))
		}
	}()
	if !w.witness.see(f) {
		return
	}
	if w.Exclude != nil && w.Exclude(f.Path) {
		w.tally.list()
		return
	}
	w.pulse.path(f.Path, f.Kind)
	if f.Kind != worktree.Submodule { // beneath which no exclude is asked
		if w.taken = w.Taken(f.Path, w.taken[:0]); len(w.taken) > 0 {
			w.tally.take(w.taken)
		}
	}
	w.required.see(&f, w.fail)
	w.forbid = w.forbid[:0]
	if f.Path != "." { // which is no file
		w.forbid = w.Bundle.Forbidding(f.Path, w.forbid)
	}
	if f.Kind == worktree.Symlink {
		w.visitLink(f)
		return
	}
	w.selected = w.selecting(&f, w.selected[:0])
	switch {
	case len(w.selected) > 0:
		if w.tally.begin(&w.job, f, w.selected, w.forbid, w.engines) {
			w.do(w.ctx, &w.x, &w.job)
			w.settle()
			w.tally.end(w.Bundle)
		}
	case len(w.forbid) > 0:
		w.visitForbidden(f)
	default:
		w.tally.list()
	}
}

// place judges the path of a submodule that is checked out. It is a file only where a rule says that none may be there.
func (w *worker) place(f tree.File) {
	if !w.witness.see(f) {
		return
	}
	if w.Exclude != nil && w.Exclude(f.Path) {
		return
	}
	w.pulse.path(f.Path, worktree.Submodule)
	if w.forbid = w.Bundle.Forbidding(f.Path, w.forbid[:0]); len(w.forbid) > 0 {
		w.visitForbidden(f)
	}
}

// visitForbidden judges a file by its path alone: it is not read.
func (w *worker) visitForbidden(f tree.File) {
	if w.tally.begin(&w.job, f, nil, w.forbid, w.engines) {
		w.job.reached, w.job.scanned = true, true
		w.settle()
		w.tally.end(w.Bundle)
	}
}

// settle says which rules the worker's job breaks, and what of that is new.
func (w *worker) settle() {
	if w.job.settle(w.Bundle); w.past != nil && len(w.job.broken) > 0 {
		w.past.label(w.ctx, &w.x, &w.job)
	}
}

// selecting returns the rules that select a file. Of a submodule only the
// place is known: a rule that could select a path beneath it covers it.
func (s *scan) selecting(f *tree.File, into []int) []int {
	if f.Kind == worktree.Submodule {
		return s.Bundle.SelectingBeneath(f.Path, into)
	}
	return s.Bundle.Selecting(f.Path, into)
}

// unopened are the kinds of file that have no content to be had.
var unopened = map[worktree.Kind]struct{ reason, code, message string }{
	worktree.Special: {AllowSpecialFile, code.NotRegular,
		"it is a FIFO, socket or device, which is never opened; remove it, or allow it with --allow special-file"},
	worktree.Submodule: {AllowSubmodule, code.Unavailable,
		"it is a submodule, and rules could select files in it; " +
			"scan that repository with the same bundle, and allow it here with --allow submodule"},
}

// do examines a file and says what became of it. When ctx ends on the way, that is
// nothing: the file was not reached.
func (p *collector) do(ctx context.Context, x *match.Examiner, j *job) {
	s := &j.result
	defer func() {
		if r := recover(); r != nil {
			e := failure.Panic(j.file.Path, r)
			s.scanned, s.reason, s.finds, s.err = false, "internal", nil, &e
			s.reached = true
		}
	}()
	if _, never := unopened[j.file.Kind]; never {
		p.unopened(j, j.file.Kind)
		return
	}
	key, reusable := p.reusable(j)
	var compare []byte
	if reusable {
		var done bool
		if compare, done = p.fromStore(j, key); done {
			return
		}
	}
	rep, err := p.read(ctx, x, j)
	if err != nil && ctx.Err() != nil {
		return
	}
	switch {
	case err == nil:
		if p.Reuse != nil {
			p.Reuse.read.Add(rep.Bytes)
		}
		p.judged(ctx, x, j, rep)
		if ctx.Err() != nil && !s.scanned && s.reason == "" {
			return
		}
		if reusable {
			p.keep(j, key, compare)
		}
	case errors.Is(err, tree.ErrSpecial):
		p.unopened(j, worktree.Special)
		return
	case isTemporary(&j.file, err):
		s.gone = true
	default:
		j.unread(err)
	}
	s.reached = true
}

// judged takes what an examination of a file's bytes found, and says what they do not show.
func (p *collector) judged(ctx context.Context, x *match.Examiner, j *job, rep match.Report) {
	s := &j.result
	s.shape, s.examined = rep.Shape, true
	s.finds, s.lacks = rep.Finds, appendLack(nil, &rep, "")
	if j.file.Kind == worktree.Regular {
		p.standsFor(j, rep, "it")
		if j.file.Checkout != nil && !p.checkedOut(ctx, x, j) {
			return
		}
	}
	if s.reason == "" && len(s.keyed.errors) > 0 {
		s.reason, s.partly = s.keyed.reason, true
	}
	if s.reason == "" {
		s.scanned, s.bytes = true, rep.Bytes
	}
}

// asksKeys reports whether items with a key are asked of the file: they are not of links.
func (j *job) asksKeys() bool { return len(j.selection.keyed) > 0 && j.file.Kind == worktree.Regular }

// standsForOther reports whether bytes stand for a content which is not here. Items with a key are not asked of them.
func standsForOther(rep *match.Report) bool { return rep.Pointer || rep.Crypt }

// standsFor says of bytes that stand for a content which is not here that it was not judged. what names them.
func (p *collector) standsFor(j *job, rep match.Report, what string) {
	switch {
	case rep.Pointer:
		p.lacks(j, AllowLFSPointer, code.Unavailable, what+" is a Git LFS pointer, and the content is not here; "+
			"fetch it (git lfs pull; actions/checkout: lfs: true), or allow it with --allow lfs-pointer")
	case rep.Crypt:
		p.lacks(j, AllowEncrypted, code.Unavailable, what+" is encrypted with git-crypt, "+
			"and the content is not here; scan where it is decrypted (git-crypt unlock), "+
			"without --diff-base and --staged, or allow it with --allow encrypted")
	}
}

// unread says that what belongs to a file could not be read.
func (j *job) unread(err error) {
	if j.err == nil {
		e := fileError(j.file.Path, err)
		j.err, j.reason = &e, cmp.Or(reasons[e.Code], "unreadable")
	}
}

// lacks says that what was examined of a file is not all of it, unless that is allowed. The first such reason is the
// one that is named, if no later one is not allowed.
func (p *collector) lacks(j *job, reason, is, message string) {
	allowed := p.allows(reason)
	if j.reason == "" || j.err == nil && !allowed {
		j.reason = reason
	}
	if j.err == nil && !allowed {
		j.err = &verdict.Error{Code: is, File: verdict.Path(j.file.Path), Message: message}
	}
}

// isTemporary reports whether an error is that of a file which another run has put in its
// verdict's place since it was listed: before it was opened, or while it was read.
func isTemporary(f *tree.File, err error) bool {
	if changed(err) {
		var again tree.Content
		if again, err = f.Open(false); err == nil {
			again.Close()
		}
	}
	return errors.Is(err, tree.ErrTemporary)
}

// unopened says so of a file of a kind that has no content to be had.
func (p *collector) unopened(j *job, kind worktree.Kind) {
	why := unopened[kind]
	j.reason = why.reason
	if !p.allows(why.reason) {
		j.err = &verdict.Error{Code: why.code, File: verdict.Path(j.file.Path), Message: why.message}
	}
	j.reached = true
}

// read examines a file. Most take one read, which needs no look at whether they change
// meanwhile; the others are read again from the first byte, and watched.
func (p *collector) read(ctx context.Context, x *match.Examiner, j *job) (match.Report, error) {
	watched := p.MaxFileBytes > 0
	rep, err := p.readOnce(ctx, x, j, watched)
	if errors.Is(err, worktree.ErrSeveral) {
		rep, err = p.readOnce(ctx, x, j, true)
	}
	return rep, err
}

func (p *collector) readOnce(ctx context.Context, x *match.Examiner, j *job, watched bool) (match.Report, error) {
	c, err := j.file.Open(watched)
	if err != nil {
		return match.Report{}, err
	}
	defer c.Close()
	if p.MaxFileBytes > 0 && c.Size() > p.MaxFileBytes {
		return match.Report{}, match.ErrLimit
	}
	x.Keep = j.asksKeys()
	rep, err := x.Examine(ctx, j.engine.Engine, c)
	if j.keyed = (keyed{}); err == nil && x.Keep && !standsForOther(&rep) {
		j.keyed, err = p.keys.examine(ctx, x, j.selection, j.file.Path, c, &rep)
	}
	if blob, ok := c.(*repo.Blob); ok && p.past != nil && len(rep.Finds)+len(rep.Missing)+len(j.keyed.finds) > 0 {
		blob.Remember() // what the file was before is read next
	}
	// One read sees a file at one moment; several may see it at different ones.
	if err == nil && rep.Reads > 1 {
		err = c.Changed()
	}
	return rep, err
}

// reasons are the words with which the verdict says that a file was not scanned.
var reasons = map[string]string{
	code.Changed:       "changed",
	code.CaseCollision: "case-collision",
	code.Limit:         "limit",
	code.Read:          "unreadable",
	code.Unavailable:   "absent",
	code.Object:        "unreadable",
	code.ObjectHash:    "unreadable",
}

// fileError says why a file could not be read.
func fileError(path string, err error) verdict.Error {
	switch e := tree.FileError(path, err); {
	case errors.Is(err, match.ErrChanged):
		return tree.FileError(path, worktree.ErrChanged)
	case errors.Is(err, match.ErrLimit):
		e.Code, e.Message = code.Limit, "it is longer than --max-file-bytes; raise the limit to have it scanned"
		return e
	default:
		return e
	}
}
