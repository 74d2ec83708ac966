package reports

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/policyscan/policyscan/lab/conformance/install"
	"github.com/policyscan/policyscan/verdict"
)

// pages are the verdicts whose pages are looked at and checked against others' rules.
func pages(t *testing.T) map[string]*verdict.Verdict {
	t.Helper()
	shop := scan(t, infrastructure(t))
	if n := len(shop.Violations); n < 35 || n > 60 {
		t.Fatalf("%d violations", n)
	}
	all := map[string]*verdict.Verdict{"shop": shop, "many": many(t, shop, 10000), "all kinds": scan(t, kinds())}
	for _, name := range fixtures(t) {
		all[name] = fixture(t, name)
	}
	return all
}

// differentPages are the pages that differ in more than their length. Without -long they are a sample of the fixtures.
func differentPages(t *testing.T) map[string]*verdict.Verdict {
	t.Helper()
	all := pages(t)
	delete(all, "many") // the page of "shop", longer
	if !*long {
		maps.DeleteFunc(all, func(name string, _ *verdict.Verdict) bool {
			return !slices.Contains([]string{"shop", "all kinds", "fail", "hostile", "incomplete", "pass"}, name)
		})
	}
	return all
}

// want are the ids of the violations that a predicate holds for.
func want(v *verdict.Verdict, is func(*verdict.Violation, *verdict.Rule) bool) []string {
	rules := map[string]*verdict.Rule{}
	for i := range v.Rules {
		rules[v.Rules[i].ID] = &v.Rules[i]
	}
	ids := []string{}
	for i := range v.Violations {
		if x := &v.Violations[i]; is(x, rules[x.RuleID]) {
			ids = append(ids, x.Fingerprint)
		}
	}
	slices.Sort(ids)
	return ids
}

// places are the places of the violations with these ids, which are sorted.
func places(v *verdict.Verdict, ids []string) (n int) {
	for i := range v.Violations {
		x := &v.Violations[i]
		if _, is := slices.BinarySearch(ids, x.Fingerprint); is {
			n += int(x.PlaceCount)
		}
	}
	return n
}

// sees fails if others than these violations are shown, in a while, or the counts are not their places.
func (b *tab) sees(what string, ids []string, of *verdict.Verdict) {
	b.t.Helper()
	got := b.visible()
	for end := time.Now().Add(10 * time.Second); !slices.Equal(got, ids) && time.Now().Before(end); got = b.visible() {
		time.Sleep(20 * time.Millisecond)
	}
	if !slices.Equal(got, ids) {
		b.t.Errorf("%s: %d violations are shown, want %d", what, len(got), len(ids))
	}
	all := want(of, func(*verdict.Violation, *verdict.Rule) bool { return true })
	status := eval[string](b, `document.getElementById("status").textContent`)
	count := fmt.Sprintf("%d of %d places, ", places(of, ids), places(of, all))
	if len(ids) == len(all) {
		count = fmt.Sprintf("%d places, ", places(of, all))
	}
	if !strings.HasPrefix(status, count) {
		b.t.Errorf("%s: the status is %q, want %q", what, status, count)
	}
	// What the bars of the rules count is what is shown, where no rule is chosen.
	if !strings.Contains(eval[string](b, "location.hash"), "rule=") {
		sum := eval[int](b, `[...document.querySelectorAll("#rule .num")].reduce((n, e) => n + Number(e.textContent.replace(/,/g, "")), 0)`)
		if sum != places(of, ids) {
			b.t.Errorf("%s: the bars count %d, want %d", what, sum, places(of, ids))
		}
	}
	if none := eval[bool](b, `!document.getElementById("nothing").hidden`); none != (len(ids) == 0) {
		b.t.Errorf("%s: it says that nothing is shown: %v", what, none)
	}
}

// TestHTMLFilters: each filter shows what it says, alone and with others; the address
// holds them, and so does a link and the way back.
func TestHTMLFilters(t *testing.T) {
	asked(t)
	shop := pages(t)["shop"]
	total := len(shop.Violations)
	browser := newBrowser(t)
	all := want(shop, func(*verdict.Violation, *verdict.Rule) bool { return true })
	filters := []struct {
		hash string
		is   func(*verdict.Violation, *verdict.Rule) bool
	}{
		{"#rule=K8S-IMG-002", func(x *verdict.Violation, _ *verdict.Rule) bool { return x.RuleID == "K8S-IMG-002" }},
		{"#type=invariant", func(x *verdict.Violation, _ *verdict.Rule) bool { return x.RuleType == "invariant" }},
		{"#owner=data-platform", func(_ *verdict.Violation, r *verdict.Rule) bool { return r.Owner == "data-platform" }},
		{"#severity=critical", func(_ *verdict.Violation, r *verdict.Rule) bool { return r.Severity == "critical" }},
		{"#folder=terraform%2Fmodules%2F", func(x *verdict.Violation, _ *verdict.Rule) bool {
			return strings.HasPrefix(x.File, "terraform/modules/")
		}},
		{"#q=ENCRYPTED+false", func(x *verdict.Violation, r *verdict.Rule) bool {
			text := strings.ToLower(x.File + x.Evidence.Excerpt + x.Reason + r.ID + r.Title + r.Remediation)
			return strings.Contains(text, "encrypted") && strings.Contains(text, "false")
		}},
		{"#q=main.tf&folder=terraform%2F&severity=high&owner=network-team", func(x *verdict.Violation, _ *verdict.Rule) bool {
			return x.RuleID == "TF-NET-001" && strings.HasSuffix(x.File, "main.tf")
		}},
		{"#q=there+is+no+such+text", func(*verdict.Violation, *verdict.Rule) bool { return false }},
	}
	one := open(t, browser, shop, "", desk)
	one.sees("at first", all, shop)
	for _, f := range filters {
		ids := want(shop, f.is)
		if len(ids) == 0 != strings.Contains(f.hash, "no+such") || len(ids) == total {
			t.Fatalf("%s filters nothing", f.hash)
		}
		open(t, browser, shop, f.hash, desk).sees("opened at "+f.hash, ids, shop)
		eval[any](one, "void (location.hash = "+quoted(f.hash)+")")
		one.until("document.querySelectorAll('#chips a').length > 0")
		one.until(fmt.Sprintf("document.querySelectorAll('#chips a').length === %d", strings.Count(f.hash, "=")))
		one.sees("changed to "+f.hash, ids, shop)
	}
	for i := len(filters) - 2; i >= 0; i-- {
		eval[any](one, "history.back()")
		one.until("location.hash === " + quoted(filters[i].hash))
		one.until(fmt.Sprintf("document.querySelectorAll('#groups li:not([hidden])').length > 0 && document.querySelectorAll('#chips a').length === %d", strings.Count(filters[i].hash, "=")))
		one.sees("back to "+filters[i].hash, want(shop, filters[i].is), shop)
	}
	one.quiet()

	// The same by hand: bars, choices, chips, the search field.
	b := open(t, browser, shop, "", desk)
	b.do(chromedp.Click(chromedp.CSS(`#rule li:nth-child(2) a`)))
	b.until(`location.hash === "#rule=K8S-IMG-002"`)
	b.sees("a bar", want(shop, filters[0].is), shop)
	if got := eval[string](b, `document.querySelector("#rule [aria-current] .name").textContent`); got != "K8S-IMG-002" {
		t.Errorf("the bar in use is %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS(`#rule [aria-current]`)))
	b.until(`location.hash === "#violations"`)
	b.sees("the same bar", all, shop)
	b.do(chromedp.Click(chromedp.CSS(`#folder li:first-child a`)))
	b.until(`document.querySelector("#crumbs").textContent === "all terraform/"`)
	b.do(chromedp.Click(chromedp.CSS(`#folder li:first-child a`)))
	b.until(`document.querySelector("#crumbs").textContent === "all terraform/ modules/"`)
	b.sees("a directory in a directory", want(shop, filters[4].is), shop)
	b.do(chromedp.Click(chromedp.CSS(`#chips a`)))
	b.until(`location.hash === "#violations"`)
	for id, value := range map[string]string{"owner": "data-platform", "severity": "critical", "type": "invariant"} {
		eval[any](b, fmt.Sprintf(`{const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change"));}`, id, value))
		hash := "#" + id + "=" + value
		i := slices.IndexFunc(filters, func(f struct {
			hash string
			is   func(*verdict.Violation, *verdict.Rule) bool
		}) bool {
			return f.hash == hash
		})
		b.sees(hash, want(shop, filters[i].is), shop)
		b.keys(kb.Escape)
		b.sees("Escape", all, shop)
	}
	eval[any](b, `{const s = document.getElementById("sort"); s.value = "severity"; s.dispatchEvent(new Event("change"));}`)
	ranks := eval[[]string](b, `[...document.querySelectorAll(".group")].map((g) => g.dataset.severity)`)
	if got := slices.Compact(ranks); !slices.Equal(got, []string{"critical", "high", "medium", "low"}) {
		t.Errorf("the gravest first: %q", got)
	}
	b.quiet()
}

// TestHTMLStatus: of a change, what is new and what was there before can be chosen, by address and by hand.
func TestHTMLStatus(t *testing.T) {
	asked(t)
	v := fixture(t, "labelled")
	browser := newBrowser(t)
	status := func(status string) []string {
		return want(v, func(x *verdict.Violation, _ *verdict.Rule) bool { return x.Status == status })
	}
	fresh, old, total, newPlaces := status("introduced"), status("pre_existing"), 0, 0
	for i := range v.Violations {
		total, newPlaces = total+int(v.Violations[i].PlaceCount), newPlaces+int(v.Violations[i].NewPlaceCount)
	}
	if len(fresh) == 0 || len(old) == 0 || newPlaces == total {
		t.Fatalf("%d new, %d old, %d of %d places new", len(fresh), len(old), newPlaces, total)
	}
	b := open(t, browser, v, "#status=new", desk)
	if got := b.visible(); !slices.Equal(got, fresh) {
		t.Errorf("%d new violations are shown, want %d", len(got), len(fresh))
	}
	b.until(fmt.Sprintf(`document.getElementById("status").textContent.startsWith("%d of %d places, ")`, newPlaces, total))
	eval[any](b, `{const s = document.getElementById("status-filter"); s.value = "was there before"; s.dispatchEvent(new Event("change"));}`)
	b.until(`location.hash === "#status=was+there+before"`)
	b.until(fmt.Sprintf(`document.getElementById("status").textContent.startsWith("%d of %d places, ")`, total-newPlaces, total))
	if got := b.visible(); !slices.Equal(got, old) {
		t.Errorf("%d old violations are shown, want %d", len(got), len(old))
	}
	if got := eval[[]string](b, `[...document.getElementById("status-filter").options].map((o) => o.textContent)`); !slices.Equal(got,
		[]string{"any", fmt.Sprintf("new (%d)", newPlaces), fmt.Sprintf("was there before (%d)", total-newPlaces)}) {
		t.Errorf("the choices are %q", got)
	}
	b.keys(kb.Escape)
	b.until(`location.hash === "#violations"`)
	b.quiet()
}

// TestHTMLKeyboard: without a mouse.
func TestHTMLKeyboard(t *testing.T) {
	asked(t)
	shop := pages(t)["shop"]
	b := open(t, newBrowser(t), shop, "", desk)
	total := len(shop.Violations)
	focused := func() string {
		return eval[string](b, `(() => { const e = document.activeElement; return e.id || e.className || e.textContent; })()`)
	}
	b.keys("\t")
	if got := focused(); got != "skip" {
		t.Errorf("first is %q", got)
	}
	if x := eval[float64](b, `document.activeElement.getBoundingClientRect().left`); x < 0 {
		t.Errorf("the way past the header cannot be seen: %v", x)
	}
	b.keys("\r")
	b.until(`location.hash === "#violations" && document.activeElement.id === "violations"`)
	b.keys("\t")
	b.until(`document.activeElement.id === "q"`)
	b.keys("TF-NET")
	b.until(`location.hash === "#q=TF-NET"`)
	b.sees("typed", want(shop, func(x *verdict.Violation, _ *verdict.Rule) bool { return x.RuleID == "TF-NET-001" }), shop)
	b.keys(kb.Escape)
	b.until(`location.hash === "#violations" && document.getElementById("q").value === ""`)
	b.sees("Escape", want(shop, func(*verdict.Violation, *verdict.Rule) bool { return true }), shop)
	eval[any](b, "document.activeElement.blur()")
	b.slash()
	b.until(`document.activeElement.id === "q"`)
	if got := eval[string](b, `document.getElementById("q").value`); got != "" {
		t.Errorf("the key that moves the focus was typed: %q", got)
	}

	// Tab reaches all there is, in the order of the page, and what has the focus shows it.
	eval[any](b, "document.activeElement.blur(), scrollTo(0, 0), document.querySelector('.skip').focus()")
	const stops = `[...document.querySelectorAll("a[href], input, select, summary, button")].filter((e) => e.checkVisibility())`
	reachable := eval[int](b, stops+".length")
	for i := 1; i < reachable; i++ {
		b.keys("\t")
		if !eval[bool](b, stops+`[`+fmt.Sprint(i)+`] === document.activeElement`) {
			t.Fatalf("stop %d is %q", i, focused())
		}
		style := eval[[]string](b, `(() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]; })()`)
		if style[0] == "none" || style[1] == "0px" {
			t.Fatalf("%q has the focus and does not show it: %q", focused(), style)
		}
	}
	if reachable < total { // the link of each violation
		t.Errorf("there are %d stops", reachable)
	}
	b.quiet()
}

// slash is the key as a keyboard sends it: what it types comes of the key, and goes with it.
func (b *tab) slash() {
	b.t.Helper()
	b.do(call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Code: "Slash", Text: "/", WindowsVirtualKeyCode: 191}),
		call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: "/", Code: "Slash", WindowsVirtualKeyCode: 191}))
}

// TestHTMLDeepLink: the address of a violation opens the page at it, however far down.
func TestHTMLDeepLink(t *testing.T) {
	asked(t)
	all := pages(t)
	browser := newBrowser(t)
	for name, i := range map[string]int{"shop": 30, "many": 9990} {
		id := all[name].Violations[i].Fingerprint
		for _, hash := range []string{"#" + id, "#type=" + all[name].Violations[i].RuleType + "&at=" + id} {
			for _, how := range []view{desk, phone, {width: 1280, height: 900, noScript: true}} {
				if how.noScript && strings.Contains(hash, "at=") {
					continue
				}
				b := open(t, browser, all[name], hash, how)
				b.until(fmt.Sprintf(`(() => { const r = document.getElementById(%q).getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; })()`, id))
				if !how.noScript {
					b.until(fmt.Sprintf(`document.activeElement.id === %q`, id))
					b.quiet()
				}
			}
		}
	}

	// A violation's own link: it is the address, and the way back leaves it.
	b := open(t, browser, all["shop"], "#rule=K8S-IMG-002", desk)
	id := b.visible()[3]
	b.do(chromedp.Click(chromedp.CSS(`[id="` + id + `"] .link`)))
	b.until(`location.hash === "#rule=K8S-IMG-002&at=` + id + `"`)
	b.until(`document.activeElement.id === "` + id + `"`)
	eval[any](b, "history.back()")
	b.until(`location.hash === "#rule=K8S-IMG-002" && !document.querySelector(".at")`)
	if n := len(b.visible()); n != 8 {
		t.Errorf("%d violations", n)
	}
	b.quiet()
}

// TestHTMLHostile: what a tree says runs nothing, loads nothing and adds nothing.
func TestHTMLHostile(t *testing.T) {
	asked(t)
	v := fixture(t, "hostile")
	attacks := []string{
		"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "\"><iframe src=https://evil.example>",
		"' autofocus onfocus=alert(1) x='", "</style><style>*{display:none}", "<!--", "]]>", "<base href=https://evil.example>",
		"<link rel=stylesheet href=https://evil.example>", "<meta http-equiv=refresh content=0;url=https://evil.example>",
		"${alert(1)}{{constructor.constructor('alert(1)')()}}", "javascript:alert(1)", "__proto__", "constructor", "&lt;script&gt;", "../../etc/passwd",
	}
	rules := v.Rules[0]
	v.Rules, v.Violations = nil, nil
	for i, a := range attacks {
		r := rules
		r.ID, r.Title, r.Message, r.Remediation, r.Owner, r.Severity, r.DocsURL, r.Tags = a, a, a, a, a, a, "https://example.com/"+a, []string{a}
		if i%2 == 0 {
			r.DocsURL = a
		}
		v.Rules = append(v.Rules, r)
		v.Violations = append(v.Violations, verdict.Violation{RuleID: a, RuleType: a, Title: a, File: a + "/" + a, Reason: a,
			Evidence: verdict.Evidence{Pattern: a, Excerpt: a + a, Line: 1, Column: 1, UTF16Column: 1, Encoding: a, Occurrences: 2}, Fingerprint: a, PlaceCount: 2})
	}
	v.Errors[0].Message, v.Scope.Base, v.Scope.Mode = strings.Join(attacks, "\n"), attacks[0], attacks[1]
	v.Decide()
	browser := newBrowser(t)
	plain := eval[[]string](open(t, browser, pages(t)["shop"], "", desk), elements)
	b := open(t, browser, v, "", desk)
	for _, hash := range []string{"", "#rule=" + attacks[1], "#q=<img src=x onerror=alert(1)>", "#folder=%3Cimg%20src=x%3E/", "#at=constructor&owner=__proto__", "#%", "#%00&=&&q=%ff"} {
		eval[any](b, "void (location.hash = "+quoted(hash)+")")
		eval[any](b, `new Promise((done) => setTimeout(() => done(null), 50))`)
		for _, e := range eval[[]string](b, elements) {
			if !slices.Contains(plain, e) && e != "section.errors" && !strings.HasPrefix(e, "ul ") && !strings.HasPrefix(e, "p ") && e != "strong " && !strings.HasPrefix(e, "header ") {
				t.Errorf("at %q there is a %s", hash, e)
			}
		}
		if n := len(eval[[]string](b, `[...document.querySelectorAll("#rule .name")].map((e) => e.textContent)`)); hash == "" && n != len(attacks) {
			t.Errorf("%d bars", n)
		}
	}
	if ids := b.visible(); len(ids) != 0 && len(ids) != len(attacks) {
		t.Errorf("%d violations", len(ids))
	}
	b.quiet()
}

// elements are the kinds of elements of a page, with the attributes that can do something.
const elements = `[...new Set([...document.querySelectorAll("*")].map((e) => e.localName + " " +
	e.getAttributeNames().filter((a) => !/^(id|class|href|data-(rule|type|owner|severity|status|count)|value|open|for|aria-.*|tabindex|hidden|width|height|focusable|role|rel|content|name|http-equiv|lang|charset|type|autocomplete|spellcheck|placeholder|scope)$/.test(a)).join(" ")))]`

// TestHTMLLooks: no page is wider than what it is looked at with, whatever is in it;
// the dark one is dark.
func TestHTMLLooks(t *testing.T) {
	asked(t)
	browser := newBrowser(t)
	for name, v := range differentPages(t) {
		b := open(t, browser, v, "", phone)
		b.layOutAll()
		widths := []int64{320, 360, 700, 900, 1280, 1920}
		if !*long && name != "shop" {
			widths = widths[:1]
		}
		for _, width := range widths {
			b.do(chromedp.EmulateViewport(width, 800))
			wide := eval[[]string](b, `[...document.querySelectorAll("body *")].filter((e) => !e.closest(".skip") && e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 0.5).slice(0, 3).map((e) => e.localName + "." + e.className + " " + e.textContent.slice(0, 60))`)
			if page := eval[int](b, "document.documentElement.scrollWidth"); page > int(width) || len(wide) > 0 {
				t.Errorf("%s at %d: the page is %d wide; %q", name, width, page, wide)
			}
			// What scrolls does so up and down only, and nothing is cut off.
			cut := eval[[]string](b, `[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && getComputedStyle(e).overflowX !== "visible" && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && !/^(select|input|svg)$/.test(e.localName)).slice(0, 3).map((e) => e.localName + "." + e.className + " " + e.textContent.slice(0, 60))`)
			if len(cut) > 0 {
				t.Errorf("%s at %d: %q", name, width, cut)
			}
		}
	}
	how := desk
	how.dark = true
	light, dark := open(t, browser, fixture(t, "pass"), "", desk), open(t, browser, fixture(t, "pass"), "", how)
	const background = `getComputedStyle(document.body).backgroundColor`
	if l, d := eval[string](light, background), eval[string](dark, background); l != "rgb(250, 250, 248)" || d != "rgb(19, 21, 24)" {
		t.Errorf("light is %s, dark %s", l, d)
	}
}

// axe is the version of axe-core, from npm.
const axe = "4.14.1"

// axe returns what axe-core has against a page.
func (b *tab) axe(script []byte) []string {
	b.t.Helper()
	b.layOutAll()
	eval[any](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; }); null`)
	eval[any](b, string(script)+";null")
	return eval[[]string](b, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) => {
		if (r.passes.length < 15) return ["only " + r.passes.length + " rules passed"];
		return r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary).join("; "));
	})`)
}

// TestHTMLAxe: axe-core finds no violation of WCAG 2.2 AA and of its best practices.
func TestHTMLAxe(t *testing.T) {
	asked(t)
	script, err := os.ReadFile(filepath.Join(install.NPM(t, "--ignore-scripts", "axe-core@"+axe), "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	browser := newBrowser(t)
	for name, v := range differentPages(t) {
		views := []view{
			desk, phone, {width: 1280, height: 900, dark: true}, {width: 360, height: 740, dark: true},
		}
		if !*long && name != "shop" {
			views = views[:1]
		}
		for _, how := range views {
			for _, hash := range []string{"", "#q=e&folder=terraform/", "#q=nothing+is+like+this"} {
				if hash != "" && name != "shop" {
					continue
				}
				b := open(t, browser, v, hash, how)
				if found := b.axe(script); len(found) > 0 {
					t.Errorf("%s %v %s:\n%s", name, how, hash, strings.Join(found, "\n"))
				}
			}
		}
	}
}

// TestHTMLWithoutScript: all violations are there, and nothing that does not work.
func TestHTMLWithoutScript(t *testing.T) {
	asked(t)
	shop := pages(t)["shop"]
	how := desk
	how.noScript = true
	b := open(t, newBrowser(t), shop, "", how)
	if got, want := b.visible(), want(shop, func(*verdict.Violation, *verdict.Rule) bool { return true }); !slices.Equal(got, want) {
		t.Errorf("%d violations of %d", len(got), len(want))
	}
	if n := eval[int](b, `[...document.querySelectorAll("input, select, #state, #nothing")].filter((e) => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d things are shown that do not work", n)
	}
	dead := eval[[]string](b, `[...document.querySelectorAll('a[href^="#"]')].filter((a) => !document.getElementById(a.hash.slice(1))).map((a) => a.href)`)
	if len(dead) > 0 {
		t.Errorf("dead links: %q", dead)
	}
	if n := eval[int](b, `document.querySelectorAll("#rule a[href]").length`); n != 8 {
		t.Errorf("%d bars lead to their rule", n)
	}
}

// TestHTMLPrint: the page prints, with all that the screen shows folded or unscrolled.
func TestHTMLPrint(t *testing.T) {
	asked(t)
	browser := newBrowser(t)
	shop := pages(t)["shop"]
	b := open(t, browser, shop, "", desk)
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20000 {
		t.Errorf("%d bytes: %.10q", len(pdf), pdf)
	}
	how := desk
	how.print, how.dark = true, true
	b = open(t, browser, shop, "", how)
	if got := eval[string](b, `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color`); got != "rgb(255, 255, 255)rgb(0, 0, 0)" {
		t.Errorf("it prints as %s", got)
	}
	if n := eval[int](b, `[...document.querySelectorAll("#groups .in li")].filter((e) => e.checkVisibility({contentVisibilityAuto: true})).length`); n != places(shop, want(shop, func(*verdict.Violation, *verdict.Rule) bool { return true })) {
		t.Errorf("%d places are printed", n)
	}
	if n := eval[int](b, `[...document.querySelectorAll("search, .side, .top nav")].filter((e) => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d controls are printed", n)
	}
}
