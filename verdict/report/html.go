package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// The styles and scripts are copied into the templates page.html and fleet.html.
//
//go:embed html/page.html html/style.css html/script.js html/fleet.html html/fleet.css html/fleet.js
var htmlFiles embed.FS

type htmlHead struct {
	Style      template.CSS
	Script     template.JS
	StyleHash  string
	ScriptHash string

	Tone     string // "pass", "fail", "undecided" or "hollow" (a PASS of a run that had nothing to scan)
	Outcome  verdict.Outcome
	Headline string // after the outcome
	Notes    []string
}

// writePage writes a page that makes no request. Its content security policy allows only its own style and script, by
// their hashes. It is complete without the script, which adds search, filters and their links.
//
// html/template escapes the texts for HTML, and the template's functions for terminals and GitHub's runner, in case
// the page is printed to a log.
func writePage(w io.Writer, name string, styles []string, script string, head *htmlHead, page any) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"count": count, "visible": inert, "flow": func(s string) string { return inert(flow(s)) },
		"lines": textLines, "drawn": drawn, "safe": isSafeURL, "moreErrors": moreErrors, "mostFirst": mostFirst,
		"covered":  func(r *summary.Repository) int { return r.Governed },
		"short":    func(commit string) string { return inert(abbreviated(commit)) },
		"why":      reasonWords,
		"sentence": func(s string) string { return inert(full(sentence(s))) },
		"join":     func(all []string) string { return strings.Join(all, ", ") },
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

// htmlFile returns an embedded file with LF line ends, which a browser hashes, whatever the checkout has.
func htmlFile(name string) (string, error) {
	text, err := htmlFiles.ReadFile("html/" + name)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// contentHash is how a content security policy names an inline style or script.
func contentHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// A htmlPage is what page.html shows. The template makes the texts of the verdict visible.
type htmlPage struct {
	htmlHead
	*verdict.Verdict

	ScopeLine string
	Bundles   []string
	Unparsed  []verdict.Omission
	Changes   []string // to the policy
	RuleRows  []*htmlRule

	AllowedNote string
	AllowedNew  []htmlViolation
	EndingsNote string
	Endings     []string

	Groups     []*htmlRule // the RuleRows with violations, in the order of all reports
	Dirs       []tally
	Statuses   []string // in words; empty without a baseline
	Types      []string
	Severities []string // the gravest first
	Owners     []string // by name
}

type htmlRule struct {
	*verdict.Rule
	Bundle  string // "" if there is only one
	State   string // "violated", "holds" or "unknown"
	Outcome string
	Count   int                     // of violations
	Group   string                  // the id of its violations, or ""
	Items   iter.Seq[htmlViolation] // made while they are written: together they are several times the verdict
}

// A htmlViolation is a violation as it is shown.
type htmlViolation struct {
	ID           string // unique in the page; "" without a link
	Status       string // in words; "" without a baseline
	New          bool
	Dir, Name    string // of the file; Dir is "" or ends in "/"
	Line, Column int64  // 0 without a place
	Reason       string // if it is not the rule's message
	Found        string // if the line does not show it
	Notes        []string

	Before, Match, After string // the line

	Rule, Allowance string // of an allowed violation
}

func writeHTML(w io.Writer, document *verdict.Verdict) error {
	v := newView(document)
	p := &htmlPage{
		Verdict: v.Verdict, ScopeLine: v.scopeLine(), Unparsed: v.unparsed(), Changes: v.policyChanges(),
		AllowedNote: v.allowedNote(), Endings: v.endings(), EndingsNote: v.endingsNote(),
		Dirs: byDir(v.Verdict, ""),
	}
	p.htmlHead = htmlHead{Tone: "pass", Outcome: v.Verdict.Verdict, Headline: v.result(), Notes: slices.Concat(
		[]string{v.looked()}, v.notes(), v.caveats())}
	switch {
	case !v.Complete:
		p.Tone = "undecided"
	case !v.passes():
		p.Tone = "fail"
	case v.scannedNothing():
		p.Tone, p.Headline = "hollow", "nothing was scanned"
	}
	for i := range v.Policy {
		p.Bundles = append(p.Bundles, v.bundle(i))
	}
	for _, a := range v.newAllowed {
		x := newHTMLViolation(&a.Violation, "", a.Reason)
		x.Status, x.Rule, x.Allowance = newButAllowed, a.RuleID, allowanceWords(&a.Allowance)
		p.AllowedNew = append(p.AllowedNew, x)
	}
	p.addRules(v)
	return writePage(w, "page.html", []string{"style.css"}, "script.js", &p.htmlHead, p)
}

// addRules lists the rules, their violations, and the values of the filters.
func (p *htmlPage) addRules(v *view) {
	rows := map[*ruleGroup]*htmlRule{}
	for _, g := range v.byRule {
		row := &htmlRule{Rule: g.rule, State: "holds", Outcome: v.ruleOutcome(g), Count: g.numbers.all()}
		switch {
		case row.Count > 0:
			row.State = "violated"
		case v.unchecked(g) != "":
			row.State = "unknown"
		}
		if len(v.Policy) > 1 {
			row.Bundle = g.rule.From
		}
		rows[g] = row
		p.RuleRows = append(p.RuleRows, row)
	}
	used := map[string]int{}
	for i, g := range v.groups {
		row := rows[g]
		row.Group = "rule-" + strconv.Itoa(i+1)
		ids := make([]string, len(g.violations))
		for k, x := range g.violations {
			ids[k] = unique(used, x.Fingerprint)
			if len(x.Fingerprint) != 64 || strings.Trim(x.Fingerprint, "0123456789abcdef") != "" {
				ids[k] = unique(used, "violation")
			}
			p.Statuses = with(p.Statuses, label(x.Status))
		}
		row.Items = func(yield func(htmlViolation) bool) {
			for k, x := range g.violations {
				if !yield(newHTMLViolation(x, ids[k], g.rule.Message)) {
					return
				}
			}
		}
		p.Groups = append(p.Groups, row)
		p.Types = with(p.Types, verdict.Visible(g.rule.Type))
		p.Severities = with(p.Severities, verdict.Visible(g.rule.Severity))
		p.Owners = with(p.Owners, flow(g.rule.Owner))
	}
	sortTallies(p.Dirs)
	slices.Sort(p.Types)
	slices.Sort(p.Owners)
	slices.SortFunc(p.Severities, func(a, b string) int {
		return cmp.Or(severityRank(a)-severityRank(b), strings.Compare(a, b))
	})
}

func newHTMLViolation(x *verdict.Violation, id, message string) htmlViolation {
	f := newFinding(x)
	path := f.path()
	slash := strings.LastIndexByte(path, '/') + 1
	h := htmlViolation{
		ID: id, Dir: path[:slash], Name: path[slash:], Status: label(x.Status), New: x.Status == verdict.Introduced,
		Notes: f.facts(),
	}
	if x.Reason != message {
		h.Reason = x.Reason
	}
	shown := false
	if f.inFile() {
		h.Line, h.Column = f.at.Line, f.at.Column
		left, match, right := sourceLine(&f.at)
		h.Before, h.Match, h.After = left.lead(), match, right.String()
		shown = strings.HasSuffix(match, f.name.plain) // a longer match is cut
	}
	if !shown || f.hidesPattern() {
		h.Found = f.foundLine()
	}
	return h
}
