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
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// The styles and scripts are copied into the templates page.html and fleet.html.
//
//go:embed html/page.html html/style.css html/script.js html/fleet.html html/fleet.css html/fleet.js
//go:embed html/history.html html/history.css html/trend.html html/trend.css
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
func writePage(
	w io.Writer, name string, styles []string, script string, head *htmlHead, page any, funcs template.FuncMap,
) error {
	t := template.Must(template.New(name).Funcs(template.FuncMap{
		"count": count, "number": number, "noun": noun, "bytes": func(n int64) string { return number(int(n)) },
		"visible": inert, "flow": func(s string) string { return inert(flow(s)) },
		"lines": textLines, "drawn": drawn, "safe": isSafeURL, "moreErrors": moreErrors, "mostFirst": mostFirst,
		"covered":  func(r *summary.Repository) int { return r.Governed },
		"short":    func(commit string) string { return inert(abbreviated(commit)) },
		"why":      reasonWords,
		"sentence": func(s string) string { return inert(full(sentence(s))) },
		"join":     func(all []string) string { return strings.Join(all, ", ") },
	}).Funcs(funcs).ParseFS(htmlFiles, "html/"+name))
	style := ""
	for _, name := range styles {
		style += htmlFile(name)
	}
	text := htmlFile(script)
	head.Style, head.StyleHash = template.CSS(style), contentHash(style)
	head.Script, head.ScriptHash = template.JS(text), contentHash(text)
	b := bufio.NewWriterSize(w, 64<<10) // a template writes a few bytes at a time
	if err := t.Execute(b, page); err != nil {
		return err
	}
	return b.Flush()
}

// htmlFile returns an embedded file with LF line ends, which a browser hashes, whatever the checkout has.
func htmlFile(name string) string {
	text, _ := htmlFiles.ReadFile("html/" + name) // it is embedded
	return strings.ReplaceAll(string(text), "\r\n", "\n")
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

	Tree   string // the name of the scanned directory; "" if unknown
	Files  string // of the scope, in words
	Places int    // to fix, with required files that are missing
	Rules  int    // ids of them

	AllowedPlaces int
	AllowedNew    []htmlAllowed
	Allowances    []htmlAllowed // used ones, by file, then rule

	RuleRows   []*htmlRule
	Groups     []*htmlRule // the RuleRows with places to fix, in the order of all reports
	Dirs       []tally     // with most places
	MoreDirs   int
	Statuses   []string // in words; empty without a baseline
	Types      []string
	Severities []string // the gravest first
	Owners     []string // by name
}

type htmlRule struct {
	*verdict.Rule
	Section string // the heading above its places; "" without one
	Owner   string // of the rule, or of the files
	Bundle  string // "" if there is only one
	State   string // "violated", "holds" or "unknown"
	Outcome string
	Count   int    // of places
	Group   string // the id of its section, or ""
	Fixes   []string
	Reason  string // of all places, if the rule has no message; "" if they differ
	Found   string // of all places; "" if they differ, or if Reason names it

	// The first files, and the others, which are folded. They are made while they are written: together they are
	// several times the verdict.
	First, Rest iter.Seq[htmlFileGroup]
	RestNote    string // "" without a rest
}

type htmlFileGroup struct {
	Dir, Name string // Dir is "" or ends in "/"
	Counts    string // "" for a single place
	Places    []htmlPlace
}

// A htmlPlace is a place as it is shown, or the number of places that the verdict does not list.
type htmlPlace struct {
	ID           string // unique in the page; "" if nothing leads to it
	Status       string // in words; "" without a baseline
	New          bool
	Line, Column int64  // 0 without a place
	Reason       string // if it is not the rule's
	Found        string // if neither the line nor the rule shows it
	Notes        []string
	Unlisted     int // 0: it is a place

	Before, Match, After string // the line; without a match only what was looked for
}

type htmlAllowed struct {
	File, Rule, Note string
	Shown            htmlFileGroup
}

const (
	openFiles = 20 // of a rule: more are folded
	mostDirs  = 10
)

// writeHTML writes the page. tree names what was scanned, which the verdict does not; it may be "".
func writeHTML(w io.Writer, document *verdict.Verdict, tree string, a Arrangement) error {
	v := newView(document)
	v.arrange(a)
	p := &htmlPage{
		Verdict: v.Verdict, Tree: tree, Files: cmp.Or(v.scope(), v.modeWords()), Places: v.numbers.all(),
		Rules: v.ruleCount(), Dirs: v.byDir(""),
	}
	p.htmlHead = htmlHead{Tone: "pass", Outcome: v.Verdict.Verdict, Headline: v.result(), Notes: slices.Concat(
		with(nil, strings.TrimPrefix(v.looked(), "; ")), v.notes(), v.caveats())}
	switch {
	case !v.Complete:
		p.Tone = "undecided"
	case !v.passes():
		p.Tone = "fail"
	case v.scannedNothing():
		p.Tone, p.Headline = "hollow", "nothing was scanned"
	}
	if n := len(p.Dirs) - mostDirs; n > 0 {
		p.Dirs, p.MoreDirs = p.Dirs[:mostDirs], n
	}
	p.addAllowed(v)
	p.addRules(v)
	return writePage(w, "page.html", []string{"style.css"}, "script.js", &p.htmlHead, p, template.FuncMap{
		"allowedNote": v.allowedNote, "bundle": v.bundle, "changes": v.policyChanges, "date": dateWords,
		"endings": v.endings, "endingsNote": v.endingsNote, "scopeLine": v.scopeLine, "unparsed": v.unparsed,
	})
}

// dateWords shortens a date of a verdict; "" without one.
func dateWords(date string) string {
	t, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return ""
	}
	return t.Format("2006-01-02 15:04 UTC")
}

func (p *htmlPage) addAllowed(v *view) {
	p.AllowedPlaces, _ = v.allowedPlaces()
	for _, a := range v.newAllowed {
		f := &fileGroup{path: a.File, violations: []*verdict.Violation{&a.Violation}}
		p.AllowedNew = append(p.AllowedNew, htmlAllowed{
			Note: allowedSentence(a), Shown: newHTMLFile(a.File, htmlPlaces(f, nil, []string{a.Reason})),
		})
	}
	for _, u := range inOrder(v.usedAllowances(), func(u *usedAllowance) string { return u.file }) {
		p.Allowances = append(p.Allowances, htmlAllowed{
			File: u.file, Rule: u.rule, Note: count(u.places, "place") + ", " + allowanceWords(u.Allowance),
		})
	}
}

func (p *htmlPage) addRules(v *view) {
	rows := map[*verdict.Rule]*htmlRule{}
	for _, g := range v.byRule {
		row := &htmlRule{Rule: g.rule, State: "holds", Outcome: v.ruleOutcome(g), Count: g.numbers.all()}
		row.Owner = ownerNames(g.rule, g.violations...)
		switch {
		case row.Count > 0:
			row.State = "violated"
		case v.unchecked(g) != "":
			row.State = "unknown"
		}
		if len(v.Policy) > 1 {
			row.Bundle = g.rule.From
		}
		rows[g.rule] = row
		p.RuleRows = append(p.RuleRows, row)
	}
	used := map[string]int{}
	for _, s := range v.sections {
		for _, g := range s.groups {
			row := *rows[g.rule]
			row.Group = "rule-" + strconv.Itoa(len(p.Groups)+1)
			rows[g.rule].Group = cmp.Or(rows[g.rule].Group, row.Group)
			row.Section, row.Owner = s.title, ownerNames(g.rule, g.violations...)
			row.Outcome, row.Count = v.ruleOutcome(g), g.numbers.all()
			row.addPlaces(g, used)
			p.Groups = append(p.Groups, &row)
			p.Types = with(p.Types, verdict.Visible(g.rule.Type))
			p.Severities = with(p.Severities, verdict.Visible(g.rule.Severity))
			p.Owners = with(p.Owners, flow(row.Owner))
		}
	}
	if n := v.numbers; n.compared {
		if n.fresh+n.freshMissing > 0 {
			p.Statuses = append(p.Statuses, label(verdict.Introduced))
		}
		if n.fresh+n.freshMissing < n.all() {
			p.Statuses = append(p.Statuses, label(verdict.PreExisting))
		}
	}
	slices.Sort(p.Types)
	slices.Sort(p.Owners)
	slices.SortFunc(p.Severities, func(a, b string) int {
		return cmp.Or(severityRank(a)-severityRank(b), strings.Compare(a, b))
	})
}

// addPlaces lists the places of a rule by file. used has the ids of the page.
func (row *htmlRule) addPlaces(g *ruleGroup, used map[string]int) {
	said := []string{g.rule.Message}
	row.Fixes = remedies(g.rule, g.violations...)
	if reason := commonReason(g.violations); g.rule.Message == "" && reason != "" {
		said = append(said, reason)
		row.Reason = untitled(reason, g.rule.Title)
	}
	if first := newFinding(g.violations[0]); isOnePattern(g.violations) {
		said = append(said, first.foundLine())
		if !first.isIn(row.Reason) {
			row.Found = first.foundLine()
		}
	}
	files := func(all []*fileGroup) iter.Seq[htmlFileGroup] {
		return func(yield func(htmlFileGroup) bool) {
			for _, f := range all {
				file := newHTMLFile(f.path, htmlPlaces(f, used, said))
				if n := f.numbers; n.all() > 1 {
					file.Counts = n.perFile()
				}
				if !yield(file) {
					return
				}
			}
		}
	}
	n := min(len(g.files), openFiles)
	row.First, row.Rest = files(g.files[:n]), files(g.files[n:])
	if rest := g.files[n:]; len(rest) > 0 {
		places := 0
		for _, f := range rest {
			places += f.numbers.all()
		}
		row.RestNote = count(len(rest), "more file") + " with " + count(places, "place")
	}
}

func isOnePattern(all []*verdict.Violation) bool {
	e := &all[0].Evidence
	return !slices.ContainsFunc(all, func(x *verdict.Violation) bool {
		return x.Evidence.Pattern != e.Pattern || x.Evidence.Kind != e.Kind
	})
}

// isIn reports whether a reason names the pattern.
func (f *finding) isIn(reason string) bool {
	return strings.Contains(reason, f.Evidence.Pattern) || strings.Contains(reason, f.pattern())
}

// perFile is the number of places in a file, or of missing ones, and of new ones, if known.
func (n *placeCounts) perFile() string {
	s := count(n.all(), "place")
	if n.missing > 0 {
		s = count(n.all(), "file")
	}
	if n.compared {
		s += ", " + newWords(n.fresh+n.freshMissing)
	}
	return s
}

func newHTMLFile(file string, places []htmlPlace) htmlFileGroup {
	path := theTree
	if file != "" {
		path = verdict.Visible(file)
	}
	slash := strings.LastIndexByte(path, '/') + 1
	return htmlFileGroup{Dir: path[:slash], Name: path[slash:], Places: places}
}

// htmlPlaces are the places of a file, except for texts that were said of all of the rule's. used has the ids of the
// page; nil: no id is needed.
func htmlPlaces(f *fileGroup, used map[string]int, said []string) []htmlPlace {
	findings, more, fresh := f.findings(math.MaxInt)
	var all []htmlPlace
	lead := map[*verdict.Violation]*finding{} // the first new place, or else the first
	for _, x := range findings {
		l := lead[x.Violation]
		if l == nil || l.status() != verdict.Introduced && x.status() == verdict.Introduced {
			lead[x.Violation] = x
		}
	}
	for _, x := range findings {
		h := newHTMLPlace(x, said)
		if lead[x.Violation] == x && used != nil {
			h.ID = anchor(used, x.Fingerprint)
		}
		all = append(all, h)
	}
	if fresh > 0 {
		all = append(all, htmlPlace{Unlisted: fresh, Status: label(verdict.Introduced), New: true})
	}
	if old := more - fresh; old > 0 {
		h := htmlPlace{Unlisted: old}
		if f.numbers.compared {
			h.Status = label(verdict.PreExisting)
		}
		all = append(all, h)
	}
	return all
}

// anchor is an unused id: the fingerprint, if it is one.
func anchor(used map[string]int, fingerprint string) string {
	if len(fingerprint) != 64 || strings.Trim(fingerprint, "0123456789abcdef") != "" {
		fingerprint = "violation"
	}
	return unique(used, fingerprint)
}

func newHTMLPlace(f *finding, said []string) htmlPlace {
	h := htmlPlace{Status: label(f.status()), New: f.status() == verdict.Introduced}
	if !slices.Contains(said, f.Reason) {
		h.Reason = f.Reason
	}
	if f.first {
		h.Notes = f.remarks()
	}
	shown := false
	if f.inFile() {
		h.Line, h.Column = f.at.Line, f.at.Column
		if f.at.Excerpt != "" {
			left, match, right := trimmedLine(&f.at)
			h.Before, h.Match, h.After = left.lead(), match, right.String()
			shown = strings.HasSuffix(match, f.name.plain) // a longer match is cut
		}
	}
	switch found := f.foundLine(); {
	case f.inFile() && f.at.Excerpt == "" && !f.hidesPattern(): // a literal, which is the text there
		h.After = f.name.plain
	case (!shown || f.hidesPattern()) && !slices.Contains(said, found):
		h.Found = found
	}
	return h
}
