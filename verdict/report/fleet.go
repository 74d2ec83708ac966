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

// A fleetFormat is a way to write the summary of a fleet.
type fleetFormat struct {
	name, about   string
	write         func(io.Writer, *summary.Fleet) error
	begins, holds string // as those of [Format]
}

func fleetFormats() []fleetFormat {
	return []fleetFormat{
		{"text", "for a person", writePlainFleet, "", ""},
		{"json", "fleet.json", writeFleetJSON, verdict.DocumentHead, "policyscan"},
		{"markdown", "GitHub's job summary, or a comment", writeFleetMarkdown, "## policyscan fleet ", ""},
		{"html", "one page to read and to search", writeFleetHTML, "<!DOCTYPE html>", "policyscan"},
	}
}

// FleetFormats returns the formats of a fleet's summary, in the order of the manual, as formats of the one summary that
// f is: each writes what f holds when it is called, and no verdict.
func FleetFormats(f *summary.Fleet) []Format {
	var all []Format
	for _, x := range fleetFormats() {
		write := func(w io.Writer, _ *verdict.Verdict) error { return x.write(w, f) }
		all = append(all, Format{x.name, x.about, write, x.begins, x.holds})
	}
	return all
}

// FleetNames are the names of these formats, for a person.
func FleetNames() string {
	var names []string
	for _, f := range fleetFormats() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

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
	writer := textWriter{w: bufio.NewWriter(w)}
	writer.Color, writer.Width, writer.Commands = o.Color, o.Width, o.Commands
	t := fleetText{writer, f, o}
	var undecided, worst []*summary.Repository
	for _, r := range f.Worst() {
		if r.ErrorCount > 0 {
			undecided = append(undecided, r)
		}
		if r.Violations > 0 {
			worst = append(worst, r)
		}
	}
	for i := range f.Errors {
		t.error(&f.Errors[i])
	}
	if len(f.Errors) > 0 {
		t.line("")
	}
	t.list("could not be decided", "repository", "repositories", len(undecided), func(i int) {
		r := undecided[i]
		for k := range r.Errors {
			e := r.Errors[k]
			at := verdict.Visible(r.Name) + ":"
			if e.File != "" {
				at += " " + verdict.Visible(e.File) + ":"
			}
			t.line("  %s %s %s", t.paint(bold, at), flow(e.Message), t.paint(red, "["+e.Code+"]"))
		}
		if more := moreErrors(r); more != "" {
			t.line("  %s %s", t.paint(bold, verdict.Visible(r.Name)+":"), more)
		}
	})
	t.list("with violations", "repository", "repositories", len(worst), func(i int) {
		r := worst[i]
		var rules []tally
		for _, c := range r.Rules {
			rules = append(rules, tally{c.RuleID, c.Violations})
		}
		t.line("  %s %s: %s", t.paint(bold, verdict.Visible(r.Name)+":"), count(r.Violations, "violation"),
			strings.Join(tallyWords(rules), " "))
	})
	broken := f.Broken()
	t.list("violated", "rule", "rules", len(broken), func(i int) {
		r := broken[i]
		t.line("  %s %s, %s: %s", t.paint(bold, verdict.Visible(r.ID)+":"), count(r.Repositories, "repository"),
			count(r.Violations, "violation"), flow(clip(r.Title, 200)))
	})
	t.end()
	return t.w.Flush()
}

type fleetText struct {
	textWriter
	f *summary.Fleet
	o FleetTextOptions
}

// list writes a list with its heading, and how many of it are not shown.
func (t *fleetText) list(what, one, many string, n int, item func(i int)) {
	if n == 0 {
		return
	}
	noun := many
	if n == 1 {
		noun = one
	}
	t.line("%s", t.paint(bold, fmt.Sprintf("%d %s %s:", n, noun, what)))
	for i := range n {
		if t.o.Most > 0 && i == t.o.Most {
			where := "--report text=FILE has all"
			if t.o.Output != "" {
				where = "all are in " + verdict.Visible(t.o.Output) + "/fleet.json"
			}
			t.line("  and %d more; %s", n-i, where)
			break
		}
		item(i)
	}
	t.line("")
}

// end says what was checked with what, and the outcome.
func (t *fleetText) end() {
	f := t.f
	policy := verdict.Visible(t.o.Policy)
	if f.OwnPolicy {
		if policy != "" {
			policy += " and "
		}
		policy += "the bundle in each repository"
	}
	if policy != "" {
		t.labelled("policy: ", policy)
	}
	if t.o.Output != "" {
		t.labelled("results: ", t.o.Output)
	}
	for _, note := range t.o.Notes {
		t.labelled("note: ", flow(note))
	}
	c := &f.Totals
	if c.Repositories == 0 {
		t.last(f.Verdict, fmt.Sprintf("could not decide (%s); no repository was scanned", count(len(f.Errors), "error")), 0)
		return
	}
	t.last(f.Verdict, fmt.Sprintf("%s; %s, %d covered by a rule, %d bytes scanned", fleetCounts(f), count(c.Files, "file"),
		c.Governed, c.Bytes), t.o.Elapsed)
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
