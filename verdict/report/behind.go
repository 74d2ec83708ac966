package report

import (
	"fmt"

	"github.com/policyscan/policyscan/verdict"
)

// behindNote says that the base of a change has commits that the head does not contain; "" if it has none.
func behindNote(v *verdict.Verdict) string {
	n := v.Scope.Behind
	switch {
	case v.Scope.Mode != "diff" || n == 0:
		return ""
	case n < 0:
		return fmt.Sprintf("this clone does not show whether the head contains all commits of %s", v.Scope.Base)
	case n == 1:
		return fmt.Sprintf("1 commit of %s is not in the head: what both do together was not checked", v.Scope.Base)
	}
	return fmt.Sprintf("%d commits of %s are not in the head: what both do together was not checked",
		n, v.Scope.Base)
}
