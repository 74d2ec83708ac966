package report

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// page.html and fleet.html are the templates; the styles and scripts are written into them as they are.
//
//go:embed html/page.html html/style.css html/script.js html/fleet.html html/fleet.css html/fleet.js
var htmlFiles embed.FS

// A htmlHead is what is at the top of each page.
type htmlHead struct {
	Style      template.CSS
	Script     template.JS
	StyleHash  string
	ScriptHash string

	Tone     string // "pass", "fail", "undecided" or "hollow" (a PASS of a run that had nothing to scan)
	Outcome  verdict.Outcome
	Headline string // what follows the outcome
	Notes    []string
}

// writePage writes one page that needs nothing else: no request leaves it, and its content security policy lets only
// its own style and its own script run, by their hashes. It is whole without the script, which adds search, filters and
// their links.
//
// html/template escapes what the page shows for HTML, and the functions of the template make it visible, and such that
// no GitHub runner obeys it when the page is printed to a log.
func writePage(w io.Writer, name string, styles []string, script string, head *htmlHead, page any) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"number": func(n int) string { return grouped(int64(n)) }, "some": some, "bytes": grouped,
		"visible": inert, "flow": func(s string) string { return inert(flow(s)) }, "lines": visibleLines,
		"drawn":     func(s string) string { return inert(spaced(s)) },
		"short":     func(commit string) string { return inert(abbreviated(commit)) },
		"known":     func(severity string) bool { return slices.Contains(severities(), severity) },
		"sentence":  func(s string) string { return inert(full(sentence(s))) },
		"safe":      isSafeURL,
		"join":      func(all []string) string { return strings.Join(all, ", ") },
		"mostFirst": mostFirst, "moreErrors": moreErrors,
	}).ParseFS(htmlFiles, "html/"+name)
	if err != nil {
		return err
	}
	style := ""
	for _, name := range styles {
		text, err := htmlFile(name)
		if err != nil {
			return err
		}
		style += text
	}
	text, err := htmlFile(script)
	if err != nil {
		return err
	}
	head.Style, head.StyleHash = template.CSS(style), contentHash(style)
	head.Script, head.ScriptHash = template.JS(text), contentHash(text)
	b := bufio.NewWriterSize(w, 64<<10) // a template writes a few bytes at a time
	if err := t.Execute(b, page); err != nil {
		return err
	}
	return b.Flush()
}

// htmlFile returns an embedded file with the line ends that a browser hashes, whatever a checkout made of them.
func htmlFile(name string) (string, error) {
	text, err := htmlFiles.ReadFile("html/" + name)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// contentHash is how a content security policy names an inline style or script.
func contentHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// severities are those of a bundle, the gravest first.
func severities() []string { return []string{"critical", "high", "medium", "low"} }
