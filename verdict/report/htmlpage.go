package report

import (
	"cmp"
	"html/template"
	"iter"
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

	Allowed     int
	AllowedNote string // how many are allowed; "" if none is
	AllowedNew  []htmlAllowed
	EndingsNote string // how many allowances end soon
	Endings     []string

	Violations int
	Groups     []htmlGroup
	RuleBars   []htmlBar
	FolderBars []htmlBar
	Statuses   []string // in words; none where there was nothing to compare with
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
	Allowed                                int // violations that allowances let be
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
	New   string                  // how many of them are new, in words; "" where nothing tells
	Items iter.Seq[htmlViolation] // made when they are written: together they are several times the verdict

	violations []*verdict.Violation
}

// A htmlAllowed is a violation that is new and allowed.
type htmlAllowed struct {
	Violation       htmlViolation
	Rule, Allowance string
}

type htmlViolation struct {
	ID            string // unique in the page; "" if nothing leads there
	Status        string // in words; "" where there was nothing to compare with
	New           bool
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
	p.allowed(v)
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
	if isSafeURL(r.DocsURL) {
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

// violations puts the violations under their rules, in the order of all reports.
func (p *htmlPage) violations(v *verdict.Verdict) {
	at := map[*verdict.Rule]int{}
	for i := range v.Rules {
		at[&v.Rules[i]] = i
	}
	taken := map[string]bool{}
	number := 0
	groups, _ := ruleGroups(v, ruleIndexes(v))
	for i, g := range groups {
		r, listed := at[g.rule]
		if !listed { // of a verdict that was not written by a scan
			r = len(p.Rules)
			p.Rules = append(p.Rules, newHTMLRule(g.rule, false, v.Complete))
		}
		rule := &p.Rules[r]
		rule.Group = "rule-" + strconv.Itoa(i+1)
		rule.Violations, rule.State = len(g.violations), "violated"
		h := htmlGroup{htmlRule: *rule}
		if g.violations[0].Status != "" {
			h.New = newWords(countNew(g.violations))
		}
		ids := make([]string, len(g.violations))
		for k, x := range g.violations {
			number++
			ids[k] = anchor(x.Fingerprint, number, taken)
			p.Statuses = with(p.Statuses, statusWords(x.Status))
		}
		h.violations = g.violations
		h.Items = func(yield func(htmlViolation) bool) {
			for k, x := range g.violations {
				if !yield(newHTMLViolation(x, ids[k], g.rule.Message)) {
					return
				}
			}
		}
		p.Groups = append(p.Groups, h)
	}
	slices.Sort(p.Statuses)
}

// allowed says what allowances let be, and lists what of it is new.
func (p *htmlPage) allowed(v *verdict.Verdict) {
	p.Allowed = len(v.AllowedViolations)
	p.AllowedNote = full(sentence(allowedNote(v)))
	for _, a := range allowedNew(v) {
		x := newHTMLViolation(&a.Violation, "", a.Reason)
		x.Status = newButAllowed
		p.AllowedNew = append(p.AllowedNew,
			htmlAllowed{x, verdict.Visible(a.RuleID), sentence(allowanceWords(&a.Allowance)) + "."})
	}
	if p.Endings = endings(v); len(p.Endings) > 0 {
		p.EndingsNote = endingsNote(v)
	}
	counts := map[string]int{}
	for i := range v.AllowedViolations {
		counts[v.AllowedViolations[i].RuleID]++
	}
	for i := range v.Rules {
		p.Rules[i].Allowed = counts[v.Rules[i].ID]
	}
}

// anchor returns the id of the element of a violation: its fingerprint, or where that is
// none or taken one from its number, from 1.
func anchor(fingerprint string, i int, taken map[string]bool) string {
	if len(fingerprint) != 64 || strings.Trim(fingerprint, "0123456789abcdef") != "" || taken[fingerprint] {
		return "violation-" + strconv.Itoa(i)
	}
	taken[fingerprint] = true
	return fingerprint
}

func newHTMLViolation(x *verdict.Violation, id, message string) htmlViolation {
	shown := pointed(x)
	e := &shown.Evidence
	file := verdict.Visible(x.File)
	slash := strings.LastIndexByte(file, '/') + 1
	h := htmlViolation{
		ID: id, Folder: file[:slash], Name: file[slash:], Status: statusWords(x.Status), New: x.Status == introduced,
		Notes: alsoAt(x, mostLines),
	}
	if x.File == "" {
		h.Name = theTree
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
		for _, x := range g.violations {
			folder, _, inside := strings.Cut(verdict.Visible(x.File), "/")
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
