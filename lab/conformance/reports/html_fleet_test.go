package reports

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/policyscan/policyscan/lab/conformance/install"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
	"github.com/policyscan/policyscan/verdict/summary"
)

// fleetOf is a fleet of n repositories: one of a hundred could not be decided, half of the others have violations.
func fleetOf(n int) *summary.Fleet {
	f := summary.New("1.2.3")
	hash := strings.Repeat("0123456789abcdef", 4)
	var rules []verdict.Rule
	for i := range 60 {
		rules = append(rules, verdict.Rule{ID: fmt.Sprintf("RULE-%03d", i), Type: "boundary", Title: "No range that means everyone",
			Severity: []string{"critical", "high", "medium", "low"}[i%4], Owner: "platform", DocsURL: "https://example.com/rule"})
	}
	for i := range n {
		r := summary.Repository{Name: fmt.Sprintf("team-%02d/service-%05d", i%50, i), Revision: "HEAD", Commit: hash[:40],
			SHA256: hash, Verdict: verdict.Pass, Complete: true, Files: 1000 + i, Governed: i}
		r.Path = r.Name + ".git"
		switch {
		case i%100 == 0:
			r.Verdict, r.Complete, r.ErrorCount, r.Commit = verdict.Fail, false, 1, ""
			r.Errors = []verdict.Error{{Code: "E_GIT", Message: "the object " + hash[:40] + " is missing"}}
		case i%2 == 0:
			r.Verdict = verdict.Fail
			for k := range 1 + i%12 {
				count := 1 + (i*7+k)%3000
				r.Rules = append(r.Rules, summary.RuleCount{RuleID: rules[k*5].ID, Places: count})
				r.Places += count
			}
		}
		f.Add(r, rules)
	}
	f.List = summary.List{SHA256: hash, Repositories: n}
	f.Decide()
	return f
}

// openFleet opens the page of a fleet, at a place of it.
func openFleet(t *testing.T, b *tab, f *summary.Fleet, hash string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fleet.html")
	w, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range report.FleetFormats(f) {
		if format.Name == "html" {
			err = format.Write(w, nil)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.address = (&url.URL{Scheme: "file", Path: file}).String()
	b.mu.Unlock()
	b.do(chromedp.Navigate(b.address + hash))
}

// fleetRows are the names of the repositories that the page of a fleet shows.
const fleetRows = `[...document.querySelectorAll("li[data-state]")].filter((li) => li.checkVisibility()).map((li) => li.querySelector(".name").textContent)`

// TestFleetHTML: the page of ten thousand repositories opens, shows all of them, and what a choice, a search and the
// two of them leave; it asks for nothing; without its script it is whole.
func TestFleetHTML(t *testing.T) {
	asked(t)
	browser := newBrowser(t)
	f := fleetOf(10000)
	b := open(t, browser, nil, "", desk)
	b.do(call(performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}))
	openFleet(t, b, f, "")
	b.until(`document.getElementById("status").textContent === "10,000 repositories"`)
	opened := b.busy()
	t.Logf("%.0f ms of work until the page of 10,000 repositories is there", opened)
	for _, x := range []struct {
		hash string
		is   func(r *summary.Repository) bool
	}{
		{"#state=undecided", func(r *summary.Repository) bool { return r.Undecided() }},
		{"#rule=RULE-050", func(r *summary.Repository) bool { return len(r.Rules) == 11 }},
		{"#q=SERVICE-0001+2&state=fail", func(r *summary.Repository) bool {
			return r.Places > 0 && strings.Contains(r.Name, "service-0001") && strings.Contains(r.Name, "2")
		}},
		{"#repositories", func(*summary.Repository) bool { return true }},
		{"#state=pass&q=team-03", func(r *summary.Repository) bool {
			return r.Verdict == verdict.Pass && strings.HasPrefix(r.Name, "team-03/")
		}},
		{"#state=fail", func(r *summary.Repository) bool { return r.Places > 0 }},
		{"#q=1", func(r *summary.Repository) bool { return strings.Contains(r.Name, "1") }},
		{"#q=there+is+none", func(*summary.Repository) bool { return false }},
		{"#repositories", func(*summary.Repository) bool { return true }},
	} {
		hash, is := x.hash, x.is
		want := map[string]bool{}
		for i := range f.Repositories {
			if r := &f.Repositories[i]; is(r) {
				want[r.Name] = true
			}
		}
		if (len(want) == 0) != (hash == "#q=there+is+none") {
			t.Fatalf("%s: %d repositories", hash, len(want))
		}
		before := b.busy()
		eval[any](b, "location.hash = "+quoted(hash)+"; null")
		size := strings.ReplaceAll(fmt.Sprintf("%d", len(want)), "10000", "10,000")
		if n := len(want); n >= 1000 && n < 10000 {
			size = fmt.Sprintf("%d,%03d", n/1000, n%1000)
		}
		b.until(`document.getElementById("status").textContent.startsWith(` + quoted(size+" ") + `)`)
		took := b.busy() - before
		t.Logf("%s: %d repositories, %.0f ms", hash, len(want), took)
		if took > opened { // as list items that Chromium numbers, it took up to 20 times that
			t.Errorf("%s: it took %.0f ms of work, more than to open the page: %.0f ms", hash, took, opened)
		}
		got := eval[[]string](b, fleetRows)
		if len(got) != len(want) {
			t.Errorf("%s: %d are shown, want %d", hash, len(got), len(want))
		}
		for _, name := range got {
			if !want[name] {
				t.Fatalf("%s: %s is shown", hash, name)
			}
		}
		if none := eval[bool](b, `document.getElementById("nothing").checkVisibility()`); none != (len(want) == 0) {
			t.Errorf("%s: it says that nothing is shown: %v", hash, none)
		}
	}
	b.quiet()

	plain := desk
	plain.noScript = true
	b = open(t, browser, nil, "", plain)
	openFleet(t, b, f, "")
	if got := eval[[]string](b, fleetRows); len(got) != len(f.Repositories) {
		t.Errorf("without its script, %d repositories are shown", len(got))
	}
	if n := eval[int](b, `[...document.querySelectorAll("input, select, #status, #nothing")].filter((e) => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d things are shown that do not work", n)
	}
}

// TestFleetHTMLAxe: axe-core finds nothing, no number breaks, and nothing is wider than the window.
func TestFleetHTMLAxe(t *testing.T) {
	asked(t)
	script, err := os.ReadFile(filepath.Join(install.NPM(t, "--ignore-scripts", "axe-core@"+axe), "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	browser := newBrowser(t)
	f := fleetOf(120)
	for name, how := range map[string]view{"desk": desk, "phone": {width: 390, height: 844},
		"desk-dark": {width: 1280, height: 900, dark: true}, "phone-dark": {width: 390, height: 844, dark: true}} {
		b := open(t, browser, nil, "", how)
		openFleet(t, b, f, "")
		b.layOutAll()
		eval[any](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; }); null`)
		broken := eval[[]string](b, `[...document.querySelectorAll(".num, .count, .commit, .figures dd")].filter((e) => {
			const r = document.createRange();
			r.selectNodeContents(e);
			return new Set([...r.getClientRects()].map((x) => Math.round(x.bottom / 8))).size > 1;
		}).map((e) => e.outerHTML)`)
		if len(broken) > 0 {
			t.Errorf("%s: these are on two lines: %q", name, broken[:min(len(broken), 3)])
		}
		if wide := eval[int](b, `document.documentElement.scrollWidth`); int64(wide) > how.width {
			t.Errorf("%s: the page is %d pixels wide", name, wide)
		}
		if found := b.axe(script); len(found) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(found, "\n"))
		}
	}
}
