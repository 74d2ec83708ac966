package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// gitlabOf writes a verdict and reads it again. A test of lab/conformance/reports validates it by GitLab's schema.
func gitlabOf(t *testing.T, v *verdict.Verdict) []gitlabIssue {
	t.Helper()
	var b bytes.Buffer
	if err := writeGitLab(&b, v); err != nil {
		t.Fatal(err)
	}
	wantSafe(t, b.String(), false)
	wantNoCommand(t, b.String())
	if !strings.HasPrefix(b.String(), "[") || !utf8.Valid(b.Bytes()) {
		t.Fatalf("not an array in UTF-8 without a byte order mark: %.20q", b.String())
	}
	var issues []gitlabIssue
	if err := json.Unmarshal(b.Bytes(), &issues); err != nil {
		t.Fatal(err)
	}
	if len(newView(v).undecided)+len(v.Violations) > len(issues) || v.Verdict != verdict.Pass && len(issues) == 0 {
		t.Errorf("%d entries for %d errors and %d violations", len(issues), len(v.Errors), len(v.Violations))
	}
	seen := map[string]bool{}
	for i, issue := range issues {
		if seen[issue.Fingerprint] {
			t.Errorf("the fingerprint %q is there twice: GitLab shows one of them", issue.Fingerprint)
		}
		seen[issue.Fingerprint] = true
		if issue.Description == "" || verdict.Visible(issue.Description) != issue.Description {
			t.Errorf("the description %q", issue.Description)
		}
		if blocks := i < len(newView(v).undecided); blocks && (issue.Severity != "blocker" ||
			!strings.Contains(issue.Description, "could not decide")) {
			t.Errorf("an error is %+v", issue)
		}
	}
	return issues
}

func TestGitLabOfFixtures(t *testing.T) {
	for name, f := range fixtures(t) {
		issues := gitlabOf(t, f.verdict)
		if name == "pass" && len(issues) > 0 {
			t.Errorf("a PASS is %+v", issues)
		}
	}
}

func FuzzGitLab(f *testing.F) {
	f.Add("a.tf", "x BAD", "BAD", "<script>alert(1)</script> `code` [x](y)")
	f.Add("::error::\n", "##[x]", "##[", "\u202e\x1b[31m")
	f.Add("\xff\\", "\x00", "\x00", " ")
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string) {
		skipLong(t, 300, file, excerpt, pattern, text)
		gitlabOf(t, hostileVerdict(file, excerpt, pattern, text))
	})
}

func TestGitLabEntries(t *testing.T) {
	v := newFixture()
	v.Rules = nil
	for _, severity := range []string{"low", "medium", "high", "critical", "", "low"} {
		r := verdict.Rule{ID: "R" + severity, Type: "boundary", Title: fmt.Sprint("T", len(v.Rules)),
			Severity: severity}
		v.Rules = append(v.Rules, r)
		v.Violations = append(v.Violations, found(r, `a b/`+severity+`\.tf`, "x\n\tBAD", "BAD"))
	}
	v.Errors = []verdict.Error{
		{Code: code.Read, File: `a\xff.tf`, Message: "m"}, {Code: code.Read, File: ".",
			Message: "n"}, {Code: code.Usage},
	}
	v.Decide()
	issues := gitlabOf(t, v)
	var got []string
	for _, i := range issues {
		got = append(got, fmt.Sprintf("%s %s %d %s", i.CheckName, i.Location.Path, i.Location.Lines.Begin, i.Severity))
	}
	if diff := cmp.Diff([]string{
		`E_READ a\xff.tf 1 blocker`, "E_READ verdict.json 1 blocker", "E_USAGE verdict.json 1 blocker",
		`Rlow a b/low\.tf 2 minor`, `Rmedium a b/medium\.tf 2 major`, `Rhigh a b/high\.tf 2 critical`,
		`Rcritical a b/critical\.tf 2 blocker`, `R a b/\.tf 2 major`, `Rlow a b/low\.tf 2 minor`,
	}, got); diff != "" {
		t.Error(diff)
	}
	// Two rules of one id: fingerprints do not contain the title.
	if want := issues[3].Fingerprint + "-2"; issues[8].Fingerprint != want ||
		issues[3].Fingerprint != v.Violations[0].Fingerprint {
		t.Errorf("%q, want %q", issues[8].Fingerprint, want)
	}
}
