package run

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Replay adds to o the options of the run that wrote a verdict: of a commit (--rev), or of a change between commits.
// Each option that changes a verdict is derived from its traces. policies are the run's values of --policy, of which a
// verdict has only the hashes. It fails for a run that needs more than commits and bundles.
func Replay(o Options, v *verdict.Verdict, policies []string) (Options, error) {
	s, isChange := &v.Scope, v.Scope.Mode == "diff"
	switch {
	case (!isChange || s.Strategy == verdict.Uncommitted) && s.Strategy != strategyRev:
		scope := strings.TrimSuffix(s.Mode+", "+s.Strategy, ", ")
		return o, fmt.Errorf("its scope (%s) is more than recorded commits, which --rev and --diff-base read", scope)
	case v.Partial:
		return o, errors.New("it is partial, and does not record what narrowed its run (--rule, --exclude, --as-of)")
	case s.HeadCommit == "" || isChange && s.BaseCommit == "":
		return o, errors.New("the run ended before it knew its commits")
	case isChange && !namesBase(s.Strategy, s.Base):
		return o, fmt.Errorf("no run of the strategy %s names a base %s", quoted(s.Strategy), quoted(s.Base))
	case isChange:
		o.Base, o.Recorded, o.EachCommit = s.Base, s, s.EachCommit
	default:
		o.Rev = s.HeadCommit
	}
	o.Getenv = func(string) string { return "" }
	o.Allow, o.Policies = v.Allowed, slices.Clone(policies)
	for _, e := range v.Errors {
		o.RequireGoverned = o.RequireGoverned || e.Code == code.NoGoverned
		o.RequireMerged = o.RequireMerged || e.Code == code.Behind
	}
	discovers := len(policies) == 0
	for _, p := range v.Policy {
		switch {
		case p.Directory != "": // the others name it
		case discovers && (p.From == fromDisk || p.From == fromBuiltin):
			return o, fmt.Errorf("the commits lack the bundle %.12s; name each --policy of the run, in order", p.SHA256)
		case p.From == fromCommit && isChange:
			o.PolicyRef = p.Commit
		case p.From == fromCommit: // of a fleet (--own-policy), after the others
			discovers = true
		}
	}
	if discovers {
		o.Policies = append(o.Policies, "")
	}
	var err error
	if v.AsOf != "" {
		o.Now, err = time.Parse(time.DateOnly, v.AsOf)
	}
	return o, err
}

// namesBase reports whether a strategy records this name of a base, as in docs/scopes.md.
func namesBase(strategy, base string) bool {
	system, _, _ := strings.Cut(strategy, "-")
	if slices.ContainsFunc(ciSystems(), func(ci ciSystem) bool { return ci.name == system }) {
		strategy = "ci" + strings.TrimPrefix(strategy, system)
	}
	return regexp.MustCompile(`^(?:(?:merge-base|pre-commit) .+|ci-merge-commit HEAD\^1|ci [0-9a-f]{4,64}|` +
		`ci-(?:pull-request|merge-group|merge-request|push) (?:refs/remotes/origin/.+|[0-9a-f]{4,64}))$`).
		MatchString(strategy + " " + base)
}

// recordedCommits returns the commits of a recorded scope, if the name of the base still fits.
func recordedCommits(r *repo.Repository, s *verdict.Scope) (*commitRange, error) {
	c := &commitRange{repo: r, strategy: s.Strategy, base: s.Base, head: s.HeadCommit}
	c.notes = []string{"base: " + s.Base + ", " + s.BaseCommit}
	name, fixed := s.Base, len(s.Base) >= 4 && strings.Trim(s.Base, "0123456789abcdef") == ""
	if strings.HasPrefix(name, "HEAD~") || strings.HasPrefix(name, "HEAD^") {
		name, fixed = s.HeadCommit+name[len("HEAD"):], true
	} else if s.Strategy != mergeBase {
		c.notes = append(c.notes, s.Strategy+" chose them, which cannot be checked here")
	}
	// A push has a hash as base, except of a new branch.
	c.replaces = (strings.HasSuffix(s.Strategy, "-push") || s.Strategy == "pre-commit") && fixed &&
		!slices.Contains(s.MergeBases, s.BaseCommit)
	since, err := r.Compare(name, s.BaseCommit)
	switch c.tip = since.Head; {
	case err != nil && !errors.Is(err, repo.ErrUnknown) && !errors.Is(err, repo.ErrNoMergeBase):
		return nil, tree.RepoError(err)
	case err != nil || since.MergeBases[0] != c.tip || since.Base != c.tip && fixed:
		return nil, fmt.Errorf("the base %s names neither %s in this clone nor a commit that contains it; "+
			"fetch both, or create the branch at that commit", quoted(s.Base), quoted(s.BaseCommit))
	case since.Base != c.tip:
		c.notes = append(c.notes, name+" is "+repo.Short(since.Base)+" by now")
	}
	return c, nil
}
