package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// fleetPage is what the template fleet.html shows. As in [htmlPage], every text of unknown origin in it has gone
// through [verdict.Visible].
type fleetPage struct {
	Style      template.CSS
	Script     template.JS
	StyleHash  string
	ScriptHash string

	Title, Tone, Outcome, Headline, Tool string // as in [htmlPage]

	Notes   []string
	Figures []htmlFigure
	Facts   []htmlFact

	Repositories int
	Errors       []htmlError // of the run as a whole
	Undecided    []fleetRow  // all that something of could not be decided, also those with violations
	Failing      []fleetRow  // the most violations first
	Passing      []fleetRow
	Rules        []fleetRule // those that the most repositories violate first, then those that none does
	Broken       int         // so many of Rules are violated
}

// A fleetRow is a repository.
type fleetRow struct {
	Name, State        string // State is "undecided", "fail" or "pass"
	Path               string // "" if it is the name
	Revision           string
	Commit, Short      string // "" if it was not found
	Violations, Errors int
	Files              string
	Rules              []fleetCount
	First              []htmlError // the first of the errors
	More               string      // how many errors are not in First; "" if all are
}

type fleetCount struct {
	ID string
	N  int
}

// A fleetRule is a rule and the repositories that violate it.
type fleetRule struct {
	ID, Type, Title, Severity, Grave, Owner, Docs, DocsLink string

	Enforced, Repositories, Violations int
	// Names has a line for each repository, the most violations first: one text, since a hundred thousand elements
	// would take a browser seconds.
	Names string
}

// writeFleetHTML writes one page that needs nothing else, by the same means as [writeHTML]. It is whole without its
// script, which adds search and filters.
func writeFleetHTML(w io.Writer, f *summary.Fleet) error {
	number := func(n int) string { return grouped(int64(n)) }
	page, err := template.New("fleet.html").Funcs(template.FuncMap{"number": number, "some": some}).ParseFS(htmlFiles,
		"html/fleet.html")
	if err != nil {
		return err
	}
	var texts [3]string
	for i, name := range []string{"style.css", "fleet.css", "fleet.js"} {
		if texts[i], err = htmlFile(name); err != nil {
			return err
		}
	}
	p := newFleetPage(f)
	style, script := texts[0]+texts[1], texts[2]
	p.Style, p.StyleHash = template.CSS(style), contentHash(style)
	p.Script, p.ScriptHash = template.JS(script), contentHash(script)

	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil {
		return err
	}
	_, err = w.Write(bytes.ReplaceAll(b.Bytes(), []byte("##["), []byte("#&#35;[")))
	return err
}

func newFleetPage(f *summary.Fleet) *fleetPage {
	p := &fleetPage{
		Outcome: string(f.Verdict), Tool: verdict.Visible(strings.TrimSpace(f.Tool.Name + " " + f.Tool.Version)),
		Repositories: len(f.Repositories),
	}
	p.Errors = fleetErrors(f.Errors)
	users := map[string][]*summary.Repository{}
	for _, r := range f.Worst() {
		row := newFleetRow(r)
		if r.Undecided() || r.ErrorCount > 0 {
			p.Undecided = append(p.Undecided, row)
		}
		if !r.Undecided() {
			p.Failing = append(p.Failing, row)
		}
		for _, c := range r.Rules {
			users[c.RuleID] = append(users[c.RuleID], r)
		}
	}
	for i := range f.Repositories {
		if r := &f.Repositories[i]; r.Verdict == verdict.Pass {
			p.Passing = append(p.Passing, newFleetRow(r))
		}
	}
	for _, r := range f.Broken() {
		p.Rules = append(p.Rules, newFleetRule(r, users[r.ID]))
	}
	p.Broken = len(p.Rules)
	for i := range f.Rules {
		if r := &f.Rules[i]; r.Violations == 0 {
			p.Rules = append(p.Rules, newFleetRule(r, nil))
		}
	}
	p.headline(f)
	p.facts(f)
	return p
}

func fleetErrors(errs []verdict.Error) []htmlError {
	var all []htmlError
	for i := range errs {
		e := &errs[i]
		all = append(all, htmlError{verdict.Visible(e.Code), verdict.Visible(e.File), visibleLines(e.Message)})
	}
	return all
}

func newFleetRow(r *summary.Repository) fleetRow {
	row := fleetRow{
		Name: verdict.Visible(r.Name), State: "fail", Revision: verdict.Visible(r.Revision),
		Commit: verdict.Visible(r.Commit), Violations: r.Violations, Errors: r.ErrorCount,
		Files: fmt.Sprintf("%s, %s covered by a rule", some(r.Files, "file"), grouped(int64(r.Governed))),
		First: fleetErrors(r.Errors),
	}
	switch {
	case r.Verdict == verdict.Pass:
		row.State = "pass"
	case r.Undecided():
		row.State = "undecided"
	}
	row.Short = row.Commit[:min(len(row.Commit), 7)]
	if row.Short != r.Commit[:min(len(r.Commit), 7)] { // no hash: what stands for one character must not be cut
		row.Short = row.Commit
	}
	if r.Path != r.Name {
		row.Path = verdict.Visible(r.Path)
	}
	for _, c := range r.Rules {
		row.Rules = append(row.Rules, fleetCount{verdict.Visible(c.RuleID), c.Violations})
	}
	slices.SortStableFunc(row.Rules, func(a, b fleetCount) int { return b.N - a.N })
	if n := r.ErrorCount - len(r.Errors); n > 0 {
		row.More = "and " + count(n, "more error")
	}
	return row
}

// newFleetRule makes a rule of the page from one of the summary and the repositories that violate it.
func newFleetRule(r *summary.Rule, users []*summary.Repository) fleetRule {
	h := fleetRule{
		ID: verdict.Visible(r.ID), Type: verdict.Visible(r.Type), Title: flow(r.Title), Owner: flow(r.Owner),
		Severity: verdict.Visible(r.Severity), Docs: verdict.Visible(r.DocsURL),
		Enforced: r.Enforced, Repositories: r.Repositories, Violations: r.Violations,
	}
	if isSafeURL(r.DocsURL) {
		h.DocsLink = r.DocsURL
	}
	if slices.Contains(gravity(), r.Severity) {
		h.Grave = r.Severity
	}
	var all []fleetCount
	for _, u := range users {
		for _, c := range u.Rules {
			if c.RuleID == r.ID {
				all = append(all, fleetCount{verdict.Visible(u.Name), c.Violations})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b fleetCount) int { return cmp.Or(b.N-a.N, strings.Compare(a.ID, b.ID)) })
	var names strings.Builder
	for _, c := range all {
		fmt.Fprintf(&names, "%*s  %s\n", len(grouped(int64(all[0].N))), grouped(int64(c.N)), c.ID)
	}
	h.Names = names.String()
	return h
}

// headline says what came of the run, in the order of what is worst.
func (p *fleetPage) headline(f *summary.Fleet) {
	t := &f.Totals
	var parts []string
	say := func(n int, what string) {
		if n > 0 {
			parts = append(parts, grouped(int64(n))+" "+what)
		}
	}
	say(t.Undecided, "could not be decided")
	if t.Fail == 1 {
		say(t.Fail, "violates a rule")
	} else {
		say(t.Fail, "violate rules")
	}
	if t.Pass == 1 {
		say(t.Pass, "passes")
	} else {
		say(t.Pass, "pass")
	}
	p.Headline = "no repository was scanned"
	if t.Repositories > 0 {
		p.Headline = some(t.Repositories, "repository") + ": " + strings.Join(parts, ", ")
	}
	switch {
	case f.Verdict == verdict.Pass:
		p.Tone = "pass"
	case f.Complete && t.Repositories > 0 && t.Repositories == f.List.Repositories:
		p.Tone = "fail"
	default:
		p.Tone = "undecided"
	}
	p.Title = p.Outcome + ": " + p.Headline
	if p.Tone == "undecided" {
		p.Title = "INCOMPLETE " + p.Title
	}
	if t.Repositories != f.List.Repositories {
		p.Notes = append(p.Notes, fmt.Sprintf("The list has %s, and this page has %s.",
			some(f.List.Repositories, "repository"), grouped(int64(t.Repositories))))
	}
	if n := t.Incomplete - t.Undecided; n > 0 {
		p.Notes = append(p.Notes, "Of the repositories with violations, "+grouped(int64(n))+
			" could not be decided in part, and may have more.")
	}
	if len(f.Allowed) > 0 {
		allowed := verdict.Visible(strings.Join(f.Allowed, ", "))
		p.Notes = append(p.Notes, "Explicitly allowed with --allow: "+allowed+".")
	}
	figure := func(name string, n int64) { p.Figures = append(p.Figures, htmlFigure{name, grouped(n)}) }
	figure("undecided", int64(t.Undecided))
	figure("violate", int64(t.Fail))
	figure("pass", int64(t.Pass))
	figure("violations", int64(t.Violations))
	figure("rules violated", int64(p.Broken))
	figure("files", int64(t.Files))
	figure("files covered by a rule", int64(t.Governed))
}

// facts say what was checked with what.
func (p *fleetPage) facts(f *summary.Fleet) {
	fact := func(name, value string, code bool) {
		p.Facts = append(p.Facts, htmlFact{name, []string{verdict.Visible(value)}, code})
	}
	fact("Repositories in the list", grouped(int64(f.List.Repositories)), false)
	if f.List.SHA256 != "" {
		fact("SHA-256 of the list", f.List.SHA256, true)
	}
	for i := range f.Policy {
		b := &f.Policy[i]
		fact("Bundle from "+verdict.Visible(b.From), b.SHA256, true)
		fact("Its rules", fmt.Sprintf("%s, %s, %d deprecated",
			some(b.Boundaries, "boundary"), some(b.Invariants, "invariant"), b.Deprecated), false)
	}
	if f.OwnPolicy {
		fact("Bundle of each repository", "enforced", false)
	}
	if f.AsOf != "" {
		fact("Day of the rules", f.AsOf, false)
	}
}
