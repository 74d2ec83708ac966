package main

import (
	"errors"

	"github.com/policyscan/policyscan/agent/ask"
)

// askCmd answers what hooks ask with --ask-mode dashboard.
type askCmd struct {
	Watch bool   `env:"-" help:"Show each question when it comes, until Ctrl-C."`
	Dir   string `placeholder:"DIR" env:"-" help:"@ask_dir"`
}

// Run shows questions until a signal or the end of the terminal.
func (c *askCmd) Run() error {
	if !c.Watch {
		return errors.New("nothing is to be done; to wait for questions, add --watch")
	}
	dir, err := ask.Dashboard.Dir(c.Dir, getenv)
	if err != nil {
		return err
	}
	ctx, caught, stop := interruptible(0)
	defer stop()
	if err := ask.Watch(ctx, dir, safe); err != nil {
		return err
	}
	return ended(exitPass, caught, nil)
}
