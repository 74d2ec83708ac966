package past

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// dateOf is the date of a commit, as in a verdict; "" without one.
func dateOf(c *repo.Commit) string {
	if c.Date.IsZero() {
		return ""
	}
	return c.Date.Format(time.RFC3339)
}

func (b *branch) allowsEmpty() bool { return slices.Contains(b.Run.Allow, check.AllowEmpty) }

// since returns how many commits of a chain, newest first, are judged: those up to the oldest one dated on or after
// the day, whatever the dates in between, or those that the named commit does not have.
func (b *branch) since(chain []*repo.Commit) (int, error) {
	b.row.Since = b.Since
	if b.Since == "" {
		b.row.Since = b.tip.Date.AddDate(-1, 0, 0).Format(time.DateOnly)
		if b.tip.Date.IsZero() {
			b.row.Since = "1970-01-01"
		}
	}
	if day, err := time.Parse(time.DateOnly, b.row.Since); err == nil {
		for i, c := range slices.Backward(chain) {
			if !c.Date.Before(day) {
				return i + 1, nil
			}
		}
		return 0, nil
	}
	from, err := b.repo.Commit(b.Since)
	if err != nil {
		return 0, fmt.Errorf("--since is neither a day, such as 2027-03-01, nor a commit: %w", err)
	}
	var failed error
	n := sort.Search(len(chain), func(i int) bool {
		if failed != nil {
			return true
		}
		c, err := b.repo.Relate(from, chain[i].Hash)
		if err != nil && !errors.Is(err, repo.ErrNoMergeBase) {
			failed = err
		}
		return err == nil && slices.Contains(c.MergeBases, chain[i].Hash)
	})
	if failed == nil && n == len(chain) && chain[n-1].Ends {
		failed = &repo.ShallowError{Commit: chain[n-1].Hash}
	}
	if failed == nil && n == len(chain) {
		failed = fmt.Errorf("--since: the branch does not come from %q; name a commit that it contains", b.Since)
	}
	return n, failed
}
