package report

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
	"github.com/policyscan/policyscan/verdict/trend"
)

// pageTrend is a trend with every kind of entry and many repositories, whose texts all have s.
func pageTrend(s string) *trend.Trend {
	b := trend.New("1.2.3")
	rules := []verdict.Rule{{ID: "NET-1" + s, Title: "No ingress " + s, Owner: "network" + s}, {ID: "OLD-1", Title: "t"}}
	for day := 1; day <= 30; day += 6 {
		f := summary.New("1.2.3")
		f.Policy = []summary.Policy{{SHA256: fmt.Sprint(day/20, s)}}
		for i := range 40 {
			r := summary.Repository{Name: fmt.Sprintf("team/a%02d", i) + s, Verdict: verdict.Fail, Complete: true, Places: 1200 + i - i%3*day,
				AllowedPlaces: day, AllowedRules: []summary.RuleCount{{RuleID: "NET-1" + s, Places: day}}}
			r.Rules = []summary.RuleCount{{RuleID: "NET-1" + s, Places: r.Places}}
			switch {
			case i == 7 && day == 13 || day == 19:
				r = summary.Repository{Name: r.Name, Verdict: verdict.Fail, Errors: []verdict.Error{{Code: "E_READ", File: "a" + s, Message: "it is damaged\n" + s}}}
			case i == 8 && day > 20 || i == 9 && day < 5:
				continue
			}
			f.Add(r, rules)
		}
		f.Decide()
		date := fmt.Sprintf("2026-06-%02d", day)
		b.Add(trend.File{Name: date + s, Date: date, DatedBy: "name"}, f)
	}
	ended := summary.New("1.2.3")
	ended.Errors = []verdict.Error{{Code: "E_INTERRUPTED", Message: s}}
	b.Add(trend.File{Name: "x" + s, Date: "2026-06-30", DatedBy: "commit"}, ended)
	for range 2 {
		late := summary.New("1.2.3")
		late.Add(summary.Repository{Name: "team/a00" + s, Verdict: verdict.Pass, Complete: true}, rules[:1])
		b.Add(trend.File{Name: "y" + s, Date: "2026-07-10", DatedBy: "name"}, late)
	}
	return b.End()
}

func trendOf(t *testing.T, tr *trend.Trend, format string) string {
	t.Helper()
	var b bytes.Buffer
	for _, f := range TrendFormats(tr) {
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

// TestTrendGolden: the text in 80 columns, and the page.
func TestTrendGolden(t *testing.T) {
	tr := pageTrend(`<b>&"'`)
	text, page := trendOf(t, tr, "text"), trendOf(t, tr, "html")
	for line := range strings.Lines(text) {
		if columns(line) > 81 {
			t.Errorf("%d columns: %q", columns(line), line)
		}
	}
	wantNoCommand(t, page)
	got := "-- text --\n" + text
	for line := range strings.Lines(withoutOurs(t, page)) {
		if !strings.Contains(line, "Content-Security-Policy") { // the hashes are checked above
			got += line
		}
	}
	const file = "testdata/trend.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if changes := diff.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); changes != "" {
		t.Errorf("(-want +got):\n%s", changes)
	}
	nothing := trend.New("1.2.3").End()
	for _, format := range []string{"text", "html"} {
		if s := trendOf(t, nothing, format); !strings.Contains(s, "no repository was decided") {
			t.Error(s)
		}
	}
}

// FuzzTrend: no text of a rule or a repository becomes markup, a command of a runner, or what a terminal obeys.
func FuzzTrend(f *testing.F) {
	for _, s := range []string{"x", "</script><script>alert(1)</script>", `" onmouseover="alert(1)`, "\n::error::x",
		"##[error]x", "\u202e\u2066\x00\x1b[31m", "</style></pre><!--", "\xff&lt;&#60;", "`|\n* [x](javascript:y) @me"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s += "x" // as the plain page: a text that is empty is not shown
		tr := pageTrend(s)
		page := trendOf(t, tr, "html")
		wantNoCommand(t, page)
		page = withoutOurs(t, page)
		wantSafe(t, page, false)
		wantSame(t, page, withoutOurs(t, trendOf(t, pageTrend("x"), "html")))
		text := trendOf(t, tr, "text")
		wantNoCommand(t, text)
		if strings.ContainsAny(text, "\x1b\x00\r") {
			t.Errorf("a terminal obeys %q", text)
		}
	})
}
