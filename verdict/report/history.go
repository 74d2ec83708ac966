package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/past"
)

// HistoryFormats returns the formats of a history, in the order of the manual. They write h, not a verdict.
func HistoryFormats(h *past.History) []Format {
	return formatsOf(h, "all of it, for programs", "", "## policyscan history ", "one page to read, with charts",
		WriteHistoryText, writeHistoryMarkdown, writeHistoryHTML)
}

// HistoryNames are the names of these formats, for display.
func HistoryNames() string { return names(HistoryFormats(nil)) }

// A historyPage is a history, and what several formats say of it.
type historyPage struct {
	htmlHead
	*past.History
	Failures []verdict.Error // of the run, its repositories and its changes
	Charts   []historyRule
	Silent   string   // two rules and more that neither refuse a change nor are broken at the tip
	Months   []string // of the charts
}

type historyRule struct {
	*past.Rule
	Sentence, Stays, Most string
	Bars                  []historyBar
	Top                   int // the highest bar
}

// A historyBar is a month of a chart; its height is in percent.
type historyBar struct {
	X, Y, Height int
	Name         string
}

func newHistoryPage(h *past.History) *historyPage {
	p := &historyPage{History: h, Failures: h.Failures(), Months: monthsOf(h)}
	var silent []string
	for _, r := range h.Rules {
		if r.Refused == 0 && r.FilesAtTip == 0 {
			silent = append(silent, r.ID)
		}
	}
	if len(silent) > 1 && h.Since != "" {
		p.Silent = fmt.Sprintf("%s would have stopped 0 of %s since %s, and 0 files break them today: %s",
			count(len(silent), "rule"), count(h.Totals.Changes, "change"), h.Since, strings.Join(silent, ", "))
	}
	for i := range h.Rules {
		r := historyRule{Rule: &h.Rules[i]}
		if p.Silent != "" && r.Refused == 0 && r.FilesAtTip == 0 {
			continue
		}
		r.Sentence = fmt.Sprintf("%s would have stopped %s of %s (%.1f %%) since %s; %s today", r.ID, number(r.Refused),
			count(h.Totals.Changes, "change"), r.Share, h.Since,
			count(r.FilesAtTip, "file")+verb(r.FilesAtTip, " breaks it", " break it"))
		if r.Introduced > 0 {
			r.Stays = fmt.Sprintf("%s %s %s; %s %s removed again", count(r.Introducing, "change"),
				verb(r.Introducing, "introduces", "introduce"), count(r.Introduced, "place"),
				number(r.RemovedAgain), verb(r.RemovedAgain, "was", "were"))
		}
		if r.RemovedAgain > 0 {
			r.Stays += fmt.Sprintf(" after %s %s (median)", number(r.MedianDays), verb(r.MedianDays, "day", "days"))
		}
		var dirs []string
		for _, d := range r.Dirs {
			dirs = append(dirs, fmt.Sprintf("%s %d", d.Name, d.Count))
		}
		r.Most = strings.Join(dirs, ", ")
		r.draw(p.Months)
		p.Charts = append(p.Charts, r)
	}
	p.htmlHead = htmlHead{Tone: "fail", Outcome: h.Verdict, Headline: fmt.Sprintf("%s of %s refused",
		number(h.Totals.Refused), count(h.Totals.Changes, "change"))}
	if h.Since != "" { // it is unknown where no repository could be opened
		p.Headline += " since " + h.Since
	}
	switch {
	case h.Verdict == verdict.Pass:
		p.Tone = "pass"
	case !h.Complete:
		p.Tone = "undecided"
		p.Headline += ", incomplete"
		if n := h.Totals.Undecided; n > 0 {
			p.Headline = strings.TrimSuffix(p.Headline, "incomplete") + number(n) + " undecided"
		}
	}
	if n := h.Totals.WithoutRules; n > 0 {
		p.Notes = append(p.Notes, count(n, "change")+" without a bundle on either side: not judged")
	}
	if len(h.Allowed) > 0 {
		p.Notes = append(p.Notes, "accepted with --allow: "+strings.Join(h.Allowed, ", "))
	}
	return p
}

// monthsOf returns the months of the charts: from the first with a refused change to the last, at least a year and at
// most a hundred. If the clocks of commits are further apart, they are the months with a change alone.
func monthsOf(h *past.History) (all []string) {
	for i := range h.Rules {
		for _, m := range h.Rules[i].Months {
			all = append(all, m.Name)
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return nil
	}
	first, err := time.Parse("2006-01", all[0])
	last, err2 := time.Parse("2006-01", all[len(all)-1])
	if year := last.AddDate(0, -11, 0); first.After(year) {
		first = year
	}
	if err != nil || err2 != nil || last.Sub(first) > 100*366*24*time.Hour {
		return all
	}
	for all = nil; !first.After(last); first = first.AddDate(0, 1, 0) {
		all = append(all, first.Format("2006-01"))
	}
	return all
}

func (r *historyRule) draw(months []string) {
	for _, m := range r.Months {
		r.Top = max(r.Top, m.Count)
	}
	for _, m := range r.Months {
		height := (m.Count*100 + r.Top - 1) / r.Top
		x, _ := slices.BinarySearch(months, m.Name)
		r.Bars = append(r.Bars, historyBar{x, 100 - height, height, m.Name + ": " + number(m.Count)})
	}
}

func dayOf(date string) string { return cmp.Or(date[:min(len(date), len("2006-01-02"))], "no date") }

// refusals names the rules that refuse a change, with their places.
func refusals(c *past.Change) string {
	var all []tally
	for _, r := range c.Rules {
		all = append(all, tally{r.RuleID, int(r.Places)})
	}
	return strings.Join(tallyWords(all), " ")
}

// exampleAt is the place of an example, safe to print, with its line if it has one.
func exampleAt(e *past.Example) string {
	at := cmp.Or(verdict.Visible(e.File), theTree)
	if e.Line > 0 {
		at += fmt.Sprintf(":%d", e.Line)
	}
	return at
}

// WriteHistoryText writes the history for people: of each rule what it would have stopped, with examples; the refused
// changes, newest first; what could not be decided, and in the last line the outcome and the counts.
func WriteHistoryText(w io.Writer, h *past.History, o TextOptions) error {
	t := textWriter{w: bufio.NewWriter(w), TextOptions: o}
	p := newHistoryPage(h)
	change := func(of, commit, date, subject string) (lines []string) {
		id, day := verdict.Visible(h.Of(of)+abbreviated(commit)), " "+dayOf(date)+" "
		lead, width := t.paint(blue, id)+day, columns(id+day)
		for _, part := range wrap(verdict.Visible(clip(subject, 100)), t.Width-width-4) {
			lines, lead = append(lines, lead+part), strings.Repeat(" ", width)
		}
		return lines
	}
	shown := past.MaxExamples
	if t.Most > 0 {
		shown = 3
	}
	for _, r := range p.Charts {
		id, rest := verdict.Visible(r.ID)+" ", strings.TrimPrefix(r.Sentence, r.ID+" ")
		t.under(t.paint(bold, id), columns(id), verdict.Visible(rest))
		if r.Refused == 0 {
			t.line("")
			continue
		}
		t.say("  ", "", flow(r.Title))
		t.say("  ", "", r.Stays)
		t.say("  ", "most in", r.Most)
		for i := range r.Examples[:min(len(r.Examples), shown)] {
			e := &r.Examples[i]
			for _, l := range change(e.Repository, e.Commit, e.Date, e.Subject) {
				t.line("    %s", l)
			}
			t.say("      ", exampleAt(e), flow(cmp.Or(e.Excerpt, e.Reason)))
		}
		t.line("")
	}
	if p.Silent != "" {
		t.say("", "", verdict.Visible(p.Silent))
		t.line("")
	}
	var refused [][]string
	for i := range h.Refused {
		c := &h.Refused[i]
		lines := change(c.Repository, c.Commit, c.Date, c.Subject)
		for _, part := range wrap(refusals(c), t.Width-6) {
			lines = append(lines, "    "+part)
		}
		refused = append(refused, lines)
	}
	t.list(count(len(refused), "change")+" refused, newest first:", refused)
	for i := range p.Failures {
		t.error(&p.Failures[i])
	}
	t.gap(len(p.Failures))
	for _, n := range p.Notes {
		t.labelled("note: ", n)
	}
	t.last(h.Verdict, p.Headline, t.Elapsed)
	return t.w.Flush()
}

// writeHistoryMarkdown writes a page of GitHub's Markdown. The limits of [writeMarkdown] apply.
func writeHistoryMarkdown(w io.Writer, h *past.History) error {
	m, p := markdownPage{document: "--report json", omitted: map[string]int{}}, newHistoryPage(h)
	row := func(of, commit, date, subject string) string {
		at := codeMarkdown(h.Of(of) + abbreviated(commit))
		return fmt.Sprintf("| %s | %s | %s |", at, dayOf(date), words(subject, 100))
	}
	m.line("## policyscan history " + string(h.Verdict) + ": " + words(p.Headline, 200))
	for _, n := range p.Notes {
		m.line("\n" + words(n, 1000) + ".")
	}
	m.list("", "\n**This could not be decided:**\n", len(p.Failures), markdownLimit/4, func(i int) string {
		return errorItem("", &p.Failures[i])
	})
	m.list("", "\n### Rules\n", len(p.Charts), markdownLimit/3, func(i int) string {
		return "* " + words(p.Charts[i].Sentence, 400)
	})
	if p.Silent != "" {
		m.line("\n" + words(p.Silent, 4000) + ".")
	}
	for _, r := range p.Charts {
		if r.Refused == 0 {
			continue
		}
		head := "\n| Commit | Day | Subject | Place | Line |\n|---|---|---|---|---|"
		if r.Stays != "" {
			head = "\n" + words(r.Stays+"; most in "+r.Most, 1000) + ".\n" + head
		}
		summary := codeHTML(clip(r.ID, 200)) + " " + prose(clip(r.Title, 200), codeHTML)
		m.fold("", summary, false, head, len(r.Examples), 2*markdownLimit/3,
			func(i int) string {
				e := &r.Examples[i]
				return fmt.Sprintf("%s %s | %s |", row(e.Repository, e.Commit, e.Date, e.Subject),
					codeMarkdown(exampleAt(e)), codeMarkdown(cmp.Or(e.Excerpt, e.Reason)))
			})
	}
	m.list("", "\n### Refused changes, newest first\n\n| Commit | Day | Subject | Places |\n|---|---|---|---|",
		len(h.Refused), markdownLimit-4<<10, func(i int) string {
			c := &h.Refused[i]
			return row(c.Repository, c.Commit, c.Date, c.Subject) + " " + words(refusals(c), 500) + " |"
		})
	return m.end(w, h.Tool.Version)
}

func writeHistoryHTML(w io.Writer, h *past.History) error {
	p := newHistoryPage(h)
	return writePage(w, "history.html", []string{"style.css", "history.css"}, "", &p.htmlHead, p, map[string]any{
		"day": dayOf, "place": exampleAt, "refusals": refusals, "of": h.Of,
		"last": func(all []string) string { return all[len(all)-1] },
	})
}
