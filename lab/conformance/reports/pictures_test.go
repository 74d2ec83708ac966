package reports

import (
	"bytes"
	"context"
	"flag"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/policyscan/policyscan/verdict/report"
)

var pictures = flag.String("pictures", "", "a directory for the pictures of docs/reports.md")

// TestPictures makes the pictures of the manual: make pictures
func TestPictures(t *testing.T) {
	asked(t)
	if *pictures == "" {
		t.Skip("it runs with -pictures DIR")
	}
	browser := newBrowser(t)
	shop := scan(t, infrastructure())
	open(t, browser, shop, "", view{width: 1200, height: 820}).picture(filepath.Join(*pictures, "html.png"))

	few := *shop
	few.Violations = nil
	shown := map[string]int{}
	for _, x := range shop.Violations {
		if shown[x.RuleID]++; shown[x.RuleID] == 1 && slices.Contains([]string{"TF-NET-001", "TF-IAM-001", "K8S-POD-001"}, x.RuleID) {
			few.Violations = append(few.Violations, x)
		}
	}
	var terminal, page bytes.Buffer
	if err := report.WriteText(&terminal, &few, report.TextOptions{Color: true, Width: 100, Policy: "policy", Root: "."}); err != nil {
		t.Fatal(err)
	}
	show(t, browser, "terminal.png", view{width: 960, height: 605}, `body { margin: 0; padding: 20px; background: #16181d; color: #d5d8de; font: 15px/1.45 monospace }
		pre { margin: 0; font: inherit; white-space: pre-wrap; word-break: break-all } .s1 { font-weight: bold; color: #fff } .s2 { opacity: .6 } .s31 { color: #ff7b72; font-weight: bold }
		.s32 { color: #7ee787; font-weight: bold } .s34 { color: #79c0ff; font-weight: bold }`, "<pre>"+colours(t, terminal.String())+"</pre>")

	if err := report.Named("markdown").Write(&page, &few); err != nil {
		t.Fatal(err)
	}
	show(t, browser, "markdown.png", view{width: 960, height: 900}, `body { margin: 0; padding: 24px 32px; font: 16px/1.5 sans-serif; color: #1f2328 }
		h2 { padding-bottom: .3em; border-bottom: 1px solid #d1d9e0 } a { color: #0969da } table { border-collapse: collapse }
		th, td { padding: 6px 13px; border: 1px solid #d1d9e0 } code, pre { font: 13.6px monospace; background: #eff1f3; border-radius: 6px }
		code { padding: .2em .4em } pre { padding: 16px; overflow: auto; line-height: 1.45 } pre code { padding: 0 }`, rendered(t, cmark(t), page.String()))
}

// show takes a picture of a page.
func show(t *testing.T, browser context.Context, name string, how view, style, body string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	text := "<!doctype html><html lang=en><meta charset=utf-8><title>picture</title><style>" + style + "</style>" + body
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	b := open(t, browser, nil, "", how)
	b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()))
	b.picture(filepath.Join(*pictures, name))
}

// colours writes a terminal's text as HTML.
func colours(t *testing.T, text string) string {
	t.Helper()
	sequence := regexp.MustCompile("\x1b\\[([0-9;]*)m")
	out := sequence.ReplaceAllStringFunc(html.EscapeString(text), func(s string) string {
		code := sequence.FindStringSubmatch(s)[1]
		if code == "0" {
			return "</span>"
		}
		return `<span class="s` + strings.TrimPrefix(code, "1;") + `">`
	})
	if strings.Contains(out, "\x1b") {
		t.Fatalf("a sequence is not known in %q", out)
	}
	return out
}
