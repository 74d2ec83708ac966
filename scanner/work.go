package scanner

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// changed reports whether an error says that a content was not the same while it was read.
func changed(err error) bool {
	return errors.Is(err, worktree.ErrChanged) || errors.Is(err, match.ErrChanged)
}

// A worker judges the files that a tree hands it, one after another.
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
	defer func() {
		if r := recover(); r != nil {
			p.fail(internal("", r))
		}
	}()
	n := p.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	listed := true // as far as it could be
	var mu sync.Mutex
	fail := func(e verdict.Error) {
		mu.Lock()
		listed = false
		mu.Unlock()
		p.fail(e)
	}
	var visitors []visitor
	for range n {
		x := match.Examiner{Limit: p.MaxFileBytes, Mark: p.past != nil}
		w := &worker{collector: p, ctx: ctx, x: x, tally: p.tally()}
		visitors = append(visitors, visitor{
			skip: p.leaveOut, inUse: p.inUse, owns: w.owns, visit: w.visit, place: w.place, deleted: p.deletes,
			fail:      fail,
			temporary: p.temporary, uniform: p.Bundle.Uniform, touched: p.allower.touched,
			required: p.required.commit(p), requiredAll: p.required.seenAll,
		})
	}
	if err := p.tree.walk(ctx, visitors); err == nil && ctx.Err() == nil { // else Scan names the cause
		p.required.end(listed)
		if p.witness == nil {
			p.complete()
		}
		if err := p.allower.decide(ctx); err != nil && ctx.Err() == nil {
			for _, e := range failure.Errors(failure.OfRepo(err)) {
				p.fail(e)
			}
		}
	}
}

// visit checks a file, if a rule covers it.
func (w *worker) visit(e entry, o opener) {
	defer func() {
		if r := recover(); r != nil {
			w.fail(internal(e.Path, r))
		}
	}()
	if !w.witness.see(e) {
		return
	}
	if w.Exclude != nil && w.Exclude(e.Path) {
		w.tally.list()
		return
	}
	w.pulse.path(e.Path, e.Kind)
	if e.Kind != worktree.Submodule { // beneath which no exclude is asked
		if w.taken = w.Taken(e.Path, w.taken[:0]); len(w.taken) > 0 {
			w.tally.take(w.taken)
		}
	}
	w.required.see(e, o, w.fail)
	w.forbid = w.forbid[:0]
	if e.Path != "." { // which is no file
		w.forbid = w.Bundle.Forbidding(e.Path, w.forbid)
	}
	if e.Kind == worktree.Symlink {
		w.visitLink(e, o)
		return
	}
	w.selected = w.selecting(e, w.selected[:0])
	switch {
	case len(w.selected) > 0:
		if w.tally.begin(&w.job, e, w.selected, w.forbid, w.engines) {
			w.do(w.ctx, &w.x, o, &w.job)
			w.settle(o)
			w.tally.end(w.Bundle)
		}
	case len(w.forbid) > 0:
		w.visitForbidden(e)
	default:
		w.tally.list()
	}
}

// place judges the path of a submodule that is checked out. It is a file only where a rule says that none may be there.
func (w *worker) place(e entry) {
	if !w.witness.see(e) {
		return
	}
	if w.Exclude != nil && w.Exclude(e.Path) {
		return
	}
	w.pulse.path(e.Path, worktree.Submodule)
	if w.forbid = w.Bundle.Forbidding(e.Path, w.forbid[:0]); len(w.forbid) > 0 {
		w.visitForbidden(e)
	}
}

// visitForbidden judges a file by its path alone: it is not read.
func (w *worker) visitForbidden(e entry) {
	if w.tally.begin(&w.job, e, nil, w.forbid, w.engines) {
		w.job.reached, w.job.scanned = true, true
		w.settle(nil)
		w.tally.end(w.Bundle)
	}
}

// settle says which rules the worker's job breaks, and what of that is new. The opener is that of the file's content.
func (w *worker) settle(o opener) {
	if w.job.settle(w.Bundle); w.past != nil && len(w.job.broken) > 0 {
		w.past.label(w.ctx, &w.x, o, &w.job)
	}
}

// selecting returns the rules that select a file. Of a submodule only the
// place is known: a rule that could select a path beneath it covers it.
func (s *scan) selecting(e entry, into []int) []int {
	if e.Kind == worktree.Submodule {
		return s.Bundle.SelectingBeneath(e.Path, into)
	}
	return s.Bundle.Selecting(e.Path, into)
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
func (p *collector) do(ctx context.Context, x *match.Examiner, o opener, j *job) {
	s := &j.result
	defer func() {
		if r := recover(); r != nil {
			e := internal(j.Path, r)
			s.scanned, s.reason, s.finds, s.err = false, "internal", nil, &e
			s.reached = true
		}
	}()
	if _, never := unopened[j.Kind]; never {
		p.unopened(j, j.Kind)
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
	rep, err := p.read(ctx, x, o, j)
	if err != nil && ctx.Err() != nil {
		return
	}
	switch {
	case err == nil:
		if p.Reuse != nil {
			p.Reuse.read.Add(rep.Bytes)
		}
		p.judged(ctx, x, o, j, rep)
		if ctx.Err() != nil && !s.scanned && s.reason == "" {
			return
		}
		if reusable {
			p.keep(j, key, compare)
		}
	case errors.Is(err, errSpecial):
		p.unopened(j, worktree.Special)
		return
	case passed(o, j.entry, err):
		s.gone = true
	default:
		j.unread(err)
	}
	s.reached = true
}

// judged takes what an examination of a file's bytes found, and says what they do not show.
func (p *collector) judged(ctx context.Context, x *match.Examiner, o opener, j *job, rep match.Report) {
	s := &j.result
	s.shape, s.examined = rep.Shape, true
	s.finds, s.lacks = rep.Finds, appendLack(nil, &rep, "")
	if j.Kind == worktree.Regular {
		p.standsFor(j, rep, "it")
		if j.checkout != nil && !p.checkedOut(ctx, x, o, j) {
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
func (j *job) asksKeys() bool { return len(j.selection.keyed) > 0 && j.Kind == worktree.Regular }

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
		e := fileError(j.Path, err)
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
		j.err = &verdict.Error{Code: is, File: verdict.Path(j.Path), Message: message}
	}
}

// passed reports whether an error is that of a file which another run has put in its
// verdict's place since it was listed: before it was opened, or while it was read.
func passed(o opener, e entry, err error) bool {
	if changed(err) {
		var again content
		if again, err = o.open(e); err == nil {
			again.Close()
		}
	}
	return errors.Is(err, errPassed)
}

// unopened says so of a file of a kind that has no content to be had.
func (p *collector) unopened(j *job, kind worktree.Kind) {
	why := unopened[kind]
	j.reason = why.reason
	if !p.allows(why.reason) {
		j.err = &verdict.Error{Code: why.code, File: verdict.Path(j.Path), Message: why.message}
	}
	j.reached = true
}

// read examines a file. Most take one read, which needs no look at whether they change
// meanwhile; the others are read again from the first byte, and watched.
func (p *collector) read(ctx context.Context, x *match.Examiner, o opener, j *job) (match.Report, error) {
	e := j.entry
	e.watch = p.MaxFileBytes > 0
	rep, err := p.readOnce(ctx, x, o, j, e)
	if errors.Is(err, worktree.ErrSeveral) {
		e.watch = true
		rep, err = p.readOnce(ctx, x, o, j, e)
	}
	return rep, err
}

func (p *collector) readOnce(ctx context.Context, x *match.Examiner, o opener, j *job, e entry) (match.Report, error) {
	c, err := o.open(e)
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
		j.keyed, err = p.keys.examine(ctx, x, j.selection, j.Path, c, &rep)
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

// fileError says why a file or folder could not be read. path is from the root, ""
// for the root itself.
func fileError(path string, err error) verdict.Error {
	why := "it cannot be read: " + disk.Cause(err).Error()
	e := verdict.Error{Code: code.Read, File: verdict.Path(path), Message: why}
	if path == "" {
		e.File = "."
	}
	var absent *absentError
	switch {
	case errors.As(err, &absent):
		e.Code, e.Message = code.Unavailable, absent.Error()
	case errors.Is(err, errCase):
		e.Code, e.Message = code.CaseCollision, err.Error()
	case changed(err):
		e.Code, e.Message = code.Changed, "it changed while it was scanned; scan again when nothing writes to it"
	case errors.Is(err, match.ErrLimit):
		e.Code, e.Message = code.Limit, "it is longer than --max-file-bytes; raise the limit to have it scanned"
	default:
		if is, hint, known := failure.RepoCode(err); known {
			e.Code, e.Message = is, e.Message+hint
		}
	}
	return e
}
