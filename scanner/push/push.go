// Package push checks what a push brings to a server, before git updates its refs (the pre-receive hook).
//
//	OLD NEW REF --read--> updates --server.parts--> runs, each with its commits --scanner.Scan--> one verdict
//
// A push brings the commits that its new values reach, and that no ref reached before it. Each file that they bring is
// checked, as --each-commit does. The new tip of a branch is also compared with its old one, or, of a new branch, with
// the default branch, as --diff-base does.
//
// The rules are those of named bundles outside the repository, and of the bundle that the default branch had before the
// push. A new one there must be valid, so that it can check the next push. What cannot be decided, and a push that no
// rule checks, is an error of the verdict. The package writes nothing.
package push

import (
	"cmp"
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
	Lines   string      // of standard input
	Options run.Options // of each run; Git names the repository
	Own     bool        // the bundle of the default branch is enforced, too
}

// Scope is the scope of a push of several refs, or of one that is not yet known.
func Scope() verdict.Scope { return (&run.Options{Base: "HEAD", EachCommit: true}).Scope() }

// Check returns the verdict of a push.
func (p *Push) Check(ctx context.Context) *verdict.Verdict {
	var all []*verdict.Verdict
	p.Options.Cache = &run.Cache{}
	s, parts, err := p.parts(ctx)
	for i := range parts {
		if err == nil {
			all = append(all, p.scan(ctx, s, &parts[i]))
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return run.Verdict(p.Options.Version, Scope(), cmp.Or(context.Cause(ctx), err))
	}
	return together(all, parts)
}

func (p *Push) parts(ctx context.Context) (*server, []part, error) {
	if name := p.Options.Getenv("GIT_NAMESPACE"); name != "" {
		return nil, nil, refused(code.RepoFormat, "git's namespaces (%s) are not read; use a separate repository", name)
	}
	r, err := p.Options.Git.Open("")
	if err == nil {
		err = r.AddPushed()
	}
	if err != nil {
		return nil, nil, tree.RepoError(err)
	}
	r.WorkTree = "" // a bundle in it does not count
	r.Stopped = func() error { return context.Cause(ctx) }
	updates, err := read(r, p.Lines)
	if err != nil {
		return nil, nil, err
	}
	s, err := stateOf(r)
	var parts []part
	if err == nil {
		parts, err = s.parts(updates, p.Own)
	}
	if err != nil {
		err = tree.RepoError(err)
	}
	return s, parts, err
}

// scan checks a part of the push. The bundle of the default branch may be missing if another one is named.
func (p *Push) scan(ctx context.Context, s *server, part *part) *verdict.Verdict {
	o := p.Options
	o.OpenedRepository, o.Related, o.EachCommit = s.repo, &part.compared, true
	o.Base, o.Head = part.base, part.compared.Head.String()
	one, err := (*run.Run)(nil), error(&document.Error{Code: document.CodeMissing})
	if p.Own && (!s.head.IsZero() || len(o.Policies) == 0 && len(s.reached) == 0) {
		with := o
		with.Policies = append(slices.Clip(o.Policies), "")
		if o.Pins != nil {
			with.Pins = append(slices.Clip(o.Pins), "")
		}
		if part.ref != s.defaultBranch && part.compared.Head != s.before {
			with.PolicyRef = "HEAD" // no ref can have the same name
			if s.head.IsZero() {
				with.PolicyRef = s.before.String()
			}
		}
		one, err = run.Open(ctx, with)
	}
	var missing *document.Error
	switch {
	case !errors.As(err, &missing) || missing.Code != document.CodeMissing:
	case len(o.Policies) > 0:
		one, err = run.Open(ctx, o)
	default:
		one, err = &run.Run{Options: o}, refused(code.NoRules, "no rules check this push: the default branch %s has "+
			"no bundle, or does not exist, and the hook has no --policy; push a bundle to it first, or set another "+
			"default branch on the server (git symbolic-ref HEAD refs/heads/NAME)", s.defaultBranch)
	}
	if err != nil {
		return one.Undecided(err)
	}
	defer one.Close()
	one.Commits = part.commits
	return scanner.Scan(ctx, one, nil)
}

// An update moves a ref, creates or deletes it.
type update struct {
	old, new repo.Hash // zero: the ref does not exist
	tip      repo.Hash // the commit of the new value
	ref      string
}

// read reads the lines of standard input, OLD SP NEW SP REF LF.
func read(r *repo.Repository, text string) (all []update, err error) {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		old, rest, _ := strings.Cut(line, " ")
		value, rest, _ := strings.Cut(rest, " ")
		ref, whole := strings.CutSuffix(rest, "\n")
		u := update{ref: ref}
		if u.old, err = r.Hash(old); err == nil {
			u.new, err = r.Hash(value)
		}
		if err != nil || !whole || !repo.IsRef(ref) || seen[ref] {
			all = nil
			break
		}
		seen[ref], all = true, append(all, u)
	}
	if len(all) == 0 {
		err = errors.New("standard input is not a line OLD NEW REF for each ref, as git gives it to this hook")
	}
	return all, err
}

func refused(code, format string, args ...any) error {
	return &verdict.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
