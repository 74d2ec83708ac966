// Command policyscan checks the files of a repository against a team's rules and
// exits with a status other than 0 if any of them is violated, or if it could not
// decide. docs/cli.md is its manual.
package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/policyscan/policyscan/verdict/output"
)

func main() {
	// A report that is piped into a program that has ended is a write error. It must not
	// decide the exit status of a FAIL, as the signal would without this.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(runMain(os.Args[1:], streams{in: os.Stdin, out: output.Stdout(), err: os.Stderr}))
}

// streams are the process's own, or a test's.
type streams struct {
	in       io.Reader
	out, err io.Writer
	color    string // when to use colours, as in [colorFlag]; "" is auto
}
