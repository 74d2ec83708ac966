package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// reportCmd writes the reports of a verdict that was written before.
type reportCmd struct {
	File string `arg:"" help:"The verdict: a verdict.json, or - for standard input."`
	reportFlag
}

// Help is shown below the flags.
func (*reportCmd) Help() string {
	var b strings.Builder
	b.WriteString("Formats:\n")
	for _, f := range report.Formats() {
		fmt.Fprintf(&b, "  %-10s %s\n", f.Name, f.About)
	}
	b.WriteString("\nThe bytes are those that the scan itself writes with the same --report.\n\nExit status: 0 the reports were written, whatever the verdict; 2 otherwise.")
	return b.String()
}

// Run reads the verdict and writes each report.
func (c *reportCmd) Run(std streams) error {
	if len(c.Report) == 0 {
		c.Report = []string{"text"}
	}
	reports, err := c.reports()
	if err == nil {
		err = checkDistinct(reports)
	}
	if err != nil {
		return err
	}
	for _, r := range reports {
		if r.file != "" && sameOutput(r.file, resolved(c.File)) {
			return fmt.Errorf("the %s report would replace the verdict that it is about; name another file", r.Name)
		}
	}
	v, err := decodeVerdict(c.File, std.in)
	if err != nil {
		err = fmt.Errorf("the verdict %s cannot be used: %w", quoted(c.File), err)
	} else {
		err = clearAll(reports)
	}
	if err != nil {
		return replaceOldReports(reports, err)
	}
	var failed error
	for _, r := range reports {
		failed = errors.Join(failed, r.write(v, std.out))
	}
	return failed
}

func decodeVerdict(name string, stdin io.Reader) (*verdict.Verdict, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, systemError(err)
		}
		defer f.Close() // read only: nothing to lose
		in = f
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, systemError(err)
	}
	return verdict.Decode(text)
}
