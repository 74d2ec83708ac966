// Command policyscan checks the files of a repository against a team's rules and exits with a status other than 0 if
// any of them is violated, or if it could not decide. docs/cli.md is its manual.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict/code"
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

// interruptible returns a context that ends after the timeout (0: none), or on a signal: Ctrl-C, a canceled CI job, a
// closed terminal. A second signal ends the program at once. caught returns the signal's number, 0 without one.
func interruptible(timeout time.Duration) (ctx context.Context, caught func() int, stop func()) {
	names := map[os.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}
	running, cancel := context.WithCancelCause(context.Background())
	var number atomic.Int64
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case sig := <-signals:
			signal.Stop(signals) // the next one ends the program at once
			if n, ok := sig.(syscall.Signal); ok {
				number.Store(int64(n))
			}
			cancel(&run.InterruptedError{
				Code: code.Interrupted, Message: "the run was stopped by " + names[sig] + "; run it again",
			})
		case <-running.Done():
		}
	}()
	ctx, release := running, func() {}
	if timeout > 0 {
		ctx, release = context.WithTimeoutCause(running, timeout, &run.InterruptedError{
			Code: code.Timeout, Message: fmt.Sprintf("the run did not end within --timeout %s; raise it, or scan less",
				timeout),
		})
	}
	return ctx, func() int { return int(number.Load()) }, func() {
		signal.Stop(signals)
		release()
		cancel(nil)
	}
}
