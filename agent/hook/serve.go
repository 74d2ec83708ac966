package hook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/gate"
)

// Serve answers the call on each line until there are no more. If the rules are not valid at the start, it ends with
// an error; if they become invalid later, the old ones stay in force.
func (h *Hook) Serve(in io.Reader, out io.Writer) error {
	keepers := map[string]*gate.Keeper{}
	var one sync.Mutex // a check that timed out may still run; if it hangs, later calls are denied
	kept := func(root string) (*gate.Gate, error) {
		one.Lock()
		defer one.Unlock()
		k := keepers[root]
		if k == nil {
			k = &gate.Keeper{Load: func() (*gate.Gate, error) { return h.gate(root) }, Now: time.Now}
			keepers[root] = k
		}
		g, warning := k.Current()
		if g == nil {
			return nil, warning
		}
		if warning != nil {
			h.Warn(fmt.Errorf("the rules changed and are not valid, so the old ones stay in force: %w", warning))
		}
		return g, nil
	}
	root, err := gate.Root(h.Root)
	if err != nil {
		return err
	}
	if _, err := kept(root); err != nil {
		return err
	}
	for line := range call.Lines(in) {
		if line.Err != nil {
			return fmt.Errorf("standard input cannot be read: %w", line.Err)
		}
		ctx, cancel := h.limited(context.Background())
		text := bytes.Clone(line.Text) // a check that timed out may still read it
		e, answer, err := h.answer(ctx, context.Background(), text, kept)
		cancel()
		if err != nil {
			err = h.failed(nil, err)
			h.Warn(err)
			answer = Denial(h.Agent, err)
		}
		if err := h.write(out, answer); err != nil {
			return h.failed(e, err)
		}
	}
	return nil
}
