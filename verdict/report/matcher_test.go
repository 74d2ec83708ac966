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
	var exprs []*regexp.Regexp
	matchers := problemMatchers(t)
	for _, m := range matchers {
		exprs = append(exprs, regexp.MustCompile(m.Pattern[0].Regexp))
	}
	var all []string
	for line := range strings.SplitSeq(log, "\n") {
		for i, m := range matchers {
			found, p := exprs[i].FindStringSubmatch(line), m.Pattern[0]
			if found == nil {
				continue
			}
			found[0] = "" // a part without a group
			all = append(all, strings.Join([]string{
				found[p.File], found[p.Line], found[p.Column], found[p.Message], found[p.Code],
			}, "|"))
			break
		}
	}
	return all
}

// TestProblemMatcher: the matchers find every place and error in the text report, with its file, line, column and
// code, and with what is there as the message; and nothing else. A commit's lines need not be in the head.
func TestProblemMatcher(t *testing.T) {
	for name, f := range fixtures(t) {
		for _, kind := range []string{"txt", "actions.txt", "narrow.txt"} {
			// The runner's reader breaks what is a command before a matcher sees the line.
			inert := func(s string) string { return s }
			if kind == "actions.txt" {
				inert = verdict.Defuse
			}
			got := problems(t, expected(t, name, kind))
			shown := slices.DeleteFunc(shownFindings(f.verdict), func(x *finding) bool { return x.File == "" || x.Commit != "" })
			if want := len(shown) + len(f.verdict.Errors); len(got) != want {
				t.Fatalf("%s, %s: found %d, want %d\n%s", name, kind, len(got), want, strings.Join(got, "\n"))
			}
			for _, x := range shown {
				// The place begins the line; the rest is within it.
				rest := func(s string) string { return strings.TrimPrefix(inert("x"+s), "x") }
				want := fmt.Sprintf("%s|%d|%d|", inert(verdict.Visible(f.options.Prefix+x.File)), x.at.Line, x.at.Column)
				message, ok := strings.CutPrefix(got[0], want)
				message, fits := strings.CutSuffix(message, "|"+rest(verdict.Visible(x.RuleID)))
				if !ok || !fits {
					t.Errorf("%s, %s: found %s, want %s...%s", name, kind, got[0], want, x.RuleID)
				}
				message = strings.Trim(strings.TrimPrefix(message, placeLabel(x.status())+": "), ellipsis)
				there := rest(drawn(x.at.Excerpt))
				if !x.inFile() || x.at.Excerpt == "" {
					there = rest(x.foundLine())
				}
				if kind != "narrow.txt" && (message == "" || !strings.Contains(there, message)) {
					t.Errorf("%s, %s: the message is %q, there is %q", name, kind, message, there)
				}
				got = got[1:]
			}
			for _, e := range f.verdict.Errors {
				file := ""
				if e.File != "" {
					file = inert(verdict.Visible(f.options.Prefix + e.File))
				}
				want := fmt.Sprintf("%s|||%s|%s", file, strings.TrimPrefix(inert("x"+flow(e.Message)), "x"), e.Code)
				if got[0] != want {
					t.Errorf("%s, %s: found %s, want %s", name, kind, got[0], want)
				}
				got = got[1:]
			}
		}
	}
}

// inTree is how many violations are about no file.
func inTree(v *verdict.Verdict) int {
	n := 0
	for i := range v.Violations {
		if v.Violations[i].File == "" {
			n++
		}
	}
	return n
}

// TestProblemMatcherIsNotForged: a line of the tree that looks like one of the report's is
// shown behind its place, and is not found.
func TestProblemMatcherIsNotForged(t *testing.T) {
	const forged = "main.tf:1:1: all is lost [NET-1]"
	for _, line := range []int64{1, 99999, 100000, 123456789} {
		v := verdict.New("1.0")
		v.Rules = []verdict.Rule{{ID: "R", Title: "T", Remediation: forged + "\n" + forged,
			DocsURL: "error: x [E_READ]", Owner: forged}}
		for _, excerpt := range []string{forged, "error: x [E_READ]", ":1:1: x [E_READ]", "1:1: x [R]"} {
			v.Violations = append(v.Violations, verdict.Violation{RuleID: "R", File: "7", Reason: "r",
				Evidence: verdict.Evidence{
					Pattern: excerpt, Excerpt: excerpt, Line: line, Column: 1, UTF16Column: 1, Encoding: "utf-8",
					Occurrences: 1,
				}, PlaceCount: 1})
		}
		v.Decide()
		var b strings.Builder
		if err := WriteText(&b, v, TextOptions{Notes: []string{forged + "."}}); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range v.Violations {
			want = append(want, fmt.Sprintf("7|%d|1|%s|R", line, v.Violations[i].Evidence.Excerpt))
		}
		if got := problems(t, b.String()); !slices.Equal(got, want) {
			t.Errorf("found\n%s\nwant\n%s\nin\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), b.String())
		}
	}
	// Names that begin with digits are names, too.
	for line, want := range map[string]string{
		"7:1:2: r [R]": "7|1|2|r|R", "7 a:1:2: r [R]": "7 a|1|2|r|R", "77x.tf:1:2: r [R]": "77x.tf|1|2|r|R",
		"007: r [E_READ]": "007|||r|E_READ", "7 | 8: r [E_READ]": "", "7 | x:1:2: r [R]": "", " x:1:2: r [R]": "",
	} {
		if got := strings.Join(problems(t, line), " "); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}
