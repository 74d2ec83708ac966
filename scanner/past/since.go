package past

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// find finds the tip, and the changes since the given day or commit.
func (b *branch) find() error {
	if b.row.Branch = b.Branch; b.Branch == "" {
		b.row.Branch = "HEAD"
		if _, err := b.repo.Ref("refs/remotes/origin/HEAD"); err == nil && b.repo.WorkTree != "" {
			b.row.Branch = "origin/HEAD" // any branch may be checked out
		}
	}
	tip, err := b.repo.Commit(b.row.Branch)
	if err != nil {
		return err
	}
	chain, broken := b.chain(tip)
	if len(chain) == 0 {
		return broken
	}
	b.tip = chain[0]
	b.row.Tip, b.row.TipDate = b.tip.Hash.String(), dateOf(b.tip)
	n, err := b.since(chain)
	if err != nil {
		return err
	}
	last := chain[len(chain)-1]
	if n == len(chain) && (broken != nil || last.Ends) { // the parent of the last one is not in this clone
		n--
		if broken == nil {
			broken = &verdict.Error{Code: code.Shallow, Message: fmt.Sprintf("this clone is shallow, so changes "+
				"could be looked at only since %s; run git fetch --unshallow", dateOf(last))}
		}
		b.row.Errors = run.Errors(tree.RepoError(broken))
	} else if n == 0 && !slices.Contains(b.Run.Allow, check.AllowEmpty) {
		return &verdict.Error{Code: code.Empty, Message: fmt.Sprintf("the branch has no change since %s; "+
			"name an earlier day or commit with --since, or allow it with --allow empty", b.row.Since)}
	}
	for i := n - 1; i >= 0; i-- {
		s := step{commit: chain[i]}
		if i+1 < len(chain) {
			s.parent = chain[i+1]
		}
		b.steps = append(b.steps, s)
	}
	if n > 0 {
		b.row.First = chain[n-1].Hash.String()
	}
	return nil
}

// chain returns the first-parent chain from a commit on, newest first, and the error that ends it too early.
func (b *branch) chain(h repo.Hash) (all []*repo.Commit, err error) {
	for {
		c, err := b.repo.Describe(h)
		if err != nil {
			return all, err
		}
		if all = append(all, c); len(c.Parents) == 0 || c.Ends {
			return all, nil
		}
		h = c.Parents[0]
	}
}

// since returns how many commits of a chain, newest first, are judged: up to the oldest one dated on or after the day,
// whatever the dates in between, or all that the named commit does not have.
func (b *branch) since(chain []*repo.Commit) (int, error) {
	b.row.Since = b.Since
	if b.Since == "" {
		if b.row.Since = b.tip.Date.AddDate(-1, 0, 0).Format(time.DateOnly); b.tip.Date.IsZero() {
			b.row.Since = "1970-01-01"
		}
	}
	if day, err := time.Parse(time.DateOnly, b.row.Since); err == nil {
		n := len(chain)
		for n > 0 && chain[n-1].Date.Before(day) {
			n--
		}
		return n, nil
	}
	from, err := b.repo.Commit(b.Since)
	if err != nil {
		return 0, fmt.Errorf("--since is neither a day, such as 2027-03-01, nor a commit: %w", err)
	}
	n := sort.Search(len(chain), func(i int) bool {
		c, failed := b.repo.Relate(from, chain[i].Hash)
		if failed != nil && !errors.Is(failed, repo.ErrNoMergeBase) {
			err = failed
		}
		return slices.Contains(c.MergeBases, chain[i].Hash)
	})
	if err == nil && n == len(chain) {
		err = fmt.Errorf("--since: this clone has no commit of the branch that is in %q; name one that is", b.Since)
	}
	return n, err
}

// dateOf is the date of a commit, as in a verdict.
func dateOf(c *repo.Commit) string {
	if c.Date.IsZero() {
		return ""
	}
	return c.Date.Format(time.RFC3339)
}
