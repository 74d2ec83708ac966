package run

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A commitRange is the two commits that a run compares, by name, and how they were chosen.
type commitRange struct {
	repo *repo.Repository
	env  func(name string) string
	ci   *ciSystem // nil without a known one

	strategy string    // of verdict.Scope
	base     string    // "" without one
	tip      repo.Hash // of base, if already known
	head     string
	replaces bool     // of a recorded scope
	notes    []string // for the report
	// stale is why the base may be older than its branch; "" if it is not.
	stale string
	// required are the commits of the event. A head without them does not contain the change.
	required []string
	push     *push // nil if the event is no push
}

const (
	auto      = "auto"       // the base that is chosen from the environment
	mergeBase = "merge-base" // the strategy for a base that the user names
	// PreReceive is the strategy of a push to a server.
	PreReceive = "pre-receive"
)

// chooseCommits returns the commits for a base and an optional head that the user names. For the base "auto" they come
// from the variables of the CI system; a named head replaces theirs. The innermost system wins: pre-commit may run in
// a job of GitHub's.
func chooseCommits(r *repo.Repository, env func(name string) string, base, head string) (*commitRange, error) {
	c := &commitRange{repo: r, env: env, strategy: mergeBase, base: base, head: cmp.Or(head, "HEAD")}
	if base != auto {
		return c, nil
	}
	c.base, c.ci = "", currentCI(env)
	var err error
	switch {
	case preCommitCompares(env):
		err = c.preCommit(head)
	case c.ci == nil:
		err = errors.New("unknown CI environment; name the target branch: " + nameBase("origin", "main"))
	case c.ci.choose != nil:
		err = c.ci.choose(c, head)
	default:
		err = c.fromVariables(head)
	}
	if err != nil {
		return nil, fmt.Errorf("--diff-base auto: %w", err)
	}
	if head != "" {
		c.required = nil // the named head decides what is checked
	}
	return c, nil
}

// inPreCommit reports whether base means a run of pre-commit without commits to compare: a commit hook, or a run on
// all files.
func inPreCommit(env func(name string) string, base string) bool {
	return base == auto && env("PRE_COMMIT") == "1" && !preCommitCompares(env)
}

// preCommitCompares reports whether pre-commit names commits to compare.
func preCommitCompares(env func(name string) string) bool {
	return env("PRE_COMMIT_FROM_REF") != "" || env("PRE_COMMIT_TO_REF") != "" || env("PRE_COMMIT_LOCAL_BRANCH") != ""
}

// prow reads the variables of a Prow job for pull requests.
func (c *commitRange) prow(string) error {
	c.strategy, c.base = "prow", c.env("PULL_BASE_SHA")
	// PULL_REFS is the base, then each pull request that was merged into it: main:SHA,12:SHA.
	_, pulls, _ := strings.Cut(c.env("PULL_REFS"), ",")
	for pull := range strings.SplitSeq(pulls, ",") {
		if parts := strings.Split(pull, ":"); len(parts) > 1 {
			c.required = append(c.required, parts[1])
		}
	}
	if sha := c.env("PULL_PULL_SHA"); len(c.required) == 0 && sha != "" {
		c.required = []string{sha}
	}
	if len(c.required) == 0 {
		return fmt.Errorf("the job of type %q has no pull request; scan everything, without --diff-base",
			c.env("JOB_TYPE"))
	}
	return nil
}

// mergedBy reports whether HEAD is the commit that a CI system made for this run, merging the source into its target.
// Its first parent is the tested target, whatever the event says. A merge commit of the change itself differs: its
// first parent is part of the change.
func (c *commitRange) mergedBy(made, source string) bool {
	head, err := c.repo.Commit("HEAD")
	if err != nil || source == "" || head.String() != made {
		return false
	}
	parents, err := c.repo.Parents(head)
	return err == nil && len(parents) == 2 && parents[1].String() == source
}

// A comparison is the commits of a range, related to each other.
type comparison struct {
	// The bundles of base and head are enforced; with a zero Base, the head's alone.
	commits repo.Comparison
	whole   bool     // all files of the head are checked, not only the ones that differ from a merge base
	notes   []string // for the report
	// stale is why the base may be older than its branch, and what to do; "" if it is not.
	stale string
}

// compare relates the chosen commits. It fails if this clone does not have them, or cannot relate them.
func (c *commitRange) compare() (compared comparison, err error) {
	for _, sha := range c.required {
		if err := c.checkContains(sha); err != nil {
			return compared, err
		}
	}
	switch {
	case c.push != nil:
		compared, err = c.comparePushed()
	case c.strategy == verdict.Uncommitted:
		compared.commits, err = c.compareMerging()
	case !c.tip.IsZero():
		compared.commits, err = c.relate(c.tip)
		compared.commits.Replaces, compared.notes = c.replaces, c.notes
	default:
		compared.commits, err = c.repo.Compare(c.base, c.head)
		var shallow *repo.ShallowError
		if errors.As(err, &shallow) && c.ci != nil && strings.HasSuffix(c.strategy, "-merge-commit") {
			err = &verdict.Error{Code: code.Shallow, Message: fmt.Sprintf("%v; fetch two commits (%s)", err, c.ci.two)}
		}
	}
	named := c.strategy == mergeBase || c.strategy == verdict.Uncommitted
	if compared.stale = c.stale; err == nil && named && c.tip.IsZero() {
		compared.stale, err = behindRemote(c.repo, c.base)
	}
	return compared, err
}

// compareMerging compares the base with the commit that HEAD and a merge in progress would make.
func (c *commitRange) compareMerging() (compared repo.Comparison, err error) {
	base, err := c.repo.Commit(c.base)
	if err != nil {
		return compared, err
	}
	head, err := c.repo.Commit(c.head)
	if err != nil {
		return compared, err
	}
	merged, err := c.repo.Merging(head)
	if err != nil {
		return compared, err
	}
	return c.repo.Relate(base, head, merged...)
}

func (c *commitRange) relate(base repo.Hash) (repo.Comparison, error) {
	head, err := c.repo.Commit(c.head)
	if err != nil {
		return repo.Comparison{Base: base}, err
	}
	return c.repo.Relate(base, head)
}

// checkContains checks that the head contains a commit of the event.
func (c *commitRange) checkContains(sha string) error {
	const fix = "check out what the event is about, or name it with --head"
	wanted, err := c.repo.Commit(sha)
	if errors.Is(err, repo.ErrUnknown) {
		return missingCommit("this clone does not have commit %s, which the event is about; %s", sha, fix)
	}
	if err != nil {
		return err
	}
	within, err := c.repo.Compare(sha, c.head)
	if err != nil && !errors.Is(err, repo.ErrNoMergeBase) {
		return err
	}
	if err != nil || within.MergeBases[0] != wanted {
		return missingCommit("HEAD does not contain the event's commit %s, so the change would not be scanned; %s",
			repo.Short(wanted), fix)
	}
	return nil
}

// missingCommit is the error for a commit that the run needs and this clone does not have.
func missingCommit(format string, args ...any) error {
	return &verdict.Error{Code: code.BaseMissing, Message: "--diff-base auto: " + fmt.Sprintf(format, args...)}
}

// behindRemote returns a note if a base is a local branch that lacks commits of its remote-tracking branch; else "".
func behindRemote(r *repo.Repository, base string) (string, error) {
	branch := strings.TrimPrefix(strings.TrimPrefix(base, "refs/"), "heads/")
	local, err := r.Ref("refs/heads/" + branch)
	if err != nil {
		return "", nil // not a local branch
	}
	if named, err := r.Commit(base); err != nil || named != local {
		return "", nil // another ref of that name
	}
	for _, remote := range r.Remotes() {
		tip, err := r.Ref(tracking(remote, branch))
		if isNoRef(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		lacks := "cannot be compared with"
		switch compared, err := r.Relate(tip, local); {
		case err == nil && compared.Behind == 0:
			continue
		case err == nil && compared.Behind > 0:
			lacks = "lacks " + pluralize(compared.Behind, "commit") + " of"
		}
		return fmt.Sprintf("the local branch %[1]s %[2]s %[3]s/%[1]s; compare with that: --diff-base %[3]s/%[1]s",
			verdict.Visible(branch), lacks, remote), nil
	}
	return "", nil
}

func isNoRef(err error) bool {
	return errors.Is(err, repo.ErrUnknown) || errors.Is(err, repo.ErrSyntax)
}

func tracking(remote, branch string) string { return "refs/remotes/" + remote + "/" + branch }

// fetched returns the tip of a branch of origin, or why it is unknown. A runner uses a directory for several pipelines
// and fetches only the refs of each, so a remote-tracking branch counts only if FETCH_HEAD has it at that commit,
// fetched from url unless that is "".
func (c *commitRange) fetched(branch, url string) (tip repo.Hash, why string, err error) {
	full := tracking("origin", branch)
	tip, err = c.repo.Ref(full)
	if isNoRef(err) {
		return tip, "this clone does not have it (" + full + ")", nil
	}
	if err != nil {
		return tip, "", err
	}
	all, err := c.repo.Fetched()
	if err != nil {
		return tip, fmt.Sprintf("whether this job has fetched it is unknown (%v)", err), nil
	}
	named := false
	for _, f := range all {
		switch {
		case f.Ref != "refs/heads/"+branch:
		case url != "" && remoteURL(f.URL) != remoteURL(url):
			const from = "the last git fetch took %s from a different project than the merge request's (%s)"
			return tip, fmt.Sprintf(from, branch, url), nil
		case f.Commit != tip:
			return tip, fmt.Sprintf("the last git fetch found it at %s, but %s is at %s",
				repo.Short(f.Commit), full, repo.Short(tip)), nil
		default:
			named = true
		}
	}
	if !named {
		return tip, fmt.Sprintf("%s may be from an earlier pipeline: the last git fetch did not fetch it", full), nil
	}
	return tip, "", nil
}

// remoteURL returns a URL as in FETCH_HEAD: without credentials, a slash or .git at its end.
func remoteURL(url string) string {
	if scheme, rest, ok := strings.Cut(url, "://"); ok {
		host, path, _ := strings.Cut(rest, "/")
		url = scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
	}
	return strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
}
