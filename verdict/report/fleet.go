package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// FleetFormats returns the formats of a fleet's summary, in the order of the manual, as formats of the one summary that
// f is: each writes what f holds when it is called, and no verdict.
func FleetFormats(f *summary.Fleet) []Format {
	of := func(write func(io.Writer, *summary.Fleet) error) func(io.Writer, *verdict.Verdict) error {
		return func(w io.Writer, _ *verdict.Verdict) error { return write(w, f) }
	}
	return []Format{
		{"text", "for a person", of(writePlainFleet), "", ""},
		{"json", "fleet.json", of(writeFleetJSON), verdict.DocumentHead, "policyscan"},
		{"markdown", "GitHub's job summary, or a comment", of(writeFleetMarkdown), "## policyscan fleet ", ""},
		{"html", "one page to read and to search", of(writeFleetHTML), "<!DOCTYPE html>", "policyscan"},
	}
}

// FleetNames are the names of these formats, for display.
func FleetNames() string { return names(FleetFormats(nil)) }

func writeFleetJSON(w io.Writer, f *summary.Fleet) error {
	text, err := f.Encode()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// writePlainFleet writes the text report as it is in a file, which a CI system may print.
func writePlainFleet(w io.Writer, f *summary.Fleet) error {
	return WriteFleetText(w, f, FleetTextOptions{Commands: true})
}

// FleetTextOptions is what the text report of a fleet says besides the summary, and how.
type FleetTextOptions struct {
	Output   string        // the folder of the results, as a person named it; "": there is none
	Policy   string        // the bundles that all were checked with, as a person would name them
	Elapsed  time.Duration // 0: not shown
	Color    bool          // ANSI colours
	Width    int           // of the terminal, in columns; 0: lines are not fitted to any
	Most     int           // lines of each list that are shown; 0: all
	Commands bool          // the reader obeys workflow commands (GitHub Actions): defuse them
	Notes    []string      // what else a person should know; may hold text of the tree
}

// WriteFleetText writes the report for a person: what could not be decided, the repositories with violations, those
// with the most first, the rules that are violated, and in the last line the outcome and the counts.
func WriteFleetText(w io.Writer, f *summary.Fleet, o FleetTextOptions) error {
	t := fleetText{textWriter{w: bufio.NewWriter(w)}, o}
	t.Color, t.Width, t.Commands = o.Color, o.Width, o.Commands
	for i := range f.Errors {
		t.error(&f.Errors[i])
	}
	t.gap(len(f.Errors))
	var undecided, worst, rules [][]string // the lines of each
	for _, r := range f.Worst() {
		name := t.paint(bold, verdict.Visible(r.Name)+":")
		var lines []string
		for _, e := range r.Errors {
			at := name
			if e.File != "" {
				at = t.paint(bold, verdict.Visible(r.Name)+": "+verdict.Visible(e.File)+":")
			}
			lines = append(lines, fmt.Sprintf("%s %s %s", at, flow(e.Message), t.paint(red, "["+e.Code+"]")))
		}
		if more := moreErrors(r); more != "" {
			lines = append(lines, name+" "+more)
		}
		if r.ErrorCount > 0 {
			undecided = append(undecided, lines)
		}
		if r.Violations > 0 {
			worst = append(worst, []string{name + " " + count(r.Violations, "violation") + ": " +
				strings.Join(ruleTallies(r), " ")})
		}
	}
	for _, r := range f.Broken() {
		rules = append(rules, []string{fmt.Sprintf("%s %s, %s: %s", t.paint(bold, verdict.Visible(r.ID)+":"),
			count(r.Repositories, "repository"), count(r.Violations, "violation"), flow(clip(r.Title, 200)))})
	}
	t.list(count(len(undecided), "repository")+" could not be decided:", undecided)
	t.list(count(len(worst), "repository")+" with violations:", worst)
	t.list(count(len(rules), "rule")+" violated:", rules)
	t.end(f)
	return t.w.Flush()
}

type fleetText struct {
	textWriter
	o FleetTextOptions
}

// list writes the lines of each item under a heading, and how many items are not shown.
func (t *fleetText) list(heading string, items [][]string) {
	if len(items) == 0 {
		return
	}
	t.line("%s", t.paint(bold, heading))
	for i, lines := range items {
		if t.o.Most > 0 && i == t.o.Most {
			where := "--report text=FILE has all"
			if t.o.Output != "" {
				where = "all are in " + verdict.Visible(t.o.Output) + "/fleet.json"
			}
			t.line("  and %d more; %s", len(items)-i, where)
			break
		}
		for _, l := range lines {
			t.line("  %s", l)
		}
	}
	t.line("")
}

// end says what was checked with what, and the outcome.
func (t *fleetText) end(f *summary.Fleet) {
	policy := with(nil, verdict.Visible(t.o.Policy))
	if f.OwnPolicy {
		policy = append(policy, "the bundle in each repository")
	}
	if len(policy) > 0 {
		t.labelled("policy: ", strings.Join(policy, " and "))
	}
	if t.o.Output != "" {
		t.labelled("results: ", t.o.Output)
	}
	for _, note := range t.o.Notes {
		t.labelled("note: ", flow(note))
	}
	c := &f.Totals
	if c.Repositories == 0 {
		t.last(f.Verdict, "could not decide ("+count(len(f.Errors), "error")+"); no repository was scanned", 0)
		return
	}
	files := count(c.Files, "file")
	t.last(f.Verdict, fmt.Sprintf("%s; %s, %d covered by a rule, %d bytes scanned", fleetCounts(f), files, c.Governed,
		c.Bytes), t.o.Elapsed)
}

// fleetCounts says how many repositories have which outcome.
func fleetCounts(f *summary.Fleet) string {
	c := &f.Totals
	if c.Repositories == 0 {
		return "no repository was scanned"
	}
	s := count(c.Repositories, "repository")
	if c.Repositories != f.List.Repositories {
		s += fmt.Sprintf(" of %d in the list", f.List.Repositories)
	}
	s += fmt.Sprintf(": %d pass", c.Pass)
	if c.Fail > 0 {
		s += fmt.Sprintf(", %d fail with %s", c.Fail, count(c.Violations, "violation"))
	}
	if c.Undecided > 0 {
		s += fmt.Sprintf(", %d undecided", c.Undecided)
	}
	if n := c.Incomplete - c.Undecided; n > 0 {
		s += fmt.Sprintf(" (%d of the failed could not be decided in part)", n)
	}
	return s
}

// moreErrors says how many errors of a repository the summary does not have; "" if it has all.
func moreErrors(r *summary.Repository) string {
	if n := r.ErrorCount - len(r.Errors); n > 0 {
		return "and " + count(n, "more error")
	}
	return ""
}

// ruleTallies says how many violations of which rules a repository has.
func ruleTallies(r *summary.Repository) []string {
	var counts []tally
	for _, c := range r.Rules {
		counts = append(counts, tally{c.RuleID, c.Violations})
	}
	return tallyWords(counts)
}
