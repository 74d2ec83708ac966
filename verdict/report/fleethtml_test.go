package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// pageFleet is a fleet with every kind of row, whose texts all have s.
func pageFleet(s string) *summary.Fleet {
	f := summary.New("1.2.3")
	hash := strings.Repeat("0123456789abcdef", 4)
	rules := []verdict.Rule{
		{ID: "NET-1", Type: "boundary", Title: "No ingress " + s, Severity: "high", Owner: "net" + s,
			DocsURL: "https://example.com/net"},
		{ID: "ENC-1" + s, Type: "invariant", Title: s + "All is encrypted", Severity: s, DocsURL: "javascript:" + s},
		{ID: "OLD-1", Type: "boundary", Title: "Nobody breaks it"},
	}
	add := func(r summary.Repository) {
		r.Path, r.Revision, r.ErrorCount = or(r.Path, r.Name), or(r.Revision, "HEAD"), r.ErrorCount+len(r.Errors)
		r.Complete = r.ErrorCount == 0
		for _, c := range r.Rules {
			r.Violations += c.Violations
		}
		r.Verdict = verdict.Fail
		if r.Complete && r.Violations == 0 {
			r.Verdict = verdict.Pass
		}
		f.Add(r, rules)
	}
	commit := hash[:40]
	bad := verdict.Error{Code: "E_READ" + s, File: "a/b" + s, Message: "it is damaged\n" + s}
	add(summary.Repository{Name: "team/shop" + s, Path: "/srv/shop.git" + s, Revision: "main" + s, Commit: commit,
		SHA256: hash, Files: 12345, Governed: 1234, Rules: []summary.RuleCount{{RuleID: "ENC-1" + s, Violations: 7},
			{RuleID: "NET-1", Violations: 12000}}})
	add(summary.Repository{Name: "team/site", Commit: commit, SHA256: hash, Files: 1, Governed: 1,
		Rules: []summary.RuleCount{{RuleID: "NET-1", Violations: 1}}, Errors: []verdict.Error{bad}})
	add(summary.Repository{Name: "gone", Errors: []verdict.Error{bad, bad, bad}, ErrorCount: 1})
	add(summary.Repository{Name: "ok" + s, Commit: commit, SHA256: hash, Files: 3, Governed: 2})
	f.Errors = []verdict.Error{{Code: "E_INTERRUPTED", Message: s}}
	f.Policy = []summary.Policy{{From: "disk", SHA256: hash, Boundaries: 2, Invariants: 1}}
	f.OwnPolicy, f.Allowed, f.AsOf = true, []string{"lfs-pointer"}, "2026-01-02"
	f.List = summary.List{SHA256: hash, Repositories: 5}
	f.Decide()
	return f
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func fleetPageOf(t *testing.T, f *summary.Fleet) string {
	t.Helper()
	var b bytes.Buffer
	if err := writeFleetHTML(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withoutOurs returns a page without its style and script, and fails if they are not ours or not those that the
// policy of the page names.
func withoutOurs(t *testing.T, page string) string {
	t.Helper()
	root := parsePage(t, page)
	policy := "default-src 'none'; "
	for _, kind := range []string{"script", "style"} {
		all := root.all(tag(kind))
		want, err := htmlFile("fleet.js")
		if kind == "style" {
			want, err = htmlFile("style.css")
			more, other := htmlFile("fleet.css")
			if want += more; err == nil {
				err = other
			}
		}
		if err != nil || len(all) != 1 || all[0].text() != want {
			t.Fatalf("%d <%s>, or another than ours: %v", len(all), kind, err)
		}
		sum := sha256.Sum256([]byte(want))
		policy += kind + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "
		page = strings.Replace(page, want, "", 1)
	}
	policy += "img-src 'none'; base-uri 'none'; form-action 'none'"
	metas := root.all(func(e element) bool { return e.attr("http-equiv") == "Content-Security-Policy" })
	if len(metas) != 1 || metas[0].attr("content") != policy {
		t.Errorf("the policy is not %q", policy)
	}
	return page
}

// wantSame fails unless the page has the elements and attributes of another, in the same order: no text became markup.
func wantSame(t *testing.T, page, other string) {
	t.Helper()
	shape := func(page string) (all []string) {
		for _, e := range parsePage(t, page).all(func(element) bool { return true }) {
			line := e.Data
			for _, a := range e.Attr {
				line += " " + a.Key
				if a.Key == "href" {
					line += "=" + a.Val
				}
			}
			if e.Data != "br" {
				all = append(all, line)
			}
		}
		return all
	}
	if diff := cmp.Diff(shape(other), shape(page)); diff != "" {
		t.Errorf("its elements are others (-want +got):\n%s", diff)
	}
}

func TestFleetHTMLGolden(t *testing.T) {
	f := pageFleet(`<b>&"'`)
	page := fleetPageOf(t, f)
	wantNoCommand(t, page)
	got := withoutOurs(t, page)
	if again := fleetPageOf(t, f); again != page {
		t.Error("the second page is another")
	}
	for _, line := range strings.Split(got, "\n") {
		if i := strings.Index(line, "script-src"); i >= 0 { // the hashes are checked above
			got = strings.Replace(got, line, "<meta Content-Security-Policy>", 1)
		}
	}
	const file = "testdata/fleet.html"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFleetHTMLHolds: the page has every repository, rule and error without its script, in the right order.
func TestFleetHTMLHolds(t *testing.T) {
	root := parsePage(t, fleetPageOf(t, pageFleet("")))
	var rows []string
	for _, e := range root.all(func(e element) bool { return e.attr("data-state") != "" }) {
		rows = append(rows, e.attr("data-state")+" "+e.all(class("name"))[0].text())
	}
	want := []string{"undecided gone", "fail team/site", "fail team/shop", "fail team/site", "pass ok"}
	if !slices.Equal(rows, want) {
		t.Errorf("the rows are %q", rows)
	}
	if got := root.all(class("headline"))[0].text(); got != "4 repositories of 5 in the list: 1 pass, 2 fail with 12008 violations, 1 undecided (1 of the failed could not be decided in part)" {
		t.Errorf("the headline is %q", got)
	}
	if title := root.all(tag("title"))[0].text(); !strings.HasPrefix(title, "INCOMPLETE FAIL: ") {
		t.Errorf("the title is %q", title)
	}
	names := root.all(class("names"))
	if len(names) != 2 || names[0].text() != "12000  team/shop\n    1  team/site\n" || names[1].text() != "7  team/shop\n" {
		t.Errorf("the repositories of the rules are %d, or others", len(names))
	}
	text := root.text()
	for _, s := range []string{"OLD-1", "and 1 more error",
		"12345 files, 1234 covered by a rule", "lfs-pointer", "2026-01-02"} {
		if !strings.Contains(text, s) {
			t.Errorf("%q is not shown", s)
		}
	}
	pass := summary.New("1")
	pass.Add(summary.Repository{Name: "a", Verdict: verdict.Pass, Complete: true}, nil)
	pass.List.Repositories = 1
	pass.Decide()
	empty := summary.New("1")
	empty.Errors = []verdict.Error{{Code: "E_EMPTY", Message: "m"}}
	empty.Decide()
	for want, f := range map[string]*summary.Fleet{
		"PASS 1 repository: 1 pass": pass, "FAIL no repository was scanned": empty,
	} {
		page := fleetPageOf(t, f)
		withoutOurs(t, page)
		root := parsePage(t, page)
		if got := root.all(tag("h1"))[0].text(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
		if green := class("pass")(root.all(class("top"))[0]); green != (f == pass) {
			t.Errorf("%s: it is green: %v", want, green)
		}
	}
}

// FuzzFleetHTML: no name, path, revision, message or rule can become markup, a script, a command of a runner, or what
// a terminal obeys.
func FuzzFleetHTML(f *testing.F) {
	for _, s := range []string{"x", "</script><script>alert(1)</script>", `" onmouseover="alert(1)`, "'><img src=x>",
		"\n::error::x", "##[error]x", "\u202e\u2066\x00\x1b[31m", "</style></pre><!--", "{{.Script}}", "\xff&lt;&#60;", "]]>",
		"\r\n##vso[task]", "x\u2028y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s += "x" // as the plain page: a text that is empty is not shown
		page := fleetPageOf(t, pageFleet(s))
		wantNoCommand(t, page)
		page = withoutOurs(t, page)
		wantSafe(t, page, false)
		wantSame(t, page, withoutOurs(t, fleetPageOf(t, pageFleet("x"))))
	})
}
