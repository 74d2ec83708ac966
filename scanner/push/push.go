// Package push checks what a push brings to a server, before git updates its refs (the pre-receive hook).
//
//	lines of "OLD NEW REF" --read--> updates --Push.parts--> runs, each with its commits --scanner.Scan--> one verdict
//
// A push brings the commits that its new values reach, and that no ref of the repository reached before it. Each file
// that they bring is checked, as --each-commit does. The new tip of a branch is also compared with its old one, or, of
// a new branch, with the default branch, as --diff-base does. A deletion brings nothing.
//
// The rules are those of named bundles outside the repository, and of the bundle that the default branch had before the
// push. A push that updates the default branch is also checked by its own bundle there, so that no broken bundle comes
// to rule the next push. A repository without a commit on its default branch has no bundle yet: without a named one, the
// push is checked by the bundle that it brings.
//
// What cannot be decided is an error of the verdict, and so is a push that no rule checks: nothing else makes a PASS
// than [scanner.Scan]. The package writes nothing, and knows neither flags nor exit statuses.
package push

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A Push is what git tells its pre-receive hook.
type Push struct {
	Lines   []byte      // of standard input: OLD SP NEW SP REF LF
	Options run.Options // of each run; Git names the repository
	Own     bool        // the bundle of the default branch is enforced, too
}

// Scope is the scope of a push of several refs, or of one that is not yet known.
func Scope() verdict.Scope {
	return (&run.Options{Base: "HEAD", Related: &repo.Comparison{}, EachCommit: true}).Scope()
}

// Check returns the verdict of a push. It waits no longer than ctx.
func (p *Push) Check(ctx context.Context) *verdict.Verdict {
	done := make(chan *verdict.Verdict, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				e := tree.PanicError("", r)
				done <- p.undecided(&e)
			}
		}()
		v, err := p.check(ctx)
		if err != nil {
			v = p.undecided(err)
		}
		done <- v
	}()
	select {
	case v := <-done:
		if ctx.Err() == nil || v.Verdict != verdict.Pass {
			return v
		}
	case <-ctx.Done():
	}
	return p.undecided(context.Cause(ctx))
}

func (p *Push) undecided(err error) *verdict.Verdict {
	return run.Verdict(p.Options.Version, Scope(), err)
}

func (p *Push) check(ctx context.Context) (*verdict.Verdict, error) {
	r, err := p.Options.Git.Open("")
	if err == nil {
		err = r.AddPushed()
	}
	if err != nil {
		return nil, tree.RepoError(err)
	}
	r.WorkTree = "" // a bundle in it does not count
	updates, err := read(r, string(p.Lines))
	if err != nil {
		return nil, err
	}
	server, err := stateOf(r)
	if err != nil {
		return nil, tree.RepoError(err)
	}
	parts, err := server.parts(updates)
	if err != nil {
		return nil, tree.RepoError(err)
	}
	var all []*verdict.Verdict
	for _, part := range parts {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		all = append(all, p.scan(ctx, server, part))
	}
	return together(all, parts), nil
}

// scan checks a part of the push.
func (p *Push) scan(ctx context.Context, s *server, part part) *verdict.Verdict {
	one, err := p.open(ctx, s, part)
	if err != nil {
		return one.Undecided(err)
	}
	defer one.Close()
	one.Commits, one.EveryState = part.commits, true
	return scanner.Scan(ctx, one, nil)
}

// open opens the run of a part. The bundle of the default branch may be missing, if another one is named.
func (p *Push) open(ctx context.Context, s *server, part part) (*run.Run, error) {
	o := p.Options
	o.OpenedRepository, o.Related, o.EachCommit = s.repo, &part.compared, true
	o.Base, o.Head = part.base, part.compared.Head.String()
	own := p.Own && (!s.head.IsZero() || len(o.Policies) == 0)
	if own {
		with := o
		with.Policies = append(slices.Clip(o.Policies), "")
		if o.Pins != nil {
			with.Pins = append(slices.Clip(o.Pins), "")
		}
		if part.ref != s.defaultBranch && part.compared.Head != s.before {
			with.PolicyRef = s.before.String()
		}
		one, err := run.Open(ctx, with)
		var missing *document.Error
		if !errors.As(err, &missing) || missing.Code != document.CodeMissing {
			return one, err
		}
	}
	if len(o.Policies) == 0 {
		branch := s.defaultBranch
		if branch == "" {
			branch = "its branch"
		}
		return &run.Run{Options: o}, &verdict.Error{Code: code.NoRules, Message: "no rules check this push: the default " +
			"branch has no bundle, and the hook has no --policy; push a bundle to " + branch + " first, or add --policy DIR"}
	}
	return run.Open(ctx, o)
}

// An update moves a ref, creates or deletes it.
type update struct {
	old, new repo.Hash // zero: the ref does not exist
	ref      string
}

// read reads the lines of standard input.
func read(r *repo.Repository, text string) ([]update, error) {
	wrong := func(what string, args ...any) error {
		return fmt.Errorf("standard input "+what+"; git gives its pre-receive hook a line OLD NEW REF for each ref", args...)
	}
	if text == "" {
		return nil, wrong("is empty")
	}
	var all []update
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		whole := strings.HasSuffix(line, "\n")
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(fields) != 3 || !whole || !repo.IsRef(fields[2]) {
			return nil, wrong("has the line %q", line)
		}
		u := update{ref: fields[2]}
		var err error
		if u.old, err = r.Hash(fields[0]); err == nil {
			u.new, err = r.Hash(fields[1])
		}
		if err != nil {
			return nil, wrong("has for %s %v", u.ref, err)
		}
		if seen[u.ref] {
			return nil, wrong("has %s twice", u.ref)
		}
		seen[u.ref] = true
		all = append(all, u)
	}
	return all, nil
}
