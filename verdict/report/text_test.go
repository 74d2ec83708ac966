package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

func textOf(t *testing.T, v *verdict.Verdict, o TextOptions) string {
	t.Helper()
	var b strings.Builder
	if err := WriteText(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTextWidth: what a rule says is wrapped to the terminal, each line under the first.
func TestTextWidth(t *testing.T) {
	v := newFixture()
	v.Rules[0].Remediation = strings.Repeat("seven words that say what to do ", 20)
	v.Violations = []verdict.Violation{found(v.Rules[0], "f", "BAD", "BAD")}
	v.Decide()
	said, most := "", 0
	for line := range strings.Lines(textOf(t, v, TextOptions{Width: 60})) {
		line = strings.TrimSuffix(line, "\n")
		if words, ok := strings.CutPrefix(strings.Replace(line, "= fix:", "      ", 1), strings.Repeat(" ", len("      = fix: "))); ok {
			said += words + " "
			most = max(most, len(line))
		}
	}
	if said != v.Rules[0].Remediation || most > 60 || most < 55 {
		t.Errorf("lines of up to %d columns say %q", most, said)
	}
}

// TestTextNotes: the report says that nothing was looked at, and names the first of the files
// that were not scanned and of the rules that select nothing.
func TestTextNotes(t *testing.T) {
	const (
		ungoverned = "note: no file is covered by a rule: nothing was checked"
		empty      = "note: there was nothing to scan"
	)
	unused := func(n int) func(*verdict.Verdict) {
		return func(v *verdict.Verdict) {
			for i := range n {
				v.Rules = append(v.Rules, verdict.Rule{ID: fmt.Sprint("R", i)})
			}
		}
	}
	left := func(n int) func(*verdict.Verdict) {
		return func(v *verdict.Verdict) {
			v.Coverage.NotScanned = slices.Repeat([]verdict.Omission{{File: "f", Reason: "limit"}}, n)
		}
	}
	skipped := slices.Repeat([]string{"note: f: not scanned: limit"}, 20)
	for name, c := range map[string]struct {
		change func(*verdict.Verdict)
		want   []string
	}{
		"governed":             {func(*verdict.Verdict) {}, nil},
		"ungoverned":           {uncover, []string{ungoverned}},
		"empty":                {func(v *verdict.Verdict) { v.Coverage = verdict.Coverage{} }, []string{empty}},
		"empty, and undecided": {func(v *verdict.Verdict) { v.Coverage, v.Errors = verdict.Coverage{}, make([]verdict.Error, 1) }, nil},
		"one unused":           {unused(1), []string{"note: 1 of 3 rules selects no file: R0"}},
		"five unused":          {unused(5), []string{"note: 5 of 7 rules select no file: R0, R1, R2, R3, R4"}},
		"six unused":           {unused(6), []string{"note: 6 of 8 rules select no file: R0, R1, R2, R3, R4, …"}},
		"twenty not scanned":   {left(20), skipped},
		"more not scanned":     {left(23), append(skipped, "note: and 3 files more not scanned")},
	} {
		v := newFixture()
		c.change(v)
		v.Decide()
		var got []string
		for line := range strings.Lines(textOf(t, v, TextOptions{})) {
			if strings.HasPrefix(line, "note: ") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestTextScope: the report says what a change was compared with, and nothing where there was
// nothing to compare with.
func TestTextScope(t *testing.T) {
	diff := changed()
	two, found := diff, diff
	two.MergeBases = append(two.MergeBases, strings.Repeat("f", 40))
	found.Strategy = "github-merge-commit"
	staged := verdict.Scope{Mode: "staged", Base: "HEAD", BaseCommit: diff.BaseCommit, Strategy: "index"}
	for _, c := range []struct {
		scope verdict.Scope
		want  string
	}{
		{diff, "5 files changed since main (merge base 0123456), 2 covered"},
		{two, "5 files changed since main (merge bases 0123456, fffffff), 2 covered"},
		{found, "5 files changed since main (merge base 0123456; chosen as github-merge-commit), 2 covered"},
		{staged, "5 files staged since HEAD (0123456), 2 covered"},
		{verdict.Scope{Mode: "staged", Strategy: "index"}, "5 files staged for the first commit, 2 covered"},
		{verdict.Scope{Mode: "full", HeadCommit: diff.HeadCommit, Strategy: "github-push"}, "5 files of the whole head (0123456; chosen as github-push), 2 covered"},
		{verdict.Scope{Mode: "full"}, ""},
		{verdict.Scope{Mode: "tracked"}, ""},
		{verdict.Scope{Mode: "diff", Base: "main"}, ""}, // no such base
		{verdict.Scope{Mode: "staged"}, ""},             // no such index
	} {
		v := newFixture()
		v.Scope = c.scope
		for deleted, more := range []string{"", ", 1 deleted"} {
			v.Coverage.Deleted = deleted
			got := ""
			for line := range strings.Lines(textOf(t, v, TextOptions{})) {
				if scope, ok := strings.CutPrefix(strings.TrimSpace(line), "scope: "); ok {
					got = scope
				}
			}
			want := c.want
			if want != "" {
				want += more
			}
			if got != want {
				t.Errorf("%+v: %q, want %q", c.scope, got, want)
			}
		}
	}
}
