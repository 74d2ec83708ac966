package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/term"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
)

// reportFlag is the flag of every command that writes reports.
type reportFlag struct {
	Report []string `placeholder:"FORMAT" sep:"none" help:"@report"`
}

// colorFlag is the flag of every command that can print colours.
type colorFlag struct {
	Color string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"@color"`
}

type reportCmd struct {
	File string `arg:"" help:"The verdict: a verdict.json, or - for standard input."`
	reportFlag
	GroupBy string `enum:"rule,owner,folder" default:"rule" placeholder:"WHAT" help:"@report_group_by"`
	Owner   string `placeholder:"NAME" help:"@report_owner"`
}

// Run reads the verdict and writes each report.
func (c *reportCmd) Run(std streams) error {
	if len(c.Report) == 0 {
		c.Report = []string{"text"}
	}
	tracks := gitEnvironment().Tracks
	reports, err := output.Reports(c.Report, tracks)
	if err == nil && (c.GroupBy != "rule" || c.Owner != "") {
		formats := report.Arrangement{By: c.GroupBy, Owner: c.Owner}.Formats()
		if reports, err = output.ReportsOf(formats, c.Report, tracks); err != nil {
			err = fmt.Errorf("with --group-by or --owner: %w", err)
		}
	}
	if err != nil {
		return err
	}
	read := func() (*verdict.Verdict, error) {
		v, err := decodeVerdict(c.File, std.in)
		if err != nil {
			err = fmt.Errorf("the verdict %s cannot be used: %w", quoted(c.File), err)
		}
		return v, err
	}
	return output.Rewrite(reports, c.File, tracks, read, std.out)
}

func decodeVerdict(name string, stdin io.Reader) (*verdict.Verdict, error) {
	text, err := readNamed(context.Background(), name, stdin)
	if err != nil {
		return nil, err
	}
	return verdict.Decode(text)
}

// A reporter has the parts of the report for display.
type reporter struct {
	*scanCmd
	std   streams
	about *run.Run // what is known so far
	began time.Time

	advice []string // what to do about the error that kept the run from scanning: commands for the current directory

	outputs *output.Run
}

func newReporter(c *scanCmd, o run.Options, std streams) *reporter {
	return &reporter{scanCmd: c, about: &run.Run{Options: o}, std: std, began: time.Now()}
}

// begin refuses unsafe output paths, and writes a FAIL as the verdict, or the beginning of a shard.
func (r *reporter) begin(begun output.Document) error {
	tracks := gitEnvironment().Tracks
	reports, err := output.Reports(r.Report, tracks)
	if err != nil {
		replaceOldVerdict(r.Output)
		return err
	}
	r.outputs = &output.Run{
		Version: version(), Scope: r.about.Options.Scope(), Output: r.Output, Reports: append(reports, r.also...),
		Tracks: tracks, Stdout: r.std.out, Show: r.show, Begun: begun,
	}
	return r.outputs.Begin()
}

func (r *reporter) show(v *verdict.Verdict) error {
	v = inFileOrder(v, r.about.Mistakes)
	more, at := r.more(v), r.about.Place
	if r.Quiet {
		errs := slices.Clone(v.Errors)
		for i := range errs {
			if m := more[errs[i]]; m.Place != "" {
				errs[i].Message = m.Place + ": " + m.What
			}
		}
		printErrorsOf(r.std, errs, at.Prefix)
		return nil
	}
	w := r.std.out
	if r.outputs.Printed() {
		w = r.std.err
	}
	var text bytes.Buffer
	o := r.std.textOptions(w)
	o.Prefix, o.Policy, o.Root, o.Notes, o.Elapsed = at.Prefix, r.about.Policy, at.Shown,
		r.about.Notes, time.Since(r.began)
	o.Mistakes, o.Brief = more, v.Scope.Mode == "staged" && inGitHook()
	err := report.WriteText(&text, v, o)
	_, werr := w.Write(text.Bytes())
	return cmp.Or(err, werr)
}

// inFileOrder returns the verdict with the mistakes of bundles first, in the order of their files and lines.
func inFileOrder(v *verdict.Verdict, list document.Errors) *verdict.Verdict {
	errs, place := slices.Clone(v.Errors), map[verdict.Error]int{}
	for i, m := range list {
		place[verdict.Error{Code: m.Code, Message: m.Error()}] = i - len(list)
	}
	slices.SortStableFunc(errs, func(a, b verdict.Error) int { return cmp.Compare(place[a], place[b]) })
	shown := *v
	shown.Errors = errs
	return &shown
}

// more returns what the displayed report adds to the verdict's errors. The verdict is the same in every directory.
func (r *reporter) more(v *verdict.Verdict) map[verdict.Error]report.Mistake {
	all := map[verdict.Error]report.Mistake{}
	for _, m := range r.about.Mistakes {
		shown := shownMistake(m)
		shown.Code = m.Code
		all[verdict.Error{Code: m.Code, Message: m.Error()}] = shown
	}
	if len(r.advice) > 0 && len(v.Errors) == 1 {
		e := v.Errors[0]
		m, known := all[e]
		if !known {
			m = report.Mistake{What: e.Message, Code: e.Code}
		}
		m.Help = r.advice
		all[e] = m
	}
	return all
}

// textOptions returns the options of the text report for its destination.
func (std streams) textOptions(w io.Writer) report.TextOptions {
	width, isTerminal := terminal(w)
	most := 0
	if isTerminal {
		most = 20 // more would fill the screen
	}
	return report.TextOptions{
		Color:    std.color == "always" || std.color != "never" && isTerminal && !monochrome(),
		Width:    width,
		Most:     most,
		Commands: runnerReadsOutput(),
	}
}

// terminal returns the width of the terminal w in columns; 0 if unknown.
func terminal(w io.Writer) (width int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, _ = term.GetSize(int(f.Fd())) // -1 on an error
	return max(width, 0), true
}

// watch shows the progress of a long scan on a terminal. The returned function ends that.
func (r *reporter) watch(p *scanner.Progress) (stop func()) {
	total := r.about.Listed
	if r.Shard != "" {
		total = 0 // of this shard it is unknown
	}
	return watching(r.std.err, r.Quiet, func() string {
		files, bytes := p.Counts()
		return progressLine(files, total, bytes)
	})
}

// progressLine is the progress of a scan. total is the number of all files; 0 if it is unknown.
func progressLine(files, total int, bytes int64) string {
	done, size := grouped(files)+" files", fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	if total > 0 {
		done = fmt.Sprintf("%s of %s files (%d %%)", grouped(files), grouped(total), 100*files/total)
	}
	if bytes < 1e8 {
		size = fmt.Sprintf("%d MB", bytes/1e6)
	}
	return "scanning: " + done + ", " + size
}

// grouped is a number with a comma between each three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// watching shows a line every second, if w is a terminal. The returned function removes it, and ends that.
func watching(w io.Writer, quiet bool, line func() string) (stop func()) {
	if _, ok := terminal(w); !ok || quiet {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-tick.C:
				shown = true
				_, _ = fmt.Fprint(w, "\r\x1b[K"+line())
			case <-quit:
				if shown {
					_, _ = fmt.Fprint(w, "\r\x1b[K")
				}
				return
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// shownMistake returns a mistake in a rule file for display.
func shownMistake(e *document.Error) report.Mistake {
	source, caret := e.Source()
	return report.Mistake{Place: e.Place(), What: e.What(), Line: e.Line, Source: source, Caret: caret}
}

// showMistakes prints mistakes in rule files, each with its line and a caret.
func showMistakes(std streams, list document.Errors) error {
	shown := make([]report.Mistake, len(list))
	for i, e := range list {
		shown[i] = shownMistake(e)
	}
	return report.WriteMistakes(std.out, shown, std.textOptions(std.out))
}
