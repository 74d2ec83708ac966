package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/policyscan/policyscan/verdict"
)

func htmlOf(t *testing.T, v *verdict.Verdict) string {
	t.Helper()
	var b bytes.Buffer
	if err := writeHTML(&b, v, "", Arrangement{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// An element is a tag of a page, as a browser reads it.
type element struct{ *html.Node }

func parsePage(t *testing.T, page string) element {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return element{root}
}

// all returns the elements below e for which is holds, in the order of the page.
func (e element) all(is func(element) bool) []element {
	var found []element
	for n := range e.Descendants() {
		if x := (element{n}); n.Type == html.ElementNode && is(x) {
			found = append(found, x)
		}
	}
	return found
}

func tag(name string) func(element) bool { return func(e element) bool { return e.Data == name } }

func class(name string) func(element) bool {
	return func(e element) bool { return slices.Contains(strings.Fields(e.attr("class")), name) }
}

func (e element) attr(name string) string {
	for _, a := range e.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (e element) text() string {
	var b strings.Builder
	for n := range e.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

// places are the elements of the listed places of a page.
func (e element) places() []element {
	return e.all(func(x element) bool {
		return x.Data == "li" && class("in")(element{x.Parent.Parent}) && x.attr("data-count") == "" && x.within("group")
	})
}

// within reports whether an element is in one of a class.
func (e element) within(name string) bool {
	for n := e.Parent; n != nil; n = n.Parent {
		if class(name)(element{n}) {
			return true
		}
	}
	return false
}

func TestHTMLFixtures(t *testing.T) {
	for name, f := range fixtures(t) {
		page := htmlOf(t, f.verdict)
		wantPage(t, page, f.verdict)
		if again := htmlOf(t, f.verdict); again != page {
			t.Errorf("%s: the second page is another", name)
		}
	}
}

// wantPage fails if a page is not one that a browser reads as the writer meant it, or lets
// anything in or out.
func wantPage(t *testing.T, page string, v *verdict.Verdict) {
	t.Helper()
	wantNoCommand(t, page)
	page = withoutOurs(t, page)
	wantSafe(t, page, false)
	root := parsePage(t, page)

	// The elements and attributes are the template's.
	ours := strings.Fields(`html head meta title style body a header div p strong h1 span dl dt dd nav ul li main section h2 h3
		details summary search label kbd input select option svg rect b i br ol pre code mark table thead tbody
		tr th td footer script`)
	attrs := strings.Fields(`lang charset http-equiv content name class href aria-label aria-labelledby aria-hidden focusable id
		tabindex hidden open for type autocomplete spellcheck placeholder value width height role rel data-rule
		data-type data-owner data-severity data-status data-count scope`)
	ids := map[string]bool{}
	for _, e := range root.all(func(element) bool { return true }) {
		if !slices.Contains(ours, e.Data) {
			t.Errorf("there is a <%s>", e.Data)
		}
		for _, a := range e.Attr {
			if !slices.Contains(attrs, a.Key) {
				t.Errorf("there is a <%s %s>", e.Data, a.Key)
			}
		}
		if id := e.attr("id"); id != "" {
			if ids[id] || !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(id) {
				t.Errorf("the id %q is listed twice, or invalid", id)
			}
			ids[id] = true
		}
	}
	// Every link leads to a place in the page, or by https out of it; every label to what it names.
	for _, e := range root.all(func(e element) bool { return e.attr("href") != "" }) {
		href := e.attr("href")
		if place, inside := strings.CutPrefix(href, "#"); inside {
			if !ids[place] {
				t.Errorf("nothing is at %q", href)
			}
			continue
		}
		u, err := url.Parse(href)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil ||
			e.attr("rel") != "noopener noreferrer" {
			t.Errorf("a link leads to %q, rel %q", href, e.attr("rel"))
		}
	}
	for _, name := range []string{"for", "aria-labelledby"} {
		for _, e := range root.all(func(e element) bool { return e.attr(name) != "" }) {
			if !ids[e.attr(name)] {
				t.Errorf("%s=%q names nothing", name, e.attr(name))
			}
		}
	}
	wantAll(t, root, v)
}

// wantAll fails if the page does not hold all of the verdict, without its script.
func wantAll(t *testing.T, root element, v *verdict.Verdict) {
	t.Helper()
	shown, want := map[string]int{}, map[string]int{}
	for _, e := range root.places() {
		place := element{e.Parent.Parent}.all(class("file"))[0].text()
		if at := e.all(class("link")); len(at) > 0 {
			place += ":" + at[0].text()
		}
		shown[place]++
	}
	for _, f := range shownFindings(v) {
		place := cmp.Or(inert(pathOf(f.Violation)), "the tree")
		if f.inFile() {
			place += fmt.Sprintf(":%d:%d", f.at.Line, f.at.Column)
		}
		want[place]++
	}
	if !maps.Equal(shown, want) {
		t.Errorf("the places are %v, want %v", shown, want)
	}
	if errs := root.all(class("errors")); len(v.Errors) > 0 && (len(errs) != 1 ||
		len(errs[0].all(tag("li"))) != len(v.Errors)) {
		t.Errorf("the %d errors are not shown", len(v.Errors))
	}
	omitted := 0
	for _, e := range root.all(class("omissions")) {
		if !e.within("allowances") {
			omitted += len(e.all(tag("li")))
		}
	}
	if omitted != len(v.Coverage.LeftOut)+len(v.Coverage.NotScanned)+len(v.Coverage.Unparsed) {
		t.Errorf("%d omissions are shown", omitted)
	}

	top := root.all(class("top"))[0]
	alarmed, green := len(top.all(class("alarm"))) == 1, class("pass")(top)
	if title := root.all(tag("title"))[0].text(); alarmed == v.Complete ||
		strings.HasPrefix(title, "INCOMPLETE ") == v.Complete {
		t.Errorf("complete is %v; the alarm is %v and the title %q", v.Complete, alarmed, title)
	}
	if want := v.Verdict == verdict.Pass && (v.Coverage.Scanned > 0 || newView(v).onlyPaths()); green != want {
		t.Errorf("it is green: %v, want %v", green, want)
	}
	if got := root.all(class("outcome"))[0].text(); got != string(v.Verdict) {
		t.Errorf("the outcome is %q", got)
	}
}

func changed() verdict.Scope {
	hash := strings.Repeat("0123456789", 4)
	return verdict.Scope{Mode: "diff", Base: "main", BaseCommit: hash, MergeBases: []string{hash}, HeadCommit: hash,
		Strategy: "merge-base"}
}

// TestHTMLChoices: what a reader chooses from is in an order, the gravest severity first and unknown ones last.
func TestHTMLChoices(t *testing.T) {
	v := newFixture()
	v.Rules = nil
	for i, severity := range []string{"low", "odd", "critical", "medium", "even", "high", "low"} {
		r := verdict.Rule{ID: fmt.Sprint(i), Type: []string{"invariant", "boundary"}[i%2], Title: "t",
			Severity: severity, Owner: []string{"c", "a", "b"}[i%3]}
		v.Rules = append(v.Rules, r)
		v.Violations = append(v.Violations, found(r, "f", "BAD", "BAD"))
	}
	p := &htmlPage{}
	p.addRules(newView(v))
	got := fmt.Sprint(p.Severities, p.Types, p.Owners)
	if want := "[critical high medium low even odd] [boundary invariant] [a b c]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHTMLExcerpt: the match is marked, and nothing else; what was cut is said, and a match that is not shown whole is
// named.
func TestHTMLExcerpt(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct{ content, pattern, want string }{
		{"a BAD b", "BAD", "1 a [BAD] b"},
		{"one\r\n\ttwo BAD\r\nthree", "BAD", "2 two [BAD]"},
		{"a x\ny b", "x\ny", `1 a [x]found: "x\u{a}y"`},
		{"x\n\ny", "\n\n", `1 x[]found: "\u{a}\u{a}"`},
		{long + "BAD", "BAD", "1 …" + strings.Repeat("é", 197) + "[BAD]…"},
		{"BAD" + long, "BAD", "1 [BAD]" + strings.Repeat("é", 197) + "…"},
	} {
		x := found(verdict.Rule{}, "f", c.content, c.pattern)
		h := newHTMLPlace(newFinding(&x), nil)
		if got := fmt.Sprintf("%d %s[%s]%s%s", h.Line, h.Before, h.Match, h.After, h.Found); got != c.want {
			t.Errorf("%q in %q:\n%s\nwant\n%s", c.pattern, c.content, got, c.want)
		}
	}
	x := strings.Repeat("x", 201)
	for excerpt, want := range map[string]string{x[1:]: `found: "` + x + `"`, "other": `found: "` + x + `"`, "a " +
		x: ""} {
		e := verdict.Evidence{Pattern: x, Excerpt: excerpt, Line: 1, Column: 1, UTF16Column: 1}
		if h := newHTMLPlace(newFinding(&verdict.Violation{File: "f", Evidence: e}), nil); h.Found != want {
			t.Errorf("%q: %q", excerpt, h.Found)
		}
	}
}

// TestHTMLAnchors: the id of a violation's place is its fingerprint, and is unique and plain
// whatever a document says.
func TestHTMLAnchors(t *testing.T) {
	v := newFixture()
	x := found(v.Rules[0], "f", "BAD", "BAD")
	twice, odd, shouted := x, x, x
	odd.Fingerprint, shouted.Fingerprint = "rules", strings.ToUpper(x.Fingerprint)
	v.Violations = []verdict.Violation{x, twice, odd, shouted}
	v.Decide()
	page := htmlOf(t, v)
	wantPage(t, page, v)
	var got []string
	for _, e := range parsePage(t, page).places() {
		got = append(got, e.attr("id"))
	}
	if want := []string{x.Fingerprint, x.Fingerprint + "-2", "violation", "violation-2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestHTMLFolds: from the 21st file on, the files of a rule are folded; by directory there are ten and the number of
// the others; places that the verdict does not list are counted, and the page names the tree.
func TestHTMLFolds(t *testing.T) {
	v := newFixture()
	v.Violations = nil
	for i := range 24 {
		x := found(v.Rules[0], fmt.Sprintf("dir%d/f%d", i/2+1, i), "BAD", "BAD")
		x.Evidence.Occurrences, x.PlaceCount = 1500, 1500
		v.Violations = append(v.Violations, x)
	}
	v.Decide()
	var b bytes.Buffer
	if err := Named("html").Naming("shop<").Write(&b, v); err != nil {
		t.Fatal(err)
	}
	wantPage(t, b.String(), v)
	root := parsePage(t, withoutOurs(t, b.String()))
	rest := root.all(class("rest"))
	if len(rest) != 1 || len(rest[0].all(class("in"))) != 4 || rest[0].all(tag("summary"))[0].text() !=
		"4 more files with 6,000 places" || len(root.all(class("in"))) != 24 {
		t.Errorf("of %d files, folded are %v", len(root.all(class("in"))), rest)
	}
	dirs := root.all(class("bars"))[1].all(tag("li"))
	others := root.all(func(e element) bool { return e.attr("id") == "others" })[0].text()
	if len(dirs) != 10 || others != "and 2 more directories" {
		t.Errorf("%d directories, %q", len(dirs), others)
	}
	if got := root.all(class("subject"))[0].all(tag("b")); len(got) != 1 || got[0].text() != "shop<" {
		t.Errorf("the tree is %v", got)
	}
	unlisted := root.all(func(e element) bool { return e.attr("data-count") == "1499" })
	if len(unlisted) != 24 || unlisted[0].text() != "and 1,499 more places: verdict.json has only their number" {
		t.Errorf("%d numbers of unlisted places", len(unlisted))
	}
}

// FuzzHTML: whatever is in names and contents, the page has only our elements, is
// written safely, and shows all of it.
func FuzzHTML(f *testing.F) {
	f.Add("::error::a.tf", "</script><script>alert(1)</script>", "script", "<!--\n]]>\n::error::y")
	f.Add("##[error]", "x ##[add-matcher]y", "##", "\"onmouseover=alert(1) x='`${alert(1)}")
	f.Add("a\n/b\xff", "\r::debug::c", "[error]", "javascript:alert(1)//\u2028\u202e")
	f.Add("</title></style></pre>", "{{.}}<svg/onload=x>", "<", "https://x\"><img src=x onerror=y>")
	f.Add("../..//\x00", "&lt;&#60;", "&", "<p id=rules></p>[x](y)")
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string) {
		skipLong(t, 300, file, excerpt, pattern, text)
		for _, s := range []string{file, excerpt, pattern, text} {
			if !utf8.ValidString(s) && s != file {
				t.Skip("a document is UTF-8; only a path had other bytes")
			}
		}
		v := hostileVerdict(file, excerpt, pattern, text)
		v.Policy[0].From, v.Policy[0].SHA256, v.Policy[0].Commit = text, excerpt, file
		v.Rules[0].Severity, v.Rules[0].Type, v.Rules[0].From = text, excerpt, file
		v.Scope.Mode, v.Scope.Strategy, v.Scope.MergeBases = text, pattern, []string{excerpt}
		v.Allowed, v.Tool.Version = []string{text}, pattern
		v.Errors[0].Code, v.Violations[0].Fingerprint = text, file
		v.Coverage.LeftOut[0].Reason, v.Violations[0].Evidence.Encoding = text, excerpt
		wantPage(t, htmlOf(t, v), v)
		v.Scope.Mode, v.Scope.HeadCommit = "diff", excerpt
		wantPage(t, htmlOf(t, v), v)
	})
}
