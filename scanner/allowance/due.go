package allowance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/run"
)

// An Expiring is an entry that ends.
type Expiring struct {
	Allowance rules.Allowance
	Bundle    string // for display
	Days      int    // from the given day to its last one; negative: it has ended
}

const secondsOfDay = 24 * 60 * 60

// Due returns the entries of loaded bundles that end within a number of days from a day, or have ended: the first to
// end first.
func Due(all run.RuleSources, day string, days int) ([]Expiring, error) {
	today, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil, err
	}
	var due []Expiring
	for i := range all {
		for _, a := range all[i].Bundle.Allowances {
			if a.Until == "" || a.AtMost == 0 {
				continue
			}
			until, err := time.Parse(time.DateOnly, a.Until)
			if err != nil {
				return nil, err
			}
			if left := int((until.Unix() - today.Unix()) / secondsOfDay); left <= days {
				due = append(due, Expiring{a, all[i].Name, left})
			}
		}
	}
	slices.SortStableFunc(due, func(a, b Expiring) int {
		x, y := &a.Allowance, &b.Allowance
		return cmp.Or(cmp.Compare(x.Until, y.Until), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.File, y.File))
	})
	return due, nil
}

// ParseDays reads a number of days such as 30d, or of weeks such as 4w.
func ParseDays(text string) (int, error) {
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.Atoi(number); err == nil && 0 <= n && n <= 100_000 && number[0] != '+' {
				return n * days, nil
			}
		}
	}
	return 0, fmt.Errorf("--due is %q; write a number of days or weeks, such as 30d or 4w", text)
}

// When describes when the entry ends.
func (e *Expiring) When() string {
	switch {
	case e.Days < -1:
		return fmt.Sprintf("ended %d days ago", -e.Days)
	case e.Days == -1:
		return "ended yesterday"
	case e.Days == 0:
		return "ends today"
	case e.Days == 1:
		return "ends tomorrow"
	}
	return fmt.Sprintf("ends in %d days", e.Days)
}
