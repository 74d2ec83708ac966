package main

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/cmd/policyscan/manual"
)

// manCmd prints the manual page.
type manCmd struct {
	Date string `placeholder:"YYYY-MM-DD" help:"@man_date"`
}

// Help returns the text below the flags.
func (*manCmd) Help() string {
	return `Examples:
  policyscan man | man -l -                                 read it
  policyscan man >/usr/local/share/man/man1/policyscan.1    install it`
}

// Run prints the page, which is generated from the model of the command line.
func (c *manCmd) Run(std streams, parser *kong.Kong) error {
	date := commitDate()
	if c.Date != "" {
		var err error
		if date, err = time.Parse(time.DateOnly, c.Date); err != nil {
			return fmt.Errorf("--date is %s; write it as 2006-01-02", quoted(c.Date))
		}
	}
	return print(std.out, "%s", manual.Page(parser.Model, version(), date))
}

// completionCmd prints a completion script.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help returns the text below the flags.
func (*completionCmd) Help() string {
	return `Examples:
  bash: source <(policyscan completion bash)
  zsh:  policyscan completion zsh >"${fpath[1]}/_policyscan"
  fish: policyscan completion fish | source`
}

// Run prints the script, which is generated from the model of the command line.
func (c *completionCmd) Run(std streams, parser *kong.Kong) error {
	return print(std.out, "%s", manual.Completion(parser.Model, c.Shell))
}

// commitDate returns the day of the commit that the program was built from, in UTC; zero if
// the build did not record it.
func commitDate() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if date, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return date.UTC()
		}
	}
	return time.Time{}
}
