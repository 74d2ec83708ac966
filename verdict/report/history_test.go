package report

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/past"
)

// pageHistory is a history of two repositories with every kind of entry, whose texts all have s.
func pageHistory(s string) *past.History {
	h := past.New("1.2.3")
	hash := strings.Repeat("0123456789", 4)
	bad := verdict.Error{Code: "E_READ", File: "a/b" + s, Message: "it is damaged\n" + s}
	h.Mode, h.Since, h.Allowed = past.Preview, "2025-11-27", []string{"symlink=" + s}
	change := past.Change{Repository: "shop" + s, Commit: hash, Date: "2026-03-04T05:06:07Z", Subject: "Open the port for the duration of the migration, since the old one is in use " + s}
	change.Rules = []past.Refusal{{RuleID: "NET-1" + s, Places: 3, Introduced: 2}, {RuleID: "A-RULE-WITH-A-LONG-NAME-1", Places: 1}, {RuleID: "A-RULE-WITH-A-LONG-NAME-2", Places: 1}}
	undated := past.Change{Repository: "site", Commit: hash, Errors: []verdict.Error{bad}}
	undated.Rules = []past.Refusal{{RuleID: "ENC-1", Places: 1}}
	h.Refused, h.Undecided = []past.Change{change, undated}, []past.Change{undated}
	place := past.Example{Repository: change.Repository, Commit: hash, Date: change.Date, Subject: change.Subject,
		File: "net/main" + s + ".tf", Line: 12, Excerpt: `cidr = "0.0.0.0/0" ` + s, Reason: "r"}
	missing := past.Example{Repository: "site", Commit: hash, Reason: "README.md is missing " + s}
	h.Rules = []past.Rule{
		{ID: "NET-1" + s, Title: "No ingress " + s, Refused: 12, FilesAtTip: 37, Introducing: 2, Introduced: 5, RemovedAgain: 3,
			MedianDays: 1, Dirs: []past.Tally{{Name: "net" + s + "/", Count: 4}, {Name: "./", Count: 1}},
			Months:   []past.Tally{{Name: "2025-12", Count: 3}, {Name: "2026-03", Count: 9}},
			Examples: []past.Example{place, place, place, place}},
		{ID: "ENC-1", Title: "A file", Refused: 1, FilesAtTip: 1, Examples: []past.Example{missing}},
		{ID: "OLD-1", Title: "Nobody breaks it"},
		{ID: "OLD-2" + s, Title: "Nor this"},
	}
	h.Repositories = []past.Repository{
		{Name: "shop" + s, Branch: "HEAD" + s, Tip: hash, Since: h.Since, First: hash, Counts: past.Counts{Changes: 1200, Refused: 11}},
		{Name: "site", Branch: "main", Tip: hash, Since: h.Since,
			Counts: past.Counts{Changes: 4, Refused: 1, Undecided: 1, WithoutRules: 2}, Errors: []verdict.Error{bad}},
	}
	h.Errors = []verdict.Error{{Code: "E_INTERRUPTED", Message: s}}
	h.Decide()
	return h
}

func historyOf(t *testing.T, h *past.History, format string) string {
	t.Helper()
	var b bytes.Buffer
	for _, f := range HistoryFormats(h) {
		if f.Name == format {
			if err := f.Write(&b, nil); err != nil {
				t.Fatal(err)
			}
			if !f.Wrote(b.String()) {
				t.Errorf("%s does not recognise its own report", format)
			}
		}
	}
	return b.String()
}

// TestHistoryGolden: the reports of a history, the text also in 80 columns and in colour.
func TestHistoryGolden(t *testing.T) {
	h := pageHistory(`<b>&"'`)
	var got strings.Builder
	for _, o := range []TextOptions{{}, {Width: 80, Color: true, Most: 20}} {
		var b bytes.Buffer
		if err := WriteHistoryText(&b, h, o); err != nil {
			t.Fatal(err)
		}
		if o.Width > 0 {
			plain := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(b.String(), "")
			for _, line := range strings.Split(plain, "\n") {
				if columns(line) > o.Width {
					t.Errorf("%d columns: %q", columns(line), line)
				}
			}
		}
		got.WriteString("-- text --\n" + strings.ReplaceAll(b.String(), "\x1b", "^"))
	}
	got.WriteString("-- markdown --\n" + historyOf(t, h, "markdown"))
	page := historyOf(t, h, "html")
	wantNoCommand(t, page)
	for line := range strings.Lines(withoutOurs(t, page)) {
		if !strings.Contains(line, "Content-Security-Policy") { // the hashes are checked above
			got.WriteString(line)
		}
	}
	const file = "testdata/history.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if changes := diff.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got.String()); changes != "" {
		t.Errorf("(-want +got):\n%s", changes)
	}
}

// TestHistoryCharts: the months of a chart are from the first refused change to the last, at least a year, but none between
// clocks that are centuries apart.
func TestHistoryCharts(t *testing.T) {
	h := pageHistory("")
	if got := monthsOf(h); len(got) != 12 || got[0] != "2025-04" || got[8] != "2025-12" || got[11] != "2026-03" {
		t.Error(got)
	}
	h.Rules[1].Months = []past.Tally{{Name: "2024-12", Count: 1}}
	if got := monthsOf(h); len(got) != 16 || got[0] != "2024-12" || got[1] != "2025-01" {
		t.Error(got)
	}
	h.Rules[1].Months = []past.Tally{{Name: "9999-12", Count: 1}}
	if got := strings.Join(monthsOf(h), " "); got != "2025-12 2026-03 9999-12" {
		t.Error(got)
	}
	if h.Rules = nil; len(monthsOf(h)) > 0 || !strings.Contains(historyOf(t, h, "html"), "No rule judged a change.") {
		t.Error(monthsOf(h))
	}
}

// FuzzHistory: no text of a commit, a rule or a repository becomes markup, a command of a runner, or what a terminal
// obeys.
func FuzzHistory(f *testing.F) {
	for _, s := range []string{"x", "</script><script>alert(1)</script>", `" onmouseover="alert(1)`, "\n::error::x",
		"##[error]x", "\u202e\u2066\x00\x1b[31m", "</style></pre><!--", "\xff&lt;&#60;", "`|\n* [x](javascript:y) @me"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s += "x" // as the plain page: a text that is empty is not shown
		h := pageHistory(s)
		page := historyOf(t, h, "html")
		wantNoCommand(t, page)
		page = withoutOurs(t, page)
		wantSafe(t, page, false)
		wantSame(t, page, withoutOurs(t, historyOf(t, pageHistory("x"), "html")))
		wantNoCommand(t, historyOf(t, h, "markdown"))
		text := historyOf(t, h, "text")
		wantNoCommand(t, text)
		if strings.ContainsAny(text, "\x1b\x00\r") {
			t.Errorf("a terminal obeys %q", text)
		}
		got, active := skeleton(historyOf(t, h, "markdown"))
		if want, _ := skeleton(historyOf(t, pageHistory("x"), "markdown")); got != want || active != "" {
			t.Errorf("%q leaves its place in Markdown (%q):\n%s\nwant\n%s", s, active, got, want)
		}
	})
}
