package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// htmlPage is what the template shows. Every text of unknown origin in it has gone through
// [verdict.Visible]; those of several lines are lists of lines.
type htmlPage struct {
	Style      template.CSS
	Script     template.JS
	StyleHash  string
	ScriptHash string

	Title    string // of the window
	Tone     string // "pass", "fail", "undecided" or "hollow" (a PASS of a run that had nothing to scan)
	Outcome  string // PASS or FAIL
	Headline string // what follows the outcome
	Tool     string
	Judged   string // what was judged, by what
	Notes    []string
	Figures  []htmlFigure

	Scope      []htmlFact
	Policy     []htmlPolicy
	Changes    []string // to the policy
	Rules      []htmlRule
	Errors     []htmlError
	LeftOut    []htmlOmission
	NotScanned []htmlOmission
	Unparsed   []htmlOmission

	Violations int
	Groups     []htmlGroup
	RuleBars   []htmlBar
	FolderBars []htmlBar
	Types      []string // to choose from, like the two that follow
	Severities []string // the gravest first
	Owners     []string // by name
}

type htmlFigure struct{ Name, Value string }

type htmlFact struct {
	Name   string
	Values []string
	Code   bool // hashes and names, not words
}

type htmlPolicy struct {
	From, About, Commit, SHA256, Counts string
}

type htmlRule struct {
	ID, Type, Title, Owner, Severity, Tags string
	From                                   string // "" where there is one bundle only
	Grave                                  string // Severity, if it is one of the four that have a colour
	Docs                                   string // the address as it is shown
	DocsLink                               string // the address as it is followed; "" if it is not one to follow
	Message, Remediation                   []string
	Files                                  string
	Violations                             int
	// "violated", "holds", "unused", "idle" (nothing was scanned) or, of a run that could not decide, "unknown"
	State string
	Group string // the id of its violations; "" if there is none
}

type htmlError struct {
	Code, File string
	Message    []string
}

type htmlOmission struct{ File, Reason, About string }

// A htmlBar is how many violations there are of a rule, or in a folder.
type htmlBar struct {
	Name, Group string
	Count       int
	Share       int // of the longest bar, in percent
}

// A htmlGroup is a rule and its violations.
type htmlGroup struct {
	htmlRule
	Items []htmlViolation
}

type htmlViolation struct {
	ID            string // unique in the page
	Folder, Name  string // of the file; Folder is "" or ends in "/"
	Line, Column  int64  // 0 for what has no place
	Notes         []string
	Reason        []string // if it is not the rule's message
	Found         string   // what Pattern is
	Pattern       string   // if the excerpt does not show it whole
	PatternEnd    string   // what else is said of it
	Before, After bool     // the excerpt was cut there
	Lines         []htmlLine
}

// newHTMLPage makes the page of a verdict, but for its style and script.
func newHTMLPage(v *verdict.Verdict) *htmlPage {
	p := &htmlPage{Outcome: string(v.Verdict),
		Tool: verdict.Visible(strings.TrimSpace(v.Tool.Name + " " + v.Tool.Version)), Violations: len(v.Violations)}
	p.rules(v)
	p.violations(v)
	p.bars(v)
	p.headline(v)
	p.coverage(v)
	for i := range v.Errors {
		e := &v.Errors[i]
		p.Errors = append(p.Errors,
			htmlError{verdict.Visible(e.Code), verdict.Visible(e.File), visibleLines(e.Message)})
	}
	return p
}

// visibleLines is [verdict.Visible] for a text that may have several lines.
func visibleLines(s string) []string {
	s = strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if strings.TrimSpace(s) == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = drawn(strings.TrimRight(l, " \t"))
	}
	return lines
}

func (p *htmlPage) rules(v *verdict.Verdict) {
	for i := range v.Rules {
		p.Rules = append(p.Rules, newHTMLRule(&v.Rules[i], len(v.Policy) > 1, v.Complete))
		if r := &p.Rules[i]; r.State == "holds" && v.Coverage.Scanned == 0 && !onlyPaths(v) {
			r.State = "idle"
		}
	}
}

func newHTMLRule(r *verdict.Rule, several, complete bool) htmlRule {
	h := htmlRule{
		ID: verdict.Visible(r.ID), Type: verdict.Visible(r.Type), Title: flow(r.Title), Owner: flow(r.Owner),
		Severity: verdict.Visible(r.Severity),
		Tags:     verdict.Visible(strings.Join(r.Tags, ", ")), Docs: verdict.Visible(r.DocsURL),
		Message: visibleLines(r.Message), Remediation: visibleLines(r.Remediation), Files: grouped(int64(r.Files)),
	}
	if followed(r.DocsURL) {
		h.DocsLink = r.DocsURL
	}
	if several {
		h.From = verdict.Visible(r.From)
	}
	if slices.Contains(gravity(), r.Severity) {
		h.Grave = r.Severity
	}
	switch {
	case r.Files == 0:
		h.State = "unused"
	case !complete:
		h.State = "unknown"
	default:
		h.State = "holds"
	}
	return h
}

// gravity is the severities of a bundle, the gravest first.
func gravity() []string { return []string{"critical", "high", "medium", "low"} }

// violations puts the violations under their rules, in the verdict's order.
func (p *htmlPage) violations(v *verdict.Verdict) {
	type key struct{ id, kind, title string }
	unknown := map[key]int{} // of a verdict that was not written by a scan
	groups := map[int]int{}  // of p.Groups, by rule
	taken := map[string]bool{}
	for i, r := range ruleIndexes(v) {
		x := &v.Violations[i]
		if r < 0 {
			k := key{x.RuleID, x.RuleType, x.Title}
			known := false
			if r, known = unknown[k]; !known {
				p.Rules = append(p.Rules,
					newHTMLRule(&verdict.Rule{ID: x.RuleID, Type: x.RuleType, Title: x.Title}, false, v.Complete))
				r = len(p.Rules) - 1
				unknown[k] = r
			}
		}
		g, ok := groups[r]
		if !ok {
			g = len(p.Groups)
			groups[r] = g
			p.Rules[r].Group = "rule-" + strconv.Itoa(g+1)
			p.Groups = append(p.Groups, htmlGroup{})
		}
		message := ""
		if r < len(v.Rules) {
			message = v.Rules[r].Message
		}
		p.Rules[r].Violations++
		p.Rules[r].State = "violated"
		p.Groups[g].Items = append(p.Groups[g].Items, newHTMLViolation(x, anchor(x.Fingerprint, i, taken), message))
	}
	for r, g := range groups {
		p.Groups[g].htmlRule = p.Rules[r]
	}
}

// anchor returns the id of the element of a violation: its fingerprint, or where that is
// none or taken one from its number.
func anchor(fingerprint string, i int, taken map[string]bool) string {
	if len(fingerprint) != 64 || strings.Trim(fingerprint, "0123456789abcdef") != "" || taken[fingerprint] {
		return "violation-" + strconv.Itoa(i+1)
	}
	taken[fingerprint] = true
	return fingerprint
}

func newHTMLViolation(x *verdict.Violation, id, message string) htmlViolation {
	e := &x.Evidence
	file := verdict.Visible(x.File)
	slash := strings.LastIndexByte(file, '/') + 1
	h := htmlViolation{ID: id, Folder: file[:slash], Name: file[slash:]}
	if x.File == "" {
		h.Name = theTree
	}
	if e.Occurrences > 1 {
		h.Notes = append(h.Notes, "first of "+grouped(e.Occurrences)+" in this file")
	}
	if inAnotherEncoding(e) {
		h.Notes = append(h.Notes, "found as "+verdict.Visible(e.Encoding))
	}
	if x.Note != "" {
		h.Notes = append(h.Notes, verdict.Visible(x.Note))
	}
	if x.Reason != message {
		h.Reason = visibleLines(x.Reason)
	}
	if hasPlace(e) {
		h.Line, h.Column = e.Line, e.Column
		h.excerpt(e)
	}
	if hidesPattern(e) {
		h.found(x)
	}
	return h
}

// bars counts the violations of each rule, and of each folder of the root.
func (p *htmlPage) bars(v *verdict.Verdict) {
	count := func(names, groups []string) (all []htmlBar) {
		at, most := map[string]int{}, 0
		for i, name := range names {
			n, ok := at[name]
			if !ok {
				n = len(all)
				at[name] = n
				all = append(all, htmlBar{Name: name, Group: groups[i]})
			}
			all[n].Count++
			most = max(most, all[n].Count)
		}
		for i := range all {
			all[i].Share = max(1, all[i].Count*100/most)
		}
		slices.SortStableFunc(all,
			func(a, b htmlBar) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Name, b.Name)) })
		return all
	}
	var ids, folders, groups []string
	for _, g := range p.Groups {
		for _, x := range g.Items {
			folder, _, inside := strings.Cut(x.Folder, "/")
			if folder += "/"; !inside {
				folder = "./"
			}
			ids, folders, groups = append(ids, g.ID), append(folders, folder), append(groups, g.Group)
		}
		p.Types = with(p.Types, g.Type)
		p.Severities = with(p.Severities, g.Severity)
		p.Owners = with(p.Owners, g.Owner)
	}
	p.RuleBars = count(ids, groups)
	p.FolderBars = count(folders, make([]string, len(folders)))
	slices.Sort(p.Types)
	slices.Sort(p.Owners)
	slices.SortFunc(p.Severities, func(a, b string) int {
		rank := func(s string) int {
			if i := slices.Index(gravity(), s); i >= 0 {
				return i
			}
			return len(gravity())
		}
		return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
	})
}

// with returns a list with one more text, if that is one and not there yet.
func with(all []string, s string) []string {
	if s == "" || slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// grouped is a number with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// some is a count in words.
func some(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", grouped(int64(n)), thing)
}
