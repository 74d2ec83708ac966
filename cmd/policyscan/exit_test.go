package main

import (
	"testing"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// TestExitStatus: 0 only for a PASS; a violation is 1, whatever else went wrong.
func TestExitStatus(t *testing.T) {
	one, bad := []verdict.Violation{{RuleID: "R"}}, []verdict.Error{{Code: code.Read}}
	for _, c := range []struct {
		rules      int
		violations []verdict.Violation
		errors     []verdict.Error
		want       int
	}{
		{1, nil, nil, exitPass},
		{0, nil, nil, exitUndecided},
		{1, one, nil, exitViolation},
		{1, nil, bad, exitUndecided},
		{1, one, bad, exitViolation},
		{0, one, bad, exitViolation},
	} {
		v := verdict.New("1.0")
		v.Rules, v.Violations, v.Errors = make([]verdict.Rule, c.rules), c.violations, c.errors
		v.Decide()
		if got := exitStatus(v); got != c.want {
			t.Errorf("%+v: status %d", c, got)
		}
	}
	if got := exitStatus(verdict.New("1.0")); got != exitUndecided {
		t.Errorf("a new verdict: status %d", got)
	}
}
