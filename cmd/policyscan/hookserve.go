package main

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/scope"
)

// serve answers calls until there are no more. If the rules are not valid at the start, it ends with an error; if they
// become invalid later, the old ones stay in force.
func (c *agentHookCmd) serve(std streams, a *protocol.Agent) error {
	keepers := map[scope.Place]*gate.Keeper{}
	var one sync.Mutex // a judgement that took too long may still run; if it hangs, the calls after it are denied
	kept := func(at scope.Place) (*gate.Gate, error) {
		one.Lock()
		defer one.Unlock()
		k := keepers[at]
		if k == nil {
			k = &gate.Keeper{Load: func() (*gate.Gate, error) { return c.gate(at) }, Now: time.Now}
			keepers[at] = k
		}
		g, warning := k.Current()
		if g == nil {
			return nil, warning
		}
		if warning != nil {
			complain(std.err, fmt.Errorf("the rules changed and are not valid, so the old ones stay in force: %w", warning))
		}
		return g, nil
	}
	at, err := rootAt(c.Root)
	if err != nil {
		return err
	}
	if _, err := kept(at); err != nil {
		return err
	}
	for in := range call.Lines(std.in) {
		if in.Err != nil {
			return fmt.Errorf("standard input cannot be read: %w", in.Err)
		}
		ctx, cancel := context.WithTimeoutCause(context.Background(), c.Timeout, fmt.Errorf("it took over %s", c.Timeout))
		line := bytes.Clone(in.Text) // a judgement that took too long may still read it
		answer, err := c.answer(ctx, context.Background(), std, a, line, kept)
		cancel()
		if err != nil {
			err = c.failed(a, err)
			complain(std.err, err)
			answer = a.Answer(nil, undecided(err))
		}
		if _, err := std.out.Write(answer); err != nil {
			return fmt.Errorf("an answer cannot be written: %w", disk.Cause(err))
		}
	}
	return nil
}
