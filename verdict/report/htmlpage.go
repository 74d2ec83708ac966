package report

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// A htmlPage is what page.html shows.
type htmlPage struct {
	htmlHead
	*verdict.Verdict // raw: the template makes its texts visible

	Judged    string // what was judged, by what
	ScopeLine string
	Unparsed  []verdict.Omission
	Changes   []string // to the policy
	RuleRows  []*htmlRule

	AllowedNote string // how many are allowed; "" if none is
	AllowedNew  []htmlAllowed
	EndingsNote string // how many allowances end soon
	Endings     []string

	Groups     []*htmlRule // those of RuleRows with violations, in the order of all reports
	RuleBars   []htmlBar
	FolderBars []htmlBar
	Statuses   []string // in words; none where there was nothing to compare with
	Types      []string // to choose from, like the two that follow
	Severities []string // the gravest first
	Owners     []string // by name
}

// A htmlRule is a rule and its violations.
type htmlRule struct {
	*verdict.Rule
	Bundle  string // that it is from; "" where there is one only
	State   string // "violated", "holds", "unused", "idle" (nothing was scanned) or "unknown" (not decided)
	Count   int    // of violations
	Allowed int
	Group   string                  // the id of its violations; "" if there is none
	New     string                  // how many of them are new, in words; "" where nothing tells
	Items   iter.Seq[htmlViolation] // made when they are written: together they are several times the verdict
}

// A htmlAllowed is a violation that is new and allowed.
type htmlAllowed struct {
	Violation       htmlViolation
	Rule, Allowance string
}

// A htmlBar is how many violations there are of a rule, or in a folder.
type htmlBar struct {
	Name, Group string
	Count       int
	Share       int // of the longest bar, in percent
}

func newHTMLPage(v *view) *htmlPage {
	p := &htmlPage{
		htmlHead: newHTMLHead(v.Tool, v.Verdict.Verdict), Verdict: v.Verdict, Judged: judged(v), Unparsed: v.unparsed(),
		Changes: v.policyChanges(), ScopeLine: verdict.Visible(v.Scope.Mode),
		AllowedNote: full(sentence(v.allowedNote())), Endings: v.endings(), EndingsNote: v.endingsNote(),
	}
	if words := v.scopeWords(); words != "" {
		p.ScopeLine += ": " + words
	}
	for _, a := range v.newAllowed {
		x := newHTMLViolation(&a.Violation, "", a.Reason)
		x.Status = newButAllowed
		p.AllowedNew = append(p.AllowedNew,
			htmlAllowed{x, verdict.Visible(a.RuleID), sentence(allowanceWords(&a.Allowance)) + "."})
	}
	p.rules(v)
	p.choices(v)
	p.headline(v)
	return p
}

// rules lists the rules, and puts the violations under them.
func (p *htmlPage) rules(v *view) {
	allowed := map[string]int{}
	for i := range v.AllowedViolations {
		allowed[v.AllowedViolations[i].RuleID]++
	}
	rows := map[*verdict.Rule]*htmlRule{}
	add := func(r *verdict.Rule, bundle string) *htmlRule {
		row := &htmlRule{Rule: r, Bundle: bundle, State: "holds", Allowed: allowed[r.ID]}
		switch {
		case r.Files == 0:
			row.State = "unused"
		case !v.Complete:
			row.State = "unknown"
		case v.Coverage.Scanned == 0 && !v.onlyPaths():
			row.State = "idle"
		}
		rows[r] = row
		p.RuleRows = append(p.RuleRows, row)
		return row
	}
	for i := range v.Rules {
		bundle := ""
		if len(v.Policy) > 1 {
			bundle = v.Rules[i].From
		}
		add(&v.Rules[i], bundle)
	}
	taken := map[string]bool{}
	number := 0
	for i, g := range v.groups {
		row := rows[g.rule]
		if row == nil { // of a verdict that was not written by a scan
			row = add(g.rule, "")
			row.Allowed = 0
		}
		row.Group, row.State, row.Count = "rule-"+strconv.Itoa(i+1), "violated", len(g.violations)
		row.New = g.newNote()
		ids := make([]string, len(g.violations))
		for k, x := range g.violations {
			number++
			ids[k] = anchor(x.Fingerprint, number, taken)
		}
		row.Items = func(yield func(htmlViolation) bool) {
			for k, x := range g.violations {
				if !yield(newHTMLViolation(x, ids[k], g.rule.Message)) {
					return
				}
			}
		}
		p.Groups = append(p.Groups, row)
	}
}

// anchor returns the id of the element of a violation: its fingerprint, or if that is missing or taken, one from its
// number, from 1.
func anchor(fingerprint string, i int, taken map[string]bool) string {
	if len(fingerprint) != 64 || strings.Trim(fingerprint, "0123456789abcdef") != "" || taken[fingerprint] {
		return "violation-" + strconv.Itoa(i)
	}
	taken[fingerprint] = true
	return fingerprint
}

// choices lists what the violations can be filtered by, and counts them by rule and by folder of the root.
func (p *htmlPage) choices(v *view) {
	var ids, folders []htmlBar
	for i, g := range v.groups {
		ids = append(ids, htmlBar{Name: verdict.Visible(g.rule.ID), Group: p.Groups[i].Group, Count: len(g.violations)})
		for _, x := range g.violations {
			folder, _, inside := strings.Cut(verdict.Visible(x.File), "/")
			if !inside {
				folder = "."
			}
			folders = append(folders, htmlBar{Name: folder + "/", Count: 1})
			p.Statuses = with(p.Statuses, label(x.Status))
		}
		p.Types = with(p.Types, verdict.Visible(g.rule.Type))
		p.Severities = with(p.Severities, verdict.Visible(g.rule.Severity))
		p.Owners = with(p.Owners, flow(g.rule.Owner))
	}
	p.RuleBars, p.FolderBars = htmlBars(ids), htmlBars(folders)
	slices.Sort(p.Statuses)
	slices.Sort(p.Types)
	slices.Sort(p.Owners)
	rank := func(s string) int { return slices.Index(append(severities(), grave(s)), grave(s)) }
	slices.SortFunc(p.Severities, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
}

// with returns a list with one more text, if that is one and new.
func with(all []string, s string) []string {
	if s == "" || slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// htmlBars joins bars of one name; the longest is first.
func htmlBars(each []htmlBar) (all []htmlBar) {
	at, most := map[string]int{}, 0
	for _, bar := range each {
		i, known := at[bar.Name]
		if !known {
			i = len(all)
			at[bar.Name] = i
			all = append(all, htmlBar{Name: bar.Name, Group: bar.Group})
		}
		all[i].Count += bar.Count
		most = max(most, all[i].Count)
	}
	for i := range all {
		all[i].Share = max(1, all[i].Count*100/most)
	}
	slices.SortFunc(all, func(a, b htmlBar) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Name, b.Name)) })
	return all
}

// A htmlViolation is a violation as it is shown. Its texts are visible.
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

// A htmlLine is a line of an excerpt.
type htmlLine struct {
	Number int64
	Pieces []htmlPiece
}

// A htmlPiece is a part of a line that is drawn alike.
type htmlPiece struct {
	Text   string
	Match  bool
	Escape bool // it represents a character that is not shown as itself
}

func newHTMLViolation(x *verdict.Violation, id, message string) htmlViolation {
	f := newFinding(x)
	path := f.path()
	slash := strings.LastIndexByte(path, '/') + 1
	h := htmlViolation{
		ID: id, Folder: path[:slash], Name: path[slash:], Status: label(x.Status), New: x.Status == verdict.Introduced,
		Notes: f.also(mostLines),
	}
	if note := f.encodingNote(); note != "" {
		h.Notes = append(h.Notes, note)
	}
	if x.Note != "" {
		h.Notes = append(h.Notes, verdict.Visible(x.Note))
	}
	if x.Reason != message {
		h.Reason = visibleLines(x.Reason)
	}
	if f.inFile() {
		h.Line, h.Column = f.at.Line, f.at.Column
		h.excerpt(f)
	}
	if f.hidesPattern() {
		const mark = "\x00"
		name, value := f.found(mark)
		before, after, _ := strings.Cut(value, mark)
		pattern := f.name.plain
		if f.name.isMapping() {
			before, pattern, after = f.name.words()
		}
		h.Found = sentence(name) + ": " + before
		h.Pattern, h.PatternEnd = verdict.Visible(pattern), verdict.Visible(after)
	}
	return h
}

// excerpt cuts an excerpt into lines and pieces: the match is marked, and what [verdict.Visible] escapes is
// distinguished from text that only looks like an escape.
func (h *htmlViolation) excerpt(f *finding) {
	e, text := &f.at, f.name.plain
	start, end := matchInExcerpt(e)
	h.Before = utf16Len(e.Excerpt[:start]) < e.UTF16Column-1
	h.After = utf8.RuneCountInString(e.Excerpt) >= excerptLimit
	if start == end || end-start < len(text) && !strings.Contains(text, "\r\n") {
		h.Found, h.Pattern = "Pattern: ", verdict.Visible(text)
	}
	line := htmlLine{Number: e.Line}
	for i, text := range []string{e.Excerpt[:start], e.Excerpt[start:end], e.Excerpt[end:]} {
		match := i == 1
		for below := true; below; {
			var now string
			now, text, below = cutLine(text)
			line.Pieces = append(line.Pieces, pieces(now, match)...)
			if !below {
				break
			}
			if match { // a line end that is marked has to be seen
				line.Pieces = append(line.Pieces, htmlPiece{Text: "↵", Match: true, Escape: true})
			}
			h.Lines = append(h.Lines, line)
			line = htmlLine{Number: line.Number + 1}
		}
	}
	if len(line.Pieces) > 0 || len(h.Lines) == 0 {
		h.Lines = append(h.Lines, line)
	}
}

// pieces cuts text of one line where characters that are shown and characters that are escaped meet. A tab is drawn as
// spaces.
func pieces(s string, match bool) []htmlPiece {
	var all []htmlPiece
	s = strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabWidth))
	from := 0
	add := func(to int, escape bool) {
		if from < to {
			all = append(all, htmlPiece{verdict.Visible(s[from:to]), match, escape})
		}
		from = to
	}
	for i, r := range s {
		if !verdict.Shown(r) {
			add(i, false)
			add(i+utf8.RuneLen(r), true)
		}
	}
	add(len(s), false)
	return all
}
