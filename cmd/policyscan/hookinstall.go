package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/hook"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/settings"
	"github.com/policyscan/policyscan/scanner/run"
)

// hookInstallAgentCmd adds the hook to the settings of the agent of that name.
type hookInstallAgentCmd struct {
	User  bool     `help:"Write the user's own settings instead of the project's."`
	Print bool     `help:"Print the settings as they would be, and write nothing."`
	Args  []string `arg:"" optional:"" name:"argument" help:"Arguments of the hook, after --."`
}

func (c *hookInstallAgentCmd) Run(std streams, ctx *kong.Context) error {
	f, err := openSettings(ctx.Selected().Name, c.User)
	if err != nil {
		return err
	}
	command, err := hookOf(f.Target.Agent, c.Args)
	if err != nil {
		return err
	}
	program := "" // settings that a team shares use the name: each user has the program elsewhere
	if c.User {
		running, err := os.Executable()
		if err != nil {
			return fmt.Errorf("the program that runs cannot be found: %w", err)
		}
		if program, err = settings.Program(running, hookContext().Path); err != nil {
			return err
		}
	}
	text, err := f.Target.Install(f.Source, program, c.Args)
	if err != nil {
		return err
	}
	if c.Print {
		var shown strings.Builder
		for line := range strings.Lines(string(text)) {
			shown.WriteString(safe(strings.TrimRight(line, "\r\n")) + "\n")
		}
		return print(std.out, "%s\n%s", safe(f.Shown), &shown)
	}
	changed, err := f.Put(text)
	if err != nil {
		return err
	}
	done := "already there:"
	if changed {
		done = "wrote"
	}
	if err := print(std.out, "%s %s\n%s runs it before every tool call, from its next start on, "+
		"and makes no call that it denies\n%s\n",
		done, safe(f.Shown), f.Target.Title, f.Target.Next); err != nil || c.User {
		return err
	}
	installed := command.hook(streams{err: io.Discard}, protocol.Named(f.Target.Agent))
	if slices.Contains(installed.Calls.Names, dialect.Auto) {
		if names, err := installed.CallRules(); err == nil { // else Ready has the error
			found := safe(strings.Join(names, ", "))
			if err := print(std.out, "--calls %s finds %s\n", dialect.Auto, found); err != nil {
				return err
			}
		}
	}
	if err := installed.Ready(); err != nil {
		lines := messages(err)
		between := "\n  "
		if len(lines) == 1 {
			between = " "
		}
		return print(std.out, "for now it denies every call:%s\n", between+strings.Join(lines, between))
	}
	return nil
}

// hookOf returns the hook's command with these arguments, or an error if it would deny every call.
func hookOf(agent string, args []string) (*agentHookCmd, error) {
	checked := func(*kong.Kong) error { return nil } // this run's environment
	c, err := parseHook(args, checked)
	if err == nil {
		err = c.checkInstalled()
	}
	if err != nil {
		return nil, fmt.Errorf("the hook does not take the arguments after --: %w; see policyscan hook %s --help",
			err, agent)
	}
	return c, nil
}

// checkInstalled returns an error if the flags do not fit the entry that hook install writes.
func (c *agentHookCmd) checkInstalled() error {
	if c.Timeout > hook.MaxTimeout {
		return fmt.Errorf("--timeout %s is too long: the agent waits %s, the terminal may take %s; choose at most %s",
			c.Timeout, settings.Limit, ask.Patience, hook.MaxTimeout)
	}
	if c.Serve {
		return errors.New("--serve is for programs that keep the hook running, and the agent does not; remove it")
	}
	return c.check()
}

// hookUninstallAgentCmd removes the hook from the settings of the agent of that name.
type hookUninstallAgentCmd struct {
	User bool `help:"Write the user's own settings instead of the project's."`
}

// Run removes the hook, if nobody changed it.
func (c *hookUninstallAgentCmd) Run(std streams, ctx *kong.Context) error {
	f, err := openSettings(ctx.Selected().Name, c.User)
	if err != nil {
		return err
	}
	text, err := f.Target.Uninstall(f.Source)
	if err != nil {
		return err
	}
	changed, err := f.Put(text)
	done := "removed the hook from"
	switch {
	case err != nil:
		return err
	case !changed:
		done = "there is no hook of policyscan in"
	case text == nil: // it contained nothing else
		done = "removed"
	}
	return print(std.out, "%s %s\n", done, safe(f.Shown))
}

// openSettings reads an agent's settings: the user's own, or those of the project around the current directory.
func openSettings(agent string, user bool) (*settings.File, error) {
	of := settings.Named(agent)
	if user {
		return of.OpenUser(hookContext().Getenv, os.UserHomeDir)
	}
	p, err := run.Find("")
	if err != nil {
		return nil, err
	}
	return of.OpenProject(p.Root, p.Prefix)
}
