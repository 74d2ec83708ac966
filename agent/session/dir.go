package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/policyscan/policyscan/agent/private"
	"github.com/policyscan/policyscan/internal/late"
)

const (
	maxAge   = 7 * 24 * time.Hour // of a state that nothing has changed
	maxBytes = 4 << 10            // of a state's file
	lockName = "lock"
)

// A Dir holds the states of sessions, each in a file whose name is a hash of the session's id. Several processes
// of one user may use it at once.
type Dir struct {
	root *os.Root
}

// Open opens the directory of that name, or creates it for its owner alone. It must be private.
func Open(dir string) (*Dir, error) {
	root, err := private.Create(dir, "sessions")
	if err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

// Close lets go of the directory.
func (f *Dir) Close() error { return f.root.Close() }

// Change reads the state of a session, lets a function change it, and writes it. No other process
// reads or writes states meanwhile, so the function must not wait for anybody. A session that is new
// begins with the zero State; states that nobody changed for seven days before now are removed
// then. A state that is damaged is an error, and stays so until somebody removes its file, which the error names.
func (f *Dir) Change(id string, now time.Time, change func(*State)) error {
	return f.update(id, id, now, maxBytes, func(text []byte) ([]byte, error) {
		var s State
		if text != nil {
			var err error
			if s, err = parse(text); err != nil {
				return nil, err
			}
		}
		change(&s)
		return s.text(), nil
	})
}

// ChangeTurns is Change for the turns of a session, which have another file. With isNew it was missing.
func (f *Dir) ChangeTurns(id string, now time.Time, change func(t *Turns, isNew bool)) error {
	return f.update(id, "turns "+id, now, maxTurns, func(text []byte) ([]byte, error) {
		var t Turns
		if text != nil {
			if err := t.parse(text); err != nil {
				return nil, err
			}
		}
		change(&t, text == nil)
		return t.text()
	})
}

// update replaces the file of a key, whose text is nil if it is missing.
func (f *Dir) update(
	id, key string, now time.Time, limit int, change func(text []byte) ([]byte, error),
) (err error) {
	if id == "" {
		return errors.New("a session without an id")
	}
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	sum := sha256.Sum256([]byte(key))
	name := hex.EncodeToString(sum[:]) + ".json"
	was, err := private.Read(f.root, name, limit)
	var text []byte
	if err == nil {
		text, err = change(was)
	}
	if err != nil {
		return fmt.Errorf("the state of the session, %s: %w; remove the file to start again",
			filepath.Join(f.root.Name(), name), err)
	}
	if err := private.Write(f.root, name, text); err != nil {
		return fmt.Errorf("the state of the session: %w", err)
	}
	if was == nil {
		f.sweep(now)
	}
	return nil
}

// lock waits until no other process has the directory.
func (f *Dir) lock() (unlock func() error, err error) {
	// The file is never removed, so that all processes lock the same.
	file, err := f.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the lock of the sessions: %w", err)
	}
	if err := private.Lock(file); err != nil {
		return nil, errors.Join(fmt.Errorf("the lock of the sessions, %s: %w",
			filepath.Join(f.root.Name(), lockName), err), file.Close())
	}
	return file.Close, nil // which unlocks
}

var stateName = late.Regexp(`^[0-9a-f]{64}\.json(\.new)?$`)

// sweep removes old states. A failure is not a reason to deny a call: they only take up space.
func (f *Dir) sweep(now time.Time) {
	dir, err := f.root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(-1) // what was read before an error is swept
	for _, e := range entries {
		if info, err := e.Info(); err == nil && stateName().MatchString(e.Name()) && now.Sub(info.ModTime()) > maxAge {
			_ = f.root.Remove(e.Name())
		}
	}
}

const stateFormat = "{\"version\":1,\"command\":%q,\"times\":%d,\"denials\":%d}\n"

// text is the content of a state file.
func (s *State) text() []byte { return fmt.Appendf(nil, stateFormat, s.command, s.times, s.denials) }

var commandHash = late.Regexp(`^([0-9a-f]{64})?$`)

// parse reads a state; it accepts only the output of text.
func parse(text []byte) (State, error) {
	var s State
	_, err := fmt.Sscanf(string(text), stateFormat, &s.command, &s.times, &s.denials)
	if err != nil || !bytes.Equal(s.text(), text) || !commandHash().MatchString(s.command) ||
		(s.command == "") != (s.times == 0) || min(s.times, s.denials) < 0 ||
		s.times > loopLength || s.denials > breakerLength {
		return State{}, errDamaged()
	}
	return s, nil
}

func errDamaged() error { return errors.New("it is damaged, or from another version of policyscan") }
