package main

import (
	"fmt"

	"github.com/policyscan/policyscan/scanner"
)

type verifyCmd struct {
	File string `arg:"" help:"The verdict: a verdict.json, or - for standard input."`

	Policy []string `placeholder:"DIR" sep:"none" help:"@verify_policy"`
}

// Run makes the run of the verdict again and compares the bytes.
func (c *verifyCmd) Run(std streams) error {
	ctx, caught, stop := interruptible(0)
	defer stop()
	text, err := readNamed(ctx, c.File, std.in)
	if err != nil {
		return fmt.Errorf("the verdict %s cannot be read: %w", quoted(c.File), err)
	}
	same, difference, err := scanner.Verify(ctx, newOptions(), text, eachLine(c.Policy))
	status, said := exitPass, "the same: "+same
	switch {
	case err != nil:
		status, said = exitUndecided, "cannot be made again: "+err.Error()
	case difference != "":
		status, said = exitViolation, "not the same: "+difference
	}
	if err := print(std.out, "%s\n", safe(said)); err != nil {
		return err
	}
	return ended(status, caught, nil)
}
