package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/policyscan/policyscan/agent/doctor"
	"github.com/policyscan/policyscan/agent/hook"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/settings"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/run"
)

// hookDoctorCmd checks the hooks of agents, and runs none.
type hookDoctorCmd struct {
	Agent string `arg:"" optional:"" help:"The agent. Default: each with settings in the project, or of the user."`
}

// Run checks the hook of one agent, or of all that are found.
func (c *hookDoctorCmd) Run(std streams) error {
	targets := settings.Targets()
	if c.Agent != "" {
		t := settings.Named(c.Agent)
		if t == nil {
			return unknownAgent(c.Agent)
		}
		targets = []*settings.Target{t}
	}
	p, err := run.Find("")
	if err != nil {
		return err
	}
	root, err := disk.Real(p.Root)
	if err != nil {
		return err
	}
	d := &doctor.Doctor{
		Root: root, Prefix: p.Prefix, Around: hookContext(), Home: os.UserHomeDir,
		Hook: func(agent string, args []string) (*hook.Hook, error) {
			of, err := hookOf(agent, args)
			if err != nil {
				return nil, err
			}
			return of.hook(streams{err: io.Discard}, protocol.Named(agent)), nil
		},
	}
	found, failed := 0, 0
	for _, t := range targets {
		r := d.Examine(context.Background(), t)
		if !r.Found && c.Agent == "" {
			continue
		}
		found++
		word := "a violation would be denied"
		if !r.Denies {
			failed++
			word = "it is not certain that a violation would be denied"
		}
		text := r.Agent + ": " + word + "\n"
		for _, line := range r.Lines {
			text += "  " + safe(line) + "\n"
		}
		if err := print(std.out, "%s", text); err != nil {
			return err
		}
	}
	switch {
	case found == 0:
		return exitError{exitViolation, fmt.Errorf("no settings of an agent were found; run policyscan hook install")}
	case failed > 0:
		return exitError{status: exitViolation}
	}
	return nil
}
