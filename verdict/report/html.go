package report

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
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

	Title    string // of the window
	Tone     string // "pass", "fail", "undecided" or "hollow" (a PASS of a run that had nothing to scan)
	Outcome  string // PASS or FAIL
	Headline string // what follows the outcome
	Brand    string // the program and its version
	Notes    []string
}

func newHTMLHead(tool verdict.Tool, outcome verdict.Outcome) htmlHead {
	return htmlHead{Outcome: string(outcome), Brand: verdict.Visible(strings.TrimSpace(tool.Name + " " + tool.Version))}
}

// say sets tone, headline and title.
func (h *htmlHead) say(tone, headline, titleEnd string) {
	h.Tone, h.Headline, h.Title = tone, headline, h.Outcome+": "+headline+titleEnd
	if tone == "undecided" {
		h.Title = "INCOMPLETE " + h.Title
	}
}

func (h *htmlHead) note(s string) { h.Notes = append(h.Notes, s) }

// allowed notes the reasons of --allow.
func (h *htmlHead) allowed(reasons []string) {
	if len(reasons) > 0 {
		h.note("Explicitly allowed with --allow: " + verdict.Visible(strings.Join(reasons, ", ")) + ".")
	}
}

// writePage writes one page that needs nothing else: no request leaves it, and its content security policy lets only
// its own style and its own script run, by their hashes. It is whole without the script, which adds search, filters and
// their links.
//
// html/template escapes what the page shows for HTML, the functions of the template make it visible, and that no GitHub
// runner obeys "##[" when the page is printed to a log is done here.
func writePage(w io.Writer, name string, styles []string, script string, head *htmlHead, page any) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"number": func(n int) string { return grouped(int64(n)) }, "some": some, "bytes": grouped, "grave": grave,
		"visible": verdict.Visible, "flow": flow, "lines": visibleLines, "safe": isSafeURL, "short": shortCommit,
		"join": func(all []string) string { return strings.Join(all, ", ") },
		"why":  omissionInWords, "about": bundleInWords, "state": fleetState, "mostFirst": mostFirst,
		"moreErrors": moreErrors, "files": fleetFiles,
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
	safe := &commandEscaper{to: w}
	b := bufio.NewWriterSize(safe, 64<<10) // a template writes a few bytes at a time
	if err := t.Execute(b, page); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return safe.end()
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

// A commandEscaper writes the middle of "##[" as a character reference of HTML and XML, of a text that comes in parts.
type commandEscaper struct {
	to   io.Writer
	held []byte // the last bytes, which the next part may make "##["
}

// Write takes the next part. The number that it returns is that of bytes taken.
func (c *commandEscaper) Write(part []byte) (int, error) {
	text := append(c.held, part...)
	n := len(text)
	for n > 0 && n > len(text)-2 && text[n-1] == '#' {
		n--
	}
	_, err := c.to.Write(bytes.ReplaceAll(text[:n], []byte("##["), []byte("#&#35;[")))
	c.held = append(c.held[:0], text[n:]...)
	return len(part), err
}

// end writes what is left.
func (c *commandEscaper) end() error {
	_, err := c.to.Write(c.held)
	return err
}

// severities are those of a bundle, the gravest first.
func severities() []string { return []string{"critical", "high", "medium", "low"} }

// grave is a severity if it has a colour, else "".
func grave(severity string) string {
	if slices.Contains(severities(), severity) {
		return severity
	}
	return ""
}

// writeHTML writes the verdict as one page.
func writeHTML(w io.Writer, v *verdict.Verdict) error {
	p := newHTMLPage(newView(v))
	return writePage(w, "page.html", []string{"style.css"}, "script.js", &p.htmlHead, p)
}

// headline says the result of the run, how much it looked at, and what limits that.
func (p *htmlPage) headline(v *view) {
	c, found := &v.Coverage, "no violation"
	if len(v.Violations) > 0 {
		found = v.counts(some)
	}
	tone, headline := "pass", found+v.allowedSuffix()
	switch {
	case !v.Complete && len(v.Violations) > 0:
		tone, headline = "undecided", found+", and not all could be decided"
	case !v.Complete:
		tone, headline = "undecided", "could not decide"
	case !v.passes() && len(v.Violations) == 0:
		tone, headline = "fail", "no rule was enforced"
	case !v.passes():
		tone, headline = "fail", found
	case c.Scanned == 0 && !v.onlyPaths():
		tone, headline = "hollow", "nothing was scanned"
	}
	p.say(tone, headline, " (policyscan)")
	switch {
	case c.Files > 0 && v.coversNothing():
		p.note("No file is covered by a rule: no rule selects any file of this tree.")
	case c.Files == 0 && v.passes():
		p.note("There was nothing to scan.")
	case c.Governed > 0:
		p.note(fmt.Sprintf("%s of %s checked against %s, each in full.", grouped(int64(c.Scanned)),
			some(c.Governed, "covered file"), some(len(v.Rules), "rule")))
	case v.onlyPaths():
		p.note("Rules checked the paths of " + some(c.Files, "file") + "; none of the files is covered by a rule.")
	}
	if n := len(v.unused); n > 0 && !v.coversNothing() {
		p.note(fmt.Sprintf("%s of %s %s no file.", grouped(int64(n)), some(len(v.Rules), "rule"), selects(n)))
	}
	if n := len(v.PolicyChanges); n > 0 {
		p.note("The change alters the policy itself, in " + some(n, "place") + ": see below.")
	}
	if text := v.behindNote(); text != "" {
		p.note(full(verdict.Visible(sentence(text))))
	}
	if text := v.requiredNote(); text != "" {
		p.note(full(text))
	}
	if v.Partial {
		why, so := v.partialNote()
		p.note(full(verdict.Visible(sentence(why + ": " + so))))
	}
	p.allowed(v.Allowed)
}

// judged says in one sentence which files were checked with which bundles.
func judged(v *view) string {
	what := cmp.Or(verdict.Visible(v.compared()), v.scopeWords())
	var by []string
	for i := range v.Policy {
		b := &v.Policy[i]
		by = append(by, verdict.Visible(fmt.Sprintf("the bundle %s (%s)", abbreviated(b.SHA256), b.From)))
	}
	switch {
	case what == "" && len(by) == 0:
		return ""
	case len(by) == 0:
		return "Checked: " + what + ", with no bundle: none could be loaded."
	}
	return "Checked: " + what + ", with " + strings.Join(by, " and ") + "."
}

func bundleInWords(from string) string {
	return map[string]string{
		"disk":      "a folder, as it was",
		"builtin":   "the built-in starter bundle",
		"base":      "from the base",
		"head":      "from the head",
		"index":     "from the next commit",
		"bootstrap": "the change adds the first bundle",
		"commit":    "from a commit, with --policy-ref",
	}[from]
}

// omissionInWords explains a reason of docs/verdict.md.
func omissionInWords(reason string) string {
	return map[string]string{
		"git":                    "git's own folder",
		"rules":                  "a rule file in use",
		"output":                 "written by this run",
		verdict.LeftRequiredFile: "a required file that was not looked for: this scope does not have the whole tree",
		"special-file":           "a FIFO, socket or device",
		"symlink":                "a link to what the rules treat differently; its target string was checked",
		"lfs-pointer":            "a Git LFS pointer; its own text was checked",
		"encoding":               "git checks it out in an unknown encoding; its blob was checked",
		"encrypted":              "git-crypt has encrypted it; its own bytes were checked",
		"submodule":              "its files are not here",
		"unreadable":             "it could not be read",
		"changed":                "it changed while it was read",
		"limit":                  "over a limit: the error says which",
		"unparsable":             "it cannot be parsed; its text was checked",
		"unknown-format":         "its name does not say its format; its text was checked",
		"internal":               "a bug in policyscan",
		"not-reached":            "the run ended before",
		"case-collision":         "another tracked file is in its place on disk",
		"absent":                 "git tracks it, and it is not on disk",
	}[reason]
}
