package report

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// A problemMatcher is how GitHub's runner finds annotations in a step's log: it tries each
// matcher's one expression on each line. The expressions are JavaScript's; ours mean the
// same in Go.
// https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md
type problemMatcher struct {
	Owner   string
	Pattern []struct {
		Regexp                            string
		File, Line, Column, Message, Code int
	}
}

func problemMatchers(t *testing.T) []problemMatcher {
	t.Helper()
	text, err := os.ReadFile("../../.github/policyscan-matcher.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ ProblemMatcher []problemMatcher }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, m := range file.ProblemMatcher {
		if len(m.Pattern) != 1 {
			t.Fatalf("%s has %d patterns", m.Owner, len(m.Pattern))
		}
	}
	if len(file.ProblemMatcher) != 2 {
		t.Fatalf("%d matchers", len(file.ProblemMatcher))
	}
	return file.ProblemMatcher
}

// problems are what the matchers find in a log, each as "file|line|column|message|code".
func problems(t *testing.T, log string) []string {
	t.Helper()
	var all []string
	for line := range strings.SplitSeq(log, "\n") {
		for _, m := range problemMatchers(t) {
			p := m.Pattern[0]
			found := regexp.MustCompile(p.Regexp).FindStringSubmatch(line)
			if found == nil {
				continue
			}
			part := func(group int) string {
				if group == 0 {
					return ""
				}
				return found[group]
			}
			all = append(all, strings.Join([]string{part(p.File), part(p.Line), part(p.Column), part(p.Message), part(p.Code)}, "|"))
			break
		}
	}
	return all
}

// TestProblemMatcher: the matchers find every violation and error in the text report, with
// its file, line, column, message and code, and nothing else.
func TestProblemMatcher(t *testing.T) {
	for name, f := range fixtures() {
		for _, kind := range []string{"txt", "actions.txt", "narrow.txt"} {
			// The runner's reader breaks what is a command before a matcher sees the line.
			inert := func(s string) string { return s }
			if kind == "actions.txt" {
				inert = verdict.Defuse
			}
			var want []string
			for i := range f.verdict.Violations {
				v := &f.verdict.Violations[i]
				if v.File == "" {
					continue // there is nothing to open
				}
				// The place begins the line; the rest is within it.
				file := inert(verdict.Visible(f.options.Prefix + v.File))
				rest := func(s string) string { return strings.TrimPrefix(inert("x"+s), "x") }
				want = append(want, fmt.Sprintf("%s|%d|%d|%s|%s", file, v.Evidence.Line, v.Evidence.Column, rest(flow(v.Reason)), rest(verdict.Visible(v.RuleID))))
			}
			for _, e := range f.verdict.Errors {
				file := ""
				if e.File != "" {
					file = inert(verdict.Visible(f.options.Prefix + e.File))
				}
				want = append(want, fmt.Sprintf("%s|||%s|%s", file, strings.TrimPrefix(inert("x"+flow(e.Message)), "x"), e.Code))
			}
			if got := problems(t, expected(t, name, kind)); !slices.Equal(got, want) {
				t.Errorf("%s, %s: found\n%s\nwant\n%s", name, kind, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// TestProblemMatcherIsNotForged: a line of the tree that looks like one of the report's is
// shown behind a number and a bar, and is not taken for one.
func TestProblemMatcherIsNotForged(t *testing.T) {
	const forged = "main.tf:1:1: all is lost [NET-1]"
	for _, line := range []int64{1, 99999, 100000, 123456789} {
		v := verdict.New("1.0")
		v.Rules = []verdict.Rule{{ID: "R", Title: "T", Remediation: forged + "\n" + forged, DocsURL: "error: x [E_READ]", Owner: forged}}
		for _, excerpt := range []string{forged, "error: x [E_READ]", ":1:1: x [E_READ]", "1:1: x [R]"} {
			v.Violations = append(v.Violations, verdict.Violation{RuleID: "R", File: "7", Reason: "r", Evidence: verdict.Evidence{
				Pattern: excerpt, Excerpt: excerpt, Line: line, Column: 1, UTF16Column: 1, Encoding: "utf-8", Occurrences: 1,
			}})
		}
		v.Decide()
		var b strings.Builder
		if err := WriteText(&b, v, TextOptions{Notes: []string{forged + "."}}); err != nil {
			t.Fatal(err)
		}
		want := slices.Repeat([]string{fmt.Sprintf("7|%d|1|r|R", line)}, len(v.Violations))
		if got := problems(t, b.String()); !slices.Equal(got, want) {
			t.Errorf("found\n%s\nwant\n%s\nin\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), b.String())
		}
	}
	// Names that begin with digits are names all the same.
	for line, want := range map[string]string{
		"7:1:2: r [R]": "7|1|2|r|R", "7 a:1:2: r [R]": "7 a|1|2|r|R", "77x.tf:1:2: r [R]": "77x.tf|1|2|r|R",
		"007: r [E_READ]": "007|||r|E_READ", "7 | 8: r [E_READ]": "", "7 | x:1:2: r [R]": "", " x:1:2: r [R]": "",
	} {
		if got := strings.Join(problems(t, line), " "); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}
