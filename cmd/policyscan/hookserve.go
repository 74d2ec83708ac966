package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/internal/disk"
)

// serve answers calls until there are no more. Rules that are not valid at the start end it; such as become so
// later leave those in force that were.
func (c *agentHookCmd) serve(std streams, a *protocol.Agent) error {
	keepers := map[place]*keeper{}
	var one sync.Mutex // a judgement that took too long may still be at it; if it hangs, the calls after it are denied
	kept := func(at place) (*gate.Gate, error) {
		one.Lock()
		defer one.Unlock()
		k := keepers[at]
		if k == nil {
			k = &keeper{load: func() (*gate.Gate, error) { return c.gate(at) }, now: time.Now}
			keepers[at] = k
		}
		g, warning := k.current()
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
	in := newLines(std.in)
	for in.next(context.Background()) {
		ctx, cancel := context.WithTimeoutCause(context.Background(), c.Timeout, fmt.Errorf("it took over %s", c.Timeout))
		answer, err := c.answer(ctx, context.Background(), std, a, bytes.Clone(in.line), kept) // one that is given up goes on reading it
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
	if in.err != nil {
		return fmt.Errorf("standard input cannot be read: %w", in.err)
	}
	return nil
}

// settle is how long the files of the rules must have been left alone before they are read again: editors
// write a file in several steps.
const settle = 500 * time.Millisecond

// A keeper holds what judges, and takes up what changes of the files it was read from. It looks at them
// when it is asked, so that there is nothing to wait for and nobody else who could be half way through.
type keeper struct {
	load func() (*gate.Gate, error)
	now  func() time.Time

	gate    *gate.Gate // nil before the first call
	loaded  snapshot   // what it was read from
	refused snapshot   // what was read last and is not valid
	pending snapshot   // what the files were when they were looked at last
	since   time.Time  // that they are so
}

// A snapshot is what files held at a moment.
type snapshot struct {
	digest  [sha256.Size]byte
	changed time.Time // the latest of the files' times
	missing bool      // one of them is not there, as while an editor puts another in its place
}

// current returns what judges now. If the files changed and are not valid, what was before goes on, and the
// error says so once; without a gate it says why there is none.
func (k *keeper) current() (*gate.Gate, error) {
	if k.gate == nil {
		return k.read()
	}
	seen := look(k.gate.Guarded)
	now := k.now()
	if seen.digest != k.pending.digest {
		k.pending, k.since = seen, now
	}
	switch {
	case seen.digest == k.loaded.digest, seen.digest == k.refused.digest:
		return k.gate, nil
	case now.Sub(k.since) < settle && (seen.missing || now.Sub(seen.changed) < settle):
		return k.gate, nil
	}
	old := k.gate
	if _, err := k.read(); err != nil {
		k.gate, k.refused = old, seen
		return old, err
	}
	return k.gate, nil
}

// read reads the rules, which must not change meanwhile.
func (k *keeper) read() (*gate.Gate, error) {
	g, err := k.load()
	if err != nil {
		return nil, err
	}
	before := k.pending
	if k.gate == nil { // what it is read from is known only now
		before = look(g.Guarded)
		if g, err = k.load(); err != nil {
			return nil, err
		}
	}
	after := look(g.Guarded)
	switch {
	case after.digest == before.digest:
		k.gate, k.loaded, k.pending = g, after, after
	case k.gate == nil:
		return nil, errors.New("the rules changed while they were read; try again")
	default: // the next call looks anew
		k.pending, k.since = after, k.now()
	}
	return k.gate, nil
}

// look reads files and folders of them, and says what they hold. What cannot be read is held for what the error
// says.
func look(names []string) snapshot {
	var s snapshot
	h := sha256.New()
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			st, err := d.Info()
			if err != nil || !st.Mode().IsRegular() {
				return err
			}
			if st.ModTime().After(s.changed) {
				s.changed = st.ModTime()
			}
			text, err := os.ReadFile(path)
			fmt.Fprintf(h, "%q %d ", path, len(text)) // a hash takes everything
			h.Write(text)
			return err
		})
		if err != nil {
			s.missing = s.missing || errors.Is(err, fs.ErrNotExist)
			h.Write([]byte(err.Error()))
		}
	}
	h.Sum(s.digest[:0])
	return s
}
