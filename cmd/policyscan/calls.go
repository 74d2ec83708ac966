package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/run"
)

type callsFlag struct {
	Calls   []string          `placeholder:"FILE" sep:"none" help:"@calls"`
	Dialect string            `placeholder:"NAME" help:"@calls_dialect"`
	Define  map[string]string `placeholder:"NAME=VALUE" mapsep:"none" help:"@calls_define"`
	Levels  bool              `help:"@calls_levels"`
}

// files are the call rules for a hook, whose names count from a project's root.
func (c *callsFlag) files() dialect.Files {
	f := dialect.Files{Names: c.Calls, Dialect: c.Dialect, Define: c.Define, Levels: c.Levels}
	if slices.Contains(c.Calls, dialect.Auto) {
		around := hookContext()
		f.Home, f.Config = around.Home, around.Getenv("XDG_CONFIG_HOME")
	}
	return f
}

// filesHere are the call rules, whose names count from the current directory.
func (c *callsFlag) filesHere() (dialect.Files, error) {
	f := c.files()
	if !slices.Contains(c.Calls, dialect.Auto) {
		return f, nil
	}
	at, err := run.Find("")
	f.Root = at.Prefix
	return f, err
}

func (c *callsFlag) load() ([]*callrules.Set, error) {
	f, err := c.filesHere()
	if err != nil {
		return nil, err
	}
	return f.Load("")
}

// takes adds a file as the first of the call rules.
func (c *callsFlag) takes(name string) bool {
	c.Calls = append([]string{name}, c.Calls...)
	return true
}

func (c *callsFlag) given() bool { return len(c.Calls) > 0 }

func (c *callsFlag) validate(std streams) (failed error) {
	f, err := c.filesHere()
	if err != nil {
		return err
	}
	all, err := f.Each("")
	if err != nil {
		return err
	}
	configured := false
	for _, one := range all {
		asks, err := validateOne(std, one)
		configured = configured || asks
		failed = errors.Join(failed, err)
	}
	if configured {
		failed = errors.Join(failed, validateSigmashake(std))
	}
	return failed
}

// validateOne checks the files of a set of call rules, and reports whether sigmashake's settings apply to them.
func validateOne(std streams, one dialect.Files) (configured bool, err error) {
	sets, err := one.Load("")
	var list document.Errors
	if errors.As(err, &list) {
		return one.Sigmashake(), reportMistakes(std, strings.Join(one.Names, " + "), list)
	}
	if err != nil {
		return false, err
	}
	s := sets[0]
	for _, n := range s.Notes {
		if err := print(std.out, "%s:%d: note: %s\n", safe(n.Origin.File), n.Origin.Line, safe(n.Text)); err != nil {
			return false, err
		}
	}
	return s.Dialect == sigmashake.Dialect, print(std.out, "%s: valid: %s, %s; %s; else %s\n",
		safe(s.Name), s.Dialect, s.Strategy, safe(s.Summary()), safe(s.Word(s.Default)))
}

// validateSigmashake checks the settings that the hook reads if there are sigmashake rules: those in the root of the
// repository around the current directory.
func validateSigmashake(std streams) error {
	at, err := run.Find("")
	if err != nil {
		return err
	}
	shown := at.Prefix + sigmashake.ConfigFile
	config, there, err := sigmashake.LoadConfig(at.Root, shown)
	var list document.Errors
	switch {
	case errors.As(err, &list):
		return reportMistakes(std, shown, list)
	case err != nil || !there:
		return err
	}
	breaker := "off"
	if config.CircuitBreaker {
		breaker = "on"
	}
	return print(std.out, "%s: valid: ask_mode %s; the circuit breaker is %s\n", safe(shown), config.AskMode, breaker)
}
