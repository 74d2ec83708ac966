package gate

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Settle is how long nothing must have written to the files of the rules before a [Keeper] reads them again: editors
// write a file in several steps.
const Settle = 500 * time.Millisecond

// A Keeper keeps a gate for many calls, and reloads it when its files have changed. It looks at them only when the
// gate is requested, so it needs no goroutine. It is not for concurrent use.
type Keeper struct {
	Load func() (*Gate, error) // reads the rules; Guarded are the files and directories that it read
	Now  func() time.Time

	gate    *Gate     // nil before the first call
	loaded  snapshot  // its files when it was loaded
	refused snapshot  // the last invalid files
	pending snapshot  // the files at the last look
	since   time.Time // when they were first seen like this
}

// A snapshot is the content of files at one moment.
type snapshot struct {
	digest  [sha256.Size]byte
	changed time.Time // the latest of the files' times
	missing bool      // one of them is missing, as while an editor replaces it
}

// Current returns the current gate. If the files changed and are invalid, it is the old one, and the error is
// reported once. Without a gate it returns an error.
func (k *Keeper) Current() (*Gate, error) {
	if k.gate == nil {
		return k.read()
	}
	seen := look(k.gate.Guarded)
	now := k.Now()
	if seen.digest != k.pending.digest {
		k.pending, k.since = seen, now
	}
	switch {
	case seen.digest == k.loaded.digest, seen.digest == k.refused.digest:
		return k.gate, nil
	case now.Sub(k.since) < Settle && (seen.missing || now.Sub(seen.changed) < Settle):
		return k.gate, nil
	}
	old := k.gate
	if _, err := k.read(); err != nil {
		k.gate, k.refused = old, seen
		return old, err
	}
	return k.gate, nil
}

// read reads the rules, which must not change while it does.
func (k *Keeper) read() (*Gate, error) {
	g, err := k.Load()
	if err != nil {
		return nil, err
	}
	before := k.pending
	if k.gate == nil { // what it is read from is known only now
		before = look(g.Guarded)
		if g, err = k.Load(); err != nil {
			return nil, err
		}
	}
	after := look(g.Guarded)
	switch {
	case after.digest == before.digest:
		k.gate, k.loaded, k.pending = g, after, after
	case k.gate == nil:
		return nil, errors.New("the rules changed while they were read; try again")
	default: // the next call looks again
		k.pending, k.since = after, k.Now()
	}
	return k.gate, nil
}

// look reads files, and directories of files. If one cannot be read, the error's text counts as its content.
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
