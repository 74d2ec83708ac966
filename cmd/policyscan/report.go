package main

import (
	"context"
	"fmt"
	"io"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
)

// reportFlag is the flag of every command that writes reports.
type reportFlag struct {
	Report []string `placeholder:"FORMAT" sep:"none" help:"@report"`
}

type reportCmd struct {
	File string `arg:"" help:"The verdict: a verdict.json, or - for standard input."`
	reportFlag
}

// Run reads the verdict and writes each report.
func (c *reportCmd) Run(std streams) error {
	if len(c.Report) == 0 {
		c.Report = []string{"text"}
	}
	tracks := gitEnvironment().Tracks
	reports, err := output.Reports(c.Report, tracks)
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
