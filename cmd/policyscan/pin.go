package main

import (
	"fmt"

	"github.com/policyscan/policyscan/scanner/run"
)

type pinCmd struct {
	Bundle string `arg:"" help:"@pin_bundle"`

	Print string `enum:"all,commit,sha256" default:"all" placeholder:"WHAT" help:"@pin_print"`
}

// Run prints the pin of a bundle, as the inputs of action.yml and --policy-sha256 take it.
func (c *pinCmd) Run(std streams) error {
	s, err := run.LoadCompared(c.Bundle, gitEnvironment())
	switch {
	case err != nil:
		return err
	case c.Print == "sha256":
		return print(std.out, "%s\n", s.Bundle.SHA256)
	case c.Print == "commit" && s.Commit == "":
		return fmt.Errorf("%s is not of a commit; name one, as REV:DIR", quoted(c.Bundle))
	case c.Print == "commit":
		return print(std.out, "%s\n", s.Commit)
	case s.Commit != "":
		if err := print(std.out, "policy-ref: %s\n", s.Commit); err != nil {
			return err
		}
	}
	return print(std.out, "policy-sha256: %s\n", s.Bundle.SHA256)
}
