package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

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
		r.Path, r.Revision, r.ErrorCount = cmp.Or(r.Path, r.Name), cmp.Or(r.Revision,
			"HEAD"), r.ErrorCount+len(r.Errors)
		r.Complete = r.ErrorCount == 0
		for _, c := range r.Rules {
			r.Places += c.Places
		}
		r.Verdict = verdict.Fail
		if r.Complete && r.Places == 0 {
			r.Verdict = verdict.Pass
		}
		f.Add(r, rules)
	}
	commit := hash[:40]
	bad := verdict.Error{Code: "E_READ" + s, File: "a/b" + s, Message: "it is damaged\n" + s}
	add(summary.Repository{Name: "team/shop" + s, Path: "/srv/shop.git" + s, Revision: "main" + s, Commit: commit,
		SHA256: hash, Files: 12345, Governed: 1234, AllowedPlaces: 2, Rules: []summary.RuleCount{{RuleID: "ENC-1" + s, Places: 7},
			{RuleID: "NET-1", Places: 12000}}})
	add(summary.Repository{Name: "team/site", Commit: commit, SHA256: hash, Files: 1, Governed: 1,
		Rules: []summary.RuleCount{{RuleID: "NET-1", Places: 1}}, Errors: []verdict.Error{bad}})
	add(summary.Repository{Name: "gone", Errors: []verdict.Error{bad, bad, bad}, ErrorCount: 1})
	add(summary.Repository{Name: "ok" + s, Commit: commit, SHA256: hash, Files: 3, Governed: 2, AllowedPlaces: 1})
	f.Errors = []verdict.Error{{Code: "E_INTERRUPTED", Message: s}}
	f.Policy = []summary.Policy{{From: "disk", SHA256: hash, Boundaries: 2, Invariants: 1}}
	f.OwnPolicy, f.Allowed, f.AsOf = true, []string{"lfs-pointer"}, "2026-01-02"
	f.List = summary.List{SHA256: hash, Repositories: 5}
	f.Decide()
	return f
}

func fleetPageOf(t *testing.T, f *summary.Fleet) string {
	t.Helper()
	var b bytes.Buffer
	if err := writeFleetHTML(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withoutOurs returns a page without its style and script, and fails if the policy of the page allows others.
func withoutOurs(t *testing.T, page string) string {
	t.Helper()
	root := parsePage(t, page)
	policy := "default-src 'none'; "
	for _, kind := range []string{"script", "style"} {
		all := root.all(tag(kind))
		if len(all) > 1 || kind == "style" && len(all) == 0 {
			t.Fatalf("%d <%s>", len(all), kind)
		}
		for _, e := range all {
			sum := sha256.Sum256([]byte(e.text()))
			policy += kind + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "
			page = strings.Replace(page, e.text(), "", 1)
		}
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
	if changes := diff.Diff(shape(other), shape(page)); changes != "" {
		t.Errorf("its elements are others (-want +got):\n%s", changes)
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
	if changes := diff.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); changes != "" {
		t.Errorf("(-want +got):\n%s", changes)
	}
}

// TestFleetHTMLHeadline: a page of no repository is not green.
func TestFleetHTMLHeadline(t *testing.T) {
	pass := summary.New("1")
	pass.Add(summary.Repository{Name: "a", Verdict: verdict.Pass, Complete: true}, nil)
	pass.List.Repositories = 1
	empty := summary.New("1")
	empty.Errors = []verdict.Error{{Code: "E_EMPTY", Message: "m"}}
	for want, f := range map[string]*summary.Fleet{
		"PASS 1 repository: 1 passes": pass, "FAIL no repository was scanned": empty,
	} {
		f.Decide()
		root := parsePage(t, fleetPageOf(t, f))
		green := class("pass")(root.all(class("top"))[0])
		if got := root.all(tag("h1"))[0].text(); got != want || green != (f == pass) {
			t.Errorf("it says %q, want %q; it is green: %t", got, want, green)
		}
	}
}

// FuzzFleetHTML: no name, path, revision, message or rule can become markup, a script, a command of a runner, or what
// a terminal obeys.
func FuzzFleetHTML(f *testing.F) {
	for _, s := range []string{"x", "</script><script>alert(1)</script>", `" onmouseover="alert(1)`, "'><img src=x>",
		"\n::error::x", "##[error]x", "\u202e\u2066\x00\x1b[31m", "</style></pre><!--", "{{.Script}}", "\xff&lt;&#60;",
		"]]>",
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
